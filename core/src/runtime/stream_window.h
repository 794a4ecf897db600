/* Frames that a live character would play, seen from its body as a collection keeps its rows, and
   blended into captured windows. */

#ifndef MOTIONLOOM_STREAM_WINDOW_H
#define MOTIONLOOM_STREAM_WINDOW_H

#include "../tables/table.h"
#include "memory.h"

/* Memory for planned frames: a window of them and up to three captured ones as rows, and the frames
   of a context. */
typedef struct {
    int64_t most; /* frames that can be seen at once */
    double *heading, *ground, *root, *quats, *positions, *world, *points;
    float *row_quats, *row_body, *row_points;
    uint8_t *row_planted;
    int64_t *at, *held;
    double *synthesis;
} ml_planned_pieces;

void ml_planned_lay_out(const ml_table *table, int64_t remembered, ml_memory *memory,
                        ml_planned_pieces *pieces);

/* See frames `first` to `first + n - 1` from their body, as the first rows of the pieces. */
ml_status ml_planned_see(const ml_table *table, ml_planned_pieces *own, const ml_frames *frames,
                         int64_t first, int64_t n);

/* The context of the last of some frames. out: (index.n_columns) */
ml_status ml_planned_context(const ml_table *table, ml_planned_pieces *own, const ml_frames *frames,
                             int64_t first, int64_t n, float *out);

/* Frames that leave the window that was seen last over captured ones, with its feet held or not.
   windows: (n_windows) */
ml_status ml_planned_blend(const ml_table *table, ml_planned_pieces *own, int64_t n_windows,
                           const int64_t *windows, uint8_t feet, ml_frames *out, double *errors);

#endif
