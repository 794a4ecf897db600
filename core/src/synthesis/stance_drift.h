/* What feet that stand move by in their windows. */

#ifndef MOTIONLOOM_STANCE_DRIFT_H
#define MOTIONLOOM_STANCE_DRIFT_H

#include "../math/vec.h"
#include "rows.h"

/* Step of a foot to a frame (from 1 on) in the weightiest window in which it stands in both frames:
   of its ball, or else of its heel; for a body that faces `psi` before it, metres. 0, and no step,
   where it stands in none. */
int ml_sway_step(const ml_blend *blend, int64_t side, double psi, int64_t t, vec3 *out);

#endif
