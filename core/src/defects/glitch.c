/* Frames that no body could have made: joints that are fast, or leave their way, in one frame only.

   Few frames come near to that, so all are passed over quickly and only those are looked at. */

#include "../kernels.h"
#include "../math/vector.h"

/* Joints that are passed over together. */
#define GLITCH_AT_ONCE 32

/* Of some joints: products of their rotations in two frames, and how far squares of lengths in the
   first are from 1. Sums of two numbers at once: compilers then know how. */
static inline void glitch_products(int64_t n, const double *now, const double *next,
                                   double *restrict dots, double *restrict away) {
    for (int64_t k = 0; k < n; k++) {
        const double *a = now + 4 * k, *b = next + 4 * k;
        double dot[2], square[2];
        for (int c = 0; c < 2; c++) dot[c] = a[c] * b[c] + a[c + 2] * b[c + 2];
        for (int c = 0; c < 2; c++) square[c] = a[c] * a[c] + a[c + 2] * a[c + 2];
        dots[k] = dot[0] + dot[1];
        away[k] = square[0] + square[1] - 1.0;
    }
}

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
    if (!glitch_may_be_spike(far, quats, f, first, stop, n, speed / (4.0 * fps * ratio)))
        return 0.0;
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

/* What is looked for in ml_spike_find, and what was found. */
typedef struct {
    int64_t n_frames, n_joints, half, most, n_found, n_beyond, *beyond;
    const double *quats;
    double fps, fast, steady, ratio, too_fast, *work, *found;
} glitch_spikes;

/* Look at a joint in a step in which it may be fast. */
static void glitch_look(glitch_spikes *spikes, int64_t f, int64_t j) {
    int64_t far = 4 * spikes->n_joints;
    const double *joint = spikes->quats + 4 * j;
    double speed = spikes->fps * glitch_turn(joint + far * f, far);
    if (!(speed > spikes->fast)) return;
    if (speed > spikes->too_fast) {
        int64_t *row = spikes->beyond + 2 * spikes->n_beyond;
        if (spikes->n_beyond++ < spikes->most) row[0] = f, row[1] = j;
    }
    double times = glitch_times(spikes->n_frames - 1, far, joint, f, spikes->fps, speed,
                                spikes->steady, spikes->ratio, spikes->half, spikes->work);
    if (!(times > spikes->ratio)) return;
    double *row = spikes->found + 3 * spikes->n_found;
    if (spikes->n_found++ < spikes->most) row[0] = (double)f, row[1] = (double)j, row[2] = times;
}

int64_t ml_spike_find(int64_t n_frames, int64_t n_joints, const double *quats, double fps,
                      double fast, double steady, double ratio, double too_fast, int64_t half,
                      double *work, int64_t most, double *found, int64_t *beyond, int64_t *n_beyond,
                      double *off) {
    glitch_spikes spikes = {n_frames, n_joints, half,   most,  0,        0,    beyond, quats,
                            fps,      fast,     steady, ratio, too_fast, work, found};
    int64_t far = 4 * n_joints;
    /* An arc up to this sine is at most 1.05 times its sine: steps with a smaller one are slow. They
       are seen by their cosine, which rounding changes by less than what is added. */
    double sine = ml_min(fast / (4.2 * fps), 0.5), slow = 1.0 - 2.0 * sine * sine + 1e-9;
    double dots[GLITCH_AT_ONCE], away[GLITCH_AT_ONCE];
    double worst[GLITCH_AT_ONCE] = {0.0}, least[GLITCH_AT_ONCE] = {0.0}; /* one by one, at first */
    for (int64_t f = 0; f < n_frames; f++)
        for (int64_t j = 0; j < n_joints; j += GLITCH_AT_ONCE) {
            int64_t n = n_joints - j < GLITCH_AT_ONCE ? n_joints - j : GLITCH_AT_ONCE;
            const double *now = quats + far * f + 4 * j;
            const double *next = f + 1 < n_frames ? now + far : now; /* the last with itself */
            int64_t n_slow = 0;
            glitch_products(n, now, next, dots, away);
            for (int64_t k = 0; k < n; k++) worst[k] = ml_max(worst[k], fabs(away[k]));
            for (int64_t k = 0; k < n; k++) least[k] = ml_max(least[k], -dots[k]);
            for (int64_t k = 0; k < n; k++) n_slow += fabs(dots[k]) > slow;
            for (int64_t k = 0; next != now && n_slow < n && k < n; k++)
                if (!(fabs(dots[k]) > slow)) glitch_look(&spikes, f, j + k);
        }
    off[0] = off[1] = 0.0;
    for (int k = 0; k < GLITCH_AT_ONCE; k++) {
        off[0] = ml_max(off[0], worst[k]);
        off[1] = ml_max(off[1], least[k]);
    }
    *n_beyond = spikes.n_beyond;
    return spikes.n_found;
}

/* Square of how far a place is from the middle between two others. */
static inline double glitch_square(const double *before, const double *at, const double *after) {
    double square = 0.0;
    for (int c = 0; c < 3; c++) square += ml_square(at[c] - 0.5 * (before[c] + after[c]));
    return square;
}

/* Squares of how far n coordinates are from the middle between those `far` before and after. */
static void glitch_squares(int64_t n, const double *restrict at, int64_t far,
                           double *restrict out) {
    const double *before = at - far, *after = at + far;
    for (int64_t i = 0; i < n; i++) out[i] = ml_square(at[i] - 0.5 * (before[i] + after[i]));
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
        double most = 0.0, squares[3 * GLITCH_AT_ONCE];
        int64_t block = -1; /* of joints whose squares are known */
        found[f] = -1;
        if (f < stride || f + stride >= n_frames) continue;
        for (int64_t k = 0; k < n_chosen; k++) {
            glitch_way way = {positions + 3 * joints[k], n_frames, 3 * n_joints, fps};
            if (joints[k] / GLITCH_AT_ONCE != block) {
                block = joints[k] / GLITCH_AT_ONCE;
                int64_t first = block * GLITCH_AT_ONCE, n = n_joints - first;
                glitch_squares(3 * (n < GLITCH_AT_ONCE ? n : GLITCH_AT_ONCE),
                               positions + way.size * f + 3 * first, far, squares);
            }
            const double *own = squares + 3 * (joints[k] % GLITCH_AT_ONCE);
            if (own[0] + own[1] + own[2] < least) continue;
            double bend = glitch_bend(&way, f, stride);
            if (!(bend > rules->sharp) || (found[f] >= 0 && !(bend > most))) continue;
            if (!glitch_stands_out(&way, f, bend, rules, work)) continue;
            most = bend;
            found[f] = k;
        }
    }
    return ML_OK;
}
