/* A live character: it follows orders, and plays on where it has none. Each step does one piece of
   thinking about the next transition and shows one frame; thinking.c makes the transitions. */

#include "character.h"

#include <string.h>

/* Seconds of shown frames that are kept: the check of the next transition looks back over them. */
#define STREAM_REMEMBERED_S 2.1

/* Seconds after which an order is tried again whose transitions led nowhere: from another place another
   one is found. */
#define STREAM_AGAIN_S 0.5
/* Pieces of thinking in one step, where the next frame has to be known. */
#define STREAM_MOST 32
/* The same where the clip that it goes to is soon over. */
#define STREAM_TROUBLED 2

static stream_part stream_part_of(ml_memory *memory, int64_t most, int64_t n_joints) {
    stream_part part = {.frames = {.most = most, .n_joints = n_joints}};
    part.frames.heading = ML_TAKE(memory, double, most);
    part.frames.root = ML_TAKE(memory, double, 3 * most);
    part.frames.quats = ML_TAKE(memory, double, 4 * n_joints * most);
    part.frames.planted = ML_TAKE(memory, uint8_t, 4 * most);
    part.shares.rows = ML_TAKE(memory, int64_t, ML_MOST_SHARES * most);
    part.shares.weights = ML_TAKE(memory, double, ML_MOST_SHARES * most);
    part.shares.changed = ML_TAKE(memory, uint8_t, most);
    return part;
}

static int64_t stream_lay_out(const ml_table *table, uint8_t *block, stream_pieces *pieces) {
    ml_memory memory = {block, 0};
    int64_t joints = table->rows->n_joints, length = table->length, most = ml_table_most(table);
    int64_t back = ml_stream_looks_back(table);
    int64_t remembered = ml_check_frames(STREAM_REMEMBERED_S, table->fps, back);
    pieces->segment = stream_part_of(&memory, length, joints);
    pieces->made = stream_part_of(&memory, length, joints);
    pieces->planned = stream_part_of(&memory, remembered + STREAM_AHEAD + 2 * length, joints);
    pieces->played = stream_part_of(&memory, remembered, joints);
    pieces->shown = ml_table_series(&memory, remembered);
    pieces->way = ML_TAKE(&memory, stream_way, 1);
    pieces->contacts = ML_TAKE(&memory, check_contact, CHECK_POINTS);
    pieces->segment.frames.n_frames = pieces->made.frames.n_frames = length;
    pieces->choice = (ml_choice){.most = most};
    pieces->choice.rows = ML_TAKE(&memory, int64_t, ML_MOST_WAYS * most);
    pieces->choice.costs = ML_TAKE(&memory, double, most);
    pieces->choice.columns = ML_TAKE(&memory, float, ML_TABLE_COLUMNS * most);
    pieces->found = ML_TAKE(&memory, double, 5 * ML_CHECK_FOUND);
    ml_planned_lay_out(table, back, &memory, &pieces->own);
    return memory.used;
}

int64_t ml_stream_work(const ml_table *table) {
    stream_pieces pieces;
    return stream_lay_out(table, NULL, &pieces);
}

/* The pieces of a stream's work as they were left. */
static ml_status stream_open(const ml_stream *stream, stream_pieces *pieces) {
    const ml_table *table = stream->table;
    if (stream->n_work < ml_stream_work(table) || table->n_work < ml_table_work(table) ||
        ml_table_clip_at(table, stream->start) < 0)
        return ML_BAD_SIZE;
    stream_lay_out(table, stream->work, pieces);
    pieces->played.frames.n_frames = pieces->shown.n_frames = stream->n_played;
    pieces->choice.count = stream->n_recipes;
    pieces->choice.ranked = stream->n_ranked;
    return ML_OK;
}

/* ---- Moving it --------------------------------------------------------------------------------*/

/* Move points (n, 3) to a place. */
static void stream_carry_points(double *points, int64_t n, stream_place place) {
    double c, s;
    ml_sincos(place.turn, &s, &c);
    for (int64_t k = 0; k < 3 * n; k += 3) {
        double x = points[k], z = points[k + 2];
        points[k] = c * x + s * z + place.x;
        points[k + 2] = c * z - s * x + place.z;
    }
}

