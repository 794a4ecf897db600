/* Channels of motion files in degrees: rotations out of rows of channels, and back. */

#include "../kernels.h"
#include "degrees.h"

/* Rows that are posed together, one lane each: loops over them become vector instructions. */
#define CHANNEL_ROWS 16

/* Turns of a joint whose sines and cosines are worked out together: most joints have three. */
#define CHANNEL_TURNS 3
#define CHANNEL_ANGLES (CHANNEL_TURNS * CHANNEL_ROWS)

/* The rotations of one joint in those rows, each part in a separate array: w, x, y, z. */
typedef struct {
    double parts[4][CHANNEL_ROWS];
} channel_quats;

/* Turns rotations by angles about an axis: given are the cosines and sines of their halves. It mixes
   w with the part of that axis, and the other two parts with each other. */
static void channel_mix(const double *restrict c, const double *restrict s, double *restrict w,
                        double *restrict along, double *restrict one, double *restrict other) {
    for (int r = 0; r < CHANNEL_ROWS; r++) {
        double was = w[r], a = along[r], p = one[r], q = other[r];
        w[r] = was * c[r] - a * s[r];
        along[r] = was * s[r] + a * c[r];
        one[r] = p * c[r] + q * s[r];
        other[r] = q * c[r] - p * s[r];
    }
}

/* The same about axis 3, 4, 5: X, Y, Z. The first turn of all is the rotation itself. */
static inline void channel_turn(int64_t kind, int is_first, const double *c, const double *s,
                                channel_quats *q) {
    const size_t size = sizeof q->parts[0];
    double *along = q->parts[kind - 2], *one = q->parts[kind == 5 ? 1 : kind - 1];
    double *other = q->parts[kind == 3 ? 3 : kind - 3];
    if (!is_first) {
        channel_mix(c, s, q->parts[0], along, one, other);
        return;
    }
    memcpy(q->parts[0], c, size);
    memcpy(along, s, size);
    memset(one, 0, size);
    memset(other, 0, size);
}

/* Turns rotations by some angles one after the other. */
static void channel_turn_all(int n, const int64_t *kinds, int is_first, const double *degrees,
                             channel_quats *q) {
    double c[CHANNEL_ANGLES], s[CHANNEL_ANGLES];
    for (int k = 0; k < CHANNEL_ROWS * n; k++) {
        double cosine, sine;
        ml_half_cos_sin(degrees[k], &cosine, &sine);
        c[k] = cosine;
        s[k] = sine;
    }
    for (int k = 0; k < n; k++)
        channel_turn(kinds[k], is_first && k == 0, c + CHANNEL_ROWS * k, s + CHANNEL_ROWS * k, q);
}

/* The rotations of a joint in n rows, of its channels. */
static void channel_pose(int64_t n, int64_t n_columns, const double *rows, int64_t n_channels,
                         const int64_t *kinds, const int64_t *columns, channel_quats *q) {
    double degrees[CHANNEL_ANGLES];
    int64_t turns[CHANNEL_TURNS];
    int n_turns = 0, is_first = 1;
    for (int64_t k = 0; k < n_channels; k++) {
        if (kinds[k] < 3) continue;
        const double *column = rows + columns[k];
        double *own = degrees + CHANNEL_ROWS * n_turns;
        if (n == CHANNEL_ROWS)
            for (int64_t r = 0; r < CHANNEL_ROWS; r++) own[r] = column[n_columns * r];
        else
            for (int64_t r = 0; r < CHANNEL_ROWS; r++) own[r] = r < n ? column[n_columns * r] : 0.0;
        turns[n_turns++] = kinds[k];
        if (n_turns < CHANNEL_TURNS) continue;
        channel_turn_all(CHANNEL_TURNS, turns, is_first, degrees, q);
        n_turns = is_first = 0;
    }
    if (n_turns > 0)
        channel_turn_all(n_turns, turns, is_first, degrees, q);
    else if (is_first) /* no turn at all */
        for (int r = 0; r < CHANNEL_ROWS; r++) {
            q->parts[0][r] = 1.0;
            q->parts[1][r] = q->parts[2][r] = q->parts[3][r] = 0.0;
        }
}

/* Stores the rotations of one joint in n rows, with signs that go on from the frame before if there
   is one. */
static void channel_store(int64_t n, int64_t stride, int has_before, const channel_quats *q,
                          double *restrict out) {
    const double *w = q->parts[0], *x = q->parts[1], *y = q->parts[2], *z = q->parts[3];
    double dots[CHANNEL_ROWS], sign = 1.0;
    for (int r = 1; r < CHANNEL_ROWS; r++)
        dots[r] = w[r] * w[r - 1] + x[r] * x[r - 1] + y[r] * y[r - 1] + z[r] * z[r - 1];
    dots[0] = 0.0;
    if (has_before) {
        const double *last = out - stride;
        dots[0] = w[0] * last[0] + x[0] * last[1] + y[0] * last[2] + z[0] * last[3];
    }
    for (int64_t r = 0; r < n; r++, out += stride) {
        sign = sign * dots[r] < 0.0 ? -1.0 : 1.0;
        out[0] = sign * w[r];
        out[1] = sign * x[r];
        out[2] = sign * y[r];
        out[3] = sign * z[r];
    }
}

