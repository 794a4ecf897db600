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

/* The most windows in a recipe: source, two intermediaries, target. */
#define ML_MOST_WAYS 4

/* Frames of a collection of clips, one after another: heading and ground of the body, and joints
   and foot points as seen from it, over the origin with heading 0. Foot points are left heel, left
   ball, right heel, right ball.
   heading: (n_rows)  ground: (n_rows, 2)  quats: (n_rows, n_joints, 4)
   body: (n_rows, n_joints, 3)  points: (n_rows, 4, 3)  planted: (n_rows, 4) */
typedef struct {
    int64_t n_rows, n_joints;
    const double *heading, *ground;
    const float *quats, *body, *points;
    const uint8_t *planted;
} ml_rows;

/* Joints, legs and feet of a body: the joints from the root down to both ankles, parents first;
   hip, knee and ankle of the left and the right leg; heel and ball of each foot in its ankle's
   frame; where each knee points, in its hip joint's frame.
   parents: (n_joints)  offsets: (n_joints, 3)  chain: (n_chain)  legs: (2, 3)  soles: (2, 2, 3)
   poles: (2, 3) */
typedef struct {
    int64_t n_joints, n_chain;
    const int64_t *parents;
    const double *offsets;
    const int64_t *chain, *legs;
    const double *soles, *poles;
} ml_leg_rig;

/* Headings and roots of a blend of windows, from where the first one stands. Steps of heading and
   root, each seen from its own body, are averaged by the weights and walked.
   at: (n_frames, n_ways)  weights: (n_ways, n_frames)  psi: (n_frames)  root: (n_frames, 3) */
ML_API ml_status ml_mixture_track(const ml_rows *rows, int64_t n_frames, int64_t n_ways,
                                  const int64_t *at, const double *weights, double *psi,
                                  double *root);

/* Local rotations of a blend of up to ML_MOST_WAYS windows, the root turned to its heading:
   normalised weighted sums, the mean of rotations in the sense of the smallest squared chords. It
   differs from Park's mean by a twentieth of a degree where poses are alike and by a few degrees
   where joints differ by a right angle, at a tenth of its cost.
   at: (n_frames, n_ways)  weights: (n_ways, n_frames)  psi: (n_frames)
   out: (n_frames, rows.n_joints, 4) */
ML_API ml_status ml_mixture_rotations(const ml_rows *rows, int64_t n_frames, int64_t n_ways,
                                      const int64_t *at, const double *weights, const double *psi,
                                      double *out);

/* World positions and rotations of the joints in a chain, parents before their children; others
   are left as they are. Without a chain, of the first `n_chain` joints.
   parents: (n_joints)  offsets: (n_joints, 3)  chain: (n_chain) or NULL  root: (n_frames, 3)
   quats: (n_frames, n_joints, 4)  positions: (n_frames, n_joints, 3)
   world: (n_frames, n_joints, 4) */
ML_API ml_status ml_chain_pose(int64_t n_frames, int64_t n_joints, const int64_t *parents,
                               const double *offsets, int64_t n_chain, const int64_t *chain,
                               const double *root, const double *quats, double *positions,
                               double *world);

/* Left heel, left ball, right heel and right ball in the world.
   legs: (2, 3)  soles: (2, 2, 3)  positions: (n_frames, n_joints, 3)
   world: (n_frames, n_joints, 4)  points: (n_frames, 4, 3) */
ML_API ml_status ml_chain_soles(int64_t n_frames, int64_t n_joints, const int64_t *legs,
                                const double *soles, const double *positions, const double *world,
                                double *points);

/* Largest joint speed m/s, joint turn rad/s and ground speed of the root m/s; positions and world
   rotations are filled on the way.
   parents: (n_joints)  offsets: (n_joints, 3)  root: (n_frames, 3)
   quats: (n_frames, n_joints, 4)  positions: (n_frames, n_joints, 3)
   world: (n_frames, n_joints, 4)  fastest: (3) */
ML_API ml_status ml_chain_pace(int64_t n_frames, int64_t n_joints, const int64_t *parents,
                               const double *offsets, const double *root, const double *quats,
                               double fps, double *positions, double *world, double *fastest);

/* Remove labels of foot points in frames in which they move. Legs do not always reach where a foot
   should be held, a foot held by its ball turns about it, and clips move points that they label as
   planted.
   points: (n_frames, n_points, 3)  planted: (n_frames, n_points) */
ML_API void ml_label_keep(int64_t n_frames, int64_t n_points, const double *points, double fps,
                          uint8_t *planted);

/* Ways from hips to ankles, and full lengths of the legs, metres.
   legs: (2, 3)  positions: (n_frames, n_joints, 3)  ways: (2, n_frames, 3)  reaches: (2) */
