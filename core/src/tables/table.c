/* Tables at run time: recipes as slots and as rows, and the best of them. */

#include "table.h"

#include <string.h>

#include "judge.h"

/* The windows of a recipe: a source, its intermediaries, a target, then -1; the number of windows,
   or 0 where an intermediary is none of the medoids. */
static int table_recipe(const uint8_t *between, int64_t n_medoids, int64_t source, int64_t target,
                        int64_t windows[ML_MOST_WAYS]) {
    int count = 1;
    for (int m = 1; m < ML_MOST_WAYS; m++) windows[m] = -1;
    windows[0] = source;
    for (int m = 0; m < ML_MOST_WAYS - 2; m++) {
        if (between[m] == ML_TABLE_NO_WINDOW) continue;
        if (between[m] >= n_medoids) return 0;
        windows[count++] = between[m];
    }
    windows[count++] = target;
    return count;
}

ml_status ml_table_slots(int64_t n_ends, int64_t n_recipes, const uint8_t *between,
                         int64_t n_medoids, int64_t n_targets, const int64_t *ends,
                         int64_t n_captured, int64_t share, int64_t most, int32_t *ids,
                         int64_t *count) {
    int64_t n = 0, windows[ML_MOST_WAYS];
    if (n_medoids < 0 || n_medoids > INT32_MAX / 2 || share < 0) return ML_BAD_SIZE;
    for (int64_t k = 0; k < 1 + n_targets; k++)
        if (ends[k] < 0 || ends[k] >= n_ends) return ML_BAD_SIZE;
    if (share > n_recipes) share = n_recipes;
    for (int64_t k = 0; k < n_targets; k++) {
        int64_t target = n_medoids + 1 + k * (1 + n_captured);
        const uint8_t *recipe = between + 2 * n_recipes * (n_ends * ends[0] + ends[1 + k]);
        if (most - n < n_captured + 1 + share) return ML_BAD_SIZE;
        for (int64_t m = 0; m <= n_captured; m++, n++) { /* the plain blend last */
            int32_t *id = ids + ML_MOST_WAYS * n;
            int plain = m == n_captured;
            id[0] = (int32_t)n_medoids;
            id[1] = (int32_t)(plain ? target : target + 1 + m);
            id[2] = plain ? -1 : (int32_t)target;
            id[3] = -1;
        }
        for (int64_t r = 0; r < share && recipe[2 * r] != ML_TABLE_NO_RECIPE; r++) {
            int found = table_recipe(recipe + 2 * r, n_medoids, n_medoids, target, windows);
            if (!found) return ML_BAD_SIZE;
            if (found == 2) continue; /* the plain blend is there already */
            for (int i = 0; i < ML_MOST_WAYS; i++) ids[ML_MOST_WAYS * n + i] = (int32_t)windows[i];
            n++;
        }
    }
    *count = n;
    return ML_OK;
}

ml_status ml_table_rows(int64_t n_recipes, const uint8_t *between, int64_t n_medoids,
                        const int64_t *medoids, int64_t source, int64_t target, int64_t *rows,
                        int64_t *count) {
    int64_t n = 0;
    for (int64_t r = 0; r < n_recipes && between[2 * r] != ML_TABLE_NO_RECIPE; r++, n++) {
        int64_t *windows = rows + ML_MOST_WAYS * n;
        int found = table_recipe(between + 2 * r, n_medoids, source, target, windows);
        if (!found) return ML_BAD_SIZE;
        for (int i = 1; i < found - 1; i++) windows[i] = medoids[windows[i]];
    }
    rows[ML_MOST_WAYS * n] = source;
    rows[ML_MOST_WAYS * n + 1] = target;
    for (int i = 2; i < ML_MOST_WAYS; i++) rows[ML_MOST_WAYS * n + i] = -1;
    *count = n + 1;
    return ML_OK;
}

/* Terms of the window in a slot, written to another. */
static void table_copy(const ml_term_slots *slots, int64_t from, int64_t to) {
    int64_t rows = JUDGE_ROWS * slots->n_padded, posture = JUDGE_WIDE * slots->n_padded;
    int64_t anchors = 4 * slots->n_padded, plants = 4 * slots->n_plants;
    memcpy(slots->rows + rows * to, slots->rows + rows * from, sizeof(float) * (size_t)rows);
    memcpy(slots->posture + posture * to, slots->posture + posture * from,
           sizeof(float) * (size_t)posture);
    memcpy(slots->anchors + anchors * to, slots->anchors + anchors * from,
           sizeof(float) * (size_t)anchors);
    memcpy(slots->spans + plants * to, slots->spans + plants * from,
           sizeof(int32_t) * (size_t)plants);
    memcpy(slots->ahead + plants * to, slots->ahead + plants * from,
           sizeof(float) * (size_t)plants);
    memcpy(slots->counts + 2 * to, slots->counts + 2 * from, 2 * sizeof(int32_t));
    memcpy(slots->reach + 2 * to, slots->reach + 2 * from, 2 * sizeof(int32_t));
}

