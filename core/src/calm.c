/* Calm legs: steps in which a joint turns faster than it does in the clip itself. */

#include "../motionloom.h"
#include "median.h"

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
static double calm_angle(double square) {
    return 4.0 * ml_asin(ml_min(0.5 * sqrt(square), 1.0));
}

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
                        const double *before, int64_t half, int64_t f, double step,
                        double *near) {
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

ml_status ml_calm_find(int64_t n_frames, int64_t n_joints, const double *q,
                       const double *captured, const double *before, int64_t n_chosen,
                       const int64_t *joints, const double *own, double free_step, int64_t half,
                       double *scratch, uint8_t *out) {
    if (!calm_joints_fit(n_joints, n_chosen, joints)) return ML_BAD_SIZE;
    for (int64_t i = 0; i < (n_frames - 1) * n_chosen; i++) out[i] = 0;
    /* Most steps are seen to be slow by their chords: that of an angle t is 2 sin(t / 4). The last
       factor is more than rounding. */
    double *bounds = scratch + n_frames;
    for (int64_t k = 0; k < n_chosen; k++)
        bounds[k] =
            ml_square(2.0 * ml_sin(0.25 * ml_max(own[k], CALM_LEAST_FLIP))) * (1.0 - 1e-9);
    for (int64_t f = 0; f + 1 < n_frames; f++)
        for (int64_t k = 0; k < n_chosen; k++) {
            int64_t at = 4 * (f * n_joints + joints[k]), next = at + 4 * n_joints;
            double square = calm_chord(q + at, q + next);
            if (square <= bounds[k] || square <= calm_chord(captured + at, captured + next))
                continue;
            const calm_joint joint = {4 * joints[k], 4 * n_joints, n_frames - 1};
            double step = calm_angle(square);
            if (step <= ml_max(own[k], CALM_LEAST_FLIP) ||
                step <= calm_source(&joint, captured, before, f) + 1e-9)
                continue;
            out[f * n_chosen + k] = step > ml_max(CALM_OVER_OWN * own[k], free_step) ||
                                    calm_is_flip(&joint, q, captured, before, half, f, step,
                                                 scratch);
        }
    return ML_OK;
}
