/* Joins: the best transition from one frame to another, of any duration up to a longest one.

   Blends of a table last as long as its windows. A join may play the source's clip on before its
   blend begins, and the target's clip from where it ends, at the place where the two clips come
   closest (closest_frames.c): what a motion graph does. Between the two windows that are so found, captured
   windows that are pinned at both ends come first where they are natural: blends lose fast detail.
   Blends and pinned windows are judged together where they are not. */

#include <string.h>

#include "closest_frames.h"
#include "judge.h"
#include "table.h"

/* Slots of a pair: source, target, captured windows, and their mean, pinned; then those of targets
   that are put in order. */
enum {
    JOIN_SOURCE,
    JOIN_TARGET,
    JOIN_NEAR,
    JOIN_PINNED = JOIN_NEAR + ML_TABLE_CAPTURED,
    JOIN_TARGETS
};
/* Places that are judged after the first natural one: the best of them wins. */
#define JOIN_MORE 3
/* How many of these are judged again with recipes of the table. */
#define JOIN_RECIPES 2
/* Where recipes are banned: natural places that are sought, and recipes of the table that are judged
   at each place. */
#define JOIN_OTHERS 4
#define JOIN_FEW 4
/* Cost of the farthest place that is judged: nearly none beyond is natural. */
#define JOIN_FARTHEST 14.0
/* Pairs next to the best that a choice holds: all its windows have to fit into slots. */
#define JOIN_LISTED 5

/* A source and a target window, frames after the target that may be arrived at, and the best between
   the two. */
typedef struct {
    int64_t source, target, later, rescore, n_near, near[ML_TABLE_CAPTURED], count, best;
    /* 1 where `near` was sought, and where the best is captured windows that are natural. */
    int sought, captured;
    double cost, worth, reference[4];
    float columns[ML_TABLE_COLUMNS];
    int64_t rows[ML_MOST_WAYS]; /* of the best */
    uint8_t pinned;
} join_pair;

/* Where a join goes: to the best of targets, tried in an order, or up to so many frames later, in a
   window's length and `most` frames. */
typedef struct {
    int64_t source, n_targets;
    const int64_t *targets, *later, *order;
    int64_t rescore, most;
} join_asked;

/* How joins are judged. */
typedef struct {
    const ml_table *table;
    const ml_table_pieces *work;
    int natural;
    int64_t n_banned;
    const int64_t *banned;
} join_task;

/* Captured windows that go from the source to the target, sought once. */
static ml_status join_seek(const join_task *task, join_pair *pair) {
    if (pair->sought) return ML_OK;
    pair->sought = 1;
    return ml_table_find_captured(task->table, task->work, pair->source, pair->target, pair->near,
                                  &pair->n_near);
}

static ml_status join_put_windows(const join_task *task, const join_pair *pair) {
    const ml_table *table = task->table;
    int64_t first = table->n_medoids;
    ml_status status = ml_table_put(table, first + JOIN_SOURCE, pair->source);
    if (!status) status = ml_table_put(table, first + JOIN_TARGET, pair->target);
    for (int64_t m = 0; m < pair->n_near && !status; m++)
        status = ml_table_put(table, first + JOIN_NEAR + m, pair->near[m]);
    if (status || pair->n_near < 1) return status;
    int64_t near[ML_TABLE_CAPTURED];
    for (int64_t k = 0; k < pair->n_near; k++) near[k] = first + JOIN_NEAR + k;
    table->met[first + JOIN_PINNED] = -1;
    return ml_pinned_terms(table->term_slots, first + JOIN_SOURCE, first + JOIN_TARGET,
                           pair->n_near, near, first + JOIN_PINNED);
}

/* One more blend of a pair. */
static void join_add(const join_task *task, join_pair *pair, int32_t a, int32_t b, int32_t c) {
    int32_t *ids = task->work->ids + ML_MOST_WAYS * pair->count++;
    ids[0] = a;
    ids[1] = b;
    ids[2] = c;
    ids[3] = -1;
}

