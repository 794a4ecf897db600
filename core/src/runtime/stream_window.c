/* Frames that a live character would play: seen from its body, and blended into captured windows. */

#include "stream_window.h"

#include <string.h>

void ml_planned_lay_out(const ml_table *table, int64_t remembered, ml_memory *memory,
                        ml_planned_pieces *pieces) {
    int64_t length = table->length, joints = table->rows->n_joints;
    int64_t most = remembered > length ? remembered : length, rows = ML_MOST_WAYS * length;
    rows = rows > most ? rows : most;
    pieces->most = most;
    pieces->heading = ML_TAKE(memory, double, rows);
    pieces->ground = ML_TAKE(memory, double, 2 * rows);
    pieces->root = ML_TAKE(memory, double, 3 * most);
    pieces->quats = ML_TAKE(memory, double, 4 * joints * most);
    pieces->positions = ML_TAKE(memory, double, 3 * joints * most);
    pieces->world = ML_TAKE(memory, double, 4 * joints * most);
    pieces->points = ML_TAKE(memory, double, 12 * most);
    pieces->row_quats = ML_TAKE(memory, float, 4 * joints * rows);
    pieces->row_body = ML_TAKE(memory, float, 3 * joints * rows);
    pieces->row_points = ML_TAKE(memory, float, 12 * rows);
    pieces->row_planted = ML_TAKE(memory, uint8_t, 4 * rows);
    pieces->at = ML_TAKE(memory, int64_t, ML_MOST_WAYS * length);
    pieces->held = ML_TAKE(memory, int64_t, 2 * length);
    pieces->synthesis = ML_TAKE(memory, double, (7 * joints + ML_TABLE_SYNTHESIS) * length);
}

/* World points of a frame as its body sees them: over the origin, with heading 0. */
static void planned_seen(int64_t n, const double *points, const double *ground, double c, double s,
                         float *out) {
    for (int64_t k = 0; k < 3 * n; k += 3) {
        double x = points[k] - ground[0], z = points[k + 2] - ground[1];
        out[k] = (float)(c * x - s * z);
        out[k + 1] = (float)points[k + 1];
        out[k + 2] = (float)(s * x + c * z);
    }
}

ml_status ml_planned_see(const ml_table *table, ml_planned_pieces *own, const ml_frames *frames,
                         int64_t first, int64_t n) {
    const ml_leg_rig *rig = table->rig;
    int64_t joints = rig->n_joints, wide = 4 * joints;
    if (n < 1 || n > own->most || first < 0 || frames->n_joints != joints) return ML_BAD_SIZE;
    memcpy(own->heading, frames->heading + first, sizeof(double) * (size_t)n);
    memcpy(own->row_planted, frames->planted + 4 * first, (size_t)(4 * n));
    ml_status status =
        ml_chain_pose(n, joints, rig->parents, rig->offsets, joints, NULL, frames->root + 3 * first,
                      frames->quats + wide * first, own->positions, own->world);
    if (!status)
        status = ml_chain_soles(n, joints, rig->legs, rig->soles, own->positions, own->world,
                                own->points);
    if (status) return status;
    memcpy(own->quats, frames->quats + wide * first, sizeof(double) * (size_t)(wide * n));
    for (int64_t t = 0; t < n; t++) {
        const double *root = frames->root + 3 * (first + t);
        double *ground = own->ground + 2 * t, *q = own->quats + wide * t, c, s;
        double back[4] = {1.0, 0.0, 0.0, 0.0}, turned[4];
        ground[0] = root[0];
        ground[1] = root[2];
        ml_sincos(-0.5 * own->heading[t], &back[2], &back[0]);
        ml_times(back, q, turned);
        memcpy(q, turned, sizeof turned);
        if (t) ml_frames_same_signs(joints, q - wide, q);
        for (int64_t k = 0; k < wide; k++) own->row_quats[wide * t + k] = (float)q[k];
        ml_sincos(own->heading[t], &s, &c);
        planned_seen(joints, own->positions + 3 * joints * t, ground, c, s,
                     own->row_body + 3 * joints * t);
        planned_seen(4, own->points + 12 * t, ground, c, s, own->row_points + 12 * t);
    }
    return ML_OK;
}

ml_status ml_planned_context(const ml_table *table, ml_planned_pieces *own, const ml_frames *frames,
                             int64_t first, int64_t n, float *out) {
    const ml_context_frames *seen = table->seen;
    const int64_t starts[2] = {0, n}, last = n - 1;
    ml_status status = ml_planned_see(table, own, frames, first, n);
    if (status) return status;
    return ml_window_contexts(1, n, seen->n_joints, starts, own->heading, own->ground,
                              own->row_body, seen->n_compared, seen->joints, seen->reach, 1, &last,
                              3, seen->before, out);
}

ml_status ml_planned_blend(const ml_table *table, ml_planned_pieces *own, int64_t n_windows,
                           const int64_t *windows, uint8_t feet, ml_frames *out, double *errors) {
    const ml_rows *rows = table->rows;
    int64_t length = table->length, joints = rows->n_joints, n_ways = 1 + n_windows;
    double speed = 0.0;
    size_t n = (size_t)length;
    if (n_windows < 1 || n_ways > ML_MOST_WAYS || out->most < length || out->n_joints != joints)
        return ML_BAD_SIZE;
    for (int64_t i = 0; i < n_windows; i++) {
        int64_t row = windows[i], to = length * (1 + i);
        if (!ml_table_has_window(table, row)) return ML_NOWHERE;
        speed = ml_max(speed, table->speeds[ml_table_clip_at(table, row)]);
        memcpy(own->heading + to, rows->heading + row, sizeof(double) * n);
        memcpy(own->ground + 2 * to, rows->ground + 2 * row, 2 * sizeof(double) * n);
        memcpy(own->row_quats + 4 * joints * to, rows->quats + 4 * joints * row,
               sizeof(float) * (size_t)(4 * joints) * n);
        memcpy(own->row_body + 3 * joints * to, rows->body + 3 * joints * row,
               sizeof(float) * (size_t)(3 * joints) * n);
        memcpy(own->row_points + 12 * to, rows->points + 12 * row, 12 * sizeof(float) * n);
        memcpy(own->row_planted + 4 * to, rows->planted + 4 * row, 4 * n);
    }
    for (int64_t t = 0; t < length; t++)
        for (int64_t i = 0; i < n_ways; i++) own->at[n_ways * t + i] = length * i + t;
    ml_rows all = {n_ways * length, joints,        own->heading,    own->ground,
                   own->row_quats,  own->row_body, own->row_points, own->row_planted};
    out->n_frames = length;
    const double *weights = table->weights + ML_MOST_WAYS * length * (n_ways - 1);
    ml_blend blend = {&all, length, n_ways, own->at, weights, table->fps, speed};
    ml_synthesis made = ml_table_made(out, own->synthesis, own->held, errors);
    return ml_synthesis_make(&blend, table->rig, feet, &made);
}
