/* Blends whose windows are matched in time (Ikemoto, Arikan and Forsyth 2007, appendix A).

   Matches of neighbours are joined to tuples, one frame of every window for each frame of the
   blend. Terms of the windows are read along the tuples; what comes out are terms of windows that
   go together frame by frame, and are judged like any others. */

#include <string.h>

#include "../kernels.h"
#include "../math/elementary.h"
#include "judge.h"

/* Stages add up in another order than whole costs: a blend is left out only where it costs this
   part more. */
#define WARPED_SLACK 1e-5
/* Shorter plants are none; as in window_terms.c. */
#define WARPED_SHORTEST 2

/* Time at which an eased blend has its Bernstein weights. */
static double warped_eased(double t) {
    double fastest = 1.0 / (1.0 - ML_WARP_EASE), ramp = 0.5 * fastest / ML_WARP_EASE;
    double near = ml_min(t, 1.0 - t);
    double gone =
        near < ML_WARP_EASE ? ramp * (near * near) : fastest * (near - 0.5 * ML_WARP_EASE);
    return t <= 0.5 ? gone : 1.0 - gone;
}

/* Weights of n windows at a time from 0 to 1. */
static void warped_weights_at(int64_t family, int64_t n, double t, double *out) {
    static const double choose[4][4] = {{1, 0, 0, 0}, {1, 1, 0, 0}, {1, 2, 1, 0}, {1, 3, 3, 1}};
    if (family == ML_FAMILY_HAT) {
        double at = t * (double)(n - 1);
        for (int64_t i = 0; i < n; i++) out[i] = ml_max(0.0, 1.0 - fabs(at - (double)i));
        return;
    }
    if (family == ML_FAMILY_EASED) t = warped_eased(t);
    double early[4] = {1.0}, late[4] = {1.0};
    for (int64_t k = 1; k < n; k++) {
        late[k] = late[k - 1] * t;
        early[k] = early[k - 1] * (1.0 - t);
    }
    for (int64_t i = 0; i < n; i++) out[i] = choose[n - 1][i] * early[n - 1 - i] * late[i];
}

ml_status ml_warp_weights(int64_t family, int64_t n, int64_t length, double *out) {
    double step, at[4];
    if (family < 0 || family >= ML_FAMILIES || n < 1 || n > 4 || length < 2) return ML_BAD_SIZE;
    step = 1.0 / (double)(length - 1);
    for (int64_t t = 0; t < length; t++) {
        warped_weights_at(family, n, t == length - 1 ? 1.0 : (double)t * step, at);
        for (int64_t i = 0; i < n; i++) out[i * length + t] = at[i];
    }
    return ML_OK;
}

/* Tuples of k windows joined with the match of the last of them and the next window; how many, 0
   where they have no frame in common or more than `most` come out. Tuples have four places. */
static int64_t warped_join_next(int64_t n, const int32_t *tuples, int64_t k, int64_t n_cells,
                                const int32_t *cells, int64_t most, int32_t *out) {
    int64_t count = 0, left = 0, right = 0;
    int32_t first = cells[0], last = cells[2 * n_cells - 2];
    if (tuples[k - 1] > first) first = tuples[k - 1];
    for (int32_t frame = first; frame <= last; frame++) {
        while (left < n && tuples[4 * left + k - 1] < frame) left++;
        while (right < n_cells && cells[2 * right] < frame) right++;
        int64_t a = left, b = right;
        while (a < n && tuples[4 * a + k - 1] == frame) a++;
        while (b < n_cells && cells[2 * b] == frame) b++;
        if (a == left || b == right) break;
        int64_t longer = judge_most(a - left, b - right);
        for (int64_t m = 0; m < longer; m++) {
            if (count == most) return 0;
            int32_t *now = out + 4 * count;
            memcpy(now, tuples + 4 * judge_least(left + m, a - 1), 4 * sizeof *now);
            now[k] = cells[2 * judge_least(right + m, b - 1) + 1];
            if (count == 0 || memcmp(now - 4, now, (size_t)(k + 1) * sizeof *now)) count++;
        }
    }
    return count;
}

