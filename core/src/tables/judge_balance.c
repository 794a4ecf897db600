/* Balance of a blend: its zero moment point over the plants it keeps. */

#include "judge.h"

#include <math.h>
#include <string.h>

#include "../math/hull.h"
#include "../math/simd8.h"

/* Metres. Balls are this far above where they are low. */
#define BALANCE_CLEAR_M 0.02f
/* Outputs of a filter that are summed together. */
#define BALANCE_BLOCK (2 * ML_LANES)

/* First padded frame whose acceleration can be known; `count` becomes how many there are. */
static int64_t balance_frames(const ml_scored *blend, int64_t *count) {
    const ml_terms *terms = blend->terms;
    int64_t half = terms->pad - 1, inside = terms->pad + terms->length;
    int64_t begin = terms->pad - terms->reach[2 * blend->ids[0]];
    int64_t end = inside + terms->reach[2 * blend->ids[blend->n - 1] + 1];
    int64_t first = judge_most(terms->pad, begin + 1 + half);
    *count = judge_most(judge_least(inside, end - 1 - half) - first, 0);
    return first;
}

/* out[i] = sum_k taps[k] values[i + k] for the first `count`. */
static void balance_filter(const float *values, const float *taps, int64_t n_taps, int64_t count,
                           float *out) {
    if (count < BALANCE_BLOCK) {
        for (int64_t i = 0; i < count; i++) {
            float sum = 0.0f;
            for (int64_t k = 0; k < n_taps; k++) sum += taps[k] * values[i + k];
            out[i] = sum;
        }
        return;
    }
    for (int64_t at = 0; at < count; at += BALANCE_BLOCK) {
        int64_t i = judge_least(at, count - BALANCE_BLOCK); /* the last one overlaps */
        ml_lanes a = ml_lanes_zero(), b = ml_lanes_zero();
        for (int64_t k = 0; k < n_taps; k++) {
            const float *from = values + i + k;
            a = ml_lanes_add(a, ml_lanes_scale(ml_lanes_load(from), taps[k]));
            b = ml_lanes_add(b, ml_lanes_scale(ml_lanes_load(from + ML_LANES), taps[k]));
        }
        ml_lanes_store(a, out + i);
        ml_lanes_store(b, out + i + ML_LANES);
    }
}

/* Largest squared length of vectors (x, y, z). */
static float balance_most(int64_t n, const float *restrict x, const float *restrict y,
                          const float *restrict z, float *restrict square) {
    float most = 0.0f;
    for (int64_t i = 0; i < n; i++) square[i] = x[i] * x[i] + y[i] * y[i] + z[i] * z[i];
    for (int64_t i = 0; i < n; i++) most = square[i] > most ? square[i] : most;
    return most;
}

void ml_judge_travel(const ml_scored *blend, const ml_mix *rows) {
    const ml_terms *terms = blend->terms;
    int64_t n = terms->n_padded, n_taps = 2 * terms->pad - 1, count;
    ml_judge_mix_rows(n, rows, JUDGE_COM, JUDGE_STANDS, blend->scratch->rows);
    float *cx = judge_path(blend, JUDGE_CX), *cz = judge_path(blend, JUDGE_CZ);
    ml_judge_to_world(n, judge_path(blend, JUDGE_COS), judge_path(blend, JUDGE_SIN),
                      judge_path(blend, JUDGE_X), judge_path(blend, JUDGE_Z),
                      judge_row(blend, JUDGE_COM), judge_row(blend, JUDGE_COM + 2), cx, cz);
    int64_t at = balance_frames(blend, &count) - (terms->pad - 1);
    const float *bend = terms->taps + 2 * terms->n_taps;
    float *x2 = judge_path(blend, JUDGE_X2), *y2 = judge_path(blend, JUDGE_Y2);
    float *z2 = judge_path(blend, JUDGE_Z2);
    balance_filter(cx + at, bend, n_taps, count, x2);
    balance_filter(cz + at, bend, n_taps, count, z2);
    balance_filter(judge_row(blend, JUDGE_COM + 1) + at, bend, n_taps, count, y2);
    blend->columns[JUDGE_COM_ACC] =
        sqrtf(balance_most(count, x2, y2, z2, judge_path(blend, JUDGE_MISS)));
}

