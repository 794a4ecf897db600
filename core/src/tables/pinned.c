/* Pinned windows: terms of captured windows that are averaged and bent to leave a source and to
   arrive at a target, as passage.c makes them.

   A blend is judged by how far its windows are from it. So is a pinned window: squared sizes of its
   posture and of its velocity are those of what it was made from, and what a blend of one window
   loses of them is how far it was bent. */

#include <string.h>

#include "../synthesis/passage.h"
#include "judge.h"

/* The slots of a pinned window, and the frames outside it that velocities are measured over. */
typedef struct {
    const ml_term_slots *slots;
    int64_t source, target, n_ways, before, after;
    const int64_t *windows;
    float share;
} pinned_window;

/* What a series of the source, or of the target, has more than the mean of the windows. */
static float pinned_lack(const pinned_window *pinned, int64_t slot, const float *series,
                         int64_t stride, int64_t at) {
    float lack = series[slot * stride + at];
    for (int64_t i = 0; i < pinned->n_ways; i++)
        lack -= pinned->share * series[pinned->windows[i] * stride + at];
    return lack;
}

/* Steps of heading and root: those of the source up to the first frame, then the windows' mean with
   the velocities of both ends. */
static void pinned_steps(const pinned_window *pinned, int row, float *out) {
    const ml_term_slots *slots = pinned->slots;
    int64_t n = slots->n_padded, pad = slots->pad, length = slots->length, end = pad + length;
    int64_t stride = JUDGE_ROWS * n;
    const float *series = slots->rows + row * n;
    float lack[2] = {0.0f, 0.0f};
    for (int64_t t = 0; t < pinned->before; t++)
        lack[0] += pinned_lack(pinned, pinned->source, series, stride, pad - t);
    for (int64_t t = 0; t < pinned->after; t++)
        lack[1] += pinned_lack(pinned, pinned->target, series, stride, end + t);
    if (pinned->before > 0) lack[0] /= (float)pinned->before;
    if (pinned->after > 0) lack[1] /= (float)pinned->after;
    out[pad] = series[pinned->source * stride + pad];
    for (int64_t t = 1; t < length; t++) {
        float a = (float)ml_passage_glide((double)t - 0.5, slots->fps);
        float b = (float)ml_passage_glide((double)(length - 1 - t) + 0.5, slots->fps);
        float mean = 0.0f;
        for (int64_t i = 0; i < pinned->n_ways; i++)
            mean += pinned->share * series[pinned->windows[i] * stride + pad + t];
        out[pad + t] = mean + a * lack[0] + b * lack[1];
    }
}

/* Parts of what windows lack in value at the start and at the end, and in velocity, at a frame. */
typedef struct {
    float at_start, at_end, from_start, from_end;
} pinned_bend;

static pinned_bend pinned_bend_at(const ml_term_slots *slots, int64_t t) {
    double end = (double)(slots->length - 1), u = (double)t / end;
    double time = ml_min(ML_PASSAGE_SHORTEST_S * slots->fps, end);
    double a = ml_passage_slope((double)t, time), b = ml_passage_slope(end - (double)t, time);
    double along = (a - b) / end;
    return (pinned_bend){(float)(1.0 - u + along), (float)(u - along), (float)a, (float)-b};
}

/* Series side by side, at most 48: where they begin in a slot, from one to the next, from one frame
   to the next, and from slot to slot. */
typedef struct {
    const float *from;
    int64_t count, apart, step, stride;
} pinned_series;