/* Tuples with what comes before in the first window, and after in the last, played on; 0 where
   more than `most` come out. */
static int64_t warped_whole(int64_t n, int64_t n_ways, int64_t length, int64_t most,
                            int32_t *tuples) {
    int64_t before = tuples[0], after = length - 1 - tuples[4 * (n - 1) + n_ways - 1];
    if (before < 0 || after < 0 || n + before + after > most) return 0;
    memmove(tuples + 4 * before, tuples, sizeof *tuples * (size_t)(4 * n));
    for (int64_t t = 0; t < before; t++) {
        memcpy(tuples + 4 * t, tuples + 4 * before, 4 * sizeof *tuples);
        tuples[4 * t] = (int32_t)t;
    }
    for (int64_t t = 0; t < after; t++) {
        int32_t *now = tuples + 4 * (before + n + t);
        memcpy(now, now - 4, 4 * sizeof *now);
        now[n_ways - 1]++;
    }
    return n + before + after;
}

/* One match, or several joined; how many tuples are in `times`, 0 for none. */
static int64_t warped_join(int64_t length, int64_t n_paths, const int32_t *const *cells,
                           const int64_t *sizes, int64_t most, int32_t *times, int32_t *other) {
    int64_t n = sizes[0];
    if (n < 1 || n > most) return 0;
    int32_t *now = n_paths % 2 ? times : other, *next = n_paths % 2 ? other : times;
    for (int64_t t = 0; t < n; t++) {
        now[4 * t] = cells[0][2 * t];
        now[4 * t + 1] = cells[0][2 * t + 1];
        now[4 * t + 2] = now[4 * t + 3] = 0;
    }
    for (int64_t k = 1; k < n_paths; k++) {
        if (sizes[k] < 1) return 0;
        n = warped_join_next(n, now, k + 1, sizes[k], cells[k], most, next);
        if (n < 1) return 0;
        int32_t *swapped = now;
        now = next;
        next = swapped;
    }
    n = warped_whole(n, n_paths + 1, length, most, now);
    return n < 2 ? 0 : n;
}

/* Whether cells of a match stay in windows of `length` frames and go on by 0 or 1. */
static int warped_is_path(int64_t length, int64_t n, const int32_t *cells) {
    for (int64_t t = 0; t < n; t++)
        for (int c = 0; c < 2; c++) {
            int32_t now = cells[2 * t + c], before = t ? cells[2 * t - 2 + c] : now;
            if (now < 0 || now >= length || now < before || now > before + 1) return 0;
        }
    return 1;
}

ml_status ml_warp_join(int64_t length, int64_t n_paths, const int64_t *firsts, int64_t n_cells,
                       const int32_t *cells, int64_t most, int32_t *other, int32_t *times,
                       int64_t *count) {
    const int32_t *paths[3];
    int64_t sizes[3];
    if (n_paths < 1 || n_paths > 3 || most < 1 || length < 1) return ML_BAD_SIZE;
    for (int64_t k = 0; k < n_paths; k++) {
        sizes[k] = firsts[k + 1] - firsts[k];
        paths[k] = cells + 2 * firsts[k];
        if (firsts[k] < 0 || sizes[k] < 0 || firsts[k + 1] > n_cells ||
            !warped_is_path(length, sizes[k], paths[k]))
            return ML_BAD_SIZE;
    }
    *count = warped_join(length, n_paths, paths, sizes, most, times, other);
    return ML_OK;
}

/* A blend along tuples: its terms, in the memory of a warp, and scratch of its size. */
typedef struct {
    ml_terms terms;
    ml_scratch scratch;
    const ml_terms *from;
    const ml_warp *warp;
    const int32_t *ids;
    int64_t n, n_frames;
    const int32_t *times;
    int plain; /* all windows at the same frame: the terms are those of the windows themselves */
} warped_blend;

