/* Calm legs: steps in which a joint turns faster than it does in the clip itself are found, and the
   correction of the leg is smoothed there. */

#include "../kernels.h"
#include "../math/median.h"
#include "../math/rotation_vector.h"
#include "offset.h"

/* A joint may turn this many times as fast as its fastest in the clip. */
#define CALM_OVER_OWN 1.3
/* A step of more than this many times the median around it, above the joint's own fastest, is a
   flip, if it is also this many times as large as the steps right before and after it. */
#define CALM_OVER_AROUND 3.0
#define CALM_ISOLATED 1.5
/* Steps below this, one degree, are no flips, radians. */
#define CALM_LEAST_FLIP 0.017453292519943295

/* Square of the chord of a step, the short way round. */
static double calm_chord(const double *a, const double *b) {
    double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
    double sign = dot >= 0.0 ? 1.0 : -1.0, square = 0.0;
    for (int c = 0; c < 4; c++) square += ml_square(b[c] - sign * a[c]);
    return square;
}

/* Angle of a step, by the square of its chord. */
static double calm_angle(double square) { return 4.0 * ml_asin(ml_min(0.5 * sqrt(square), 1.0)); }

static int calm_joints_fit(int64_t n_joints, int64_t n_chosen, const int64_t *joints) {
    for (int64_t k = 0; k < n_chosen; k++)
        if (joints[k] < 0 || joints[k] >= n_joints) return 0;
    return 1;
}

ml_status ml_calm_largest(int64_t n_frames, int64_t n_joints, const double *q, int64_t n_chosen,
                          const int64_t *joints, const uint8_t *skipped, double *out) {
    if (!calm_joints_fit(n_joints, n_chosen, joints)) return ML_BAD_SIZE;
    for (int64_t k = 0; k < n_chosen; k++) out[k] = 0.0;
    for (int64_t f = 0; f + 1 < n_frames; f++) {
        if (skipped[f]) continue;
        for (int64_t k = 0; k < n_chosen; k++) {
            const double *now = q + 4 * (f * n_joints + joints[k]);
            out[k] = ml_max(out[k], calm_chord(now, now + 4 * n_joints));
        }
    }
    for (int64_t k = 0; k < n_chosen; k++) out[k] = calm_angle(out[k]);
    return ML_OK;
}

/* One joint of a clip: where its first rotation is in the arrays of all joints, and how far on the
   next one. */
typedef struct {
    int64_t first, stride, n_steps;
} calm_joint;

static double calm_turn(const calm_joint *joint, const double *q, int64_t f) {
    const double *now = q + joint->first + f * joint->stride;
    return calm_angle(calm_chord(now, now + joint->stride));
}

/* What the clip turns anyway. */
static double calm_source(const calm_joint *joint, const double *captured, const double *before,
                          int64_t f) {
    double turn = calm_turn(joint, captured, f);
    return before == captured ? turn : ml_max(turn, calm_turn(joint, before, f));
}

/* Whether a step stands out from those around it, and from what the clip does there. */
static int calm_is_flip(const calm_joint *joint, const double *q, const double *captured,
                        const double *before, int64_t half, int64_t f, double step, double *near) {
    int64_t first = f > half ? f - half : 0, count = 0;
    int64_t stop = joint->n_steps - f > half ? f + half + 1 : joint->n_steps;
    double nearby = 0.0;
    for (int64_t g = f > 0 ? f - 1 : f; g <= f + 1 && g < joint->n_steps; g++) {
        if (g != f && !(step > CALM_ISOLATED * calm_turn(joint, q, g))) return 0;
        nearby = ml_max(nearby, calm_source(joint, captured, before, g));
    }
    if (!(step > CALM_OVER_OWN * nearby)) return 0;
    for (int64_t g = first; g < stop; g++)
        if (g != f) near[count++] = calm_turn(joint, q, g);
    return count > 0 && step > CALM_OVER_AROUND * ml_median(near, count);
}

/* Whether a joint turns too fast in a step. Most steps are seen to be slow by their chords, the
   square of which is not above `bound`. */
