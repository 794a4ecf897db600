/* A group: the motions of a registration curve, one after the other in memory. */

#include "../kernels.h"
#include "blend.h"

ml_status ml_group_stand(int64_t n_motions, int64_t n_points, const double *times,
                         const double *aligning, int64_t reference, int64_t n_rows,
                         const int64_t *starts, const double *positions, int64_t n, const double *u,
                         double *frames, double *turned, double *slid, double *roots) {
    if (n_points < 3 || reference < 0 || reference >= n_motions ||
        !ml_starts_fit(n_motions, starts, n_rows))
        return ML_BAD_SIZE;
    int64_t last_span = n_points - 3;
    for (int64_t i = 0; i < n; i++) {
        double at = ml_clamp(u[i], 0.0, (double)last_span + 1.0);
        int64_t span = ml_row_below(at, last_span);
        double t = at - (double)span;
        double b0 = 0.5 * (1.0 - t) * (1.0 - t), b1 = 0.5 * (1.0 + 2.0 * t - 2.0 * t * t);
        double b2 = 0.5 * t * t;
        double *root = roots + 3 * i * n_motions;
        for (int64_t k = 0; k < n_motions; k++) {
            const double *p = times + span * n_motions + k;
            int64_t last = starts[k + 1] - starts[k] - 1;
            double f = b0 * p[0] + b1 * p[n_motions] + b2 * p[2 * n_motions];
            f = ml_clamp(f, 0.0, (double)last);
            frames[i * n_motions + k] = f;
            int64_t low = ml_row_below(f, last);
            const double *below = positions + 3 * (starts[k] + low);
            const double *above = low < last ? below + 3 : below;
            double part = f - (double)low;
            for (int c = 0; c < 3; c++) root[3 * k + c] = below[c] + part * (above[c] - below[c]);
        }
        for (int64_t k = 0; k < n_motions; k++) {
            double *turn = turned + i * n_motions + k, *slide = slid + 2 * (i * n_motions + k);
            if (k == reference) { /* stays where it is */
                *turn = slide[0] = slide[1] = 0.0;
                continue;
            }
            const double *p = aligning + 3 * (k * n_points + span);
            double c, s, x = root[3 * k], z = root[3 * k + 2];
            *turn = b0 * p[0] + b1 * p[3] + b2 * p[6];
            ml_sincos(*turn, &s, &c);
            double place_x = root[3 * reference] + (b0 * p[1] + b1 * p[4] + b2 * p[7]);
            double place_z = root[3 * reference + 2] + (b0 * p[2] + b1 * p[5] + b2 * p[8]);
            slide[0] = place_x - (c * x + s * z);
            slide[1] = place_z - (c * z - s * x);
            root[3 * k] = place_x;
            root[3 * k + 2] = place_z;
        }
    }
    return ML_OK;
}