ml_status ml_table_put(const ml_table *table, int64_t slot, int64_t row) {
    const ml_term_slots *slots = table->term_slots;
    if (row < 0) return ML_BAD_SIZE; /* as of slots that hold no window */
    if (table->met[slot] == row) return ML_OK;
    int64_t from = 0, end = table->n_medoids + ML_TABLE_WIDE;
    while (from < end && table->met[from] != row) from++;
    table->met[slot] = -1;
    ml_status status = ML_OK;
    if (from < end) {
        table_copy(slots, from, slot);
    } else {
        status = ml_window_terms(table->term_source, slots, row, slot);
    }
    if (!status) table->met[slot] = row;
    return status;
}

static ml_status table_fits(const ml_table *table, const ml_choice *choice) {
    if (table->n_work < ml_table_work(table) || choice->most < ml_table_most(table) ||
        table->terms->n_windows < table->n_medoids + ML_TABLE_WIDE)
        return ML_BAD_SIZE;
    return ML_OK;
}

ml_status ml_table_find_captured(const ml_table *table, const ml_table_pieces *work, int64_t source,
                                 int64_t target, int64_t *rows, int64_t *count) {
    int64_t apart = table->length / 4 > 1 ? table->length / 4 : 1;
    return ml_neighbour_between(table->index, table->by_both, table->seen, source,
                                target + table->length - 1, apart, ML_TABLE_GROUPS, ML_TABLE_LISTS,
                                ML_TABLE_SEEN, work->moments, work->near, work->search,
                                ML_TABLE_CAPTURED, rows, work->squared, count);
}

ml_status ml_table_choose(const ml_table *table, int64_t source, int64_t n_targets,
                          const int64_t *targets, int64_t rescore, ml_choice *out) {
    ml_table_pieces work;
    int64_t ends[1 + ML_TABLE_TARGETS], captured[ML_TABLE_CAPTURED], n_captured = 0, best = 0;
    int64_t first = table->n_medoids;
    if (n_targets < 1 || n_targets > ML_TABLE_TARGETS || rescore < 1) return ML_BAD_SIZE;
    ml_status status = table_fits(table, out);
    if (status) return status;
    if (!ml_table_has_window(table, source)) return ML_NOWHERE;
    ends[0] = table->nearest[source];
    for (int64_t n = 0; n < n_targets; n++) {
        if (!ml_table_has_window(table, targets[n])) return ML_NOWHERE;
        ends[1 + n] = table->nearest[targets[n]];
    }
    ml_table_lay_out(table, table->work, &work);
    if (n_targets == 1)
        status = ml_table_find_captured(table, &work, source, targets[0], captured, &n_captured);
    if (status) return status;
    int64_t share = rescore / n_targets > 1 ? rescore / n_targets : 1;
    status = ml_table_slots(table->n_ends, table->n_recipes, table->between, first, n_targets, ends,
                            n_captured, share, ml_table_most(table), work.ids, &out->count);
    if (!status) status = ml_table_put(table, first, source);
    for (int64_t n = 0; n < n_targets && !status; n++) {
        int64_t slot = first + 1 + n * (1 + n_captured);
        status = ml_table_put(table, slot, targets[n]);
        for (int64_t m = 0; m < n_captured && !status; m++)
            status = ml_table_put(table, slot + 1 + m, captured[m]);
    }
    double cost = HUGE_VAL;
    if (!status)
        status = ml_recipe_best(table->terms, table->scratch, table->weighing, out->count, work.ids,
                                &best, &cost);
    if (status) return status;
    best = best < 0 ? 0 : best;
    for (int64_t n = 0; n < out->count; n++) { /* the best first, the others as they are */
        int64_t from = n == 0 ? best : n <= best ? n - 1 : n;
        for (int i = 0; i < ML_MOST_WAYS; i++) {
            int32_t id = work.ids[ML_MOST_WAYS * from + i];
            out->rows[ML_MOST_WAYS * n + i] = id < 0 ? -1 : table->met[id];
        }
        out->costs[n] = n == 0 ? cost : (double)NAN;
        if (out->pinned != NULL) out->pinned[n] = 0;
        for (int c = 0; c < ML_TABLE_COLUMNS; c++)
            out->columns[ML_TABLE_COLUMNS * n + c] = n == 0 ? table->weighing->best[c] : NAN;
    }
    out->ranked = 1;
    return ML_OK;
}

