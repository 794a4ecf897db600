/* What a live character thinks between frames: which transition follows an order, and how it goes on
   where its clip ends. Each piece of thinking is one search, one choice of recipes, or one transition
   made and checked.

   A transition in the middle of another starts from a motion that no clip has: the rest of the
   transition, then the clip in which it would have arrived. Those frames are a window like any
   other. Blended as the source, they begin with the pose and the speed that are shown, and what
   stands is held where it stands. */

#include "character.h"

#include <string.h>

/* Captured windows that are found at a clip's end. */
#define THINKING_FOUND 48
/* Seconds after which an order is tried again: another foot may stand. */
#define THINKING_PAUSE_S 0.05
/* Transitions of an order, and such that go on, that are tried where the next frame has to be known. */
#define THINKING_HASTY 2
#define THINKING_HASTY_ON 10
/* Seconds of shown frames that are judged once more: a step stands out from those before and after it. Of
   a transition only its own, whose clips are known. */
#define THINKING_AGAIN_S 0.1
/* Windows of a clip that is short. */
#define THINKING_SHORT 3
/* Rounds of tries to go on in which a body that rests may wait. */
#define THINKING_ROUNDS 12

/* ---- When -------------------------------------------------------------------------------------*/

/* The row that is shown, or that the transition arrives at. */
static int64_t thinking_row(const ml_stream *stream) {
    return stream->in_transition ? stream->then : stream->row;
}

/* The row after the last one that the body may be in, of the label that is held or of the clip. */
static int64_t thinking_end(const ml_stream *stream, int64_t row) {
    int64_t end = ml_stream_clip_end(stream->table, row);
    if (stream->order != ML_ORDER_HOLD || stream->pending) return end;
    int64_t piece = ml_stream_piece_at(stream, row);
    if (piece < 0) return row; /* it has left it */
    int64_t stay = stream->pieces[2 * piece + 1] + 1 + stream->table->length / 2;
    return stay < end ? stay : end;
}

stream_time ml_stream_when(const ml_stream *stream, const stream_pieces *work) {
    const ml_table *table = stream->table;
    int64_t row = thinking_row(stream), last = ml_stream_clip_end(table, row) - 1;
    int64_t arrives = stream->in_transition ? work->segment.frames.n_frames - stream->at : 0;
    stream_time time = {arrives, arrives + thinking_end(stream, row) - table->length - row,
                        arrives + last - row};
    int acts =
        stream->order == ML_ORDER_ACT && (stream->toward || stream->reached == STREAM_REACHED);
    if (acts && row < stream->act_last)
        time.soonest += (stream->act_last < last ? stream->act_last : last) - row;
    return time;
}

/* Whether it is time to think about what goes on after the clip. Where no whole window of it is left, that
   is as soon as it is on its way there: a transition that leads nowhere can still be left. */
static int thinking_ends(const ml_stream *stream, const stream_time *time) {
    int64_t ahead = time->window < time->soonest ? stream->table->length : STREAM_AHEAD;
    return time->soonest <= ahead && time->window <= STREAM_AHEAD;
}

/* In how many steps the transition leaves that is thought about. */
static int64_t thinking_leave(const ml_stream *stream, const stream_time *time) {
    if (!stream->continues || stream->bails) return 0;
    return time->soonest > time->window ? time->soonest : time->window;
}

int ml_stream_has_thoughts(const ml_stream *stream, const stream_pieces *work) {
    if (thinking_row(stream) < 0 || stream->leave_in >= 0) return 0;
    if (stream->planned_in == 0) return 1;
    stream_time time = ml_stream_when(stream, work);
    int ends = thinking_ends(stream, &time);
    if (stream->pending) return (!stream->pause && !stream->again) || ends;
    return ends && (!stream->pause || time.latest <= 0);
}

/* ---- The window that is left ------------------------------------------------------------------*/

int64_t ml_stream_window_to(const ml_table *table, int64_t row) {
    int64_t clip = ml_table_clip_at(table, row), window = row - table->length + 1;
    if (clip < 0) return -1;
    window = window < table->starts[clip] ? table->starts[clip] : window;
    return ml_table_has_window(table, window) ? window : -1;
}

