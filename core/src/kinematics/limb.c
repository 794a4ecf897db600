/* Two-bone inverse kinematics: an ankle or wrist is put on a target. */

#include "../kernels.h"
#include "../math/vec.h"
#include "knee.h"

/* Metres. Shorter bones have no direction. */
#define SHORTEST_M 1e-9

/* Axis that a limb bends about: square to its bones, or its hinge. */
static vec3 limb_axis(vec3 upper, vec3 lower, vec3 normal, vec3 hinge) {
    double size = vec3_length(normal);
    /* A limb that is straight to 0.1 % has no usable plane. */
    if (size > 1e-3 * vec3_length(upper) * vec3_length(lower)) return vec3_divide(normal, size);
    double length = vec3_length(hinge);
    return vec3_divide(hinge, length > 0.0 ? length : 1.0);
}

void ml_limb_solve(int64_t n, const double *top, const double *middle, const double *end,
                   const double *target, const double *hinge, double straight, double *q_upper,
                   double *q_lower, double *new_middle, double *new_end, double *miss) {
    const vec3 *tops = (const vec3 *)top, *middles = (const vec3 *)middle;
    const vec3 *ends = (const vec3 *)end, *targets = (const vec3 *)target;
    const vec3 *hinges = (const vec3 *)hinge;
    quat *uppers = (quat *)q_upper, *lowers = (quat *)q_lower;
    vec3 *new_middles = (vec3 *)new_middle, *new_ends = (vec3 *)new_end;
    for (int64_t f = 0; f < n; f++) {
        vec3 upper = vec3_sub(middles[f], tops[f]), lower = vec3_sub(ends[f], middles[f]);
        vec3 aim = vec3_sub(targets[f], tops[f]), normal = vec3_cross(upper, lower);
        double a = vec3_length(upper), b = vec3_length(lower);
        double distance = ml_max(vec3_length(aim), fabs(a - b) + straight);
        distance = ml_min(distance, ml_max(a + b - straight, straight));
        vec3 axis = limb_axis(upper, lower, normal, hinges[f]);
        double now = ml_atan2(vec3_dot(normal, axis), vec3_dot(upper, lower));
        double cosine = (distance * distance - a * a - b * b) / (a * b > 0.0 ? 2.0 * a * b : 1.0);
        quat bend = quat_about(axis, ml_acos(ml_clamp(cosine, -1.0, 1.0)) - now);
        vec3 limb = vec3_add(quat_rotate(bend, lower), upper);
        quat swing = quat_arc(limb, aim);
        uppers[f] = swing;
        lowers[f] = quat_multiply(swing, bend);
        new_middles[f] = vec3_add(quat_rotate(swing, upper), tops[f]);
        new_ends[f] = vec3_add(quat_rotate(swing, limb), tops[f]);
        miss[f] = vec3_length(vec3_sub(new_ends[f], targets[f]));
    }
}

/* `first`, then the shortest rotation from the turned `old` to `new`. */
static inline quat limb_arc_after(quat first, vec3 old, vec3 new) {
    return quat_multiply(quat_arc(quat_rotate(first, old), new), first);
}

void ml_leg_solve(int64_t n, const double *top, const double *middle, const double *end,
                  const double *target, const double *pole, double soft, double *q_upper,
                  double *q_lower, double *new_middle, double *new_end, double *miss) {
    const vec3 *hips = (const vec3 *)top, *knees = (const vec3 *)middle;
    const vec3 *ankles = (const vec3 *)end, *goals = (const vec3 *)target;
    const vec3 *poles = (const vec3 *)pole;
    quat *uppers = (quat *)q_upper, *lowers = (quat *)q_lower;
    vec3 *new_knees = (vec3 *)new_middle, *new_ankles = (vec3 *)new_end;
    for (int64_t f = 0; f < n; f++) {
        vec3 hip = hips[f], goal = goals[f];
        vec3 upper = vec3_sub(knees[f], hip), lower = vec3_sub(ankles[f], knees[f]);
        vec3 leg = vec3_sub(ankles[f], hip), aim = vec3_sub(goal, hip), knee;
        double a = vec3_length(upper), b = vec3_length(lower), wanted = vec3_length(aim), span;
        if (ml_min(a, b) < SHORTEST_M) { /* a bone has no length: nothing turns */
            uppers[f] = lowers[f] = QUAT_IDENTITY;
            new_knees[f] = knees[f];
            new_ankles[f] = ankles[f];
            miss[f] = vec3_length(vec3_sub(ankles[f], goal));
            continue;
        }
        if (wanted < 1e-9) { /* the ankle is to be in the hip: fold along the leg as it is */
            wanted = ml_max(vec3_length(leg), 1e-9);
            aim = leg;
            span = ml_knee_span(wanted, 0.0, a, b, soft);
        } else {
            span = ml_knee_span(vec3_length(leg), wanted, a, b, soft);
        }
        aim = vec3_scale(span / wanted, aim);
        ml_knee_place(&aim.x, &leg.x, &upper.x, &poles[f].x, a, b, &knee.x);
        quat swing = quat_arc(leg, aim);
        uppers[f] = limb_arc_after(swing, upper, knee);
        lowers[f] = limb_arc_after(swing, lower, vec3_sub(aim, knee));
        new_knees[f] = vec3_add(hip, knee);
        new_ankles[f] = vec3_add(hip, aim);
        miss[f] = vec3_length(vec3_sub(new_ankles[f], goal));
    }
}
