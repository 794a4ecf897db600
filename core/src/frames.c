/* Frames where a character stands: copied, captured ones moved, and faded into others. */

#include "frames.h"

#include <string.h>

#include "rotation_vector.h"

/* Seconds in which what is left of a clip settles into a captured motion that goes on. */
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

/* Bollo's polynomial: from `size` and `speed` to nothing at `end`, never below it. */
typedef struct {
    double end, size, speed, half, c3, c4, c5;
} frames_decay;

static frames_decay frames_decay_of(double size, double speed) {
    frames_decay d = {FRAMES_SETTLE_S, size, ml_min(speed, 0.0), 0.0, 0.0, 0.0, 0.0};
    double v = d.speed;
    if (v < 0.0) d.end = ml_min(d.end, -5.0 * size / v);
    double e = d.end = ml_max(d.end, 1e-9), e2 = e * e;
    double a = ml_max((-8.0 * v * e - 20.0 * size) / e2, 0.0);
    d.half = 0.5 * a;
    d.c5 = -(a * e2 + 6.0 * v * e + 12.0 * size) / (2.0 * e2 * e2 * e);
    d.c4 = (3.0 * a * e2 + 16.0 * v * e + 30.0 * size) / (2.0 * e2 * e2);
    d.c3 = -(3.0 * a * e2 + 12.0 * v * e + 20.0 * size) / (2.0 * e2 * e);
    return d;
}

static double frames_decayed(const frames_decay *d, double t) {
    double s = ml_min(t, d->end);
    return ((((d->c5 * s + d->c4) * s + d->c3) * s + d->half) * s + d->speed) * s + d->size;
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
        double turn[3], own[3], other[3], along[3], speed = 0.0, size;
        frames_turn(last, after, turn);
        frames_turn(last, plan->quats + wide * before + j, own);
        frames_turn(after + wide, after, other);
        size = sqrt(ml_dot(turn, turn));
        for (int k = 0; k < 3; k++) {
            along[k] = turn[k] / (size > 0.0 ? size : 1.0);
            speed += (own[k] * fps - other[k] * fps) * along[k];
        }
        frames_decay decay = frames_decay_of(size, speed);
        for (int64_t t = 1; t <= left; t++) {
            double still = frames_decayed(&decay, (double)t / fps), v[3], q[4];
            for (int k = 0; k < 3; k++) v[k] = along[k] * still;
            ml_rotation_exp(v, q);
            ml_times(q, after + wide * t, after + wide * (t - 1));
        }
    }
    double *root = plan->root + 3 * n;
    double lift = root[-2] - root[1], sign = lift < 0.0 ? -1.0 : 1.0;
    double climb = (root[-2] - plan->root[3 * before + 1]) * fps - (root[4] - root[1]) * fps;
    frames_decay decay = frames_decay_of(fabs(lift), climb * sign);
    for (int64_t t = 1; t <= left; t++) {
        double *to = root + 3 * (t - 1), *from = root + 3 * t;
        to[0] = from[0];
        to[1] = from[1] + sign * frames_decayed(&decay, (double)t / fps);
        to[2] = from[2];
    }
    memmove(plan->heading + n, plan->heading + n + 1, sizeof(double) * (size_t)left);
    memmove(plan->planted + 4 * n, plan->planted + 4 * (n + 1), (size_t)(4 * left));
    return ML_OK;
}