/* Frame of a window's own terms that padded frame p of the blend shows. */
static int64_t warped_frame(const warped_blend *blend, int64_t way, int64_t p) {
    int64_t pad = blend->from->pad, t = p - pad;
    if (t < 0) return p;
    if (t >= blend->n_frames) return p - blend->n_frames + blend->from->length;
    return pad + blend->times[4 * t + way];
}

/* Weights of n windows of a blend of `length` frames: before it all source, after it all target. */
static void warped_fill_weights(int64_t family, int64_t n, int64_t length, int64_t pad,
                                float *weights) {
    double at[4], step = 1.0 / (double)(length - 1);
    int64_t padded = length + 2 * pad;
    float *out = weights + 4 * (n - 1) * padded;
    for (int64_t p = 0; p < padded; p++) {
        int64_t t = p - pad;
        for (int64_t i = 0; i < n; i++) at[i] = 0.0;
        if (t < 0)
            at[0] = 1.0;
        else if (t >= length)
            at[n - 1] = 1.0;
        else
            warped_weights_at(family, n, t == length - 1 ? 1.0 : (double)t * step, at);
        for (int64_t i = 0; i < n; i++) out[i * padded + p] = (float)at[i];
    }
}

/* Which way a foot points as the body sees it in frame `then`, from how it does in frame `now`. */
static void warped_ahead(const warped_blend *blend, int64_t way, const float *ahead, int64_t now,
                         int64_t then, float *out) {
    const float *turn = judge_window_rows(blend->from, blend->ids[way]) +
                        JUDGE_HEADING * blend->from->n_padded + blend->from->pad;
    double turned = 0.0, c, s, x = (double)ahead[0], z = (double)ahead[1];
    for (int64_t t = now + 1; t <= then; t++) turned += (double)turn[t];
    for (int64_t t = then + 1; t <= now; t++) turned -= (double)turn[t];
    ml_sincos(turned, &s, &c);
    out[0] = (float)(c * x - s * z);
    out[1] = (float)(s * x + c * z);
}

/* Plants of a window, by frames of the blend. */
static void warped_plants(const warped_blend *blend, int64_t way) {
    const ml_terms *from = blend->from;
    const ml_warp *warp = blend->warp;
    int64_t window = blend->ids[way], most = from->n_plants;
    for (int64_t foot = 0; foot < 2; foot++) {
        int64_t own = 2 * window + foot, mine = 2 * way + foot, count = 0;
        for (int64_t k = 0; k < from->counts[own]; k++) {
            const int32_t *span = from->spans + 2 * (own * most + k);
            int64_t first = 0, last = blend->n_frames - 1;
            while (first <= last && blend->times[4 * first + way] < span[0]) first++;
            while (last >= first && blend->times[4 * last + way] > span[1]) last--;
            if (last - first + 1 < WARPED_SHORTEST) continue;
            int32_t *out = warp->spans + 2 * (mine * most + count);
            out[0] = (int32_t)first;
            out[1] = (int32_t)last;
            warped_ahead(blend, way, from->ahead + 2 * (own * most + k), (span[0] + span[1]) / 2,
                         blend->times[4 * ((first + last) / 2) + way],
                         warp->ahead + 2 * (mine * most + count));
            count++;
        }
        warp->counts[mine] = (int32_t)count;
        warp->reach[mine] = from->reach[own];
    }
}

