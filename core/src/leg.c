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

ml_status ml_leg_aim(int64_t n_frames, const ml_leg *leg, const uint8_t *held, const double *shift,
                     const double *target, double length, uint8_t *flags, double *work,
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