static int calm_is_fast(const calm_joint *joint, const double *q, const double *captured,
                        const double *before, double own, double bound, double free_step,
                        int64_t half, int64_t f, double *near) {
    int64_t at = joint->first + f * joint->stride, next = at + joint->stride;
    double square = calm_chord(q + at, q + next);
    if (square <= bound || square <= calm_chord(captured + at, captured + next)) return 0;
    double step = calm_angle(square);
    if (step <= ml_max(own, CALM_LEAST_FLIP)) return 0;
    if (step <= calm_source(joint, captured, before, f) + 1e-9) return 0;
    return step > ml_max(CALM_OVER_OWN * own, free_step) ||
           calm_is_flip(joint, q, captured, before, half, f, step, near);
}

ml_status ml_calm_find(int64_t n_frames, int64_t n_joints, const double *q, const double *captured,
                       const double *before, int64_t n_chosen, const int64_t *joints,
                       const double *own, double free_step, int64_t half, const double *knee,
                       const double *jerk, const uint8_t *glitched, double *scratch, uint8_t *out) {
    if (!calm_joints_fit(n_joints, n_chosen, joints)) return ML_BAD_SIZE;
    for (int64_t f = 0; f + 1 < n_frames; f++) out[f] = 0;
    double *bounds = scratch + n_frames;
    /* The chord of an angle t is 2 sin(t / 4). The last factor is more than rounding. */
    for (int64_t k = 0; k < n_chosen; k++)
        bounds[k] = ml_square(2.0 * ml_sin(0.25 * ml_max(own[k], CALM_LEAST_FLIP))) * (1.0 - 1e-9);
    for (int64_t f = 0; f + 1 < n_frames; f++)
        for (int64_t k = 0; k < n_chosen; k++) {
            const calm_joint joint = {4 * joints[k], 4 * n_joints, n_frames - 1};
            out[f] |= (uint8_t)calm_is_fast(&joint, q, captured, before, own[k], bounds[k],
                                            free_step, half, f, scratch);
        }
    for (int64_t f = 0; knee && jerk && f + 2 < n_frames; f++) {
        const double *at = knee + 3 * f;
        double second[3];
        for (int c = 0; c < 3; c++) second[c] = at[6 + c] - 2.0 * at[3 + c] + at[c];
        if (ml_length(second) > jerk[f]) out[f] = out[f + 1] = 1;
    }
    for (int64_t f = 0; glitched && f + 1 < n_frames; f++) out[f] &= !glitched[f];
    return ML_OK;
}

void ml_calm_share(int64_t n_frames, const uint8_t *fast, int64_t half, double *part,
                   uint8_t *changed) {
    double away = HUGE_VAL; /* frames to the nearest frame of a fast step */
    for (int64_t f = 0; f < n_frames; f++) {
        int at = (f > 0 && fast[f - 1]) || (f + 1 < n_frames && fast[f]);
        part[f] = away = at ? 0.0 : away + 1.0;
    }
    away = HUGE_VAL;
    for (int64_t f = n_frames - 1; f >= 0; f--) {
        away = part[f] == 0.0 ? 0.0 : away + 1.0;
        part[f] = ml_offset_ease(ml_min(part[f], away) / (double)half);
        if (changed && part[f] > 0.0) changed[f] = 1;
    }
}

/* Frames from `f` on up to `stop` in which the correction is smoothed; where none is left, n. */
static int64_t calm_next_run(int64_t n_frames, const double *part, int64_t f, int64_t *stop) {
    while (f < n_frames && !(part[f] > 0.0)) f++;
    for (*stop = f; *stop < n_frames && part[*stop] > 0.0;) ++*stop;
    return f;
}

/* Where a knee is after its hip has another local rotation; everything above stays. */
static void calm_knee(const double *hip, const double *knee, const double *world,
                      const double *after, const double *local, double *out) {
    double thigh[3], bone[3], above[4], turned[4];
    double back[4] = {after[0], -after[1], -after[2], -after[3]};
    double inverse[4] = {world[0], -world[1], -world[2], -world[3]};
    ml_between(knee, hip, bone);
    ml_turn(inverse, bone, thigh);
    ml_times(world, back, above);
    ml_times(above, local, turned);
    ml_turn(turned, thigh, bone);
    for (int c = 0; c < 3; c++) out[c] = hip[c] + bone[c];
}

