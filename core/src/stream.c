/* A live character: it plays on, and goes to a label or a row on request. A request in the middle
   of a transition starts from a motion that no clip has: the rest of the transition, then the clip
   in which it would have arrived. Those frames are a window like any other.
   Blended as the source, they begin with the pose and the speed that are shown, and what stands is
   held where it stands. */

#include <string.h>

#include "frames.h"
#include "planned.h"
#include "table.h"

/* Frames kept of what was played, at least: pose and velocity are found by them. */
#define STREAM_REMEMBERED 10
/* Captured windows that are tried where a clip is over. */
#define STREAM_LOOKED_AT 12
/* Recipes that are made before the one that fails least is taken. */
#define STREAM_TRIES 4
/* Recipes of the table that are judged. */
#define STREAM_RESCORED 32
/* A goal to which nothing passes the quality check is tried again after so many seconds: a step later
   the other foot stands. */
#define STREAM_PAUSE_S 0.1

enum { STREAM_NO_GOAL, STREAM_LABEL, STREAM_ROW };

/* Pieces of a stream's `work`. */
typedef struct {
    ml_frames segment; /* of the transition that is played */
    ml_frames made;    /* of one that is tried */
    ml_frames best;
    ml_frames played;
    ml_frames planned; /* a window, and what was played before it */
    ml_choice choice;
    double *found;
    ml_planned_pieces own;
} stream_pieces;

static ml_frames stream_frames(ml_memory *memory, int64_t most, int64_t n_joints) {
    ml_frames frames = {.most = most, .n_joints = n_joints};
    frames.heading = ML_TAKE(memory, double, most);
    frames.root = ML_TAKE(memory, double, 3 * most);
    frames.quats = ML_TAKE(memory, double, 4 * n_joints * most);
    frames.planted = ML_TAKE(memory, uint8_t, 4 * most);
    return frames;
}

/* Frames kept of what was played, as far as a context looks back. */
static int64_t stream_remembered(const ml_table *table) {
    int64_t most = STREAM_REMEMBERED;
    for (int k = 0; k < 3; k++)
        if (1 - table->seen->before[k] > most) most = 1 - table->seen->before[k];
    return most;
}

static int64_t stream_lay_out(const ml_table *table, uint8_t *block, stream_pieces *pieces) {
    ml_memory memory = {block, 0};
    int64_t joints = table->rows->n_joints, length = table->length, most = ml_table_most(table);
    int64_t remembered = stream_remembered(table);
    pieces->segment = stream_frames(&memory, length, joints);
    pieces->made = stream_frames(&memory, length, joints);
    pieces->best = stream_frames(&memory, length, joints);
    pieces->played = stream_frames(&memory, remembered, joints);
    pieces->planned = stream_frames(&memory, remembered + length + 2, joints);
    pieces->segment.n_frames = pieces->best.n_frames = length;
    pieces->choice.most = most;
    pieces->choice.rows = ML_TAKE(&memory, int64_t, ML_MOST_WAYS * most);
    pieces->choice.costs = ML_TAKE(&memory, double, most);
    pieces->choice.columns = ML_TAKE(&memory, float, TABLE_COLUMNS * most);
    pieces->choice.pinned = NULL;
    pieces->found = ML_TAKE(&memory, double, 5 * TABLE_FOUND);
    ml_planned_lay_out(table, remembered, &memory, &pieces->own);
    return memory.used;
}

int64_t ml_stream_work(const ml_table *table) {
    stream_pieces pieces;
    return stream_lay_out(table, NULL, &pieces);
}

