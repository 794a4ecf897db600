/* Kernels: what the Python package calls, and the structs that they work on. May change with every
   version; games need nothing but motionloom.h, which has the conventions. The Python binding reads
   both headers: the comment of a function states the shape of every array by the names of its other
   arguments, as `a: (n, 4)`, and the binding checks them. */

#ifndef MOTIONLOOM_KERNELS_H
#define MOTIONLOOM_KERNELS_H

#if defined(MOTIONLOOM_H) && !defined(ML_KERNELS)
#error "the library is compiled on its own, or before motionloom.h is included"
#endif
#define ML_KERNELS
#include "../include/motionloom.h"

/* ---- The processor ----------------------------------------------------------------------------*/

/* 1 where the library for processors with AVX2 runs, which is quicker and gives the same bits. */
ML_API int32_t ml_processor_has_avx2(void);

/* ---- Numbers that C and Python share ----------------------------------------------------------
   Python reads them from here, by motionloom._core.constant. */

/* m/s2 */
#define ML_GRAVITY 9.81
/* Metres. The papers' scores are in inches. */
#define ML_INCH 0.0254
/* Segments of a body that have mass. */
#define ML_SEGMENTS 16
/* Radians (-120 degrees). Below this a knee is folded past half a turn, not bent backwards. */
#define ML_KNEE_FOLDED (-120.0 * (3.141592653589793 / 180.0))

/* Numbers of the checks, as ml_check_judge and ml_support_judge write them. Python has more of them
   in between. */
#define ML_CHECK_TURN 0
#define ML_CHECK_SPEED 1
#define ML_CHECK_BEND 2
#define ML_CHECK_FLIP 3
#define ML_CHECK_JUMP 4
#define ML_CHECK_BACKWARDS 5
#define ML_CHECK_FOLDED_KNEE 6
#define ML_CHECK_PELVIS 7
#define ML_CHECK_PLAN 8
#define ML_CHECK_ROOT_BONE 9
#define ML_CHECK_SOLE 10
#define ML_CHECK_CONTACT 11
#define ML_CHECK_DRAGGED 12
#define ML_CHECK_HOVERING 13
#define ML_CHECK_BRAKING 14
#define ML_CHECK_FAST 15
#define ML_CHECK_SLIP 19
#define ML_CHECK_STALL 20
#define ML_CHECK_LAUNCH 21
#define ML_CHECK_ASTRAY 22
/* Nothing supports the body because its feet glide; ml_check_judge finds it. */
#define ML_CHECK_GLIDE 23

/* Failures of one motion that are kept. */
#define ML_CHECK_FOUND 96
/* A joint may exceed its own maximum in the sources by the first, and always reach the second (rad/s,
   m/s2; for speeds see `quick` of ml_check_limits). */
#define ML_CHECK_TURN_MORE 1.3
#define ML_CHECK_TURN_FREE (300.0 * (3.141592653589793 / 180.0))
#define ML_CHECK_SPEED_MORE 1.3
#define ML_CHECK_BEND_MORE 1.5
#define ML_CHECK_BEND_FREE 80.0
/* Metres by which soles may be lower than in the sources. */
#define ML_CHECK_SINK 0.025
/* Part of gravity by which a flight may be slower or faster: a jump may play 15 % slower or faster. */
#define ML_CHECK_WARP 0.3
/* m/s, and heights over the floor (1, 2 and 3 cm): a sole point below one of them that is faster is
   dragged. */
#define ML_CHECK_DRAG_SPEED 0.25
#define ML_CHECK_HEIGHTS 3
/* Parts of the planted heights of a point below which it is on the floor whatever it does (toes that
   push off go deeper than feet stand), and below which it stands. */
#define ML_CHECK_LANDS 0.10
#define ML_CHECK_STANDS 0.25
/* Frames that a contact must have for its slide to be measured. */
#define ML_CHECK_SHORTEST_CONTACT 3
/* Lengths of contacts whose slides are compared: a fifteenth of a second, twice, four times ..., and
   any. */
#define ML_CHECK_SPANS 7
/* Moments of a clip around the mapped time that a foot is compared with. */
#define ML_SUPPORT_MOMENTS 9

/* Seconds of the shortest flight that is measured, and the part of body weight on the feet below which
   a body is in flight. */
#define ML_FLIGHT_S 0.12
#define ML_FLIGHT_LOAD 0.2
/* Metres. A turn of the root counts in the root's speed like a step on a circle of this radius. */
#define ML_ROOT_TURN_M 0.3
/* Naturalness. Part of the stature that is added to the movement of the posture, part of
   sqrt(gravity * stature) that is added to the speed of the root, part of sqrt(stature / gravity) that
   a step takes. */
#define ML_NATURAL_STILL 0.06
#define ML_NATURAL_SLOW 0.25
#define ML_NATURAL_STEP 0.6
/* How naturalness falls with the change of posture, the change of the root's velocity, the misses of
   feet and the acceleration, each relative to how the motions move; and naturalness without any. */
#define ML_NATURAL_POSTURE 7.58
#define ML_NATURAL_VELOCITY 15.44
#define ML_NATURAL_FEET 9.28
#define ML_NATURAL_ACCELERATION 1.99
#define ML_NATURAL_BIAS 6.67
/* Inches. Sum under which the papers call a transition good. */
#define ML_PAPER_IN 6.0

/* Weights of a metre of displacement and a radian of turn in contexts, relative to a metre of posture. */
#define ML_CONTEXT_DISPLACEMENT 0.19
#define ML_CONTEXT_TURN_M 0.07
/* Codes of a start or an end that lists are made by, and those of them that heads hold. */
#define ML_INDEX_LEADING 16
#define ML_INDEX_HEAD 8
/* Stands for no window in recipes of a search; in recipes between representatives: there are fewer
   windows, there is no recipe; as representative of a row: no window starts there. */
#define ML_NO_WINDOW 65535
#define ML_TABLE_NO_WINDOW 255
#define ML_TABLE_NO_RECIPE 254
#define ML_TABLE_NO_END 65535
/* Part of the length over which an eased time gathers speed, and again loses it. */
#define ML_WARP_EASE 0.25

/* Slots for windows that are met at run time. */
#define ML_TABLE_WIDE 32
/* Windows of a label that are tried as targets, and captured windows as intermediaries, at most; and
   pinned windows that are judged for one pair: the mean of the captured ones. */
#define ML_TABLE_TARGETS 4
#define ML_TABLE_CAPTURED 2
#define ML_TABLE_PINNED 1
/* Lengths of a window that a join may use of a clip. */
#define ML_TABLE_JOINED 4
/* Recipes of the table that are judged for a transition. */
#define ML_RESCORED 32
/* Recipes that are made, best first: of those that are in order, and where the others have to be put in
   order. */
#define ML_TABLE_RANKED 5
#define ML_TABLE_TRIES 3
/* Captured frames before and after made ones that are judged with them. */
#define ML_TABLE_MARGIN 4
/* Metres. Floors between two clips fall this far below the higher one of theirs. */
#define ML_FLOOR_FALL 0.05
/* m/s. No clip counts as slower. */
#define ML_TABLE_SLOWEST 0.2
/* Recipes that may be judged together with those of a question. */
#define ML_TABLE_SPARE 8
/* Nearest groups and lists that are searched for captured windows until ML_TABLE_SEEN were seen. Of
   4.3 million windows it takes 0.22 ms, where 12, 48 and 2000 take 0.39, and the best recipes with
   what is found cost 0.01 % more. */
#define ML_TABLE_GROUPS 8
#define ML_TABLE_LISTS 24
#define ML_TABLE_SEEN 800
/* The same for windows that are alike at their start, and for all other searches of an index. */
#define ML_INDEX_GROUPS 12
#define ML_INDEX_LISTS 48
#define ML_INDEX_SEEN 2000
/* Numbers a frame that the synthesis works with, next to seven a joint. */
#define ML_TABLE_SYNTHESIS 57
/* Columns that are measured of a recipe. */
#define ML_TABLE_COLUMNS 19
/* As `held` of a foot that is free. */
#define ML_NOT_HELD (-1)

/* Rows of a window's terms: step of heading; step of the root (x, z); balls (x, z) twice; centre
   of mass (x, y, z); whether each ball stands; heights of the balls; squared size of the posture,
   of its step and of the root's velocity. */
enum {
    ML_TERM_HEADING = 0,
    ML_TERM_STEP = 1,
    ML_TERM_FEET = 3,
    ML_TERM_COM = 7,
    ML_TERM_STANDS = 10,
    ML_TERM_LIFT = 12,
    ML_TERM_POWER = 14,
    ML_TERM_PACE = 15,
    ML_TERM_TRAVEL = 16,
    ML_TERM_ROWS = 17
};

/* Families of weights over a blend. */
enum { ML_FAMILY_BERNSTEIN, ML_FAMILY_EASED, ML_FAMILY_HAT, ML_FAMILIES };

/* As `order` of a stream. */
enum { ML_ORDER_NONE, ML_ORDER_TO_ROW, ML_ORDER_TO_LABEL, ML_ORDER_HOLD, ML_ORDER_ACT };

/* Memory of the caller begins at a multiple of this, bytes. */
#define ML_ALIGNED 16
/* Joints of a skeleton, at most. More than any real rig has: beyond it a file is taken to be broken. */
#define ML_MOST_JOINTS 4096

/* Files of the run time: their version, bytes of their head, and steps of a rotation's parts. */
#define ML_FILE_VERSION 5
#define ML_FILE_HEAD 64
#define ML_FILE_STEPS 262143.0

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

/* ---- Arrays ---------------------------------------------------------------------------------*/

/* Largest absolute value; 0 of no numbers; infinite or nan where one of them is.
   x: (n) */
ML_API double ml_value_farthest(int64_t n, const double *x);

/* ---- Quaternions ----------------------------------------------------------------------------*/

/* Products a b: turn by b first, then by a.
   a, b, out: (n, 4) */
ML_API void ml_quaternion_multiply(int64_t n, const double *a, const double *b, double *out);

/* Vectors turned by quaternions.
   q: (n, 4)  v, out: (n, 3) */
ML_API void ml_quaternion_rotate(int64_t n, const double *q, const double *v, double *out);

/* Angles of the rotations from a to b, radians, 0 to pi.
   a, b: (n, 4)  out: (n) */
ML_API void ml_quaternion_angles(int64_t n, const double *a, const double *b, double *out);

/* Rotations between a and b, at a part of the shorter arc.
   a, b, out: (n, 4)  part: (n) */
ML_API void ml_quaternion_slerp(int64_t n, const double *a, const double *b, const double *part,
                                double *out);

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
   offsets per frame. ML_NOT_FINITE where roots or rotations are not finite.
   parents: (n_joints)  offsets: (n_offsets, n_joints, 3)  roots: (n_frames, 3)
   local: (n_frames, n_joints, 4)  positions: (n_frames, n_joints, 3)
   world: (n_frames, n_joints, 4) */
ML_API ml_status ml_kinematics_forward(int64_t n_frames, int64_t n_joints, const int64_t *parents,
                                       int64_t n_offsets, const double *offsets,
                                       const double *roots, const double *local, double *positions,
                                       double *world);

/* Frames and joints whose half turn to the next frame has a cosine below this: how many there are,
   and the first `most` of them (frame, joint) in `found`, frame by frame.
   quats: (n_frames, n_joints, 4)  found: (most, 2) */
ML_API int64_t ml_jump_find(int64_t n_frames, int64_t n_joints, const double *quats, double cosine,
                            int64_t most, int64_t *found);

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

