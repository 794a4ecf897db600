/* Forward kinematics. */

#include "../motionloom.h"
#include "vector.h"

ml_status ml_kinematics_forward(int64_t n_frames, int64_t n_joints, const int64_t *parents,
                                int64_t n_offsets, const double *offsets, const double *roots,
                                const double *local, double *positions, double *world) {
    if (n_joints < 1 || (n_offsets != 1 && n_offsets != n_frames)) return ML_BAD_SIZE;
    for (int64_t j = 1; j < n_joints; j++)
        if (parents[j] < 0 || parents[j] >= j) return ML_BAD_SIZE;
    for (int64_t f = 0; f < n_frames; f++) {
        const double *at = offsets + (n_offsets == 1 ? 0 : 3 * n_joints * f);
        const double *own = local + 4 * n_joints * f;
        double *place = positions + 3 * n_joints * f, *q = world + 4 * n_joints * f;
        for (int c = 0; c < 3; c++) place[c] = roots[3 * f + c];
        for (int c = 0; c < 4; c++) q[c] = own[c];
        for (int64_t j = 1; j < n_joints; j++) {
            const double *parent = q + 4 * parents[j], *from = place + 3 * parents[j];
            double moved[3];
            ml_turn(parent, at + 3 * j, moved);
            for (int c = 0; c < 3; c++) place[3 * j + c] = from[c] + moved[c];
            ml_times(parent, own + 4 * j, q + 4 * j);
        }
    }
    return ML_OK;
}