int64_t ml_stream_start_of(const ml_table *table, const int64_t *piece) {
    int64_t window = ml_stream_window_to(table, piece[0]);
    return window < 0 || window + table->length - 1 > piece[1] ? -1 : window;
}

/* First row of the window that starts at the frame that is shown `leave` steps from now, -1 where
   that is inside a transition, or too near to its clip's end. */
static int64_t thinking_source(const ml_stream *stream, const stream_pieces *work, int64_t leave) {
    int64_t arrives = stream->in_transition ? work->segment.frames.n_frames - stream->at : 0;
    int64_t row = thinking_row(stream) + leave - arrives;
    if (leave < arrives || !ml_table_has_window(stream->table, row)) return -1;
    return row + stream->table->length <= ml_stream_clip_end(stream->table, row) ? row : -1;
}

/* Where the clip stands that is played, or that the transition arrives in. */
static stream_place thinking_place(const ml_stream *stream, const stream_pieces *work) {
    const ml_frames *segment = &work->segment.frames;
    int64_t end = segment->n_frames - 1;
    if (!stream->in_transition) return (stream_place){stream->turn, stream->x, stream->z};
    return ml_stream_meeting(stream->table, stream->then, segment->heading[end],
                             segment->root + 3 * end);
}

/* What was played, then up to `count` frames that come next without another transition. */
static void thinking_upcoming(const ml_stream *stream, stream_pieces *work, int64_t count) {
    stream_part *plan = &work->planned;
    int64_t n = work->played.frames.n_frames, row = thinking_row(stream), at = n;
    ml_frames_copy(&work->played.frames, 0, n, &plan->frames, 0);
    ml_stream_copy_shares(&work->played.shares, 0, n, &plan->shares, 0);
    if (stream->in_transition) { /* the one shown last is frame at - 1 of the segment */
        int64_t left = work->segment.frames.n_frames - stream->at;
        left = left < count ? left : count;
        ml_frames_copy(&work->segment.frames, stream->at, left, &plan->frames, at);
        ml_stream_copy_shares(&work->segment.shares, stream->at, left, &plan->shares, at);
        at += left;
    }
    int64_t left = n + count - at, there = ml_stream_clip_end(stream->table, row) - row - 1;
    left = left < there ? left : there;
    if (left > 0) {
        ml_stream_captured(stream->table, row + 1, left, thinking_place(stream, work), plan, at);
        at += left;
    }
    plan->frames.n_frames = at;
}

/* Captured windows that are most like the last of the planned frames and what goes before, and how
   many; none has a frame in `spans`.
   spans: (n_spans, 2)  rows: (count) */
static ml_status thinking_alike(const ml_stream *stream, stream_pieces *work, int64_t n_spans,
                                const int64_t *spans, int64_t count, int64_t *rows,
                                int64_t *n_rows) {
    const ml_table *table = stream->table;
    const ml_frames *plan = &work->planned.frames;
    ml_table_pieces tools;
    int64_t apart = table->length / 4 > 1 ? table->length / 4 : 1,
            most = ml_stream_looks_back(table);
    int64_t first = plan->n_frames > most ? plan->n_frames - most : 0;
    ml_table_lay_out(table, table->work, &tools);
    ml_status status =
        ml_planned_context(table, &work->own, plan, first, plan->n_frames - first, tools.moments);
    if (status) return status;
    return ml_neighbour_search(table->index, table->by_start, tools.moments, NULL, NULL, apart,
                               n_spans, spans, ML_INDEX_GROUPS, ML_INDEX_LISTS, ML_INDEX_SEEN,
                               tools.near, tools.search, count, rows, tools.squared, n_rows);
}

/* A window of the frames that come next from `leave` steps on; how many frames go before it. Where
   the clip is over, the captured window `on` goes on or, where that is -1, one that is like it. */
