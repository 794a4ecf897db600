/* All blends of one pair of windows, judged with shared sums. */

#include "../kernels.h"
#include "../math/elementary.h"
#include "judge.h"

/* Ten times what single precision can make of a squared spread: a bound must not be too high. */
#define PAIR_SLACK_M2 1e-6f
/* Stages add up in another order than whole costs: a blend is left out only where it costs this
   part more. */
#define PAIR_SLACK 1e-5

/* What is searched, and the best of it so far. */
typedef struct {
    const ml_terms *terms;
    const ml_scratch *scratch;
    const ml_pair_sums *sums;
    const ml_spreads *spreads;
    const float *linear, *log;
    int prunes;
    uint32_t wants;
    int64_t source_place, target_place;
    int64_t keep;
    float *costs;      /* (keep), rising; infinite where there is none yet */
    uint16_t *recipes; /* (keep, 4) */
} pair_search;

/* Part of the cost that columns `begin` to `end - 1` make. */
static double pair_cost(const pair_search *search, const float *columns, int begin, int end) {
    double cost = 0.0;
    for (int c = begin; c < end; c++) {
        double x = (double)columns[c];
        if (search->linear[c] != 0.0f) cost += (double)search->linear[c] * x;
        if (search->log[c] != 0.0f) cost += (double)search->log[c] * ml_log1p(ml_max(0.0, x));
    }
    return cost;
}

/* Squared spread of a blend of n windows over intermediaries i and, of four, j. */
static float pair_square(const pair_search *search, int64_t n, int64_t i, int64_t j) {
    const ml_spreads *spreads = search->spreads;
    int64_t a = search->source_place, b = search->target_place;
    int64_t sources = spreads->n_sources, targets = spreads->n_targets, k = spreads->n_between;
    float ends = spreads->ends[((n - 3) * sources + a) * targets + b];
    float first = spreads->sources[((n - 3) * sources + a) * k + i] +
                  spreads->targets[((n - 3) * targets + b) * k + i];
    if (n == 3) return ends + first;
    float second =
        spreads->sources[(2 * sources + a) * k + j] + spreads->targets[(2 * targets + b) * k + j];
    return ends + first + second + spreads->middle[i * k + j];
}

/* Least costs of blends of n windows, and their groups in order; how many groups. */
static int64_t pair_bound(const pair_search *search, int64_t n, int64_t n_tried,
                          const uint16_t *tried) {
    const ml_pair_sums *sums = search->sums;
    int64_t groups = 0, between = search->spreads->n_between;
    float spread[JUDGE_COLUMNS];
    for (int64_t m = 0; m < n_tried; m++) {
        float cost = 0.0f;
        if (n > 2 && tried[2 * m] != ML_NO_WINDOW && between > 0) {
            int64_t i = sums->places[tried[2 * m]];
            int64_t j = n > 3 ? sums->places[tried[2 * m + 1]] : i;
            if (i >= 0 && j >= 0 && i < between && j < between) {
                float square = pair_square(search, n, i, j) - PAIR_SLACK_M2;
                spread[JUDGE_SPREAD] = sqrtf(square > 0.0f ? square : 0.0f);
                cost = (float)pair_cost(search, spread, JUDGE_SPREAD, JUDGE_SPREAD + 1);
            }
        }
        sums->bounds[m] = cost;
        if (m == 0 || tried[2 * m] != tried[2 * m - 2]) {
            sums->groups[groups] = (int32_t)m;
            sums->least[groups] = cost;
            groups++;
        }
        if (cost < sums->least[groups - 1]) sums->least[groups - 1] = cost;
    }
    sums->groups[groups] = (int32_t)n_tried;
    for (int64_t group = 0; group < groups; group++) {
        int64_t at = group;
        for (; at > 0 && sums->least[sums->order[at - 1]] > sums->least[group]; at--)
            sums->order[at] = sums->order[at - 1];
        sums->order[at] = (int32_t)group;
    }
    return groups;
}

/* Whether a blend of n windows comes before a recipe of the same cost: those of fewer windows do,
   then those whose windows have lower numbers. */