/* What every `every`-th frame shows of the hinge of a knee, in the frame of the hip joint: the sum
   of axes by the foot; the sum of unit axes of the frames in which the knee is bent by more than
   `bent` radians, and how many these are; the sum of thighs. `leg`: hip, knee and ankle.
   positions: (n_frames, n_joints, 3)  world: (n_frames, n_joints, 4)  leg, ball: (3)  out: (3, 3)
   n_bent: (1) */
ML_API ml_status ml_hinge_show(int64_t n_frames, int64_t n_joints, const double *positions,
                               const double *world, int64_t every, const int64_t *leg,
                               const double *ball, double bent, double *out, int64_t *n_bent);

/* Signed flexion of a knee, radians, from the rotations of its leg alone; negative where it is bent
   backwards. `chain`: the joints below the hip down to the ankle. Offsets are of one frame or all.
   local: (n_frames, n_joints, 4)  offsets: (n_offsets, n_joints, 3)  chain: (n_chain)  axis: (3)
   out: (n_frames) */
ML_API ml_status ml_hinge_flexion(int64_t n_frames, int64_t n_joints, const double *local,
                                  int64_t n_offsets, const double *offsets, int64_t n_chain,
                                  const int64_t *chain, int64_t knee, const double *axis,
                                  double *out);

/* ---- Numbers and text of motion files ---------------------------------------------------------*/

/* Channels of joints. Joint j has those from first[j] up to first[j + 1], each with a column of a row
   and a kind: 0, 1, 2 are positions along X, Y, Z and 3, 4, 5 turns about them, the last of which
   applies first. Joints stand at their offsets where no channel moves them.
   kinds, columns: (n_channels)  first: (n_joints + 1)  offsets: (n_joints, 3) */
typedef struct {
    int64_t n_channels, n_joints;
    const int64_t *kinds, *columns, *first;
    const double *offsets;
} ml_channels;

/* Rotations of rows of channels in degrees, as the frames from `start` on, with signs that go on
   from the frame before; and where the first n_placed joints stand in their parents.
   rows: (n_rows, n_columns)  quats: (n_frames, channels.n_joints, 4)
   places: (n_rows, n_placed, 3) */
ML_API ml_status ml_channel_poses(const ml_channels *channels, int64_t n_rows, int64_t n_columns,
                                  const double *rows, int64_t start, int64_t n_frames,
                                  double *quats, int64_t n_placed, double *places);

/* Euler angles of some joints in degrees, put into columns of rows: of the two solutions, the one
   nearer to the angles of the frame before, `last`, which are carried on. A negative column is
   an angle that is not written; the solution that has it near zero is taken.
   quats: (n_frames, n_joints, 4)  joints: (n_turning)  axes, columns, last: (n_turning, 3)
   out: (n_frames, n_columns) */
ML_API ml_status ml_channel_angles(int64_t n_frames, int64_t n_joints, const double *quats,
                                   int64_t n_turning, const int64_t *joints, const int64_t *axes,
                                   const int64_t *columns, double *last, int64_t n_columns,
                                   double *out);

/* Flags of a key: how the segment after it goes; linear without any. */
enum {
    ML_KEY_CONSTANT = 0x2, /* it keeps the value of the key */
    ML_KEY_CUBIC = 0x8,
    ML_KEY_NEXT = 0x100 /* a constant segment has the value of the key after it */
};

/* Values of a curve of keys at some times, constant before the first key and after the last.
   Times of keys increase. Tangents are the slopes after a key and before the next, and the shares
   of the segment that they reach over; without any, cubic segments are linear.
   times, values, flags: (n_keys)  tangents: (n_tangents, 4)  at, out: (n) */
ML_API ml_status ml_keyed_values(int64_t n_keys, const double *times, const double *values,
                                 const int64_t *flags, int64_t n_tangents, const double *tangents,
                                 int64_t n, const double *at, double *out);

/* How ml_numeral_scan ended. */
enum {
    ML_SCAN_DONE = 0,      /* all is read */
    ML_SCAN_SLOW = 1,      /* the last number is left to the caller, with its place in the state */
    ML_SCAN_BAD = 2,       /* a token is not a number; its place is in the state */
    ML_SCAN_MISPLACED = 3, /* a line breaks where no row does */
    ML_SCAN_REFUSED = 4    /* sizes do not fit together, or there is no place for more values */
};

/* What the state of a scan holds, all of it 0 at first but the lines. */
enum {
    ML_SCAN_POSITION,    /* next byte */
    ML_SCAN_VALUES,      /* numbers in `values` so far */
    ML_SCAN_LINE,        /* line of the next byte */
    ML_SCAN_TOKEN_START, /* first byte of a token that is not a number or that the caller must parse */
    ML_SCAN_TOKEN_STOP,    /* one past its last byte */
    ML_SCAN_ROW_LINE,      /* line on which the row begins */
    ML_SCAN_ROWS,          /* whole rows so far, in all blocks */
    ML_SCAN_COLUMN,        /* numbers of the next row so far */
    ML_SCAN_ON_LINE,       /* numbers on the line so far */
    ML_SCAN_STARTS_INSIDE, /* whether the row begins behind another on its line */
    ML_SCAN_STRADDLES,     /* whether the row goes over several lines */
    ML_SCAN_WRAPPED,       /* whether any row did */
    ML_SCAN_SLOW_NUMBERS,  /* how many were left to the caller */
    ML_SCAN_STATE          /* numbers of the state */
};

/* The numbers of text[:stop], in rows of `width`; how it ended. Each is the double nearest to its
   decimal digits. Separators are blanks, control characters, and a sign after a digit; the last
   byte before `stop` must be one of the first two, so that no number is cut in two. # and //
   begin a comment that ends with its line. Rows after the first `expected` must be on one line
   each, if all before them were.
   text: (n_bytes)  values: (n_values)  state: (13) */
ML_API int32_t ml_numeral_scan(int64_t n_bytes, const uint8_t *text, int64_t stop, int64_t width,
                               int64_t expected, int64_t n_values, double *values, int64_t *state);

/* Rows of numbers as lines of text with six decimals and blanks between them; how many bytes that
   is, or -1 where a number is too large for this function. Lines end in a line feed, or in a carriage
   return and one.
   rows: (n_rows, n_columns)  out: (n_rows, 19 * n_columns + 2) */
ML_API int64_t ml_digits_write(int64_t n_rows, int64_t n_columns, const double *rows,
                               int32_t with_carriage, uint8_t *out);

/* ---- Registration -----------------------------------------------------------------------------*/

/* The points of a clip about its ground centre, times the roots of their weights, laid out for matrix
   products: x of all points, then z, in `ground`; y in `heights`. The end frames are repeated
   `half_window` times. Also of every window of 2 half_window + 1 frames the weighted mean x and z
   and the mean square distance from them, and where these means are in the world. `frames` is
   memory to work in.
   points: (n_frames, n_points, 3)  weights, root_weights: (n_points)
   ground: (n_frames + 2 * half_window, 2, n_points)
   heights: (n_frames + 2 * half_window, n_points)
   frames: (n_frames, 3)  windows: (3, n_frames)  centre: (n_frames, 2) */
ML_API ml_status ml_grid_lay_out(int64_t n_frames, int64_t n_points, int64_t half_window,
                                 const double *points, const double *weights,
                                 const double *root_weights, double *ground, double *heights,
                                 double *frames, double *windows, double *centre);

/* Points on the ground that are laid out so, a quarter turn on: z of all points, then -x.
   ground, turned: (n_rows, 2, n_points) */
ML_API void ml_grid_turn(int64_t n_rows, int64_t n_points, const double *ground, double *turned);

/* Distances of n frames of A and m of B at their best alignment on the ground, over windows of
   2 half_window + 1 frames. Given are products of single frames, on the ground (of x and z, and of
   these a quarter turn apart) and of heights, and the means of the windows of both clips. `work` is
   memory to work in.
   ground: (n + 2 * half_window, 2, m + 2 * half_window)
   heights: (n + 2 * half_window, m + 2 * half_window)
   x_a, z_a, spread_a: (n)  windows_b: (3, m)  work: (3, n + m)  cost: (n, m) */
ML_API ml_status ml_grid_sum_windows(int64_t n, int64_t m, int64_t half_window,
                                     const double *ground, const double *heights, const double *x_a,
                                     const double *z_a, const double *spread_a,
                                     const double *windows_b, double *work, double *cost);

/* Numerator and denominator of the turn that best carries B's window onto A's, for some cells of
   that grid: their frames of A and of B.
   rows, columns, cross, dot: (n_cells)  ground_a: (n + 2 * half_window, 2, n_points)
   ground_b: (m + 2 * half_window, 2, n_points)  windows_a: (3, n)  windows_b: (3, m) */
ML_API ml_status ml_grid_turns(int64_t n_cells, const int64_t *rows, const int64_t *columns,
                               int64_t n, int64_t m, int64_t n_points, int64_t half_window,
                               const double *ground_a, const double *ground_b,
                               const double *windows_a, const double *windows_b, double *cross,
                               double *dot);

/* Control points of a spline changed so that all its dimensions increase, none faster than the base
   dimension by 1 / epsilon nor slower by epsilon, and the base by `smallest` at least from each
   point to the next. Each change is shared with the point before. How far points were moved, the
   sum of squares, goes to `moved`. `work` is memory to work in.
   points: (n, n_dimensions)  work: (3, n_dimensions)  moved: (1) */
ML_API ml_status ml_spline_adjust(int64_t n, int64_t n_dimensions, double *points, int64_t base,
                                  double epsilon, double smallest, double *work, double *moved);

/* Solves the equations of a least-squares fit of splines: their matrix is symmetric and positive
   definite (otherwise ML_BAD_SIZE) and has three bands above its diagonal, element (j - d, j) as
   bands[3 - d, j]. Its factor takes the place of `bands`, the solution that of `values`.
   bands: (4, n)  values: (n, n_columns) */
ML_API ml_status ml_spline_solve(int64_t n, int64_t n_columns, double *bands, double *values);

/* The cheapest paths through a grid of costs, with steps of one row, of one column or of both, and
   at most `limit` (up to 127) in a row of either of the first two kinds. Paths start at the first
   cell, in the run `seed_state`, or with `free_start` anywhere on the first row and column.

   `states` is how the best path arrives at each cell. 0: by a diagonal, or it starts there; 1..L:
   after so many steps along rows; L+1..2L: along columns. `border` holds the totals of the m cells
   of the last row, then of the first n - 1 of the last column, and `border_count` the cells of
   their paths. `level` is taken off every cost. Cells that the limit puts out of reach of the
   start, or with `to_corner` of the last cell, are left as they are.

   Every run starts at a cell in state 0, and that state only needs the row before. So no cell
   waits for its left neighbour, and a row is done state by state. `totals` and `marks` are memory
   to work in.
   cost, states: (n, m)  totals: (2 * limit + 5, m)  marks: (limit + 3, m)
   border, border_count: (n + m - 1) */
ML_API ml_status ml_sweep_grid(int64_t n, int64_t m, const double *cost, double level,
                               int64_t limit, int64_t seed_state, int32_t free_start,
                               int32_t to_corner, double *totals, int64_t *marks, uint8_t *states,
                               double *border, int64_t *border_count);

/* The best path that ends in cell (i, j) after so many cells, of the states of a sweep: first cell
   first.
   states: (n, m)  cells: (n_cells, 2) */
ML_API ml_status ml_sweep_trace(int64_t n, int64_t m, const uint8_t *states, int64_t limit,
                                int64_t i, int64_t j, int64_t n_cells, int64_t *cells);

/* ---- Blending ---------------------------------------------------------------------------------*/

