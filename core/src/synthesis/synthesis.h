/* Feet of frames that are made. */

#ifndef MOTIONLOOM_SYNTHESIS_H
#define MOTIONLOOM_SYNTHESIS_H

#include "rows.h"

/* Joints of the legs, and heels and balls, in the world.
   positions: (n, n_joints, 3)  world: (n, n_joints, 4)  points: (n, 4, 3) */
ml_status ml_synthesis_pose(const ml_leg_rig *rig, int64_t n, const double *root,
                            const double *quats, double *positions, double *world, double *points);

/* Vectors from hips to ankles, and full lengths of the legs, metres.
   legs: (2, 3)  positions: (n_frames, n_joints, 3)  ways: (2, n_frames, 3)  reaches: (2) */
ml_status ml_reach_ways(int64_t n_frames, int64_t n_joints, const int64_t *legs,
                        const double *positions, double *ways, double *reaches);

/* Feet of made frames put where they stand, legs that follow them, and labels that are true. Those of
   `captured` windows are lifted less than those of blends. With `sways`, feet that are held move as
   they do in their windows. No foot is planted or held yet. */
ml_status ml_synthesis_feet(const ml_blend *blend, const ml_leg_rig *rig, int32_t captured,
                            int sways, const ml_synthesis *made);

/* Begin: no errors, no foot planted or held. Whether rows, rig and frames fit together. */
int ml_synthesis_begin(const ml_blend *blend, const ml_leg_rig *rig, const ml_synthesis *made);

/* Move the root as standing feet ask for, by `part`. */
ml_status ml_synthesis_tread(const ml_blend *blend, const ml_leg_rig *rig, double part,
                             const ml_synthesis *made);

#endif