static int pair_comes_first(const int32_t *ids, int64_t n, const uint16_t *recipe) {
    int64_t ways = 4;
    while (ways > 0 && recipe[ways - 1] == ML_NO_WINDOW) ways--;
    if (ways != n) return n < ways;
    for (int64_t i = 0; i < n; i++)
        if (ids[i] != recipe[i]) return ids[i] < recipe[i];
    return 0;
}

/* Put a blend among the best, if it is; in which order blends are tried changes nothing. */
static void pair_insert(const pair_search *search, float cost, const int32_t *ids, int64_t n) {
    float *costs = search->costs;
    uint16_t *recipes = search->recipes;
    int64_t at = search->keep;
    while (at > 0 && (costs[at - 1] > cost ||
                      (costs[at - 1] == cost && pair_comes_first(ids, n, recipes + 4 * at - 4)))) {
        at--;
        if (at + 1 == search->keep) continue;
        costs[at + 1] = costs[at];
        for (int i = 0; i < 4; i++) recipes[4 * at + 4 + i] = recipes[4 * at + i];
    }
    if (at == search->keep) return;
    costs[at] = cost;
    for (int i = 0; i < 4; i++) recipes[4 * at + i] = i < n ? (uint16_t)ids[i] : ML_NO_WINDOW;
}

/* Judge a blend, stage by stage, as long as it may be kept. `spread` is no more than what its
   spread will cost. */
static void pair_judge(const pair_search *search, const ml_scored *blend, const ml_mix *rows,
                       const ml_mix *posture, double spread) {
    const float *columns = blend->columns;
    float worst = search->costs[search->keep - 1];
    double most = search->prunes ? (double)worst + PAIR_SLACK * fabs((double)worst) : HUGE_VAL;
    ml_judge_mix_steps(blend, rows);
    ml_judge_steps(blend);
    double cost = pair_cost(search, columns, JUDGE_LOW_SLIDE, JUDGE_ZMP_MAX);
    /* Where the posture counts it rules out most blends, sooner than plants are chosen. */
    int is_bounded = search->spreads->n_between > 0;
    if (!is_bounded) {
        ml_judge_plants(blend);
        cost += pair_cost(search, columns, JUDGE_FOOT_IN, JUDGE_LOW_SLIDE);
    }
    if (cost + spread > most) return;
    ml_judge_travel(blend, rows);
    cost += pair_cost(search, columns, JUDGE_COM_ACC, JUDGE_BALLISTIC);
    if (cost + spread > most) return;
    ml_limit limit = {most - cost - spread, 0.0, 0.0, (double)search->linear[JUDGE_PEAK_ACC],
                      (double)search->log[JUDGE_PEAK_ACC]};
    if (!ml_judge_posture(blend, rows, posture, is_bounded ? &limit : NULL)) return;
    cost += pair_cost(search, columns, JUDGE_SPREAD, JUDGE_COM_ACC);
    if (cost > most) return;
    if (is_bounded) ml_judge_plants(blend);
    ml_judge_balance(blend);
    /* In the same order for all blends, whatever was known when. */
    float whole = (float)pair_cost(search, columns, 0, JUDGE_COLUMNS);
    if (whole <= worst) pair_insert(search, whole, blend->ids, blend->n);
}

