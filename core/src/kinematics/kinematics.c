/* Forward kinematics, of two frames at a time. */

#include <math.h>

#include "../kernels.h"
#include "joint.h"

/* Every joint but the root of a frame and of the one whose joints come `more` later, with offsets
   that come `more_offsets` later. Returns a sum for either frame, which is not finite where any
   number that they are given is not. */
static inline ml_pair kinematics_pose(int64_t n_joints, const int64_t *parents,
                                      const double *offsets, const double *local, int64_t more,
                                      int64_t more_offsets, double *positions, double *world) {
    ml_joint_pair at = ml_joint_read(positions, local, 0, more);
    ml_pair sum = at.x + at.y + at.z + at.q[0] + at.q[1] + at.q[2] + at.q[3];
    ml_joint_write(&at, positions, world, 0, more);
    for (int64_t j = 1; j < n_joints; j++) {
        const double *one = offsets + 3 * j, *other = one + 3 * more_offsets;
        ml_pair own[4], v[3];
        for (int c = 0; c < 3; c++) v[c] = (ml_pair){one[c], other[c]};
        ml_joint_load(local + 4 * j, local + 4 * (j + more), own);
        if (parents[j] != j - 1) at = ml_joint_read(positions, world, parents[j], more);
        at = ml_joint_child(&at, v, own);
        ml_joint_write(&at, positions, world, j, more);
        sum += at.q[0]; /* which all of its own and its parent's rotation goes into */
    }
    return sum;
}

ml_status ml_kinematics_forward(int64_t n_frames, int64_t n_joints, const int64_t *parents,
                                int64_t n_offsets, const double *offsets, const double *roots,
                                const double *local, double *positions, double *world) {
    if (n_joints < 1 || (n_offsets != 1 && n_offsets != n_frames)) return ML_BAD_SIZE;
    for (int64_t j = 1; j < n_joints; j++)
        if (parents[j] < 0 || parents[j] >= j) return ML_BAD_SIZE;
    ml_pair sum = {0.0, 0.0};
    for (int64_t f = 0; f < n_frames; f += 2) {
        int64_t more = f + 1 < n_frames ? n_joints : 0; /* 0: the last frame, twice */
        const double *own = local + 4 * n_joints * f;
        double *place = positions + 3 * n_joints * f, *q = world + 4 * n_joints * f;
        memcpy(place, roots + 3 * f, 3 * sizeof *roots);
        if (more) memcpy(place + 3 * more, roots + 3 * (f + 1), 3 * sizeof *roots);
        if (n_offsets == 1)
            sum += kinematics_pose(n_joints, parents, offsets, own, more, 0, place, q);
        else
            sum += kinematics_pose(n_joints, parents, offsets + 3 * n_joints * f, own, more, more,
                                   place, q);
    }
    return isfinite(sum[0] + sum[1]) ? ML_OK : ML_NOT_FINITE;
}
