/* Judging a blend of windows, stage by stage: what the stages share.

   A blend is a weighted sum of its windows' terms: rows (time last) of all that is not posture,
   and postures (time first). Each stage measures some columns; those that nobody asks for are left
   as they are. */

#ifndef MOTIONLOOM_JUDGE_H
#define MOTIONLOOM_JUDGE_H

#include "../kernels.h"

/* Rows of a window's terms. */
enum {
    JUDGE_HEADING = ML_TERM_HEADING,
    JUDGE_STEP = ML_TERM_STEP,
    JUDGE_FEET = ML_TERM_FEET,
    JUDGE_COM = ML_TERM_COM,
    JUDGE_STANDS = ML_TERM_STANDS,
    JUDGE_LIFT = ML_TERM_LIFT,
    JUDGE_POWER = ML_TERM_POWER,
    JUDGE_PACE = ML_TERM_PACE,
    JUDGE_TRAVEL = ML_TERM_TRAVEL,
    JUDGE_ROWS = ML_TERM_ROWS
};
/* Segments of the body, and numbers of a posture: x of all, then y, then z. */
enum { JUDGE_SEGMENTS = ML_SEGMENTS, JUDGE_WIDE = 3 * JUDGE_SEGMENTS };

/* What is measured of a blend; see motionloom/tables/score/columns.py. */
enum {
    JUDGE_FOOT_IN,
    JUDGE_FOOT_WORST_IN,
    JUDGE_PLANTED,
    JUDGE_SLIDE,
    JUDGE_LOW_SLIDE,
    JUDGE_DISAGREEMENT,
    JUDGE_DISAGREEMENT_WEIGHTED,
    JUDGE_ROOT_SPREAD,
    JUDGE_ZMP_MAX,
    JUDGE_ZMP_HIGH,
    JUDGE_ZMP_MEAN,
    JUDGE_SCORED,
    JUDGE_UNSUPPORTED,
    JUDGE_BARE,
    JUDGE_SPREAD,
    JUDGE_SPEED_RATIO,
    JUDGE_PEAK_ACC,
    JUDGE_COM_ACC,
    JUDGE_BALLISTIC,
    JUDGE_COLUMNS
};
#define JUDGE_ALL ((1u << JUDGE_COLUMNS) - 1u)

/* Rows of `path`: turn and place of the body, balls of both feet (x, z), centre of mass and
   momentum in the world, distances from the support; what smoothing leaves of the centre of mass
   (0: place, 2: acceleration) and of momentum; speeds of the balls; a window's plants in the world
   and distances from them. */
enum {
    JUDGE_COS,
    JUDGE_SIN,
    JUDGE_X,
    JUDGE_Z,
    JUDGE_BALLS,
    JUDGE_CX = JUDGE_BALLS + 4,
    JUDGE_CZ,
    JUDGE_HZ,
    JUDGE_HX,
    JUDGE_GAPS,
    JUDGE_OUTSIDE,
    JUDGE_X0,
    JUDGE_Y0,
    JUDGE_Z0,
    JUDGE_X2,
    JUDGE_Y2,
    JUDGE_Z2,
    JUDGE_DZ,
    JUDGE_DX,
    JUDGE_SPEED,
    JUDGE_ANCHOR = JUDGE_SPEED + 2,
    JUDGE_MISS = JUDGE_ANCHOR + 2,
    JUDGE_FOURS, /* eight rows: sums over every fourth segment */
    JUDGE_PATHS = JUDGE_FOURS + 8
};
_Static_assert(JUDGE_COLUMNS == ML_TABLE_COLUMNS, "the header says how many columns there are");
_Static_assert(JUDGE_PATHS == 35, "the header says how large `path` is");

#define JUDGE_TURN_M ((float)ML_ROOT_TURN_M)

/* A blend that is being judged. */
typedef struct {
    const ml_terms *terms;
    const ml_scratch *scratch;
    const int32_t *ids; /* windows: source first, target last */
    int64_t n;          /* how many */
    uint32_t wants;     /* columns to measure, by bits */
    float *columns;     /* (JUDGE_COLUMNS) */
} ml_scored;

