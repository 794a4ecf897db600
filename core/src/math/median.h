/* The number at a place of the sorted order, and the median. */

#ifndef MOTIONLOOM_MEDIAN_H
#define MOTIONLOOM_MEDIAN_H

#include <stdint.h>

#include "elementary.h"

/* Puts n > 0 numbers into another order: values[at] is the number that sorting would put there,
   those before it are not greater, those after it not less. Hoare's selection. */
static inline void ml_select(double *values, int64_t n, int64_t at) {
    int64_t low = 0, high = n - 1;
    while (low < high) {
        double pivot = values[at];
        int64_t i = low, j = high;
        while (i <= j) {
            while (values[i] < pivot) i++;
            while (pivot < values[j]) j--;
            if (i <= j) {
                double held = values[i];
                values[i++] = values[j];
                values[j--] = held;
            }
        }
        if (j < at) low = i;
        if (at < i) high = j;
    }
}

/* Median of n > 0 numbers, which are put into another order; the mean of the middle two where n is
   even. */
static inline double ml_median(double *values, int64_t n) {
    int64_t middle = (n - 1) / 2;
    ml_select(values, n, middle);
    if (n % 2) return values[middle];
    double next = values[middle + 1];
    for (int64_t k = middle + 2; k < n; k++) next = ml_min(next, values[k]);
    return (values[middle] + next) / 2.0;
}

#endif
