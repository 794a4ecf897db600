/* A table's windows and clips, and its memory to work in, laid out. */

#ifndef MOTIONLOOM_TABLE_H
#define MOTIONLOOM_TABLE_H

#include "../checks/check.h"
#include "../runtime/memory.h"
#include "../synthesis/rows.h"

/* Seconds of shown frames of a live character that are judged with its next transition. */
#define TABLE_PAST_S 0.6
/* Failures of support and travel at most: three slips, three of travel, four soles, one flight; and
   of contacts that go on from what was shown. */
#define SUPPORT_FOUND 16
#define SUPPORT_CONTACTS CHECK_POINTS

/* Cost of a blend by its measured columns; infinite where it is not a number. */
double ml_recipe_cost(const ml_weighing *weighing, const float *columns);

/* Naturalness of a recipe as ml_natural_logit has it, by the columns that it weighs alone. ids: (4)
   reference: (4) */
ml_status ml_recipe_logit(const ml_terms *terms, const ml_scratch *scratch, const int32_t *ids,
                          const double *reference, double *logit);

/* Naturalness of a recipe, and all its columns where it is at least `least`; else they are not
   complete, and the naturalness is some number below `least`.
   ids: (4)  reference: (4)  columns: (19) */
ml_status ml_recipe_natural(const ml_terms *terms, const ml_scratch *scratch, const int32_t *ids,
                            const double *reference, double least, double *logit, float *columns);

/* Memory to judge support and travel in: of made frames with the clips around them, and of one window
   after the other. */
typedef struct {
    ml_check_series own, clip, planned;
    ml_support own_support, clip_support;
    double *levels, *at, *feet, *travel, *rates, *lows, *ways;
    uint8_t *judged;
} ml_table_support;

/* Pieces of a table's `work`. */
typedef struct {
    float *moments, *search, *squared, *columns;
    int64_t *near, *at, *held, *found_rows;
    int32_t *ids;
    int64_t *rows, *order;
    double *costs;
    double *synthesis, *weights, *steps;
    ml_frames kept; /* of the recipe that fails least so far */
    /* Frames that are judged, and what is measured of them. */
    double *heading, *root, *quats, *positions, *world, *limits, *floors, *hovers;
    double *measuring, *judging;
    uint8_t *planted, *skipped, *pinned, *stands;
    ml_check_series series;
    ml_table_support support;
    ml_choice choice;
    double *found;
} ml_table_pieces;

/* Terms of windows by slots, and memory to judge blends in. */
typedef struct {
    ml_term_slots *slots;
    ml_scratch *scratch;
    ml_weighing *weighing;
} table_terms;

/* Lay them out for n windows; where there is memory, fill in their sizes and nothing else. */
void ml_table_lay_out_terms(ml_memory *memory, int64_t windows, int64_t padded, int64_t plants,
                            int64_t length, table_terms *out);

/* Recipes of one question at most, and a few more that may be judged with them. */
static inline int64_t ml_table_most(const ml_table *table) {
    return ML_TABLE_TARGETS * (table->n_recipes + ML_TABLE_CAPTURED + ML_TABLE_PINNED + 1) +
           ML_TABLE_SPARE;
}

/* Make the window from `row` the one in a slot, if it is not. */
ml_status ml_table_put(const ml_table *table, int64_t slot, int64_t row);

/* Captured windows that start as one window does and end as another; how many.
   rows: (ML_TABLE_CAPTURED) */
ml_status ml_table_find_captured(const ml_table *table, const ml_table_pieces *work, int64_t source,
                                 int64_t target, int64_t *rows, int64_t *count);

/* The windows of a label that are most easily reached from a window, and how many.
   spokes: (table.n_ends)  targets: (ML_TABLE_TARGETS)  n_targets: (1) */
ml_status ml_table_targets(const ml_table *table, int64_t source, const int64_t *spokes,
                           int64_t *targets, int64_t *n_targets);

/* Frames along captured windows pinned between two: the first window is left, the last one is arrived
   at, and the frames follow those between. `feet` as in ml_passage_make, `errors` as in
   ml_synthesis_make.
   windows: (n_ways)  errors: (2) */
ml_status ml_table_make_pinned(const ml_table *table, int64_t n_ways, const int64_t *windows,
                               uint8_t feet, ml_frames *out, double *errors);

/* Limits of several clips together.
   clips: (n)  out: (table.n_limits) */
