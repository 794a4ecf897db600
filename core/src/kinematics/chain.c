/* Chains of joints: legs and soles of their feet in the world, and how fast a body goes. */

#include <stddef.h>

#include "../math/vec.h"
#include "../synthesis/rows.h"
#include "joint.h"

ml_status ml_chain_pose(int64_t n_frames, int64_t n_joints, const int64_t *parents,
                        const double *offsets, int64_t n_chain, const int64_t *chain,
                        const double *root, const double *quats, double *positions, double *world) {
    for (int64_t k = 0; k < n_chain; k++) {
        int64_t j = chain ? chain[k] : k;
        if (j < 0 || j >= n_joints || parents[j] >= n_joints || parents[j] == j) return ML_BAD_SIZE;
    }
    for (int64_t t = 0; t < n_frames; t += 2) {
        int64_t more = t + 1 < n_frames ? n_joints : 0; /* 0: the last frame, twice */
        const double *local = quats + 4 * n_joints * t;
        double *place = positions + 3 * n_joints * t, *turn = world + 4 * n_joints * t;
        ml_joint_pair at = {0};
        for (int64_t k = 0, last = -1; k < n_chain; k++) {
            int64_t j = chain ? chain[k] : k, parent = parents[j];
            if (parent < 0) {
                for (int64_t l = 0; l <= (more > 0); l++)
                    memcpy(place + 3 * (j + more * l), root + 3 * (t + l), 3 * sizeof *root);
                for (int64_t l = 0; l <= (more > 0); l++)
                    memcpy(turn + 4 * (j + more * l), local + 4 * (j + more * l),
                           4 * sizeof *local);
                continue;
            }
            const double *offset = offsets + 3 * j;
            ml_pair own[4], v[3];
            for (int c = 0; c < 3; c++) v[c] = (ml_pair){offset[c], offset[c]};
            ml_joint_load(local + 4 * j, local + 4 * (j + more), own);
            if (parent != last) at = ml_joint_read(place, turn, parent, more);
            at = ml_joint_child(&at, v, own);
            ml_joint_write(&at, place, turn, j, more);
            last = j;
        }
    }
    return ML_OK;
}

ml_status ml_chain_soles(int64_t n_frames, int64_t n_joints, const int64_t *legs,
                         const double *soles, const double *positions, const double *world,
                         double *points) {
    for (int64_t side = 0; side < 2; side++) {
        int64_t ankle = legs[3 * side + 2];
        if (ankle < 0 || ankle >= n_joints) return ML_BAD_SIZE;
        vec3 heel = ((const vec3 *)soles)[2 * side], ball = ((const vec3 *)soles)[2 * side + 1];
        for (int64_t t = 0; t < n_frames; t++) {
            vec3 place = ((const vec3 *)positions)[n_joints * t + ankle];
            quat turn = ((const quat *)world)[n_joints * t + ankle];
            vec3 *point = (vec3 *)points + 4 * t + 2 * side;
            point[0] = vec3_add(place, quat_rotate(turn, heel));
            point[1] = vec3_add(place, quat_rotate(turn, ball));
        }
    }
    return ML_OK;
}

ml_status ml_chain_pace(int64_t n_frames, int64_t n_joints, const int64_t *parents,
                        const double *offsets, const double *root, const double *quats, double fps,
                        double *positions, double *world, double *fastest) {
    ml_status status = ml_chain_pose(n_frames, n_joints, parents, offsets, n_joints, NULL, root,
                                     quats, positions, world);
    if (status) return status;
    double step = 0.0, travel = 0.0, least = 1.0;
    for (int64_t t = 1; t < n_frames; t++)
        for (int64_t j = 0; j < n_joints; j++) {
            const double *now = positions + 3 * (n_joints * t + j), *before = now - 3 * n_joints;
            const double *q = quats + 4 * (n_joints * t + j), *p = q - 4 * n_joints;
            double x = now[0] - before[0], y = now[1] - before[1], z = now[2] - before[2];
            step = ml_max(step, x * x + y * y + z * z);
            least = ml_min(least, fabs(q[0] * p[0] + q[1] * p[1] + q[2] * p[2] + q[3] * p[3]));
            if (j == 0) travel = ml_max(travel, x * x + z * z);
        }
    fastest[0] = fps * sqrt(step);
    fastest[1] = fps * 2.0 * ml_acos(ml_min(least, 1.0));
    fastest[2] = fps * sqrt(travel);
    return ML_OK;
}