/* Parameters of successive frames from `start` until `stop` would be passed, at most n; `made` of
   them were written. Frame i goes on with the weights of row i.
   points: (n_points, n_motions)  weights: (n, n_motions)  out: (n)  made: (1) */
ML_API ml_status ml_walk_along(int64_t n_points, int64_t n_motions, const double *points, int64_t n,
                               const double *weights, double start, double frames, double stop,
                               uint8_t euler, double *out, int64_t *made);

/* Places (turn, x, z) that carry a group of aligned motions into the world, frame by frame from
   the first, which is given. Turns and slides are those of the motions' alignments, roots are
   aligned, on the ground.
   turned, weights: (n, n_motions)  slid, roots: (n, n_motions, 2)  places: (n, 3) */
ML_API void ml_walk_place(int64_t n, int64_t n_motions, const double *turned, const double *slid,
                          const double *roots, const double *weights, double *places);

/* Where every motion of a registration curve stands at parameters u, in spline units: its frame,
   the turn and slide of its alignment, its root after that. Motion k has the rows from starts[k]
   to starts[k + 1]; `aligning` are control points of turns and of offsets from the reference.
   times: (n_points, n_motions)  aligning: (n_motions, n_points, 3)  starts: (n_motions + 1)
   positions: (n_rows, 3)  u: (n)  frames, turned: (n, n_motions)  slid: (n, n_motions, 2)
   roots: (n, n_motions, 3) */
ML_API ml_status ml_group_stand(int64_t n_motions, int64_t n_points, const double *times,
                                const double *aligning, int64_t reference, int64_t n_rows,
                                const int64_t *starts, const double *positions, int64_t n,
                                const double *u, double *frames, double *turned, double *slid,
                                double *roots);

/* Local rotations of several motions at fractional frames, mixed by weights. Motion k has the rows
   from starts[k] to starts[k + 1], and its root is first turned by its heading about +Y. How far
   rotations of a joint lie from their mean raises `spread`, radians.
   quats: (n_rows, n_joints, 4)  starts: (n_motions + 1)  frames, weights, headings: (n, n_motions)
   scratch: (n_motions, 8)  out: (n, n_joints, 4)  spread: (n_joints) or NULL */
ML_API ml_status ml_pose_mix(int64_t n_motions, int64_t n_rows, int64_t n_joints,
                             const double *quats, const int64_t *starts, int64_t n,
                             const double *frames, const double *weights, const double *headings,
                             double *scratch, double *out, double *spread);

/* A blend that is steered live: its motions as for ml_group_stand and ml_pose_mix, how it is
   played, and where it is. It plays from `begin` to `end` of the curve; a loop goes round, and
   what the pose jumps by there is eased away over `seam_frames`. Closures are the transforms
   (turn, x, z) of each motion from where a round begins to where it ends; what is called end_...
   belongs to the end of a round and to its begin. Plant i holds one of four points of the feet
   over a span of each motion, in average frames, of which a knot has `frames_per_knot`. Weights
   that change faster than by 1 in `ease_frames` ease in over that time: what they jumped by is taken
   off, less and less. Slower changes are followed at once.
   starts: (n_motions + 1)  quats: (n_rows, n_joints, 4)  positions: (n_rows, 3)
   translations: (n_rows, n_joints, 3) or NULL where bones are rigid
   times: (n_points, n_motions)  aligning: (n_motions, n_points, 3)
   closures: (n_motions, 3)  end_frames, end_turned, end_heights: (2, n_motions)
   plants: (n_plants, n_motions, 2)  planted_points: (n_plants)
   asked, weights, easing: (n_motions)  last: (n_motions, 3)  seam, seam_moved: (n_joints, 3)
   scratch: (21 * n_motions + 8 * n_joints) */
typedef struct {
    int64_t n_motions, n_rows, n_joints, n_points, n_plants, reference;
    const int64_t *starts;
    const double *quats, *positions, *translations, *times, *aligning;
    const double *closures, *end_frames, *end_turned, *end_heights;
    const double *plants;
    const int64_t *planted_points;
    double direction; /* 1, or -1 where it is played backwards */
    double begin, end, frames_per_knot, seam_frames, ease_frames;
    uint8_t euler; /* how it advances, as in ml_walk_step */
    uint8_t begun, done;
    double at;          /* on the curve, in spline units */
    double turn, x, z;  /* place of the group in the world */
    double *asked;      /* weights that the last call asked for */
    double *weights;    /* weights of the frame before */
    double *easing;     /* what the weights jumped by */
    int64_t since_jump; /* frames since the weights jumped; -1: none to ease in */
    double *last;       /* alignments (turn, x, z) of the frame before */
    double *seam;       /* rotation vectors of the last jump */
    double *seam_moved; /* what translations jumped by, metres */
    double lift;        /* height of the last jump, metres */
    int64_t since_seam; /* frames since the last jump; -1: none to ease away */
    double *scratch;
} ml_live;

/* The next frame of a live blend; the first call gives the first frame. Without `loop` the last
   pose is held, and `done` is set.
   weights: (live.n_motions)  root: (3)  quats: (live.n_joints, 4)
   moved: (live.n_joints, 3) or NULL: translations of the joints; left alone where bones are rigid
   planted: (4) */
ML_API ml_status ml_live_step(ml_live *live, uint8_t loop, const double *weights, double *root,
                              double *quats, double *moved, uint8_t *planted);

/* The feet of a live motion, held where they come down. Legs are hip, knee and ankle of each side,
   poles where its knee points, in the hip's frame; levers are heel and ball in the ankle's frame.
   What a hold changes of a foot is a shift, then a rotation vector, with speeds; `sink` is how low
   the body is, and how fast it goes down; `slide` is how far it followed its feet.
   parents: (n_joints)  offsets: (n_joints, 3)  legs: (2, 3)  poles: (2, 3)  levers: (2, 2, 3)
   held, loose: (4)  places: (4, 3)  shifts, speeds: (2, 6)  sink, slide: (2)
   positions: (n_joints, 3)  world: (n_joints, 4) */
typedef struct {
    int64_t n_joints;
    const int64_t *parents, *legs;
    const double *offsets, *poles, *levers;
    double fps;
    uint8_t begun;
    uint8_t *held;  /* points that are held */
    uint8_t *loose; /* points that were let go in the middle of their contact */
    double *places; /* of held points */
    double *shifts, *speeds;
    double *sink, *slide;
    double *positions, *world; /* memory to work in */
} ml_stance;

/* The next frame of a live motion with its planted points held; what could not be held is taken
   out of `planted`.
   root: (3)  quats: (stance.n_joints, 4)  planted: (4) */
ML_API ml_status ml_stance_hold(ml_stance *stance, double *root, double *quats, uint8_t *planted);

/* Polynomials of degree 0, 1 or 2 in time fitted around every frame, at that frame; those near in
   time count most. Windows have `half` frames to either side, and as many near the ends of the
   clip, on one side. The degree is below n.
   values, out: (n, n_columns)  weights: (n)  scratch: (3, n) */
ML_API ml_status ml_smoothing_fit(int64_t n, int64_t n_columns, const double *values,
                                  const double *weights, int64_t half, int64_t degree,
                                  double *scratch, double *out);

/* ---- Foot plants and their evidence -----------------------------------------------------------*/

/* How often feet stand if they slide at each of these parts of the body's velocity. Velocities in
   m/s.
   feet: (n_frames, n_points, 3)  body: (n_frames, 3)  slides, out: (n_slides) */
ML_API void ml_foot_standing(int64_t n_frames, int64_t n_points, const double *feet,
                             const double *body, int64_t n_slides, const double *slides,
                             double *out);

/* One round of finding the velocity of a ground that slides: least squares towards the velocity of
   that of the points which are not high that is nearest to the ground so far. A point that is
   `strange` off, m/s, counts a quarter. `stiff` are the squared second differences, as bands for
   ml_spline_solve, `bands` is scratch memory, and `ground` is both the velocity so far and the new.
   moving: (n, n_points, 2)  high: (n, n_points)  stiff, bands: (4, n)  ground: (n, 2) */
ML_API ml_status ml_ground_follow(int64_t n, int64_t n_points, const double *moving,
                                  const uint8_t *high, double strange, const double *stiff,
                                  double *bands, double *ground);

/* Medians of columns over runs of frames, each from its first frame to its last. `work` is scratch
   memory.
   columns: (n_frames, n_columns)  runs: (n_runs, 2)  work: (n_frames)  out: (n_runs, n_columns) */
ML_API ml_status ml_run_medians(int64_t n_frames, int64_t n_columns, const double *columns,
                                int64_t n_runs, const int64_t *runs, double *work, double *out);

/* The track about each edge, over the ground and upwards, as means of `block` frames: `before`
   blocks outside the plant and `after` inside. Windows run from inside the plant outwards and begin
   at 0. Each is turned about the vertical so that the point leaves along its first axis.
   points: (n_frames, 3)  edges: (n_edges)  ground: (before + after, n_edges, 2)
   height: (before + after, n_edges) */
ML_API ml_status ml_edge_windows(int64_t n_frames, const double *points, int64_t n_edges,
                                 const int64_t *edges, int64_t before, int64_t after, int64_t block,
                                 double *ground, double *height);

/* Log evidence of tracks for each instant of coming to rest, in frames from the innermost one. Axes
   are independent, and each may move at any of the densities. Up to the instant the point stands
   whatever the density, so those frames are eliminated once for all densities and later instants, and only
   what is left of the others is factored each time. Noise is white, of size `sigma`, and whatever
   else of it has the autocovariance `sway` by lag. `earliest_first` puts the instants in order;
   `work` is scratch memory.
   tracks: (n_frames, n_tracks, n_axes)  rests, earliest_first: (n_rests)  densities: (n_densities)
   sway: (n_frames)  out: (n_tracks, n_rests)
   work: (3 * n_frames * n_frames + n_frames + 2 * n_frames * n_tracks * n_axes
   + 2 * n_tracks * n_axes + n_densities * n_tracks * n_axes) */
ML_API ml_status ml_edge_evidence(int64_t n_frames, int64_t n_tracks, int64_t n_axes,
                                  const double *tracks, int64_t n_rests, const double *rests,
                                  const int64_t *earliest_first, int64_t n_densities,
                                  const double *densities, double sigma, double drift, double fps,
                                  double impact, const double *sway, double *work, double *out);

/* ---- Quality checks ---------------------------------------------------------------------------*/

/* What the checks need to know of a skeleton: joints that are checked, the pelvis first; joints
   above the pelvis; the head, -1 where there is none; left and right joints whose line tells the
   heading; hip, knee and ankle of both legs, or of none; the axis of each knee in its hip's frame;
   heel and ball of each foot in its ankle's frame, metres.
   parents: (n_joints)  checked: (n_checked)  carriers: (n_carriers)  across: (n_across, 2)
   legs, hinges: (n_legs, 3)  soles: (n_legs, 2, 3) */
typedef struct {
    int64_t n_joints, n_checked, n_carriers, n_across, n_legs, head;
    const int64_t *parents, *checked, *carriers, *across, *legs;
    const double *hinges, *soles;
} ml_check_rig;

/* What is measured in every frame. Of checked joints: rotation speed in their parents (of the
   pelvis: in the world), rad/s; speed relative to their parents, m/s; size of the second difference
   of their positions, m/s2; how far they are, seen from their parents, from the middle between where
   they are before and after, metres (the pelvis: 0). Rotation speeds of the joints above the pelvis and of the head, rad/s.
   Heading, unwrapped, and flexion of both knees, radians. Left heel, left ball, right heel, right
   ball, the height of the lowest joint or sole point, the pelvis, and the mass point of trunk and
   legs (of bodies without legs: the pelvis), metres. Row 0 of steps is 0, and so are the first and
   last row of bends and kinks.
   turn, speed, bend, kink: (n_frames, n_checked)  carried: (n_frames, n_carriers)
   head, heading, lowest: (n_frames)  flexion: (n_frames, 2)  soles: (n_frames, 4, 3)
   pelvis, mass: (n_frames, 3) */
