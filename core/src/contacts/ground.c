/* A ground that slides: its velocity follows the slowest low point of the feet. */

#include "../kernels.h"

/* What keeps the ground at rest where nothing is low. */
#define GROUND_AT_REST 1e-4

ml_status ml_ground_follow(int64_t n, int64_t n_points, const double *moving, const uint8_t *high,
                           double strange, const double *stiff, double *bands, double *ground) {
    for (int64_t i = 0; i < 4 * n; i++) bands[i] = stiff[i];
    for (int64_t f = 0; f < n; f++) {
        const double *slowest = moving;
        double least = -1.0;
        for (int64_t p = 0; p < n_points; p++) {
            if (high[n_points * f + p]) continue;
            const double *at = moving + 2 * (n_points * f + p);
            double x = at[0] - ground[2 * f], z = at[1] - ground[2 * f + 1];
            double square = x * x + z * z;
            if (least < 0.0 || square < least) least = square, slowest = at;
        }
        double near = 1.0 + least / (strange * strange);
        double weight = least < 0.0 ? 0.0 : 1.0 / (near * near);
        bands[3 * n + f] += weight + GROUND_AT_REST;
        ground[2 * f] = weight * slowest[0];
        ground[2 * f + 1] = weight * slowest[1];
    }
    return ml_spline_solve(n, 2, bands, ground);
}
