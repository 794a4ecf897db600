/* A blend steered live: one frame a call. */

#include <string.h>

#include "../kernels.h"
#include "blend.h"

/* Parts of the scratch memory, in numbers per motion, then per joint. */
enum {
    LIVE_FRAMES = 0,
    LIVE_TURNED = 1,
    LIVE_SLID = 2,  /* 2 */
    LIVE_ROOTS = 4, /* 3 */
    LIVE_FLAT = 7,  /* 2: roots on the ground */
    LIVE_HEADINGS = 9,
    LIVE_WAS_TURNED = 10,
    LIVE_WAS_SLID = 11, /* 2 */
    LIVE_MIXING = 13,   /* 8: of ml_pose_mix */
    LIVE_POSES = 21     /* 8 per joint: two poses */
};

/* (x, z) turned about +Y and shifted. */
static void live_carry(double turn, double x0, double z0, double *x, double *z) {
    double c, s, a = *x, b = *z;
    ml_sincos(turn, &s, &c);
    *x = c * a + s * b + x0;
    *z = c * b - s * a + z0;
}

/* Rotation vector that turns `after` into `before`, the short way. */
static void live_jump(const double *before, const double *after, double *out) {
    double a = before[0], b = before[1], c = before[2], d = before[3];
    double p = after[0], q = -after[1], r = -after[2], s = -after[3];
    double w = a * p - b * q - c * r - d * s;
    double x = a * q + b * p + c * s - d * r;
    double y = a * r - b * s + c * p + d * q;
    double z = a * s + b * r - c * q + d * p;
    double sine = sqrt(x * x + y * y + z * z);
    double scale = sine > 1e-12 ? 2.0 * ml_atan2(sine, fabs(w)) / sine : 2.0;
    if (w < 0.0) scale = -scale;
    out[0] = scale * x;
    out[1] = scale * y;
    out[2] = scale * z;
}

/* Turn q by the rotation vector (x, y, z), in place. */
static void live_turn(double x, double y, double z, double *q) {
    double angle = sqrt(x * x + y * y + z * z), a, sine;
    ml_sincos(0.5 * angle, &sine, &a);
    double scale = angle > 1e-12 ? sine / angle : 0.5;
    double b = scale * x, c = scale * y, d = scale * z;
    double p = q[0], r = q[1], s = q[2], t = q[3];
    q[0] = a * p - b * r - c * s - d * t;
    q[1] = a * r + b * p + c * t - d * s;
    q[2] = a * s - b * t + c * p + d * r;
    q[3] = a * t + b * s - c * r + d * p;
}

/* Mix the poses of n frames. */
static ml_status live_mix(const ml_live *live, const double *frames, const double *weights,
                          const double *headings, double *out) {
    return ml_pose_mix(live->n_motions, live->n_rows, live->n_joints, live->quats, live->starts, 1,
                       frames, weights, headings, live->scratch + LIVE_MIXING * live->n_motions,
                       out, 0);
}

/* The weights of this frame: those asked for, and what is left of their last jump. */
static void live_weigh(ml_live *live, const double *asked) {
    int64_t n = live->n_motions;
    double most = 0.0, left = 0.0;
    for (int64_t k = 0; k < n; k++) most = ml_max(most, fabs(asked[k] - live->asked[k]));
    if (live->begun && most * live->ease_frames > 1.0) {
        for (int64_t k = 0; k < n; k++) live->easing[k] = live->weights[k] - asked[k];
        live->since_jump = 0;
    }
    if (live->since_jump >= 0) {
        live->since_jump++;
        double t = ml_min((double)live->since_jump / live->ease_frames, 1.0);
        left = 2.0 * (t * t * t) - 3.0 * (t * t) + 1.0;
        if (t >= 1.0) live->since_jump = -1;
    }
    for (int64_t k = 0; k < n; k++) {
        live->asked[k] = asked[k];
        live->weights[k] = asked[k] + left * live->easing[k];
    }
}

