/* Transitions of a table: a recipe made into frames, checked, and the best that passes. */

#include <string.h>

#include "../runtime/frames.h"
#include "../synthesis/passage.h"
#include "table.h"

/* Part of gravity by which a flight may be slower or faster: clips play at their own rate. */
#define TRANSITION_WARP 0.0

/* Memory for a transition of windows, and the speed that its feet may have: that of the fastest of
   the clips. */
static ml_status transition_begin(const ml_table *table, int64_t least_ways, int64_t n_ways,
                                  const int64_t *windows, ml_frames *out, ml_table_pieces *work,
                                  double *speed) {
    if (n_ways < least_ways || n_ways > ML_MOST_WAYS || out->most < table->length ||
        out->n_joints != table->rows->n_joints || table->n_work < ml_table_work(table))
        return ML_BAD_SIZE;
    ml_table_lay_out(table, table->work, work);
    *speed = ML_TABLE_SLOWEST;
    for (int64_t i = 0; i < n_ways; i++) {
        if (!ml_table_has_window(table, windows[i])) return ML_NOWHERE;
        *speed = ml_max(*speed, table->speeds[ml_table_clip_at(table, windows[i])]);
    }
    out->n_frames = table->length;
    return ML_OK;
}

ml_status ml_table_make(const ml_table *table, int64_t n_ways, const int64_t *windows, uint8_t feet,
                        ml_frames *out, double *errors) {
    ml_table_pieces work;
    double speed;
    int64_t length = table->length;
    ml_status status = transition_begin(table, 1, n_ways, windows, out, &work, &speed);
    if (status) return status;
    for (int64_t i = 0; i < n_ways; i++)
        for (int64_t t = 0; t < length; t++) work.at[n_ways * t + i] = windows[i] + t;
    const double *weights = table->weights + ML_MOST_WAYS * length * (n_ways - 1);
    ml_blend blend = {table->rows, length, n_ways, work.at, weights, table->fps, speed};
    ml_synthesis made = ml_table_made(out, work.synthesis, work.held, errors);
    return ml_synthesis_make(&blend, table->rig, feet, &made);
}

ml_status ml_table_make_pinned(const ml_table *table, int64_t n_ways, const int64_t *windows,
                               uint8_t feet, ml_frames *out, double *errors) {
    ml_table_pieces work;
    double speed;
    int64_t length = table->length, ways = n_ways - 2;
    ml_status status = transition_begin(table, 3, n_ways, windows, out, &work, &speed);
    if (status) return status;
    for (int64_t k = 0; k < ways * length; k++) {
        work.at[k] = windows[1 + k % ways] + k / ways;
        work.weights[k] = 1.0 / (double)ways;
    }
    ml_blend blend = {table->rows, length, ways, work.at, work.weights, table->fps, speed};
    ml_synthesis made = ml_table_made(out, work.synthesis, work.held, errors);
    return ml_passage_make(&blend, table->rig, table->n_clips, table->starts, windows[0],
                           windows[n_ways - 1] + length - 1, feet, &made);
}

ml_status ml_table_merge(const ml_table *table, int64_t n, const int64_t *clips, double *out) {
    for (int64_t k = 0; k < n; k++)
        if (clips[k] < 0 || clips[k] >= table->n_clips) return ML_BAD_SIZE;
    for (int64_t k = 0; k < n; k++) {
        if (!table->measured[clips[k]]) {
            table->missing[0] = clips[k];
            return ML_MISSING;
        }
        const double *limits = table->limits + table->n_limits * clips[k];
        for (int64_t i = 0; i < table->n_limits; i++)
            out[i] = k ? ml_max(out[i], limits[i]) : limits[i];
    }
    return ML_OK;
}

