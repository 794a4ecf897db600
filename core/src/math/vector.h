/* Single vectors (3) and quaternions (4), wxyz; results go to `out`, which is none of the inputs. */

#ifndef MOTIONLOOM_VECTOR_H
#define MOTIONLOOM_VECTOR_H

#include "elementary.h"

static inline void ml_cross(const double *a, const double *b, double *out) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static inline double ml_dot(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double ml_length(const double *a) { return sqrt(ml_dot(a, a)); }

/* out = a - b */
static inline void ml_between(const double *a, const double *b, double *out) {
    for (int c = 0; c < 3; c++) out[c] = a[c] - b[c];
}

/* Vector v turned by q. */
static inline void ml_turn(const double *q, const double *v, double *out) {
    double tx = 2.0 * (q[2] * v[2] - q[3] * v[1]);
    double ty = 2.0 * (q[3] * v[0] - q[1] * v[2]);
    double tz = 2.0 * (q[1] * v[1] - q[2] * v[0]);
    out[0] = v[0] + q[0] * tx + q[2] * tz - q[3] * ty;
    out[1] = v[1] + q[0] * ty + q[3] * tx - q[1] * tz;
    out[2] = v[2] + q[0] * tz + q[1] * ty - q[2] * tx;
}

/* Product of two quaternions: turn by b first. */
static inline void ml_times(const double *a, const double *b, double *out) {
    out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    out[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    out[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    out[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

/* Shortest rotation from direction a to direction b; half a turn about some perpendicular where
   they are opposite, none where one of them has no length. */
static inline void ml_arc(const double *a, const double *b, double *out) {
    double norm = sqrt(ml_dot(a, a) * ml_dot(b, b));
    if (norm <= 1e-300) {
        out[0] = 1.0;
        out[1] = out[2] = out[3] = 0.0;
        return;
    }
    ml_cross(a, b, out + 1);
    out[0] = 1.0 + ml_clamp(ml_dot(a, b) / norm, -1.0, 1.0);
    for (int c = 1; c < 4; c++) out[c] /= norm;
    double size = sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2] + out[3] * out[3]);
    if (size < 1e-7) { /* opposite: half a turn about the axis least along a */
        int k = 0;
        for (int c = 1; c < 3; c++)
            if (fabs(a[c]) < fabs(a[k])) k = c;
        double unit[3] = {0.0, 0.0, 0.0};
        unit[k] = 1.0;
        out[0] = 0.0;
        ml_cross(a, unit, out + 1);
        size = sqrt(out[1] * out[1] + out[2] * out[2] + out[3] * out[3]);
    }
    for (int c = 0; c < 4; c++) out[c] /= size;
}

#endif
