/* Frames where a character stands: copied, captured ones moved, and faded into others. */

#include "frames.h"

#include <string.h>

#include "../math/rotation_vector.h"

/* Seconds in which the rest of a clip settles into a captured motion that goes on. */
#define FRAMES_SETTLE_S 0.4

void ml_frames_copy(const ml_frames *from, int64_t first, int64_t n, ml_frames *to, int64_t t) {
    int64_t wide = 4 * from->n_joints;
    memmove(to->heading + t, from->heading + first, sizeof(double) * (size_t)n);
    memmove(to->root + 3 * t, from->root + 3 * first, sizeof(double) * (size_t)(3 * n));
    memmove(to->quats + wide * t, from->quats + wide * first, sizeof(double) * (size_t)(wide * n));
    memmove(to->planted + 4 * t, from->planted + 4 * first, (size_t)(4 * n));
}

void ml_frames_captured(const ml_rows *rows, int64_t row, int64_t meets, double heading, double x,
                        double z, ml_frames *out, int64_t t) {
    const double *here = rows->ground + 2 * row, *there = rows->ground + 2 * meets;
    const float *from = rows->quats + 4 * rows->n_joints * row;
    double turn = heading - rows->heading[meets], c, s;
    double *root = out->root + 3 * t, *q = out->quats + 4 * rows->n_joints * t;
    double dx = here[0] - there[0], dz = here[1] - there[1];
    ml_sincos(turn, &s, &c);
    root[0] = x + c * dx + s * dz;
    root[1] = (double)rows->body[3 * rows->n_joints * row + 1];
    root[2] = z + c * dz - s * dx;
    out->heading[t] = rows->heading[row] + turn;
    memcpy(out->planted + 4 * t, rows->planted + 4 * row, 4);
    for (int64_t j = 0; j < 4 * rows->n_joints; j += 4) {
        double norm = 0.0;
        for (int k = 0; k < 4; k++) {
            q[j + k] = (double)from[j + k];
            norm += q[j + k] * q[j + k];
        }
        norm = 1.0 / sqrt(norm);
        for (int k = 0; k < 4; k++) q[j + k] *= norm;
    }
    double turned[4], about[4] = {1.0, 0.0, 0.0, 0.0};
    ml_sincos(0.5 * out->heading[t], &about[2], &about[0]);
    ml_times(about, q, turned);
    memcpy(q, turned, sizeof turned);
}

void ml_frames_same_signs(int64_t n_joints, const double *before, double *quats) {
    for (int64_t j = 0; j < n_joints; j++) {
        const double *p = before + 4 * j;
        double *q = quats + 4 * j;
        if (q[0] * p[0] + q[1] * p[1] + q[2] * p[2] + q[3] * p[3] < 0.0)
            for (int k = 0; k < 4; k++) q[k] = -q[k];
    }
}

/* Seconds in which a difference of velocities settles: sooner, because it would add to the other. */
#define FRAMES_STEADY_S 0.2

/* Parts that are left, t seconds after a seam, of a difference of 1 and of one that grows by 1 a second:
   both are smooth there and at their ends. */
static double frames_still(double t) {
    double s = ml_min(t / FRAMES_SETTLE_S, 1.0);
    return 1.0 - s * s * s * (10.0 - s * (15.0 - 6.0 * s));
}

static double frames_growing(double t) {
    double s = ml_min(t / FRAMES_STEADY_S, 1.0);
    return t * (1.0 - s * s * s * (10.0 - s * (15.0 - 6.0 * s)));
}

/* The rotation vector from q to p, p = exp(v) q. */
static void frames_turn(const double *p, const double *q, double *v) {
    double back[4] = {q[0], -q[1], -q[2], -q[3]}, between[4];
    ml_times(p, back, between);
    ml_rotation_log(between, v);
}

ml_status ml_frames_fade(ml_frames *plan, int64_t n, int64_t left, double fps) {
    int64_t wide = 4 * plan->n_joints, before = n > 1 ? n - 2 : n - 1;
    if (n < 1 || left < 1 || n + left >= plan->most) return ML_BAD_SIZE;
    for (int64_t j = 0; j < wide; j += 4) {
        double *last = plan->quats + wide * (n - 1) + j, *after = plan->quats + wide * n + j;
        double turn[3], own[3], other[3];
        frames_turn(last, after, turn);
        frames_turn(last, plan->quats + wide * before + j, own);
        frames_turn(after + wide, after, other);
        for (int64_t t = 1; t <= left; t++) {
            double still = frames_still((double)t / fps), grows = frames_growing((double)t / fps);
            double v[3], q[4];
            for (int k = 0; k < 3; k++) v[k] = still * turn[k] + grows * fps * (own[k] - other[k]);
            ml_rotation_exp(v, q);
            ml_times(q, after + wide * t, after + wide * (t - 1));
        }
    }
    double *root = plan->root + 3 * n, lift = root[-2] - root[1];
    double climb = fps * (root[-2] - plan->root[3 * before + 1] - (root[4] - root[1]));
    for (int64_t t = 1; t <= left; t++) {
        double *to = root + 3 * (t - 1), *from = root + 3 * t;
        to[0] = from[0];
        to[1] = from[1] + lift * frames_still((double)t / fps) +
                climb * frames_growing((double)t / fps);
        to[2] = from[2];
    }
    memmove(plan->heading + n, plan->heading + n + 1, sizeof(double) * (size_t)left);
    memmove(plan->planted + 4 * n, plan->planted + 4 * (n + 1), (size_t)(4 * left));
    return ML_OK;
}