/* Merged limits as the check takes them: those that are lowest are negative there. */
static ml_status transition_limits(const ml_table *table, double *at, ml_check_limits *limits) {
    int64_t checked = table->check_rig->n_checked, carriers = table->check_rig->n_carriers;
    if (table->n_limits != 4 * checked + carriers + 20 + 4 * (ML_CHECK_SPANS + ML_CHECK_HEIGHTS))
        return ML_BAD_SIZE;
    limits->n_checked = checked;
    limits->n_carriers = carriers;
    limits->turn = at, at += checked;
    limits->speed = at, at += checked;
    limits->bend = at, at += checked;
    limits->carried = at, at += carriers;
    for (int k = 0; k < 2; k++) at[k] = -at[k];
    limits->least_flexion = at, at += 2;
    limits->most_flexion = at, at += 2;
    for (int k = 0; k < 8; k++) at[k] = -at[k];
    limits->sole = at, at += 4;
    limits->floor = at, at += 4;
    limits->highest = at, at += 4;
    limits->slide = at, at += 4 * ML_CHECK_SPANS;
    limits->drag = at, at += 4 * ML_CHECK_HEIGHTS;
    limits->body = at, at += 4;
    limits->quick = at;
    return ML_OK;
}

/* Floors of every frame between two clips: from those of the clip that is left to those of the clip
   that is entered. Those of captured windows between them are not theirs. Where feet stand is no
   farther below the higher one than ML_FLOOR_FALL: a foot may stand on it to the end. */
static void transition_floors(const ml_table *table, const int64_t *ends, int64_t n, int64_t first,
                              int64_t last, double *out) {
    int64_t at = ml_table_floors_at(table);
    const double *left = table->limits + table->n_limits * ends[0] + at;
    const double *entered = table->limits + table->n_limits * ends[1] + at;
    for (int64_t t = 0; t < n; t++) {
        double part = (double)(t - first) / ml_max((double)(last - first), 1.0);
        part = ml_clamp(part, 0.0, 1.0);
        for (int k = 0; k < 4; k++) { /* the first four are kept with the opposite sign */
            out[8 * t + k] = -(left[k] + part * (entered[k] - left[k]));
            out[8 * t + 4 + k] = ml_max(left[4 + k] + part * (entered[4 + k] - left[4 + k]),
                                        ml_max(left[4 + k], entered[4 + k]) - ML_FLOOR_FALL);
        }
    }
}

/* How far off free fall the body is in the frames of windows that made frames, `first` to `last` of n,
   are made of. out: (n) */
static ml_status transition_hovers(const ml_table *table, int64_t n_windows, const int64_t *windows,
                                   int64_t n, int64_t first, int64_t last, double *out) {
    for (int64_t t = 0; t < n; t++) out[t] = 0.0;
    for (int64_t i = 0; i < n_windows; i++) {
        if (!ml_table_has_window(table, windows[i])) return ML_NOWHERE;
        for (int64_t t = 0; t <= last - first && t < table->length; t++)
            out[first + t] = ml_max(out[first + t], (double)table->hovers[windows[i] + t]);
    }
    return ML_OK;
}

ml_status ml_table_made_of(const ml_table *table, const int64_t *rows, const double *weights,
                           double *floors, double *hovers) {
    int64_t at = ml_table_floors_at(table);
    double highest[4];
    *hovers = 0.0;
    for (int k = 0; k < 8; k++) floors[k] = 0.0;
    for (int k = 0; k < 4; k++) highest[k] = -HUGE_VAL;
    for (int64_t i = 0; i < ML_MOST_SHARES && rows[i] >= 0; i++) {
        int64_t clip = ml_table_clip_at(table, rows[i]);
        const double *own = table->limits + table->n_limits * clip + at;
        if (!table->measured[clip]) {
            table->missing[0] = clip;
            return ML_MISSING;
        }
        *hovers = ml_max(*hovers, (double)table->hovers[rows[i]]);
        for (int k = 0; k < 4; k++) { /* the first four are kept with the opposite sign */
            floors[k] -= weights[i] * own[k];
            floors[4 + k] += weights[i] * own[4 + k];
            highest[k] = ml_max(highest[k], own[4 + k]);
        }
    }
    for (int k = 0; k < 4; k++) floors[4 + k] = ml_max(floors[4 + k], highest[k] - ML_FLOOR_FALL);
    return ML_OK;
}

