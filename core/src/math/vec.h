/* Vectors and quaternions as values: functions take them and return them, so that formulas read as
   formulas. Arrays of doubles (n, 3) and (n, 4) are read as arrays of them. The operations are
   those of vector.h and rotation_vector.h, in the same order: results have the same bits. */

#ifndef MOTIONLOOM_VEC_H
#define MOTIONLOOM_VEC_H

#include "rotation_vector.h"

typedef struct {
    double x, y, z;
} vec3;

/* w + xi + yj + zk */
typedef struct {
    double w, x, y, z;
} quat;

_Static_assert(sizeof(vec3) == 3 * sizeof(double), "(n, 3) doubles are n vectors");
_Static_assert(sizeof(quat) == 4 * sizeof(double), "(n, 4) doubles are n quaternions");

#define VEC3_ZERO ((vec3){0.0, 0.0, 0.0})
#define QUAT_IDENTITY ((quat){1.0, 0.0, 0.0, 0.0})

static inline vec3 vec3_add(vec3 a, vec3 b) { return (vec3){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline vec3 vec3_sub(vec3 a, vec3 b) { return (vec3){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline vec3 vec3_scale(double s, vec3 a) { return (vec3){s * a.x, s * a.y, s * a.z}; }
static inline vec3 vec3_divide(vec3 a, double s) { return (vec3){a.x / s, a.y / s, a.z / s}; }
static inline vec3 vec3_negate(vec3 a) { return (vec3){-a.x, -a.y, -a.z}; }
static inline double vec3_dot(vec3 a, vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline double vec3_length(vec3 a) { return sqrt(vec3_dot(a, a)); }
static inline int vec3_is_zero(vec3 a) { return a.x == 0.0 && a.y == 0.0 && a.z == 0.0; }

static inline vec3 vec3_cross(vec3 a, vec3 b) {
    return (vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/* The axis of space that a vector is least along. */
static inline vec3 vec3_least_axis(vec3 a) {
    if (fabs(a.y) < fabs(a.x))
        return fabs(a.z) < fabs(a.y) ? (vec3){0.0, 0.0, 1.0} : (vec3){0.0, 1.0, 0.0};
    return fabs(a.z) < fabs(a.x) ? (vec3){0.0, 0.0, 1.0} : (vec3){1.0, 0.0, 0.0};
}

static inline double quat_dot(quat a, quat b) {
    return a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline quat quat_add(quat a, quat b) {
    return (quat){a.w + b.w, a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline quat quat_negate(quat q) { return (quat){-q.w, -q.x, -q.y, -q.z}; }

static inline quat quat_scale(double s, quat q) {
    return (quat){s * q.w, s * q.x, s * q.y, s * q.z};
}

static inline quat quat_conjugate(quat q) { return (quat){q.w, -q.x, -q.y, -q.z}; }

/* The rotation b, then a. */
static inline quat quat_multiply(quat a, quat b) {
    quat out;
    ml_times(&a.w, &b.w, &out.w);
    return out;
}

/* The rotation that takes `from` to `to`, in the axes of `from`. */
static inline quat quat_between(quat from, quat to) {
    return quat_multiply(quat_conjugate(from), to);
}

static inline vec3 quat_rotate(quat q, vec3 v) {
    vec3 out;
    ml_turn(&q.w, &v.x, &out.x);
    return out;
}

/* A world vector as the joint of rotation q sees it. */
static inline vec3 quat_rotate_back(quat q, vec3 v) { return quat_rotate(quat_conjugate(q), v); }

/* Shortest rotation from a direction to another; half a turn about some perpendicular where they are
   opposite, none where one of them has no length. */
static inline quat quat_arc(vec3 from, vec3 to) {
    quat out;
    ml_arc(&from.x, &to.x, &out.w);
    return out;
}

/* Rotation by an angle about a unit axis. */
static inline quat quat_about(vec3 axis, double angle) {
    quat out;
    ml_rotation_about(&axis.x, angle, &out.w);
    return out;
}

/* Rotation of a rotation vector, axis times angle; and back, at most half a turn. */
static inline quat quat_exp(vec3 v) {
    quat out;
    ml_rotation_exp(&v.x, &out.w);
    return out;
}

static inline vec3 quat_log(quat q) {
    vec3 out;
    ml_rotation_log(&q.w, &out.x);
    return out;
}

#endif