/* Sums of four neighbours. fours: (n, 4)  out: (n) */
static void balance_gather(int64_t n, const float *restrict fours, float *restrict out) {
    for (int64_t t = 0; t < n; t++)
        out[t] = (fours[4 * t] + fours[4 * t + 1]) + (fours[4 * t + 2] + fours[4 * t + 3]);
}

/* Means of momentum before and after a frame, of which the first has none before. */
static void balance_mean(int64_t n, const float *restrict between, float scale,
                         float *restrict out) {
    out[0] = scale * between[0];
    for (int64_t t = 1; t < n; t++) out[t] = scale * (between[t - 1] + between[t]);
}

/* Angular momentum about the centre of mass, z and x components, in the blend's world. Momentum
   between two frames needs four sums over segments as seen from the body, turned afterwards; in a
   frame it is the mean of both sides. */
static void balance_momentum(const ml_scored *blend) {
    const float *cos = judge_path(blend, JUDGE_COS), *sin = judge_path(blend, JUDGE_SIN);
    int64_t n = blend->terms->n_padded - 1;
    float *about_z = judge_path(blend, JUDGE_FOURS), *about_x = about_z + 4 * n;
    float *between = judge_path(blend, JUDGE_MISS);
    for (int64_t t = 0; t < n; t++) {
        const float *now = blend->scratch->posture + JUDGE_WIDE * t, *then = now + JUDGE_WIDE;
        ml_lanes sum[4] = {ml_lanes_zero(), ml_lanes_zero(), ml_lanes_zero(), ml_lanes_zero()};
        for (int g = 0; g < JUDGE_SEGMENTS; g += ML_LANES) {
            ml_lanes y = ml_lanes_load(now + JUDGE_SEGMENTS + g);
            ml_lanes next = ml_lanes_load(then + JUDGE_SEGMENTS + g);
            sum[0] = ml_lanes_add_product(sum[0], ml_lanes_load(now + g), next);
            sum[1] =
                ml_lanes_add_product(sum[1], ml_lanes_load(now + 2 * JUDGE_SEGMENTS + g), next);
            sum[2] = ml_lanes_add_product(sum[2], y, ml_lanes_load(then + g));
            sum[3] = ml_lanes_add_product(sum[3], y, ml_lanes_load(then + 2 * JUDGE_SEGMENTS + g));
        }
        ml_four xy = ml_lanes_fold(sum[0]), zy = ml_lanes_fold(sum[1]);
        ml_four yx = ml_lanes_fold(sum[2]), yz = ml_lanes_fold(sum[3]);
        ml_four z = cos[t] * xy + sin[t] * zy - cos[t + 1] * yx - sin[t + 1] * yz;
        ml_four x = cos[t] * zy - sin[t] * xy + sin[t + 1] * yx - cos[t + 1] * yz;
        memcpy(about_z + 4 * t, &z, sizeof z);
        memcpy(about_x + 4 * t, &x, sizeof x);
    }
    float scale = 0.5f * blend->terms->fps;
    balance_gather(n, about_z, between);
    balance_mean(n, between, scale, judge_path(blend, JUDGE_HZ));
    balance_gather(n, about_x, between);
    balance_mean(n, between, scale, judge_path(blend, JUDGE_HX));
}

/* Whether a plant stands within `roll` frames of t. */
static int balance_is_near(const ml_scored *blend, int64_t t) {
    int64_t n = blend->terms->length, roll = blend->terms->roll;
    const int16_t *labels = blend->scratch->labels;
    for (int64_t u = judge_most(0, t - roll); u < judge_least(t + roll + 1, n); u++)
        if (labels[u] >= 0 || labels[n + u] >= 0) return 1;
    return 0;
}

/* 95th percentile of `count` values, of which all but the first `away` are 0. They are
   overwritten. */