/* A blend of a pair as its best: its columns are known. */
static void join_take(const join_task *task, join_pair *pair, int64_t n, const float *columns) {
    pair->best = n;
    pair->worth = ml_natural_logit(pair->reference, columns);
    pair->cost = ml_recipe_cost(task->table->weighing, columns);
    memcpy(pair->columns, columns, sizeof pair->columns);
}

static uint8_t join_rows(const ml_table *table, const join_pair *pair, const int32_t *ids,
                         int64_t *rows);

/* The windows of a pair's best. */
static void join_name(const join_task *task, join_pair *pair) {
    pair->pinned =
        pair->count < 1
            ? 0
            : join_rows(task->table, pair, task->work->ids + ML_MOST_WAYS * pair->best, pair->rows);
}

/* Captured windows as the best of a pair, where they are natural. They are the first of its
   blends, if they are among them. */
static ml_status join_captured(const join_task *task, join_pair *pair) {
    const ml_table *table = task->table;
    float *columns = task->work->columns;
    double logit;
    if (task->work->ids[0] != table->n_medoids + JOIN_PINNED) return ML_OK;
    ml_status status = ml_recipe_natural(table->terms, table->scratch, task->work->ids,
                                         pair->reference, 0.0, &logit, columns);
    if (status) return status;
    pair->captured = logit >= 0.0;
    if (pair->captured) join_take(task, pair, 0, columns);
    return ML_OK;
}

/* The most natural of a pair's blends, where the cheapest, which is its best, is not natural. */
static ml_status join_most_natural(const join_task *task, join_pair *pair) {
    const ml_table *table = task->table;
    int64_t cheapest = pair->best;
    ml_status status = ML_OK;
    for (int64_t n = 0; n < pair->count && !status; n++) {
        float columns[ML_TABLE_COLUMNS];
        double logit;
        if (n == cheapest) continue;
        status = ml_recipe_natural(table->terms, table->scratch, task->work->ids + ML_MOST_WAYS * n,
                                   pair->reference, pair->worth, &logit, columns);
        if (!status && logit > pair->worth) join_take(task, pair, n, columns);
    }
    return status;
}

/* The first row of the window that a pair has in a slot. */
static int64_t join_row(const ml_table *table, const join_pair *pair, int64_t slot) {
    int64_t own = slot - table->n_medoids;
    if (own < 0) return slot < 0 ? -1 : table->met[slot];
    return own == JOIN_SOURCE   ? pair->source
           : own == JOIN_TARGET ? pair->target
                                : pair->near[own - JOIN_NEAR];
}

/* A blend as the first rows of its windows; 1 where captured ones are pinned. */
static uint8_t join_rows(const ml_table *table, const join_pair *pair, const int32_t *ids,
                         int64_t *rows) {
    int64_t n = 0;
    if (ids[0] != table->n_medoids + JOIN_PINNED) {
        for (int i = 0; i < ML_MOST_WAYS; i++) rows[i] = join_row(table, pair, ids[i]);
        return 0;
    }
    rows[n++] = pair->source;
    for (int64_t m = 0; m < pair->n_near; m++) rows[n++] = pair->near[m];
    rows[n++] = pair->target;
    while (n < ML_MOST_WAYS) rows[n++] = -1;
    return 1;
}

/* Blends of a pair less those that may not be taken. */
static void join_leave_out(const join_task *task, join_pair *pair) {
    int64_t kept = 0, rows[ML_MOST_WAYS];
    for (int64_t n = 0; n < pair->count; n++) {
        int32_t *ids = task->work->ids + ML_MOST_WAYS * n;
        int64_t pinned = join_rows(task->table, pair, ids, rows), banned = 0;
        for (int64_t k = 0; k < task->n_banned && !banned; k++) {
            const int64_t *other = task->banned + (ML_MOST_WAYS + 1) * k;
            banned = !memcmp(other, rows, sizeof rows) && other[ML_MOST_WAYS] == pinned;
        }
        if (!banned)
            memmove(task->work->ids + ML_MOST_WAYS * kept++, ids, sizeof *ids * ML_MOST_WAYS);
    }
    pair->count = kept;
}