static ml_status thinking_plan(const ml_stream *stream, stream_pieces *work, int64_t leave,
                               int64_t on, int64_t *before) {
    const ml_table *table = stream->table;
    stream_part *plan = &work->planned;
    ml_frames *frames = &plan->frames;
    int64_t whole = work->played.frames.n_frames + leave + table->length - 1, alike, n_alike = 1;
    *before = work->played.frames.n_frames - 1 + leave;
    thinking_upcoming(stream, work, leave + table->length - 1);
    int64_t n = frames->n_frames, left = whole - n;
    if (left > 0) {
        ml_status status = ML_OK;
        alike = on + n - 1 - *before;
        if (on < 0) status = thinking_alike(stream, work, 0, NULL, 1, &alike, &n_alike);
        if (status) return status;
        if (!n_alike || alike + left >= table->starts[ml_table_clip_at(table, alike) + 1])
            return ML_NOWHERE;
        stream_place place =
            ml_stream_meeting(table, alike, frames->heading[n - 1], frames->root + 3 * (n - 1));
        ml_stream_captured(table, alike, left + 1, place, plan, n);
        status = ml_frames_fade(frames, n, left, table->fps);
        if (status) return status;
        ml_stream_copy_shares(&plan->shares, n + 1, left, &plan->shares, n);
        frames->n_frames = whole;
    }
    return ml_planned_see(table, &work->own, frames, *before, table->length);
}

/* ---- One transition ---------------------------------------------------------------------------*/

/* What made frames are made of: the source, whose frames are rows from `source` on or, where that is
   -1, planned from frame `before` on; and captured windows. */
static void thinking_shares(const ml_table *table, stream_pieces *work, int64_t source,
                            int64_t before, int64_t n_windows, const int64_t *windows) {
    const stream_shares *plan = &work->planned.shares;
    int64_t length = table->length;
    const double *weights = table->weights + ML_MOST_WAYS * length * n_windows;
    for (int64_t t = 0; t < length; t++) {
        ml_stream_no_shares(&work->made.shares, t);
        for (int64_t i = 0; i < n_windows; i++)
            ml_stream_share(&work->made.shares, t, windows[i] + t, weights[length * (1 + i) + t]);
        if (source >= 0) {
            ml_stream_share(&work->made.shares, t, source + t, weights[t]);
            continue;
        }
        for (int64_t k = ML_MOST_SHARES * (before + t); k < ML_MOST_SHARES * (before + t + 1); k++)
            if (plan->rows[k] >= 0)
                ml_stream_share(&work->made.shares, t, plan->rows[k],
                                weights[t] * plan->weights[k]);
    }
}

/* Planned frames, `past` of them, then made ones, then the clip that they arrive in after row `last`, with
   the floors and hovers of the rows that frames are made of. */
static ml_status thinking_around(const ml_table *table, const stream_pieces *work, int64_t before,
                                 int64_t past, int64_t last, const ml_table_pieces *tools,
                                 ml_frames *all) {
    const ml_frames *made = &work->made.frames;
    int64_t length = made->n_frames, end = length - 1, wide = 4 * made->n_joints;
    int64_t after = table->starts[ml_table_clip_at(table, last) + 1] - 1 - last;
    after = after < ml_table_past(table) ? after : ml_table_past(table);
    ml_frames_copy(&work->planned.frames, before - past, past, all, 0);
    ml_frames_copy(made, 0, length, all, past);
    all->n_frames = past + length + after;
    for (int64_t k = 1; k <= after; k++)
        ml_frames_captured(table->rows, last + k, last, made->heading[end], made->root[3 * end],
                           made->root[3 * end + 2], all, past + end + k);
    for (int64_t t = 1; t < all->n_frames; t++)
        ml_frames_same_signs(made->n_joints, all->quats + wide * (t - 1), all->quats + wide * t);
    for (int64_t t = 0; t < all->n_frames; t++) {
        int64_t own =
            t - past < end ? t - past : end; /* the frame, counted from the first made one */
        const stream_shares *shares = own < 0 ? &work->planned.shares : &work->made.shares;
        int64_t at = ML_MOST_SHARES * (own < 0 ? before + own : own);
        ml_status status = ml_table_made_of(table, shares->rows + at, shares->weights + at,
                                            tools->floors + 8 * t, tools->hovers + t);
        if (status) return status;
    }
    return ML_OK;
}

