/* Quaternions over arrays. */

#include "../motionloom.h"
#include "vector.h"

void ml_quaternion_multiply(int64_t n, const double *a, const double *b, double *out) {
    for (int64_t i = 0; i < n; i++) ml_times(a + 4 * i, b + 4 * i, out + 4 * i);
}

void ml_quaternion_rotate(int64_t n, const double *q, const double *v, double *out) {
    for (int64_t i = 0; i < n; i++) ml_turn(q + 4 * i, v + 3 * i, out + 3 * i);
}

ml_status ml_quaternion_turns(int64_t n_frames, int64_t n_joints, const double *q,
                              int64_t n_chosen, const int64_t *joints, double *out) {
    for (int64_t k = 0; k < n_chosen; k++)
        if (joints[k] < 0 || joints[k] >= n_joints) return ML_BAD_SIZE;
    for (int64_t f = 0; f + 1 < n_frames; f++) {
        double *turns = out + f * n_chosen, largest = 0.0;
        for (int64_t k = 0; k < n_chosen; k++) {
            const double *a = q + 4 * (f * n_joints + joints[k]), *b = a + 4 * n_joints;
            double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
            double sign = dot >= 0.0 ? 1.0 : -1.0, square = 0.0;
            for (int c = 0; c < 4; c++) square += ml_square(b[c] - sign * a[c]);
            turns[k] = 0.5 * sqrt(square);
            largest = ml_max(largest, turns[k]);
        }
        if (largest > 0.5) /* rare */
            for (int64_t k = 0; k < n_chosen; k++)
                turns[k] = 4.0 * ml_asin(ml_min(turns[k], 1.0));
        else /* what ml_asin comes to, several together */
            for (int64_t k = 0; k < n_chosen; k++)
                turns[k] = 4.0 * ml_asin_small(turns[k], turns[k] * turns[k]);
    }
    return ML_OK;
}

double ml_quaternion_check(int64_t n_frames, int64_t n_joints, const double *q, uint8_t *flips) {
    double worst = 0.0;
    *flips = 0;
    for (int64_t f = 0; f < n_frames; f++)
        for (int64_t j = 0; j < n_joints; j++) {
            const double *now = q + 4 * (f * n_joints + j);
            double square = 0.0, dot = 0.0;
            for (int c = 0; c < 4; c++) {
                square += now[c] * now[c];
                if (f > 0) dot += now[c] * now[c - 4 * n_joints];
            }
            worst = ml_max(worst, fabs(square - 1.0));
            if (dot < 0.0) *flips = 1;
        }
    return worst;
}

void ml_quaternion_from_euler(int64_t n, int64_t n_axes, const double *angles,
                              const int64_t *axes, double *out) {
    for (int64_t i = 0; i < n; i++) {
        double w = 1.0, x = 0.0, y = 0.0, z = 0.0;
        for (int64_t k = 0; k < n_axes; k++) {
            double c, s, was = w, a = x, b = y;
            ml_sincos(0.5 * angles[i * n_axes + k], &s, &c);
            if (axes[k] == 0) {
                w = was * c - x * s, x = was * s + a * c, y = y * c + z * s, z = z * c - b * s;
            } else if (axes[k] == 1) {
                w = was * c - y * s, x = x * c - z * s, y = was * s + y * c, z = z * c + a * s;
            } else {
                w = was * c - z * s, x = x * c + y * s, y = y * c - a * s, z = was * s + z * c;
            }
        }
        double *q = out + 4 * i;
        q[0] = w, q[1] = x, q[2] = y, q[3] = z;
    }
}