ML_API ml_status ml_reach_ways(int64_t n_frames, int64_t n_joints, const int64_t *legs,
                               const double *positions, double *ways, double *reaches);

/* How far a body comes down in every frame so that held feet are in reach, metres. A foot is free
   where `held` is below 0; ankles are moved by `shifts`.
   legs: (2, 3)  positions: (n_frames, n_joints, 3)  held: (2, n_frames)
   shifts: (2, n_frames, 3)  scratch, drops: (n_frames) */
ML_API ml_status ml_reach_lower(int64_t n_frames, int64_t n_joints, const int64_t *legs,
                                const double *positions, const int64_t *held,
                                const double *shifts, double *scratch, double *drops);

/* Local rotations of one leg (hip, knee, ankle) whose foot is shifted and its heel turned up about
   the ball, under a body that comes down; the farthest that a held ankle missed its place, metres.
   `positions` and `world` are those before.
   parents: (n_joints)  joints: (3)  sole: (2, 3)  pole: (3)  held: (n_frames)
   shifts: (n_frames, 3)  tilts, drops: (n_frames)  positions: (n_frames, n_joints, 3)
   world, quats: (n_frames, n_joints, 4)  missed: (1) */
ML_API ml_status ml_reach_follow(int64_t n_frames, int64_t n_joints, const int64_t *parents,
                                 const int64_t *joints, const double *sole, const double *pole,
                                 const int64_t *held, const double *shifts, const double *tilts,
                                 const double *drops, const double *positions, const double *world,
                                 double *quats, double *missed);

/* Shift of one foot in every frame, metres. In frames held it takes the foot to its place. Between,
   it goes over from hold to hold with the slope that it has there, so that feet do not start at
   once; it is zero at both seams. A step from hold to hold is lifted off the ground where the blend
   would drag it. `held` is the number of a plant, or -1.
   held: (n_frames)  places, foot, offsets: (n_frames, 3) */
ML_API void ml_swing_offsets(int64_t n_frames, const int64_t *held, const double *places,
                             const double *foot, double *offsets);

/* Lift a free foot that would be dragged along the ground, and turn its heel up where it would be
   in it, by `tilts` radians. Blends of a standing foot and a swinging one go along at the height of
   neither, and blends of feet that point up and down stand with the heel in the ground.
   at: (n_frames, n_ways)  weights: (n_ways, n_frames)  held: (n_frames)
   heel, ball: (n_frames, 3)  scratch: (4, n_frames)  offsets: (n_frames, 3)  tilts: (n_frames) */
ML_API ml_status ml_swing_clear(const ml_rows *rows, int64_t side, int64_t n_frames,
                                int64_t n_ways, const int64_t *at, const double *weights,
                                const int64_t *held, const double *heel, const double *ball,
                                double fps, double *scratch, double *offsets, double *tilts);

/* Stands of one foot at the two seams of a blend: the last frame of the source's, -1 where there is
   none, and the first one of the target's, n_frames where there is none; places of the ball in
   both. A stand ends where the blend's foot is gone from it or the leg too short, and before it
   keeps the foot from being at the other seam in time. `legs` are ankles seen from hips, `reach` is
   the length of the leg, `speed` the fastest joint of the clips, m/s.
   at: (n_frames, n_ways)  heel, ball, legs: (n_frames, 3)  source, target: (n_frames, 3)
   span: (2) */
ML_API ml_status ml_seam_stands(const ml_rows *rows, int64_t side, int64_t n_frames,
                                int64_t n_ways, const int64_t *at, const double *heel,
                                const double *ball, const double *legs, double reach, double fps,
                                double speed, double *source, double *target, int64_t *span);

/* Make time for a step where a foot stands at both seams; both feet do not step at once. Where the
   two stands are one place, `source` goes over to `target` instead, and `first` is `last` + 1.
   soles: (2, 2, n_frames, 3)  target, source: (2, n_frames, 3)  last, first: (2) */
ML_API ml_status ml_seam_part(int64_t n_frames, const double *soles, double fps, double speed,
                              const double *target, double *source, int64_t *last, int64_t *first);

/* Hold one foot, where it is free, by the plants of the windows, the best agreed first. `totals`
   are the sum of the blend's distances from them, metres, and the number of frames.
   at: (n_frames, n_ways)  psi: (n_frames)  root, heel, ball, legs: (n_frames, 3)
   held: (n_frames)  places: (n_frames, 3)  planted: (n_frames, 4)  totals: (2) */
ML_API ml_status ml_footing_fill(const ml_rows *rows, int64_t side, int64_t n_frames,
                                 int64_t n_ways, const int64_t *at, const double *psi,
                                 const double *root, const double *heel, const double *ball,
                                 const double *legs, double reach, double fps, double speed,
                                 int64_t *held, double *places, uint8_t *planted, double *totals);