typedef struct {
    int64_t n_frames, n_checked, n_carriers;
    double *turn, *speed, *bend, *kink, *carried, *head, *heading, *flexion, *soles, *lowest,
        *pelvis;
    double *mass;
} ml_check_series;

/* How fast, how low and how far the sources go. Of each sole point: the lowest it is, the height
   below which it is on the floor and at which it stands, metres. Of heels, balls and the pads of
   heels, a fifth of the way to the ball: how far they get within contacts of each of seven lengths,
   and how far they are dragged, 1, 2 and 3 cm over the floor; fourth rows are 0. `body`: the head's
   usual rotation speed, ground speed, deceleration, and how far it is off free fall where nothing
   supports it. `quick`: the speed that each joint
   may always have, m/s.
   turn, speed, bend, quick: (n_checked)  carried: (n_carriers)
   least_flexion, most_flexion: (2)  sole, floor, highest, body: (4)  slide: (4, 7)  drag: (4, 3) */
typedef struct {
    int64_t n_checked, n_carriers;
    const double *turn, *speed, *bend, *carried, *least_flexion, *most_flexion, *sole, *floor;
    const double *highest, *slide, *drag, *body, *quick;
} ml_check_limits;

/* Fills a series, of zeros, from world positions, world and local rotations. `work` is scratch
   memory.
   positions: (out.n_frames, rig.n_joints, 3)  world, quats: (out.n_frames, rig.n_joints, 4)
   work: (rig.n_joints, 6) */
ML_API ml_status ml_check_measure(const ml_check_rig *rig, double fps, const double *positions,
                                  const double *world, const double *quats, double *work,
                                  const ml_check_series *out);

/* How fast, how low and how far a clip goes in its good frames, of which there is at least one; the
   fields of ml_check_limits. Flexion: the least of both knees, then the most. Floors, slides, drags
   and hovering are those of all frames. `work` is scratch memory.
   planted: (series.n_frames, 4)  good: (series.n_frames)  work: (4 * series.n_frames)
   turn, speed, bend: (series.n_checked)  carried: (series.n_carriers)  flexion: (2, 2)
   sole, floor, highest, body: (4)  slide: (4, 7)  drag: (4, 3) */
ML_API ml_status ml_limits_measure(const ml_check_series *series, double fps,
                                   const uint8_t *planted, const uint8_t *good, double *work,
                                   double *turn, double *speed, double *bend, double *carried,
                                   double *flexion, double *sole, double *floor, double *highest,
                                   double *slide, double *drag, double *body);

/* Failures of a motion against the limits of its sources: rows of check, joint (as an index into
   the checked ones, or -1), frame, value and limit; of every check and joint the worst. Frames
   `first` to `last` are checked; the others show what goes before and after, and so do frames that
   are not `judged`. Frames that are skipped have capture glitches. `plan`: headings that the body should have. Soles, contacts and drags are
   checked where feet are `held`. Where frames were copied from a source: `allowed` are its rotation
   speeds, speeds and second differences in that very frame; `grounds`, of the four sole points and
   the pads of both heels, the lowest height, how far the contact that starts there may slide, and how
   far the point may be dragged, 1, 2 and 3 cm over the floor. `floors`: of each frame, heights below
   which sole points are on the floor, and at which they stand; `hovers`, how far the body is off free
   fall in what each frame is made of, metres: where these are not those of the limits. `warp`: part of
   gravity by which a flight may be slower or faster, because clips play slower or faster.
   `work` is scratch memory.
   planted: (series.n_frames, 4)  skipped: (series.n_frames)  judged: (series.n_frames) or NULL
   plan: (series.n_frames) or NULL
   allowed: (series.n_frames, series.n_checked, 3) or NULL  grounds: (series.n_frames, 6, 5) or NULL
   floors: (series.n_frames, 2, 4) or NULL  hovers: (series.n_frames) or NULL
   work: (series.n_frames + 6 * series.n_checked)  found: (n_most, 5)  n_found: (1) */
ML_API ml_status ml_check_judge(const ml_check_series *series, const ml_check_limits *limits,
                                const uint8_t *planted, double fps, int64_t first, int64_t last,
                                const uint8_t *skipped, const uint8_t *judged, const double *plan,
                                uint8_t held, const double *allowed, const double *grounds,
                                const double *floors, const double *hovers, double warp,
                                double *work, int64_t n_most, double *found, int64_t *n_found);

/* What feet and body do in every frame, without labels. Velocities of five points of each sole, from
   heel to ball, m/s: to the left, up and ahead, seen from the body's heading; the slowest of them
   that is near a height at which the body stands within a second, -1 where none is; part of the
   weight on each foot; the pelvis' velocity, to the left and ahead; whether the body falls. Headings
   and soles are those of the series.
   velocity: (n_frames, 2, 5, 3)  share, travel: (n_frames, 2)  slowest: (n_frames, 2)
   heading: (n_frames)  soles: (n_frames, 4, 3)  falls: (n_frames) */
typedef struct {
    int64_t n_frames;
    double *velocity, *share, *travel;
    const double *heading, *soles;
    int8_t *slowest;
    uint8_t *falls;
} ml_support;

/* As `judged`: a frame that was judged before. */
#define ML_SUPPORT_SEEN 2

/* Fills frames `first` to `stop` - 1. `leg`: length of thigh and shank, metres. `levels` is scratch
   memory.
   levels: (series.n_frames) */
ML_API ml_status ml_support_measure(const ml_check_series *series, double fps, double leg,
                                    int64_t first, int64_t stop, double *levels,
                                    const ml_support *out);

/* What a clip tells of frames `first` to `stop` - 1 of a result, of which it plays at its frames `at`,
   nan where it does not: at nine moments within 0.08 s, velocities of the result's slowest point of
   each foot, at the clip's rate, nan where the clip's foot is in the air, and those of the pelvis;
   the rate; and the lowest heights of the four sole points within half a second, metres.
   at: (result.n_frames)  feet: (stop - first, 2, 9, 2)  travel: (stop - first, 9, 2)
   rates: (stop - first)  lows: (stop - first, 4) */
ML_API ml_status ml_support_told(const ml_support *source, double source_fps,
                                 const ml_support *result, double fps, int64_t first, int64_t stop,
                                 const double *at, double *feet, double *travel, double *rates,
                                 double *lows);

/* Failures of support and travel, rows as of ml_check_judge: feet that carry the body and get
   farther over the ground than the clips' feet do (joint: 0 left, 1 right, 2 the slower of both),
   bodies that are slower or faster than every clip, or travel elsewhere, and soles below those of
   the clips (joint: the sole point). `part`, up to 1, of what is allowed beyond the clips is allowed. Frames that are not `judged` count for nothing; of those that
   were SEEN before slips count. `ways` is scratch memory.
   feet: (n_told, stop - first, 2, 9, 2)  travel: (n_told, stop - first, 9, 2)
   rates: (n_told, stop - first)  lows: (n_told, stop - first, 4)  judged: (result.n_frames)
   ways: (stop - first + 1, 10)
   found: (n_most, 5)  n_found: (1) */
ML_API ml_status ml_support_judge(const ml_support *result, double fps, int64_t first, int64_t stop,
                                  int64_t n_told, const double *feet, const double *travel,
                                  const double *rates, const double *lows, const uint8_t *judged,
                                  double part, double *ways, int64_t n_most, double *found,
                                  int64_t *n_found);

/* Height that `part` of the planted heights of each sole point are below, metres; of a point that is
   hardly ever planted the lowest of the others. Where all are, the height that the lowest point of
   the body is below in a twentieth of the frames. `work` is scratch memory.
   soles: (n_frames, 4, 3)  lowest, work: (n_frames)  planted: (n_frames, 4)  out: (4) */
ML_API void ml_sole_floors(int64_t n_frames, const double *soles, const double *lowest,
                           const uint8_t *planted, double part, double *work, double *out);

/* Farthest that heels, balls and pads of heels get over the ground within a contact, metres, over
   parts of contacts of each of seven lengths; fourth row 0. Both feet have that of the farther: a
   short clip shows few steps, and people walk with both feet alike. `boxes` is scratch memory.
   soles: (n_frames, 4, 3)  planted, boxes: (n_frames, 4)  out: (4, 7) */
ML_API void ml_sole_slides(int64_t n_frames, const double *soles, const uint8_t *planted,
                           double fps, double *boxes, double *out);

/* Longest drag of heels, balls and pads of heels along the floor, 1, 2 and 3 cm over it, both feet the
   farther's, metres; fourth row 0.
   soles: (n_frames, 4, 3)  floors: (4)  out: (4, 3) */
ML_API void ml_sole_drags(int64_t n_frames, const double *soles, const double *floors, double fps,
                          double *out);

/* How far the mass point of a body that nothing supports leaves the path of free fall at most,
   metres; and of the run of frames that each frame is in.
   soles: (n_frames, 4, 3)  lowest: (n_frames)  mass: (n_frames, 3)  floors: (4)
   out: (n_frames) or NULL */
ML_API double ml_sole_hover(int64_t n_frames, const double *soles, const double *lowest,
                            const double *mass, const double *floors, double fps, float *out);

/* What each joint does in frames that were copied from a source, with its neighbours: frames `first`
   on of the result are the n frames from `start` on of the source. Rotation speeds, speeds and
   second differences `more` times as large, in the rows of the result.
   turn, speed, bend: (n_own, n_checked)  out: (n_frames, n_checked, 3) */
ML_API ml_status ml_copied_joints(int64_t n_own, int64_t n_checked, const double *turn,
                                  const double *speed, const double *bend, int64_t n_frames,
                                  int64_t first, int64_t start, int64_t n, double more,
                                  double *out);

/* How low each sole point may be where it is planted in copied frames, metres: `sink` below the
   lowest that it is in the source within `near` frames; and, in the first frame of a contact that
   is wholly copied, how far it may slide: `more` times as far as in the source. Other numbers of
   `out` stay as they are.
   soles: (n_own, 4, 3)  planted: (n_frames, 4)  out: (n_frames, 6, 5) */
ML_API ml_status ml_copied_grounds(int64_t n_own, const double *soles, int64_t n_frames,
                                   const uint8_t *planted, int64_t first, int64_t start, int64_t n,
                                   int64_t near, double sink, double more, double *out);

/* How far each sole point may be dragged in copied frames, metres, the last number of `out`: so many
   times as far as in the source within `near` frames, over floors at these heights. Other numbers
   of `out` stay as they are.
   soles: (n_own, 4, 3)  floors: (4)  out: (n_frames, 6, 5) */
ML_API ml_status ml_copied_drags(int64_t n_own, const double *soles, const double *floors,
                                 double fps, int64_t n_frames, int64_t first, int64_t start,
                                 int64_t n, int64_t near, double more, double *out);

/* ---- Glitches ---------------------------------------------------------------------------------*/

/* Steps in which a joint is faster than `fast` and more than `ratio` times as fast as in the `half`
   steps before and after, but for the nearest: than what four of five of them are below, and
   `steady` more; all in radians per second. How many there are, and the first `most` of them: step,
   joint and how many times as fast. So also step and joint of those that are `too_fast`, which is
   more than `fast`. Rotations are of unit length: `off` is how far the square of any length is from
   1, and how far two rotations in a row are from being on one side. `work` is scratch memory.
   quats: (n_frames, n_joints, 4)  work: (2 * half)  found: (most, 3)  beyond: (most, 2)
   n_beyond: (1)  off: (2) */
