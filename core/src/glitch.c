/* Frames that no body could have made: joints that are fast, or leave their way, in one frame only.

   Few frames come near to that, so all are passed over quickly and only those are looked at. */

#include "../motionloom.h"
#include "vector.h"

/* The one of n > 0 numbers which four of five are below. They are put into order. */
static double glitch_usual(int64_t n, double *values) {
    for (int64_t k = 1; k < n; k++) {
        double value = values[k];
        int64_t i = k;
        for (; i > 0 && value < values[i - 1]; i--) values[i] = values[i - 1];
        values[i] = value;
    }
    return values[(int64_t)(0.8 * (double)n)];
}

int64_t ml_spike_find(int64_t n_steps, int64_t n_joints, const double *speeds, double fast,
                      double steady, double ratio, int64_t half, double *work, int64_t most,
                      double *found) {
    int64_t count = 0;
    for (int64_t f = 0; f < n_steps; f++)
        for (int64_t j = 0; j < n_joints; j++) {
            double speed = speeds[f * n_joints + j];
            if (!(speed > fast)) continue;
            int64_t first = f - half > 0 ? f - half : 0, n = 0, below = 0;
            int64_t stop = f + half + 1 < n_steps ? f + half + 1 : n_steps;
            for (int64_t g = first; g < stop; g++) {
                if (g >= f - 1 && g <= f + 1) continue;
                work[n] = speeds[g * n_joints + j];
                below += work[n++] * ratio < speed;
            }
            /* Where too few are that slow, the usual one is not, and needs not be found. */
            if (n == 0 || below <= (int64_t)(0.8 * (double)n)) continue;
            double times = speed / (glitch_usual(n, work) + steady);
            if (!(times > ratio)) continue;
            if (count < most) {
                found[3 * count] = (double)f;
                found[3 * count + 1] = (double)j;
                found[3 * count + 2] = times;
            }
            count++;
        }
    return count;
}

/* Square of how far a place is from the middle between two others. */
static inline double glitch_square(const double *before, const double *at, const double *after) {
    double square = 0.0;
    for (int c = 0; c < 3; c++) square += ml_square(at[c] - 0.5 * (before[c] + after[c]));
    return square;
}

/* The way of one joint: its place in the first frame, and numbers between its places. */
typedef struct {
    const double *places;
    int64_t n_frames, size;
    double fps;
} glitch_way;

/* How sharply it bends at a frame, from those `stride` before and after; 0 at its ends. */
static double glitch_bend(const glitch_way *way, int64_t f, int64_t stride) {
    if (f < stride || f + stride >= way->n_frames) return 0.0;
    const double *at = way->places + way->size * f;
    double rate = way->fps / (double)stride;
    return 2.0 * (rate * rate) *
           sqrt(glitch_square(at - way->size * stride, at, at + way->size * stride));
}

/* Whether the bend of a way at a frame stands out. */
static int glitch_stands_out(const glitch_way *way, int64_t f, double bend, const ml_bends *rules,
                             double *work) {
    int64_t stride = rules->stride, half = rules->half, n = 0;
    double before = glitch_bend(way, f - stride, stride);
    if (ml_max(before, glitch_bend(way, f + stride, stride)) > rules->beside * bend) return 0;
    double sharpest = 0.0;
    for (int64_t g = f - stride + 1; g < f + stride; g++)
        sharpest = ml_max(sharpest, glitch_bend(way, g, 1));
    if (glitch_bend(way, f, 1) < rules->sharpest * sharpest) return 0;
    for (int64_t k = -half; k <= half; k++) { /* the very first frame does not count */
        int64_t g = f + k * stride;
        if (k >= -1 && k <= 1) continue;
        if (g >= (k < 0 ? stride : 0) && g < way->n_frames) work[n++] = glitch_bend(way, g, stride);
    }
    return n > 0 && bend > rules->ratio * (glitch_usual(n, work) + rules->calm);
}

ml_status ml_bend_find(int64_t n_frames, int64_t n_joints, const double *positions,
                       int64_t n_chosen, const int64_t *joints, double fps, const ml_bends *rules,
                       double *work, int64_t *found) {
    int64_t stride = rules->stride;
    if (stride < 1 || rules->half < 0) return ML_BAD_SIZE;
    for (int64_t k = 0; k < n_chosen; k++)
        if (joints[k] < 0 || joints[k] >= n_joints) return ML_BAD_SIZE;
    double rate = fps / (double)stride;
    double least = ml_square(rules->sharp / (2.0 * (rate * rate))) * (1.0 - 1e-12);
    int64_t far = 3 * n_joints * stride;
    for (int64_t f = 0; f < n_frames; f++) {
        double most = 0.0;
        found[f] = -1;
        if (f < stride || f + stride >= n_frames) continue;
        for (int64_t k = 0; k < n_chosen; k++) {
            glitch_way way = {positions + 3 * joints[k], n_frames, 3 * n_joints, fps};
            const double *at = way.places + way.size * f;
            if (glitch_square(at - far, at, at + far) < least) continue;
            double bend = glitch_bend(&way, f, stride);
            if (!(bend > rules->sharp) || (found[f] >= 0 && !(bend > most))) continue;
            if (!glitch_stands_out(&way, f, bend, rules, work)) continue;
            most = bend;
            found[f] = k;
        }
    }
    return ML_OK;
}
