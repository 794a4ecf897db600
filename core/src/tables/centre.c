/* Centres: which of them points are nearest to, and sums of the points of each. */

#include "../kernels.h"
#include "../math/elementary.h"
#include "../math/simd4.h"

/* Products that are compared at a time. */
#define CENTRE_BLOCK 32

/* Not by a matrix product: how it sums depends on the number of threads. Where a point was the last
   time is a good guess, and most other centres are given up early. */
ml_status ml_centre_assign(int64_t n, int64_t n_columns, int64_t n_centres,
                           const double *restrict points, const double *restrict centres,
                           int64_t *restrict labels, double *restrict apart) {
    for (int64_t i = 0; i < n; i++) {
        const double *point = points + n_columns * i;
        int64_t at = labels[i];
        if (at < 0 || at >= n_centres) return ML_BAD_SIZE;
        double least = 0.0;
        for (int64_t d = 0; d < n_columns; d++)
            least += ml_square(point[d] - centres[n_columns * at + d]);
        for (int64_t k = 0; k < n_centres; k++) {
            const double *centre = centres + n_columns * k;
            double squared = 0.0;
            for (int64_t d = 0; d < n_columns; d++) {
                squared += ml_square(point[d] - centre[d]);
                if (squared >= least) break;
            }
            if (squared < least) {
                least = squared;
                at = k;
            }
        }
        labels[i] = at;
        apart[i] = least;
    }
    return ML_OK;
}

ml_status ml_centre_add(int64_t n, int64_t n_columns, int64_t n_centres,
                        const double *restrict points, const int64_t *restrict labels,
                        double *restrict sums) {
    for (int64_t i = 0; i < n; i++) {
        if (labels[i] < 0 || labels[i] >= n_centres) return ML_BAD_SIZE;
        double *sum = sums + n_columns * labels[i];
        for (int64_t d = 0; d < n_columns; d++) sum[d] += points[n_columns * i + d];
    }
    return ML_OK;
}

ml_status ml_centre_add_single(int64_t n, int64_t n_columns, int64_t n_centres,
                               const float *restrict points, const int64_t *restrict labels,
                               double *restrict sums) {
    for (int64_t i = 0; i < n; i++) {
        if (labels[i] < 0 || labels[i] >= n_centres) return ML_BAD_SIZE;
        double *sum = sums + n_columns * labels[i];
        for (int64_t d = 0; d < n_columns; d++) sum[d] += (double)points[n_columns * i + d];
    }
    return ML_OK;
}

/* The largest of `n` products, at least one; the first where it is no number. */
static float centre_highest(int64_t n, const float *product) {
    float highest = product[0];
    ml_quad low = {highest, highest, highest, highest}, high = low;
    int64_t k = 0;
    for (; k + 8 <= n; k += 8) {
        low = ml_quad_max(low, ml_quad_load(product + k));
        high = ml_quad_max(high, ml_quad_load(product + k + 4));
    }
    low = ml_quad_max(low, high);
    for (int lane = 0; lane < 4; lane++) highest = low[lane] > highest ? low[lane] : highest;
    for (; k < n; k++) highest = product[k] > highest ? product[k] : highest;
    return highest;
}

/* Squared length, in four sums: only a bound is made of it. */
static double centre_size(int64_t n, const float *point) {
    double sums[4] = {0.0};
    int64_t d = 0;
    for (; d + 4 <= n; d += 4)
        for (int k = 0; k < 4; k++) sums[k] += ml_square((double)point[d + k]);
    for (; d < n; d++) sums[0] += ml_square((double)point[d]);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* Squared distance of a point from a centre, column by column: it decides, and is the result. */
static double centre_apart(int64_t n, const float *point, const float *centre) {
    double far = 0.0;
    for (int64_t d = 0; d < n; d++) far += ml_square((double)point[d] - (double)centre[d]);
    return far;
}

/* The smallest float that is not below a number. */
static float centre_float_above(double x) {
    float near = (float)x;
    return (double)near < x ? nextafterf(near, HUGE_VALF) : near;
}

void ml_centre_decide(int64_t n, int64_t n_columns, int64_t n_centres, const float *points,
                      const float *near, const float *centres, const float *product, double widest,
                      double slack, int64_t *number, double *squared) {
    for (int64_t i = 0; i < n; i++) {
        const float *point = points + n_columns * i, *mine = product + n_centres * i;
        double size = centre_size(n_columns, near + n_columns * i), best = HUGE_VAL;
        double highest = n_centres > 0 ? (double)centre_highest(n_centres, mine) : 0.0;
        float least = centre_float_above(highest - slack * ml_square(sqrt(size) + widest));
        int64_t best_at = 0;
        for (int64_t first = 0; first < n_centres; first += CENTRE_BLOCK) {
            int64_t stop = first + CENTRE_BLOCK;
            if (stop > n_centres) {
                stop = n_centres;
            } else {
                int some = 0; /* of most blocks none: found out together */
                for (int k = 0; k < CENTRE_BLOCK; k++) some |= mine[first + k] >= least;
                if (!some) continue;
            }
            for (int64_t k = first; k < stop; k++) {
                if (!(mine[k] >= least)) continue;
                double far = centre_apart(n_columns, point, centres + n_columns * k);
                if (far < best) {
                    best = far;
                    best_at = k;
                }
            }
        }
        number[i] = best_at;
        squared[i] = best;
    }
}
