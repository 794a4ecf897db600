/* Hinges of knees: what a clip shows of them, and how far they are bent. */

#include "../kernels.h"
#include "../math/vector.h"

/* A world vector as the joint of rotation q sees it. */
static void hinge_seen(const double *q, const double *v, double *out) {
    double back[4] = {q[0], -q[1], -q[2], -q[3]};
    ml_turn(back, v, out);
}

ml_status ml_hinge_show(int64_t n_frames, int64_t n_joints, const double *positions,
                        const double *world, int64_t every, const int64_t *leg, const double *ball,
                        double bent, double *out, int64_t *n_bent) {
    if (every < 1) return ML_BAD_SIZE;
    for (int k = 0; k < 3; k++)
        if (leg[k] < 0 || leg[k] >= n_joints) return ML_BAD_SIZE;
    double *by_foot = out, *by_bend = out + 3, *thighs = out + 6;
    for (int k = 0; k < 9; k++) out[k] = 0.0;
    *n_bent = 0;
    for (int64_t f = 0; f < n_frames; f += every) {
        const double *at = positions + 3 * n_joints * f, *q = world + 4 * n_joints * f;
        const double *hip = q + 4 * leg[0];
        double thigh[3], shank[3], ahead[3], across[3], seen[3];
        ml_between(at + 3 * leg[1], at + 3 * leg[0], thigh);
        ml_between(at + 3 * leg[2], at + 3 * leg[1], shank);
        hinge_seen(hip, thigh, seen);
        for (int c = 0; c < 3; c++) thighs[c] += seen[c];
        ml_turn(q + 4 * leg[2], ball, ahead);
        ml_cross(ahead, shank, across);
        hinge_seen(hip, across, seen);
        for (int c = 0; c < 3; c++) by_foot[c] += seen[c];
        ml_cross(thigh, shank, across);
        double size = ml_length(across);
        if (!(ml_atan2(size, ml_dot(thigh, shank)) > bent)) continue;
        for (int c = 0; c < 3; c++)
            across[c] /= ml_max(size, 1e-12); /* 0 where it is folded flat */
        hinge_seen(hip, across, seen);
        for (int c = 0; c < 3; c++) by_bend[c] += seen[c];
        *n_bent += 1;
    }
    return ML_OK;
}

ml_status ml_hinge_flexion(int64_t n_frames, int64_t n_joints, const double *local,
                           int64_t n_offsets, const double *offsets, int64_t n_chain,
                           const int64_t *chain, int64_t knee, const double *axis, double *out) {
    if (n_offsets != 1 && n_offsets != n_frames) return ML_BAD_SIZE;
    for (int64_t k = 0; k < n_chain; k++)
        if (chain[k] < 0 || chain[k] >= n_joints) return ML_BAD_SIZE;
    for (int64_t f = 0; f < n_frames; f++) {
        const double *q = local + 4 * n_joints * f;
        const double *places = offsets + (n_offsets == 1 ? 0 : 3 * n_joints * f);
        double turn[4] = {1.0, 0.0, 0.0, 0.0}, thigh[3] = {0.0, 0.0, 0.0}, at[3] = {0.0, 0.0, 0.0};
        for (int64_t k = 0; k < n_chain; k++) {
            const double *own = q + 4 * chain[k], *place = places + 3 * chain[k];
            double step[3] = {place[0], place[1], place[2]},
                   turned[4] = {own[0], own[1], own[2], own[3]};
            if (k > 0) ml_turn(turn, place, step);
            for (int c = 0; c < 3; c++) at[c] += step[c];
            if (chain[k] == knee)
                for (int c = 0; c < 3; c++) thigh[c] = at[c], at[c] = 0.0;
            if (k + 1 == n_chain) break;
            if (k > 0) ml_times(turn, own, turned);
            for (int c = 0; c < 4; c++) turn[c] = turned[c];
        }
        /* Square to axis and thigh: the way of the shank when it flexes. */
        double across[3], along[3];
        ml_cross(axis, thigh, across);
        ml_cross(across, axis, along);
        double angle = ml_atan2(ml_dot(at, across), ml_dot(at, along));
        out[f] = angle < ML_KNEE_FOLDED ? angle + 2.0 * ML_PI : angle;
    }
    return ML_OK;
}