/* The check of made frames that go on from planned ones, which are seen before them. Support is not looked
   at where all else is as bad as the best so far: it only adds failures. */
static ml_status thinking_check(const ml_stream *stream, const stream_pieces *work, int64_t before,
                                int64_t n_windows, const int64_t *windows, int64_t *n_found) {
    const ml_table *table = stream->table;
    const ml_frames *made = &work->made.frames;
    const stream_shares *shown = &work->planned.shares, *own = &work->made.shares;
    const ml_table_planned planned = {&work->planned.frames, &work->shown, work->contacts, before,
                                      shown->rows,           own->rows,    shown->changed};
    ml_table_pieces tools;
    int64_t clips[2 * ML_MOST_WAYS], n_clips = stream->n_clips;
    memcpy(clips, stream->clips, sizeof(int64_t) * (size_t)n_clips);
    for (int64_t k = 0; k < n_windows; k++) clips[n_clips++] = ml_table_clip_at(table, windows[k]);
    ml_table_lay_out(table, table->work, &tools);
    ml_status status = ml_table_merge(table, n_clips, clips, tools.limits);
    if (status) return status;
    int64_t past = ml_table_past(table), last = windows[n_windows - 1] + made->n_frames - 1;
    past = before < past ? before : past;
    int64_t again = ml_check_frames(THINKING_AGAIN_S, table->fps, 1);
    if (stream->in_transition && again > stream->at - 1) again = stream->at - 1;
    again = again < past ? again : past;
    ml_frames all = {past + table->length + ml_table_past(table),
                     0,
                     made->n_joints,
                     tools.heading,
                     tools.root,
                     tools.quats,
                     tools.planted};
    status = thinking_around(table, work, before, past, last, &tools, &all);
    if (!status)
        status =
            ml_chain_pose(all.n_frames, made->n_joints, table->rig->parents, table->rig->offsets,
                          made->n_joints, NULL, all.root, all.quats, tools.positions, tools.world);
    if (!status)
        status = ml_table_judge_frames(table, &tools, all.n_frames, past - again,
                                       past + made->n_frames - 1, work->found, n_found);
    for (int64_t k = 0; !status && k < *n_found; k++)
        work->found[5 * k + 2] = ml_max(work->found[5 * k + 2] - (double)again, 0.0);
    if (status || ml_table_badness(*n_found, work->found) >= stream->least) return status;
    return ml_table_check_support(table, &tools, &planned, n_windows, windows, 0, made, past,
                                  work->found, n_found);
}

/* Make and check the transition over some windows that leaves in `leave` steps. */
static ml_status thinking_make(ml_stream *stream, stream_pieces *work, int64_t leave,
                               int64_t n_windows, const int64_t *windows, uint8_t feet,
                               int64_t *n_found) {
    const ml_table *table = stream->table;
    int64_t source = thinking_source(stream, work, leave), before = 0;
    int64_t all[ML_MOST_WAYS] = {source};
    double errors[2];
    ml_status status;
    if (n_windows < 1 || n_windows >= ML_MOST_WAYS) return ML_BAD_SIZE;
    if (source >= 0) {
        memcpy(all + 1, windows, sizeof(int64_t) * (size_t)n_windows);
        status = ml_table_make(table, 1 + n_windows, all, feet, &work->made.frames, errors);
        if (status) return status;
        ml_stream_carry(&work->made.frames, 0, table->length, thinking_place(stream, work));
        thinking_upcoming(stream, work, leave);
        before = work->planned.frames.n_frames - 1;
    } else {
        int64_t on = stream->continues ? windows[n_windows - 1] : -1;
        status = thinking_plan(stream, work, leave, on, &before);
        if (!status)
            status = ml_planned_blend(table, &work->own, n_windows, windows, feet,
                                      &work->made.frames, errors);
        if (status) return status;
    }
    thinking_shares(table, work, source, before, n_windows, windows);
    status = thinking_check(stream, work, before, n_windows, windows, n_found);
    if (status) return status;
    stream->made_then = windows[n_windows - 1] + table->length - 1;
    stream->n_made_clips = n_windows;
    for (int64_t k = 0; k < n_windows; k++)
        stream->made_clips[k] = ml_table_clip_at(table, windows[k]);
    return ML_OK;
}

