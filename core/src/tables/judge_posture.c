/* Sums of windows, and the posture of a blend: how its windows differ and how it moves. */

#include "judge.h"

#include <math.h>

#include "../math/elementary.h"
#include "../math/simd8.h"

/* Frames between two looks at whether a blend has become too dear. */
#define POSTURE_BLOCK 15
/* Ten times what single precision can make of a squared spread, square metres. */
#define POSTURE_SLACK_M2 1e-6

int ml_judge_fits(const ml_terms *terms, const ml_scratch *scratch) {
    return terms->length >= 1 && terms->pad >= 1 && terms->n_plants >= 0 &&
           terms->n_padded == terms->length + 2 * terms->pad &&
           terms->n_taps >= 2 * terms->pad - 1 && scratch->n_padded == terms->n_padded &&
           scratch->n_plants == terms->n_plants && scratch->length == terms->length;
}

int ml_judge_has(const ml_terms *terms, int64_t window) {
    if (window < 0 || window >= terms->n_windows) return 0;
    for (int64_t own = 2 * window; own < 2 * window + 2; own++) {
        if (terms->counts[own] < 0 || terms->counts[own] > terms->n_plants) return 0;
        const int32_t *span = terms->spans + 2 * own * terms->n_plants;
        for (int64_t k = 0; k < terms->counts[own]; k++)
            if (span[2 * k] < 0 || span[2 * k] > span[2 * k + 1] ||
                span[2 * k + 1] >= terms->length)
                return 0;
        if (terms->reach[own] < 0 || terms->reach[own] > terms->pad) return 0;
    }
    return 1;
}

int64_t ml_judge_ways(const ml_terms *terms, const int32_t *ids) {
    int64_t n = 0;
    for (; n < 4 && ids[n] >= 0; n++)
        if (!ml_judge_has(terms, ids[n])) return 0;
    return n;
}

/* Which window of n is added as number i: first, last, second, third. */
static int64_t posture_slot(int64_t i, int64_t n) {
    if (i == 1) return n - 1;
    return i == 0 ? 0 : i - 1;
}

ml_mix ml_judge_rows_of(const ml_scored *blend) {
    ml_mix mix = {.base = NULL, .n = blend->n};
    for (int64_t i = 0; i < blend->n; i++) {
        int64_t k = posture_slot(i, blend->n);
        mix.parts[i] = judge_window_rows(blend->terms, blend->ids[k]);
        mix.weights[i] = judge_weights(blend->terms, blend->n, k);
    }
    return mix;
}

ml_mix ml_judge_posture_of(const ml_scored *blend) {
    ml_mix mix = ml_judge_rows_of(blend);
    for (int64_t i = 0; i < blend->n; i++)
        mix.parts[i] = judge_window_posture(blend->terms, blend->ids[posture_slot(i, blend->n)]);
    return mix;
}

/* Sums of n parts by weights that vary with time, in the order of the parts. */
static void posture_weigh(int64_t count, const float *restrict base, int64_t n,
                          const float *const *parts, const float *const *weights, int64_t at,
                          float *restrict out) {
    const float *restrict a = parts[0] + at, *restrict u = weights[0];
    const float *restrict b = n > 1 ? parts[1] + at : NULL, *restrict v = n > 1 ? weights[1] : NULL;
    if (base != NULL) {
        if (n == 1)
            for (int64_t t = 0; t < count; t++) out[t] = base[t] + u[t] * a[t];
        else
            for (int64_t t = 0; t < count; t++) out[t] = base[t] + u[t] * a[t] + v[t] * b[t];
        return;
    }
    if (n == 1) {
        for (int64_t t = 0; t < count; t++) out[t] = u[t] * a[t];
        return;
    }
    if (n == 2) {
        for (int64_t t = 0; t < count; t++) out[t] = u[t] * a[t] + v[t] * b[t];
        return;
    }
    const float *restrict c = parts[2] + at, *restrict w = weights[2];
    if (n == 3) {
        for (int64_t t = 0; t < count; t++) out[t] = u[t] * a[t] + v[t] * b[t] + w[t] * c[t];
        return;
    }
    const float *restrict d = parts[3] + at, *restrict x = weights[3];
    for (int64_t t = 0; t < count; t++)
        out[t] = u[t] * a[t] + v[t] * b[t] + w[t] * c[t] + x[t] * d[t];
}