/* A sum of up to four windows, with others that are added already in `base`, or NULL. */
typedef struct {
    const float *base;
    int64_t n;
    const float *parts[4];
    const float *weights[4]; /* (n_padded) each */
} ml_mix;

/* How far a blend that is to be the best may go: where its posture costs more than `left`, it need
   not be judged further. */
typedef struct {
    double left, spread_linear, spread_log, peak_linear, peak_log;
} ml_limit;

static inline int64_t judge_least(int64_t a, int64_t b) { return b < a ? b : a; }
static inline int64_t judge_most(int64_t a, int64_t b) { return b > a ? b : a; }

static inline int judge_wants(const ml_scored *blend, int column) {
    return (int)(blend->wants >> column & 1u);
}

static inline float *judge_path(const ml_scored *blend, int row) {
    return blend->scratch->path + row * blend->terms->n_padded;
}

static inline float *judge_row(const ml_scored *blend, int row) {
    return blend->scratch->rows + row * blend->terms->n_padded;
}

static inline const float *judge_window_rows(const ml_terms *terms, int64_t window) {
    return terms->rows + JUDGE_ROWS * terms->n_padded * window;
}

static inline const float *judge_window_posture(const ml_terms *terms, int64_t window) {
    return terms->posture + JUDGE_WIDE * terms->n_padded * window;
}

/* Weights of window `i` in blends of `n`. */
static inline const float *judge_weights(const ml_terms *terms, int64_t n, int64_t i) {
    return terms->weights + (4 * (n - 1) + i) * terms->n_padded;
}

/* Whether terms and scratch fit together. */
int ml_judge_fits(const ml_terms *terms, const ml_scratch *scratch);
/* Whether a window exists and its plants lie within it. */
int ml_judge_has(const ml_terms *terms, int64_t window);
/* Number of windows of a recipe (4), which ends with -1 where it has fewer; 0 where it is none. */
int64_t ml_judge_ways(const ml_terms *terms, const int32_t *ids);

/* All windows of a blend, source and target first: their rows, and their postures. */
ml_mix ml_judge_rows_of(const ml_scored *blend);
ml_mix ml_judge_posture_of(const ml_scored *blend);
/* Rows `first` to `last - 1` of a sum. out: (17, n_padded) */
void ml_judge_mix_rows(int64_t n_padded, const ml_mix *mix, int64_t first, int64_t last,
                       float *out);
/* Frames `begin` to `end - 1` of a sum of postures. out: (n_padded, 48) */
void ml_judge_mix_posture(const ml_mix *mix, int64_t begin, int64_t end, float *out);

/* Points as the body sees them, put into the world: turn and place of the body in n frames, and
   the points' x and z. All: (n) */
void ml_judge_to_world(int64_t n, const float *cos, const float *sin, const float *px,
                       const float *pz, const float *x, const float *z, float *out_x, float *out_z);

/* Rows that the steps of a blend need. */
void ml_judge_mix_steps(const ml_scored *blend, const ml_mix *mix);
/* Columns that feet have without their plants. */
void ml_judge_steps(const ml_scored *blend);
/* Columns of plants, after steps; which are kept is left in the scratch. */
void ml_judge_plants(const ml_scored *blend);
/* Column of the centre of mass, after steps; what balance needs of it. */
void ml_judge_travel(const ml_scored *blend, const ml_mix *rows);
/* Columns of the posture's own motion. 0 where it costs more than the limit, which may be NULL;
   else its frames are all blended. */
int ml_judge_posture(const ml_scored *blend, const ml_mix *rows, const ml_mix *posture,
                     const ml_limit *limit);
/* Columns of balance, after all others. */
void ml_judge_balance(const ml_scored *blend);
/* All columns of a recipe. */
void ml_judge_all(const ml_scored *blend);

#endif