/* Rows of all windows that are no posture, and their plants. */
static void warped_rows(const warped_blend *blend) {
    const ml_terms *from = blend->from;
    int64_t padded = blend->terms.n_padded, was = from->n_padded;
    for (int64_t way = 0; way < blend->n; way++) {
        const float *in = judge_window_rows(from, blend->ids[way]);
        const float *anchor = from->anchors + 4 * was * blend->ids[way];
        float *out = blend->warp->rows + JUDGE_ROWS * padded * way;
        float *there = blend->warp->anchors + 4 * padded * way;
        int64_t before = -1;
        for (int64_t p = 0; p < padded; p++) {
            int64_t at = warped_frame(blend, way, p);
            for (int q = 0; q < JUDGE_ROWS; q++) out[q * padded + p] = in[q * was + at];
            for (int q = 0; q < 4; q++) there[q * padded + p] = anchor[q * was + at];
            if (at == before) { /* a window that waits does not move */
                static const int steps[] = {JUDGE_HEADING, JUDGE_STEP, JUDGE_STEP + 1, JUDGE_PACE,
                                            JUDGE_TRAVEL};
                for (int k = 0; k < 5; k++) out[steps[k] * padded + p] = 0.0f;
            }
            before = at;
        }
        warped_plants(blend, way);
    }
}

/* Postures of all windows. */
static void warped_posture(const warped_blend *blend) {
    int64_t padded = blend->terms.n_padded;
    for (int64_t way = 0; way < blend->n; way++) {
        const float *in = judge_window_posture(blend->from, blend->ids[way]);
        float *out = blend->warp->posture + JUDGE_WIDE * padded * way;
        for (int64_t p = 0; p < padded; p++)
            memcpy(out + JUDGE_WIDE * p, in + JUDGE_WIDE * warped_frame(blend, way, p),
                   JUDGE_WIDE * sizeof(float));
    }
}

/* Whether every window shows the frame of the blend. */
static int warped_is_plain(int64_t length, int64_t n_frames, int64_t n, const int32_t *times) {
    if (n_frames != length) return 0;
    for (int64_t t = 0; t < n_frames; t++)
        for (int64_t i = 0; i < n; i++)
            if (times[4 * t + i] != t) return 0;
    return 1;
}

static const int32_t warped_places[4] = {0, 1, 2, 3};

/* A blend of windows along tuples, ready to be judged; its rows are filled, its posture is not. */
static void warped_begin(const ml_terms *terms, const ml_scratch *scratch, const ml_warp *warp,
                         const int32_t *ids, int64_t n, int64_t n_frames, const int32_t *times,
                         warped_blend *blend) {
    int plain = warped_is_plain(terms->length, n_frames, n, times);
    *blend = (warped_blend){*terms, *scratch, terms, warp, ids, n, n_frames, times, plain};
    blend->terms.length = blend->scratch.length = n_frames;
    blend->terms.n_padded = blend->scratch.n_padded = n_frames + 2 * terms->pad;
    blend->terms.weights = warp->weights;
    if (plain) return;
    blend->terms.n_windows = n;
    blend->terms.rows = warp->rows;
    blend->terms.posture = warp->posture;
    blend->terms.anchors = warp->anchors;
    blend->terms.spans = warp->spans;
    blend->terms.ahead = warp->ahead;
    blend->terms.counts = warp->counts;
    blend->terms.reach = warp->reach;
    warped_rows(blend);
}

/* Whether memory is large enough. */
static int warped_fits(const ml_terms *terms, const ml_scratch *scratch, const ml_warp *warp) {
    return terms->length >= 2 && terms->pad >= 1 && warp->most >= terms->length &&
           terms->n_padded == terms->length + 2 * terms->pad &&
           terms->n_taps >= 2 * terms->pad - 1 && warp->n_padded == warp->most + 2 * terms->pad &&
           warp->n_plants == terms->n_plants && scratch->n_plants == terms->n_plants &&
           scratch->n_padded == warp->n_padded && scratch->length == warp->most;
}