void ml_judge_to_world(int64_t n, const float *restrict cos, const float *restrict sin,
                       const float *restrict px, const float *restrict pz, const float *restrict x,
                       const float *restrict z, float *restrict out_x, float *restrict out_z) {
    for (int64_t t = 0; t < n; t++) {
        out_x[t] = px[t] + cos[t] * x[t] + sin[t] * z[t];
        out_z[t] = pz[t] - sin[t] * x[t] + cos[t] * z[t];
    }
}

void ml_judge_mix_rows(int64_t n_padded, const ml_mix *mix, int64_t first, int64_t last,
                       float *out) {
    for (int64_t q = first; q < last; q++)
        posture_weigh(n_padded, mix->base == NULL ? NULL : mix->base + q * n_padded, mix->n,
                      mix->parts, mix->weights, q * n_padded, out + q * n_padded);
}

void ml_judge_mix_posture(const ml_mix *mix, int64_t begin, int64_t end, float *out) {
    for (int64_t t = begin; t < end; t++) {
        const int64_t at = JUDGE_WIDE * t;
        float *restrict now = out + at;
        const float *restrict a = mix->parts[0] + at;
        float u = mix->weights[0][t];
        if (mix->base != NULL) {
            const float *restrict base = mix->base + at;
            if (mix->n == 1) {
                for (int g = 0; g < JUDGE_WIDE; g++) now[g] = base[g] + u * a[g];
            } else {
                const float *restrict b = mix->parts[1] + at;
                float v = mix->weights[1][t];
                for (int g = 0; g < JUDGE_WIDE; g++) now[g] = base[g] + u * a[g] + v * b[g];
            }
            continue;
        }
        if (mix->n == 1) {
            for (int g = 0; g < JUDGE_WIDE; g++) now[g] = u * a[g];
            continue;
        }
        const float *restrict b = mix->parts[1] + at;
        float v = mix->weights[1][t];
        if (mix->n == 2) {
            for (int g = 0; g < JUDGE_WIDE; g++) now[g] = u * a[g] + v * b[g];
            continue;
        }
        const float *restrict c = mix->parts[2] + at;
        float w = mix->weights[2][t];
        if (mix->n == 3) {
            for (int g = 0; g < JUDGE_WIDE; g++) now[g] = u * a[g] + v * b[g] + w * c[g];
            continue;
        }
        const float *restrict d = mix->parts[3] + at;
        float x = mix->weights[3][t];
        for (int g = 0; g < JUDGE_WIDE; g++) now[g] = u * a[g] + v * b[g] + w * c[g] + x * d[g];
    }
}

/* Sums over the frames of a posture so far, of the first and of the last eight segments. */
typedef struct {
    ml_lanes kept[2];  /* squares */
    ml_lanes moved[2]; /* squares of steps */
    ml_lanes peak[2];  /* largest squared second difference of each segment */
} posture_sums;

/* One coordinate of eight segments in the last frame, and the step to it. */
typedef struct {
    ml_lanes place, step;
} posture_axis;

static inline posture_axis posture_begin(const float *last, const float *older) {
    ml_lanes place = ml_lanes_load(last);
    return (posture_axis){place, ml_lanes_subtract(place, ml_lanes_load(older))};
}

/* The next frame: its square is added to `kept`, those of its first and second difference to
   `moved` and `bend`. */
static inline posture_axis posture_next(posture_axis axis, const float *from, ml_lanes *kept,
                                        ml_lanes *moved, ml_lanes *bend) {
    ml_lanes place = ml_lanes_load(from), step = ml_lanes_subtract(place, axis.place);
    ml_lanes turn = ml_lanes_subtract(step, axis.step);
    *kept = ml_lanes_add_product(*kept, place, place);
    *moved = ml_lanes_add_product(*moved, step, step);
    *bend = ml_lanes_add_product(*bend, turn, turn);
    return (posture_axis){place, step};
}

/* Frames `at` to `end - 1` of a window's postures, of which `first` is the first one: those of
   eight segments. */
static void posture_measure(const float *posture, int64_t first, int64_t at, int64_t end, int half,
                            posture_sums *sums) {
    ml_lanes kept = sums->kept[half], moved = sums->moved[half], peak = sums->peak[half];
    const float *from = posture + ML_LANES * half;
    const float *last = from + JUDGE_WIDE * judge_most(at - 1, first);
    const float *older = from + JUDGE_WIDE * judge_most(at - 2, first);
    posture_axis x = posture_begin(last, older);
    posture_axis y = posture_begin(last + JUDGE_SEGMENTS, older + JUDGE_SEGMENTS);
    posture_axis z = posture_begin(last + 2 * JUDGE_SEGMENTS, older + 2 * JUDGE_SEGMENTS);
    for (int64_t t = at; t < end; t++) {
        const float *now = from + JUDGE_WIDE * t;
        ml_lanes bend = ml_lanes_zero();
        x = posture_next(x, now, &kept, &moved, &bend);
        y = posture_next(y, now + JUDGE_SEGMENTS, &kept, &moved, &bend);
        z = posture_next(z, now + 2 * JUDGE_SEGMENTS, &kept, &moved, &bend);
        if (t >= first + 2) peak = ml_lanes_max(peak, bend);
    }
    sums->kept[half] = kept;
    sums->moved[half] = moved;
    sums->peak[half] = peak;
}