ml_status ml_table_targets(const ml_table *table, int64_t source, const int64_t *spokes,
                           int64_t *targets, int64_t *n_targets) {
    float least[ML_TABLE_TARGETS];
    int64_t n = 0;
    if (!ml_table_has_window(table, source)) return ML_NOWHERE;
    const float *costs = table->costs + table->n_ends * table->nearest[source];
    for (int64_t end = 0; end < table->n_ends; end++) {
        if (spokes[end] < 0 || !(n < ML_TABLE_TARGETS || costs[end] < least[n - 1])) continue;
        if (!ml_table_has_window(table, spokes[end])) return ML_NOWHERE;
        int64_t k = n < ML_TABLE_TARGETS ? n++ : n - 1;
        for (; k > 0 && costs[end] < least[k - 1]; k--) {
            least[k] = least[k - 1];
            targets[k] = targets[k - 1];
        }
        least[k] = costs[end];
        targets[k] = spokes[end];
    }
    *n_targets = n;
    return n ? ML_OK : ML_NOWHERE;
}

/* The slot of a window: a medoid's, or one of `used` that were met, or the next. */
static ml_status table_slot_of(const ml_table *table, int64_t row, int64_t *used, int64_t *slot) {
    for (*slot = 0; *slot < *used; ++*slot)
        if (table->met[*slot] == row) return ML_OK;
    if (*slot >= table->n_medoids + ML_TABLE_WIDE) return ML_BAD_SIZE;
    ++*used;
    return ml_table_put(table, *slot, row);
}

/* Terms of windows pinned between a source and a target into a slot, which takes their place. */
static ml_status table_pin(const ml_table *table, int32_t *ids, int64_t slot) {
    int64_t windows[ML_MOST_WAYS], n = 0;
    while (n < ML_MOST_WAYS && ids[n] >= 0) n++;
    if (n < 3 || slot >= table->n_medoids + ML_TABLE_WIDE) return ML_BAD_SIZE;
    for (int64_t i = 1; i < n - 1; i++) windows[i - 1] = ids[i];
    table->met[slot] = -1;
    ml_status status = ml_pinned_terms(table->term_slots, ids[0], ids[n - 1], n - 2, windows, slot);
    ids[0] = (int32_t)slot;
    for (int i = 1; i < ML_MOST_WAYS; i++) ids[i] = -1;
    return status;
}

ml_status ml_table_judge(const ml_table *table, ml_choice *choice) {
    ml_table_pieces work;
    int64_t used = table->n_medoids, slot, most = ml_table_most(table);
    ml_status status = table_fits(table, choice);
    if (status) return status;
    if (choice->count < 0 || choice->count > most) return ML_BAD_SIZE;
    ml_table_lay_out(table, table->work, &work);
    for (int64_t n = 0; n < ML_MOST_WAYS * choice->count; n++) {
        int64_t row = choice->rows[n];
        work.ids[n] = -1;
        if (row < 0) continue;
        status = table_slot_of(table, row, &used, &slot);
        if (status) return status;
        work.ids[n] = (int32_t)slot;
    }
    for (int64_t n = 0; n < choice->count && choice->pinned != NULL; n++)
        if (choice->pinned[n]) {
            status = table_pin(table, work.ids + ML_MOST_WAYS * n, used);
            if (status) return status;
            used++;
        }
    status = ml_recipe_score(table->terms, table->scratch, choice->count, work.ids, work.columns);
    if (status) return status;
    for (int64_t n = 0; n < choice->count; n++) {
        double cost = ml_recipe_cost(table->weighing, work.columns + ML_TABLE_COLUMNS * n);
        int64_t at = n; /* after those that cost as much */
        for (; at > 0 && cost < work.costs[at - 1]; at--) {
            work.costs[at] = work.costs[at - 1];
            work.order[at] = work.order[at - 1];
        }
        work.costs[at] = cost;
        work.order[at] = n;
    }
    memcpy(work.rows, choice->rows, sizeof(int64_t) * ML_MOST_WAYS * (size_t)choice->count);
    if (choice->pinned != NULL) memcpy(work.pinned, choice->pinned, (size_t)choice->count);
    for (int64_t n = 0; n < choice->count; n++) {
        int64_t from = work.order[n];
        choice->costs[n] = work.costs[n];
        if (choice->pinned != NULL) choice->pinned[n] = work.pinned[from];
        memcpy(choice->rows + ML_MOST_WAYS * n, work.rows + ML_MOST_WAYS * from,
               sizeof(int64_t) * ML_MOST_WAYS);
        memcpy(choice->columns + ML_TABLE_COLUMNS * n, work.columns + ML_TABLE_COLUMNS * from,
               sizeof(float) * ML_TABLE_COLUMNS);
    }
    choice->ranked = choice->count;
    return ML_OK;
}