ml_status ml_warp_score(const ml_terms *terms, const ml_scratch *scratch, const ml_warp *warp,
                        int64_t family, const int32_t *ids, int64_t n_frames, const int32_t *times,
                        float *out) {
    int64_t n = ml_judge_ways(terms, ids);
    if (!warped_fits(terms, scratch, warp) || n < 1 || n_frames < 2 || n_frames > warp->most ||
        family < 0 || family >= ML_FAMILIES)
        return ML_BAD_SIZE;
    for (int64_t k = 0; k < 4 * n_frames; k++)
        if (times[k] < 0 || times[k] >= terms->length) return ML_BAD_SIZE;
    warped_blend blend;
    warped_begin(terms, scratch, warp, ids, n, n_frames, times, &blend);
    if (!blend.plain) warped_posture(&blend);
    warped_fill_weights(family, n, n_frames, terms->pad, warp->weights);
    ml_scored scored = {
        &blend.terms, &blend.scratch, blend.plain ? ids : warped_places, n, JUDGE_ALL, out};
    ml_judge_all(&scored);
    return ML_OK;
}

/* What is searched, and the best of it so far. */
typedef struct {
    const float *linear, *log;
    uint32_t wants;
    int64_t keep;
    float *costs;
    uint16_t *recipes;
    uint8_t *used;
} warped_search;

/* Part of the cost that columns `begin` to `end - 1` make. */
static double warped_cost(const warped_search *search, const float *columns, int begin, int end) {
    double cost = 0.0;
    for (int c = begin; c < end; c++) {
        double x = (double)columns[c];
        if (search->linear[c] != 0.0f) cost += (double)search->linear[c] * x;
        if (search->log[c] != 0.0f) cost += (double)search->log[c] * ml_log1p(ml_max(0.0, x));
    }
    return cost;
}

/* Put a blend among the best, if it is; of equals the first stays first. */
static void warped_insert(const warped_search *search, float cost, const int32_t *ids, int64_t n,
                          int64_t family) {
    int64_t at = search->keep;
    if (!(cost < search->costs[at - 1])) return;
    for (at--; at > 0 && search->costs[at - 1] > cost; at--) {
        search->costs[at] = search->costs[at - 1];
        search->used[at] = search->used[at - 1];
        memcpy(search->recipes + 4 * at, search->recipes + 4 * at - 4, 4 * sizeof(uint16_t));
    }
    search->costs[at] = cost;
    search->used[at] = (uint8_t)family;
    for (int64_t i = 0; i < 4; i++)
        search->recipes[4 * at + i] = i < n ? (uint16_t)ids[i] : ML_NO_WINDOW;
}

/* Judge a blend, feet first, as long as it may be kept. */
static void warped_judge(const warped_search *search, warped_blend *blend, int *has_posture,
                         int64_t family) {
    float columns[JUDGE_COLUMNS] = {0.0f};
    ml_scored scored = {&blend->terms, &blend->scratch, blend->plain ? blend->ids : warped_places,
                        blend->n,      search->wants,   columns};
    ml_mix rows = ml_judge_rows_of(&scored), posture = ml_judge_posture_of(&scored);
    double worst = (double)search->costs[search->keep - 1];
    double most = worst + WARPED_SLACK * fabs(worst);
    ml_judge_mix_steps(&scored, &rows);
    ml_judge_steps(&scored);
    ml_judge_plants(&scored);
    if (warped_cost(search, columns, 0, JUDGE_ZMP_MAX) > most) return;
    if (!blend->plain && !*has_posture) warped_posture(blend);
    *has_posture = 1;
    ml_judge_travel(&scored, &rows);
    ml_judge_posture(&scored, &rows, &posture, NULL);
    ml_judge_balance(&scored);
    warped_insert(search, (float)warped_cost(search, columns, 0, JUDGE_COLUMNS), blend->ids,
                  blend->n, family);
}