/* ---- Where to ---------------------------------------------------------------------------------*/

/* Frames that a window leaves in its clip, and in the label that is held, after its last one; -1
   where it is no window, or ends outside of the label. */
static int64_t thinking_left(const ml_stream *stream, int64_t window) {
    int64_t last = window + stream->table->length - 1;
    if (!ml_table_has_window(stream->table, window)) return -1;
    int64_t end = ml_stream_clip_end(stream->table, window);
    if (stream->order == ML_ORDER_HOLD && !stream->pending) {
        int64_t piece = ml_stream_piece_at(stream, last);
        if (piece < 0) return -1;
        int64_t stop = stream->pieces[2 * piece + 1] + 1;
        end = stop < end ? stop : end;
    }
    return end - 1 - last < 0 ? -1 : end - 1 - last;
}

/* Whether a window is one of those that are kept. */
static int thinking_is_kept(const ml_choice *choice, int64_t window) {
    for (int64_t k = 0; k < choice->count; k++)
        if (choice->rows[ML_MOST_WAYS * k + 1] == window) return 1;
    return 0;
}

/* Keep the windows that are most alike: half of them with a whole window of their clip after them, if there
   are so many, then those with `leave` frames, then others. */
static void thinking_keep(const ml_stream *stream, int64_t leave, int64_t n, const int64_t *found,
                          ml_choice *choice) {
    int64_t least[4] = {0, stream->table->length, leave > 0 ? leave : 0, 0};
    int64_t most[4] = {0, STREAM_CONTINUED / 2, STREAM_CONTINUED, STREAM_CONTINUED};
    choice->count = 0;
    for (int part = 1; part < 4; part++)
        for (int64_t k = 0; k < n && choice->count < most[part]; k++) {
            int64_t left = thinking_left(stream, found[k]);
            int64_t *windows = choice->rows + ML_MOST_WAYS * choice->count;
            if (left < least[part] || thinking_is_kept(choice, found[k])) continue;
            windows[0] = windows[2] = windows[3] = -1;
            windows[1] = found[k];
            choice->count++;
        }
    choice->ranked = choice->count;
}

/* Find windows that continue what is shown `leave` steps from now. */
static ml_status thinking_look_on(ml_stream *stream, stream_pieces *work, int64_t leave) {
    const ml_table *table = stream->table;
    int holds = stream->order == ML_ORDER_HOLD && !stream->pending;
    int64_t found[THINKING_FOUND], n_found, count = THINKING_FOUND;
    int64_t row = thinking_row(stream), end = ml_stream_clip_end(table, row);
    int64_t quarter = table->length / 4;
    int64_t tail[2] = {end - 1 - quarter, end - 1}; /* its own end leads nowhere */
    if (end - table->starts[ml_table_clip_at(table, row)] < THINKING_SHORT * table->length)
        quarter = tail[0] = -1; /* but a short clip may be repeated */
    thinking_upcoming(stream, work, leave);
    int64_t n_tails = !holds && tail[0] >= 0;
    ml_status status = thinking_alike(stream, work, n_tails, tail, count, found, &n_found);
    if (status) return status;
    thinking_keep(stream, quarter, n_found, found, &work->choice);
    if (!work->choice.count && !holds) {
        status = thinking_alike(stream, work, 0, NULL, count, found, &n_found);
        if (status) return status;
        thinking_keep(stream, quarter, n_found, found, &work->choice);
    }
    stream->since = -leave;
    if (work->choice.count) {
        stream->stage = STREAM_TRY;
    } else if (holds && stream->toward) { /* it arrives first */
        stream->pause = (int64_t)ml_nearest(THINKING_PAUSE_S * table->fps);
    } else if (holds) { /* by recipes, as it came there */
        stream->pending = 1;
        stream->waited = 0;
    }
    return ML_OK;
}