/* Series of the windows, bent to meet source and target in value and in velocity. */
static void pinned_bent(const pinned_window *pinned, const pinned_series *series, float *out) {
    const ml_term_slots *slots = pinned->slots;
    int64_t first = slots->pad, last = first + slots->length - 1, step = series->step;
    float start[JUDGE_WIDE], end[JUDGE_WIDE], rises[JUDGE_WIDE], falls[JUDGE_WIDE];
    for (int64_t g = 0; g < series->count; g++) {
        const float *from = series->from + series->apart * g;
        start[g] = pinned_lack(pinned, pinned->source, from, series->stride, step * first);
        end[g] = pinned_lack(pinned, pinned->target, from, series->stride, step * last);
        rises[g] = falls[g] = 0.0f;
        if (pinned->before > 0)
            rises[g] = (start[g] - pinned_lack(pinned, pinned->source, from, series->stride,
                                               step * (first - pinned->before))) /
                       (float)pinned->before;
        if (pinned->after > 0)
            falls[g] = (pinned_lack(pinned, pinned->target, from, series->stride,
                                    step * (last + pinned->after)) -
                        end[g]) /
                       (float)pinned->after;
    }
    for (int64_t t = first; t <= last; t++) {
        pinned_bend bend = pinned_bend_at(slots, t - first);
        for (int64_t g = 0; g < series->count; g++) {
            const float *from = series->from + series->apart * g + step * t;
            float sum = bend.at_start * start[g] + bend.at_end * end[g] +
                        bend.from_start * rises[g] + bend.from_end * falls[g];
            for (int64_t i = 0; i < pinned->n_ways; i++)
                sum += pinned->share * from[pinned->windows[i] * series->stride];
            out[series->apart * g + step * t] = sum;
        }
    }
}

/* Squared sizes of the posture it was made from, and of the difference from that posture. */
static void pinned_sizes(const pinned_window *pinned, float *rows, const float *posture) {
    const ml_term_slots *slots = pinned->slots;
    int64_t n = slots->n_padded, first = slots->pad, end = first + slots->length;
    float fps = (float)slots->fps;
    for (int64_t t = first; t < end; t++) {
        float power = 0.0f, pace = 0.0f, travel = 0.0f;
        for (int g = 0; g < JUDGE_WIDE; g++) {
            float own = posture[JUDGE_WIDE * t + g];
            power += own * own;
        }
        float turn = JUDGE_TURN_M * rows[JUDGE_HEADING * n + t];
        float x = rows[JUDGE_STEP * n + t], z = rows[(JUDGE_STEP + 1) * n + t];
        travel = turn * turn + x * x + z * z;
        for (int64_t i = 0; i < pinned->n_ways; i++) {
            const float *theirs = slots->rows + JUDGE_ROWS * n * pinned->windows[i];
            const float *other = slots->posture + JUDGE_WIDE * (n * pinned->windows[i] + t);
            float apart = 0.0f;
            for (int g = 0; g < JUDGE_WIDE; g++) {
                float off = other[g] - posture[JUDGE_WIDE * t + g];
                apart += off * off;
            }
            power += pinned->share * apart;
            pace += pinned->share * theirs[JUDGE_PACE * n + t];
            if (t == first) continue; /* the step to the first frame is the source's */
            float a = JUDGE_TURN_M * theirs[JUDGE_HEADING * n + t] - turn;
            float b = theirs[JUDGE_STEP * n + t] - x, c = theirs[(JUDGE_STEP + 1) * n + t] - z;
            travel += pinned->share * (a * a + b * b + c * c);
        }
        rows[JUDGE_POWER * n + t] = power;
        rows[JUDGE_PACE * n + t] = pace;
        rows[JUDGE_TRAVEL * n + t] = travel * fps * fps;
    }
}

/* Plants of the first window, seen from each frame's body. */
static void pinned_plants(const pinned_window *pinned, int64_t slot) {
    const ml_term_slots *slots = pinned->slots;
    int64_t n = slots->n_padded, from = pinned->windows[0], wide = 4 * slots->n_plants;
    memcpy(slots->anchors + 4 * n * slot, slots->anchors + 4 * n * from,
           sizeof(float) * (size_t)(4 * n));
    memcpy(slots->spans + wide * slot, slots->spans + wide * from, sizeof(int32_t) * (size_t)wide);
    memcpy(slots->ahead + wide * slot, slots->ahead + wide * from, sizeof(float) * (size_t)wide);
    memcpy(slots->counts + 2 * slot, slots->counts + 2 * from, 2 * sizeof(int32_t));
}