/* Puts where a joint stands in n rows: its offset, but for its position channels. */
static void channel_place(int64_t n, int64_t n_columns, const double *rows, int64_t n_channels,
                          const int64_t *kinds, const int64_t *columns, const double *offset,
                          int64_t stride, double *places) {
    for (int64_t r = 0; r < n; r++)
        for (int c = 0; c < 3; c++) places[stride * r + c] = offset[c];
    for (int64_t k = 0; k < n_channels; k++)
        for (int64_t r = 0; kinds[k] < 3 && r < n; r++)
            places[stride * r + kinds[k]] = rows[n_columns * r + columns[k]];
}

/* Whether every channel has a column of a row, and every joint its channels. */
static int channel_fits(const ml_channels *channels, int64_t n_columns) {
    const int64_t *first = channels->first;
    int64_t n_joints = channels->n_joints;
    if (n_joints < 0 || first[0] != 0 || first[n_joints] != channels->n_channels) return 0;
    for (int64_t j = 0; j < n_joints; j++)
        if (first[j] > first[j + 1]) return 0;
    for (int64_t k = 0; k < channels->n_channels; k++) {
        int64_t column = channels->columns[k], kind = channels->kinds[k];
        if (column < 0 || column >= n_columns || kind < 0 || kind > 5) return 0;
    }
    return 1;
}

ml_status ml_channel_poses(const ml_channels *channels, int64_t n_rows, int64_t n_columns,
                           const double *rows, int64_t start, int64_t n_frames, double *quats,
                           int64_t n_placed, double *places) {
    const int64_t n_joints = channels->n_joints, *first = channels->first;
    if (n_rows < 0 || start < 0 || start > n_frames - n_rows || n_placed < 0 ||
        n_placed > n_joints || !channel_fits(channels, n_columns))
        return ML_BAD_SIZE;
    for (int64_t from = 0; from < n_rows; from += CHANNEL_ROWS) {
        const int64_t n = n_rows - from < CHANNEL_ROWS ? n_rows - from : CHANNEL_ROWS;
        const double *block = rows + n_columns * from;
        for (int64_t j = 0; j < n_joints; j++) {
            const int64_t own = first[j + 1] - first[j];
            const int64_t *kind = channels->kinds + first[j];
            const int64_t *column = channels->columns + first[j];
            channel_quats q;
            channel_pose(n, n_columns, block, own, kind, column, &q);
            channel_store(n, 4 * n_joints, start + from > 0, &q,
                          quats + 4 * (n_joints * (start + from) + j));
            if (j < n_placed)
                channel_place(n, n_columns, block, own, kind, column, channels->offsets + 3 * j,
                              3 * n_placed, places + 3 * (n_placed * from + j));
        }
    }
    return ML_OK;
}

/* Joints whose angles are worked out together. */
#define CHANNEL_LANES 64
/* Radians of the middle angle from gimbal lock within which only a sum of the others is known. */
#define CHANNEL_LOCK 1e-7
/* How much more an angle that is not written counts: the solution that has it near 0 is taken. */
#define CHANNEL_UNWRITTEN 10.0
#define CHANNEL_TURN (2.0 * ML_PI)

/* `angle` plus the whole turns that bring it nearest `to`. */
static inline double channel_nearest(double angle, double to) {
    if (fabs(to - angle) <= ML_PI) return angle;
    return angle + CHANNEL_TURN * floor((to - angle) * (1.0 / CHANNEL_TURN) + 0.5);
}

/* Whether two axes and the third one are in cyclic order: 1 or -1. */
static inline double channel_sign(int64_t i, int64_t j) {
    return j - i == 1 || j - i == -2 ? 1.0 : -1.0;
}

/* Puts into `last` the one of its two successors that is nearer. */
static inline void channel_choose(double first, double middle, double other, double third,
                                  const int64_t *columns, double *last) {
    double weight2 = columns[1] < 0 ? CHANNEL_UNWRITTEN : 1.0;
    double weight3 = columns[2] < 0 ? CHANNEL_UNWRITTEN : 1.0;
    double x1 = channel_nearest(first, last[0]), x2 = channel_nearest(middle, last[1]);
    double x3 = channel_nearest(third, last[2]);
    double step1 = fabs(x1 - last[0]), step3 = fabs(x3 - last[2]);
    double here = step1 + weight2 * fabs(x2 - last[1]) + weight3 * step3;
    /* The other solution turns the first and the third angle by half a turn, so it is no nearer
       than this; mostly that settles it. */
    if (here > CHANNEL_TURN - step1 - step3) {
        double y1 = channel_nearest(first + ML_PI, last[0]);
        double y3 = channel_nearest(third + ML_PI, last[2]);
        double y2 = channel_nearest(other, last[1]);
        double there =
            fabs(y1 - last[0]) + weight2 * fabs(y2 - last[1]) + weight3 * fabs(y3 - last[2]);
        if (there < here) x1 = y1, x2 = y2, x3 = y3;
    }
    last[0] = x1, last[1] = x2, last[2] = x3;
}

