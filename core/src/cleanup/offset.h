/* How offsets fade. */

#ifndef MOTIONLOOM_OFFSET_H
#define MOTIONLOOM_OFFSET_H

#include "../math/elementary.h"

/* Smooth fall from 1 at t <= 0 to 0 at t >= 1, flat at both. */
static inline double ml_offset_ease(double t) {
    t = ml_clamp(t, 0.0, 1.0);
    return (2.0 * t - 3.0) * t * t + 1.0;
}

#endif
