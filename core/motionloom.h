/* motionloom: kernels for making new human motion out of captured motion.

   C11, no dependency but the C library, no global state. Callers own all memory: functions write
   into buffers that they are given, and allocate nothing.

   Conventions
   - Metres, seconds, radians. Right-handed, +Y up.
   - Quaternions are unit, (w, x, y, z), and turn vectors actively; a child's rotation in the world
     is that of its parent times its own.
   - Arrays are dense and in C order. The comment of every function states the shape of every
     array by the names of its other arguments, as `a: (n, 4)`; the Python binding checks them.
   - Flags are uint8_t, 0 or 1.
   - The same input gives the same bits on every platform (compile without contraction of products
     and sums, and without fast-math; see core/build.py). */

#ifndef MOTIONLOOM_H
#define MOTIONLOOM_H

#include <stdint.h>

#if defined(_WIN32)
#define ML_API __declspec(dllexport)
#else
#define ML_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Why a function did nothing, or not all. */
typedef enum {
    ML_OK = 0,
    ML_BAD_SIZE = 1 /* a size is negative, or sizes do not fit together */
} ml_status;

/* 1 where the library for processors with AVX2 runs, which is quicker and gives the same bits. */
ML_API int32_t ml_processor_has_avx2(void);

/* ---- Elementary functions, element by element -------------------------------------------------
   The same bits on every platform, which those of the C library are not.
   x, y, out: (n) */

ML_API void ml_sin_of(int64_t n, const double *x, double *out);
ML_API void ml_cos_of(int64_t n, const double *x, double *out);
ML_API void ml_atan2_of(int64_t n, const double *y, const double *x, double *out);
ML_API void ml_acos_of(int64_t n, const double *x, double *out);
ML_API void ml_asin_of(int64_t n, const double *x, double *out);
ML_API void ml_exp_of(int64_t n, const double *x, double *out);
ML_API void ml_log_of(int64_t n, const double *x, double *out);
ML_API void ml_log1p_of(int64_t n, const double *x, double *out);
ML_API void ml_tanh_of(int64_t n, const double *x, double *out);

/* ---- Quaternions ----------------------------------------------------------------------------*/

/* Products a b: turn by b first, then by a.
   a, b, out: (n, 4) */
ML_API void ml_quaternion_multiply(int64_t n, const double *a, const double *b, double *out);

/* Vectors turned by quaternions.
   q: (n, 4)  v, out: (n, 3) */
ML_API void ml_quaternion_rotate(int64_t n, const double *q, const double *v, double *out);

/* Angles of some joints from each frame to the next.
   q: (n_frames, n_joints, 4)  joints: (n_chosen)  out: (n_frames - 1, n_chosen) */
ML_API ml_status ml_quaternion_turns(int64_t n_frames, int64_t n_joints, const double *q,
                                     int64_t n_chosen, const int64_t *joints, double *out);

/* Largest error of a squared length; `flips` becomes 1 where any sign flips in time.
   q: (n_frames, n_joints, 4)  flips: (1) */
ML_API double ml_quaternion_check(int64_t n_frames, int64_t n_joints, const double *q,
                                  uint8_t *flips);

/* Quaternions of Euler angles, in the order of the axes (0, 1, 2 for X, Y, Z): Z X Y is Rz Rx Ry.
   angles: (n, n_axes)  axes: (n_axes)  out: (n, 4) */
ML_API void ml_quaternion_from_euler(int64_t n, int64_t n_axes, const double *angles,
                                     const int64_t *axes, double *out);

/* ---- Kinematics -------------------------------------------------------------------------------*/

/* World positions and rotations of every joint. Parents come before their children, -1 for the
   root. Joints lie at the offsets of frame 0 in their parents, or move where there is one set of
   offsets per frame.
   parents: (n_joints)  offsets: (n_offsets, n_joints, 3)  roots: (n_frames, 3)
   local: (n_frames, n_joints, 4)  positions: (n_frames, n_joints, 3)
   world: (n_frames, n_joints, 4) */
ML_API ml_status ml_kinematics_forward(int64_t n_frames, int64_t n_joints, const int64_t *parents,
                                       int64_t n_offsets, const double *offsets,
                                       const double *roots, const double *local,
                                       double *positions, double *world);

/* ---- Limbs ------------------------------------------------------------------------------------*/

/* World turns of the two bones of a limb that bring its end to the target, about its own plane, or
   about the hinge where it is straight. `straight` metres are kept to full stretch.
   top, middle, end, target, hinge: (n, 3)  q_upper, q_lower: (n, 4)
   new_middle, new_end: (n, 3)  miss: (n) */
ML_API void ml_limb_solve(int64_t n, const double *top, const double *middle, const double *end,
                          const double *target, const double *hinge, double straight,
                          double *q_upper, double *q_lower, double *new_middle, double *new_end,
                          double *miss);