/* Add the translations of the joints at fractional frames, mixed by the weights, times `sign`. */
static void live_translate(const ml_live *live, const double *frames, double sign, double *out) {
    int64_t size = 3 * live->n_joints;
    for (int64_t k = 0; k < live->n_motions; k++) {
        int64_t last = live->starts[k + 1] - live->starts[k] - 1;
        double at = ml_clamp(frames[k], 0.0, (double)last), whole = floor(at), t = at - whole;
        const double *low = live->translations + size * (live->starts[k] + (int64_t)whole);
        const double *high = (int64_t)whole < last ? low + size : low;
        double weight = sign * live->weights[k];
        for (int64_t c = 0; c < size; c++) out[c] += weight * (low[c] + t * (high[c] - low[c]));
    }
}

/* What the pose jumps by from the end of a round to its start, to be eased away. Both are seen
   from the heading of the start: the end's is turned back by what the motions turned between. */
static ml_status live_open_seam(ml_live *live, const double *weights) {
    int64_t n = live->n_motions;
    const double *end = live->end_turned, *start = end + n;
    double *headings = live->scratch + LIVE_HEADINGS * n;
    double *before = live->scratch + LIVE_POSES * n, *after = before + 4 * live->n_joints;
    double back = 0.0, lift = 0.0;
    for (int64_t k = 0; k < n; k++) {
        back += weights[k] * (end[k] + live->closures[3 * k] - start[k]);
        lift += weights[k] * (live->end_heights[k] - live->end_heights[n + k]);
    }
    for (int64_t k = 0; k < n; k++) headings[k] = end[k] - back;
    ml_status status = live_mix(live, live->end_frames, weights, headings, before);
    if (status == ML_OK) status = live_mix(live, live->end_frames + n, weights, start, after);
    if (status != ML_OK) return status;
    for (int64_t j = 0; j < live->n_joints; j++)
        live_jump(before + 4 * j, after + 4 * j, live->seam + 3 * j);
    if (live->translations) {
        memset(live->seam_moved, 0, 3 * live->n_joints * sizeof(double));
        live_translate(live, live->end_frames, 1.0, live->seam_moved);
        live_translate(live, live->end_frames + n, -1.0, live->seam_moved);
    }
    live->lift = lift;
    live->since_seam = 0;
    return ML_OK;
}

/* Go on by one frame; `wrapped` becomes 1 where that jumped from the end of a round to its start. */
static ml_status live_advance(ml_live *live, uint8_t loop, const double *weights, int *wrapped) {
    double sign = live->direction, end = live->end;
    double following = ml_parameter_after(live->n_points, live->n_motions, live->times, weights,
                                          live->at, sign, live->euler);
    double past = sign * (following - end);
    if (past <= 1e-9) {
        live->at = following;
        return ML_OK;
    }
    if (!loop) {
        if (sign * (end - live->at) > 0.0) live->at = end;
        live->done = 1;
        return ML_OK;
    }
    /* What is left of the frame is gone from the start: speeds along the curve differ there. */
    double part = ml_clamp(past / ml_max(sign * (following - live->at), 1e-12), 0.0, 1.0);
    double over = ml_parameter_after(live->n_points, live->n_motions, live->times, weights,
                                     live->begin, sign * part, live->euler);
    double gone = ml_clamp(sign * (over - live->begin), 0.0, sign * (end - live->begin));
    live->at = live->begin + sign * gone;
    *wrapped = 1;
    return live_open_seam(live, weights);
}

/* Place the frame after the one before; alignments there have each motion's closure done first
   where a new round began. */
static void live_place(ml_live *live, const double *weights, int wrapped) {
    int64_t n = live->n_motions;
    double *scratch = live->scratch, *flat = scratch + LIVE_FLAT * n;
    double *was_turned = scratch + LIVE_WAS_TURNED * n, *was_slid = scratch + LIVE_WAS_SLID * n;
    const double *roots = scratch + LIVE_ROOTS * n;
    for (int64_t k = 0; k < n; k++) {
        const double *last = live->last + 3 * k, *closure = live->closures + 3 * k;
        was_turned[k] = last[0];
        was_slid[2 * k] = last[1];
        was_slid[2 * k + 1] = last[2];
        if (wrapped) {
            double x = closure[1], z = closure[2];
            live_carry(last[0], last[1], last[2], &x, &z);
            was_turned[k] = last[0] + closure[0];
            was_slid[2 * k] = x;
            was_slid[2 * k + 1] = z;
        }
        flat[2 * k] = roots[3 * k];
        flat[2 * k + 1] = roots[3 * k + 2];
    }
    double from[3] = {live->turn, live->x, live->z}, to[3];
    ml_place_after(n, was_turned, was_slid, scratch + LIVE_TURNED * n, scratch + LIVE_SLID * n,
                   flat, weights, from, to);
    live->turn = to[0];
    live->x = to[1];
    live->z = to[2];
}

