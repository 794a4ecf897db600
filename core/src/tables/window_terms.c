/* Terms of one window: rows of numbers, read from the frames of a collection. */

#include "../kernels.h"
#include "../math/elementary.h"
#include "../math/simd4.h"
#include "../math/simd8.h"
#include "judge.h"

/* Shorter plants are none. */
#define TERMS_SHORTEST 2

/* A window that is being read: its place among the frames and among the slots. */
typedef struct {
    const ml_term_source *source;
    const ml_term_slots *out;
    int64_t row, slot;  /* first row; place to write to */
    int64_t begin, end; /* padded frames that the clip has */
    float *rows;        /* (17, n_padded) */
    float *posture;     /* (n_padded, 48) */
} terms_window;

/* Steps and feet. */
static void terms_root(const terms_window *window) {
    const ml_term_source *source = window->source;
    const int64_t n = window->out->n_padded;
    const double fps = window->out->fps;
    const double *cos = window->out->turns, *sin = window->out->turns + n;
    float *rows = window->rows;
    for (int64_t t = window->begin; t < window->end; t++) {
        int64_t r = window->row - window->out->pad + t;
        double turned = 0.0, x = 0.0, z = 0.0;
        if (t > window->begin) {
            const double *now = source->ground + 2 * r, *before = now - 2;
            double dx = now[0] - before[0], dz = now[1] - before[1];
            turned = source->heading[r] - source->heading[r - 1];
            x = cos[t - 1] * dx - sin[t - 1] * dz;
            z = sin[t - 1] * dx + cos[t - 1] * dz;
        }
        rows[JUDGE_HEADING * n + t] = (float)turned;
        rows[JUDGE_STEP * n + t] = (float)x;
        rows[(JUDGE_STEP + 1) * n + t] = (float)z;
        rows[JUDGE_TRAVEL * n + t] =
            (float)((ml_square((double)0.3 * turned) + x * x + z * z) * fps * fps);
        for (int s = 0; s < 2; s++) {
            const float *ball = source->points + 12 * r + 3 * (2 * s + 1);
            rows[(JUDGE_FEET + 2 * s) * n + t] = ball[0];
            rows[(JUDGE_FEET + 2 * s + 1) * n + t] = ball[2];
            rows[(JUDGE_LIFT + s) * n + t] = ball[1];
            rows[(JUDGE_STANDS + s) * n + t] = source->plant_ids[2 * r + s] >= 0 ? 1.0f : 0.0f;
        }
    }
}

/* Part of a joint's place, in three of four numbers. */
static inline ml_quad terms_part(float part, const float *joint) {
    ml_quad place = {joint[0], joint[1], joint[2], 0.0f};
    return part * place;
}

/* Centres of the segments of one frame, x of all, then y, then z. */
static void terms_centres(const ml_term_source *source, const float *frame, float *out) {
    const int64_t *firsts = source->firsts, *joints = source->joints;
    const float *parts = source->parts;
    for (int g = 0; g < JUDGE_SEGMENTS; g++) {
        int64_t k = firsts[g], end = firsts[g + 1];
        ml_quad sum = terms_part(parts[k], frame + 3 * joints[k]);
        for (k++; k < end; k++) sum += terms_part(parts[k], frame + 3 * joints[k]);
        for (int c = 0; c < 3; c++) out[JUDGE_SEGMENTS * c + g] = sum[c];
    }
}

/* Centre of mass, and segments about it times the roots of their masses. */
static void terms_posture(const terms_window *window) {
    const ml_term_source *source = window->source;
    const int64_t n = window->out->n_padded, first = window->row - window->out->pad;
    float roots[JUDGE_SEGMENTS];
    for (int g = 0; g < JUDGE_SEGMENTS; g++) roots[g] = sqrtf(source->masses[g]);
    for (int64_t t = window->begin; t < window->end; t++) {
        float *now = window->posture + JUDGE_WIDE * t;
        terms_centres(source, source->body + 3 * source->n_joints * (first + t), now);
    }
    for (int64_t t = window->begin; t < window->end; t++) {
        for (int c = 0; c < 3; c++) {
            float *now = window->posture + JUDGE_WIDE * t + JUDGE_SEGMENTS * c;
            ml_lanes sum = ml_lanes_zero();
            for (int g = 0; g < JUDGE_SEGMENTS; g += ML_LANES)
                sum = ml_lanes_add_product(sum, ml_lanes_load(source->masses + g),
                                           ml_lanes_load(now + g));
            float mean = ml_lanes_sum(sum);
            window->rows[(JUDGE_COM + c) * n + t] = mean;
            for (int g = 0; g < JUDGE_SEGMENTS; g++) now[g] = roots[g] * (now[g] - mean);
        }
    }
    for (int64_t t = window->begin; t < window->end; t++) {
        const float *now = window->posture + JUDGE_WIDE * t;
        const float *before = t > window->begin ? now - JUDGE_WIDE : now;
        ml_lanes power = ml_lanes_zero(), pace = ml_lanes_zero();
        for (int g = 0; g < JUDGE_WIDE; g += ML_LANES) {
            ml_lanes x = ml_lanes_load(now + g);
            ml_lanes step = ml_lanes_subtract(x, ml_lanes_load(before + g));
            power = ml_lanes_add_product(power, x, x);
            pace = ml_lanes_add_product(pace, step, step);
        }
        window->rows[JUDGE_POWER * n + t] = ml_lanes_sum(power);
        window->rows[JUDGE_PACE * n + t] = ml_lanes_sum(pace);
    }
}

