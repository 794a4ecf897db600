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

/* ---- Likeness of windows ----------------------------------------------------------------------
   A collection is clips end to end, a row a frame, seen from the body: joints about the root over
   the origin at heading 0. Windows are named by their first rows. */

/* Windows as numbers: compared joints at some offsets from their first rows, as the body in the
   frame `centre` sees them, scaled so that the distance of two is a root mean square in metres.
   heading: (n_rows)  ground: (n_rows, 2)  body: (n_rows, n_joints, 3)  rows: (n)
   offsets: (n_offsets)  joints: (n_compared)  out: (n, n_offsets, n_compared, 3) */
ML_API ml_status ml_window_features(int64_t n_rows, int64_t n_joints, const double *heading,
                                    const double *ground, const float *body, int64_t n,
                                    const int64_t *rows, int64_t centre, int64_t n_offsets,
                                    const int64_t *offsets, int64_t n_compared,
                                    const int64_t *joints, float *out);

/* A collection as contexts see it. A velocity counts as the way that it covers in `reach` frames.
   A start looks at the offsets `before`, an end at those `after` it.
   starts: (n_clips + 1)  heading: (n_rows)  ground: (n_rows, 2)  body: (n_rows, n_joints, 3)
   joints: (n_compared)  before, after: (3) */
typedef struct {
    int64_t n_clips, n_rows, n_joints, n_compared;
    double reach;
    const int64_t *starts;
    const double *heading, *ground;
    const float *body;
    const int64_t *joints, *before, *after;
} ml_context_frames;

/* Contexts of rows: the pose at offset 0, and for each other offset the mean velocity between it
   and the row, as far as its clip goes; all seen from the body at the row.
   starts: (n_clips + 1)  heading: (n_rows)  ground: (n_rows, 2)  body: (n_rows, n_joints, 3)
   joints: (n_compared)  rows: (n)  offsets: (n_offsets)  out: (n, n_offsets, n_compared, 3) */
ML_API ml_status ml_window_contexts(int64_t n_clips, int64_t n_rows, int64_t n_joints,
                                    const int64_t *starts, const double *heading,
                                    const double *ground, const float *body, int64_t n_compared,
                                    const int64_t *joints, double reach, int64_t n,
                                    const int64_t *rows, int64_t n_offsets, const int64_t *offsets,
                                    float *out);

/* Codes of contexts, axes (context - mean) / steps to the nearest whole number from -127 to 127.
   A context gets the same code alone and among others.
   moments: (n, n_columns)  mean: (n_columns)  across: (n_columns, n_codes)  steps: (n_codes)
   codes: (n, n_codes) */
ML_API void ml_code_encode(int64_t n, int64_t n_columns, int64_t n_codes, const float *moments,
                           const float *mean, const float *across, const float *steps,
                           int8_t *codes);

/* Nearest centre of every point, and the squared distance from it. What `labels` holds before is a
   guess; of centres equally near the guess stays, else the first is taken.
   points: (n, n_columns)  centres: (n_centres, n_columns)  labels, apart: (n) */
ML_API ml_status ml_centre_assign(int64_t n, int64_t n_columns, int64_t n_centres,
                                  const double *points, const double *centres, int64_t *labels,
                                  double *apart);

/* Every point added to the sum of its group.
   points: (n, n_columns)  labels: (n)  sums: (n_centres, n_columns) */
ML_API ml_status ml_centre_add(int64_t n, int64_t n_columns, int64_t n_centres,
                               const double *points, const int64_t *labels, double *sums);

/* The same of points in single precision.
   points: (n, n_columns)  labels: (n)  sums: (n_centres, n_columns) */
ML_API ml_status ml_centre_add_single(int64_t n, int64_t n_columns, int64_t n_centres,
                                      const float *points, const int64_t *labels, double *sums);

