/* Feet of a blend: where they go, which plants are kept, and how far they miss them. */

#include "judge.h"

#include <math.h>

#include "../math/simd8.h"

/* Cosine and sine of a turn in one frame. A body turns by less than 0.3 rad: the next terms are
   below single precision. */
static void feet_turns(int64_t n, const float *restrict turn, float *restrict cos,
                       float *restrict sin) {
    for (int64_t t = 0; t < n; t++) {
        float d = turn[t], d2 = d * d;
        cos[t] = 1.0f - d2 * (0.5f - d2 * ((float)(1.0 / 24.0) - d2 * (float)(1.0 / 720.0)));
        sin[t] = d * (1.0f - d2 * ((float)(1.0 / 6.0) - d2 * (float)(1.0 / 120.0)));
    }
}

/* Turn and place of the body in every padded frame, from its blended steps. */
static void feet_walk(const ml_scored *blend) {
    int64_t n = blend->terms->n_padded;
    const float *dx = judge_row(blend, JUDGE_STEP), *dz = judge_row(blend, JUDGE_STEP + 1);
    float *px = judge_path(blend, JUDGE_X), *pz = judge_path(blend, JUDGE_Z);
    float *cos = judge_path(blend, JUDGE_COS), *sin = judge_path(blend, JUDGE_SIN);
    feet_turns(n, judge_row(blend, JUDGE_HEADING), cos, sin);
    float c = 1.0f, s = 0.0f, x = 0.0f, z = 0.0f;
    cos[0] = c;
    sin[0] = s;
    px[0] = x;
    pz[0] = z;
    for (int64_t t = 1; t < n; t++) {
        x += c * dx[t] + s * dz[t];
        z += c * dz[t] - s * dx[t];
        float turned = c * cos[t] - s * sin[t];
        s = s * cos[t] + c * sin[t];
        c = turned;
        px[t] = x;
        pz[t] = z;
        cos[t] = c;
        sin[t] = s;
    }
}

/* How much the windows' roots differ in velocity, m/s. */
static float feet_root_spread(const ml_scored *blend) {
    int64_t pad = blend->terms->pad, n = blend->terms->length;
    const float *turn = judge_row(blend, JUDGE_HEADING) + pad;
    const float *energy = judge_row(blend, JUDGE_TRAVEL) + pad;
    const float *dx = judge_row(blend, JUDGE_STEP) + pad;
    const float *dz = judge_row(blend, JUDGE_STEP + 1) + pad;
    ml_lanes had = ml_lanes_zero(), kept = ml_lanes_zero();
    int64_t t = 0;
    for (; t + ML_LANES <= n; t += ML_LANES) {
        ml_lanes arc = ml_lanes_scale(ml_lanes_load(turn + t), JUDGE_TURN_M);
        ml_lanes x = ml_lanes_load(dx + t), z = ml_lanes_load(dz + t);
        ml_lanes square = ml_lanes_add_product(ml_lanes_multiply(arc, arc), x, x);
        had = ml_lanes_add(had, ml_lanes_load(energy + t));
        kept = ml_lanes_add(kept, ml_lanes_add_product(square, z, z));
    }
    float all = ml_lanes_sum(had), left = ml_lanes_sum(kept), fps = blend->terms->fps;
    for (; t < n; t++) {
        float arc = JUDGE_TURN_M * turn[t];
        all += energy[t];
        left += arc * arc + dx[t] * dx[t] + dz[t] * dz[t];
    }
    float lost = (all - left * fps * fps) / (float)n;
    return sqrtf(lost > 0.0f ? lost : 0.0f);
}

/* Lengths of the steps of a point, from frame 1 on. */
static void feet_speed(int64_t n, const float *restrict x, const float *restrict z,
                       float *restrict out) {
    for (int64_t t = 1; t < n; t++) {
        float dx = x[t] - x[t - 1], dz = z[t] - z[t - 1];
        out[t] = sqrtf(dx * dx + dz * dz);
    }
}