ML_API int64_t ml_spike_find(int64_t n_frames, int64_t n_joints, const double *quats, double fps,
                             double fast, double steady, double ratio, double too_fast,
                             int64_t half, double *work, int64_t most, double *found,
                             int64_t *beyond, int64_t *n_beyond, double *off);

/* When the path of a joint bends too sharply, in m/s2. It is judged from frames `stride` before and
   after: where it bends more than `sharp`; where the frames `stride` away bend at most `beside`
   times as much; where single frames bend at least `sharpest` times as much as the sharpest nearby;
   and more than `ratio` times as much as what four of five of the `half` such frames before and
   after are below, and `calm` more. */
typedef struct {
    int64_t stride, half;
    double sharp, beside, sharpest, ratio, calm;
} ml_bends;

/* For every frame the one of some joints whose path bends most of those that bend too sharply, as
   its number among them, else -1. `work` is scratch memory.
   positions: (n_frames, n_joints, 3)  joints: (n_chosen)  work: (2 * rules.half)
   found: (n_frames) */
ML_API ml_status ml_bend_find(int64_t n_frames, int64_t n_joints, const double *positions,
                              int64_t n_chosen, const int64_t *joints, double fps,
                              const ml_bends *rules, double *work, int64_t *found);

/* ---- Clean-up ---------------------------------------------------------------------------------*/

/* Values where they are held, and a smooth path to zero over `length` frames around; holds at
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
ML_API void ml_offset_highest(int64_t n_frames, const double *values, int64_t half, double *scratch,
                              double *out);

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

/* Frames in which heel and ball of the left and of the right foot are held, and where; other numbers
   stay as they are. Spans are of point, first and last frame.
   spans: (n_holds, 3)  places: (n_holds, 3)  held: (2, n_frames, 2)  stood: (2, n_frames, 2, 3) */
ML_API ml_status ml_hold_fill(int64_t n_frames, int64_t n_holds, const int64_t *spans,
                              const double *places, uint8_t *held, double *stood);

/* A leg that is cleaned, in the world: joints, heel and ball of its foot, lengths of thigh, of shank
   and from hip to ankle, and how far the ankle may be from the hip. Metres.
   hip, knee, ankle, heel, ball: (n_frames, 3)  bones: (3, n_frames)  reach: (n_frames) */
typedef struct {
    int64_t n_frames;
    const double *hip, *knee, *ankle, *heel, *ball, *bones, *reach;
} ml_leg;

/* Joints of a leg (hip, knee and ankle), lengths of its bones, and the axis and the pole of its knee
   in the world, which are given in the hip joint's frame.
   positions: (n_frames, n_joints, 3)  world: (n_frames, n_joints, 4)  joints, axis, pole: (3)
   hip, knee, ankle, hinges, poles: (n_frames, 3)  bones: (3, n_frames) */
ML_API ml_status ml_leg_read(int64_t n_frames, int64_t n_joints, const double *positions,
                             const double *world, const int64_t *joints, const double *axis,
                             const double *pole, double *hip, double *knee, double *ankle,
                             double *bones, double *hinges, double *poles);

/* Where a foot is to be: as of ml_foot_place, with an ankle that may be a little less far from the
   hip than its reach, ground as of ml_foot_ground, and raised so that it is not pushed into that:
   weights over `half` frames to either side smooth the lift; then by `lifts` of its side, 0 for
   left and 1 for right. Of arrays with a column per side, only this side's is written: how far held ankles may
   be from their hips; 1 where a foot is held, falling to 0 over `stop` frames; the ground under heel
   and ball; targets of ankles; heels and balls there. `flags` and `work` are scratch memory.
   held: (n_frames, 2)  places: (n_frames, 2, 3)  lifts: (n_frames, 2)  weights: (2 * half + 1)
   flags: (2, n_frames)  work: (10 * n_frames + 2 * half)  q_foot, q_toes: (n_frames, 4)
   shift: (n_frames, 3)  roll: (n_frames)  levers: (n_frames, 2, 3)
   held_reach, pull: (n_frames, 2)  ground: (n_frames, 4)  targets: (n_frames, 2, 3)
   points: (n_frames, 4, 3) */
ML_API ml_status ml_foot_aim(int64_t n_frames, int64_t side, const ml_leg *leg, const uint8_t *held,
                             const double *places, const double *lifts, double length, double stop,
                             double free_change, int32_t may_roll, int64_t half,
                             const double *weights, uint8_t *flags, double *work, double *q_foot,
                             double *q_toes, double *shift, double *roll, double *levers,
                             double *held_reach, double *pull, double *ground, double *targets,
                             double *points);

/* Hip, knee and ankle of a leg whose root has shifted, and where its ankle goes: to its target where
   the foot is held; where it is free, a leg near full stretch stays a little behind, the less so
   within `length` frames of a hold. Knees that open where a hold ends (or, backwards in time, begins)
   are braked before full stretch stops them; they may speed up by `free_change`, metres per frame and frame.
   `flags` and `work` are scratch memory.
   held: (n_frames, 2)  shift, target, hip, knee, ankle, end: (n_frames, 3)  flags: (n_frames)
   work: (4, n_frames) */
ML_API ml_status ml_leg_aim(int64_t n_frames, const ml_leg *leg, const uint8_t *held,
                            const double *shift, const double *target, double length,
                            double free_change, uint8_t *flags, double *work, double *hip,
                            double *knee, double *ankle, double *end);

/* Heel and ball of one foot, in the columns of its side, from their places in the frame of the ankle
   joint; the ball is the toe joint, where that is not -1.
   positions: (n_frames, n_joints, 3)  world: (n_frames, n_joints, 4)  heel, ball: (3)
   points: (n_frames, 4, 3) */
ML_API ml_status ml_foot_points(int64_t n_frames, int64_t n_joints, const double *positions,
                                const double *world, int64_t ankle, int64_t toe, int64_t side,
                                const double *heel, const double *ball, double *points);

/* Heel and ball of one foot on its ankle joint, in the columns of its side.
   positions: (n_frames, n_joints, 3)  levers: (n_frames, 2, 3)  points: (n_frames, 4, 3) */
ML_API ml_status ml_foot_follow(int64_t n_frames, int64_t n_joints, const double *positions,
                                int64_t ankle, int64_t side, const double *levers, double *points);

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

/* Size of the second difference of a track in each frame, 0 in the first and the last, written to
   one column of `out`.
   track: (n, 3)  out: (n, n_columns) */
ML_API void ml_knee_jerks(int64_t n, const double *track, int64_t n_columns, int64_t column,
                          double *out);

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

/* 1 at both frames of every fast step, falling smoothly to 0 `half` frames away. Frames above 0 are
   marked as changed; others are left as they are.
   fast: (n_frames - 1)  part: (n_frames)  changed: (n_frames) or NULL */
ML_API void ml_calm_share(int64_t n_frames, const uint8_t *fast, int64_t half, double *part,
                          uint8_t *changed);

/* Smooth the correction of a leg, from `before` to `local`, by `part` in every frame, with weights
   over `half` frames to either side; beyond the ends the end value counts. Its knee follows, which
   is at `positions` while the local rotation of the hip is that of `after`. The first joints are hip
   and knee.
   before, world, local: (n_frames, n_joints, 4)  after: (n_frames, 4)
   positions: (n_frames, n_joints, 3)  joints: (n_chosen)  part: (n_frames)
   weights: (2 * half + 1)  scratch: (n_frames, n_chosen, 3)  knee: (n_frames, 3) */
ML_API ml_status ml_calm_smooth(int64_t n_frames, int64_t n_joints, const double *before,
                                const double *after, const double *positions, const double *world,
                                int64_t n_chosen, const int64_t *joints, const double *part,
                                int64_t half, const double *weights, double *scratch, double *local,
                                double *knee);

/* Heel and ball of a foot in the columns of its side, in frames in which any leg was changed: as far
   from the ankle joint as before, turned with it. Where its own leg was changed, a point farther
   than `missed` from its place is not held any more.
   positions: (n_frames, n_joints, 3)  world, before: (n_frames, n_joints, 4)
   places: (n_frames, 2, 3)  any, own: (n_frames)  points: (n_frames, 4, 3)  held: (n_frames, 2) */
ML_API ml_status ml_calm_loose(int64_t n_frames, int64_t n_joints, int64_t side, const ml_leg *leg,
                               int64_t ankle, const double *positions, const double *world,
                               const double *before, const double *places, const uint8_t *any,
                               const uint8_t *own, double missed, double *points, uint8_t *held);

/* Local rotations of a leg after world turns of its thigh, shank, foot and toes, in frames where
   the root shifts, the foot turns, or the ankle has another target than where it is; others stay.
   Joints are hip, knee, ankle and toe (-1 where there is none), with their parents; joints between
   them ride along. `off`, which is not set to 0 first, is raised to how far the square of the length
   of any of these rotations is from 1, and to how far two in a row are from being on one side.
   joints, parents: (4)  world: (n_frames, n_joints, 4)  shift, ankle, target: (n_frames, 3)
   q_upper, q_lower, q_foot, q_toes: (n_frames, 4)  local: (n_frames, n_joints, 4)  off: (2) */
ML_API ml_status ml_rewrite_leg(int64_t n_frames, int64_t n_joints, const int64_t *joints,
                                const int64_t *parents, const double *world, const double *shift,
                                const double *ankle, const double *target, const double *q_upper,
                                const double *q_lower, const double *q_foot, const double *q_toes,
                                double *local, double *off);

/* Mean and greatest distance between the same joints before and after.
   before, after: (n_frames, n_joints, 3)  out: (2) */
ML_API void ml_rewrite_ways(int64_t n_frames, int64_t n_joints, const double *before,
                            const double *after, double *out);

/* How many frames have a held point farther than `missed` from its place, and the farthest that any
   is; the deepest that a point is under the ground before and after; the farthest that the root
   shifts, as a square. Places are those of the left and of the right foot.
   before, after: (n_frames, 4, 3)  held, ground: (n_frames, 4)  left, right: (n_frames, 2, 3)
   shift: (n_frames, 3)  out: (5) */
ML_API void ml_contact_misses(int64_t n_frames, const double *before, const double *after,
                              const uint8_t *held, const double *left, const double *right,
                              const double *ground, const double *shift, double missed,
                              double *out);

/* Speeds to the next frame of heels and balls that are planted in both, else -1.
   points: (n_frames, 4, 3)  planted, out: (n_frames, 4) */
ML_API void ml_contact_speeds(int64_t n_frames, const double *points, const uint8_t *planted,
                              double fps, double *out);

/* Highest of those speeds within labels of a point, first and last frame.
   points: (n_frames, 4, 3)  planted: (n_frames, 4)  labels: (n_labels, 3)  out: (n_labels) */
ML_API ml_status ml_contact_fastest(int64_t n_frames, const double *points, const uint8_t *planted,
                                    double fps, int64_t n_labels, const int64_t *labels,
                                    double *out);

/* First and last frame in which each plant is held (-1 for none), and how far its point slides over
   the ground, before and after: while held (or labelled, if it is not), and over the whole label.
   Rows of `holds` are point, first and last frame of the label, first and last frame to look at,
   and whether it counts as held at all.
   before, after: (n_frames, 4, 3)  held: (n_frames, 4)  holds: (n_holds, 6)  out: (n_holds, 2)
   slides: (n_holds, 4) */
ML_API ml_status ml_contact_slides(int64_t n_frames, const double *before, const double *after,
                                   const uint8_t *held, int64_t n_holds, const int64_t *holds,
                                   int64_t *out, double *slides);