/* Series have zeros where nothing is written. */
static void transition_clear(ml_check_series *series, int64_t n) {
    size_t size = sizeof(double) * (size_t)n, checked = size * (size_t)series->n_checked;
    series->n_frames = n;
    memset(series->turn, 0, checked);
    memset(series->speed, 0, checked);
    memset(series->bend, 0, checked);
    memset(series->kink, 0, checked);
    memset(series->carried, 0, size * (size_t)series->n_carriers);
    memset(series->head, 0, size);
    memset(series->heading, 0, size);
    memset(series->flexion, 0, 2 * size);
    memset(series->soles, 0, 12 * size);
    memset(series->lowest, 0, size);
    memset(series->pelvis, 0, 3 * size);
}

ml_status ml_table_judge_frames(const ml_table *table, ml_table_pieces *work, int64_t n,
                                int64_t first, int64_t last, double *found, int64_t *n_found) {
    ml_check_limits limits;
    ml_status status = transition_limits(table, work->limits, &limits);
    if (status) return status;
    transition_clear(&work->series, n);
    status = ml_check_measure(table->check_rig, table->fps, work->positions, work->world,
                              work->quats, work->measuring, &work->series);
    if (status) return status;
    memset(work->skipped, 0, (size_t)n);
    status = ml_check_judge(&work->series, &limits, work->planted, table->fps, first, last,
                            work->skipped, NULL, work->heading, 1, NULL, NULL, work->floors,
                            work->hovers, TRANSITION_WARP, work->judging, ML_CHECK_FOUND, found,
                            n_found);
    for (int64_t k = 0; !status && k < *n_found; k++) /* frames count from the first made one */
        found[5 * k + 2] = ml_clamp(found[5 * k + 2] - (double)first, 0.0, (double)(last - first));
    return status;
}

double ml_table_badness(int64_t n_found, const double *found) {
    double sum = 0.0;
    for (int64_t k = 0; k < n_found; k++) {
        double value = fabs(found[5 * k + 3]), limit = fabs(found[5 * k + 4]);
        sum += 1.0 + fabs(value - limit) / ml_max(limit, 1e-9);
    }
    return sum;
}

/* Clips of windows, if all are windows. */
static ml_status transition_clips(const ml_table *table, int64_t n_ways, const int64_t *windows,
                                  int64_t *clips) {
    if (n_ways < 1 || n_ways > ML_MOST_WAYS) return ML_BAD_SIZE;
    for (int64_t i = 0; i < n_ways; i++) {
        if (!ml_table_has_window(table, windows[i])) return ML_NOWHERE;
        clips[i] = ml_table_clip_at(table, windows[i]);
    }
    return ML_OK;
}

/* Made frames between captured rows of the clips that they leave and arrive at. */
static void transition_extend(const ml_table *table, int64_t first, int64_t ahead, int64_t last,
                              int64_t after, const ml_frames *made, ml_frames *out) {
    int64_t length = made->n_frames, end = length - 1;
    ml_frames_copy(made, 0, length, out, ahead);
    for (int64_t t = 0; t < ahead; t++)
        ml_frames_captured(table->rows, first - ahead + t, first, made->heading[0], made->root[0],
                           made->root[2], out, t);
    for (int64_t t = 0; t < after; t++)
        ml_frames_captured(table->rows, last + 1 + t, last, made->heading[end], made->root[3 * end],
                           made->root[3 * end + 2], out, ahead + length + t);
    out->n_frames = ahead + length + after;
}

ml_status ml_table_around(const ml_table *table, int64_t n_ways, const int64_t *windows,
                          const ml_frames *made, ml_frames *out, int64_t *before) {
    int64_t clips[ML_MOST_WAYS], length = made->n_frames;
    ml_status status = transition_clips(table, n_ways, windows, clips);
    if (status) return status;
    if (length < 1 || length > table->length || out->most < length + 2 * ML_TABLE_MARGIN ||
        made->n_joints != table->rows->n_joints || out->n_joints != made->n_joints)
        return ML_BAD_SIZE;
    int64_t first = windows[0], last = windows[n_ways - 1] + length - 1;
    int64_t ahead = first - table->starts[clips[0]];
    int64_t after = table->starts[clips[n_ways - 1] + 1] - 1 - last;
    ahead = ahead < ML_TABLE_MARGIN ? ahead : ML_TABLE_MARGIN;
    after = after < ML_TABLE_MARGIN ? after : ML_TABLE_MARGIN;
    transition_extend(table, first, ahead, last, after, made, out);
    *before = ahead;
    return ML_OK;
}

