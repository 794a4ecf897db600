/* Memory given out in pieces, and medians. */

#include "../src/math/median.h"
#include "../src/runtime/memory.h"
#include "expect.h"

static void pieces_follow_each_other(void) {
    _Alignas(64) static uint8_t block[512];
    ml_memory counted = {NULL, 0}, given = {block, 0};
    EXPECT(ML_TAKE(&counted, double, 9) == NULL);
    EXPECT(counted.used == 128); /* 72 bytes, up to the next multiple of 64 */
    EXPECT(ML_TAKE(&counted, uint8_t, 0) == NULL && counted.used == 128);
    EXPECT(ML_TAKE(&counted, int32_t, 16) == NULL && counted.used == 192);
    EXPECT((void *)ML_TAKE(&given, double, 9) == block);
    EXPECT((void *)ML_TAKE(&given, uint8_t, 0) == block + 128);
    EXPECT((void *)ML_TAKE(&given, int32_t, 16) == block + 128);
    EXPECT(given.used == counted.used);
}

static void medians_by_hand(void) {
    double one[] = {7}, two[] = {4, 1}, odd[] = {5, -1, 3}, even[] = {9, 2, 7, 1};
    double same[] = {2, 2, 2, 2, 2}, endless[] = {HUGE_VAL, 1, -HUGE_VAL};
    EXPECT(ml_median(one, 1) == 7.0);
    EXPECT(ml_median(two, 2) == 2.5);
    EXPECT(ml_median(odd, 3) == 3.0);
    EXPECT(ml_median(even, 4) == 4.5);
    EXPECT(ml_median(same, 5) == 2.0);
    EXPECT(ml_median(endless, 3) == 1.0);
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void medians_of_many(void) {
    expect_drawn drawn = {14};
    for (int64_t n = 1; n < 200; n++) {
        double *values = malloc(sizeof(double) * (size_t)n),
               *sorted = malloc(sizeof(double) * (size_t)n);
        for (int64_t k = 0; k < n; k++) /* with some that are equal */
            values[k] = sorted[k] = floor(expect_uniform(&drawn, -20.0, 20.0));
        qsort(sorted, (size_t)n, sizeof(double), by_size);
        EXPECT(ml_median(values, n) == (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0);
        free(values);
        free(sorted);
    }
}

/* Values that are no numbers have no place in an order; the search still ends within bounds. */
static void medians_with_nan(void) {
    expect_drawn drawn = {15};
    for (int round = 0; round < 2000; round++) {
        int64_t n = 1 + (int64_t)(expect_draw(&drawn) % 12);
        double *values = malloc(sizeof(double) * (size_t)n);
        for (int64_t k = 0; k < n; k++)
            values[k] = expect_draw(&drawn) % 3 ? expect_uniform(&drawn, -1.0, 1.0) : NAN;
        ml_median(values, n);
        free(values);
    }
}

int main(void) {
    pieces_follow_each_other();
    medians_by_hand();
    medians_of_many();
    medians_with_nan();
    return 0;
}