/* Of the centres whose product with a point is within its error of the largest, the nearest; equal
   ones: the first. `near` is the points about the centres' middle, `widest` the farthest centre
   from there, `slack` the error of a product in parts of what it is made of. A point that is no
   number is infinitely far from the first.
   points, near: (n, n_columns)  centres: (n_centres, n_columns)  product: (n, n_centres)
   number, squared: (n) */
ML_API void ml_centre_decide(int64_t n, int64_t n_columns, int64_t n_centres, const float *points,
                             const float *near, const float *centres, const float *product,
                             double widest, double slack, int64_t *number, double *squared);

/* Every window of a collection by its context: codes of what leads up to each row, of what follows
   it, and of the way of the window that starts there; and how contexts become codes.
   starts, ends: (n_rows, n_codes)  ways: (n_rows, 3)
   start_mean, end_mean: (n_columns)  start_axes, end_axes: (n_codes, n_columns)
   start_steps, end_steps: (n_codes)  way_step: (1) */
typedef struct {
    int64_t n_rows, n_codes, n_columns, length;
    const int8_t *starts, *ends;
    const int16_t *ways;
    const float *start_mean, *start_axes, *start_steps;
    const float *end_mean, *end_axes, *end_steps;
    const float *way_step;
} ml_window_index;

/* Windows in lists of like ones, and lists in groups, by 16 codes of their starts, of their ends,
   and by their ways, whichever are 1; `heads` are the first 8 codes of each.
   groups: (n_groups, width)  group_first: (n_groups + 1)
   centres: (n_lists, width)  list_first: (n_lists + 1)
   members: (n_members)  heads: (n_members, n_head) */
typedef struct {
    int64_t n_groups, n_lists, n_members, width, n_head;
    int32_t by_start, by_end, by_way;
    const float *groups;
    const int64_t *group_first;
    const float *centres;
    const int64_t *list_first;
    const uint32_t *members;
    const int8_t *heads;
} ml_window_lists;

/* What is asked for, in the units of the index: steps of the start, of the end, what a squared step
   of each weighs, then steps and weights of the way. What is NULL is not asked for: its weights are
   0.
   start, end: (index.n_columns) or NULL  way: (3) or NULL  question: (4 * index.n_codes + 6) */
ML_API void ml_neighbour_ask(const ml_window_index *index, const float *start, const float *end,
                             const float *way, float *question);

/* The windows nearest to what is asked for, the nearest first, and how many there are; squared
   distances. The nearest `most_groups` groups and `most_lists` lists are looked into until `enough`
   windows were seen; all lists are where those hold fewer than are wanted. Rows of two windows
   differ by `apart`; no window has a frame in `spans`, first and last rows.
   start, end: (index.n_columns) or NULL  way: (3) or NULL  spans: (n_spans, 2)
   near: (most_groups + most_lists)
   scratch: (4 * index.n_codes + 6 + 2 * lists.width + 2 * lists.n_head + most_groups + most_lists)
   rows, squared: (count)  n_found: (1) */
ML_API ml_status ml_neighbour_search(const ml_window_index *index, const ml_window_lists *lists,
                                     const float *start, const float *end, const float *way,
                                     int64_t apart, int64_t n_spans, const int64_t *spans,
                                     int64_t most_groups, int64_t most_lists, int64_t enough,
                                     int64_t *near, float *scratch, int64_t count, int64_t *rows,
                                     float *squared, int64_t *n_found);

/* The same for windows that start as the one at row `first` does and end as the one that ends at
   row `last`, wherever they lead.
   moments: (2, index.n_columns)  near: (most_groups + most_lists)
   scratch: (4 * index.n_codes + 6 + 2 * lists.width + 2 * lists.n_head + most_groups + most_lists)
   rows, squared: (count)  n_found: (1) */
