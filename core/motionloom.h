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

/* Values where they are held, and a smooth way to zero over `length` frames elsewhere; holds at
   most twice as far apart are joined directly. The slope that values have at the edge of a hold
   runs out over `stop` frames.
   values, out: (n_frames, width)  held: (n_frames) */
ML_API void ml_offset_blend(int64_t n_frames, int64_t width, const double *values,
                            const uint8_t *held, double length, double stop, double *out);

/* 1 in held frames, falling smoothly to 0 at `length` frames from the nearest of them.
   held: (n_frames)  out: (n_frames) */
ML_API void ml_offset_near(int64_t n_frames, const uint8_t *held, double length, double *out);

/* Weighted sums over `half` frames to either side; beyond the ends the end value counts.
   values, out: (n_frames, width)  weights: (2 * half + 1) */
ML_API void ml_offset_spread(int64_t n_frames, int64_t width, const double *values, int64_t half,
                             const double *weights, double *out);

/* Largest value within `half` frames to either side; beyond the ends all are 0.
   values, out: (n_frames)  scratch: (n_frames + 2 * half) */
ML_API void ml_offset_highest(int64_t n_frames, const double *values, int64_t half,
                              double *scratch, double *out);

/* First and last frame of every plant that is held, and the fastest that its point moves. The
   faster end is cut, again and again, while it moves, but `kept` of every plant is left. Speeds
   count relative to the mean velocity in the middle half of the plant. Labels are of a point (0 to
   3 for left heel, left ball, right heel, right ball), first and last frame.
   velocities: (n_frames, 4, 3)  body_velocity: (n_frames, 3)  labels: (n_holds, 3)
   spans: (n_holds, 2)  fastest: (n_holds) */
ML_API ml_status ml_hold_trim(int64_t n_frames, const double *velocities,
                              const double *body_velocity, int64_t n_holds, const int64_t *labels,
                              double kept, int64_t *spans, double *fastest);

/* Where held points stand, and how far each strays from its place within its hold. A place is the
   mean over the hold, where frames at rest count most; heel and ball that are held together are as
   far apart as in the foot; holds of one foot at most `near` frames apart are drawn towards the
   step between them. Spans are of point, first and last frame; `order` has the holds of the left
   foot in time, then those of the right one.
   points, velocities: (n_frames, 4, 3)  spans: (n_holds, 3)  order: (n_holds)
   scratch: (n_frames)  places: (n_holds, 3)  strays: (n_holds) */
ML_API ml_status ml_hold_place(int64_t n_frames, const double *points, const double *velocities,
                               int64_t n_holds, const int64_t *spans, const int64_t *order,
                               int64_t n_left, double near, double *scratch, double *places,
                               double *strays);

/* Height at which heel and ball stand, metres, straight from each hold to the next; minus infinity
   for a point that is never held.
   held, out: (n_frames, 2)  places: (n_frames, 2, 3) */
ML_API void ml_foot_ground(int64_t n_frames, const uint8_t *held, const double *places,
                           double *out);

/* Level axes across a foot (a positive turn about one lifts the heel), and the least turns about
   its ball that bring its ankle within reach of the hip where the ball alone is held; where even
   the best turn is too little, it is that. Levers are from the ankle to heel and ball.
   levers: (n_frames, 2, 3)  hip: (n_frames, 3)  held: (n_frames, 2)  places: (n_frames, 2, 3)
   reach: (n_frames)  axes: (n_frames, 3)  angles: (n_frames) */
ML_API void ml_foot_roll(int64_t n_frames, const double *levers, const double *hip,
                         const uint8_t *held, const double *places, const double *reach,
                         double *axes, double *angles);

/* Turns of a foot on one held point that keep its other point out of the ground, heel up. A point
   that was under the ground before may stay as deep as it was.
   levers: (n_frames, 2, 3)  heel, ball: (n_frames, 3)  held: (n_frames, 2)
   places: (n_frames, 2, 3)  ground: (n_frames, 2)  out: (n_frames) */