/* The row after the last one of a row's clip, or of its part before a capture glitch. */
static int64_t stream_clip_end(const ml_table *table, int64_t row) {
    int64_t end = table->starts[ml_table_clip_at(table, row) + 1], low = 0, high = table->n_jumps;
    while (low < high) { /* the first glitch after the row */
        int64_t middle = low + (high - low) / 2;
        if (table->jumps[middle] > row) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    if (low == table->n_jumps || table->jumps[low] >= end) return end;
    return table->jumps[low] - 1 > row + 1 ? table->jumps[low] - 1 : row + 1;
}

/* First row of the window that starts at the frame shown last, -1 where there is none. */
static int64_t stream_window(const ml_stream *stream) {
    if (stream->in_transition || stream->row < 0) return -1;
    return stream->row + stream->table->length <= stream_clip_end(stream->table, stream->row)
               ? stream->row
               : -1;
}

/* Where a clip stands whose row is at a heading and over a point of the ground. */
typedef struct {
    double turn, x, z;
} stream_place;

static stream_place stream_meeting(const ml_table *table, int64_t row, double heading,
                                   const double *root) {
    stream_place place = {heading - table->rows->heading[row], 0.0, 0.0};
    double c, s, x = table->rows->ground[2 * row], z = table->rows->ground[2 * row + 1];
    ml_sincos(place.turn, &s, &c);
    place.x = root[0] - c * x - s * z;
    place.z = root[2] - c * z + s * x;
    return place;
}

/* Rows of a clip, from `row` on, at frames `t` to `t + n - 1`, carried to a place. */
static void stream_captured(const ml_table *table, int64_t row, int64_t n, stream_place place,
                            ml_frames *out, int64_t t) {
    double c, s;
    ml_sincos(place.turn, &s, &c);
    for (int64_t k = 0; k < n; k++) {
        const double *ground = table->rows->ground + 2 * (row + k);
        double x = c * ground[0] + s * ground[1] + place.x;
        double z = c * ground[1] - s * ground[0] + place.z;
        ml_frames_captured(table->rows, row + k, row + k,
                          table->rows->heading[row + k] + place.turn, x, z, out, t + k);
    }
}

/* Captured windows that are most like the last of `n` frames and what goes before, of which at
   least `lasting` frames are left in their clips; how many. */
static ml_status stream_alike(const ml_stream *stream, stream_pieces *work, const ml_frames *shown,
                              int64_t n, int64_t count, int64_t lasting, int64_t *rows,
                              int64_t *n_rows) {
    const ml_table *table = stream->table;
    ml_table_pieces tools;
    int64_t found[STREAM_LOOKED_AT], n_found = 0;
    int64_t some = lasting && count < STREAM_LOOKED_AT ? STREAM_LOOKED_AT : count;
    int64_t apart = table->length / 4 > 1 ? table->length / 4 : 1;
    ml_table_lay_out(table, table->work, &tools);
    int64_t remembered = work->played.most, first = n > remembered ? n - remembered : 0;
    ml_status bad = ml_planned_context(table, &work->own, shown, first, n - first, tools.moments);
    if (!bad)
        bad = ml_neighbour_search(table->index, table->by_start, tools.moments, NULL, NULL, apart,
                                  0, NULL, TABLE_MORE_GROUPS, TABLE_MORE_LISTS, TABLE_MORE_SEEN,
                                  tools.near, tools.search, some, found, tools.squared, &n_found);
    *n_rows = 0;
    for (int64_t k = 0; k < n_found && *n_rows < count && !bad; k++)
        if (found[k] + lasting <= table->starts[ml_table_clip_at(table, found[k]) + 1])
            rows[(*n_rows)++] = found[k];
    if (!bad && *n_rows == 0 && !lasting) return ML_NOWHERE;
    return bad;
}

/* What was played, then the frames of a window that would be played from the one shown last on;
   how many go before the window. */
static ml_status stream_plan(const ml_stream *stream, stream_pieces *work, int64_t *before) {
    const ml_table *table = stream->table;
    ml_frames *plan = &work->planned;
    int64_t length = table->length, row = stream->row, n = work->played.n_frames, alike, n_alike;
    stream_place place = {stream->turn, stream->x, stream->z};
    ml_frames_copy(&work->played, 0, n, plan, 0);
    *before = n - 1;
    if (stream->in_transition) { /* the last one shown is frame at - 1 of the segment */
        int64_t left = work->segment.n_frames - stream->at, end = work->segment.n_frames - 1;
        ml_frames_copy(&work->segment, stream->at, left, plan, n);
        n += left;
        row = stream->then;
        place = stream_meeting(table, row, work->segment.heading[end],
                               work->segment.root + 3 * end);
    }
    int64_t left = length - (n - *before), there = stream_clip_end(table, row) - row - 1;
    left = left < there ? left : there;
    if (left > 0) {
        stream_captured(table, row + 1, left, place, plan, n);
        n += left;
    }
    left = length - (n - *before);
    if (left > 0) { /* the clip is over: one that is like it goes on */
        ml_status bad = stream_alike(stream, work, plan, n, 1, 0, &alike, &n_alike);
        if (bad) return bad;
        there = table->starts[ml_table_clip_at(table, alike) + 1] - alike - 1;
        if (left > there) return ML_NOWHERE;
        place = stream_meeting(table, alike, plan->heading[n - 1], plan->root + 3 * (n - 1));
        stream_captured(table, alike, left + 1, place, plan, n);
        bad = ml_frames_fade(plan, n, left, table->fps);
        if (bad) return bad;
        n += left;
    }
    plan->n_frames = n;
    return ML_OK;
}

/* Carry frames `first` to `first + n - 1` to a place. */
static void stream_carry(ml_frames *frames, int64_t first, int64_t n, stream_place place) {
    double c, s, turned[4], about[4] = {1.0, 0.0, 0.0, 0.0};
    ml_sincos(place.turn, &s, &c);
    ml_sincos(0.5 * place.turn, &about[2], &about[0]);
    for (int64_t t = first; t < first + n; t++) {
        double *root = frames->root + 3 * t, *q = frames->quats + 4 * frames->n_joints * t;
        double x = root[0], z = root[2];
        root[0] = c * x + s * z + place.x;
        root[2] = c * z - s * x + place.z;
        ml_times(about, q, turned);
        memcpy(q, turned, sizeof turned);
        frames->heading[t] += place.turn;
    }
}

/* Play made frames, carried to a place, from the second on: the first is what is shown now. */
static void stream_queue(ml_stream *stream, stream_pieces *work, const ml_frames *made,
                         int64_t n_windows, const int64_t *windows, stream_place place) {
    const ml_table *table = stream->table;
    ml_frames *segment = &work->segment;
    ml_frames_copy(made, 0, made->n_frames, segment, 0);
    segment->n_frames = made->n_frames;
    stream_carry(segment, 0, made->n_frames, place);
    stream->then = windows[n_windows - 1] + table->length - 1;
    stream->n_clips = n_windows;
    for (int64_t k = 0; k < n_windows; k++)
        stream->clips[k] = ml_table_clip_at(table, windows[k]);
    stream->in_transition = 1;
    stream->at = 1;
    stream->try_again = 0;
    stream->done = 0;
}

/* The check of made frames that go on from what was played, which is seen before them. */
static ml_status stream_check(const ml_stream *stream, const stream_pieces *work,
                              int64_t n_windows, const int64_t *windows, const ml_frames *made,
                              double *found, int64_t *n_found) {
    const ml_table *table = stream->table;
    ml_table_pieces tools;
    int64_t clips[2 * ML_MOST_WAYS], n_clips = stream->n_clips, wide = 4 * made->n_joints;
    memcpy(clips, stream->clips, sizeof(int64_t) * (size_t)n_clips);
    for (int64_t k = 0; k < n_windows; k++)
        clips[n_clips++] = ml_table_clip_at(table, windows[k]);
    ml_table_lay_out(table, table->work, &tools);
    ml_status bad = ml_table_merge(table, n_clips, clips, tools.limits);
    if (bad) return bad;
    int64_t past = work->played.n_frames - 1;
    past = past < TABLE_MARGIN ? past : TABLE_MARGIN;
    int64_t n = past + made->n_frames;
    ml_frames all = {n, n, made->n_joints, tools.heading, tools.root, tools.quats, tools.planted};
    ml_frames_copy(&work->played, work->played.n_frames - 1 - past, past, &all, 0);
    ml_frames_copy(made, 0, made->n_frames, &all, past);
    for (int64_t t = 1; t < n; t++)
        ml_frames_same_signs(made->n_joints, all.quats + wide * (t - 1), all.quats + wide * t);
    bad = ml_chain_pose(n, made->n_joints, table->rig->parents, table->rig->offsets,
                        made->n_joints, NULL, all.root, all.quats, tools.positions, tools.world);
    if (bad) return bad;
    return ml_table_judge_frames(table, &tools, n, past, n - 1, n_windows, windows, NULL, found,
                                 n_found);
}

/* Recipes from a captured window to the goal, the best first. */
static ml_status stream_choose(const ml_stream *stream, stream_pieces *work, int64_t source) {
    int64_t targets[TABLE_TARGETS] = {stream->goal_row}, n_targets = 1;
    ml_status bad = ML_OK;
    if (stream->goal == STREAM_LABEL)
        bad = ml_table_targets(stream->table, source, stream->spokes, targets, &n_targets);
    if (bad) return bad;
    return ml_table_choose(stream->table, source, n_targets, targets, STREAM_RESCORED,
                           &work->choice);
}

/* Whether a flawed transition is better put off: the motion that is played goes on for a while. */
static int stream_waits(ml_stream *stream, int is_flawed) {
    if (!is_flawed || stream->waits < 1) return 0;
    stream->waits--;
    stream->pause = (int64_t)ml_nearest(STREAM_PAUSE_S * stream->table->fps);
    return 1;
}

/* Begin the transition to the goal from the frame shown last, unless it waits. */
static ml_status stream_leave(ml_stream *stream, stream_pieces *work) {
    const ml_table *table = stream->table;
    const stream_place here = {0.0, 0.0, 0.0}, place = {stream->turn, stream->x, stream->z};
    int64_t source = stream_window(stream), number, n_found, before, alike, n_alike, kept[4];
    int64_t n_kept = 0;
    uint8_t feet;
    double errors[2], least = 0.0;
    if (source >= 0) {
        ml_status bad = stream_choose(stream, work, source);
        if (!bad)
            bad = ml_table_best(table, &work->choice, 0, &work->made, &number, &feet, errors,
                                work->found, &n_found);
        if (bad || stream_waits(stream, n_found > 0)) return bad;
        const int64_t *windows = work->choice.rows + ML_MOST_WAYS * number;
        int64_t n_ways = 0;
        while (n_ways < ML_MOST_WAYS && windows[n_ways] >= 0) n_ways++;
        stream_queue(stream, work, &work->made, n_ways, windows, place);
        return ML_OK;
    }
    ml_status bad =
        stream_alike(stream, work, &work->played, work->played.n_frames, 1, 0, &alike, &n_alike);
    if (!bad) bad = stream_choose(stream, work, alike);
    if (!bad) bad = stream_plan(stream, work, &before);
    if (!bad) bad = ml_planned_see(table, &work->own, &work->planned, before, table->length);
    for (int64_t n = 0; n < STREAM_TRIES && n < work->choice.count && !bad; n++) {
        if (n >= work->choice.ranked) bad = ml_table_judge(table, &work->choice);
        const int64_t *windows = work->choice.rows + ML_MOST_WAYS * n + 1; /* but the source's */
        int64_t n_ways = 0;
        while (n_ways < ML_MOST_WAYS - 1 && windows[n_ways] >= 0) n_ways++;
        if (!bad) bad = ml_planned_blend(table, &work->own, n_ways, windows, &work->made, errors);
        if (!bad)
            bad = stream_check(stream, work, n_ways, windows, &work->made, work->found, &n_found);
        if (bad) break;
        double badness = ml_table_badness(n_found, work->found);
        if (!n_kept || badness < least) {
            least = badness;
            n_kept = n_ways;
            memcpy(kept, windows, sizeof(int64_t) * (size_t)n_ways);
            ml_frames_copy(&work->made, 0, table->length, &work->best, 0);
        }
        if (!n_found) break;
    }
    if (bad) return bad;
    if (!n_kept) return ML_NOWHERE;
    if (stream_waits(stream, least > 0.0)) return ML_OK;
    stream_queue(stream, work, &work->best, n_kept, kept, here);
    return ML_OK;
}

/* Whether the frame shown last starts the last whole window of its clip, or a later one. */
static int stream_ends(const ml_stream *stream) {
    if (stream->row < 0 || stream->done || stream->row < stream->try_again) return 0;
    return stream->row + stream->table->length >= stream_clip_end(stream->table, stream->row);
}

/* At a clip's end: go over into a captured motion that is most like it and goes on. */
static ml_status stream_go_on(ml_stream *stream, stream_pieces *work) {
    const ml_table *table = stream->table;
    const stream_place here = {0.0, 0.0, 0.0}, place = {stream->turn, stream->x, stream->z};
    int64_t rows[STREAM_LOOKED_AT], n_rows = 0, n_found = 0, before, source = stream_window(stream);
    double errors[2];
    ml_status bad = stream_alike(stream, work, &work->played, work->played.n_frames,
                                 STREAM_LOOKED_AT, 2 * table->length, rows, &n_rows);
    if (!bad && source < 0) {
        bad = stream_plan(stream, work, &before);
        if (!bad) bad = ml_planned_see(table, &work->own, &work->planned, before, table->length);
    }
    for (int64_t k = 0; k < n_rows && !bad; k++) {
        int64_t windows[2] = {source, rows[k]};
        if (source >= 0) {
            bad = ml_table_make(table, 2, windows, 1, &work->made, errors);
            if (!bad)
                bad = ml_table_check(table, 2, windows, &work->made, work->found, &n_found);
        } else {
            bad = ml_planned_blend(table, &work->own, 1, windows + 1, &work->made, errors);
            if (!bad)
                bad = stream_check(stream, work, 1, windows + 1, &work->made, work->found,
                                   &n_found);
        }
        if (bad || n_found) continue;
        stream_queue(stream, work, &work->made, 1, windows + 1, source >= 0 ? place : here);
        return ML_OK;
    }
    if (bad && bad != ML_NOWHERE) return bad; /* nowhere to go on: stay */
    int64_t later = stream->row + table->length / 4, end = stream_clip_end(table, stream->row) - 1;
    stream->try_again = later < end ? later : end;
    return ML_OK;
}

/* Show a frame: keep it, and give it out with signs like those before. */
static void stream_show(ml_stream *stream, stream_pieces *work, const ml_frames *from, int64_t t,
                        double *root, double *quats, uint8_t *planted) {
    ml_frames *played = &work->played;
    int64_t wide = 4 * played->n_joints, n = stream->n_played;
    if (n == played->most) ml_frames_copy(played, 1, --n, played, 0);
    ml_frames_copy(from, t, 1, played, n);
    double *q = played->quats + wide * n;
    if (n) ml_frames_same_signs(played->n_joints, q - wide, q);
    stream->n_played = n + 1;
    memcpy(root, played->root + 3 * n, 3 * sizeof(double));
    memcpy(quats, q, sizeof(double) * (size_t)wide);
    memcpy(planted, played->planted + 4 * n, 4);
}

ml_status ml_stream_go_to_windows(ml_stream *stream, const int64_t *spokes) {
    const ml_table *table = stream->table;
    int64_t there = 0;
    for (int64_t end = 0; end < table->n_ends; end++) {
        if (spokes[end] >= 0 && !ml_table_has_window(table, spokes[end])) return ML_NOWHERE;
        there += spokes[end] >= 0;
    }
    if (!there) return ML_NOWHERE;
    memcpy(stream->spokes, spokes, sizeof(int64_t) * (size_t)table->n_ends);
    stream->goal = STREAM_LABEL;
    stream->waits = stream->patience;
    stream->pause = 0;
    return ML_OK;
}

ml_status ml_stream_go_to_row(ml_stream *stream, int64_t row) {
    const ml_table *table = stream->table;
    int64_t clip = ml_table_clip_at(table, row), window = row - table->length + 1;
    if (clip < 0) return ML_NOWHERE;
    window = window < table->starts[clip] ? table->starts[clip] : window;
    if (!ml_table_has_window(table, window)) return ML_NOWHERE;
    stream->goal_row = window;
    stream->goal = STREAM_ROW;
    stream->waits = stream->patience;
    stream->pause = 0;
    return ML_OK;
}

ml_status ml_stream_place(ml_stream *stream, double heading, double x, double z) {
    const ml_table *table = stream->table;
    const double root[3] = {x, 0.0, z};
    stream_pieces work;
    if (stream->n_work < ml_stream_work(table) || ml_table_clip_at(table, stream->start) < 0)
        return ML_BAD_SIZE;
    if (!(fabs(heading) < 1e6 && fabs(x) < 1e6 && fabs(z) < 1e6)) return ML_NOWHERE;
    if (!stream->n_played) {
        stream_place place = stream_meeting(table, stream->start, heading, root);
        stream->turn = place.turn;
        stream->x = place.x;
        stream->z = place.z;
        return ML_OK;
    }
    stream_lay_out(table, stream->work, &work);
    int64_t now = stream->n_played - 1;
    const double *shown = work.played.root + 3 * now;
    stream_place by = {heading - work.played.heading[now], 0.0, 0.0};
    double c, s, was_x = stream->x, was_z = stream->z;
    ml_sincos(by.turn, &s, &c);
    by.x = x - c * shown[0] - s * shown[2];
    by.z = z - c * shown[2] + s * shown[0];
    stream_carry(&work.played, 0, stream->n_played, by);
    if (stream->in_transition) stream_carry(&work.segment, 0, work.segment.n_frames, by);
    stream->turn += by.turn;
    stream->x = c * was_x + s * was_z + by.x;
    stream->z = c * was_z - s * was_x + by.z;
    return ML_OK;
}

ml_status ml_stream_context(const ml_stream *stream, float *out) {
    stream_pieces work;
    if (stream->n_work < ml_stream_work(stream->table) || stream->n_played < 1) return ML_BAD_SIZE;
    stream_lay_out(stream->table, stream->work, &work);
    return ml_planned_context(stream->table, &work.own, &work.played, 0, stream->n_played, out);
}

ml_status ml_stream_step(ml_stream *stream, double *root, double *quats, uint8_t *planted) {
    const ml_table *table = stream->table;
    stream_pieces work;
    ml_status bad = ML_OK;
    if (stream->n_work < ml_stream_work(table) || table->n_work < ml_table_work(table) ||
        ml_table_clip_at(table, stream->start) < 0)
        return ML_BAD_SIZE;
    stream_lay_out(table, stream->work, &work);
    work.played.n_frames = stream->n_played;
    if (stream->pause > 0) {
        stream->pause--;
    } else if (stream->goal != STREAM_NO_GOAL && stream->n_played) {
        bad = stream_leave(stream, &work);
        if (bad != ML_MISSING && !stream->pause) stream->goal = STREAM_NO_GOAL;
        if (bad) return bad;
    }
    if (!stream->in_transition && stream_ends(stream)) bad = stream_go_on(stream, &work);
    if (bad) return bad;
    if (stream->in_transition) {
        stream_show(stream, &work, &work.segment, stream->at, root, quats, planted);
        stream->at++;
        if (stream->at == work.segment.n_frames) {
            int64_t end = work.segment.n_frames - 1;
            stream_place place = stream_meeting(table, stream->then, work.segment.heading[end],
                                                work.segment.root + 3 * end);
            stream->turn = place.turn;
            stream->x = place.x;
            stream->z = place.z;
            stream->row = stream->then;
            stream->in_transition = 0;
        }
        return ML_OK;
    }
    int64_t row = stream->start;
    if (stream->row >= 0) {
        int64_t last = stream_clip_end(table, stream->row) - 1;
        row = stream->row + 1 < last ? stream->row + 1 : last;
    }
    stream->row = row;
    stream->done = row == stream_clip_end(table, row) - 1;
    stream_place place = {stream->turn, stream->x, stream->z};
    stream_captured(table, row, 1, place, &work.made, 0);
    stream_show(stream, &work, &work.made, 0, root, quats, planted);
    return ML_OK;
}
