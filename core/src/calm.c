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

/* Whether a step stands out from those around it, and from what the clip does there. */
static int calm_is_flip(int64_t n_steps, int64_t n_joints, const double *turns,
                        const double *source, int64_t half, int64_t f, int64_t j, double *near) {
    double step = turns[f * n_joints + j], nearby = 0.0;
    int64_t first = f > half ? f - half : 0, count = 0;
    int64_t stop = n_steps - f > half ? f + half + 1 : n_steps;
    for (int64_t g = first; g < stop; g++) {
        double other = turns[g * n_joints + j];
        if (g - f >= -1 && g - f <= 1) {
            nearby = ml_max(nearby, source[g * n_joints + j]);
            if (g != f && !(step > CALM_ISOLATED * other)) return 0;
        }
        if (g != f) near[count++] = other;
    }
    return count > 0 && step > CALM_OVER_OWN * nearby &&
           step > CALM_OVER_AROUND * ml_median(near, count);
}

void ml_calm_find(int64_t n_steps, int64_t n_joints, const double *turns, const double *own,
                  const double *source, double free_step, int64_t half, double *scratch,
                  uint8_t *out) {
    for (int64_t f = 0; f < n_steps; f++)
        for (int64_t j = 0; j < n_joints; j++) {
            double step = turns[f * n_joints + j];
            int slow = step <= source[f * n_joints + j] + 1e-9 ||
                       step <= ml_max(own[j], CALM_LEAST_FLIP);
            int fast = !slow && step > ml_max(CALM_OVER_OWN * own[j], free_step);
            if (!slow && !fast)
                fast = calm_is_flip(n_steps, n_joints, turns, source, half, f, j, scratch);
            out[f * n_joints + j] = (uint8_t)fast;
        }
}

/* Square of the chord of a step, the short way round: of the angle t it is (2 sin(t / 4))^2. */
static double calm_chord(const double *a, const double *b) {
    double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
    double sign = dot >= 0.0 ? 1.0 : -1.0, square = 0.0;
    for (int c = 0; c < 4; c++) square += ml_square(b[c] - sign * a[c]);
    return square;
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
    for (int64_t k = 0; k < n_chosen; k++)
        out[k] = 4.0 * ml_asin(ml_min(0.5 * sqrt(out[k]), 1.0));
    return ML_OK;
}

ml_status ml_calm_suspect(int64_t n_frames, int64_t n_joints, const double *q,
                          const double *captured, int64_t n_chosen, const int64_t *joints,
                          const double *own, uint8_t *out) {
    if (!calm_joints_fit(n_joints, n_chosen, joints)) return ML_BAD_SIZE;
    for (int64_t f = 0; f + 1 < n_frames; f++) out[f] = 0;
    for (int64_t k = 0; k < n_chosen; k++) {
        double bound = ml_square(2.0 * ml_sin(0.25 * ml_max(own[k], CALM_LEAST_FLIP)));
        bound *= 1.0 - 1e-9; /* more than rounding */
        for (int64_t f = 0; f + 1 < n_frames; f++) {
            int64_t at = 4 * (f * n_joints + joints[k]), next = at + 4 * n_joints;
            double square = calm_chord(q + at, q + next);
            if (square > bound && square > calm_chord(captured + at, captured + next)) out[f] = 1;
        }
    }
    return ML_OK;
}
