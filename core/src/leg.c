/* Legs that follow their placed feet: where their ankles go, and where they are read from a clip. */

#include "../motionloom.h"
#include "leg.h"
#include "vector.h"

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

/* Whether damping holds a leg back within `length` frames of the end of a hold. */
static int leg_is_damped(int64_t n, const uint8_t *held, const double *wanted, const double *span,
                         double length, int64_t edge, int64_t on) {
    for (int64_t f = edge + on; f >= 0 && f < n && !held[f]; f += on) {
        if ((double)((f - edge) * on) >= length) return 0;
        if (span[f] < wanted[f]) return 1;
    }
    return 0;
}

/* A knee that opens when its foot is let go, and would be stopped by full stretch in a frame or
   two, is braked from there on: each of its steps takes up less of the way that is left. It may
   also speed up by `quicker`, a way per frame. `on` is the direction away from the hold. */
static void leg_brake(const ml_leg *leg, const uint8_t *held, const double *wanted,
                      const double *near, double quicker, int64_t edge, int64_t on, double *span) {
    int64_t n = leg->n_frames;
    double angle = leg_angle(leg, edge, wanted[edge]);
    double step = angle - leg_angle(leg, edge - on, wanted[edge - on]);
    for (int64_t f = edge + on; f >= 0 && f < n && !held[f] && near[f] > 0.0; f += on) {
        double left = leg_angle(leg, f, leg->reach[f]) - angle;
        double most = ml_max(step, 0.0) + 2.0 * quicker / ml_max(leg->bones[f], 1e-9);
        double open = leg_angle(leg, f, span[f]);
        if (left > 1e-9) most = left * (1.0 - ml_exp(-most / left));
        step = ml_min(open - angle, most);
        angle += step;
        if (step < open - (angle - step))
            span[f] = leg_span(leg, f, open + near[f] * (angle - open));
    }
}

ml_status ml_leg_aim(int64_t n_frames, const ml_leg *leg, const uint8_t *held, const double *shift,
                     const double *target, double length, double quicker, uint8_t *flags, double *work,
                     double *hip, double *knee, double *ankle, double *end) {
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
    for (int64_t f = 0; f < n; f++)
        for (int64_t on = -1; on <= 1; on += 2) {
            if (!flags[f] || f - on < 0 || f - on >= n || !flags[f - on]) continue;
            if (f + on < 0 || f + on >= n || flags[f + on]) continue;
            if (leg_is_damped(n, flags, wanted, span, length, f, on))
                leg_brake(leg, flags, wanted, near, quicker, f, on, span);
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