/* All blends of n windows over the intermediaries that are tried. */
static ml_status pair_try(const pair_search *search, int64_t n, int64_t n_tried,
                          const uint16_t *tried, int32_t *ids, float *columns) {
    const ml_terms *terms = search->terms;
    const ml_pair_sums *sums = search->sums;
    int64_t padded = terms->n_padded, added = n > 2 ? n - 2 : 1;
    if (n_tried > sums->most) return ML_BAD_SIZE;
    for (int64_t m = 0; n > 2 && m < n_tried; m++) {
        if (tried[2 * m] == ML_NO_WINDOW) continue;
        if (!ml_judge_has(terms, tried[2 * m])) return ML_BAD_SIZE;
        if (n > 3 && !ml_judge_has(terms, tried[2 * m + 1])) return ML_BAD_SIZE;
    }
    ml_scored blend = {terms, search->scratch, ids, n, search->wants, columns};
    /* What all blends share: the source and, of more than two windows, the target. */
    for (int64_t i = 1; i < n - 1; i++) ids[i] = ids[0];
    ml_mix rows = ml_judge_rows_of(&blend), posture = ml_judge_posture_of(&blend);
    rows.n = posture.n = n > 2 ? 2 : 1;
    ml_judge_mix_rows(padded, &rows, 0, JUDGE_ROWS, sums->pair_rows);
    ml_judge_mix_posture(&posture, 0, padded, sums->pair_posture);
    ml_mix one_row = {.base = sums->pair_rows, .n = 1, .weights = {judge_weights(terms, n, 1)}};
    ml_mix one_posture = one_row;
    one_posture.base = sums->pair_posture;
    ml_mix more_rows = one_row, more_posture = one_posture;
    if (n > 3) {
        more_rows.base = sums->third_rows;
        more_posture.base = sums->third_posture;
    }
    more_rows.weights[0] = more_posture.weights[0] = judge_weights(terms, n, added);
    int is_bounded = search->spreads->n_between > 0;
    int64_t groups = pair_bound(search, n, n_tried, tried);
    for (int64_t k = 0; k < groups; k++) {
        int64_t group = sums->order[k];
        int begun = n < 4;
        for (int64_t m = sums->groups[group]; m < sums->groups[group + 1]; m++) {
            if (is_bounded && sums->bounds[m] > search->costs[search->keep - 1]) continue;
            if (n > 2 && tried[2 * m] == ML_NO_WINDOW) continue;
            if (n > 2) ids[1] = tried[2 * m];
            if (n > 3) ids[2] = tried[2 * m + 1];
            if (!begun) { /* source, target and the first intermediary of four-way blends */
                one_row.parts[0] = judge_window_rows(terms, ids[1]);
                one_posture.parts[0] = judge_window_posture(terms, ids[1]);
                ml_judge_mix_rows(padded, &one_row, 0, JUDGE_ROWS, sums->third_rows);
                ml_judge_mix_posture(&one_posture, 0, padded, sums->third_posture);
                begun = 1;
            }
            more_rows.parts[0] = judge_window_rows(terms, ids[added]);
            more_posture.parts[0] = judge_window_posture(terms, ids[added]);
            pair_judge(search, &blend, &more_rows, &more_posture, (double)sums->bounds[m]);
        }
    }
    return ML_OK;
}

ml_status ml_pair_search(const ml_terms *terms, const ml_scratch *scratch, const ml_pair_sums *sums,
                         const ml_spreads *spreads, const float *linear, const float *log,
                         uint8_t prunes, int64_t source, int64_t target, int64_t source_place,
                         int64_t target_place, int64_t n_two, const uint16_t *two, int64_t n_three,
                         const uint16_t *three, int64_t n_four, const uint16_t *four, int64_t keep,
                         float *costs, uint16_t *recipes) {
    if (!ml_judge_fits(terms, scratch) || keep < 1 || sums->n_padded != terms->n_padded ||
        sums->n_windows != terms->n_windows || !ml_judge_has(terms, source) ||
        !ml_judge_has(terms, target) || terms->n_windows > ML_NO_WINDOW)
        return ML_BAD_SIZE;
    if (spreads->n_between > 0 && (source_place < 0 || source_place >= spreads->n_sources ||
                                   target_place < 0 || target_place >= spreads->n_targets))
        return ML_BAD_SIZE;
    pair_search search = {terms, scratch,      sums,         spreads, linear, log,    prunes,
                          0,     source_place, target_place, keep,    costs,  recipes};
    for (int c = 0; c < JUDGE_COLUMNS; c++)
        if (linear[c] != 0.0f || log[c] != 0.0f) search.wants |= 1u << c;
    float columns[JUDGE_COLUMNS] = {0.0f};
    const int64_t n_tried[3] = {n_two, n_three, n_four};
    const uint16_t *tried[3] = {two, three, four};
    for (int64_t n = 2; n < 5; n++) {
        if (n_tried[n - 2] == 0) continue;
        int32_t ids[4] = {(int32_t)source, -1, -1, -1};
        ids[n - 1] = (int32_t)target;
        ml_status status = pair_try(&search, n, n_tried[n - 2], tried[n - 2], ids, columns);
        if (status != ML_OK) return status;
    }
    return ML_OK;
}