/* ---- Matrices ---------------------------------------------------------------------------------
   Sums run over their terms in order, so that the same input gives the same bits everywhere, which
   libraries of linear algebra do not promise. */

/* Products of matrices, a b.
   a: (n, n_between)  b: (n_between, n_columns)  out: (n, n_columns) */
ML_API void ml_matrix_multiply(int64_t n, int64_t n_between, int64_t n_columns, const double *a,
                               const double *b, double *out);

/* Products of every two columns, summed over the rows and added to `out`.
   a: (n, n_columns)  out: (n_columns, n_columns) */
ML_API void ml_matrix_square(int64_t n, int64_t n_columns, const double *a, double *out);

/* Eigenvalues of a symmetric matrix, ascending, and its eigenvectors, one a row, by Householder's
   reduction and implicit QL steps.
   matrix, vectors: (n, n)  values, scratch: (n) */
ML_API void ml_matrix_eigen(int64_t n, const double *matrix, double *values, double *vectors,
                            double *scratch);

/* ---- Distance of windows ----------------------------------------------------------------------
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

/* A collection as contexts see it. A velocity counts as the distance that it covers in `reach` frames.
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
   it, and of the displacement of the window that starts there; and how contexts become codes.
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
   and by their displacements, whichever are 1; `heads` are the first 8 codes of each.
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
                                      int64_t enough, float *moments, int64_t *near, float *scratch,
                                      int64_t count, int64_t *rows, float *squared,
                                      int64_t *n_found);

/* Largest step of a joint, turn of a joint and step of the pelvis over the ground between
   neighbouring frames of a clip, in metres and radians.
   heading: (n_frames)  ground: (n_frames, 2)  quats: (n_frames, n_joints, 4)
   body: (n_frames, n_joints, 3)  scratch: (2, n_joints, 3)  out: (3) */
ML_API void ml_pace_measure(int64_t n_frames, int64_t n_joints, const double *heading,
                            const double *ground, const float *quats, const float *body,
                            int64_t pelvis, double *scratch, double *out);

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

/* The same by nested spherical interpolation of neighbours at a part of each frame, 0 to 1, as
   Bezier curves are made of lines.
   at: (n_frames, n_ways)  parts, psi: (n_frames)  out: (n_frames, rows.n_joints, 4) */
ML_API ml_status ml_nested_rotations(const ml_rows *rows, int64_t n_frames, int64_t n_ways,
                                     const int64_t *at, const double *parts, const double *psi,
                                     double *out);

/* Local rotations whose joints look as given positions do, on the bones of the skeleton. From the
   root outwards every bone keeps its direction; a joint with several bones turns so that they fit
   best, one with a single bone the shortest way from the guess, which has the twist that positions
   cannot tell; ends keep the guess.
   parents: (n_joints)  offsets: (n_joints, 3)  joints: (n_frames, n_joints, 3)
   guess, out: (n_frames, n_joints, 4)  worlds: (2, n_joints, 4) */
ML_API ml_status ml_bones_restore(int64_t n_frames, int64_t n_joints, const int64_t *parents,
                                  const double *offsets, const double *joints, const double *guess,
                                  double *worlds, double *out);

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

/* How far a body comes down in every frame so that held feet are in reach, metres. A foot is free
   where `held` is below 0; ankles are moved by `shifts`.
   legs: (2, 3)  positions: (n_frames, n_joints, 3)  held: (2, n_frames)
   shifts: (2, n_frames, 3)  scratch, drops: (n_frames) */
ML_API ml_status ml_reach_lower(int64_t n_frames, int64_t n_joints, const int64_t *legs,
                                const double *positions, const int64_t *held, const double *shifts,
                                double *scratch, double *drops);

/* A blend: the rows of its windows in every frame, and their weights. `speed` is the fastest joint of
   the clips, m/s: no foot is made to step faster.
   at: (n_frames, n_ways)  weights: (n_ways, n_frames) */
typedef struct {
    const ml_rows *rows;
    int64_t n_frames, n_ways;
    const int64_t *at;
    const double *weights;
    double fps, speed;
} ml_blend;

/* A foot of a blend: where the blend has its heel and ball, its ankle seen from its hip, and the length
   of its leg.
   heel, ball, legs: (blend.n_frames, 3) */
typedef struct {
    const ml_blend *blend;
    int64_t side;
    const double *heel, *ball, *legs;
    double reach;
} ml_blend_foot;

/* Frames that are made of a blend, and memory to make them in. `errors` are the mean distance of the
   blend's feet from where they are held, and the farthest that a held ankle could not reach, metres.
   scratch: (7 * n_joints + 57, n_frames)  held: (2, n_frames)  psi: (n_frames)
   root: (n_frames, 3)  quats: (n_frames, n_joints, 4)  planted: (n_frames, 4)  errors: (2) */
typedef struct {
    int64_t n_frames, n_joints;
    double *scratch;
    int64_t *held;
    double *psi, *root, *quats;
    uint8_t *planted;
    double *errors;
} ml_synthesis;

/* One leg (hip, knee, ankle) whose foot is shifted and its heel turned up about the ball, under a
   body that comes down. `positions` and `world` are those before.
   parents: (n_joints)  joints: (3)  sole: (2, 3)  pole: (3)  held: (n_frames)
   shifts: (n_frames, 3)  tilts, drops: (n_frames)  positions: (n_frames, n_joints, 3)
   world: (n_frames, n_joints, 4) */
typedef struct {
    int64_t n_frames, n_joints;
    const int64_t *parents, *joints;
    const double *sole, *pole;
    const int64_t *held;
    const double *shifts, *tilts, *drops, *positions, *world;
} ml_moved_leg;

/* Local rotations of a leg whose foot is moved; the farthest that a held ankle missed its place,
   metres. Where a held foot is out of reach, its heel comes up further, and goes down within a few
   frames.
   scratch: (leg.n_frames)  quats: (leg.n_frames, leg.n_joints, 4)  missed: (1) */
ML_API ml_status ml_reach_follow(const ml_moved_leg *leg, double *scratch, double *quats,
                                 double *missed);

/* Shift of one foot in every frame, metres. In frames held it takes the foot to its place. Between,
   it goes over from hold to hold with the slope that it has there, so that feet do not start at
   once; it is zero at both seams. A step from hold to hold is lifted off the ground where the blend
   would drag it, less so in `captured` windows than in blends. `held` is the number of a plant, or -1.
   held: (n_frames)  places, foot, offsets: (n_frames, 3) */
ML_API void ml_swing_offsets(int64_t n_frames, const int64_t *held, const double *places,
                             const double *foot, int32_t captured, double *offsets);

/* Lift a free foot that would be dragged along the ground, and turn its heel up where it would be
   in it, by `tilts` radians. Blends of a standing foot and a swinging one go along at the height of
   neither, and blends of feet that point up and down stand with the heel in the ground.
   at: (n_frames, n_ways)  weights: (n_ways, n_frames)  held: (n_frames)
   heel, ball: (n_frames, 3)  scratch: (4, n_frames)  offsets: (n_frames, 3)  tilts: (n_frames) */
ML_API ml_status ml_swing_clear(const ml_rows *rows, int64_t side, int64_t n_frames, int64_t n_ways,
                                const int64_t *at, const double *weights, const int64_t *held,
                                const double *heel, const double *ball, double fps,
                                int32_t captured, double *scratch, double *offsets, double *tilts);

/* Frames of a recipe: blended, then, with `feet`, its feet held where they stand. */
ML_API ml_status ml_synthesis_make(const ml_blend *blend, const ml_leg_rig *rig, int32_t feet,
                                   const ml_synthesis *made);

/* How passages share out what windows lack at their ends. Python reads these numbers from here.
   Velocities at an end are differences over REACH_S outside the passage. What the root lacks in
   velocity fades within GLIDE_S. What a joint lacks in spin fades within SHORTEST_S to EASE_S,
   sooner the faster it is, so that it adds at most SWING (7 degrees). What is left of a step fades
   within QUICK_S. Windows are averaged in what is slower than about SLOW_S. */
#define ML_PASSAGE_REACH_S (4.0 / 60.0)
#define ML_PASSAGE_GLIDE_S (50.0 / 60.0)
#define ML_PASSAGE_SHORTEST_S (20.0 / 60.0)
#define ML_PASSAGE_EASE_S (50.0 / 60.0)
#define ML_PASSAGE_SWING 0.12217304763960307
#define ML_PASSAGE_QUICK_S (10.0 / 60.0)
#define ML_PASSAGE_SLOW_S 0.15

/* Frames from row `first` to row `last` along captured windows: a blend of them, bent to have the
   posture and the velocities of both rows at its ends; then, with `feet`, its feet held where they
   stand: they move as they do in their windows (1), or not at all (2). Where it leads over the
   ground is free. Clips begin at `starts`, the last of which is the number of rows.
   starts: (n_clips + 1) */
ML_API ml_status ml_passage_make(const ml_blend *blend, const ml_leg_rig *rig, int64_t n_clips,
                                 const int64_t *starts, int64_t first, int64_t last, int32_t feet,
                                 const ml_synthesis *made);

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

/* Number and cost of the cheapest of recipes, the first of equals; -1 where all
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

/* Memory for blends whose windows are matched in time, of up to `most` frames.
   rows: (4, 17, n_padded)  posture: (4, n_padded, 48)  anchors: (4, 4, n_padded)
   spans, ahead: (4, 2, n_plants, 2)  counts, reach: (4, 2)  weights: (4, 4, n_padded)
   times, other: (most, 4) */
typedef struct {
    int64_t most, n_padded, n_plants;
    float *rows, *posture, *anchors;
    int32_t *spans;
    float *ahead;
    int32_t *counts, *reach;
    float *weights;
    int32_t *times, *other;
} ml_warp;

/* Matches of every window with every other: cells are frames of both, each step goes on by 0 or 1.
   firsts: (n_windows * n_windows + 1)  cells: (n_cells, 2) */
typedef struct {
    int64_t n_windows, n_cells;
    const int64_t *firsts;
    const int32_t *cells;
} ml_paths;

/* Up to three matches of neighbours joined on the windows that they share: frames of every window
   for each frame of the blend, from the first window's first to the last window's last. None where
   matches have no frame in common or more than `most` come out.
   firsts: (n_paths + 1)  cells: (n_cells, 2)  other, times: (most, 4)  count: (1) */
ML_API ml_status ml_warp_join(int64_t length, int64_t n_paths, const int64_t *firsts,
                              int64_t n_cells, const int32_t *cells, int64_t most, int32_t *other,
                              int32_t *times, int64_t *count);

/* What is measured of a blend of windows along their times. Scratch is of `warp.most` frames.
   ids: (4)  times: (n_frames, 4)  out: (19) */
ML_API ml_status ml_warp_score(const ml_terms *terms, const ml_scratch *scratch,
                               const ml_warp *warp, int64_t family, const int32_t *ids,
                               int64_t n_frames, const int32_t *times, float *out);

/* Times of a recipe by the matches of its neighbours, else frame to frame, in `warp.times`.
   ids: (4)  count: (1) */
ML_API ml_status ml_warp_times(const ml_terms *terms, const ml_paths *paths, const ml_warp *warp,
                               const int32_t *ids, int64_t *count);

/* Judge blends from one window to another, matched in time, by every family, and keep the
   cheapest, rising; no weight of the cost may be negative. Intermediaries are 0xffff where there
   are fewer. Costs come in with the dearest that may be kept.
   linear, log: (19)  families: (n_families)  tried: (n_tried, 2)  costs, used: (keep)
   recipes: (keep, 4) */