/* Whether recipes of the table are tried to go on by, as for an order, because plain blends failed. */
static int thinking_by_recipes(const ml_stream *stream) {
    return stream->continues && stream->bails % 2 == 1;
}

/* Recipes to one of the windows that continue what is shown now; another one each time. */
static ml_status thinking_recipes_on(ml_stream *stream, stream_pieces *work) {
    const ml_table *table = stream->table;
    ml_status status = thinking_look_on(stream, work, 0);
    if (status || !work->choice.count) return status;
    int64_t nth = stream->bails / 2 % work->choice.count, n_found;
    int64_t target = work->choice.rows[ML_MOST_WAYS * nth + 1];
    stream->source = thinking_source(stream, work, 0);
    if (stream->source < 0)
        status = thinking_alike(stream, work, 0, NULL, 1, &stream->source, &n_found);
    if (status || stream->source < 0) return status;
    return ml_table_choose(table, stream->source, 1, &target, ML_RESCORED, &work->choice);
}

/* The pieces of a label whose first frames are most easily reached, as windows that end there; of a label
   that is held, those that can be, as windows that arrive in them. */
static ml_status thinking_starts(const ml_stream *stream, int64_t source, int64_t *targets,
                                 int64_t *n_targets) {
    const ml_table *table = stream->table;
    const float *costs = table->costs + table->n_ends * table->nearest[source];
    float least[ML_TABLE_TARGETS];
    int64_t n = 0;
    for (int64_t piece = 0; piece < stream->n_pieces; piece++) {
        const int64_t *rows = stream->pieces + 2 * piece;
        int64_t window = stream->order == ML_ORDER_HOLD ? ml_stream_stays_in(table, rows)
                                                        : ml_stream_start_of(table, rows);
        if (window < 0) continue;
        float cost = costs[table->nearest[window]];
        if (n == ML_TABLE_TARGETS && !(cost < least[n - 1])) continue;
        int64_t k = n < ML_TABLE_TARGETS ? n++ : n - 1;
        for (; k > 0 && cost < least[k - 1]; k--) {
            least[k] = least[k - 1];
            targets[k] = targets[k - 1];
        }
        least[k] = cost;
        targets[k] = window;
    }
    *n_targets = n;
    return n ? ML_OK : ML_NOWHERE;
}

/* Leave out windows that end in pieces which cannot be held. */
static void thinking_keep_held(const ml_stream *stream, int64_t *targets, int64_t *n_targets) {
    int64_t n = 0;
    for (int64_t k = 0; k < *n_targets; k++)
        if (ml_stream_piece_at(stream, targets[k] + stream->table->length - 1) >= 0)
            targets[n++] = targets[k];
    *n_targets = n;
}

/* Windows into the label that is held, entered so early that a window of it is left. */
static void thinking_enter(const ml_stream *stream, int64_t n, int64_t *targets) {
    int64_t length = stream->table->length;
    for (int64_t k = 0; k < n; k++) {
        int64_t left = thinking_left(stream, targets[k]);
        if (left < 0 || left >= length) continue;
        int64_t piece = ml_stream_piece_at(stream, targets[k] + length - 1);
        int64_t first = stream->pieces[2 * piece], sooner = targets[k] + left + length - 1 - length;
        int64_t window = ml_stream_window_to(stream->table, first > sooner ? first : sooner);
        if (window >= 0 && window < targets[k]) targets[k] = window;
    }
}