/* The blends between source and target: captured windows first, recipes of the table last. */
static ml_status join_list(const join_task *task, join_pair *pair) {
    const ml_table *table = task->table;
    int32_t first = (int32_t)table->n_medoids;
    int32_t source = first + JOIN_SOURCE, target = first + JOIN_TARGET;
    ml_status status = join_seek(task, pair);
    if (status) return status;
    pair->count = 0;
    if (pair->n_near > 0) join_add(task, pair, first + JOIN_PINNED, -1, -1);
    for (int32_t m = 0; m < pair->n_near; m++)
        join_add(task, pair, source, first + JOIN_NEAR + m, target);
    join_add(task, pair, source, target, -1);
    if (pair->rescore > 0) {
        int64_t ends[2] = {table->nearest[pair->source], table->nearest[pair->target]}, n = 0;
        int32_t *ids = task->work->ids + ML_MOST_WAYS * pair->count;
        status =
            ml_table_slots(table->n_ends, table->n_recipes, table->between, table->n_medoids, 1,
                           ends, 0, pair->rescore, ml_table_most(table) - pair->count, ids, &n);
        if (status) return status;
        /* The plain blend comes first there, and is known already. */
        memmove(ids, ids + ML_MOST_WAYS, sizeof(int32_t) * ML_MOST_WAYS * (size_t)(n - 1));
        pair->count += n - 1;
    }
    if (task->n_banned > 0) join_leave_out(task, pair);
    return ML_OK;
}

/* The best of the blends between source and target. */
static ml_status join_judge(const join_task *task, join_pair *pair) {
    const ml_table *table = task->table;
    int64_t first = table->n_medoids;
    ml_status status = join_list(task, pair);
    if (!status) status = join_put_windows(task, pair);
    if (status) return status;
    pair->worth = -HUGE_VAL;
    pair->captured = 0;
    status = ml_natural_reference(table->terms, table->scratch, first + JOIN_SOURCE,
                                  first + JOIN_TARGET, pair->reference);
    if (status || pair->count < 1) return status;
    if (task->natural) status = join_captured(task, pair);
    if (status || pair->captured) return status;
    status = ml_recipe_best(table->terms, table->scratch, table->weighing, pair->count,
                            task->work->ids, &pair->best, &pair->cost);
    if (status) return status;
    pair->best = pair->best < 0 ? 0 : pair->best;
    memcpy(pair->columns, table->weighing->best, sizeof pair->columns);
    pair->worth = ML_PAPER_IN - pair->cost;
    if (!task->natural) return ML_OK;
    pair->worth = ml_natural_logit(pair->reference, pair->columns);
    return pair->worth < 0.0 ? join_most_natural(task, pair) : ML_OK;
}

/* One recipe of a choice. */
static void join_put(const join_pair *pair, int64_t n, ml_choice *out) {
    memcpy(out->rows + ML_MOST_WAYS * n, pair->rows, sizeof pair->rows);
    memcpy(out->columns + ML_TABLE_COLUMNS * n, pair->columns, sizeof pair->columns);
    out->pinned[n] = pair->pinned;
    out->costs[n] = pair->cost;
}

/* Of the pairs that were tried, numbers of those that are natural, without `pair`, the most natural
   first; how many. at: (JOIN_LISTED) */