/* Ball of one foot over the ground in the frames of the window, and its speed, metres a frame. */
static void feet_ball(const ml_scored *blend, int foot) {
    int64_t pad = blend->terms->pad, n = blend->terms->length;
    float *fx = judge_path(blend, JUDGE_BALLS + 2 * foot) + pad;
    float *fz = judge_path(blend, JUDGE_BALLS + 2 * foot + 1) + pad;
    ml_judge_to_world(n, judge_path(blend, JUDGE_COS) + pad, judge_path(blend, JUDGE_SIN) + pad,
                      judge_path(blend, JUDGE_X) + pad, judge_path(blend, JUDGE_Z) + pad,
                      judge_row(blend, JUDGE_FEET + 2 * foot) + pad,
                      judge_row(blend, JUDGE_FEET + 2 * foot + 1) + pad, fx, fz);
    if (judge_wants(blend, JUDGE_LOW_SLIDE) || judge_wants(blend, JUDGE_SLIDE))
        feet_speed(n, fx, fz, judge_path(blend, JUDGE_SPEED + foot));
}

/* Frames in which four series are not all the same. */
static int64_t feet_apart(int64_t n, const float *restrict a, const float *restrict b,
                          const float *restrict c, const float *restrict d) {
    int32_t apart = 0;
    for (int64_t t = 0; t < n; t++) apart += (a[t] != b[t]) | (a[t] != c[t]) | (a[t] != d[t]);
    return apart;
}

/* Frames in which the ball stands in some of the windows and not in others. */
static int64_t feet_differ(const ml_scored *blend, int foot) {
    const ml_terms *terms = blend->terms;
    const float *stands[4];
    for (int i = 0; i < 4; i++) {
        int64_t way = i < blend->n ? i : blend->n - 1;
        stands[i] = judge_window_rows(terms, blend->ids[way]) +
                    (JUDGE_STANDS + foot) * terms->n_padded + terms->pad;
    }
    return feet_apart(terms->length, stands[0], stands[1], stands[2], stands[3]);
}

/* p (1 - p), summed. */
static float feet_doubt(int64_t n, const float *p) {
    ml_lanes sum = ml_lanes_zero(), one = ml_lanes_fill(1.0f);
    int64_t t = 0;
    for (; t + ML_LANES <= n; t += ML_LANES) {
        ml_lanes part = ml_lanes_load(p + t);
        sum = ml_lanes_add_product(sum, part, ml_lanes_subtract(one, part));
    }
    float doubt = ml_lanes_sum(sum);
    for (; t < n; t++) doubt += p[t] * (1.0f - p[t]);
    return doubt;
}

/* Speeds of a ball where it is low, summed; `count` becomes how many. */
static float feet_low(int64_t n, const float *lift, const float *speed, float low, float *count) {
    ml_lanes sum = ml_lanes_zero(), steps = sum, zero = sum, one = ml_lanes_fill(1.0f);
    ml_lanes most = ml_lanes_fill(low);
    int64_t t = 0;
    for (; t + ML_LANES <= n; t += ML_LANES) {
        ml_lanes height = ml_lanes_load(lift + t);
        ml_lanes slid = ml_lanes_where_less(height, most, ml_lanes_load(speed + t), zero);
        sum = ml_lanes_add(sum, slid);
        steps = ml_lanes_add(steps, ml_lanes_where_less(height, most, one, zero));
    }
    float slid = ml_lanes_sum(sum);
    *count = ml_lanes_sum(steps);
    for (; t < n; t++) {
        if (!(lift[t] < low)) continue;
        slid += speed[t];
        *count += 1.0f;
    }
    return slid;
}

void ml_judge_mix_steps(const ml_scored *blend, const ml_mix *mix) {
    int64_t n = blend->terms->n_padded;
    float *rows = blend->scratch->rows;
    ml_judge_mix_rows(n, mix, JUDGE_HEADING, JUDGE_COM, rows);
    if (judge_wants(blend, JUDGE_DISAGREEMENT_WEIGHTED))
        ml_judge_mix_rows(n, mix, JUDGE_STANDS, JUDGE_LIFT, rows);
    if (judge_wants(blend, JUDGE_LOW_SLIDE) || judge_wants(blend, JUDGE_BALLISTIC))
        ml_judge_mix_rows(n, mix, JUDGE_LIFT, JUDGE_POWER, rows);
    if (judge_wants(blend, JUDGE_ROOT_SPREAD))
        ml_judge_mix_rows(n, mix, JUDGE_TRAVEL, JUDGE_ROWS, rows);
}