/* Add what is left of the jump. */
static void live_ease(ml_live *live, double *root, double *quats, double *moved) {
    double t = ml_clamp((double)live->since_seam / live->seam_frames, 0.0, 1.0);
    double left = 2.0 * (t * t * t) - 3.0 * (t * t) + 1.0;
    live->since_seam++;
    if (left <= 0.0) {
        live->since_seam = -1;
        return;
    }
    for (int64_t j = 0; j < live->n_joints; j++) {
        double x = live->seam[3 * j], y = live->seam[3 * j + 1], z = live->seam[3 * j + 2];
        if (j == 0) live_carry(live->turn, 0.0, 0.0, &x, &z); /* seen from the root's heading */
        live_turn(left * x, left * y, left * z, quats + 4 * j);
    }
    root[1] += left * live->lift;
    if (moved && live->translations)
        for (int64_t c = 0; c < 3 * live->n_joints; c++) moved[c] += left * live->seam_moved[c];
}

/* Points of the feet whose plants, mixed by the weights, hold now. */
static void live_hold(const ml_live *live, const double *weights, uint8_t *planted) {
    double u = live->at * live->frames_per_knot;
    for (int p = 0; p < 4; p++) planted[p] = 0;
    for (int64_t i = 0; i < live->n_plants; i++) {
        const double *span = live->plants + 2 * i * live->n_motions;
        double low = 0.0, high = 0.0;
        for (int64_t k = 0; k < live->n_motions; k++) {
            low += weights[k] * span[2 * k];
            high += weights[k] * span[2 * k + 1];
        }
        if (low - 1e-9 <= u && u <= high + 1e-9) planted[live->planted_points[i]] = 1;
    }
}

ml_status ml_live_step(ml_live *live, uint8_t loop, const double *weights, double *root,
                       double *quats, double *moved, uint8_t *planted) {
    int64_t n = live->n_motions;
    if (live->n_points < 3 || n < 1) return ML_BAD_SIZE;
    for (int64_t i = 0; i < live->n_plants; i++)
        if (live->planted_points[i] < 0 || live->planted_points[i] > 3) return ML_BAD_SIZE;
    int wrapped = 0, begun = live->begun;
    live_weigh(live, weights);
    weights = live->weights;
    ml_status status = begun ? live_advance(live, loop, weights, &wrapped) : ML_OK;
    if (status != ML_OK) return status;
    double *scratch = live->scratch, *headings = scratch + LIVE_HEADINGS * n;
    double *frames = scratch + LIVE_FRAMES * n, *turned = scratch + LIVE_TURNED * n;
    double *slid = scratch + LIVE_SLID * n, *roots = scratch + LIVE_ROOTS * n;
    status = ml_group_stand(n, live->n_points, live->times, live->aligning, live->reference,
                            live->n_rows, live->starts, live->positions, 1, &live->at, frames,
                            turned, slid, roots);
    if (status != ML_OK) return status;
    if (begun) live_place(live, weights, wrapped);
    for (int c = 0; c < 3; c++) root[c] = 0.0;
    for (int64_t k = 0; k < n; k++) {
        live->last[3 * k] = turned[k];
        live->last[3 * k + 1] = slid[2 * k];
        live->last[3 * k + 2] = slid[2 * k + 1];
        headings[k] = live->turn + turned[k];
        for (int c = 0; c < 3; c++) root[c] += weights[k] * roots[3 * k + c];
    }
    live->begun = 1;
    live_carry(live->turn, live->x, live->z, root, root + 2);
    status = live_mix(live, frames, weights, headings, quats);
    if (status != ML_OK) return status;
    if (moved && live->translations) {
        memset(moved, 0, 3 * live->n_joints * sizeof(double));
        live_translate(live, frames, 1.0, moved);
    }
    if (live->since_seam >= 0) live_ease(live, root, quats, moved);
    live_hold(live, weights, planted);
    return ML_OK;
}