static void stream_carry_shown(const ml_check_series *shown, stream_place place) {
    for (int64_t t = 0; t < shown->n_frames; t++) shown->heading[t] += place.turn;
    stream_carry_points(shown->soles, 4 * shown->n_frames, place);
    stream_carry_points(shown->pelvis, shown->n_frames, place);
    stream_carry_points(shown->mass, shown->n_frames, place);
}

/* Contacts go along with a floor that moves, and end where it turns. */
static void stream_carry_contact(check_contact *contact, stream_place place) {
    if (place.turn != 0.0) contact->n_frames = 0;
    contact->low[0] += place.x, contact->high[0] += place.x;
    contact->low[1] += place.z, contact->high[1] += place.z;
}

int64_t ml_stream_made_of(const ml_stream *stream, int64_t *rows, double *weights,
                          uint8_t *changed) {
    stream_pieces work;
    int64_t n = 0;
    *changed = 0;
    if (stream_open(stream, &work) || !stream->n_played) return 0;
    const stream_shares *shares = &work.played.shares;
    int64_t now = stream->n_played - 1;
    for (; n < ML_MOST_SHARES && shares->rows[ML_MOST_SHARES * now + n] >= 0; n++) {
        rows[n] = shares->rows[ML_MOST_SHARES * now + n];
        weights[n] = shares->weights[ML_MOST_SHARES * now + n];
    }
    *changed = shares->changed[now];
    return n;
}

/* ---- Orders -----------------------------------------------------------------------------------*/

/* Begin with a new order. */
static void stream_begin_order(ml_stream *stream, uint8_t order) {
    stream->order = order;
    stream->pending = 1;
    stream->toward = stream->reached = stream->detour = 0;
    stream->waited = stream->again = stream->pause = 0;
    stream->stage = STREAM_LOOK;
    if (stream->continues && stream->leave_in >= 0 && !stream->made_flawed)
        stream->planned_in = stream->leave_in;
    stream->leave_in = -1;
}

ml_status ml_stream_follow(ml_stream *stream, uint8_t order, int64_t n_pieces,
                           const int64_t *pieces, const int64_t *spokes) {
    const ml_table *table = stream->table;
    int64_t there = 0, is_long = order != ML_ORDER_HOLD;
    if (order < ML_ORDER_TO_LABEL || order > ML_ORDER_ACT || n_pieces < 0) return ML_BAD_SIZE;
    for (int64_t end = 0; end < table->n_ends; end++) {
        if (spokes[end] >= 0 && !ml_table_has_window(table, spokes[end])) return ML_NOWHERE;
        there += order != ML_ORDER_ACT && spokes[end] >= 0;
    }
    for (int64_t k = 0; k < n_pieces; k++) {
        const int64_t *piece = pieces + 2 * k;
        if (ml_table_clip_at(table, piece[0]) < 0 || piece[1] < piece[0] ||
            ml_table_clip_at(table, piece[1]) != ml_table_clip_at(table, piece[0]))
            return ML_NOWHERE;
        there += order == ML_ORDER_ACT && ml_stream_start_of(table, piece) >= 0;
    }
    if (!there || !n_pieces) return ML_NOWHERE;
    int is_same = stream->order == order && stream->n_pieces == n_pieces &&
                  !memcmp(stream->pieces, pieces, sizeof(int64_t) * (size_t)(2 * n_pieces));
    for (int64_t k = 0; k < n_pieces && !is_long && !is_same; k++)
        is_long = ml_stream_stays_in(table, pieces + 2 * k) >= 0;
    if (!is_long && !is_same) return ML_TOO_SHORT;
    stream->n_pieces = n_pieces;
    stream->pieces = pieces;
    memcpy(stream->spokes, spokes, sizeof(int64_t) * (size_t)table->n_ends);
    if (is_same && stream->reached != STREAM_ACTED) return ML_OK;
    stream_begin_order(stream, order);
    int64_t row = stream->in_transition ? stream->then : stream->row;
    if (order == ML_ORDER_ACT || row < 0 || ml_stream_piece_at(stream, row) < 0) return ML_OK;
    stream->pending = 0; /* it is there already, or on its way there */
    stream->planned_in = -1;
    stream->toward = stream->in_transition;
    stream->reached = !stream->in_transition;
    return ML_OK;
}