/* Signs of rotations chosen so that none turns round from one frame to the next. */
static void transition_signs(ml_frames *frames) {
    int64_t wide = 4 * frames->n_joints;
    for (int64_t j = 0; j < frames->n_joints; j++) {
        double sign = 1.0, last[4] = {0.0}, *q = frames->quats + 4 * j;
        for (int64_t t = 0; t < frames->n_frames; t++, q += wide) {
            double dot = q[0] * last[0] + q[1] * last[1] + q[2] * last[2] + q[3] * last[3];
            if (dot < 0.0) sign = -sign;
            for (int c = 0; c < 4; c++) last[c] = q[c];
            for (int c = 0; c < 4; c++) q[c] *= sign;
        }
    }
}

/* Local rotations of `n` captured rows as the collection's motion has them, to the last bit: what
   is played before and after a transition is the clip's own. The root's depend on the place. */
static void transition_own(const ml_rows *rows, int64_t row, int64_t n, ml_frames *out,
                           int64_t at) {
    for (int64_t t = 0; t < n; t++)
        for (int64_t j = 1; j < rows->n_joints; j++) {
            const float *q = rows->quats + 4 * (rows->n_joints * (row + t) + j);
            double w = (double)q[0], x = (double)q[1], y = (double)q[2], z = (double)q[3];
            double length = sqrt(w * w + x * x + y * y + z * z);
            double *own = out->quats + 4 * (rows->n_joints * (at + t) + j);
            if (!(length > 0.0)) continue;
            own[0] = w / length;
            own[1] = x / length;
            own[2] = y / length;
            own[3] = z / length;
        }
}

ml_status ml_table_played(const ml_table *table, int64_t first, int64_t ahead, int64_t last,
                          int64_t after, const ml_frames *made, double *chain, double *points,
                          ml_frames *out) {
    const ml_leg_rig *rig = table->rig;
    int64_t n = ahead + made->n_frames + after, joints = table->rows->n_joints;
    double *world = chain + 3 * joints;
    if (made->n_frames < 1 || ahead < 0 || after < 0 || out->most < n || made->n_joints != joints ||
        out->n_joints != joints || first - ahead < 0 || last + after >= table->rows->n_rows)
        return ML_BAD_SIZE;
    transition_extend(table, first, ahead, last, after, made, out);
    transition_own(table->rows, first - ahead, ahead, out, 0);
    transition_own(table->rows, last + 1, after, out, ahead + made->n_frames);
    transition_signs(out);
    ml_status status = ML_OK;
    for (int64_t t = 0; t < n && !status; t++) {
        status = ml_chain_pose(1, joints, rig->parents, rig->offsets, rig->n_chain, rig->chain,
                               out->root + 3 * t, out->quats + 4 * joints * t, chain, world);
        if (!status)
            status =
                ml_chain_soles(1, joints, rig->legs, rig->soles, chain, world, points + 12 * t);
    }
    if (!status) ml_label_keep(n, 4, points, table->fps, out->planted);
    return status;
}

/* As ml_table_check, of frames that go along windows between two `pinned` ones, or are a blend. Support
   is not looked at where all else is as bad as `enough`: it only adds failures. */
static ml_status transition_check(const ml_table *table, int64_t n_ways, const int64_t *windows,
                                  int pinned, double enough, const ml_frames *made, double *found,
                                  int64_t *n_found) {
    ml_table_pieces work;
    int64_t clips[ML_MOST_WAYS], before, joints = table->rows->n_joints;
    *n_found = 0;
    if (table->n_work < ml_table_work(table)) return ML_BAD_SIZE;
    ml_table_lay_out(table, table->work, &work);
    ml_status status = transition_clips(table, n_ways, windows, clips);
    if (!status) status = ml_table_merge(table, n_ways, clips, work.limits);
    ml_frames all = {table->length + 2 * ML_TABLE_MARGIN,
                     0,
                     joints,
                     work.heading,
                     work.root,
                     work.quats,
                     work.planted};
    if (!status) status = ml_table_around(table, n_ways, windows, made, &all, &before);
    if (!status)
        status = ml_chain_pose(all.n_frames, joints, table->rig->parents, table->rig->offsets,
                               joints, NULL, all.root, all.quats, work.positions, work.world);
    if (status) return status;
    int64_t ends[2] = {clips[0], clips[n_ways - 1]}, last = before + made->n_frames - 1;
    transition_floors(table, ends, all.n_frames, before, last, work.floors);
    status = transition_hovers(table, n_ways, windows, all.n_frames, before, last, work.hovers);
    if (!status)
        status = ml_table_judge_frames(table, &work, all.n_frames, before, last, found, n_found);
    if (status || ml_table_badness(*n_found, found) >= enough) return status;
    return ml_table_check_support(table, &work, NULL, n_ways, windows, pinned, made, before, found,
                                  n_found);
}

