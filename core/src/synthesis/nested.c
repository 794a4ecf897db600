/* Rotations blended by nested spherical interpolation (Ikemoto, Arikan and Forsyth 2006, section
   4): neighbours are interpolated, then neighbours of the results, until one rotation is left. */

#include <string.h>

#include "../math/vector.h"
#include "rows.h"

/* Rotations closer than this, as the cosine of half the angle, are interpolated in a line. */
#define NESTED_ALIKE 0.9999999

/* The rotation at part u of the shorter way from a to b. */
static void nested_slerp(const double *a, const double *b, double u, double *out) {
    double like = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
    double sign = like < 0.0 ? -1.0 : 1.0, first = 1.0 - u, second = u;
    like = fabs(like);
    if (like < NESTED_ALIKE) {
        double angle = ml_acos(like), over = 1.0 / sqrt(1.0 - like * like);
        first = ml_sin((1.0 - u) * angle) * over;
        second = ml_sin(u * angle) * over;
    }
    double size = 0.0;
    for (int c = 0; c < 4; c++) {
        out[c] = first * a[c] + sign * second * b[c];
        size += out[c] * out[c];
    }
    size = 1.0 / sqrt(size);
    for (int c = 0; c < 4; c++) out[c] *= size;
}

ml_status ml_nested_rotations(const ml_rows *rows, int64_t n_frames, int64_t n_ways,
                              const int64_t *at, const double *parts, const double *psi,
                              double *out) {
    int64_t n_joints = rows->n_joints, width = 4 * n_joints;
    if (n_ways < 1 || n_ways > ML_MOST_WAYS || n_joints < 1 || n_frames < 1 ||
        !ml_rows_have(rows->n_rows, n_frames * n_ways, at))
        return ML_BAD_SIZE;
    for (int64_t t = 0; t < n_frames; t++)
        for (int64_t j = 0; j < n_joints; j++) {
            double some[ML_MOST_WAYS][4], next[4], size, like = 0.0;
            double *now = out + width * t + 4 * j, *before = now - width;
            for (int64_t i = 0; i < n_ways; i++) {
                const float *q = rows->quats + width * at[t * n_ways + i] + 4 * j;
                size = 0.0;
                for (int c = 0; c < 4; c++) size += (double)q[c] * (double)q[c];
                size = 1.0 / sqrt(size);
                for (int c = 0; c < 4; c++) some[i][c] = size * (double)q[c];
            }
            for (int64_t left = n_ways - 1; left > 0; left--)
                for (int64_t i = 0; i < left; i++) {
                    nested_slerp(some[i], some[i + 1], parts[t], next);
                    memcpy(some[i], next, sizeof next);
                }
            if (j == 0) { /* the root is turned to its heading */
                double about[4] = {0.0, 0.0, 0.0, 0.0};
                ml_sincos(0.5 * psi[t], &about[2], &about[0]);
                ml_times(about, some[0], next);
                memcpy(some[0], next, sizeof next);
            }
            for (int c = 0; t && c < 4; c++) like += some[0][c] * before[c];
            for (int c = 0; c < 4; c++) now[c] = like < 0.0 ? -some[0][c] : some[0][c];
        }
    return ML_OK;
}