/* Of the first and of the last eight segments together. */
static float posture_both(const ml_lanes *halves) {
    return ml_lanes_sum(ml_lanes_add(halves[0], halves[1]));
}

/* Largest acceleration of a segment, m/s2. */
static float posture_peak(const ml_terms *terms, const posture_sums *sums) {
    float square[JUDGE_SEGMENTS], most = 0.0f;
    ml_lanes_store(sums->peak[0], square);
    ml_lanes_store(sums->peak[1], square + ML_LANES);
    for (int g = 0; g < JUDGE_SEGMENTS; g++) {
        float each = square[g] / terms->masses[g];
        most = each > most ? each : most;
    }
    return sqrtf(most) * terms->fps * terms->fps;
}

/* Whether a posture costs more than it may, by the peaks and the squared spread of some frames. */
static int posture_is_dear(const ml_terms *terms, const posture_sums *sums, float had,
                           const ml_limit *limit) {
    double peak = (double)posture_peak(terms, sums), cost = limit->peak_linear * peak;
    if (limit->peak_log != 0.0) cost += limit->peak_log * ml_log1p(peak);
    if (limit->spread_linear != 0.0 || limit->spread_log != 0.0) {
        double square = ((double)had - (double)posture_both(sums->kept)) / (double)terms->length;
        double spread = sqrt(ml_max(0.0, square - POSTURE_SLACK_M2));
        cost += limit->spread_linear * spread + limit->spread_log * ml_log1p(spread);
    }
    return cost > limit->left;
}

int ml_judge_posture(const ml_scored *blend, const ml_mix *rows, const ml_mix *posture,
                     const ml_limit *limit) {
    const ml_terms *terms = blend->terms;
    int64_t n = terms->n_padded, first = terms->pad, last = first + terms->length;
    float *out = blend->scratch->posture, *columns = blend->columns;
    int spread = judge_wants(blend, JUDGE_SPREAD), moved = judge_wants(blend, JUDGE_SPEED_RATIO);
    int peak = judge_wants(blend, JUDGE_PEAK_ACC);
    if (spread || limit != NULL)
        ml_judge_mix_rows(n, rows, JUDGE_POWER, JUDGE_POWER + 1, blend->scratch->rows);
    if (moved) ml_judge_mix_rows(n, rows, JUDGE_PACE, JUDGE_PACE + 1, blend->scratch->rows);
    const float *had = judge_row(blend, JUDGE_POWER);
    posture_sums sums;
    for (int half = 0; half < 2; half++)
        sums.kept[half] = sums.moved[half] = sums.peak[half] = ml_lanes_zero();
    float power = 0.0f;
    for (int64_t at = first; at < last; at += POSTURE_BLOCK) {
        int64_t end = judge_least(at + POSTURE_BLOCK, last);
        ml_judge_mix_posture(posture, at, end, out);
        for (int half = 0; half < 2 && (spread || moved || peak); half++)
            posture_measure(out, first, at, end, half, &sums);
        if (limit == NULL) continue;
        for (int64_t t = at; t < end; t++) power += had[t];
        if (posture_is_dear(terms, &sums, power, limit)) return 0;
    }
    /* What is before and after is asked for by its balance alone. */
    ml_judge_mix_posture(posture, 0, first, out);
    ml_judge_mix_posture(posture, last, n, out);
    if (spread) {
        float square = ml_lanes_sum_of(terms->length, had + first) - posture_both(sums.kept);
        square = square / (float)terms->length;
        columns[JUDGE_SPREAD] = sqrtf(square > 0.0f ? square : 0.0f);
    }
    if (moved) {
        const float *pace = judge_row(blend, JUDGE_PACE) + first + 1;
        float could = ml_lanes_sum_of(terms->length - 1, pace);
        columns[JUDGE_SPEED_RATIO] = posture_both(sums.moved) / (could > 1e-12f ? could : 1e-12f);
    }
    if (peak) columns[JUDGE_PEAK_ACC] = posture_peak(terms, &sums);
    return 1;
}