/* Recipes from a captured window to the goal, the best first. */
static ml_status thinking_choose(ml_stream *stream, stream_pieces *work) {
    const ml_table *table = stream->table;
    int64_t targets[ML_TABLE_TARGETS], n_targets = 1;
    ml_status status = ML_OK;
    if (stream->order == ML_ORDER_TO_ROW) {
        targets[0] = ml_stream_window_to(table, stream->goal_row);
    } else if (stream->order == ML_ORDER_ACT) {
        status = thinking_starts(stream, stream->source, targets, &n_targets);
    } else {
        status = ml_table_targets(table, stream->source, stream->spokes, targets, &n_targets);
        if (!status && stream->order == ML_ORDER_HOLD) {
            thinking_keep_held(stream, targets, &n_targets);
            if (!n_targets) status = thinking_starts(stream, stream->source, targets, &n_targets);
            thinking_enter(stream, n_targets, targets);
        }
    }
    if (status) return status;
    status = ml_table_choose(table, stream->source, n_targets, targets, ML_RESCORED, &work->choice);
    if (!status) stream->stage = STREAM_TRY;
    return status;
}

/* The window that recipes are chosen from: what is shown, or the captured one most like it. */
static ml_status thinking_look(ml_stream *stream, stream_pieces *work) {
    int64_t n_found;
    stream->source = thinking_source(stream, work, 0);
    if (stream->source >= 0) return thinking_choose(stream, work);
    thinking_upcoming(stream, work, 0);
    ml_status status = thinking_alike(stream, work, 0, NULL, 1, &stream->source, &n_found);
    if (status) return status;
    if (!n_found) return ML_NOWHERE;
    stream->stage = STREAM_CHOOSE;
    return ML_OK;
}

/* ---- One after another ------------------------------------------------------------------------*/

/* Nothing passes: wait, let the motion go on elsewhere before the order is tried again, or take what
   fails least. */
static ml_status thinking_settle(ml_stream *stream, const stream_pieces *work,
                                 const stream_time *time) {
    int rests = stream->bails < THINKING_ROUNDS && !ml_stream_travels(stream, &work->played.frames);
    int is_patient = (double)stream->waited < stream->patience * stream->table->fps;
    int waits = stream->continues ? time->latest > 0 || rests : is_patient;
    stream->stage = STREAM_LOOK;
    if (waits) {
        int again = stream->continues && rests; /* the order comes first once more */
        stream->detour =
            stream->pending && stream->planned_in < 0 && thinking_ends(stream, time) && !again;
        if (stream->continues && (!stream->toward || is_patient)) /* else it arrives first */
            stream->bails = (uint8_t)(stream->bails % 16 + 1);
        stream->pause = (int64_t)ml_nearest(THINKING_PAUSE_S * stream->table->fps);
        return ML_OK;
    }
    if (stream->least == HUGE_VAL) return ML_NOWHERE;
    stream->stage = STREAM_LEAST;
    stream->number = stream->least_number;
    stream->feet = stream->least_feet;
    return ML_OK;
}

/* What is tried after a transition that does not pass. */
static ml_status thinking_next(ml_stream *stream, const stream_pieces *work,
                               const stream_time *time) {
    const ml_choice *choice = &work->choice;
    int64_t most = choice->count;
    if (!stream->continues || thinking_by_recipes(stream))
        most = most < STREAM_HELD ? most : STREAM_HELD;
    stream->n_tried++;
    int64_t hasty = stream->continues ? THINKING_HASTY_ON : THINKING_HASTY;
    if (time->latest <= 0 && stream->n_tried >= hasty && stream->least < HUGE_VAL)
        return thinking_settle(stream, work, time);
    stream->number++;
    if (choice->ranked < choice->count) {
        stream->stage = STREAM_RANK;
        return ML_OK;
    }
    if (!stream->feet) most = most < STREAM_LOOSE ? most : STREAM_LOOSE;
    if (stream->number < most) return ML_OK;
    if (!stream->feet) return thinking_settle(stream, work, time);
    stream->feet = 0;
    stream->number = 0;
    return ML_OK;
}