/* Frames before the source and after the target. */
static void pinned_around(const pinned_window *pinned, float *rows, float *posture) {
    const ml_term_slots *slots = pinned->slots;
    int64_t n = slots->n_padded, end = slots->pad + slots->length;
    const float *source = slots->rows + JUDGE_ROWS * n * pinned->source;
    const float *target = slots->rows + JUDGE_ROWS * n * pinned->target;
    size_t ahead = (size_t)slots->pad, after = (size_t)(n - end);
    for (int q = 0; q < JUDGE_ROWS; q++) {
        memcpy(rows + q * n, source + q * n, sizeof(float) * ahead);
        memcpy(rows + q * n + end, target + q * n + end, sizeof(float) * after);
    }
    memcpy(posture, slots->posture + JUDGE_WIDE * n * pinned->source,
           sizeof(float) * JUDGE_WIDE * ahead);
    memcpy(posture + JUDGE_WIDE * end, slots->posture + JUDGE_WIDE * (n * pinned->target + end),
           sizeof(float) * JUDGE_WIDE * after);
}

/* The fewest frames that all of them have before (side 0) or after (side 1), up to `most`. */
static int64_t pinned_reach(const pinned_window *pinned, int side, int64_t most) {
    const int32_t *reach = pinned->slots->reach + side;
    most = judge_least(most, reach[2 * (side ? pinned->target : pinned->source)]);
    for (int64_t i = 0; i < pinned->n_ways; i++)
        most = judge_least(most, reach[2 * pinned->windows[i]]);
    return most;
}

ml_status ml_pinned_terms(const ml_term_slots *slots, int64_t source, int64_t target,
                          int64_t n_ways, const int64_t *windows, int64_t slot) {
    int64_t n = slots->n_padded;
    if (n_ways < 1 || n_ways > ML_MOST_WAYS || slots->length < 2 || slots->pad < 0 ||
        n != slots->length + 2 * slots->pad)
        return ML_BAD_SIZE;
    for (int64_t i = -3; i < n_ways; i++) {
        int64_t each = i == -3 ? source : i == -2 ? target : i == -1 ? slot : windows[i];
        if (each < 0 || each >= slots->n_windows || (i != -1 && each == slot)) return ML_BAD_SIZE;
    }
    pinned_window pinned = {slots, source, target, n_ways, 0, 0, windows, 1.0f / (float)n_ways};
    int64_t reach = ml_passage_reach(slots->fps);
    pinned.before = pinned_reach(&pinned, 0, reach);
    pinned.after = pinned_reach(&pinned, 1, reach);
    float *rows = slots->rows + JUDGE_ROWS * n * slot,
          *posture = slots->posture + JUDGE_WIDE * n * slot;
    pinned_around(&pinned, rows, posture);
    for (int row = JUDGE_HEADING; row < JUDGE_FEET; row++)
        pinned_steps(&pinned, row, rows + row * n);
    /* Balls and centre of mass, then heights of the balls; who stands is between them. */
    pinned_series feet = {slots->rows + JUDGE_FEET * n, JUDGE_STANDS - JUDGE_FEET, n, 1,
                          JUDGE_ROWS * n};
    pinned_series lift = {slots->rows + JUDGE_LIFT * n, JUDGE_POWER - JUDGE_LIFT, n, 1,
                          JUDGE_ROWS * n};
    pinned_series whole = {slots->posture, JUDGE_WIDE, 1, JUDGE_WIDE, JUDGE_WIDE * n};
    pinned_bent(&pinned, &feet, rows + JUDGE_FEET * n);
    pinned_bent(&pinned, &lift, rows + JUDGE_LIFT * n);
    pinned_bent(&pinned, &whole, posture);
    for (int foot = 0; foot < 2; foot++)
        for (int64_t t = slots->pad; t < slots->pad + slots->length; t++) {
            float sum = 0.0f;
            for (int64_t i = 0; i < n_ways; i++)
                sum += pinned.share *
                       slots->rows[JUDGE_ROWS * n * windows[i] + (JUDGE_STANDS + foot) * n + t];
            rows[(JUDGE_STANDS + foot) * n + t] = sum;
        }
    pinned_sizes(&pinned, rows, posture);
    pinned_plants(&pinned, slot);
    slots->reach[2 * slot] = slots->reach[2 * source];
    slots->reach[2 * slot + 1] = slots->reach[2 * target + 1];
    return ML_OK;
}