static float balance_high(float *values, int64_t away, int64_t count) {
    double place = 0.95 * (double)(count - 1);
    int64_t below = (int64_t)place;
    if (away < count - below) {
        /* Not even the value above the percentile's place is reached by every rank. */
        for (int64_t k = away; k < count - below; k++) values[k] = 0.0f;
        away = count - below;
    }
    float low = 0.0f, high = 0.0f;
    for (int64_t rank = 0; rank < count - below; rank++) {
        int64_t at = 0;
        for (int64_t k = 1; k < away; k++)
            if (values[k] > values[at]) at = k;
        high = low;
        low = values[at];
        values[at] = -1.0f;
    }
    if (count - below == 1) high = low;
    return low + (float)(place - (double)below) * (high - low);
}

/* From the centre of mass to the zero moment point, in x or in z: momentum gained, height and
   acceleration of the centre of mass, in this direction and upwards. */
static void balance_shift(int64_t n, const float *restrict gained, const float *restrict height,
                          const float *restrict acceleration, const float *restrict up,
                          float *restrict out) {
    for (int64_t i = 0; i < n; i++)
        out[i] += (gained[i] - height[i] * acceleration[i]) / (up[i] + (float)ML_GRAVITY);
}

/* Distances of the zero moment point from the support of accepted plants. */
static void balance_support(const ml_scored *blend, int64_t first, int64_t count) {
    const ml_terms *terms = blend->terms;
    const ml_scratch *scratch = blend->scratch;
    float *x0 = judge_path(blend, JUDGE_X0), *z0 = judge_path(blend, JUDGE_Z0);
    const float *y2 = judge_path(blend, JUDGE_Y2);
    float *gaps = judge_path(blend, JUDGE_GAPS), *outside = judge_path(blend, JUDGE_OUTSIDE);
    float *columns = blend->columns;
    const float flight = (float)(ML_FLIGHT_LOAD - 1.0) * (float)ML_GRAVITY;
    balance_shift(count, judge_path(blend, JUDGE_DZ), judge_path(blend, JUDGE_Y0),
                  judge_path(blend, JUDGE_X2), y2, x0);
    balance_shift(count, judge_path(blend, JUDGE_DX), judge_path(blend, JUDGE_Y0),
                  judge_path(blend, JUDGE_Z2), y2, z0);
    const int16_t *left = scratch->labels, *right = left + terms->length;
    const int64_t shift = first - terms->pad;
    int64_t most_plants = 4 * terms->n_plants;
    int64_t scored = 0, bare = 0, unsupported = 0, away = 0;
    float most = 0.0f, total = 0.0f;
    for (int64_t i = 0, end; i < count; i = end) {
        int16_t a = left[shift + i], b = right[shift + i];
        for (end = i + 1; end < count; end++)
            if (left[shift + end] != a || right[shift + end] != b) break;
        if (a < 0 && b < 0) {
            for (int64_t t = i; t < end; t++) {
                if (!(y2[t] >= flight)) continue;
                bare++;
                unsupported += !balance_is_near(blend, shift + t);
            }
            continue;
        }
        float soles[16], corners[18];
        int64_t n = 0;
        if (a >= 0) ml_hull_sole(scratch->chosen + 4 * a, terms->sole, soles + 8 * n++);
        if (b >= 0)
            ml_hull_sole(scratch->chosen + 4 * (most_plants + b), terms->sole, soles + 8 * n++);
        n = ml_hull_corners(4 * n, soles, corners);
        ml_hull_outside(n, corners, end - i, x0 + i, z0 + i, outside + i);
        for (int64_t t = i; t < end; t++) {
            if (y2[t] < flight) continue;
            scored++;
            if (!(outside[t] > 0.0f)) continue;
            gaps[away++] = outside[t];
            total += outside[t];
            most = outside[t] > most ? outside[t] : most;
        }
    }
    const float inch = (float)ML_INCH;
    columns[JUDGE_ZMP_MAX] = most / inch;
    columns[JUDGE_ZMP_MEAN] = total / (inch * (float)judge_most(scored, 1));
    columns[JUDGE_SCORED] = (float)scored;
    columns[JUDGE_UNSUPPORTED] = (float)unsupported;
    columns[JUDGE_BARE] = (float)bare;
    if (judge_wants(blend, JUDGE_ZMP_HIGH))
        columns[JUDGE_ZMP_HIGH] = balance_high(gaps, away, scored) / inch;
}

/* How far a body is from free fall in `count` frames from one on: weight carried, and momentum
   gained. `first` is the padded frame whose accelerations come first. */
