/* Quaternions of rotation vectors (axis times angle) and of angles about axes, and back. */

#ifndef MOTIONLOOM_ROTATION_VECTOR_H
#define MOTIONLOOM_ROTATION_VECTOR_H

#include "vector.h"

/* Below this half-angle sin(x) / x is 1 to the last bit. */
#define ML_ROTATION_TINY 1e-9

/* Turn by an angle about a unit axis. */
static inline void ml_rotation_about(const double *axis, double angle, double *out) {
    double sine;
    ml_sincos(0.5 * angle, &sine, out);
    for (int c = 0; c < 3; c++) out[1 + c] = sine * axis[c];
}

/* Quaternion of a rotation vector. */
static inline void ml_rotation_exp(const double *v, double *out) {
    double sine, half = 0.5 * ml_length(v);
    ml_sincos(half, &sine, out);
    double scale = 0.5 * (half > ML_ROTATION_TINY ? sine / half : 1.0);
    for (int c = 0; c < 3; c++) out[1 + c] = scale * v[c];
}

/* Rotation vector of a quaternion, at most half a turn long. */
static inline void ml_rotation_log(const double *q, double *out) {
    double sign = q[0] < 0.0 ? -1.0 : 1.0, sine = ml_length(q + 1);
    double scale = sine > ML_ROTATION_TINY ? 2.0 * ml_atan2(sine, sign * q[0]) / sine : 2.0;
    for (int c = 0; c < 3; c++) out[c] = sign * q[1 + c] * scale;
}

#endif