/* Which plant each foot is held by, -1 for none, and where its ball is to be then; heels and balls
   that stand are labelled; the mean distance of the blend's feet from there, metres.
   at: (n_frames, n_ways)  psi: (n_frames)  root: (n_frames, 3)  soles: (2, 2, n_frames, 3)
   legs: (2, n_frames, 3)  reaches: (2)  scratch: (12, n_frames)  held: (2, n_frames)
   places: (2, n_frames, 3)  planted: (n_frames, 4)  error: (1) */
ML_API ml_status ml_footing_choose(const ml_rows *rows, int64_t n_frames, int64_t n_ways,
                                   const int64_t *at, const double *psi, const double *root,
                                   const double *soles, const double *legs, const double *reaches,
                                   double fps, double speed, double *scratch, int64_t *held,
                                   double *places, uint8_t *planted, double *error);

/* Frames of a recipe: blended, then, with `feet`, its feet held where they stand. `speed` is the
   fastest joint of the clips, m/s: no foot is made to step faster. `errors` are the mean distance
   of the blend's feet from where they are held, and the farthest that a held ankle could not reach,
   metres.
   at: (n_frames, n_ways)  weights: (n_ways, n_frames)  scratch: (7 * rig.n_joints + 57, n_frames)
   held: (2, n_frames)  psi: (n_frames)  root: (n_frames, 3)  quats: (n_frames, rig.n_joints, 4)
   planted: (n_frames, 4)  errors: (2) */
ML_API ml_status ml_synthesis_make(const ml_rows *rows, const ml_leg_rig *rig, int64_t n_frames,
                                   int64_t n_ways, const int64_t *at, const double *weights,
                                   double fps, double speed, int32_t feet, double *scratch,
                                   int64_t *held, double *psi, double *root, double *quats,
                                   uint8_t *planted, double *errors);

/* ---- Scoring and searching --------------------------------------------------------------------*/

/* ---- Table files and the run time -------------------------------------------------------------*/

/* Recipes from one window to others as slots of their windows, then -1, and how many: for each
   target those over captured windows, the plain blend, and the first `share` of the table's. Slots
   are the medoids', the source's, and for each target its own and those of the captured windows.
   `between` has the two intermediaries of recipes between representatives: 255 for fewer, 254 where
   there is no recipe.
   between: (n_ends, n_ends, n_recipes, 2)  ends: (1 + n_targets)  ids: (most, 4)  count: (1) */
ML_API ml_status ml_table_slots(int64_t n_ends, int64_t n_recipes, const uint8_t *between,
                                int64_t n_medoids, int64_t n_targets, const int64_t *ends,
                                int64_t n_captured, int64_t share, int64_t most, int32_t *ids,
                                int64_t *count);

/* Recipes between two windows as first rows of their windows, then -1, the plain blend last, and
   how many.
   between: (n_recipes, 2)  medoids: (n_medoids)  rows: (n_recipes + 1, 4)  count: (1) */
ML_API ml_status ml_table_rows(int64_t n_recipes, const uint8_t *between, int64_t n_medoids,
                               const int64_t *medoids, int64_t source, int64_t target,
                               int64_t *rows, int64_t *count);

/* Made frames with captured ones before the row that they leave and after the row that they arrive
   at, moved to where they go on, and their joints in the world.
   heading: (n_frames)  root: (n_frames, 3)  quats: (n_frames, rig.n_joints, 4)
   planted: (n_frames, 4)  all_headings: (before + n_frames + after)
   all_roots: (before + n_frames + after, 3)
   all_quats: (before + n_frames + after, rig.n_joints, 4)
   all_planted: (before + n_frames + after, 4)
   positions: (before + n_frames + after, rig.n_joints, 3)
   world: (before + n_frames + after, rig.n_joints, 4) */
ML_API ml_status ml_table_surround(const ml_rows *rows, const ml_leg_rig *rig, int64_t n_frames,
                                   const double *heading, const double *root, const double *quats,
                                   const uint8_t *planted, int64_t first_row, int64_t before,
                                   int64_t last_row, int64_t after, double *all_headings,
                                   double *all_roots, double *all_quats, uint8_t *all_planted,
                                   double *positions, double *world);

/* Rotations with the signs that are nearer to those of the frame before.
   quats, before, out: (n_joints, 4) */
ML_API void ml_table_same_signs(int64_t n_joints, const double *quats, const double *before,
                                double *out);

/* ---- Rivals -----------------------------------------------------------------------------------*/

/* ---- The studio's pictures --------------------------------------------------------------------*/

#ifdef __cplusplus
}
#endif

#endif