ML_API void ml_foot_tilt(int64_t n_frames, const double *levers, const double *heel,
                         const double *ball, const uint8_t *held, const double *places,
                         const double *ground, double *out);

/* Turns and shifts of a foot that bring its held points onto their places. Where both are held the
   foot lies along its places; where only the ball is, it may roll on over it until its ankle is
   within reach; a point whose other end is held stays above the ground. Everything runs out over
   `length` frames around holds, slopes over `stop`. The toes turn as the foot without its roll.
   hip, ankle, heel, ball: (n_frames, 3)  held: (n_frames, 2)  places: (n_frames, 2, 3)
   reach: (n_frames)  ground: (n_frames, 2)  flags: (2, n_frames)  scratch: (6, n_frames)
   q_foot, q_toes: (n_frames, 4)  shift: (n_frames, 3)  roll: (n_frames)
   levers: (n_frames, 2, 3) */
ML_API void ml_foot_place(int64_t n_frames, const double *hip, const double *ankle,
                          const double *heel, const double *ball, const uint8_t *held,
                          const double *places, const double *reach, const double *ground,
                          double length, double stop, int32_t may_roll, uint8_t *flags,
                          double *scratch, double *q_foot, double *q_toes, double *shift,
                          double *roll, double *levers);

/* Knee angles between the present and the wanted ones, radians, that open ever less near full
   stretch.
   now, wanted, out: (n) */
ML_API void ml_knee_damp(int64_t n, const double *now, const double *wanted, double *out);

/* Distances from hip to ankle at the damped knee angle, of thighs and shanks of these lengths.
   upper, lower, before, wanted, out: (n) */
ML_API void ml_knee_damp_span(int64_t n, const double *upper, const double *lower,
                              const double *before, const double *wanted, double *out);

/* Distances from hip to ankle as wanted, but easing into the reach, which they never pass. Damping
   sets in at `part` of the reach before it.
   before, wanted, reach, part, out: (n) */
ML_API void ml_knee_soften_span(int64_t n, const double *before, const double *wanted,
                                const double *reach, const double *part, double *out);

/* Smallest shifts of the root, frame by frame, that put held ankles within reach of their hips. Of
   left and right leg.
   hips, ankles: (n_frames, 2, 3)  reach, held: (n_frames, 2)  out: (n_frames, 3) */
ML_API void ml_root_least_shift(int64_t n_frames, const double *hips, const double *ankles,
                                const double *reach, const uint8_t *held, double *out);

/* How much lower shifted hips must be for held ankles to be within reach, at most `most`.
   hips, ankles: (n_frames, 2, 3)  reach, held: (n_frames, 2)  shifts: (n_frames, 3)
   out: (n_frames) */
ML_API void ml_root_drop(int64_t n_frames, const double *hips, const double *ankles,
                         const double *reach, const uint8_t *held, const double *shifts,
                         double most, double *out);

/* Shifts of the root along its legs that take up the quick part of the change of their lengths,
   `spans` before. Weights over `half` frames to either side tell slow changes; `pull` is 1 where a
   foot is held, 0 where it does not matter.
   hips, ankles: (n_frames, 2, 3)  spans, pull: (n_frames, 2)  weights: (2 * half + 1)
   scratch: (2, n_frames, 2)  out: (n_frames, 3) */
ML_API void ml_root_still_legs(int64_t n_frames, const double *hips, const double *ankles,
                               const double *spans, const double *pull, int64_t half,
                               const double *weights, double *scratch, double *out);

/* Largest steps of some joints, radians, but for skipped ones.
   q: (n_frames, n_joints, 4)  joints: (n_chosen)  skipped: (n_frames - 1)  out: (n_chosen) */
ML_API ml_status ml_calm_largest(int64_t n_frames, int64_t n_joints, const double *q,
                                 int64_t n_chosen, const int64_t *joints, const uint8_t *skipped,
                                 double *out);

