/* Chains of joints: legs and soles of their feet in the world, and how fast a body goes. */

#include <stddef.h>

#include "rows.h"

/* Frames whose joints are found together: so many numbers a processor has side by side. */
#define CHAIN_LANES 4

/* One joint of some frames, one after another: where it is and how it is turned, from its
   parent's. */
static inline void chain_joint(int lanes, int64_t n_joints, int64_t j, int64_t parent,
                               const double *restrict offset, const double *restrict quats,
                               double *restrict positions, double *restrict world) {
    double a[4][CHAIN_LANES], b[4][CHAIN_LANES], p[3][CHAIN_LANES], q[4][CHAIN_LANES];
    double vx = offset[0], vy = offset[1], vz = offset[2];
    for (int l = 0; l < lanes; l++) {
        for (int c = 0; c < 4; c++) a[c][l] = world[4 * (n_joints * l + parent) + c];
        for (int c = 0; c < 4; c++) b[c][l] = quats[4 * (n_joints * l + j) + c];
        for (int c = 0; c < 3; c++) p[c][l] = positions[3 * (n_joints * l + parent) + c];
    }
    for (int l = 0; l < lanes; l++) { /* as ml_turn and ml_times */
        double w = a[0][l], x = a[1][l], y = a[2][l], z = a[3][l];
        double tx = 2.0 * (y * vz - z * vy);
        double ty = 2.0 * (z * vx - x * vz);
        double tz = 2.0 * (x * vy - y * vx);
        p[0][l] += vx + w * tx + y * tz - z * ty;
        p[1][l] += vy + w * ty + z * tx - x * tz;
        p[2][l] += vz + w * tz + x * ty - y * tx;
        q[0][l] = w * b[0][l] - x * b[1][l] - y * b[2][l] - z * b[3][l];
        q[1][l] = w * b[1][l] + x * b[0][l] + y * b[3][l] - z * b[2][l];
        q[2][l] = w * b[2][l] - x * b[3][l] + y * b[0][l] + z * b[1][l];
        q[3][l] = w * b[3][l] + x * b[2][l] - y * b[1][l] + z * b[0][l];
    }
    for (int l = 0; l < lanes; l++) {
        for (int c = 0; c < 3; c++) positions[3 * (n_joints * l + j) + c] = p[c][l];
        for (int c = 0; c < 4; c++) world[4 * (n_joints * l + j) + c] = q[c][l];
    }
}

ml_status ml_chain_pose(int64_t n_frames, int64_t n_joints, const int64_t *parents,
                        const double *offsets, int64_t n_chain, const int64_t *chain,
                        const double *root, const double *quats, double *positions,
                        double *world) {
    for (int64_t k = 0; k < n_chain; k++) {
        int64_t j = chain ? chain[k] : k;
        if (j < 0 || j >= n_joints || parents[j] >= n_joints || parents[j] == j)
            return ML_BAD_SIZE;
    }
    int64_t lanes = n_frames < CHAIN_LANES ? 1 : CHAIN_LANES;
    for (int64_t from = 0; from < n_frames; from += lanes) {
        /* The last frames again, where fewer are left. */
        int64_t t = from < n_frames - lanes ? from : n_frames - lanes;
        const double *local = quats + 4 * n_joints * t;
        double *place = positions + 3 * n_joints * t, *turn = world + 4 * n_joints * t;
        for (int64_t k = 0; k < n_chain; k++) {
            int64_t j = chain ? chain[k] : k, parent = parents[j];
            if (parent < 0) {
                for (int64_t l = 0; l < lanes; l++) {
                    int64_t at = n_joints * l + j;
                    for (int c = 0; c < 3; c++) place[3 * at + c] = root[3 * (t + l) + c];
                    for (int c = 0; c < 4; c++) turn[4 * at + c] = local[4 * at + c];
                }
            } else if (lanes == 1) {
                chain_joint(1, n_joints, j, parent, offsets + 3 * j, local, place, turn);
            } else {
                chain_joint(CHAIN_LANES, n_joints, j, parent, offsets + 3 * j, local, place, turn);
            }
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
        for (int64_t t = 0; t < n_frames; t++) {
            const double *place = positions + 3 * (n_joints * t + ankle);
            const double *turn = world + 4 * (n_joints * t + ankle);
            double q[4] = {turn[0], turn[1], turn[2], turn[3]}, heel[3], ball[3];
            double *point = points + 12 * t + 6 * side;
            ml_turn(q, soles + 6 * side, heel);
            ml_turn(q, soles + 6 * side + 3, ball);
            for (int c = 0; c < 3; c++) heel[c] = place[c] + heel[c];
            for (int c = 0; c < 3; c++) ball[c] = place[c] + ball[c];
            for (int c = 0; c < 3; c++) point[c] = heel[c];
            for (int c = 0; c < 3; c++) point[3 + c] = ball[c];
        }
    }
    return ML_OK;
}

ml_status ml_chain_pace(int64_t n_frames, int64_t n_joints, const int64_t *parents,
                        const double *offsets, const double *root, const double *quats, double fps,
                        double *positions, double *world, double *fastest) {
    ml_status bad = ml_chain_pose(n_frames, n_joints, parents, offsets, n_joints, NULL, root,
                                  quats, positions, world);
    if (bad) return bad;
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