static int64_t join_natural(const join_pair *pair, int64_t n_tried, const join_pair *tried,
                            int64_t *at) {
    int64_t count = 0;
    for (int64_t k = 0; k < n_tried; k++) {
        int64_t n = count;
        if (tried[k].worth < 0.0 ||
            (tried[k].source == pair->source && tried[k].target == pair->target))
            continue;
        for (; n > 0 && tried[k].worth > tried[at[n - 1]].worth; n--)
            if (n < JOIN_LISTED) at[n] = at[n - 1];
        if (n < JOIN_LISTED) at[n] = k;
        if (count < JOIN_LISTED) count++;
    }
    return count;
}

/* The best of a pair, which was listed last, and of other pairs that are natural, in order; then the
   other blends of the pair as they are. */
static void join_write(const join_task *task, const join_pair *pair, int64_t n_tried,
                       const join_pair *tried, ml_choice *out) {
    int64_t at[JOIN_LISTED] = {0}, count = 1;
    int64_t n_natural = join_natural(pair, n_tried, tried, at);
    join_put(pair, 0, out);
    for (int64_t k = 0; k < n_natural; k++) join_put(tried + at[k], count++, out);
    out->ranked = count;
    for (int64_t n = 0; n < pair->count; n++) {
        if (n == pair->best) continue;
        out->pinned[count] = join_rows(task->table, pair, task->work->ids + ML_MOST_WAYS * n,
                                       out->rows + ML_MOST_WAYS * count);
        out->costs[count] = (double)NAN;
        for (int c = 0; c < ML_TABLE_COLUMNS; c++) out->columns[ML_TABLE_COLUMNS * count + c] = NAN;
        count++;
    }
    out->count = pair->count < 1 ? 0 : count;
}

/* Judge a pair, which is the last one then; `best` is the better of the two. */
static ml_status join_try(const join_task *task, join_pair pair, join_pair *last, join_pair *best) {
    *last = pair;
    ml_status status = join_judge(task, last);
    if (!status) join_name(task, last);
    if (!status && last->worth > best->worth) *best = *last;
    return status;
}

/* Whether a recipe between the two windows of a pair is banned. */
static int join_is_banned(const join_task *task, const join_pair *pair) {
    for (int64_t k = 0; k < task->n_banned; k++) {
        const int64_t *rows = task->banned + (ML_MOST_WAYS + 1) * k;
        int64_t last = ML_MOST_WAYS - 1;
        while (last > 0 && rows[last] < 0) last--;
        if (rows[0] == pair->source && rows[last] == pair->target) return 1;
    }
    return 0;
}

/* As join_try, but nothing is judged between two windows with a banned recipe: what fails the quality
   check there once is likely to fail again. */
static ml_status join_try_other(const join_task *task, join_pair pair, join_pair *last,
                                join_pair *best) {
    const ml_table *table = task->table;
    int64_t first = table->n_medoids;
    if (!join_is_banned(task, &pair)) return join_try(task, pair, last, best);
    *last = pair;
    last->worth = -HUGE_VAL;
    ml_status status = ml_table_put(table, first + JOIN_SOURCE, pair.source);
    if (!status) status = ml_table_put(table, first + JOIN_TARGET, pair.target);
    if (status) return status;
    return ml_natural_reference(table->terms, table->scratch, first + JOIN_SOURCE,
                                first + JOIN_TARGET, last->reference);
}

/* Recipes of the table at the pair asked for, less what is banned there, then at the places that came nearest to natural
   without them. They come last: on captured truth they are no nearer than the others. */
static ml_status join_recipes(const join_task *task, int64_t rescore, int64_t count,
                              join_pair *tried, join_pair *last, join_pair *best) {
    ml_status status = ML_OK;
    for (int64_t n = 0; n <= JOIN_RECIPES && n < count && best->worth < 0.0 && !status; n++) {
        int64_t next = n; /* the pair asked for is the first */
        for (int64_t k = n + 1; k < count && n > 0; k++)
            if (tried[k].worth > tried[next].worth) next = k;
        join_pair pair = tried[next];
        tried[next] = tried[n];
        pair.rescore = rescore;
        status = join_try(task, pair, last, best);
    }
    return status;
}

