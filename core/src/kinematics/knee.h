/* Where a knee goes, for every leg solver.

   A knee bends to one side only. Solvers that keep the side of the current pose turn a leg over in
   one frame where it is captured straight or bent backwards; this one takes the side from a pole. */

#ifndef MOTIONLOOM_KNEE_H
#define MOTIONLOOM_KNEE_H

#include "../math/vector.h"

/* Part of the thigh. When a leg bends more, a knee farther than this from the line between hip and
   ankle moves sideways in proportion; a nearer one stays about as far to the side as it is. */
#define ML_KNEE_LATERAL 0.05
/* Cosine of the largest flexion, 160 degrees. */
#define ML_KNEE_CLOSEST -0.9396926207859083

/* Distance from hip to ankle as wanted, but within what the knee allows. It eases into full
   stretch, and into the closest fold, over `soft`, a part of the leg's length. A leg that is
   stretched or folded further already may stay so. */
static inline double ml_knee_span(double before, double wanted, double thigh, double shank,
                                  double soft) {
    double full = thigh + shank, width = soft * full;
    double closest =
        sqrt(ml_max(thigh * thigh + shank * shank + 2.0 * thigh * shank * ML_KNEE_CLOSEST, 0.0));
    double high = ml_max(before, full - width), low = ml_min(before, closest + width);
    if (wanted > high) {
        double left = full - high;
        return left < 1e-9 ? high : high + left * (1.0 - ml_exp((high - wanted) / left));
    }
    if (wanted < low) {
        double left = low - closest;
        return left < 1e-9 ? low : low - left * (1.0 - ml_exp((wanted - low) / left));
    }
    return wanted;
}

/* Where a knee goes when its ankle goes to another place; always on the side of the pole.

   The knee's offset from the line between hip and ankle has a part to the side and a part along
   the pole. The side part swings with the line and keeps its size (in proportion where the leg is
   bent). The part along the pole takes up the rest and is never negative. So the knee depends
   continuously on every argument, also where the leg is straight or bent backwards, and an ankle
   that stays leaves a healthy knee where it is.

   target   ankle wanted, relative to the hip; its distance comes from ml_knee_span
   ankle    ankle now, relative to the hip
   knee     knee now, relative to the hip
   pole     direction in which the knee points, square to the thigh
   out      new knee, relative to the hip */
static inline void ml_knee_place(const double *target, const double *ankle, const double *knee,
                                 const double *pole, double thigh, double shank, double *out) {
    double before = ml_max(ml_length(ankle), 1e-12), span = ml_max(ml_length(target), 1e-12);
    double a[3], e[3], f[3];
    for (int c = 0; c < 3; c++) {
        a[c] = ankle[c] / before;
        e[c] = target[c] / span;
    }
    double along = ml_dot(knee, a);
    /* Forwards: square to the line, in the plane of thigh and pole. */
    double side = ml_dot(pole, a);
    for (int c = 0; c < 3; c++) f[c] = along * pole[c] - side * knee[c];
    double size = ml_length(f);
    if (size < 1e-9) { /* no pole: the knee's own side */
        for (int c = 0; c < 3; c++) f[c] = knee[c] - along * a[c];
        size = ml_max(ml_length(f), 1e-12);
    }
    for (int c = 0; c < 3; c++) f[c] /= size;
    double lateral = knee[0] * (a[1] * f[2] - a[2] * f[1]) + knee[1] * (a[2] * f[0] - a[0] * f[2]) +
                     knee[2] * (a[0] * f[1] - a[1] * f[0]);
    double now = sqrt(ml_max(thigh * thigh - along * along, lateral * lateral));
    double down = (thigh * thigh - shank * shank + span * span) / (2.0 * span);
    double aside = sqrt(ml_max(thigh * thigh - down * down, 0.0));
    double rest = ML_KNEE_LATERAL * thigh;
    lateral *= aside < now ? aside / ml_max(now, 1e-12) : (aside + rest) / (now + rest);
    double forward = sqrt(ml_max(aside * aside - lateral * lateral, 0.0));
    /* The shortest turn of the line carries its sides along. */
    double turned = ml_dot(f, e) / ml_max(1.0 + a[0] * e[0] + a[1] * e[1] + a[2] * e[2], 1e-9);
    for (int c = 0; c < 3; c++) f[c] -= turned * (a[c] + e[c]);
    double across[3];
    ml_cross(e, f, across);
    for (int c = 0; c < 3; c++) out[c] = down * e[c] + forward * f[c] + lateral * across[c];
}

#endif