ML_API ml_status ml_warp_search(const ml_terms *terms, const ml_scratch *scratch,
                                const ml_warp *warp, const ml_paths *paths, const float *linear,
                                const float *log, int64_t n_families, const int64_t *families,
                                int64_t source, int64_t target, int64_t n_tried,
                                const uint16_t *tried, int64_t keep, float *costs,
                                uint16_t *recipes, uint8_t *used);

/* Squared spreads that each of some windows makes with each of others, by their weights.
   some: (n_some)  others: (n_others)  u, v: (terms.n_padded)  out: (n_some, n_others) */
ML_API ml_status ml_spread_between(const ml_terms *terms, int64_t n_some, const int64_t *some,
                                   int64_t n_others, const int64_t *others, const float *u,
                                   const float *v, float *out);

/* Hulls of the soles that stand, and their numbers of corners.
   soles: (n, 2, 4, 2)  stands: (n, 2)  corners: (n, 10, 2)  counts: (n) */
ML_API void ml_hull_of_feet(int64_t n, const float *soles, const uint8_t *stands, float *corners,
                            int64_t *counts);

/* Distances of points from hulls, one each.
   points: (n, 2)  corners: (n, 10, 2)  counts: (n)  out: (n) */
ML_API ml_status ml_hull_misses(int64_t n, const float *points, const float *corners,
                                const int64_t *counts, double *out);

/* ---- Table files and the run time -------------------------------------------------------------*/

/* Recipes between two windows as first rows of their windows, then -1, the plain blend last, and
   how many.
   between: (n_recipes, 2)  medoids: (n_medoids)  rows: (n_recipes + 1, 4)  count: (1) */
ML_API ml_status ml_table_rows(int64_t n_recipes, const uint8_t *between, int64_t n_medoids,
                               const int64_t *medoids, int64_t source, int64_t target,
                               int64_t *rows, int64_t *count);

/* A table at work: a collection with its rig, an index of its windows, recipes between
   representatives, terms of windows, and memory to work in. Windows have `length` frames and are
   named by their first rows; `nearest` is the representative of each, 65535 where a clip is too
   short for one. Frames of `jumps` are capture glitches. `speeds`: the fastest joint of each clip,
   m/s. `limits` are those of the quality check of each clip, as ml_table_merge takes them, where
   they are `measured`; `hovers`, how far the body is off free fall around each row, metres, and `slowest`,
   the slowest low point of each sole as of ml_support, where they are as well; `missing` names a clip whose limits are wanted. `costs` are those of the
   first recipes. `met` has the windows whose terms are known: medoids, and 32 more. Names are those
   of joints, clips and labels, each with a 0 at its end. `spokes`: for every label and
   representative the nearest window that ends in a frame with the label, -1 for none. `pieces`:
   first and last rows of the pieces of clips with each label, sorted.
   starts: (n_clips + 1)  jumps: (n_jumps)  medoids: (n_medoids)
   nearest, hovers: (rows.n_rows)  slowest: (rows.n_rows, 2)
   between: (n_ends, n_ends, n_recipes, 2)  costs: (n_ends, n_ends)  spokes: (n_labels, n_ends)
   first_piece: (n_labels + 1)  pieces: (n_pieces, 2)
   speeds, measured: (n_clips)  weights: (4, 4, length)  limits: (n_clips, n_limits)
   met: (n_medoids + 32)  missing: (1)  names: (n_characters)  name_at: (n_names)
   work: (n_work) */
typedef struct ml_table {
    int64_t n_clips, n_jumps, n_medoids, n_ends, n_recipes, n_limits, n_labels, n_pieces, length;
    double fps;
    const ml_rows *rows;
    const ml_leg_rig *rig;
    const ml_check_rig *check_rig;
    const ml_term_source *term_source;
    const ml_term_slots *term_slots;
    const ml_terms *terms;
    const ml_scratch *scratch;
    const ml_weighing *weighing;
    const ml_window_index *index;
    const ml_window_lists *by_start, *by_both;
    const ml_context_frames *seen;
    const int64_t *starts, *jumps, *medoids;
    const uint16_t *nearest;
    const uint8_t *between;
    const float *costs;
    const int64_t *spokes, *first_piece, *pieces;
    const double *speeds, *weights, *limits;
    const float *hovers;
    const int8_t *slowest;
    const uint8_t *measured;
    int64_t *met, *missing;
    int64_t n_characters, n_names;
    const char *names;
    const int64_t *name_at;
    int64_t n_work;
    uint8_t *work;
} ml_table;

/* Recipes, the best first: first rows of their windows, source first, then -1; costs and what is
   measured of them, nan where that is not known. The first `ranked` of `count` are in order. Those
   that are pinned go along the windows between their first and last one instead of blending;
   NULL where none is.
   rows: (most, 4)  costs: (most)  columns: (most, 19)  pinned: (most) */
typedef struct {
    int64_t most, count, ranked;
    int64_t *rows;
    double *costs;
    float *columns;
    uint8_t *pinned;
} ml_choice;

/* Bytes of `work` that a table needs. */
ML_API int64_t ml_table_work(const ml_table *table);

/* The best of a table's recipes from a window to others, judged with the real windows, and of some
   that are always tried: the plain blend, and, to a single target, those over captured windows with
   like ends. `rescore` recipes of the table are judged, shared by the targets. Only the first is
   known to be the best.
   targets: (n_targets) */
ML_API ml_status ml_table_choose(const ml_table *table, int64_t source, int64_t n_targets,
                                 const int64_t *targets, int64_t rescore, ml_choice *out);

/* The best transition from a window to one of others, which may leave the source later and enter the target
   sooner by as many frames as a transition of `longest` frames has more than the table's windows,
   and arrive up to its number of frames in `later` after a target. Windows asked for come first, of up to 4 targets
   those with the most natural plain blends; others are tried where none is good enough, by
   naturalness, or by the papers' sum in a table of that ranking. In the choice are captured windows
   pinned between the two windows that were found, which are its first where they are natural, and
   blends between them; `rescore` recipes of the table are judged with them. Only the first is known
   to be the best.
   Recipes that are banned (first rows of their windows, -1 where there are fewer, and 1 where they
   are pinned) are left out; the choice may be empty then.
   targets: (n_targets)  later: (n_targets)  banned: (n_banned, 5) */
ML_API ml_status ml_table_join(const ml_table *table, int64_t source, int64_t n_targets,
                               const int64_t *targets, const int64_t *later, int64_t rescore,
                               int64_t longest, int64_t n_banned, const int64_t *banned,
                               ml_choice *out);

/* How far a recipe between two windows is above what counts as good, by what was measured of it: by
   naturalness, as ml_natural_logit has it, or by the papers' sum, in inches, in a table of that
   ranking.
   columns: (19)  worth: (1) */
ML_API ml_status ml_table_worth(const ml_table *table, int64_t source, int64_t target,
                                const float *columns, double *worth);

/* All recipes of a choice judged in full and put in order. */
ML_API ml_status ml_table_judge(const ml_table *table, ml_choice *choice);

/* Made frames with `ahead` captured rows before `first`, which they begin at, and `after` of them
   after `last`, which they end at, moved to where they go on. Labels of foot points that move are
   removed, and rotations have the sign that is nearer to the frame before.
   chain: (made.n_joints, 7) scratch memory  points: (out.most, 4, 3) scratch memory */
ML_API ml_status ml_table_played(const ml_table *table, int64_t first, int64_t ahead, int64_t last,
                                 int64_t after, const ml_frames *made, double *chain,
                                 double *points, ml_frames *out);

/* Frames of the best recipe of a choice that passes the quality check, its place in the choice, and
   whether its feet are held. Where none of the first three recipes passes, and no foot of the first
   slips, its feet are left as the blend has them. If none passes, the one that fails least is
   returned. With `still`, held feet of pinned windows stand still.
   number: (1)  feet: (1)  errors: (2)  found: (96, 5)  n_found: (1) */
ML_API ml_status ml_table_best(const ml_table *table, ml_choice *choice, uint8_t still,
                               ml_frames *out, int64_t *number, uint8_t *feet, double *errors,
                               double *found, int64_t *n_found);

/* A live character of a table: where it is, what it is told, and memory. It plays a clip, from
   `start`, carried into the world by `turn`, then `x` and `z`; or the frames of a transition, `at`
   the next of them, after which it goes on in its clip after row `then`. `clips` are those that the
   transition is made of.
   `order` is 0 for none, 1 to go to row `goal_row`, then 2 to go to, 3 to hold and 4 to act a label,
   whose pieces are first and last rows, sorted. It is `pending` until its transition begins, then
   `toward` the goal, which is `reached`: 1 while the piece is acted that ends in row `act_last`, and 2
   after it. It is tried again after `pause` steps until it has `waited` for as long as `patience`; where its way
   led nowhere, after `again` steps.
   Thoughts: `stage` is the next piece of thinking, `continues` whether it is about the end of the
   clip, as on a `detour` where an order finds no way before the clip is over; in round `bails` it looks
   for a way out of a transition that leads nowhere. Of `n_recipes`, found from the window at row
   `source`, `number` is tried next, with its feet held or not; of `n_tried` the best so far fails by `least`.
   `since` is how many steps later than the recipes were found for a transition may leave. One that is
   made leaves in `leave_in` steps, -1 where none is made. One that was made to go on, before an order
   came, leaves in `planned_in` steps if the order finds no way before, -1 where there is none.
   `n_played` frames that were shown last are kept.
   pieces: (n_pieces, 2)  clips, made_clips: (4)  spokes: (table.n_ends)  work: (n_work) */
typedef struct ml_stream {
    const ml_table *table;
    int64_t start, row; /* row: shown last in a clip, -1 before the first */
    double turn, x, z;
    uint8_t in_transition, is_flawed, is_continuing, order, pending, toward, reached;
    uint8_t stage, continues, detour, bails, feet, least_feet, made_flawed;
    int64_t at, then, goal_row, act_last, waited, pause, n_clips, n_played;
    int64_t source, n_recipes, n_ranked, number, n_tried, since, leave_in, least_number;
    int64_t planned_in, again, made_then, n_made_clips;
    double patience, least;
    int64_t n_pieces;
    const int64_t *pieces;
    int64_t *clips, *made_clips, *spokes;
    int64_t n_work;
    uint8_t *work;
} ml_stream;

/* Bytes of `work` that a stream of a table needs. */
ML_API int64_t ml_stream_work(const ml_table *table);

/* Frames of the longest of a label's pieces, of those that transitions arrive in; 0 where there is
   none. A piece of ml_table_hold_frames can be held.
   pieces: (n_pieces, 2) */
ML_API int64_t ml_pieces_longest(const ml_table *table, int64_t n_pieces, const int64_t *pieces);

/* Follow an order about a label: 2 to go there, 3 to hold it, 4 to act it. `spokes` has the windows
   that end in it: one for each representative, -1 for none. `pieces` stay where they are.
   pieces: (n_pieces, 2)  spokes: (stream.table.n_ends) */
ML_API ml_status ml_stream_follow(ml_stream *stream, uint8_t order, int64_t n_pieces,
                                  const int64_t *pieces, const int64_t *spokes);

/* Cells at most `limit` that lie below all eight neighbours; outside the grid is above.
   cost: (n, m)  lowest: (n, m) */
ML_API void ml_place_minima(int64_t n, int64_t m, const double *cost, double limit,
                            uint8_t *lowest);

/* The shortest paths from a node of a graph to all others: how long they are, infinite where there
   is none, and the node before the last, -1 at the source and where there is none. Node i has the
   steps first[i] .. first[i + 1] - 1, step e leads to node to[e], and none is shorter than 0. Nodes
   that are equally near are visited in order. `work` is memory to work in.
   first: (n + 1)  to, lengths: (n_steps)  work: (2, n)  distances, before: (n) */