ml_status ml_table_merge(const ml_table *table, int64_t n, const int64_t *clips, double *out);

/* Frames that are made of a blend, in `out`. */
static inline ml_synthesis ml_table_made(const ml_frames *out, double *scratch, int64_t *held,
                                         double *errors) {
    return (ml_synthesis){.n_frames = out->n_frames,
                          .n_joints = out->n_joints,
                          .scratch = scratch,
                          .held = held,
                          .psi = out->heading,
                          .root = out->root,
                          .quats = out->quats,
                          .planted = out->planted,
                          .errors = errors};
}

/* Lay out a table's work; the bytes that it needs. */
int64_t ml_table_lay_out(const ml_table *table, uint8_t *block, ml_table_pieces *pieces);

/* Which clip a row is in, or -1. */
static inline int64_t ml_table_clip_at(const ml_table *table, int64_t row) {
    int64_t low = 0, high = table->n_clips;
    if (row < 0 || row >= table->rows->n_rows) return -1;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (table->starts[middle] > row) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return low;
}

/* 1 where a window starts at a row. */
static inline int ml_table_has_window(const ml_table *table, int64_t row) {
    int64_t clip = ml_table_clip_at(table, row);
    return clip >= 0 && row + table->length <= table->starts[clip + 1] &&
           table->nearest[row] < table->n_ends;
}

/* Shown frames of a live character that are judged with its next transition. */
static inline int64_t ml_table_past(const ml_table *table) {
    return ml_check_frames(TABLE_PAST_S, table->fps, ML_TABLE_MARGIN);
}

/* Where the limits of a clip have its floors, and how far contacts slide in it. */
static inline int64_t ml_table_floors_at(const ml_table *table) {
    return 3 * table->check_rig->n_checked + table->check_rig->n_carriers + 8;
}

static inline int64_t ml_table_slides_at(const ml_table *table) {
    return ml_table_floors_at(table) + 8;
}

/* Floors of a frame that is made of rows, and how far off free fall the body is in them.
   rows, weights: (16)  floors: (8)  hovers: (1) */
ml_status ml_table_made_of(const ml_table *table, const int64_t *rows, const double *weights,
                           double *floors, double *hovers);

/* Judge frames `first` to `last` of `n` in the pieces against the limits, floors and hovers there. */
ml_status ml_table_judge_frames(const ml_table *table, ml_table_pieces *work, int64_t n,
                                int64_t first, int64_t last, double *found, int64_t *n_found);

/* What support is found by, of `most` frames. */
ml_check_series ml_table_series(ml_memory *memory, int64_t most);

/* The same of one of some frames, as frame t of a series.
   positions: (n_joints, 3)  world: (n_joints, 4) */
ml_status ml_table_measure(const ml_table *table, const ml_frames *frames, int64_t frame,
                           double *positions, double *world, const ml_check_series *out, int64_t t);

/* Frames of a series as those of another from `t` on, or of the same. */
void ml_table_copy_series(const ml_check_series *from, int64_t first, int64_t n,
                          const ml_check_series *to, int64_t t);

void ml_table_lay_out_support(const ml_table *table, ml_memory *memory, ml_table_support *out);

/* What a live character showed, or will show, in frames up to `first`, where made ones begin; the rows
   that those and the made ones are made of, and which of those are more than a captured row.
   What was shown is measured: the first frames of the series, and the contacts that go on at its last.
   contacts: (CHECK_POINTS)  rows: (first, 16)  made: (table.length, 16)  changed: (first) */
typedef struct {
    const ml_frames *frames;
    const ml_check_series *shown;
    const check_contact *contacts;
    int64_t first;
    const int64_t *rows, *made;
    const uint8_t *changed;
} ml_table_planned;

/* Failures of support and travel of made frames, `before` of the frames in the pieces that were judged
   last, added to those that were found. `pinned`: whether the frames go along the windows between the
   first and the last one. `planned`: what goes before, where that is no captured window, or NULL. */
ml_status ml_table_check_support(const ml_table *table, ml_table_pieces *work,
                                 const ml_table_planned *planned, int64_t n_ways,
                                 const int64_t *windows, int pinned, const ml_frames *made,
                                 int64_t before, double *found, int64_t *n_found);

/* How bad failures are, to compare flawed results: each by how far it is over. */
double ml_table_badness(int64_t n_found, const double *found);

#endif