static ml_status stream_follow_label(ml_stream *stream, uint8_t order, int64_t label) {
    const ml_table *table = stream->table;
    if (label < 0 || label >= table->n_labels) return ML_NOWHERE;
    int64_t first = table->first_piece[label], end = table->first_piece[label + 1];
    return ml_stream_follow(stream, order, end - first, table->pieces + 2 * first,
                            table->spokes + table->n_ends * label);
}

ml_status ml_stream_go_to_label(ml_stream *stream, int64_t label) {
    return stream_follow_label(stream, ML_ORDER_TO_LABEL, label);
}

ml_status ml_stream_hold_label(ml_stream *stream, int64_t label) {
    return stream_follow_label(stream, ML_ORDER_HOLD, label);
}

ml_status ml_stream_act_label(ml_stream *stream, int64_t label) {
    return stream_follow_label(stream, ML_ORDER_ACT, label);
}

ml_status ml_stream_go_to_row(ml_stream *stream, int64_t row) {
    if (ml_stream_window_to(stream->table, row) < 0) return ML_NOWHERE;
    if (stream->order == ML_ORDER_TO_ROW && stream->goal_row == row) return ML_OK;
    stream->goal_row = row;
    stream_begin_order(stream, ML_ORDER_TO_ROW);
    return ML_OK;
}

ml_status ml_stream_set_patience(ml_stream *stream, double seconds) {
    if (!(seconds >= 0.0 && seconds < 1e6)) return ML_BAD_SIZE;
    stream->patience = seconds;
    return ML_OK;
}

ml_status ml_stream_place(ml_stream *stream, double heading, double x, double z) {
    const ml_table *table = stream->table;
    const double root[3] = {x, 0.0, z};
    stream_pieces work;
    ml_status status = stream_open(stream, &work);
    if (status) return status;
    if (!(fabs(heading) < 1e6 && fabs(x) < 1e6 && fabs(z) < 1e6)) return ML_NOWHERE;
    if (!stream->n_played) {
        stream_place place = ml_stream_meeting(table, stream->start, heading, root);
        stream->turn = place.turn;
        stream->x = place.x;
        stream->z = place.z;
        return ML_OK;
    }
    int64_t now = stream->n_played - 1;
    const double *shown = work.played.frames.root + 3 * now;
    stream_place by = {heading - work.played.frames.heading[now], 0.0, 0.0};
    double c, s, was_x = stream->x, was_z = stream->z;
    ml_sincos(by.turn, &s, &c);
    by.x = x - c * shown[0] - s * shown[2];
    by.z = z - c * shown[2] + s * shown[0];
    ml_stream_carry(&work.played.frames, 0, stream->n_played, by);
    stream_carry_shown(&work.shown, by);
    for (int k = 0; k < CHECK_POINTS; k++) stream_carry_contact(&work.contacts[k], by);
    if (stream->in_transition) ml_stream_carry(&work.segment.frames, 0, table->length, by);
    if (stream->leave_in >= 0) ml_stream_carry(&work.made.frames, 0, table->length, by);
    stream->turn += by.turn;
    stream->x = c * was_x + s * was_z + by.x;
    stream->z = c * was_z - s * was_x + by.z;
    return ML_OK;
}

ml_status ml_stream_context(const ml_stream *stream, float *out) {
    stream_pieces work;
    ml_status status = stream_open(stream, &work);
    if (status || stream->n_played < 1) return ML_BAD_SIZE;
    int64_t back = ml_stream_looks_back(stream->table), n = stream->n_played;
    back = back < n ? back : n;
    return ml_planned_context(stream->table, &work.own, &work.played.frames, n - back, back, out);
}

/* ---- Playing ----------------------------------------------------------------------------------*/

/* Go on with contacts by frame t of what was shown, or end them. Of captured frames the first and the
   last between changed ones count, as the steps into them and out of them are none of the clip's: only
   where there are three or more a contact ends. */
static void stream_touch(const stream_pieces *work, int64_t t) {
    const uint8_t *changed = work->played.shares.changed, *planted = work->played.frames.planted;
    double pad[3];
    for (int k = 0; k < CHECK_POINTS; k++) {
        check_contact *contact = &work->contacts[k];
        int sole = ml_check_sole(k), counts = changed[t];
        for (int64_t u = t - 1; u >= 0 && u >= t - 2; u--) counts |= changed[u];
        if (!t || !planted[4 * t + sole] || !counts) contact->n_frames = 0;
        if (!planted[4 * t + sole] || !counts) continue;
        if (t && !contact->n_frames && planted[4 * (t - 1) + sole])
            ml_check_touch(contact, ml_check_point(work->shown.soles, t - 1, k, pad));
        ml_check_touch(contact, ml_check_point(work->shown.soles, t, k, pad));
    }
}