/* One plant of a foot, in frames `first` to `last` of the window: where each frame's body sees
   it, and where its foot points in the middle frame. */
static void terms_plant(const terms_window *window, int foot, int64_t plant, int64_t first,
                        int64_t last, int64_t count) {
    const ml_term_source *source = window->source;
    const ml_term_slots *out = window->out;
    const int64_t n = out->n_padded, middle = (first + last) / 2;
    const double *place = source->plant_places + 2 * plant,
                 *ahead = source->plant_ahead + 2 * plant;
    float *anchor = out->anchors + (4 * window->slot + 2 * foot) * n + out->pad;
    int64_t number = (2 * window->slot + foot) * out->n_plants + count;
    for (int64_t u = first; u <= last; u++) {
        const double *ground = source->ground + 2 * (window->row + u);
        double cos = out->turns[out->pad + u], sin = out->turns[n + out->pad + u];
        double dx = place[0] - ground[0], dz = place[1] - ground[1];
        anchor[u] = (float)(cos * dx - sin * dz);
        anchor[n + u] = (float)(sin * dx + cos * dz);
        if (u != middle) continue;
        out->ahead[2 * number] = (float)(cos * ahead[0] - sin * ahead[1]);
        out->ahead[2 * number + 1] = (float)(sin * ahead[0] + cos * ahead[1]);
    }
    out->spans[2 * number] = (int32_t)first;
    out->spans[2 * number + 1] = (int32_t)last;
}

/* Plants of both feet. */
static void terms_plants(const terms_window *window) {
    const ml_term_slots *out = window->out;
    const int64_t n = out->n_padded;
    for (int foot = 0; foot < 2; foot++) {
        const int32_t *ids = window->source->plant_ids + 2 * window->row + foot;
        float *anchor = out->anchors + (4 * window->slot + 2 * foot) * n + out->pad;
        for (int64_t u = 0; u < out->length; u++) anchor[u] = anchor[n + u] = 0.0f;
        int64_t count = 0, t = 0;
        while (t < out->length) {
            int64_t first = t;
            int32_t plant = ids[2 * t];
            while (t < out->length && ids[2 * t] == plant) t++;
            if (plant < 0 || t - first < TERMS_SHORTEST || count == out->n_plants) continue;
            terms_plant(window, foot, plant, first, t - 1, count);
            count++;
        }
        out->counts[2 * window->slot + foot] = (int32_t)count;
    }
}

/* Whether the source refers to no segment, joint or plant that it lacks. */
static int terms_fits(const ml_term_source *source, const ml_term_slots *out, int64_t row) {
    if (source->firsts[0] < 0 || source->firsts[JUDGE_SEGMENTS] > source->n_parts) return 0;
    for (int g = 0; g < JUDGE_SEGMENTS; g++)
        if (source->firsts[g] >= source->firsts[g + 1]) return 0;
    for (int64_t k = 0; k < source->n_parts; k++)
        if (source->joints[k] < 0 || source->joints[k] >= source->n_joints) return 0;
    for (int64_t k = 2 * row; k < 2 * (row + out->length); k++)
        if (source->plant_ids[k] >= source->n_plants) return 0;
    return 1;
}

ml_status ml_window_terms(const ml_term_source *source, const ml_term_slots *out, int64_t row,
                          int64_t slot) {
    const int64_t n = out->n_padded, pad = out->pad, length = out->length;
    if (slot < 0 || slot >= out->n_windows || row < 0 || length < 1 || pad < 0 ||
        n != length + 2 * pad || row + length > source->n_rows)
        return ML_BAD_SIZE;
    int64_t clip = 0;
    while (clip < source->n_clips && source->starts[clip + 1] <= row) clip++;
    if (clip == source->n_clips || source->starts[clip] < 0 || source->starts[clip] > row ||
        source->starts[clip + 1] > source->n_rows || source->starts[clip + 1] < row + length ||
        !terms_fits(source, out, row))
        return ML_BAD_SIZE;
    int64_t lead = judge_least(pad, row - source->starts[clip]);
    int64_t follow = judge_least(pad, source->starts[clip + 1] - row - length);
    terms_window window = {source,
                           out,
                           row,
                           slot,
                           pad - lead,
                           pad + length + follow,
                           out->rows + JUDGE_ROWS * n * slot,
                           out->posture + JUDGE_WIDE * n * slot};
    out->reach[2 * slot] = (int32_t)lead;
    out->reach[2 * slot + 1] = (int32_t)follow;
    for (int64_t t = 0; t < n; t++) {
        if (t >= window.begin && t < window.end) continue;
        for (int q = 0; q < JUDGE_ROWS; q++) window.rows[q * n + t] = 0.0f;
        for (int g = 0; g < JUDGE_WIDE; g++) window.posture[JUDGE_WIDE * t + g] = 0.0f;
    }
    ml_sincos_all(window.end - window.begin, source->heading + row - pad + window.begin,
                  out->turns + n + window.begin, out->turns + window.begin);
    terms_root(&window);
    terms_posture(&window);
    terms_plants(&window);
    return ML_OK;
}
