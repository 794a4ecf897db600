/* Rows of a collection, and windows of them. */

#ifndef MOTIONLOOM_ROWS_H
#define MOTIONLOOM_ROWS_H

#include "../kernels.h"
#include "../math/vector.h"

/* Columns of foot points: heel and ball of the left foot, then of the right one. */
#define ML_HEEL(side) (2 * (side))
#define ML_BALL(side) (2 * (side) + 1)

/* 1 where every number is that of a row. */
static inline int ml_rows_have(int64_t n_rows, int64_t count, const int64_t *at) {
    int64_t low = 0, high = -1;
    for (int64_t k = 0; k < count; k++) {
        low = at[k] < low ? at[k] : low;
        high = at[k] > high ? at[k] : high;
    }
    return low >= 0 && high < n_rows;
}

/* Whether a blend's windows are rows, and the number of a side is 0 or 1. */
static inline int ml_blend_fits(const ml_blend *blend, int64_t side) {
    return blend->n_frames >= 1 && blend->n_ways >= 1 && (side == 0 || side == 1) &&
           ml_rows_have(blend->rows->n_rows, blend->n_frames * blend->n_ways, blend->at);
}

/* Row of a window in a frame of a blend. */
static inline int64_t ml_blend_row(const ml_blend *blend, int64_t t, int64_t way) {
    return blend->at[t * blend->n_ways + way];
}

/* Weight of a window in a frame of a blend. */
static inline double ml_blend_weight(const ml_blend *blend, int64_t t, int64_t way) {
    return blend->weights[way * blend->n_frames + t];
}

/* Foot point of a row, seen from its body. */
static inline const float *ml_rows_point(const ml_rows *rows, int64_t row, int64_t column) {
    return rows->points + 12 * row + 3 * column;
}

static inline int ml_rows_stands(const ml_rows *rows, int64_t row, int64_t column) {
    return rows->planted[4 * row + column] != 0;
}

/* 1 where a foot point of a blend's window stands. */
static inline int ml_blend_stands(const ml_blend *blend, int64_t t, int64_t way, int64_t column) {
    return ml_rows_stands(blend->rows, ml_blend_row(blend, t, way), column);
}

/* 0 at u = 0, 1 at u = 1, with slope 0 there and beyond. */
static inline double ml_eased(double u) {
    if (u <= 0.0) return 0.0;
    return u >= 1.0 ? 1.0 : u * u * (3.0 - 2.0 * u);
}

/* Distance over the ground. */
static inline double ml_over_ground(double x, double z) { return sqrt(x * x + z * z); }

#endif