/* Show a frame: keep it, and give it out with signs like those before. */
static ml_status stream_show(ml_stream *stream, stream_pieces *work, const stream_part *from,
                             int64_t t, double *root, double *quats, uint8_t *planted) {
    ml_frames *played = &work->played.frames;
    int64_t wide = 4 * played->n_joints, n = stream->n_played;
    if (n == played->most) {
        ml_frames_copy(played, 1, --n, played, 0);
        ml_stream_copy_shares(&work->played.shares, 1, n, &work->played.shares, 0);
        ml_table_copy_series(&work->shown, 1, n, &work->shown, 0);
    }
    ml_frames_copy(&from->frames, t, 1, played, n);
    ml_stream_copy_shares(&from->shares, t, 1, &work->played.shares, n);
    double *q = played->quats + wide * n;
    if (n) ml_frames_same_signs(played->n_joints, q - wide, q);
    stream->n_played = n + 1;
    memcpy(root, played->root + 3 * n, 3 * sizeof(double));
    memcpy(quats, q, sizeof(double) * (size_t)wide);
    memcpy(planted, played->planted + 4 * n, 4);
    ml_status status = ml_table_measure(stream->table, played, n, work->own.positions,
                                        work->own.world, &work->shown, n);
    if (!status) stream_touch(work, n);
    return status;
}

/* Play what is made, from its second frame on: the first is what is shown now. */
static void stream_leave(ml_stream *stream, stream_pieces *work) {
    int64_t length = stream->table->length;
    ml_frames_copy(&work->made.frames, 0, length, &work->segment.frames, 0);
    ml_stream_copy_shares(&work->made.shares, 0, length, &work->segment.shares, 0);
    stream->then = stream->made_then;
    stream->n_clips = stream->n_made_clips;
    memcpy(stream->clips, stream->made_clips, sizeof(int64_t) * (size_t)stream->n_clips);
    stream->in_transition = 1;
    stream->is_flawed = stream->made_flawed;
    stream->is_continuing = stream->continues;
    stream->at = 1;
    stream->leave_in = stream->planned_in = -1;
    stream->detour = stream->bails = stream->pause = 0;
    if (stream->continues && stream->toward) { /* its transition led nowhere */
        stream->toward = 0;
        stream->pending = 1;
        stream->again = ml_check_frames(STREAM_AGAIN_S, stream->table->fps, 1);
    }
    if (stream->continues || !stream->pending) return;
    stream->pending = 0;
    stream->toward = 1;
    if (stream->order == ML_ORDER_ACT) {
        int64_t piece = ml_stream_piece_at(stream, stream->then);
        stream->act_last = piece < 0 ? stream->then : stream->pieces[2 * piece + 1];
    }
}

/* The transition has arrived in its clip. */
static void stream_arrive(ml_stream *stream, const ml_frames *segment) {
    int64_t end = segment->n_frames - 1;
    stream_place place = ml_stream_meeting(stream->table, stream->then, segment->heading[end],
                                           segment->root + 3 * end);
    stream->turn = place.turn;
    stream->x = place.x;
    stream->z = place.z;
    stream->row = stream->then;
    stream->in_transition = stream->is_flawed = stream->is_continuing = 0;
    if (!stream->toward) return;
    stream->toward = 0;
    stream->reached = STREAM_REACHED;
}

/* Think, for a step: one piece, two where what is to come leads nowhere yet, or, where the next frame
   would be no other while the body travels, until there is one. */
static ml_status stream_think(ml_stream *stream, stream_pieces *work) {
    ml_status status = ML_OK;
    for (int n = 0; n < STREAM_MOST && !status && stream->leave_in != 0; n++) {
        if (!ml_stream_has_thoughts(stream, work)) break;
        stream_time time = ml_stream_when(stream, work);
        int must = time.latest <= 0 && ml_stream_travels(stream, &work->played.frames);
        int more = n < STREAM_TROUBLED && stream->continues && time.window < time.soonest;
        if (n && !must && !more) break;
        status = ml_stream_think_once(stream, work);
    }
    if (!status && stream->leave_in == 0) stream_leave(stream, work);
    return status;
}