/* Pairs to the targets, until one is natural; `best` is the best. */
static ml_status join_targets(const join_task *task, const join_asked *asked, join_pair *last,
                              join_pair *best) {
    ml_status status = ML_OK;
    for (int64_t n = 0; n < asked->n_targets && !status; n++) {
        int64_t at = asked->order[n];
        join_pair pair = {
            .source = asked->source, .target = asked->targets[at], .later = asked->later[at]};
        if (n == 0) {
            best->worth = -HUGE_VAL;
            status = join_try_other(task, pair, last, best);
            *best = *last;
        } else if (best->worth < 0.0) {
            status = join_try_other(task, pair, last, best);
        }
    }
    return status;
}

/* The best of the places where clips come closest to each other near the pair asked for: the first
   natural one and some after it or, where recipes are banned, the first natural ones. `tried` begins
   with that pair; how many. */
static ml_status join_places(const join_task *task, const join_asked *asked, join_pair *tried,
                             int64_t *n_tried, join_pair *last, join_pair *best) {
    ml_meeting places[MEETINGS];
    join_pair near = tried[0];
    int again = task->n_banned > 0;
    int64_t more = again ? JOIN_OTHERS : JOIN_MORE;
    int64_t few = asked->rescore < JOIN_FEW ? asked->rescore : JOIN_FEW;
    int64_t count = ml_meeting_find(task->table, task->work, near.source, near.target,
                                    near.reference, asked->most, near.later, places);
    ml_status status = ML_OK;
    for (int64_t k = 0; k < count && more > 0 && !status; k++) {
        join_pair pair = {.source = near.source + places[k].ahead,
                          .target = near.target - places[k].sooner,
                          .rescore = again ? few : 0};
        if (places[k].cost > JOIN_FARTHEST) break;
        if (!again) more -= best->worth >= 0.0;
        status = join_try_other(task, pair, last, best);
        if (again) more -= last->worth >= 0.0;
        tried[(*n_tried)++] = *last;
    }
    return status;
}

/* The best of the pairs asked for and, where none is good, of places near the best of them. Its
   blends are those that were listed last. */
static ml_status join_best(const join_task *task, const join_asked *asked, join_pair *best,
                           join_pair *tried, int64_t *n_tried) {
    join_pair last;
    ml_status status = join_targets(task, asked, &last, best);
    tried[0] = *best;
    *n_tried = 1;
    if (!status && (best->worth < 0.0 || task->n_banned > 0) &&
        (asked->most > 0 || best->later > 0))
        status = join_places(task, asked, tried, n_tried, &last, best);
    if (!status && (asked->rescore > 0 || task->n_banned > 0))
        status = join_recipes(task, asked->rescore, *n_tried, tried, &last, best);
    if (!status && best->sought &&
        (last.source != best->source || last.target != best->target ||
         last.rescore != best->rescore))
        status = join_list(task, best); /* it was judged before others */
    return status;
}

/* How natural, or else how cheap, a plain blend is. */
static ml_status join_worth(const join_task *task, const int32_t *ids, double *worth) {
    const ml_table *table = task->table;
    double reference[4];
    float columns[ML_TABLE_COLUMNS];
    if (!task->natural) {
        ml_status status = ml_recipe_score(table->terms, table->scratch, 1, ids, columns);
        if (!status) *worth = -ml_recipe_cost(table->weighing, columns);
        return status;
    }
    ml_status status =
        ml_natural_reference(table->terms, table->scratch, ids[0], ids[1], reference);
    return status ? status : ml_recipe_logit(table->terms, table->scratch, ids, reference, worth);
}

/* Numbers of targets by the naturalness of the plain blends to them, the most natural first.
   order: (ML_TABLE_TARGETS) */
