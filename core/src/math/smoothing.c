/* Local regression over time (LOESS, Cleveland 1979). */

#include "../kernels.h"
#include "elementary.h"

/* How strongly a parabola is drawn to a straight line near the ends of a clip. A free parabola
   follows the noise of the last frames there. */
#define SMOOTHING_ONE_SIDED 1.0

ml_status ml_smoothing_fit(int64_t n, int64_t n_columns, const double *values,
                           const double *weights, int64_t half, int64_t degree, double *scratch,
                           double *out) {
    if (n < 1) return ML_OK;
    if (half < 0 || degree < 0 || degree > 2) return ML_BAD_SIZE;
    int64_t width = half < n && 2 * half + 1 < n ? 2 * half + 1 : n, was = -1;
    double *restrict offset = scratch, *restrict near = scratch + n, *restrict share = near + n;
    double bare = 0.0, lever = 0.0;
    for (int64_t f = 0; f < n; f++) {
        int64_t first = f - half > 0 ? f - half : 0;
        if (first > n - width) first = n - width;
        int64_t before = f - first, after = first + width - 1 - f;
        if (before != was) { /* away from the ends all windows are alike */
            double reach = (double)(before > after ? before : after) + 1.0;
            bare = lever = 0.0;
            for (int64_t k = 0; k < width; k++) {
                double x = (double)(k - before) / reach, size = fabs(x);
                double part = 1.0 - size * size * size;
                offset[k] = x;
                near[k] = part * part * part;
                bare += near[k];
                lever += near[k] * x;
            }
            was = before;
        }
        double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0, s4 = 0.0;
        for (int64_t k = 0; k < width; k++) {
            double x = offset[k], w = near[k] * weights[first + k];
            share[k] = w;
            s0 += w;
            s1 += w * x;
            s2 += w * x * x;
            s3 += w * x * x * x;
            s4 += w * x * x * x * x;
        }
        s4 += SMOOTHING_ONE_SIDED * ml_square(lever / bare) * s0;
        /* First row of the inverse of the normal matrix, times the determinant. */
        double a = 1.0, b = 0.0, c = 0.0;
        if (degree == 1) {
            a = s2;
            b = -s1;
        } else if (degree == 2) {
            a = s2 * s4 - s3 * s3;
            b = s2 * s3 - s1 * s4;
            c = s1 * s3 - s2 * s2;
        }
        double whole = a * s0 + b * s1 + c * s2, *row = out + f * n_columns;
        for (int64_t j = 0; j < n_columns; j++) row[j] = 0.0;
        for (int64_t k = 0; k < width; k++) {
            const double *value = values + (first + k) * n_columns;
            double x = offset[k], part = share[k] * (a + b * x + c * x * x) / whole;
            for (int64_t j = 0; j < n_columns; j++) row[j] += part * value[j];
        }
    }
    return ML_OK;
}