ml_status ml_table_check(const ml_table *table, int64_t n_ways, const int64_t *windows,
                         const ml_frames *made, double *found, int64_t *n_found) {
    return transition_check(table, n_ways, windows, 0, HUGE_VAL, made, found, n_found);
}

/* Windows of a recipe of a choice. */
static int64_t transition_ways(const ml_choice *choice, int64_t number) {
    int64_t n = 0;
    while (n < ML_MOST_WAYS && choice->rows[ML_MOST_WAYS * number + n] >= 0) n++;
    return n;
}

/* Whether feet that carry the body slip: nothing is gained by leaving them as the blend has them. */
static int transition_slips(int64_t n_found, const double *found) {
    for (int64_t k = 0; k < n_found; k++)
        if (found[5 * k] == (double)ML_CHECK_SLIP) return 1;
    return 0;
}

/* One recipe of a choice made, and checked until it fails `enough`. Captured windows whose feet slip
   are made again with their free feet lifted as those of blends. */
static ml_status transition_make(const ml_table *table, const ml_choice *choice, int64_t number,
                                 uint8_t still, uint8_t feet, double enough, ml_frames *out,
                                 double *errors, double *found, int64_t *n_found) {
    const int64_t *windows = choice->rows + ML_MOST_WAYS * number;
    int64_t n_ways = transition_ways(choice, number);
    int pinned = choice->pinned != NULL && choice->pinned[number];
    uint8_t along = feet && still ? PASSAGE_STILL : feet;
    ml_status status = pinned ? ml_table_make_pinned(table, n_ways, windows, along, out, errors)
                              : ml_table_make(table, n_ways, windows, feet, out, errors);
    if (!status)
        status = transition_check(table, n_ways, windows, pinned, enough, out, found, n_found);
    if (status || !pinned || !feet || still || *n_found == 0) return status;
    status = ml_table_make_pinned(table, n_ways, windows, PASSAGE_LIFTED, out, errors);
    return status ? status
                  : transition_check(table, n_ways, windows, pinned, enough, out, found, n_found);
}

/* The number of a recipe of a choice: its windows, and whether they are pinned. */
static int64_t transition_find(const ml_choice *choice, const int64_t *windows, uint8_t pinned) {
    int64_t n = 0;
    for (; n < choice->count - 1; n++)
        if (!memcmp(choice->rows + ML_MOST_WAYS * n, windows, sizeof(int64_t) * ML_MOST_WAYS) &&
            (choice->pinned == NULL || choice->pinned[n] == pinned))
            break;
    return n;
}

/* Put a choice in order. Nothing may be missing afterwards: a caller that measures what is missing
   and asks again would begin with another recipe. */
static ml_status transition_order(const ml_table *table, ml_choice *choice) {
    for (int64_t n = 0; n < ML_MOST_WAYS * choice->count; n++) {
        int64_t clip = choice->rows[n] < 0 ? -1 : ml_table_clip_at(table, choice->rows[n]);
        if (clip < 0 || table->measured[clip]) continue;
        table->missing[0] = clip;
        return ML_MISSING;
    }
    return ml_table_judge(table, choice);
}

/* A recipe that was made, to come back to. */
typedef struct {
    double badness, errors[2];
    int64_t windows[ML_MOST_WAYS];
    uint8_t pinned, feet;
    ml_frames frames;
    double found[5 * ML_CHECK_FOUND];
    int64_t n_found;
} transition_made;