void ml_judge_steps(const ml_scored *blend) {
    const ml_terms *terms = blend->terms;
    int64_t pad = terms->pad, n = terms->length, apart = 0;
    float slid = 0.0f, doubt = 0.0f, low = 0.0f;
    feet_walk(blend);
    for (int foot = 0; foot < 2; foot++) {
        feet_ball(blend, foot);
        if (judge_wants(blend, JUDGE_DISAGREEMENT)) apart += feet_differ(blend, foot);
        if (judge_wants(blend, JUDGE_DISAGREEMENT_WEIGHTED))
            doubt += feet_doubt(n, judge_row(blend, JUDGE_STANDS + foot) + pad);
        if (judge_wants(blend, JUDGE_LOW_SLIDE)) {
            float steps; /* from frame 1 on */
            slid += feet_low(n - 1, judge_row(blend, JUDGE_LIFT + foot) + pad + 1,
                             judge_path(blend, JUDGE_SPEED + foot) + 1, terms->low, &steps);
            low += steps;
        }
    }
    if (judge_wants(blend, JUDGE_ROOT_SPREAD))
        blend->columns[JUDGE_ROOT_SPREAD] = feet_root_spread(blend);
    blend->columns[JUDGE_LOW_SLIDE] = slid * terms->fps / (low > 1.0f ? low : 1.0f);
    blend->columns[JUDGE_DISAGREEMENT] = (float)apart;
    blend->columns[JUDGE_DISAGREEMENT_WEIGHTED] = 4.0f * doubt;
}

/* Distances of a ball's path from a place. */
static void feet_miss(int64_t n, const float *restrict fx, const float *restrict fz, float x,
                      float z, float *restrict out) {
    for (int64_t t = 0; t < n; t++) {
        float dx = fx[t] - x, dz = fz[t] - z;
        out[t] = sqrtf(dx * dx + dz * dz);
    }
}

/* Sum of n numbers, less the first one in each. */
static float feet_moved(int64_t n, const float *x) {
    ml_lanes from = ml_lanes_fill(x[0]), lanes = ml_lanes_zero();
    int64_t t = 0;
    for (; t + ML_LANES <= n; t += ML_LANES)
        lanes = ml_lanes_add(lanes, ml_lanes_subtract(ml_lanes_load(x + t), from));
    float sum = ml_lanes_sum(lanes);
    for (; t < n; t++) sum += x[t] - x[0];
    return sum;
}

/* One plant of a window's foot: where the blend puts it and how far its ball misses it.
   wx, wz: where the blend puts it in each frame. */
static void feet_candidate(const ml_scored *blend, int foot, const float *wx, const float *wz,
                           int64_t first, int64_t last, const float *ahead, float *plant) {
    int64_t pad = blend->terms->pad;
    const float *cos = judge_path(blend, JUDGE_COS) + pad;
    const float *sin = judge_path(blend, JUDGE_SIN) + pad;
    const float *fx = judge_path(blend, JUDGE_BALLS + 2 * foot) + pad;
    const float *fz = judge_path(blend, JUDGE_BALLS + 2 * foot + 1) + pad;
    float *miss = judge_path(blend, JUDGE_MISS);
    /* From where the plant starts, not from the origin: little is lost in short sums. */
    int64_t n = last - first + 1;
    float share = 1.0f / (float)n;
    float x = wx[first] + feet_moved(n, wx + first) * share;
    float z = wz[first] + feet_moved(n, wz + first) * share;
    feet_miss(n, fx + first, fz + first, x, z, miss);
    int64_t middle = (first + last) / 2;
    plant[0] = ml_lanes_sum_of(n, miss) * share;
    plant[1] = x;
    plant[2] = z;
    plant[3] = cos[middle] * ahead[0] + sin[middle] * ahead[1];
    plant[4] = cos[middle] * ahead[1] - sin[middle] * ahead[0];
}

