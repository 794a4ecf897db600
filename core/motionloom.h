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

/* Cosines and sines of half of angles of up to 1e12 degrees, exact where they are 0 or 1.
   degrees, cosine, sine: (n) */
ML_API void ml_half_cos_sin_of(int64_t n, const double *degrees, double *cosine, double *sine);

/* Angles of (x, y) from the x axis in radians, quicker than ml_atan2_of and to 1e-15.
   y, x, out: (n) */
ML_API void ml_quick_atan2_of(int64_t n, const double *y, const double *x, double *out);

/* Rotations of rows of channels in degrees, as the frames from `start` on, with signs that go on
   from the frame before; and where the first n_placed joints stand in their parents, at their
   offsets where no channel moves them.
   Joint j has the channels from first[j] up to first[j + 1], each with a column of the rows and a
   kind: 0, 1, 2 are positions along X, Y, Z and 3, 4, 5 turns about them, the last of which
   applies first.
   rows: (n_rows, n_columns)  kinds, columns: (n_channels)  first: (n_joints + 1)
   offsets: (n_joints, 3)  quats: (n_frames, n_joints, 4)  places: (n_rows, n_placed, 3) */
ML_API ml_status ml_channel_poses(int64_t n_rows, int64_t n_columns, const double *rows,
                                  int64_t n_channels, const int64_t *kinds, const int64_t *columns,
                                  int64_t n_joints, const int64_t *first, const double *offsets,
                                  int64_t start, int64_t n_frames, double *quats,
                                  int64_t n_placed, double *places);

/* Euler angles of some joints in degrees, put into columns of rows: of the two solutions, the one
   nearer to the angles of the frame before, `last`, which are carried on. A negative column is
   an angle that is not written; the solution that has it near zero is taken.
   quats: (n_frames, n_joints, 4)  joints: (n_turning)  axes, columns, last: (n_turning, 3)
   out: (n_frames, n_columns) */
ML_API ml_status ml_channel_angles(int64_t n_frames, int64_t n_joints, const double *quats,
                                   int64_t n_turning, const int64_t *joints, const int64_t *axes,
                                   const int64_t *columns, double *last, int64_t n_columns,
                                   double *out);

/* How ml_numeral_scan ended. */
enum {
    ML_SCAN_DONE = 0,      /* all is read */
    ML_SCAN_SLOW = 1,      /* the last number is left to the caller, with its place in the state */
    ML_SCAN_BAD = 2,       /* something is no number; its place is in the state */
    ML_SCAN_MISPLACED = 3, /* a line breaks where no row does */
    ML_SCAN_REFUSED = 4    /* sizes do not fit together, or there is no place for more values */
};

/* What the state of a scan holds, all of it 0 at first but the lines. */
enum {
    ML_SCAN_POSITION,      /* next byte */
    ML_SCAN_VALUES,        /* numbers in `values` so far */
    ML_SCAN_LINE,          /* line of the next byte */
    ML_SCAN_TOKEN_START,   /* of what is no number, or is left to the caller */
    ML_SCAN_TOKEN_STOP,    /* one past its last byte */
    ML_SCAN_ROW_LINE,      /* line on which the row begins */
    ML_SCAN_ROWS,          /* whole rows so far, in all blocks */
    ML_SCAN_COLUMN,        /* numbers of the next row so far */
    ML_SCAN_ON_LINE,       /* numbers on the line so far */
    ML_SCAN_STARTS_INSIDE, /* whether the row begins behind another on its line */
    ML_SCAN_STRADDLES,     /* whether the row goes over several lines */
    ML_SCAN_WRAPPED,       /* whether any row did */
    ML_SCAN_SLOW_NUMBERS   /* how many were left to the caller */
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
   is, or -1 where a number is too large for this way. Lines end in a line feed, or in a carriage
   return and one.
   rows: (n_rows, n_columns)  out: (n_rows, 19 * n_columns + 2) */
ML_API int64_t ml_digits_write(int64_t n_rows, int64_t n_columns, const double *rows,
                               int32_t with_carriage, uint8_t *out);

/* ---- Registration -----------------------------------------------------------------------------*/

/* The points of a clip about its ground centre, laid out for matrix products: x of all points, then
   z, then y, times the roots of their weights. Also of every frame the weighted means of x and of
   z and of the squared distance from the centre; and the centre's x and z.
   points: (n_frames, n_points, 3)  weights, root_weights: (n_points)
   rows: (n_frames, 3, n_points)  frames: (3, n_frames)  means: (2) */
ML_API ml_status ml_grid_lay_out(int64_t n_frames, int64_t n_points, const double *points,
                                 const double *weights, const double *root_weights, double *rows,
                                 double *frames, double *means);

/* Distances of n frames of A and m of B at their best alignment on the ground, with the numerator
   and the denominator of its turn, over windows of 2 half_window + 1 frames. Given are products of
   single frames (of x and z, of these a quarter turn apart, and of y), and of the windows of both
   clips the mean x and z and the mean square distance from them. `work` is memory to work in.
   dots, crosses, heights: (n + 2 * half_window, m + 2 * half_window)
   x_a, z_a, spread_a: (n)  x_b, z_b, spread_b: (m)  work: (6, m)  cost, cross, dot: (n, m) */
ML_API ml_status ml_grid_sum_windows(int64_t n, int64_t m, int64_t half_window, const double *dots,
                                     const double *crosses, const double *heights,
                                     const double *x_a, const double *z_a, const double *spread_a,
                                     const double *x_b, const double *z_b, const double *spread_b,
                                     double *work, double *cost, double *cross, double *dot);

/* Control points of a spline changed so that all its dimensions increase, none faster than the base
   dimension by 1 / epsilon nor slower by epsilon, and the base by `smallest` at least from each
   point to the next. Each change is shared with the point before. How far points were moved, the
   sum of squares, goes to `moved`. `work` is memory to work in.
   points: (n, n_dimensions)  work: (3, n_dimensions)  moved: (1) */
ML_API ml_status ml_spline_adjust(int64_t n, int64_t n_dimensions, double *points, int64_t base,
                                  double epsilon, double smallest, double *work, double *moved);

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

/* ---- Foot plants and their evidence -----------------------------------------------------------*/

/* ---- Quality checks ---------------------------------------------------------------------------*/

/* ---- Clean-up ---------------------------------------------------------------------------------*/

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
