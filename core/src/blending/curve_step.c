/* Walking along a registration curve, over arrays. */

#include "../kernels.h"
#include "blend.h"

ml_status ml_walk_step(int64_t n_points, int64_t n_motions, const double *points,
                       const double *weights, double u, double frames, uint8_t euler, double *out) {
    if (n_points < 3) return ML_BAD_SIZE;
    *out = ml_parameter_after(n_points, n_motions, points, weights, u, frames, euler);
    return ML_OK;
}

ml_status ml_walk_along(int64_t n_points, int64_t n_motions, const double *points, int64_t n,
                        const double *weights, double start, double frames, double stop,
                        uint8_t euler, double *out, int64_t *made) {
    if (n_points < 3 || n < 1) return ML_BAD_SIZE;
    out[0] = start;
    int64_t i = 1;
    for (; i < n; i++) {
        const double *w = weights + (i - 1) * n_motions;
        double u = ml_parameter_after(n_points, n_motions, points, w, out[i - 1], frames, euler);
        if ((frames > 0.0 && u > stop + 1e-9) || (frames < 0.0 && u < stop - 1e-9)) break;
        out[i] = u;
    }
    *made = i;
    return ML_OK;
}

void ml_walk_place(int64_t n, int64_t n_motions, const double *turned, const double *slid,
                   const double *roots, const double *weights, double *places) {
    for (int64_t i = 1; i < n; i++) {
        int64_t row = i * n_motions, before = row - n_motions;
        ml_place_after(n_motions, turned + before, slid + 2 * before, turned + row, slid + 2 * row,
                       roots + 2 * row, weights + row, places + 3 * (i - 1), places + 3 * i);
    }
}
