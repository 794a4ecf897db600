/* What a game calls: rows by clips and frames, names, transitions, and live characters, in memory of
   the caller's. */

#include <string.h>

#include "planned.h"
#include "table.h"

/* Recipes of the table that are judged for a transition. */
#define PLAYER_RESCORED 32

int64_t ml_table_row(const ml_table *table, int64_t clip, int64_t frame) {
    if (clip < 0 || clip >= table->n_clips || frame < 0) return -1;
    return frame < table->starts[clip + 1] - table->starts[clip] ? table->starts[clip] + frame : -1;
}

/* The number of a name among `count`, from name `first` on. */
static int64_t player_find(const ml_table *table, int64_t first, int64_t count, int64_t n_name,
                           const char *name) {
    for (int64_t k = 0; k < count && first + k < table->n_names; k++) {
        const char *known = table->names + table->name_at[first + k];
        if ((int64_t)strlen(known) == n_name && !memcmp(known, name, (size_t)n_name)) return k;
    }
    return -1;
}

int64_t ml_table_find_joint(const ml_table *table, int64_t n_name, const char *name) {
    return player_find(table, 0, table->rows->n_joints, n_name, name);
}

int64_t ml_table_find_clip(const ml_table *table, int64_t n_name, const char *name) {
    return player_find(table, table->rows->n_joints, table->n_clips, n_name, name);
}

int64_t ml_table_find_label(const ml_table *table, int64_t n_name, const char *name) {
    int64_t first = table->rows->n_joints + table->n_clips;
    return player_find(table, first, table->n_labels, n_name, name);
}

/* Name k of those from `first` on, or nothing. */
static const char *player_name(const ml_table *table, int64_t first, int64_t count, int64_t k) {
    if (k < 0 || k >= count || first + k >= table->n_names) return "";
    return table->names + table->name_at[first + k];
}

const char *ml_table_joint_name(const ml_table *table, int64_t joint) {
    return player_name(table, 0, table->rows->n_joints, joint);
}

const char *ml_table_clip_name(const ml_table *table, int64_t clip) {
    return player_name(table, table->rows->n_joints, table->n_clips, clip);
}

const char *ml_table_label_name(const ml_table *table, int64_t label) {
    return player_name(table, table->rows->n_joints + table->n_clips, table->n_labels, label);
}

/* First row of the window that starts at a row, or ends there; near a clip's end (or start) the
   clip's last (first) one. */
static int64_t player_window(const ml_table *table, int64_t row, int leaving) {
    int64_t clip = ml_table_clip_at(table, row);
    if (clip < 0) return -1;
    int64_t first = table->starts[clip], last = table->starts[clip + 1] - table->length;
    if (last < first) return -1;
    if (leaving) return row < last ? row : last;
    return row - table->length + 1 > first ? row - table->length + 1 : first;
}

static ml_status player_make(const ml_table *table, int64_t source, int64_t n_targets,
                             const int64_t *targets, ml_frames *out) {
    ml_table_pieces work;
    int64_t number, n_found;
    uint8_t feet;
    double errors[2];
    if (table->n_work < ml_table_work(table)) return ML_BAD_SIZE;
    ml_table_lay_out(table, table->work, &work);
    ml_status bad =
        ml_table_choose(table, source, n_targets, targets, PLAYER_RESCORED, &work.choice);
    if (bad) return bad;
    return ml_table_best(table, &work.choice, out, &number, &feet, errors, work.found, &n_found);
}

ml_status ml_table_transition(const ml_table *table, int64_t from_row, int64_t to_row,
                              ml_frames *out) {
    int64_t source = player_window(table, from_row, 1), target = player_window(table, to_row, 0);
    if (source < 0 || target < 0) return ML_NOWHERE;
    return player_make(table, source, 1, &target, out);
}

ml_status ml_table_transition_to_label(const ml_table *table, int64_t from_row, int64_t label,
                                       ml_frames *out) {
    int64_t source = player_window(table, from_row, 1), targets[TABLE_TARGETS], n_targets;
    if (source < 0 || label < 0 || label >= table->n_labels) return ML_NOWHERE;
    const int64_t *spokes = table->spokes + table->n_ends * label;
    ml_status bad = ml_table_targets(table, source, spokes, targets, &n_targets);
    return bad ? bad : player_make(table, source, n_targets, targets, out);
}

static int64_t player_lay_out(const ml_table *table, uint8_t *block, ml_stream *stream) {
    ml_memory memory = {block, 0};
    stream->clips = ML_TAKE(&memory, int64_t, ML_MOST_WAYS);
    stream->spokes = ML_TAKE(&memory, int64_t, table->n_ends);
    stream->n_work = ml_stream_work(table);
    stream->work = ML_TAKE(&memory, uint8_t, stream->n_work);
    return memory.used;
}

int64_t ml_stream_memory(const ml_table *table) {
    ml_stream stream;
    return player_lay_out(table, NULL, &stream);
}

ml_status ml_stream_open(const ml_table *table, int64_t row, int64_t n_memory, uint8_t *memory,
                         ml_stream *stream) {
    int64_t clip = ml_table_clip_at(table, row);
    if (clip < 0) return ML_NOWHERE;
    if ((uintptr_t)memory % 16 || n_memory < ml_stream_memory(table)) return ML_BAD_SIZE;
    *stream = (ml_stream){.table = table, .start = row, .row = -1, .n_clips = 1};
    player_lay_out(table, memory, stream);
    stream->clips[0] = clip;
    return ML_OK;
}

ml_status ml_stream_go_to_label(ml_stream *stream, int64_t label) {
    if (label < 0 || label >= stream->table->n_labels) return ML_NOWHERE;
    return ml_stream_go_to_windows(stream, stream->table->spokes + stream->table->n_ends * label);
}