ML_API ml_status ml_graph_shortest(int64_t n, int64_t n_steps, const int64_t *first,
                                   const int64_t *to, const double *lengths, int64_t source,
                                   int64_t *work, double *distances, int64_t *before);

/* The parts of a graph in which every node reaches every other (Tarjan 1972): a number for each
   node, the same for those of one part. `work` is memory to work in.
   first: (n + 1)  to: (n_steps)  work: (4, n)  parts: (n) */
ML_API ml_status ml_graph_parts(int64_t n, int64_t n_steps, const int64_t *first, const int64_t *to,
                                int64_t *work, int64_t *parts);

/* ---- The studio's pictures --------------------------------------------------------------------*/

/* Points of a drawn body in one pose, each at an offset in a joint. Parents and bones as for
   ml_kinematics_forward.
   parents: (n_joints)  bones: (n_joints, 3)  root: (3)  local: (n_joints, 4)
   joints: (n)  offsets, out: (n, 3)  scratch: (n_joints, 7) */
ML_API ml_status ml_points_place(int64_t n_joints, const int64_t *parents, const double *bones,
                                 const double *root, const double *local, int64_t n,
                                 const int64_t *joints, const double *offsets, double *scratch,
                                 double *out);

/* ---- Baselines --------------------------------------------------------------------------------*/

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

/* ---- Parts of kernels -------------------------------------------------------------------------
   The functions above call these. They are exported because tests call them alone. */

/* Parameter of a registration curve after `frames` frames of the blend (negative: backwards), in
   spline units. Every motion votes for the place it has reached after so many frames; with `euler`
   all motions keep the rates of the present place, which is equation 7 of Kovar and Gleicher 2003.
   points: (n_points, n_motions)  weights: (n_motions)  out: (1) */
ML_API ml_status ml_walk_step(int64_t n_points, int64_t n_motions, const double *points,
                              const double *weights, double u, double frames, uint8_t euler,
                              double *out);

/* Loss of the pelvis' ground speed over 0.15 s before each frame, m/s2, smoothed over it.
   pelvis: (n_frames, 3)  out: (n_frames) */
ML_API void ml_check_decelerations(int64_t n_frames, const double *pelvis, double fps, double *out);

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

/* Feet that turn abruptly while one of their points is held are turned so that their ankles, at
   `ankle` in the clip, accelerate little more than they do nearby, or than `free_change`, metres per
   frame and frame. Turns are smoothed over up to `stop` frames to either side. `steps` and `work` are
   scratch memory.
   ankle: (n_frames, 3)  held: (n_frames, 2)  places, levers: (n_frames, 2, 3)  steps: (n_frames)
   work: (4, n_frames)  q_foot, q_toes: (n_frames, 4) */
ML_API void ml_twitch_calm(int64_t n_frames, const double *ankle, const uint8_t *held,
                           const double *places, double free_change, double stop, uint8_t *steps,
                           double *work, double *levers, double *q_foot, double *q_toes);

/* Turns and shifts of a foot that bring its held points onto their places. Where both are held the
   foot lies along its places; where only the ball is, it may roll on over it until its ankle is
   within reach; a point whose other end is held stays above the ground. Everything runs out over
   `length` frames around holds, slopes over `stop`. Twitches are calmed as of ml_twitch_calm. The
   toes turn as the foot without its roll.
   hip, ankle, heel, ball: (n_frames, 3)  held: (n_frames, 2)  places: (n_frames, 2, 3)
   reach: (n_frames)  ground: (n_frames, 2)  flags: (2, n_frames)  scratch: (6, n_frames)
   q_foot, q_toes: (n_frames, 4)  shift: (n_frames, 3)  roll: (n_frames)
   levers: (n_frames, 2, 3) */
ML_API void ml_foot_place(int64_t n_frames, const double *hip, const double *ankle,
                          const double *heel, const double *ball, const uint8_t *held,
                          const double *places, const double *reach, const double *ground,
                          double length, double stop, double free_change, int32_t may_roll,
                          uint8_t *flags, double *scratch, double *q_foot, double *q_toes,
                          double *shift, double *roll, double *levers);

/* What is asked for, in the units of the index: steps of the start, of the end, what a squared step
   of each weighs, then steps and weights of the displacement (`way`). What is NULL is not asked for: its weights are
   0.
   start, end: (index.n_columns) or NULL  way: (3) or NULL  question: (4 * index.n_codes + 6) */
ML_API void ml_neighbour_ask(const ml_window_index *index, const float *start, const float *end,
                             const float *way, float *question);

/* Local rotations of a blend of up to ML_MOST_WAYS windows, the root turned to its heading:
   normalised weighted sums, the mean of rotations in the sense of the smallest squared chords. It
   differs from Park's mean by a twentieth of a degree where poses are alike and by a few degrees
   where joints differ by a right angle, at a tenth of its cost.
   at: (n_frames, n_ways)  weights: (n_ways, n_frames)  psi: (n_frames)
   out: (n_frames, rows.n_joints, 4) */
ML_API ml_status ml_mixture_rotations(const ml_rows *rows, int64_t n_frames, int64_t n_ways,
                                      const int64_t *at, const double *weights, const double *psi,
                                      double *out);

/* Stands of one foot at the two seams of a blend: the last frame of the source's, -1 where there is
   none, and the first one of the target's, n_frames where there is none; places of the ball in
   both. A stand ends where the blend's foot is gone from it or the leg too short, and before it
   keeps the foot from being at the other seam in time.
   source, target: (foot.blend.n_frames, 3)  span: (2) */
ML_API ml_status ml_seam_stands(const ml_blend_foot *foot, double *source, double *target,
                                int64_t *span);

/* Make time for a step where a foot stands at both seams; both feet do not step at once. Where the
   two stands are one place, `source` goes over to `target` instead, and `first` is `last` + 1.
   soles: (2, 2, n_frames, 3)  target, source: (2, n_frames, 3)  last, first: (2) */
ML_API ml_status ml_seam_part(int64_t n_frames, const double *soles, double fps, double speed,
                              const double *target, double *source, int64_t *last, int64_t *first);

/* Hold one foot, where it is free, by the plants of the windows, the best agreed first. `totals`
   are the sum of the blend's distances from them, metres, and the number of frames.
   psi, held: (foot.blend.n_frames)  root, places: (foot.blend.n_frames, 3)
   planted: (foot.blend.n_frames, 4)  totals: (2) */
ML_API ml_status ml_footing_fill(const ml_blend_foot *foot, const double *psi, const double *root,
                                 int64_t *held, double *places, uint8_t *planted, double *totals);

/* Which plant each foot is held by, -1 for none, and where its ball is to be then; heels and balls
   that stand are labelled; the mean distance of the blend's feet from there, metres.
   psi: (blend.n_frames)  root: (blend.n_frames, 3)  soles: (2, 2, blend.n_frames, 3)
   legs: (2, blend.n_frames, 3)  reaches: (2)  scratch: (12, blend.n_frames)
   held: (2, blend.n_frames)  places: (2, blend.n_frames, 3)  planted: (blend.n_frames, 4)
   error: (1) */
ML_API ml_status ml_footing_choose(const ml_blend *blend, const double *psi, const double *root,
                                   const double *soles, const double *legs, const double *reaches,
                                   double *scratch, int64_t *held, double *places, uint8_t *planted,
                                   double *error);

/* Add to the places of a held foot what it moves by in the weightiest window in which it stands:
   nothing at the seams, where it goes on as fast as the blend's foot does.
   psi, held: (blend.n_frames)  foot, places: (blend.n_frames, 3)  scratch: (3, blend.n_frames) */
ML_API ml_status ml_sway_add(const ml_blend *blend, int64_t side, const double *psi,
                             const int64_t *held, const double *foot, double *scratch,
                             double *places);

/* Move the root over the ground so that feet which stand in the weightiest window go as they do
   there, as far as one root can; steps next to the ends stay. The root follows by `part`, 0 to 1.
   psi: (blend.n_frames)  points: (blend.n_frames, 4, 3)  scratch: (3, blend.n_frames)
   root: (blend.n_frames, 3) */
ML_API ml_status ml_tread_follow(const ml_blend *blend, const double *psi, double part,
                                 const double *points, double *scratch, double *root);

/* Write the terms of windows that are averaged and bent to leave the window in one slot and to
   arrive at that in another, as ml_passage_make does, into a slot. What a blend of it alone loses
   is how far it was bent.
   windows: (n_ways) */
ML_API ml_status ml_pinned_terms(const ml_term_slots *slots, int64_t source, int64_t target,
                                 int64_t n_ways, const int64_t *windows, int64_t slot);

/* How the windows in two slots move: stature, movement of the posture, speed of the root and largest
   acceleration of the centre of mass; metres and seconds.
   out: (4) */
ML_API ml_status ml_natural_reference(const ml_terms *terms, const ml_scratch *scratch,
                                      int64_t source, int64_t target, double *out);

/* How natural a blend is, by how its source and target move and what is measured of it: above 0 for
   one that is called natural.
   reference: (4)  columns: (19) */
ML_API double ml_natural_logit(const double *reference, const float *columns);

/* Weights of n windows over a blend by a family: 0 Bernstein, 1 eased, 2 hat.
   out: (n, length) */
ML_API ml_status ml_warp_weights(int64_t family, int64_t n, int64_t length, double *out);

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

/* Rotations with the signs that are nearer to those of the frame before.
   before, quats: (n_joints, 4) */
ML_API void ml_frames_same_signs(int64_t n_joints, const double *before, double *quats);

/* Frames n to n + left, the first of which stands where frame n - 1 does, as `left` frames that take
   over from there, from n on: they begin with its pose and speed, and the difference fades. */
ML_API ml_status ml_frames_fade(ml_frames *plan, int64_t n, int64_t left, double fps);

/* Frames of a recipe, from where its source window stands. `errors` as in ml_synthesis_make.
   windows: (n_ways)  errors: (2) */
ML_API ml_status ml_table_make(const ml_table *table, int64_t n_ways, const int64_t *windows,
                               uint8_t feet, ml_frames *out, double *errors);

/* Made frames with up to 4 captured ones before those that they leave and after those that they
   arrive at, moved to where they go on; how many go before.
   windows: (n_ways)  before: (1) */
ML_API ml_status ml_table_around(const ml_table *table, int64_t n_ways, const int64_t *windows,
                                 const ml_frames *made, ml_frames *out, int64_t *before);

/* Failures of a recipe's frames in the quality check, as of ml_check_judge and ml_support_judge; frames
   count from the first.
   windows: (n_ways)  found: (96, 5)  n_found: (1) */
ML_API ml_status ml_table_check(const ml_table *table, int64_t n_ways, const int64_t *windows,
                                const ml_frames *made, double *found, int64_t *n_found);

/* Pose and velocity that are shown, as the index takes them.
   out: (stream.table.index.n_columns) */
ML_API ml_status ml_stream_context(const ml_stream *stream, float *out);

/* Cosines and sines of half of angles of up to 1e12 degrees, exact where they are 0 or 1.
   degrees, cosine, sine: (n) */
ML_API void ml_half_cos_sin_of(int64_t n, const double *degrees, double *cosine, double *sine);

/* Angles of (x, y) from the x axis in radians, quicker than ml_atan2_of and to 1e-15.
   y, x, out: (n) */
ML_API void ml_quick_atan2_of(int64_t n, const double *y, const double *x, double *out);

/* Called by tests alone. */

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

#endif