/* Every window's plants of one foot; how many. */
static int64_t feet_candidates(const ml_scored *blend, int foot) {
    const ml_terms *terms = blend->terms;
    int64_t pad = terms->pad, count = 0;
    const float *cos = judge_path(blend, JUDGE_COS) + pad;
    const float *sin = judge_path(blend, JUDGE_SIN) + pad;
    const float *px = judge_path(blend, JUDGE_X) + pad, *pz = judge_path(blend, JUDGE_Z) + pad;
    float *wx = judge_path(blend, JUDGE_ANCHOR), *wz = judge_path(blend, JUDGE_ANCHOR + 1);
    for (int64_t i = 0; i < blend->n; i++) {
        int64_t window = blend->ids[i], own = 2 * window + foot, number = terms->counts[own];
        if (number == 0) continue;
        const float *ax = terms->anchors + (4 * window + 2 * foot) * terms->n_padded + pad;
        ml_judge_to_world(terms->length, cos, sin, px, pz, ax, ax + terms->n_padded, wx, wz);
        for (int64_t k = 0; k < number; k++, count++) {
            const int32_t *span = terms->spans + 2 * (own * terms->n_plants + k);
            const float *ahead = terms->ahead + 2 * (own * terms->n_plants + k);
            feet_candidate(blend, foot, wx, wz, span[0], span[1], ahead,
                           blend->scratch->plants + 5 * count);
            int32_t *kept = blend->scratch->spans + 3 * count;
            kept[0] = span[0];
            kept[1] = span[1];
            kept[2] = 0;
        }
    }
    return count;
}

/* Whether candidate k comes before another: by error, then by start. */
static int feet_before(const ml_scratch *scratch, int64_t k, int64_t other) {
    float error = scratch->plants[5 * k], least = scratch->plants[5 * other];
    return error < least || (error == least && scratch->spans[3 * k] < scratch->spans[3 * other]);
}

/* Take candidates by rising error where their frames are free; ties by start, then window. */
static void feet_choose(const ml_scored *blend, int foot, int64_t count) {
    const ml_scratch *scratch = blend->scratch;
    int64_t n = blend->terms->length, most = 4 * blend->terms->n_plants;
    int32_t *spans = scratch->spans, *order = scratch->order;
    int16_t *label = scratch->labels + foot * n;
    for (int64_t t = 0; t < n; t++) label[t] = -1;
    for (int64_t k = 0; k < count; k++) {
        int64_t at = k;
        for (; at > 0 && feet_before(scratch, k, order[at - 1]); at--) order[at] = order[at - 1];
        order[at] = (int32_t)k;
    }
    int16_t accepted = 0;
    for (int64_t place = 0; place < count; place++) {
        int64_t k = order[place], first = spans[3 * k], last = spans[3 * k + 1];
        int is_free = 1;
        for (int64_t before = 0; before < place; before++) {
            const int32_t *other = spans + 3 * order[before];
            if (other[2] && other[0] <= last && other[1] >= first) is_free = 0;
        }
        if (!is_free) continue;
        spans[3 * k + 2] = 1;
        for (int64_t t = first; t <= last; t++) label[t] = accepted;
        float *chosen = scratch->chosen + 4 * (foot * most + accepted);
        for (int c = 0; c < 4; c++) chosen[c] = scratch->plants[5 * k + 1 + c];
        accepted++;
    }
}

void ml_judge_plants(const ml_scored *blend) {
    const ml_scratch *scratch = blend->scratch;
    float total = 0.0f, worst = 0.0f, slid = 0.0f;
    int64_t planted = 0, steps = 0;
    for (int foot = 0; foot < 2; foot++) {
        const float *speed = judge_path(blend, JUDGE_SPEED + foot);
        int64_t count = feet_candidates(blend, foot);
        feet_choose(blend, foot, count);
        for (int64_t k = 0; k < count; k++) {
            const int32_t *span = scratch->spans + 3 * k;
            if (!span[2]) continue;
            float error = scratch->plants[5 * k];
            int64_t frames = span[1] - span[0] + 1;
            total += error * (float)frames;
            planted += frames;
            worst = error > worst ? error : worst;
            steps += frames - 1;
            if (judge_wants(blend, JUDGE_SLIDE))
                for (int64_t t = span[0] + 1; t <= span[1]; t++) slid += speed[t];
        }
    }
    blend->columns[JUDGE_FOOT_IN] = total / (float)((double)judge_most(planted, 1) * ML_INCH);
    blend->columns[JUDGE_FOOT_WORST_IN] = worst / (float)ML_INCH;
    blend->columns[JUDGE_PLANTED] = (float)planted;
    blend->columns[JUDGE_SLIDE] = slid * blend->terms->fps / (float)judge_most(steps, 1);
}
