/* Joins: the best way from one frame to another, of any duration up to a longest one.

   Blends of a table last as long as its windows. A join may play the source's clip on before its
   blend begins, and the target's clip from where it ends: a hop of a motion graph, at the place
   where the two clips come closest. Between the two windows that are so found, blends and captured
   windows that are pinned at both ends are judged together. */

#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "table.h"

/* Slots of a pair: source, target, captured windows, and their mean, pinned. */
enum { JOIN_SOURCE, JOIN_TARGET, JOIN_NEAR, JOIN_PINNED = JOIN_NEAR + TABLE_CAPTURED };
/* Pairs of windows that are judged, besides the one asked for, until one is natural. */
#define JOIN_TRIES 12
/* Of these, so many are judged again with recipes of the table. */
#define JOIN_RECIPES 2
/* Times that are compared for the place to blend at, a second. */
#define JOIN_RATE 20.0
/* Places to blend at differ by so much at least, s. */
#define JOIN_APART_S 0.15
/* What weighs posture and velocity of the root: as in natural.c. */
#define JOIN_POSTURE 7.58
#define JOIN_VELOCITY 15.44
#define JOIN_STILL 0.06
#define JOIN_SLOW 0.25
/* Sum in inches under which the papers call a transition good. */
#define JOIN_PAPER_IN 6.0

/* A source and a target window, and the best between them. */
typedef struct {
    int64_t source, target, rescore, n_near, near[TABLE_CAPTURED], count, best;
    double cost, worth, reference[4];
    float columns[TABLE_COLUMNS];
} join_pair;

/* What is asked of a join. */
typedef struct {
    const ml_table *table;
    const ml_table_pieces *work;
    int natural;
    int64_t n_banned;
    const int64_t *banned;
} join_task;