ml_status ml_calm_smooth(int64_t n_frames, int64_t n_joints, const double *before,
                         const double *after, const double *positions, const double *world,
                         int64_t n_chosen, const int64_t *joints, const double *part, int64_t half,
                         const double *weights, double *scratch, double *local, double *knee) {
    if (n_chosen < 2 || !calm_joints_fit(n_joints, n_chosen, joints)) return ML_BAD_SIZE;
    int64_t width = 3 * n_chosen, stop;
    /* Corrections around all that is smoothed, before any of it is written. */
    for (int64_t first = calm_next_run(n_frames, part, 0, &stop); first < n_frames;
         first = calm_next_run(n_frames, part, stop, &stop))
        for (int64_t f = first > half ? first - half : 0; f < n_frames && f < stop + half; f++)
            for (int64_t k = 0; k < n_chosen; k++) {
                int64_t at = 4 * (f * n_joints + joints[k]);
                const double *base = before + at;
                double inverse[4] = {base[0], -base[1], -base[2], -base[3]}, turn[4];
                ml_times(inverse, local + at, turn);
                ml_rotation_log(turn, scratch + f * width + 3 * k);
            }
    for (int64_t f = 0; f < n_frames; f++) {
        if (!(part[f] > 0.0)) continue;
        for (int64_t k = 0; k < n_chosen; k++) {
            int64_t at = 4 * (f * n_joints + joints[k]);
            double turn[4], mean[3] = {0.0}, *own = scratch + f * width + 3 * k;
            for (int64_t i = -half; i <= half; i++) {
                int64_t g = f + i < 0 ? 0 : f + i >= n_frames ? n_frames - 1 : f + i;
                for (int c = 0; c < 3; c++)
                    mean[c] += weights[i + half] * scratch[g * width + 3 * k + c];
            }
            for (int c = 0; c < 3; c++) mean[c] = own[c] + part[f] * (mean[c] - own[c]);
            ml_rotation_exp(mean, turn);
            ml_times(before + at, turn, local + at);
        }
        int64_t row = f * n_joints, hip = 4 * (row + joints[0]);
        calm_knee(positions + 3 * (row + joints[0]), positions + 3 * (row + joints[1]), world + hip,
                  after + 4 * f, local + hip, knee + 3 * f);
    }
    return ML_OK;
}

ml_status ml_calm_loose(int64_t n_frames, int64_t n_joints, int64_t side, const ml_leg *leg,
                        int64_t ankle, const double *positions, const double *world,
                        const double *before, const double *places, const uint8_t *any,
                        const uint8_t *own, double missed, double *points, uint8_t *held) {
    if (leg->n_frames != n_frames || side < 0 || side > 1) return ML_BAD_SIZE;
    if (ankle < 0 || ankle >= n_joints) return ML_BAD_SIZE;
    for (int64_t f = 0; f < n_frames; f++) {
        if (!any[f]) continue;
        int64_t at = n_joints * f + ankle;
        const double *was = before + 4 * at, *base = leg->ankle + 3 * f;
        double back[4] = {was[0], -was[1], -was[2], -was[3]}, turn[4];
        ml_times(world + 4 * at, back, turn);
        for (int k = 0; k < 2; k++) {
            double lever[3], turned[3], gap[3], *point = points + 12 * f + 6 * side + 3 * k;
            ml_between((k ? leg->ball : leg->heel) + 3 * f, base, lever);
            ml_turn(turn, lever, turned);
            for (int c = 0; c < 3; c++) point[c] = positions[3 * at + c] + turned[c];
            ml_between(point, places + 6 * f + 3 * k, gap);
            if (own[f] && ml_length(gap) > missed) held[2 * f + k] = 0;
        }
    }
    return ML_OK;
}