/* The parts of a rotation whose angles are half the sum and half the difference of the outer two
   Euler angles, and half the middle one. */
static inline void channel_parts(const double *q, const int64_t *axes, double *above,
                                 double *along) {
    const int64_t k = axes[0], j = axes[1], i = axes[2];
    double a = q[0], b = q[1 + i], c = q[1 + j], d;
    if (i == k) {
        d = channel_sign(i, j) * q[4 - i - j];
    } else {
        double w = a, vi = b, vj = c, vk = channel_sign(i, j) * q[1 + k];
        a = w - vj, b = vi + vk, c = vj + w, d = vk - vi;
    }
    above[0] = b, along[0] = a;
    above[CHANNEL_LANES] = d, along[CHANNEL_LANES] = c;
    above[2 * CHANNEL_LANES] = sqrt(c * c + d * d);
    along[2 * CHANNEL_LANES] = sqrt(a * a + b * b);
}

/* The angles of one joint in one frame, of those parts. */
static inline void channel_angles(double half_sum, double half_difference, double middle,
                                  const int64_t *axes, const int64_t *columns, double *last) {
    double first = half_sum + half_difference, third = half_sum - half_difference, other;
    /* In gimbal lock only a sum is known: the third angle stays where it was. */
    if (middle < CHANNEL_LOCK) {
        first = 2.0 * half_sum - last[2], third = last[2];
    } else if (middle > ML_PI - CHANNEL_LOCK) {
        first = 2.0 * half_difference + last[2], third = last[2];
    }
    if (axes[0] == axes[2]) {
        other = -middle;
    } else {
        first *= channel_sign(axes[2], axes[1]);
        middle -= 0.5 * ML_PI;
        other = ML_PI - middle;
    }
    channel_choose(first, middle, other, third, columns, last);
}

ml_status ml_channel_angles(int64_t n_frames, int64_t n_joints, const double *quats,
                            int64_t n_turning, const int64_t *joints, const int64_t *axes,
                            const int64_t *columns, double *last, int64_t n_columns, double *out) {
    double above[3 * CHANNEL_LANES], along[3 * CHANNEL_LANES], angles[3 * CHANNEL_LANES];
    for (int64_t t = 0; t < n_turning; t++) {
        const int64_t *order = axes + 3 * t;
        if (joints[t] < 0 || joints[t] >= n_joints) return ML_BAD_SIZE;
        for (int c = 0; c < 3; c++)
            if (order[c] < 0 || order[c] > 2 || columns[3 * t + c] >= n_columns) return ML_BAD_SIZE;
        if (order[0] == order[1] || order[1] == order[2]) return ML_BAD_SIZE;
    }
    for (int64_t f = 0; f < n_frames; f++) {
        const double *q = quats + 4 * n_joints * f;
        double *row = out + n_columns * f;
        for (int64_t from = 0; from < n_turning; from += CHANNEL_LANES) {
            int64_t lanes = n_turning - from < CHANNEL_LANES ? n_turning - from : CHANNEL_LANES;
            for (int64_t t = 0; t < lanes; t++)
                channel_parts(q + 4 * joints[from + t], axes + 3 * (from + t), above + t,
                              along + t);
            /* Separate loops, so that they are ones of vector instructions. */
            for (int64_t k = 0; k < 2 * CHANNEL_LANES; k += CHANNEL_LANES)
                for (int64_t t = k; t < k + lanes; t++)
                    angles[t] = ml_quick_atan2(above[t], along[t]);
            for (int64_t t = 2 * CHANNEL_LANES; t < 2 * CHANNEL_LANES + lanes; t++)
                angles[t] = ml_quick_angle(above[t], along[t]);
            for (int64_t t = 0; t < lanes; t++) {
                const int64_t *own = columns + 3 * (from + t);
                double *now = last + 3 * (from + t);
                channel_angles(angles[t], angles[CHANNEL_LANES + t],
                               2.0 * angles[2 * CHANNEL_LANES + t], axes + 3 * (from + t), own,
                               now);
                for (int c = 0; c < 3; c++)
                    if (own[c] >= 0) row[own[c]] = now[c] * (180.0 / ML_PI);
            }
        }
    }
    return ML_OK;
}