/* Tuples of a recipe by the matches of its neighbours, else frame to frame; how many. */
static int64_t warped_times(const ml_terms *terms, const ml_paths *paths, const ml_warp *warp,
                            const int32_t *ids, int64_t n) {
    const int32_t *cells[3];
    int64_t sizes[3], count = 0;
    for (int64_t k = 0; k + 1 < n; k++) {
        int64_t pair = paths->n_windows * ids[k] + ids[k + 1];
        cells[k] = paths->cells + 2 * paths->firsts[pair];
        sizes[k] = paths->firsts[pair + 1] - paths->firsts[pair];
    }
    if (n > 1)
        count =
            warped_join(terms->length, n - 1, cells, sizes, warp->most, warp->times, warp->other);
    if (count) return count;
    for (int64_t t = 0; t < terms->length; t++)
        for (int64_t i = 0; i < 4; i++) warp->times[4 * t + i] = (int32_t)t;
    return terms->length;
}

/* Whether paths lie in their windows. */
static int warped_has_paths(const ml_terms *terms, const ml_paths *paths) {
    if (paths->n_windows != terms->n_windows) return 0;
    for (int64_t pair = 0; pair < paths->n_windows * paths->n_windows; pair++) {
        int64_t first = paths->firsts[pair], next = paths->firsts[pair + 1];
        if (first < 0 || next < first || next > paths->n_cells ||
            !warped_is_path(terms->length, next - first, paths->cells + 2 * first))
            return 0;
    }
    return 1;
}

ml_status ml_warp_times(const ml_terms *terms, const ml_paths *paths, const ml_warp *warp,
                        const int32_t *ids, int64_t *count) {
    int64_t n = ml_judge_ways(terms, ids);
    if (n < 1 || warp->most < terms->length || !warped_has_paths(terms, paths)) return ML_BAD_SIZE;
    *count = warped_times(terms, paths, warp, ids, n);
    return ML_OK;
}

ml_status ml_warp_search(const ml_terms *terms, const ml_scratch *scratch, const ml_warp *warp,
                         const ml_paths *paths, const float *linear, const float *log,
                         int64_t n_families, const int64_t *families, int64_t source,
                         int64_t target, int64_t n_tried, const uint16_t *tried, int64_t keep,
                         float *costs, uint16_t *recipes, uint8_t *used) {
    warped_search search = {linear, log, 0, keep, costs, recipes, used};
    int64_t last[3] = {-1, -1, -1}; /* what weights are there: family, windows, frames */
    if (!warped_fits(terms, scratch, warp) || keep < 1 || !ml_judge_has(terms, source) ||
        !ml_judge_has(terms, target) || terms->n_windows > ML_NO_WINDOW ||
        !warped_has_paths(terms, paths))
        return ML_BAD_SIZE;
    for (int64_t f = 0; f < n_families; f++)
        if (families[f] < 0 || families[f] >= ML_FAMILIES) return ML_BAD_SIZE;
    for (int c = 0; c < JUDGE_COLUMNS; c++) {
        if (!(linear[c] >= 0.0f) || !(log[c] >= 0.0f)) return ML_BAD_SIZE;
        if (linear[c] != 0.0f || log[c] != 0.0f) search.wants |= 1u << c;
    }
    for (int64_t m = 0; m < n_tried; m++) {
        int32_t ids[4] = {(int32_t)source, -1, -1, -1};
        int64_t n = 1;
        for (int k = 0; k < 2 && tried[2 * m + k] != ML_NO_WINDOW; k++) {
            if (!ml_judge_has(terms, tried[2 * m + k])) return ML_BAD_SIZE;
            ids[n++] = tried[2 * m + k];
        }
        ids[n++] = (int32_t)target;
        int64_t n_frames = warped_times(terms, paths, warp, ids, n);
        int has_posture = 0;
        warped_blend blend;
        warped_begin(terms, scratch, warp, ids, n, n_frames, warp->times, &blend);
        for (int64_t f = 0; f < n_families; f++) {
            if (last[0] != families[f] || last[1] != n || last[2] != n_frames)
                warped_fill_weights(families[f], n, n_frames, terms->pad, warp->weights);
            last[0] = families[f], last[1] = n, last[2] = n_frames;
            warped_judge(&search, &blend, &has_posture, families[f]);
        }
    }
    return ML_OK;
}