ml_status ml_stream_think(ml_stream *stream, int64_t budget) {
    stream_pieces work;
    ml_status status = stream_open(stream, &work);
    for (int64_t n = 0; n < budget && !status && stream->n_played && stream->leave_in != 0; n++) {
        if (!ml_stream_has_thoughts(stream, &work)) break;
        status = ml_stream_think_once(stream, &work);
    }
    return status;
}

/* Steps that were thought about come nearer, and orders get impatient. */
static void stream_pass(ml_stream *stream, int moved) {
    stream->since += moved;
    if (stream->leave_in > 0) stream->leave_in--;
    if (stream->planned_in > 0) stream->planned_in--;
    if (stream->pause > 0) stream->pause--;
    if (stream->again > 0) stream->again--;
    if (stream->pending || stream->toward) stream->waited++;
    if (stream->order == ML_ORDER_ACT && stream->reached == STREAM_REACHED &&
        !stream->in_transition && stream->row >= stream->act_last)
        stream->reached = STREAM_ACTED;
}

ml_status ml_stream_step(ml_stream *stream, double *root, double *quats, uint8_t *planted) {
    const ml_table *table = stream->table;
    stream_pieces work;
    int moved = 1;
    ml_status status = stream_open(stream, &work);
    if (!status && stream->n_played) status = stream_think(stream, &work);
    if (status) return status;
    if (stream->in_transition) {
        status = stream_show(stream, &work, &work.segment, stream->at, root, quats, planted);
        stream->at++;
        if (stream->at == table->length) stream_arrive(stream, &work.segment.frames);
    } else {
        int64_t row = stream->start;
        if (stream->row >= 0) {
            int64_t last = ml_stream_clip_end(table, stream->row) - 1;
            row = stream->row + 1 < last ? stream->row + 1 : last;
        }
        moved = row != stream->row;
        stream->row = row;
        stream_place place = {stream->turn, stream->x, stream->z};
        ml_stream_captured(table, row, 1, place, &work.planned, 0);
        status = stream_show(stream, &work, &work.planned, 0, root, quats, planted);
    }
    if (!status) stream_pass(stream, moved);
    return status;
}

int64_t ml_stream_now(const ml_stream *stream) {
    if (stream->in_transition) return stream->then;
    return stream->row < 0 ? stream->start : stream->row;
}

/* Whether the captured frames behind the last pose carry the order's label, by half of their weight. */
static int stream_shows_label(const ml_stream *stream) {
    int64_t rows[ML_MOST_SHARES];
    double weights[ML_MOST_SHARES], share = 0.0;
    uint8_t changed;
    int64_t n = ml_stream_made_of(stream, rows, weights, &changed);
    for (int64_t i = 0; i < n; i++) {
        int carries = 0;
        for (int64_t k = 0; k < stream->n_pieces && !carries; k++)
            carries = stream->pieces[2 * k] <= rows[i] && rows[i] <= stream->pieces[2 * k + 1];
        if (carries) share += weights[i];
    }
    return share >= 0.5;
}

int32_t ml_stream_doing(const ml_stream *stream) {
    if (stream->in_transition && stream->is_flawed && stream->is_continuing)
        return ML_STREAM_CONTINUING_BADLY;
    if (stream->order == ML_ORDER_NONE) return ML_STREAM_PLAYING;
    if (stream->reached == STREAM_NOT_REACHED) return ML_STREAM_GOING;
    if (stream->order == ML_ORDER_HOLD)
        return stream_shows_label(stream) ? ML_STREAM_IN : ML_STREAM_GOING;
    return stream->order == ML_ORDER_ACT && stream->reached == STREAM_REACHED ? ML_STREAM_IN
                                                                              : ML_STREAM_ARRIVED;
}

uint8_t ml_stream_in_transition(const ml_stream *stream) { return stream->in_transition; }

uint8_t ml_stream_is_flawed(const ml_stream *stream) {
    return stream->in_transition && stream->is_flawed;
}

int64_t ml_stream_frames_left(const ml_stream *stream) {
    return stream->in_transition ? stream->table->length - stream->at : 0;
}
