/* Recipes: blends of one to four windows, measured, and the best of a few. */

#include "../kernels.h"
#include "../math/elementary.h"
#include "judge.h"
#include "table.h"

/* Bounds are in single precision: a blend is left out only where it costs this much more. */
#define RECIPE_SLACK 1e-4
/* Columns that naturalness weighs. */
#define RECIPE_NATURAL                                                                             \
    (1u << JUDGE_FOOT_IN | 1u << JUDGE_ROOT_SPREAD | 1u << JUDGE_SPREAD | 1u << JUDGE_COM_ACC)

ml_status ml_recipe_score(const ml_terms *terms, const ml_scratch *scratch, int64_t n,
                          const int32_t *recipes, float *out) {
    if (!ml_judge_fits(terms, scratch)) return ML_BAD_SIZE;
    for (int64_t k = 0; k < n; k++) {
        const int32_t *ids = recipes + 4 * k;
        ml_scored blend = {
            terms, scratch, ids, ml_judge_ways(terms, ids), JUDGE_ALL, out + JUDGE_COLUMNS * k};
        if (blend.n == 0) return ML_BAD_SIZE;
        ml_judge_all(&blend);
    }
    return ML_OK;
}

/* Part of the cost that columns `begin` to `end - 1` make. */
static double recipe_cost(const ml_weighing *weighing, const float *columns, int begin, int end) {
    double cost = 0.0;
    for (int c = begin; c < end; c++) {
        double x = (double)columns[c];
        if (weighing->linear[c] != 0.0) cost += weighing->linear[c] * x;
        if (weighing->log[c] != 0.0) cost += weighing->log[c] * ml_log1p(ml_max(0.0, x));
    }
    return cost;
}

double ml_recipe_cost(const ml_weighing *weighing, const float *columns) {
    double cost = recipe_cost(weighing, columns, 0, JUDGE_COLUMNS);
    return isnan(cost) ? HUGE_VAL : cost;
}

/* Columns that naturalness weighs, the cheap ones first, as long as it may reach `least`; the
   naturalness, or less than `least`. Columns that are not measured yet are 0, and each can only
   lower it. */
static double recipe_measure(const ml_scored *blend, const double *reference, double least) {
    ml_mix rows = ml_judge_rows_of(blend), posture = ml_judge_posture_of(blend);
    for (int c = 0; c < JUDGE_COLUMNS; c++) blend->columns[c] = 0.0f;
    ml_judge_mix_steps(blend, &rows);
    ml_judge_steps(blend);
    double logit = ml_natural_logit(reference, blend->columns);
    if (logit < least) return logit;
    ml_judge_travel(blend, &rows);
    logit = ml_natural_logit(reference, blend->columns);
    if (logit < least) return logit;
    ml_judge_plants(blend);
    logit = ml_natural_logit(reference, blend->columns);
    if (logit < least) return logit;
    ml_judge_posture(blend, &rows, &posture, NULL);
    return ml_natural_logit(reference, blend->columns);
}

ml_status ml_recipe_logit(const ml_terms *terms, const ml_scratch *scratch, const int32_t *ids,
                          const double *reference, double *logit) {
    float columns[JUDGE_COLUMNS];
    if (!ml_judge_fits(terms, scratch)) return ML_BAD_SIZE;
    ml_scored blend = {terms, scratch, ids, ml_judge_ways(terms, ids), RECIPE_NATURAL, columns};
    if (blend.n == 0) return ML_BAD_SIZE;
    *logit = recipe_measure(&blend, reference, -HUGE_VAL);
    return ML_OK;
}

ml_status ml_recipe_natural(const ml_terms *terms, const ml_scratch *scratch, const int32_t *ids,
                            const double *reference, double least, double *logit, float *columns) {
    if (!ml_judge_fits(terms, scratch)) return ML_BAD_SIZE;
    ml_scored blend = {terms, scratch, ids, ml_judge_ways(terms, ids), JUDGE_ALL, columns};
    if (blend.n == 0) return ML_BAD_SIZE;
    *logit = recipe_measure(&blend, reference, least);
    if (*logit >= least) ml_judge_balance(&blend);
    return ML_OK;
}

/* What all blends of n windows from one source to one target share. */
static void recipe_add_ends(const ml_scored *blend, const ml_weighing *weighing) {
    int64_t n = blend->n, padded = blend->terms->n_padded;
    ml_mix rows = ml_judge_rows_of(blend), posture = ml_judge_posture_of(blend);
    rows.n = posture.n = 2; /* source and target come first */
    ml_judge_mix_rows(padded, &rows, 0, JUDGE_ROWS, weighing->rows + (n - 3) * JUDGE_ROWS * padded);
    ml_judge_mix_posture(&posture, 0, padded, weighing->posture + (n - 3) * JUDGE_WIDE * padded);
}

