/* The median of a few or many numbers. */

#ifndef MOTIONLOOM_MEDIAN_H
#define MOTIONLOOM_MEDIAN_H

#include <stdint.h>

#include "elementary.h"

/* Median of n > 0 numbers, which it puts into another order; the mean of the middle two where n is
   even. By Hoare's selection: numbers below and above the middle one are kept apart, not sorted. */
static inline double ml_median(double *values, int64_t n) {
    int64_t middle = (n - 1) / 2, low = 0, high = n - 1;
    while (low < high) {
        double pivot = values[middle];
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
        if (j < middle) low = i;
        if (middle < i) high = j;
    }
    if (n % 2) return values[middle];
    double next = values[middle + 1];
    for (int64_t k = middle + 2; k < n; k++) next = ml_min(next, values[k]);
    return (values[middle] + next) / 2.0;
}

#endif