ML_API ml_status ml_neighbour_between(const ml_window_index *index, const ml_window_lists *lists,
                                      const ml_context_frames *seen, int64_t first, int64_t last,
                                      int64_t apart, int64_t most_groups, int64_t most_lists,
                                      int64_t enough, float *moments, int64_t *near,
                                      float *scratch, int64_t count, int64_t *rows,
                                      float *squared, int64_t *n_found);

/* Largest step of a joint, turn of a joint and step of the pelvis over the ground between
   neighbouring frames of a clip, in metres and radians.
   heading: (n_frames)  ground: (n_frames, 2)  quats: (n_frames, n_joints, 4)
   body: (n_frames, n_joints, 3)  scratch: (2, n_joints, 3)  out: (3) */
ML_API void ml_pace_measure(int64_t n_frames, int64_t n_joints, const double *heading,
                            const double *ground, const float *quats, const float *body,
                            int64_t pelvis, double *scratch, double *out);

/* ---- Making table transitions -----------------------------------------------------------------*/

/* ---- Scoring and searching --------------------------------------------------------------------*/

/* ---- Table files and the run time -------------------------------------------------------------*/

/* ---- Rivals -----------------------------------------------------------------------------------*/

/* Logarithm of the likelihood of every sequence under a hidden Markov model with diagonal
   Gaussians.
   sequences: (n, n_frames, n_dims)  start: (n_states)  steps: (n_states, n_states)
   means, variances: (n_states, n_dims)
   scratch: (2 * n_states * n_dims + n_states + 2 * n_frames * n_states + n_frames)  out: (n) */
ML_API void ml_hmm_likelihoods(int64_t n, int64_t n_frames, int64_t n_dims, int64_t n_states,
                               const double *sequences, const double *start, const double *steps,
                               const double *means, const double *variances, double *scratch,
                               double *out);

/* Expected counts of one round of Baum-Welch, added to `starts`, `moves` and `visits`, first and
   second moments to `first` and `second`; gives the log-likelihood of all sequences.
   sequences: (n, n_frames, n_dims)  start: (n_states)  steps: (n_states, n_states)
   means, variances: (n_states, n_dims)
   scratch: (2 * n_states * n_dims + 3 * n_states + 2 * n_frames * n_states + n_frames)
   starts, visits: (n_states)  moves: (n_states, n_states)  first, second: (n_states, n_dims) */
ML_API double ml_hmm_expect(int64_t n, int64_t n_frames, int64_t n_dims, int64_t n_states,
                            const double *sequences, const double *start, const double *steps,
                            const double *means, const double *variances, double *scratch,
                            double *starts, double *moves, double *visits, double *first,
                            double *second);

/* Log-likelihood a frame of blends of windows, as a model sees them: `seen` holds its weights
   before, at and after each frame.
   seen: (n_windows, n_frames, 3 * n_dims)  ids: (n, n_ways)  weights: (n_ways, n_frames)
   offset: (n_dims)  start: (n_states)  steps: (n_states, n_states)
   means, variances: (n_states, n_dims)  blend: (n_frames, 3 * n_dims)
   sequence: (n_frames - 2, n_dims)
   scratch: (2 * n_states * n_dims + n_states + 2 * n_frames * n_states + n_frames)  out: (n) */
ML_API ml_status ml_hmm_judge(int64_t n_windows, int64_t n_frames, int64_t n_dims,
                              const float *seen, int64_t n, int64_t n_ways, const int64_t *ids,
                              const double *weights, const double *offset, int64_t n_states,
                              const double *start, const double *steps, const double *means,
                              const double *variances, double *blend, double *sequence,
                              double *scratch, double *out);

/* Cells at most `limit` that lie below all eight neighbours; outside the grid is above.
   cost: (n, m)  lowest: (n, m) */
ML_API void ml_place_minima(int64_t n, int64_t m, const double *cost, double limit,
                            uint8_t *lowest);

/* ---- The studio's pictures --------------------------------------------------------------------*/

#ifdef __cplusplus
}
#endif

#endif
