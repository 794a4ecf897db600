/* Two-bone inverse kinematics: an ankle or wrist is put on a target. */

#include "../kernels.h"
#include "knee.h"

/* Metres. Shorter bones have no direction. */
#define SHORTEST_M 1e-9

void ml_limb_solve(int64_t n, const double *top, const double *middle, const double *end,
                   const double *target, const double *hinge, double straight, double *q_upper,
                   double *q_lower, double *new_middle, double *new_end, double *miss) {
    for (int64_t f = 0; f < n; f++) {
        const double *hip = top + 3 * f, *goal = target + 3 * f;
        double upper[3], lower[3], aim[3], normal[3], axis[3], leg[3], bend[4], gap[3];
        ml_between(middle + 3 * f, hip, upper);
        ml_between(end + 3 * f, middle + 3 * f, lower);
        ml_between(goal, hip, aim);
        double a = ml_length(upper), b = ml_length(lower);
        double distance = ml_max(ml_length(aim), fabs(a - b) + straight);
        distance = ml_min(distance, ml_max(a + b - straight, straight));
        ml_cross(upper, lower, normal);
        double size = ml_length(normal);
        /* A limb that is straight to 0.1 % has no usable plane. */
        if (size > 1e-3 * a * b) {
            for (int c = 0; c < 3; c++) axis[c] = normal[c] / size;
        } else {
            double length = ml_length(hinge + 3 * f);
            for (int c = 0; c < 3; c++) axis[c] = hinge[3 * f + c] / (length > 0.0 ? length : 1.0);
        }
        double now = ml_atan2(ml_dot(normal, axis), ml_dot(upper, lower));
        double cosine = (distance * distance - a * a - b * b) / (a * b > 0.0 ? 2.0 * a * b : 1.0);
        double sine, half = 0.5 * (ml_acos(ml_clamp(cosine, -1.0, 1.0)) - now);
        ml_sincos(half, &sine, bend);
        for (int c = 0; c < 3; c++) bend[1 + c] = sine * axis[c];
        ml_turn(bend, lower, leg);
        for (int c = 0; c < 3; c++) leg[c] += upper[c];
        double *q = q_upper + 4 * f, *knee = new_middle + 3 * f, *ankle = new_end + 3 * f;
        ml_arc(leg, aim, q);
        ml_turn(q, upper, knee);
        ml_turn(q, leg, ankle);
        for (int c = 0; c < 3; c++) {
            knee[c] += hip[c];
            ankle[c] += hip[c];
            gap[c] = ankle[c] - goal[c];
        }
        ml_times(q, bend, q_lower + 4 * f);
        miss[f] = ml_length(gap);
    }
}

/* `first`, then the shortest rotation from the turned `old` to `new`. */
static void arc_after(const double *first, const double *old, const double *new, double *out) {
    double moved[3], shortest[4];
    ml_turn(first, old, moved);
    ml_arc(moved, new, shortest);
    ml_times(shortest, first, out);
}

/* A leg with a bone that has no length: nothing turns. */
static void leave_leg(const double *middle, const double *end, const double *goal, double *q_upper,
                      double *q_lower, double *knee, double *ankle, double *miss) {
    double gap[3];
    for (int c = 0; c < 4; c++) q_upper[c] = q_lower[c] = c == 0 ? 1.0 : 0.0;
    for (int c = 0; c < 3; c++) {
        knee[c] = middle[c];
        ankle[c] = end[c];
    }
    ml_between(end, goal, gap);
    *miss = ml_length(gap);
}

void ml_leg_solve(int64_t n, const double *top, const double *middle, const double *end,
                  const double *target, const double *pole, double soft, double *q_upper,
                  double *q_lower, double *new_middle, double *new_end, double *miss) {
    for (int64_t f = 0; f < n; f++) {
        const double *hip = top + 3 * f, *goal = target + 3 * f;
        double *knee_at = new_middle + 3 * f, *ankle_at = new_end + 3 * f;
        double upper[3], lower[3], leg[3], aim[3], knee[3], shank[3], gap[3], swing[4];
        ml_between(middle + 3 * f, hip, upper);
        ml_between(end + 3 * f, middle + 3 * f, lower);
        ml_between(end + 3 * f, hip, leg);
        ml_between(goal, hip, aim);
        double a = ml_length(upper), b = ml_length(lower), wanted = ml_length(aim), span;
        if (ml_min(a, b) < SHORTEST_M) {
            leave_leg(middle + 3 * f, end + 3 * f, goal, q_upper + 4 * f, q_lower + 4 * f, knee_at,
                      ankle_at, miss + f);
            continue;
        }
        if (wanted < 1e-9) { /* the ankle is to be in the hip: fold along the leg as it is */
            wanted = ml_max(ml_length(leg), 1e-9);
            for (int c = 0; c < 3; c++) aim[c] = leg[c];
            span = ml_knee_span(wanted, 0.0, a, b, soft);
        } else {
            span = ml_knee_span(ml_length(leg), wanted, a, b, soft);
        }
        for (int c = 0; c < 3; c++) aim[c] *= span / wanted;
        ml_knee_place(aim, leg, upper, pole + 3 * f, a, b, knee);
        for (int c = 0; c < 3; c++) {
            shank[c] = aim[c] - knee[c];
            knee_at[c] = hip[c] + knee[c];
            ankle_at[c] = hip[c] + aim[c];
            gap[c] = ankle_at[c] - goal[c];
        }
        ml_arc(leg, aim, swing);
        arc_after(swing, upper, knee, q_upper + 4 * f);
        arc_after(swing, lower, shank, q_lower + 4 * f);
        miss[f] = ml_length(gap);
    }
}
