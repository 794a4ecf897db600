/* Legs that follow their placed feet: where their ankles go, and where they are read from a clip. */

#include "leg.h"
#include "../kernels.h"
#include "../math/vector.h"
#include "offset.h"

/* A leg that stays behind by less is not damped: that is rounding, metres. */
#define LEG_LEAST_DAMPED 1e-9

/* Length of a vector, with its sum in the order of the plain form. */
static double leg_length(const double *a) {
    return sqrt((a[0] * a[0] + a[2] * a[2]) + a[1] * a[1]);
}

ml_status ml_leg_read(int64_t n_frames, int64_t n_joints, const double *positions,
                      const double *world, const int64_t *joints, const double *axis,
                      const double *pole, double *hip, double *knee, double *ankle, double *bones,
                      double *hinges, double *poles) {
    int64_t n = n_frames;
    for (int k = 0; k < 3; k++)
        if (joints[k] < 0 || joints[k] >= n_joints) return ML_BAD_SIZE;
    for (int64_t f = 0; f < n; f++) {
        const double *at = positions + 3 * n_joints * f;
        const double *q = world + 4 * (n_joints * f + joints[0]);
        double thigh[3], shank[3], leg[3];
        for (int c = 0; c < 3; c++) {
            hip[3 * f + c] = at[3 * joints[0] + c];
            knee[3 * f + c] = at[3 * joints[1] + c];
            ankle[3 * f + c] = at[3 * joints[2] + c];
        }
        ml_between(knee + 3 * f, hip + 3 * f, thigh);
        ml_between(ankle + 3 * f, knee + 3 * f, shank);
        ml_between(ankle + 3 * f, hip + 3 * f, leg);
        bones[f] = leg_length(thigh);
        bones[n + f] = leg_length(shank);
        bones[2 * n + f] = leg_length(leg);
        ml_turn(q, axis, hinges + 3 * f);
        ml_turn(q, pole, poles + 3 * f);
    }
    return ML_OK;
}

/* Knee angle of a leg in a frame whose ends are `span` apart; pi is straight. */
static double leg_angle(const ml_leg *leg, int64_t f, double span) {
    double upper = leg->bones[f], lower = leg->bones[leg->n_frames + f];
    double product = ml_max(2.0 * upper * lower, 1e-12);
    double cosine = (upper * upper + lower * lower - span * span) / product;
    return ml_acos(ml_clamp(cosine, -1.0, 1.0));
}

/* And back. */
static double leg_span(const ml_leg *leg, int64_t f, double angle) {
    double upper = leg->bones[f], lower = leg->bones[leg->n_frames + f];
    double square = upper * upper + lower * lower - 2.0 * upper * lower * ml_cos(angle);
    return sqrt(ml_max(square, 0.0));
}

/* A knee that opens where a hold ends, and that full stretch would stop within a frame or two, is
   braked from there on: each of its steps is a smaller part of the way that is left. It may speed
   up by `free_change`. `on` is the direction away from the hold, 1 or -1. The brake is let off over
   `length` frames, or until the next hold. */
static void leg_brake(const ml_leg *leg, const uint8_t *held, const double *wanted, double length,
                      double free_change, int64_t edge, int64_t on, double *span) {
    int64_t n = leg->n_frames, stop = edge + on;
    double until = 1.0;
    int damped = 0;
    for (; stop >= 0 && stop < n && !held[stop] && until < length; stop += on, until += 1.0)
        damped |= wanted[stop] - span[stop] > LEG_LEAST_DAMPED;
    if (!damped) return;
    double angle = leg_angle(leg, edge, wanted[edge]);
    double step = angle - leg_angle(leg, edge - on, wanted[edge - on]);
    until = ml_min(until, length);
    for (int64_t f = edge + on; f != stop; f += on) {
        double open = leg_angle(leg, f, span[f]), left = leg_angle(leg, f, leg->reach[f]) - angle;
        /* A thigh turns by about half of what the angle of its knee changes. */
        double most = ml_max(step, 0.0) + 2.0 * free_change / ml_max(leg->bones[f], 1e-9);
        step = open - angle;
        if (left > 0.0) most = left * (1.0 - ml_exp(-most / left));
        if (step > most) {
            double away = (double)((f - edge) * on);
            step = most;
            open -= ml_offset_ease(away / until) * (open - angle - most);
            span[f] = leg_span(leg, f, open);
        }
        angle += step;
    }
}

ml_status ml_leg_aim(int64_t n_frames, const ml_leg *leg, const uint8_t *held, const double *shift,
                     const double *target, double length, double free_change, uint8_t *flags,
                     double *work, double *hip, double *knee, double *ankle, double *end) {
    int64_t n = n_frames;
    if (leg->n_frames != n) return ML_BAD_SIZE;
    double *near = work, *wanted = near + n, *part = wanted + n, *span = part + n;
    for (int64_t f = 0; f < n; f++) flags[f] = held[2 * f] || held[2 * f + 1];
    ml_offset_near(n, flags, length, near);
    for (int64_t f = 0; f < n; f++) {
        double way[3];
        for (int c = 0; c < 3; c++) {
            int64_t i = 3 * f + c;
            hip[i] = leg->hip[i] + shift[i];
            knee[i] = leg->knee[i] + shift[i];
            ankle[i] = leg->ankle[i] + shift[i];
        }
        ml_between(target + 3 * f, hip + 3 * f, way);
        wanted[f] = leg_length(way);
        part[f] = ML_LEG_SOFT + (ML_LEG_HARD - ML_LEG_SOFT) * near[f];
    }
    ml_knee_soften_span(n, leg->bones + 2 * n, wanted, leg->reach, part, span);
    for (int64_t f = 1; f + 1 < n; f++) {
        if (!flags[f] || flags[f - 1] == flags[f + 1]) continue;
        leg_brake(leg, flags, wanted, length, free_change, f, flags[f - 1] ? 1 : -1, span);
    }
    for (int64_t f = 0; f < n; f++) {
        double share = 1.0;
        if (!flags[f] && span[f] != wanted[f]) share = span[f] / ml_max(wanted[f], 1e-12);
        for (int c = 0; c < 3; c++) {
            int64_t i = 3 * f + c;
            end[i] = hip[i] + (target[i] - hip[i]) * share;
        }
    }
    return ML_OK;
}