/* A recipe: its windows, and whether they are pinned. */
typedef struct {
    int64_t windows[ML_MOST_WAYS];
    uint8_t pinned;
} transition_recipe;

static transition_recipe transition_recipe_of(const ml_choice *choice, int64_t number) {
    transition_recipe recipe = {.pinned = choice->pinned != NULL && choice->pinned[number]};
    memcpy(recipe.windows, choice->rows + ML_MOST_WAYS * number, sizeof recipe.windows);
    return recipe;
}

/* Whether a recipe of a choice is one of some. */
static int transition_is_among(const ml_choice *choice, int64_t number, int64_t n,
                               const transition_recipe *recipes) {
    transition_recipe own = transition_recipe_of(choice, number);
    for (int64_t k = 0; k < n; k++)
        if (!memcmp(own.windows, recipes[k].windows, sizeof own.windows) &&
            own.pinned == recipes[k].pinned)
            return 1;
    return 0;
}

/* One recipe of a choice made and checked; 1 in `passes` where nothing fails, and otherwise kept where
   it fails less than what is kept. */
static ml_status transition_try(const ml_table *table, const ml_choice *choice, int64_t number,
                                uint8_t still, uint8_t feet, ml_frames *out, double *errors,
                                double *found, int64_t *n_found, transition_made *kept) {
    ml_status status = transition_make(table, choice, number, still, feet, kept->badness, out,
                                       errors, found, n_found);
    if (status || *n_found == 0) return status;
    double badness = ml_table_badness(*n_found, found);
    if (kept->n_found && badness >= kept->badness) return ML_OK;
    kept->badness = badness;
    kept->feet = feet;
    kept->pinned = choice->pinned != NULL && choice->pinned[number];
    kept->n_found = *n_found;
    memcpy(kept->errors, errors, sizeof kept->errors);
    memcpy(kept->windows, choice->rows + ML_MOST_WAYS * number, sizeof kept->windows);
    memcpy(kept->found, found, sizeof(double) * (size_t)(5 * *n_found));
    ml_frames_copy(out, 0, out->n_frames, &kept->frames, 0);
    return ML_OK;
}

ml_status ml_table_best(const ml_table *table, ml_choice *choice, uint8_t still, ml_frames *out,
                        int64_t *number, uint8_t *feet, double *errors, double *found,
                        int64_t *n_found) {
    ml_table_pieces work;
    transition_made kept = {.badness = HUGE_VAL};
    transition_recipe tried[ML_TABLE_RANKED];
    int64_t tries = 0, most = ML_TABLE_RANKED;
    int slips = 0;
    if (choice->count < 1 || table->n_work < ml_table_work(table)) return ML_BAD_SIZE;
    ml_table_lay_out(table, table->work, &work);
    kept.frames = work.kept;
    *feet = 1;
    for (int64_t n = 0; n < choice->count && tries < most; n++) {
        if (n >= choice->ranked) { /* those that were tried are elsewhere then */
            most = ML_TABLE_TRIES;
            if (tries >= most) break;
            ml_status status = transition_order(table, choice);
            if (status) return status;
            n = 0;
        }
        if (transition_is_among(choice, n, tries, tried)) continue;
        tried[tries] = transition_recipe_of(choice, n);
        ml_status status = transition_try(table, choice, *number = n, still, 1, out, errors, found,
                                          n_found, &kept);
        if (status || *n_found == 0) return status;
        if (tries++ == 0) slips = transition_slips(*n_found, found);
    }
    if (!slips) {
        *number = transition_find(choice, tried[0].windows, tried[0].pinned);
        *feet = 0;
        ml_status status =
            transition_try(table, choice, *number, still, 0, out, errors, found, n_found, &kept);
        if (status || *n_found == 0) return status;
    }
    *number = transition_find(choice, kept.windows, kept.pinned);
    *feet = kept.feet;
    *n_found = kept.n_found;
    memcpy(errors, kept.errors, sizeof kept.errors);
    memcpy(found, kept.found, sizeof(double) * (size_t)(5 * kept.n_found));
    ml_frames_copy(&kept.frames, 0, table->length, out, 0);
    out->n_frames = table->length;
    return ML_OK;
}
