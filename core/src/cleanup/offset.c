/* Offsets that are needed in some frames: how they run out in the frames around them, and how they
   are smoothed in time. */

#include "offset.h"
#include "../kernels.h"

/* Columns that are blended at a time. */
#define OFFSET_COLUMNS 4

/* From 1 at 0 to 0 at 1, first and second derivatives 0 at both. */
static double offset_fall(double t) {
    if (t <= 0.0) return 1.0;
    return t >= 1.0 ? 0.0 : 1.0 + t * t * t * (-10.0 + t * (15.0 - 6.0 * t));
}

/* From 0 with slope 1 back to 0 at 1, where it is flat; no curvature at either end. */
static double offset_coast(double t) {
    return t >= 1.0 ? 0.0 : t + t * t * t * (-6.0 + t * (8.0 - 3.0 * t));
}

/* Frame up to three steps inside a hold from its edge. */
static int64_t offset_inside(int64_t n, const uint8_t *held, int64_t edge, int64_t inwards) {
    int64_t far = edge;
    for (int k = 0; k < 3; k++)
        if (far + inwards >= 0 && far + inwards < n && held[far + inwards]) far += inwards;
    return far;
}

/* Some columns of the frames between two holds. Of a side without a hold, the edge is -1 or n. */
static void offset_fill(int64_t n, int64_t width, const double *values, const uint8_t *held,
                        double length, double stop, int64_t before, int64_t after,
                        int64_t n_columns, double *out) {
    double leaving[OFFSET_COLUMNS] = {0.0}, coming[OFFSET_COLUMNS] = {0.0};
    int has_before = before >= 0, has_after = after < n;
    double gap = (double)(after - before);
    double span = has_before && has_after && gap <= 2.0 * length ? gap : length;
    double brake = ml_min(stop, span);
    const double *first = values + (has_before ? width * before : 0);
    const double *last = values + (has_after ? width * after : 0);
    int64_t near = has_before ? offset_inside(n, held, before, -1) : before;
    int64_t far = has_after ? offset_inside(n, held, after, 1) : after;
    for (int64_t c = 0; c < n_columns; c++) {
        if (near != before)
            leaving[c] = (values[width * near + c] - first[c]) / (double)(near - before);
        if (far != after) coming[c] = (values[width * far + c] - last[c]) / (double)(far - after);
    }
    for (int64_t f = before + 1; f < after; f++) {
        double *to = out + width * f, since = (double)(f - before), until = (double)(after - f);
        for (int64_t c = 0; c < n_columns; c++) to[c] = 0.0;
        if (has_before && (since < span || since < brake)) {
            double fall = offset_fall(since / span), coast = brake * offset_coast(since / brake);
            for (int64_t c = 0; c < n_columns; c++) {
                to[c] += fall * first[c];
                to[c] += coast * leaving[c];
            }
        }
        if (has_after && (until < span || until < brake)) {
            double fall = offset_fall(until / span), coast = brake * offset_coast(until / brake);
            for (int64_t c = 0; c < n_columns; c++) {
                to[c] += fall * last[c];
                to[c] -= coast * coming[c];
            }
        }
    }
}

void ml_offset_blend(int64_t n_frames, int64_t width, const double *values, const uint8_t *held,
                     double length, double stop, double *out) {
    int64_t before = -1;
    for (int64_t f = 0; f < n_frames;) {
        if (held[f]) {
            for (int64_t c = 0; c < width; c++) out[width * f + c] = values[width * f + c];
            before = f++;
            continue;
        }
        int64_t after = f;
        while (after < n_frames && !held[after]) after++;
        for (int64_t c = 0; c < width; c += OFFSET_COLUMNS)
            offset_fill(n_frames, width, values + c, held, length, stop, before, after,
                        width - c < OFFSET_COLUMNS ? width - c : OFFSET_COLUMNS, out + c);
        f = after;
    }
}

void ml_offset_near(int64_t n_frames, const uint8_t *held, double length, double *out) {
    double away = HUGE_VAL;
    for (int64_t f = 0; f < n_frames; f++) {
        away = held[f] ? 0.0 : away + 1.0;
        out[f] = away;
    }
    away = HUGE_VAL;
    for (int64_t f = n_frames - 1; f >= 0; f--) {
        away = held[f] ? 0.0 : away + 1.0;
        out[f] = ml_offset_ease(ml_min(out[f], away) / length);
    }
}

void ml_offset_spread(int64_t n_frames, int64_t width, const double *restrict values, int64_t half,
                      const double *restrict weights, double *restrict out) {
    if (n_frames < 1) return;
    const double *last = values + width * (n_frames - 1);
    for (int64_t i = 0; i < n_frames * width; i++) out[i] = 0.0;
    for (int64_t k = -half; k <= half; k++) {
        double weight = weights[k + half];
        /* Frames whose neighbour k frames on is in the clip; the others see its first or last. */
        int64_t first = k < 0 ? -k : 0, stop = k > 0 ? n_frames - k : n_frames;
        if (first > n_frames) first = n_frames;
        if (stop < 0) stop = 0;
        for (int64_t f = 0; f < first; f++)
            for (int64_t c = 0; c < width; c++) out[width * f + c] += weight * values[c];
        for (int64_t i = width * first; i < width * stop; i++)
            out[i] += weight * values[i + width * k];
        for (int64_t f = stop; f < n_frames; f++)
            for (int64_t c = 0; c < width; c++) out[width * f + c] += weight * last[c];
    }
}

void ml_offset_highest(int64_t n_frames, const double *values, int64_t half, double *scratch,
                       double *out) {
    int64_t n = n_frames + 2 * half, width = 2 * half + 1, done = 1;
    for (int64_t i = 0; i < n; i++) scratch[i] = 0.0;
    for (int64_t f = 0; f < n_frames; f++) scratch[half + f] = values[f];
    /* The highest of twice as many values in every round. */
    for (; 2 * done <= width; done *= 2)
        for (int64_t i = 0; i + done < n; i++) scratch[i] = ml_max(scratch[i], scratch[i + done]);
    for (int64_t f = 0; f < n_frames; f++) out[f] = ml_max(scratch[f], scratch[f + width - done]);
}
