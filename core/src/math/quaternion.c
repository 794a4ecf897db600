/* Quaternions over arrays. */

#include "../kernels.h"
#include "../kinematics/joint.h"
#include "vector.h"

/* Sine of an angle between quaternions below which they are interpolated along a straight line. */
#define QUATERNION_NEAR 1e-8

void ml_quaternion_multiply(int64_t n, const double *a, const double *b, double *out) {
    for (int64_t i = 0; i < n; i++) ml_times(a + 4 * i, b + 4 * i, out + 4 * i);
}

void ml_quaternion_rotate(int64_t n, const double *q, const double *v, double *out) {
    for (int64_t i = 0; i < n; i++) ml_turn(q + 4 * i, v + 3 * i, out + 3 * i);
}

void ml_quaternion_angles(int64_t n, const double *a, const double *b, double *out) {
    for (int64_t i = 0; i < n; i++) {
        double from[4] = {a[4 * i], -a[4 * i + 1], -a[4 * i + 2], -a[4 * i + 3]}, turn[4];
        ml_times(from, b + 4 * i, turn);
        double sine = sqrt(turn[1] * turn[1] + turn[2] * turn[2] + turn[3] * turn[3]);
        out[i] = 2.0 * ml_atan2(sine, fabs(turn[0]));
    }
}

static double quaternion_length(const double *q) {
    return sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
}

void ml_quaternion_slerp(int64_t n, const double *a, const double *b, const double *part,
                         double *out) {
    for (int64_t i = 0; i < n; i++, a += 4, b += 4, out += 4) {
        double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
        double sign = dot < 0.0 ? -1.0 : 1.0, chord[4], sum[4], t = part[i];
        for (int c = 0; c < 4; c++) chord[c] = a[c] - sign * b[c], sum[c] = a[c] + sign * b[c];
        /* Of chord and sum: an arc cosine loses half the digits at both ends. */
        double angle = 2.0 * ml_atan2(quaternion_length(chord), quaternion_length(sum));
        double sine = ml_sin(angle), of_a = 1.0 - t, of_b = t;
        if (sine >= QUATERNION_NEAR) {
            of_a = ml_sin((1.0 - t) * angle) / sine;
            of_b = ml_sin(t * angle) / sine;
        }
        for (int c = 0; c < 4; c++) out[c] = of_a * a[c] + of_b * (sign * b[c]);
        double length = quaternion_length(out);
        for (int c = 0; c < 4; c++) out[c] = length > 0.0 ? out[c] / length : (double)(c == 0);
    }
}

/* How far a squared length is from 1. */
static double quaternion_off(const double *q) {
    return fabs(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1.0);
}

ml_status ml_quaternion_turns(int64_t n_frames, int64_t n_joints, const double *q, int64_t n_chosen,
                              const int64_t *joints, double *out) {
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
            for (int64_t k = 0; k < n_chosen; k++) turns[k] = 4.0 * ml_asin(ml_min(turns[k], 1.0));
        else /* what ml_asin comes to, several together */
            for (int64_t k = 0; k < n_chosen; k++)
                turns[k] = 4.0 * ml_asin_small(turns[k], turns[k] * turns[k]);
    }
    return ML_OK;
}

double ml_quaternion_check(int64_t n_frames, int64_t n_joints, const double *q, uint8_t *flips) {
    int64_t n = n_frames * n_joints, still = n_joints < n ? n_joints : n;
    double worst = 0.0, least = 0.0;
    ml_pair worsts = {0.0, 0.0}, leasts = {0.0, 0.0};
    int64_t i = still;
    for (; i + 1 < n; i += 2) { /* two at a time */
        ml_pair now[4], last[4];
        ml_joint_load(q + 4 * i, q + 4 * (i + 1), now);
        ml_joint_load(q + 4 * (i - n_joints), q + 4 * (i + 1 - n_joints), last);
        ml_pair square = now[0] * now[0], dot = now[0] * last[0];
        for (int c = 1; c < 4; c++) {
            square += now[c] * now[c];
            dot += now[c] * last[c];
        }
        ml_pair off = square - 1.0;
        worsts = ml_pair_max(worsts, ml_pair_max(off, -off));
        leasts = ml_pair_max(leasts, -dot);
    }
    for (; i < n; i++) {
        const double *now = q + 4 * i, *last = now - 4 * n_joints;
        double dot = now[0] * last[0] + now[1] * last[1] + now[2] * last[2] + now[3] * last[3];
        least = ml_max(least, -dot);
        worst = ml_max(worst, quaternion_off(now));
    }
    for (i = 0; i < still; i++) worst = ml_max(worst, quaternion_off(q + 4 * i));
    *flips = ml_max(least, ml_max(leasts[0], leasts[1])) > 0.0;
    return ml_max(worst, ml_max(worsts[0], worsts[1]));
}

void ml_quaternion_from_euler(int64_t n, int64_t n_axes, const double *angles, const int64_t *axes,
                              double *out) {
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