static ml_status join_order(const join_task *task, int64_t source, int64_t n_targets,
                            const int64_t *targets, int64_t *order) {
    const ml_table *table = task->table;
    int32_t slot = (int32_t)table->n_medoids + JOIN_SOURCE, *ids = task->work->ids;
    double worths[ML_TABLE_TARGETS];
    ml_status status = ml_table_put(table, slot, source);
    for (int32_t n = 0; n < n_targets && !status; n++) {
        int32_t target = (int32_t)table->n_medoids + JOIN_TARGETS + n;
        status = ml_table_put(table, target, targets[n]);
        memcpy(ids + ML_MOST_WAYS * n, (int32_t[]){slot, target, -1, -1}, 4 * sizeof *ids);
    }
    for (int64_t n = 0; n < n_targets && !status; n++, ids += ML_MOST_WAYS) {
        double worth = 0.0;
        status = join_worth(task, ids, &worth);
        int64_t at = n;
        for (; at > 0 && worth > worths[at - 1]; at--) {
            worths[at] = worths[at - 1];
            order[at] = order[at - 1];
        }
        worths[at] = worth;
        order[at] = n;
    }
    return status;
}

/* Whether recipes are good by naturalness: the papers' sum does not count how far windows differ. */
static int join_by_naturalness(const ml_weighing *weighing) {
    return weighing->linear[JUDGE_SPREAD] != 0.0 || weighing->log[JUDGE_SPREAD] != 0.0;
}

ml_status ml_table_worth(const ml_table *table, int64_t source, int64_t target,
                         const float *columns, double *worth) {
    double reference[4];
    int64_t first = table->n_medoids;
    if (table->terms->n_windows < first + ML_TABLE_WIDE) return ML_BAD_SIZE;
    if (!ml_table_has_window(table, source) || !ml_table_has_window(table, target))
        return ML_NOWHERE;
    if (!join_by_naturalness(table->weighing)) {
        *worth = ML_PAPER_IN - ml_recipe_cost(table->weighing, columns);
        return ML_OK;
    }
    ml_status status = ml_table_put(table, first + JOIN_SOURCE, source);
    if (!status) status = ml_table_put(table, first + JOIN_TARGET, target);
    if (!status)
        status = ml_natural_reference(table->terms, table->scratch, first + JOIN_SOURCE,
                                      first + JOIN_TARGET, reference);
    if (!status) *worth = ml_natural_logit(reference, columns);
    return status;
}

ml_status ml_table_join(const ml_table *table, int64_t source, int64_t n_targets,
                        const int64_t *targets, const int64_t *later, int64_t rescore,
                        int64_t longest, int64_t n_banned, const int64_t *banned, ml_choice *out) {
    ml_table_pieces work;
    int64_t most = longest > table->length ? longest - table->length : 0;
    int64_t order[ML_TABLE_TARGETS] = {0};
    if (out->pinned == NULL || out->most < ml_table_most(table) || n_targets < 1 ||
        n_targets > ML_TABLE_TARGETS || rescore < 0 || n_banned < 0 ||
        table->n_work < ml_table_work(table) ||
        table->terms->n_windows < table->n_medoids + ML_TABLE_WIDE)
        return ML_BAD_SIZE;
    if (!ml_table_has_window(table, source)) return ML_NOWHERE;
    for (int64_t n = 0; n < n_targets; n++) {
        if (later[n] < 0) return ML_BAD_SIZE;
        if (!ml_table_has_window(table, targets[n])) return ML_NOWHERE;
    }
    ml_table_lay_out(table, table->work, &work);
    join_task task = {table, &work, join_by_naturalness(table->weighing), n_banned, banned};
    ml_status status = n_targets > 1 ? join_order(&task, source, n_targets, targets, order) : ML_OK;
    join_asked asked = {source, n_targets, targets, later, order, rescore, most};
    join_pair best, tried[1 + MEETINGS];
    int64_t n_tried = 0;
    if (!status) status = join_best(&task, &asked, &best, tried, &n_tried);
    if (status) return status;
    join_write(&task, &best, n_tried, tried, out);
    return ML_OK;
}
