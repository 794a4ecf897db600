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

/* Angle of the step of a joint from a frame to the next, whose rotations come `far` later; as of
   ml_quaternion_turns. */
static double glitch_turn(const double *a, int64_t far) {
    const double *b = a + far;
    double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
    double sign = dot >= 0.0 ? 1.0 : -1.0, square = 0.0;
    for (int c = 0; c < 4; c++) square += ml_square(b[c] - sign * a[c]);
    return 4.0 * ml_asin(ml_min(0.5 * sqrt(square), 1.0));
}

/* Whether enough of the steps `first` to `stop` around step f may be so much slower. The sine of a
   quarter turn is below its arc, and its square is seen by the cosine of half the turn. */
static int glitch_may_be_spike(int64_t far, const double *quats, int64_t f, int64_t first,
                               int64_t stop, int64_t n, double slower) {
    int64_t left = n - (int64_t)(0.8 * (double)n); /* of so many that are as fast it is none */
    double quick = 1.0 - 2.0 * slower * slower - 1e-9;
    for (int64_t g = first; g < stop; g++) {
        const double *a = quats + far * g, *b = a + far;
        if (g >= f - 1 && g <= f + 1) continue;
        double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
        if (fabs(dot) < quick && --left <= 0) return 0;
    }
    return 1;
}

/* How many times as fast a joint is in step f as around it; 0 where it is not fast for that. */
static double glitch_times(int64_t n_steps, int64_t far, const double *quats, int64_t f, double fps,
                           double speed, double steady, double ratio, int64_t half, double *work) {
    int64_t first = f - half > 0 ? f - half : 0, n = 0, below = 0;
    int64_t stop = f + half + 1 < n_steps ? f + half + 1 : n_steps;
    for (int64_t g = first; g < stop; g++) n += g < f - 1 || g > f + 1;
    if (n == 0) return 0.0;
    if (!glitch_may_be_spike(far, quats, f, first, stop, n, speed / (4.0 * fps * ratio))) return 0.0;
    n = 0;
    for (int64_t g = first; g < stop; g++) {
        if (g >= f - 1 && g <= f + 1) continue;
        work[n] = fps * glitch_turn(quats + far * g, far);
        below += work[n++] * ratio < speed;
    }
    /* Where too few are that slow, the usual one is not, and needs not be found. */
    if (below <= (int64_t)(0.8 * (double)n)) return 0.0;
    return speed / (glitch_usual(n, work) + steady);
}

int64_t ml_spike_find(int64_t n_frames, int64_t n_joints, const double *quats, double fps,
                      double fast, double steady, double ratio, double too_fast, int64_t half,
                      double *work, int64_t most, double *found, int64_t *beyond,
                      int64_t *n_beyond) {
    int64_t count = 0, far = 4 * n_joints;
    /* An arc up to this sine is at most 1.05 times its sine: steps with a smaller one are slow. They
       are seen by their cosine, which rounding changes by less than what is added. */
    double sine = ml_min(fast / (4.2 * fps), 0.5), slow = 1.0 - 2.0 * sine * sine + 1e-9;
    *n_beyond = 0;
    for (int64_t f = 0; f + 1 < n_frames; f++)
        for (int64_t j = 0; j < n_joints; j++) {
            const double *a = quats + far * f + 4 * j, *b = a + far;
            double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
            if (fabs(dot) > slow) continue;
            double speed = fps * glitch_turn(a, far);
            if (!(speed > fast)) continue;
            if (speed > too_fast) {
                if (*n_beyond < most) beyond[2 * *n_beyond] = f, beyond[2 * *n_beyond + 1] = j;
                *n_beyond += 1;
            }
            double times = glitch_times(n_frames - 1, far, quats + 4 * j, f, fps, speed, steady,
                                        ratio, half, work);
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