/* As ml_limb_solve, of a leg whose knee stays on the side of its pole and eases into full stretch
   over the part `soft` of its length.
   top, middle, end, target, pole: (n, 3)  q_upper, q_lower: (n, 4)
   new_middle, new_end: (n, 3)  miss: (n) */
ML_API void ml_leg_solve(int64_t n, const double *top, const double *middle, const double *end,
                         const double *target, const double *pole, double soft, double *q_upper,
                         double *q_lower, double *new_middle, double *new_end, double *miss);

/* ---- Numbers and text of motion files ---------------------------------------------------------*/

/* ---- Registration -----------------------------------------------------------------------------*/

/* ---- Blending ---------------------------------------------------------------------------------*/

/* ---- Foot plants and their evidence -----------------------------------------------------------*/

/* ---- Quality checks ---------------------------------------------------------------------------*/

/* ---- Clean-up ---------------------------------------------------------------------------------*/

/* ---- Likeness of windows ----------------------------------------------------------------------*/

/* ---- Making table transitions -----------------------------------------------------------------*/

/* ---- Scoring and searching --------------------------------------------------------------------*/

/* Frames of a collection as terms of windows are read from them. Clips begin at `starts`, the last
   of which is the number of rows. Segment s of the body is made of `parts` of `joints`, from
   firsts[s] to firsts[s + 1] - 1.
   heading: (n_rows)  ground: (n_rows, 2)  body: (n_rows, n_joints, 3)  points: (n_rows, 4, 3)
   starts: (n_clips + 1)  plant_ids: (n_rows, 2)  plant_places, plant_ahead: (n_plants, 2)
   firsts: (17)  joints, parts: (n_parts)  masses: (16) */
typedef struct {
    int64_t n_rows, n_joints, n_clips, n_plants, n_parts;
    const double *heading, *ground;
    const float *body, *points;
    const int64_t *starts;
    const int32_t *plant_ids;
    const double *plant_places, *plant_ahead;
    const int64_t *firsts, *joints;
    const float *parts, *masses;
} ml_term_source;

/* Where terms of windows are written to, and memory for it. A window has `length` frames, and
   `pad` more on either side; at most n_plants plants of a foot.
   rows: (n_windows, 17, n_padded)  posture: (n_windows, n_padded, 48)
   anchors: (n_windows, 4, n_padded)  spans, ahead: (n_windows, 2, n_plants, 2)
   counts, reach: (n_windows, 2)  turns: (2, n_padded) */
typedef struct {
    int64_t n_windows, n_padded, n_plants, length, pad;
    double fps;
    float *rows, *posture, *anchors;
    int32_t *spans;
    float *ahead;
    int32_t *counts, *reach;
    double *turns;
} ml_term_slots;

/* Terms of windows, and what judging their blends needs to know: taps of the local cubic behind
   accelerations (value, first and second derivative), weights of 1 to 4 windows, the sole (heel
   behind the ball, tip before it, half the breadth, stature), parts of body mass; frames that a
   foot carries before and after its plant, and the height under which a ball is low.
   rows: (n_windows, 17, n_padded)  posture: (n_windows, n_padded, 48)
   anchors: (n_windows, 4, n_padded)  spans, ahead: (n_windows, 2, n_plants, 2)
   counts, reach: (n_windows, 2)  taps: (3, n_taps)  weights: (4, 4, n_padded)  sole: (4)
   masses: (16) */
typedef struct {
    int64_t n_windows, n_padded, n_plants, n_taps, length, pad, roll;
    float fps, low;
    const float *rows, *posture, *anchors;
    const int32_t *spans;
    const float *ahead;
    const int32_t *counts, *reach;
    const float *taps, *weights, *sole, *masses;
} ml_terms;

/* Memory to judge one blend at a time in.
   rows: (17, n_padded)  posture: (n_padded, 48)  path: (35, n_padded)  plants: (4 * n_plants, 5)
   spans: (4 * n_plants, 3)  order: (4 * n_plants)  chosen: (2, 4 * n_plants, 4)
   labels: (2, length) */
typedef struct {
    int64_t n_padded, n_plants, length;
    float *rows, *posture, *path, *plants;
    int32_t *spans, *order;
    float *chosen;
    int16_t *labels;
} ml_scratch;

/* A ranking: weights of columns and of their logarithms; whether no stage can make a blend
   cheaper, and whether the spread counts and nothing can make up for it. `best` receives what is
   measured of the best blend, `rows` and `posture` what source and target add to blends of three
   and of four windows.
   linear, log, best: (19)  rows: (2, 17, n_padded)  posture: (2, n_padded, 48) */
typedef struct {
    int64_t n_padded;
    uint8_t prunes, bounded;
    const double *linear, *log;
    float *rows, *posture, *best;
} ml_weighing;