/* Steps beyond what a leg may do, but for glitches. One of its joints turns too fast or flips:
   further than in the clip as captured and as it was before, than its largest step there, `own`,
   well further than that and than `free_step`; or one step that stands out from those within `half`
   around it. Or the second difference of its knee is larger than `jerk`. Radians, metres.
   q, captured, before: (n_frames, n_joints, 4)  joints, own: (n_chosen)
   knee: (n_frames, 3) or NULL  jerk: (n_frames - 2) or NULL  glitched: (n_frames - 1) or NULL
   scratch: (n_frames + n_chosen)  out: (n_frames - 1) */
ML_API ml_status ml_calm_find(int64_t n_frames, int64_t n_joints, const double *q,
                              const double *captured, const double *before, int64_t n_chosen,
                              const int64_t *joints, const double *own, double free_step,
                              int64_t half, const double *knee, const double *jerk,
                              const uint8_t *glitched, double *scratch, uint8_t *out);

/* Smooth the correction of a leg, from `before` to `local`, by `part` in every frame, with weights
   over `half` frames to either side; beyond the ends the end value counts. Its knee follows, which
   is at `positions` while local rotations are those of `after`. The first joints are hip and knee.
   before, after, world, local: (n_frames, n_joints, 4)  positions: (n_frames, n_joints, 3)
   joints: (n_chosen)  part: (n_frames)  weights: (2 * half + 1)
   scratch: (n_frames, n_chosen, 3)  knee: (n_frames, 3) */
ML_API ml_status ml_calm_smooth(int64_t n_frames, int64_t n_joints, const double *before,
                                const double *after, const double *positions,
                                const double *world, int64_t n_chosen, const int64_t *joints,
                                const double *part, int64_t half, const double *weights,
                                double *scratch, double *local, double *knee);

/* Local rotations of a leg after world turns of its thigh, shank, foot and toes, in frames where
   the root shifts, the foot turns, or the ankle has another target than where it is; others stay.
   Joints are hip, knee, ankle and toe (-1 where there is none), with their parents; joints between
   them ride along.
   joints, parents: (4)  world: (n_frames, n_joints, 4)  shift, ankle, target: (n_frames, 3)
   q_upper, q_lower, q_foot, q_toes: (n_frames, 4)  local: (n_frames, n_joints, 4) */
ML_API ml_status ml_rewrite_leg(int64_t n_frames, int64_t n_joints, const int64_t *joints,
                                const int64_t *parents, const double *world, const double *shift,
                                const double *ankle, const double *target, const double *q_upper,
                                const double *q_lower, const double *q_foot, const double *q_toes,
                                double *local);

/* Mean and greatest distance between the same joints before and after.
   before, after: (n_frames, n_joints, 3)  out: (2) */
ML_API void ml_rewrite_ways(int64_t n_frames, int64_t n_joints, const double *before,
                            const double *after, double *out);

/* Speeds to the next frame of heels and balls that are planted in both, else -1.
   points: (n_frames, 4, 3)  planted, out: (n_frames, 4) */
ML_API void ml_contact_speeds(int64_t n_frames, const double *points, const uint8_t *planted,
                              double fps, double *out);

/* First and last frame in which each plant is held (-1 for none), and how far its point slides over
   the ground, before and after: while held (or labelled, if it is not), and over the whole label.
   Rows of `holds` are point, first and last frame of the label, first and last frame to look at,
   and whether it counts as held at all.
   before, after: (n_frames, 4, 3)  held: (n_frames, 4)  holds: (n_holds, 6)  out: (n_holds, 2)
   slides: (n_holds, 4) */
ML_API ml_status ml_contact_slides(int64_t n_frames, const double *before, const double *after,
                                   const uint8_t *held, int64_t n_holds, const int64_t *holds,
                                   int64_t *out, double *slides);

/* ---- Likeness of windows ----------------------------------------------------------------------*/

/* ---- Making table transitions -----------------------------------------------------------------*/

/* ---- Scoring and searching --------------------------------------------------------------------*/

/* ---- Table files and the run time -------------------------------------------------------------*/

/* ---- Rivals -----------------------------------------------------------------------------------*/

/* ---- The studio's pictures --------------------------------------------------------------------*/

#ifdef __cplusplus
}
#endif

#endif