static ml_status join_put_windows(const join_task *task, join_pair *pair) {
    const ml_table *table = task->table;
    int64_t first = table->n_medoids;
    ml_status bad = ml_table_find_captured(table, task->work, pair->source, pair->target,
                                           pair->near, &pair->n_near);
    if (!bad) bad = ml_table_put(table, first + JOIN_SOURCE, pair->source);
    if (!bad) bad = ml_table_put(table, first + JOIN_TARGET, pair->target);
    for (int64_t m = 0; m < pair->n_near && !bad; m++)
        bad = ml_table_put(table, first + JOIN_NEAR + m, pair->near[m]);
    if (bad || pair->n_near < 1) return bad;
    int64_t near[TABLE_CAPTURED];
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

/* The most natural of a pair's blends, where the cheapest is not natural. */
static ml_status join_most_natural(const join_task *task, join_pair *pair) {
    const ml_table *table = task->table;
    float *columns = task->work->columns;
    ml_status bad = ml_recipe_score(table->terms, table->scratch, pair->count, task->work->ids,
                                    columns);
    for (int64_t n = 0; n < pair->count && !bad; n++, columns += TABLE_COLUMNS) {
        double worth = ml_natural_logit(pair->reference, columns);
        if (!(worth > pair->worth)) continue;
        pair->worth = worth;
        pair->best = n;
        pair->cost = ml_recipe_cost(table->weighing, columns);
        memcpy(pair->columns, columns, sizeof pair->columns);
    }
    return bad;
}

/* A blend as the first rows of its windows; 1 where captured ones are pinned. */
static uint8_t join_rows(const ml_table *table, const join_pair *pair, const int32_t *ids,
                         int64_t *rows) {
    int64_t n = 0;
    if (ids[0] != table->n_medoids + JOIN_PINNED) {
        for (int i = 0; i < ML_MOST_WAYS; i++) rows[i] = ids[i] < 0 ? -1 : table->met[ids[i]];
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

/* The blends between source and target, and the best of them. */
static ml_status join_judge(const join_task *task, join_pair *pair) {
    const ml_table *table = task->table;
    int32_t first = (int32_t)table->n_medoids;
    int32_t source = first + JOIN_SOURCE, target = first + JOIN_TARGET;
    ml_status bad = join_put_windows(task, pair);
    if (bad) return bad;
    pair->count = 0;
    if (pair->n_near > 0) join_add(task, pair, first + JOIN_PINNED, -1, -1);
    for (int32_t m = 0; m < pair->n_near; m++)
        join_add(task, pair, source, first + JOIN_NEAR + m, target);
    join_add(task, pair, source, target, -1);
    if (pair->rescore > 0) {
        int64_t ends[2] = {table->nearest[pair->source], table->nearest[pair->target]}, n = 0;
        int32_t *ids = task->work->ids + ML_MOST_WAYS * pair->count;
        bad = ml_table_slots(table->n_ends, table->n_recipes, table->between, table->n_medoids, 1,
                             ends, 0, pair->rescore, ml_table_most(table) - pair->count, ids, &n);
        if (bad) return bad;
        /* The plain blend comes first there, and is known already. */
        memmove(ids, ids + ML_MOST_WAYS, sizeof(int32_t) * ML_MOST_WAYS * (size_t)(n - 1));
        pair->count += n - 1;
    }
    if (task->n_banned > 0) join_leave_out(task, pair);
    pair->worth = -HUGE_VAL;
    bad = ml_natural_reference(table->terms, table->scratch, source, target, pair->reference);
    if (bad || pair->count < 1) return bad;
    bad = ml_recipe_best(table->terms, table->scratch, table->weighing, pair->count,
                         task->work->ids, &pair->best, &pair->cost);
    if (bad) return bad;
    pair->best = pair->best < 0 ? 0 : pair->best;
    memcpy(pair->columns, table->weighing->best, sizeof pair->columns);
    pair->worth = JOIN_PAPER_IN - pair->cost;
    if (!task->natural) return ML_OK;
    pair->worth = ml_natural_logit(pair->reference, pair->columns);
    return pair->worth < 0.0 ? join_most_natural(task, pair) : ML_OK;
}

/* The blends of a pair, which was judged last, as a choice: the best first, others as they are. */
static void join_write(const join_task *task, const join_pair *pair, ml_choice *out) {
    for (int64_t n = 0; n < pair->count; n++) {
        int64_t from = n == 0 ? pair->best : n <= pair->best ? n - 1 : n;
        out->pinned[n] = join_rows(task->table, pair, task->work->ids + ML_MOST_WAYS * from,
                                   out->rows + ML_MOST_WAYS * n);
        out->costs[n] = n == 0 ? pair->cost : (double)NAN;
        for (int c = 0; c < TABLE_COLUMNS; c++)
            out->columns[TABLE_COLUMNS * n + c] = n == 0 ? pair->columns[c] : NAN;
    }
    out->count = pair->count;
    out->ranked = 1;
}

/* Where a join may blend: frames that the source's clip plays on for, and that the target's clip is
   entered sooner by (later where negative). */
typedef struct {
    int64_t ahead, sooner;
    double cost;
} join_shift;

/* Rows of the two clips that a join may use, steps of their roots, and differences of the two. */
typedef struct {
    const ml_table *table;
    int64_t source, source_end, target, target_first, target_end, stride, most, later;
    double *mine, *theirs, *posture, *velocity;
    double movement, speed;
} join_clips;

/* Steps of heading (as a way) and root, seen from the body, to rows of a clip, metres. */
static void join_steps(const ml_rows *rows, int64_t first, int64_t end, double *steps) {
    for (int64_t row = first; row < end; row++, steps += 3) {
        int64_t before = row > first ? row - 1 : row;
        double c, s, x = rows->ground[2 * row] - rows->ground[2 * before];
        double z = rows->ground[2 * row + 1] - rows->ground[2 * before + 1];
        ml_sincos(rows->heading[before], &s, &c);
        steps[0] = (double)JUDGE_TURN_M * (rows->heading[row] - rows->heading[before]);
        steps[1] = c * x - s * z;
        steps[2] = s * x + c * z;
    }
}

/* Mean squared distance of the joints of two rows, each seen from its body. */
static double join_apart(const ml_table *table, int64_t a, int64_t b) {
    const float *p = table->rows->body + 3 * table->rows->n_joints * a;
    const float *q = table->rows->body + 3 * table->rows->n_joints * b;
    float sum = 0.0f;
    for (int64_t j = 0; j < table->seen->n_compared; j++) {
        int64_t at = 3 * table->seen->joints[j];
        float x = p[at] - q[at], y = p[at + 1] - q[at + 1], z = p[at + 2] - q[at + 2];
        sum += x * x + y * y + z * z;
    }
    return (double)sum / (double)table->seen->n_compared;
}

/* Into the sorted list of shifts, unless one near to it is better; a worse one goes. */
static void join_keep(join_shift shift, int64_t apart, int64_t *count, join_shift *shifts) {
    int64_t kept = 0, at;
    for (int64_t k = 0; k < *count; k++) {
        int64_t far = llabs(shifts[k].ahead - shift.ahead) + llabs(shifts[k].sooner - shift.sooner);
        if (far < apart && shifts[k].cost <= shift.cost) return;
    }
    for (int64_t k = 0; k < *count; k++) {
        int64_t far = llabs(shifts[k].ahead - shift.ahead) + llabs(shifts[k].sooner - shift.sooner);
        if (far >= apart) shifts[kept++] = shifts[k];
    }
    for (at = kept; at > 0 && shifts[at - 1].cost > shift.cost;) at--;
    if (at < JOIN_TRIES) {
        if (kept < JOIN_TRIES) kept++;
        memmove(shifts + at + 1, shifts + at, sizeof *shifts * (size_t)(kept - at - 1));
        shifts[at] = shift;
    }
    *count = kept;
}

/* What a plain blend would lose, its windows `ahead` frames after those asked for, by differences
   along the way. */
static double join_loss(const join_clips *clips, int64_t ahead) {
    int64_t length = clips->table->length;
    const double *leaves = clips->table->weights + ML_MOST_WAYS * length, *enters = leaves + length;
    double posture = 0.0, velocity = 0.0, part = (double)clips->stride / (double)length;
    for (int64_t t = 0; t < length; t += clips->stride) {
        double weight = part * leaves[t] * enters[t];
        posture += weight * clips->posture[ahead + t];
        velocity += weight * clips->velocity[ahead + t];
    }
    return JOIN_POSTURE * sqrt(posture) / clips->movement +
           JOIN_VELOCITY * sqrt(velocity) / clips->speed;
}

/* All shifts whose frames add up to `sum`. */
static void join_try_sum(const join_clips *clips, int64_t sum, int64_t *count,
                         join_shift *shifts) {
    const ml_table *table = clips->table;
    int64_t length = table->length, stride = clips->stride, meets = clips->target - sum;
    int64_t first = clips->target_first > meets ? clips->target_first - meets : 0;
    int64_t end = clips->source_end - clips->source;
    int64_t apart = (int64_t)(JOIN_APART_S * table->fps) + 1;
    if (clips->target_end - meets < end) end = clips->target_end - meets;
    first = (first + stride - 1) / stride * stride;
    for (int64_t i = first; i < end; i += stride) {
        const double *a = clips->mine + 3 * i;
        const double *b = clips->theirs + 3 * (meets + i - clips->target_first);
        double square = 0.0;
        for (int c = 0; c < 3; c++) square += ml_square(a[c] - b[c]);
        clips->posture[i] = join_apart(table, clips->source + i, meets + i);
        clips->velocity[i] = square * ml_square(table->fps);
    }
    for (int64_t ahead = first; ahead + length <= end && ahead <= clips->most; ahead += stride) {
        int64_t sooner = sum - ahead;
        if (sooner < -clips->later || ahead + (sooner > 0 ? sooner : 0) > clips->most) continue;
        if ((ahead == 0 && sooner == 0) || !ml_table_has_window(table, clips->source + ahead) ||
            !ml_table_has_window(table, clips->target - sooner))
            continue;
        join_keep((join_shift){ahead, sooner, join_loss(clips, ahead)}, apart, count, shifts);
    }
}

/* Where the two clips come closest; how many such places. */
static int64_t join_shifts(const join_task *task, const join_pair *asked, int64_t most,
                           int64_t later, join_shift *shifts) {
    const ml_table *table = task->table;
    int64_t widest = (TABLE_JOINED - 1) * table->length, count = 0;
    int64_t left = ml_table_clip_at(table, asked->source);
    int64_t entered = ml_table_clip_at(table, asked->target);
    if (later > widest / 2) later = widest / 2;
    if (most > widest - later) most = widest - later;
    join_clips clips = {.table = table, .source = asked->source, .target = asked->target,
                        .most = most, .later = later};
    clips.source_end = asked->source + most + table->length;
    if (clips.source_end > table->starts[left + 1]) clips.source_end = table->starts[left + 1];
    clips.target_first = asked->target - most;
    if (clips.target_first < table->starts[entered]) clips.target_first = table->starts[entered];
    clips.target_end = asked->target + later + table->length;
    if (clips.target_end > table->starts[entered + 1])
        clips.target_end = table->starts[entered + 1];
    clips.stride = (int64_t)(table->fps / JOIN_RATE) > 1 ? (int64_t)(table->fps / JOIN_RATE) : 1;
    int64_t rows = TABLE_JOINED * table->length;
    clips.mine = task->work->steps;
    clips.theirs = clips.mine + 3 * rows;
    clips.posture = clips.theirs + 3 * rows;
    clips.velocity = clips.posture + rows;
    double stature = ml_max(asked->reference[0], 1e-6);
    clips.movement = asked->reference[1] + JOIN_STILL * stature;
    clips.speed = asked->reference[2] + JOIN_SLOW * sqrt(JUDGE_GRAVITY * stature);
    join_steps(table->rows, clips.source, clips.source_end, clips.mine);
    join_steps(table->rows, clips.target_first, clips.target_end, clips.theirs);
    for (int64_t sum = -(later / clips.stride) * clips.stride; sum <= most; sum += clips.stride)
        join_try_sum(&clips, sum, &count, shifts);
    return count;
}

/* Judge a pair, which is the last one then; `best` is the better of the two. */
static ml_status join_try(const join_task *task, join_pair pair, join_pair *last,
                          join_pair *best) {
    *last = pair;
    ml_status bad = join_judge(task, last);
    if (!bad && last->worth > best->worth) *best = *last;
    return bad;
}

/* Recipes of the table at the pair asked for, then at the places that came nearest to natural
   without them. They come last: on captured truth they are no nearer than the others. */
static ml_status join_recipes(const join_task *task, int64_t rescore, int64_t count,
                              join_pair *tried, join_pair *last, join_pair *best) {
    ml_status bad = ML_OK;
    for (int64_t n = 0; n <= JOIN_RECIPES && n < count && best->worth < 0.0 && !bad; n++) {
        int64_t next = n; /* the pair asked for is the first */
        for (int64_t k = n + 1; k < count && n > 0; k++)
            if (tried[k].worth > tried[next].worth) next = k;
        join_pair pair = tried[next];
        tried[next] = tried[n];
        pair.rescore = rescore;
        bad = join_try(task, pair, last, best);
    }
    return bad;
}

/* The best of the pair asked for and, as long as none is good, of others. Its windows are in their
   slots. */
static ml_status join_best(const join_task *task, const join_pair *asked, int64_t rescore,
                           int64_t most, int64_t later, join_pair *best) {
    join_shift shifts[JOIN_TRIES];
    join_pair tried[1 + JOIN_TRIES], last = *asked;
    ml_status bad = join_judge(task, &last);
    if (bad) return bad;
    *best = tried[0] = last;
    int64_t n_tried = 1, count = 0;
    if (best->worth < 0.0 && (most > 0 || later > 0))
        count = join_shifts(task, best, most, later, shifts);
    for (int64_t k = 0; k < count && best->worth < 0.0 && !bad; k++) {
        join_pair pair = {.source = asked->source + shifts[k].ahead,
                          .target = asked->target - shifts[k].sooner};
        bad = join_try(task, pair, &last, best);
        tried[n_tried++] = last;
    }
    if (!bad && rescore > 0) bad = join_recipes(task, rescore, n_tried, tried, &last, best);
    if (!bad && (last.source != best->source || last.target != best->target ||
                 last.rescore != best->rescore))
        bad = join_judge(task, best); /* others took its slots */
    return bad;
}

ml_status ml_table_join(const ml_table *table, int64_t source, int64_t n_targets,
                        const int64_t *targets, int64_t rescore, int64_t longest, int64_t later,
                        int64_t n_banned, const int64_t *banned, ml_choice *out) {
    ml_table_pieces work;
    int64_t most = longest > table->length ? longest - table->length : 0;
    if (out->pinned == NULL || out->most < ml_table_most(table) || n_targets < 1 || rescore < 0 ||
        later < 0 || n_banned < 0 || table->n_work < ml_table_work(table) ||
        table->terms->n_windows < table->n_medoids + TABLE_WIDE)
        return ML_BAD_SIZE;
    if (!ml_table_has_window(table, source)) return ML_NOWHERE;
    for (int64_t n = 0; n < n_targets; n++)
        if (!ml_table_has_window(table, targets[n])) return ML_NOWHERE;
    join_pair asked = {.source = source, .target = targets[0]};
    if (n_targets > 1) {
        ml_status bad = ml_table_choose(table, source, n_targets, targets,
                                        rescore > 0 ? rescore : 1, out);
        if (bad) return bad;
        for (int i = 1; i < ML_MOST_WAYS && out->rows[i] >= 0; i++) asked.target = out->rows[i];
    }
    ml_table_lay_out(table, table->work, &work);
    /* The papers' sum does not count how far windows differ. */
    const ml_weighing *weighing = table->weighing;
    int natural = weighing->linear[JUDGE_SPREAD] != 0.0 || weighing->log[JUDGE_SPREAD] != 0.0;
    join_task task = {table, &work, natural, n_banned, banned};
    join_pair best;
    ml_status bad = join_best(&task, &asked, rescore, most, later, &best);
    if (bad) return bad;
    join_write(&task, &best, out);
    return ML_OK;
}