/* Make and check the transition that is tried next, and take it if it passes. */
static ml_status thinking_try(ml_stream *stream, stream_pieces *work, const stream_time *time) {
    int64_t leave = thinking_leave(stream, time), n_ways = 0, n_found = 0;
    int64_t windows[ML_MOST_WAYS - 1];
    const int64_t *rows = work->choice.rows + ML_MOST_WAYS * stream->number + 1;
    for (; n_ways < ML_MOST_WAYS - 1 && rows[n_ways] >= 0; n_ways++)
        windows[n_ways] = rows[n_ways] + (stream->continues ? stream->since + leave : 0);
    ml_status status = ML_NOWHERE;
    if (!stream->continues || (n_ways && thinking_left(stream, windows[n_ways - 1]) >= 0))
        status = thinking_make(stream, work, leave, n_ways, windows, stream->feet, &n_found);
    if (status && status != ML_NOWHERE) return status;
    if (!status && (!n_found || stream->stage == STREAM_LEAST)) {
        stream->made_flawed = n_found > 0;
        if (stream->continues) {
            *work->way = (stream_way){.n_windows = n_ways, .feet = stream->feet};
            memcpy(work->way->windows, windows, sizeof windows);
        }
        stream->leave_in = leave;
        stream->stage = STREAM_LOOK;
        return ML_OK;
    }
    if (stream->stage == STREAM_LEAST) return status;
    double badness = status ? HUGE_VAL : ml_table_badness(n_found, work->found);
    if (badness < stream->least) {
        stream->least = badness;
        stream->least_number = stream->number;
        stream->least_feet = stream->feet;
    }
    return thinking_next(stream, work, time);
}

/* Nothing was tried yet. */
static void thinking_begin(ml_stream *stream) {
    stream->number = stream->n_tried = 0;
    stream->feet = 1;
    stream->least = HUGE_VAL;
}

/* Make the transition again that goes on: it leaves now, and no transition to the order's goal was found
   before. */
static ml_status thinking_as_planned(ml_stream *stream, stream_pieces *work) {
    const stream_way *way = work->way;
    int64_t n_found = 0;
    stream->continues = 1;
    thinking_begin(stream);
    stream->stage = STREAM_LOOK;
    ml_status status =
        thinking_make(stream, work, 0, way->n_windows, way->windows, way->feet, &n_found);
    if (status == ML_MISSING) return status; /* it is asked again */
    stream->planned_in = -1;
    if (status) return status == ML_NOWHERE ? ML_OK : status;
    if (n_found) return ML_OK;
    stream->made_flawed = 0;
    stream->leave_in = 0;
    return ML_OK;
}

ml_status ml_stream_think_once(ml_stream *stream, stream_pieces *work) {
    if (stream->planned_in == 0) return thinking_as_planned(stream, work);
    stream_time time = ml_stream_when(stream, work);
    ml_status status;
    uint8_t continues = !stream->pending || stream->detour || stream->again > 0;
    if (stream->continues != continues) stream->stage = STREAM_LOOK;
    stream->continues = continues;
    if (stream->stage == STREAM_LOOK) {
        thinking_begin(stream);
        int64_t leave = thinking_leave(stream, &time);
        status = !stream->continues            ? thinking_look(stream, work)
                 : thinking_by_recipes(stream) ? thinking_recipes_on(stream, work)
                                               : thinking_look_on(stream, work, leave);
    } else if (stream->stage == STREAM_CHOOSE) {
        status = thinking_choose(stream, work);
    } else if (stream->stage == STREAM_RANK) {
        status = ml_table_judge(stream->table, &work->choice);
        if (!status) stream->stage = STREAM_TRY;
    } else {
        status = thinking_try(stream, work, &time);
    }
    stream->n_recipes = work->choice.count;
    stream->n_ranked = work->choice.ranked;
    if (!status || status == ML_MISSING) return status;
    stream->stage = STREAM_LOOK;
    if (stream->continues) {
        stream->detour = stream->bails = 0; /* the order comes first, and all is looked at again */
        return status == ML_NOWHERE ? ML_OK : status;
    }
    stream->pending = 0;
    stream->order = ML_ORDER_NONE;
    return status;
}