static float balance_fall(const ml_scored *blend, int64_t first, int64_t from, int64_t count) {
    const float *hz = judge_path(blend, JUDGE_HZ) + first + from;
    const float *hx = judge_path(blend, JUDGE_HX) + first + from;
    const float *y2 = judge_path(blend, JUDGE_Y2) + from;
    double n = (double)judge_most(count, 1), tall = blend->terms->sole[3];
    double carried = 0.0, mean_z = 0.0, mean_x = 0.0, most = 0.0;
    for (int64_t i = 0; i < count; i++) {
        carried += fabs((double)y2[i] + ML_GRAVITY) / ML_GRAVITY;
        mean_z += (double)hz[i] / n;
        mean_x += (double)hx[i] / n;
    }
    for (int64_t i = 0; i < count; i++) {
        double z = (double)hz[i] - mean_z, x = (double)hx[i] - mean_x;
        double gained = sqrt(z * z + x * x);
        most = gained > most ? gained : most;
    }
    return (float)(carried / n + most / (tall * sqrt(ML_GRAVITY * tall)));
}

/* The flight that is farthest from free fall. A flight is at least ML_FLIGHT_S long, with both
   balls clear of the ground, and as far from plants and from the ends of the blend as a foot
   carries before and after its plant; where nothing is planted all frames are one. */
static float balance_flights(const ml_scored *blend, int64_t first, int64_t count) {
    const ml_terms *terms = blend->terms;
    int64_t shift = first - terms->pad, begin = -1;
    const float *left = judge_row(blend, JUDGE_LIFT) + first, *right = left + terms->n_padded;
    const float clear = terms->low + BALANCE_CLEAR_M;
    int64_t shortest = (int64_t)(ML_FLIGHT_S * (double)terms->fps + 0.5);
    float most = 0.0f;
    if (blend->columns[JUDGE_PLANTED] == 0.0f) return balance_fall(blend, first, 0, count);
    for (int64_t i = 0; i <= count; i++) {
        int64_t t = shift + i;
        int is_free = i < count && t >= terms->roll && t < terms->length - terms->roll &&
                      left[i] > clear && right[i] > clear && !balance_is_near(blend, t);
        if (is_free && begin < 0) begin = i;
        if (is_free || begin < 0) continue;
        if (i - begin >= shortest) {
            float fall = balance_fall(blend, first, begin, i - begin);
            most = fall > most ? fall : most;
        }
        begin = -1;
    }
    return most;
}

void ml_judge_balance(const ml_scored *blend) {
    const ml_terms *terms = blend->terms;
    int64_t n_taps = 2 * terms->pad - 1, count;
    int64_t first = balance_frames(blend, &count), at = first - (terms->pad - 1);
    const float *value = terms->taps, *slope = terms->taps + terms->n_taps;
    balance_momentum(blend);
    balance_filter(judge_path(blend, JUDGE_HZ) + at, slope, n_taps, count,
                   judge_path(blend, JUDGE_DZ));
    balance_filter(judge_path(blend, JUDGE_HX) + at, slope, n_taps, count,
                   judge_path(blend, JUDGE_DX));
    balance_filter(judge_path(blend, JUDGE_CX) + at, value, n_taps, count,
                   judge_path(blend, JUDGE_X0));
    balance_filter(judge_path(blend, JUDGE_CZ) + at, value, n_taps, count,
                   judge_path(blend, JUDGE_Z0));
    balance_filter(judge_row(blend, JUDGE_COM + 1) + at, value, n_taps, count,
                   judge_path(blend, JUDGE_Y0));
    balance_support(blend, first, count);
    if (judge_wants(blend, JUDGE_BALLISTIC))
        blend->columns[JUDGE_BALLISTIC] = balance_flights(blend, first, count);
}

void ml_judge_all(const ml_scored *blend) {
    ml_mix rows = ml_judge_rows_of(blend), posture = ml_judge_posture_of(blend);
    ml_judge_mix_steps(blend, &rows);
    ml_judge_steps(blend);
    ml_judge_plants(blend);
    ml_judge_travel(blend, &rows);
    ml_judge_posture(blend, &rows, &posture, NULL);
    ml_judge_balance(blend);
}