/* Sums that many blends of a pair share: of source and target, and of these and one more; least
   costs of up to `most` blends, their groups in order, and where a window is among the
   intermediaries, -1 for nowhere.
   pair_rows, third_rows: (17, n_padded)  pair_posture, third_posture: (n_padded, 48)
   bounds, least, order: (most)  groups: (most + 1)  places: (n_windows) */
typedef struct {
    int64_t n_windows, n_padded, most;
    float *pair_rows, *pair_posture, *third_rows, *third_posture, *bounds, *least;
    int32_t *groups, *order;
    const int32_t *places;
} ml_pair_sums;

/* Squared spreads, square metres, that two windows of a blend make in their places: source and
   target of three-way and of four-way blends; source, or target, and intermediary of three ways,
   the first of four, the second of four; first and second intermediary of four-way blends.
   ends: (2, n_sources, n_targets)  sources: (3, n_sources, n_between)
   targets: (3, n_targets, n_between)  middle: (n_between, n_between) */
typedef struct {
    int64_t n_sources, n_targets, n_between;
    const float *ends, *sources, *targets, *middle;
} ml_spreads;

/* Write the terms of the window that starts at `row` into a slot. */
ML_API ml_status ml_window_terms(const ml_term_source *source, const ml_term_slots *out,
                                 int64_t row, int64_t slot);

/* What is measured of blends: windows of each, source first, target last, then -1.
   recipes: (n, 4)  out: (n, 19) */
ML_API ml_status ml_recipe_score(const ml_terms *terms, const ml_scratch *scratch, int64_t n,
                                 const int32_t *recipes, float *out);

/* Number and cost of the cheapest of recipes from one source, the first of equals; -1 where all
   cost nan. The same one that judging all of them in full finds.
   recipes: (n, 4)  number, cost: (1) */
ML_API ml_status ml_recipe_best(const ml_terms *terms, const ml_scratch *scratch,
                                const ml_weighing *weighing, int64_t n, const int32_t *recipes,
                                int64_t *number, double *cost);

/* Judge every blend from one window to another and keep the cheapest, rising. Intermediaries of
   blends of two, three and four windows are 0xffff where there are fewer; those with the same
   first one follow each other. Places are those of source and target in `spreads`, which bound
   the cost unless there are none.
   linear, log: (19)  two: (n_two, 2)  three: (n_three, 2)  four: (n_four, 2)  costs: (keep)
   recipes: (keep, 4) */
ML_API ml_status ml_pair_search(const ml_terms *terms, const ml_scratch *scratch,
                                const ml_pair_sums *sums, const ml_spreads *spreads,
                                const float *linear, const float *log, uint8_t prunes,
                                int64_t source, int64_t target, int64_t source_place,
                                int64_t target_place, int64_t n_two, const uint16_t *two,
                                int64_t n_three, const uint16_t *three, int64_t n_four,
                                const uint16_t *four, int64_t keep, float *costs,
                                uint16_t *recipes);

/* Squared spreads that each of some windows makes with each of others, by their weights.
   some: (n_some)  others: (n_others)  u, v: (terms.n_padded)  out: (n_some, n_others) */
ML_API ml_status ml_spread_between(const ml_terms *terms, int64_t n_some, const int64_t *some,
                                   int64_t n_others, const int64_t *others, const float *u,
                                   const float *v, float *out);

/* Corners of soles from ball (x, z) and direction (x, z) of plants.
   plants: (n, 4)  sole: (4)  out: (n, 4, 2) */
ML_API void ml_sole_corners(int64_t n, const float *plants, const float *sole, float *out);

/* Corners of the convex hull of points, anticlockwise from the lowest x; how many. Points come out
   sorted. Points in one line give its two ends, equal points one.
   points: (n, 2)  corners: (n + 1, 2) */
ML_API int64_t ml_hull_find(int64_t n, float *points, float *corners);

/* Distances of points from a convex polygon, 0 inside. One corner is a point, two are a segment.
   corners: (n_corners, 2)  x, z, out: (n) */
ML_API void ml_hull_distance(int64_t n_corners, const float *corners, int64_t n, const float *x,
                             const float *z, float *out);

/* Hulls of the soles that stand, and their numbers of corners.
   soles: (n, 2, 4, 2)  stands: (n, 2)  corners: (n, 10, 2)  counts: (n) */
ML_API void ml_hull_of_feet(int64_t n, const float *soles, const uint8_t *stands, float *corners,
                            int64_t *counts);

/* Distances of points from hulls, one each.
   points: (n, 2)  corners: (n, 10, 2)  counts: (n)  out: (n) */
ML_API ml_status ml_hull_misses(int64_t n, const float *points, const float *corners,
                                const int64_t *counts, double *out);

/* ---- Table files and the run time -------------------------------------------------------------*/

/* ---- Rivals -----------------------------------------------------------------------------------*/

/* ---- The studio's pictures --------------------------------------------------------------------*/

#ifdef __cplusplus
}
#endif

#endif
