/* What a game calls: rows by clips and frames, names, poses, transitions, and live characters, in
   memory of the caller's. */

#include <string.h>

#include "../tables/table.h"
#include "frames.h"
#include "stream_window.h"

int64_t ml_table_size(void) { return (int64_t)sizeof(ml_table); }
int64_t ml_stream_size(void) { return (int64_t)sizeof(ml_stream); }
int64_t ml_frames_size(void) { return (int64_t)sizeof(ml_frames); }

double ml_table_fps(const ml_table *table) { return table->fps; }
int64_t ml_table_length(const ml_table *table) { return table->length; }
int64_t ml_table_n_joints(const ml_table *table) { return table->rows->n_joints; }
int64_t ml_table_n_clips(const ml_table *table) { return table->n_clips; }
int64_t ml_table_n_labels(const ml_table *table) { return table->n_labels; }

int64_t ml_table_clip_frames(const ml_table *table, int64_t clip) {
    if (clip < 0 || clip >= table->n_clips) return 0;
    return table->starts[clip + 1] - table->starts[clip];
}

int64_t ml_table_row(const ml_table *table, int64_t clip, int64_t frame) {
    if (frame < 0 || frame >= ml_table_clip_frames(table, clip)) return -1;
    return table->starts[clip] + frame;
}

int64_t ml_table_row_clip(const ml_table *table, int64_t row) {
    return ml_table_clip_at(table, row);
}

int64_t ml_table_row_frame(const ml_table *table, int64_t row) {
    int64_t clip = ml_table_clip_at(table, row);
    return clip < 0 ? -1 : row - table->starts[clip];
}

int64_t ml_table_joint_parent(const ml_table *table, int64_t joint) {
    return joint < 0 || joint >= table->rows->n_joints ? -1 : table->rig->parents[joint];
}

void ml_table_joint_offset(const ml_table *table, int64_t joint, double *offset) {
    int is_there = joint >= 0 && joint < table->rows->n_joints;
    for (int k = 0; k < 3; k++) offset[k] = is_there ? table->rig->offsets[3 * joint + k] : 0.0;
}

ml_status ml_table_pose(const ml_table *table, int64_t row, double *root, double *quats,
                        uint8_t *planted) {
    const ml_rows *rows = table->rows;
    double heading;
    ml_frames out = {1, 1, rows->n_joints, &heading, root, quats, planted};
    if (ml_table_clip_at(table, row) < 0) return ML_NOWHERE;
    ml_frames_captured(rows, row, row, rows->heading[row], rows->ground[2 * row],
                       rows->ground[2 * row + 1], &out, 0);
    return ML_OK;
}

ml_status ml_table_world(const ml_table *table, const double *root, const double *quats,
                         double *positions, double *rotations) {
    int64_t joints = table->rows->n_joints;
    return ml_chain_pose(1, joints, table->rig->parents, table->rig->offsets, joints, NULL, root,
                         quats, positions, rotations);
}

/* The number of a name among `count`, from name `first` on. */
static int64_t player_find(const ml_table *table, int64_t first, int64_t count, int64_t n_name,
                           const char *name) {
    if (n_name < 0) n_name = (int64_t)strlen(name);
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

static int64_t player_lay_out_frames(const ml_table *table, uint8_t *block, ml_frames *frames) {
    ml_memory memory = {block, 0};
    *frames = (ml_frames){.most = table->length, .n_joints = table->rows->n_joints};
    frames->heading = ML_TAKE(&memory, double, frames->most);
    frames->root = ML_TAKE(&memory, double, 3 * frames->most);
    frames->quats = ML_TAKE(&memory, double, 4 * frames->n_joints * frames->most);
    frames->planted = ML_TAKE(&memory, uint8_t, 4 * frames->most);
    return memory.used;
}

int64_t ml_frames_memory(const ml_table *table) {
    ml_frames frames;
    return player_lay_out_frames(table, NULL, &frames);
}

ml_status ml_frames_open(const ml_table *table, int64_t n_memory, uint8_t *memory,
                         ml_frames *frames) {
    if ((uintptr_t)memory % ML_ALIGNED) return ML_UNALIGNED;
    if (n_memory < ml_frames_memory(table)) return ML_BAD_SIZE;
    player_lay_out_frames(table, memory, frames);
    return ML_OK;
}

ml_status ml_frames_pose(const ml_frames *frames, int64_t frame, double *root, double *quats,
                         uint8_t *planted) {
    int64_t wide = 4 * frames->n_joints;
    if (frame < 0 || frame >= frames->n_frames) return ML_NOWHERE;
    memcpy(root, frames->root + 3 * frame, 3 * sizeof(double));
    memcpy(quats, frames->quats + wide * frame, sizeof(double) * (size_t)wide);
    memcpy(planted, frames->planted + 4 * frame, 4);
    return ML_OK;
}

static ml_status player_make(const ml_table *table, int64_t source, int64_t n_targets,
                             const int64_t *targets, ml_frames *out) {
    ml_table_pieces work;
    int64_t number, n_found;
    uint8_t feet;
    double errors[2];
    if (table->n_work < ml_table_work(table)) return ML_BAD_SIZE;
    ml_table_lay_out(table, table->work, &work);
    ml_status status =
        ml_table_choose(table, source, n_targets, targets, ML_RESCORED, &work.choice);
    if (status) return status;
    return ml_table_best(table, &work.choice, 0, out, &number, &feet, errors, work.found, &n_found);
}

ml_status ml_table_transition(const ml_table *table, int64_t from_row, int64_t to_row,
                              ml_frames *out) {
    int64_t source = player_window(table, from_row, 1), target = player_window(table, to_row, 0);
    if (source < 0 || target < 0) return ML_NOWHERE;
    return player_make(table, source, 1, &target, out);
}

ml_status ml_table_transition_to_label(const ml_table *table, int64_t from_row, int64_t label,
                                       ml_frames *out) {
    int64_t source = player_window(table, from_row, 1), targets[ML_TABLE_TARGETS], n_targets;
    if (source < 0 || label < 0 || label >= table->n_labels) return ML_NOWHERE;
    const int64_t *spokes = table->spokes + table->n_ends * label;
    ml_status status = ml_table_targets(table, source, spokes, targets, &n_targets);
    return status ? status : player_make(table, source, n_targets, targets, out);
}

static int64_t player_lay_out(const ml_table *table, uint8_t *block, ml_stream *stream) {
    ml_memory memory = {block, 0};
    stream->clips = ML_TAKE(&memory, int64_t, ML_MOST_WAYS);
    stream->made_clips = ML_TAKE(&memory, int64_t, ML_MOST_WAYS);
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
    if ((uintptr_t)memory % ML_ALIGNED) return ML_UNALIGNED;
    if (n_memory < ml_stream_memory(table)) return ML_BAD_SIZE;
    *stream = (ml_stream){.table = table,
                          .start = row,
                          .row = -1,
                          .n_clips = 1,
                          .leave_in = -1,
                          .planned_in = -1,
                          .patience = ML_STREAM_PATIENCE_S};
    player_lay_out(table, memory, stream);
    stream->clips[0] = clip;
    return ML_OK;
}