/* The sum of a blend of more than two windows with source and target added already. */
static ml_mix recipe_between(ml_mix whole, const float *ends) {
    ml_mix mix = {.base = ends, .n = whole.n - 2};
    for (int64_t i = 0; i < mix.n; i++) {
        mix.parts[i] = whole.parts[i + 2];
        mix.weights[i] = whole.weights[i + 2];
    }
    return mix;
}

/* Judge a blend as long as it may cost less than `least`; its cost, or infinity. */
static double recipe_judge(const ml_scored *blend, const ml_weighing *weighing, int is_bounded,
                           const ml_mix *rows, const ml_mix *posture, double least) {
    const float *columns = blend->columns;
    double most = weighing->prunes ? least + RECIPE_SLACK : HUGE_VAL;
    ml_judge_mix_steps(blend, rows);
    ml_judge_steps(blend);
    double cost = recipe_cost(weighing, columns, JUDGE_LOW_SLIDE, JUDGE_ZMP_MAX);
    /* Where the posture counts it rules out most blends, sooner than plants are chosen. */
    if (!is_bounded) {
        ml_judge_plants(blend);
        cost += recipe_cost(weighing, columns, JUDGE_FOOT_IN, JUDGE_LOW_SLIDE);
    }
    if (cost > most) return HUGE_VAL;
    ml_judge_travel(blend, rows);
    cost += recipe_cost(weighing, columns, JUDGE_COM_ACC, JUDGE_BALLISTIC);
    if (cost > most) return HUGE_VAL;
    ml_limit limit = {least + RECIPE_SLACK - cost, weighing->linear[JUDGE_SPREAD],
                      weighing->log[JUDGE_SPREAD], weighing->linear[JUDGE_PEAK_ACC],
                      weighing->log[JUDGE_PEAK_ACC]};
    if (!ml_judge_posture(blend, rows, posture, is_bounded ? &limit : NULL)) return HUGE_VAL;
    cost += recipe_cost(weighing, columns, JUDGE_SPREAD, JUDGE_COM_ACC);
    if (cost > most) return HUGE_VAL;
    if (is_bounded) ml_judge_plants(blend);
    ml_judge_balance(blend);
    return recipe_cost(weighing, columns, 0, JUDGE_COLUMNS);
}

ml_status ml_recipe_best(const ml_terms *terms, const ml_scratch *scratch,
                         const ml_weighing *weighing, int64_t n, const int32_t *recipes,
                         int64_t *number, double *cost) {
    if (!ml_judge_fits(terms, scratch) || weighing->n_padded != terms->n_padded) return ML_BAD_SIZE;
    float columns[JUDGE_COLUMNS] = {0.0f};
    uint32_t wants = 0;
    for (int c = 0; c < JUDGE_COLUMNS; c++) {
        if (weighing->linear[c] != 0.0 || weighing->log[c] != 0.0) wants |= 1u << c;
        weighing->best[c] = NAN;
    }
    int32_t source = -1, target = -1;
    int known[2] = {0, 0}; /* whether the sums of three and of four windows are of these two */
    *number = -1;
    *cost = HUGE_VAL;
    for (int64_t k = 0; k < n; k++) {
        const int32_t *ids = recipes + 4 * k;
        ml_scored blend = {terms, scratch, ids, ml_judge_ways(terms, ids), wants, columns};
        if (blend.n == 0) return ML_BAD_SIZE;
        if (ids[0] != source || ids[blend.n - 1] != target) {
            source = ids[0];
            target = ids[blend.n - 1];
            known[0] = known[1] = 0;
        }
        ml_mix rows = ml_judge_rows_of(&blend), posture = ml_judge_posture_of(&blend);
        if (blend.n > 2) {
            int64_t which = blend.n - 3;
            if (!known[which]) recipe_add_ends(&blend, weighing);
            known[which] = 1;
            rows = recipe_between(rows, weighing->rows + which * JUDGE_ROWS * terms->n_padded);
            posture =
                recipe_between(posture, weighing->posture + which * JUDGE_WIDE * terms->n_padded);
        }
        int is_bounded = weighing->bounded && *number >= 0 && blend.n > 2;
        double found = recipe_judge(&blend, weighing, is_bounded, &rows, &posture, *cost);
        if (found < *cost) {
            *number = k;
            *cost = found;
        }
    }
    if (*number < 0) return ML_OK;
    const int32_t *ids = recipes + 4 * *number;
    ml_scored best = {terms, scratch, ids, ml_judge_ways(terms, ids), JUDGE_ALL, weighing->best};
    ml_judge_all(&best);
    return ML_OK;
}
