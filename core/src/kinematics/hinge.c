/* Hinges of knees: what a clip shows of them, and how far they are bent. */

#include "../kernels.h"
#include "../math/vec.h"

ml_status ml_hinge_show(int64_t n_frames, int64_t n_joints, const double *positions,
                        const double *world, int64_t every, const int64_t *leg, const double *ball,
                        double bent, double *out, int64_t *n_bent) {
    if (every < 1) return ML_BAD_SIZE;
    for (int k = 0; k < 3; k++)
        if (leg[k] < 0 || leg[k] >= n_joints) return ML_BAD_SIZE;
    const vec3 *lever = (const vec3 *)ball;
    vec3 *sums = (vec3 *)out, by_foot = VEC3_ZERO, by_bend = VEC3_ZERO, thighs = VEC3_ZERO;
    *n_bent = 0;
    for (int64_t f = 0; f < n_frames; f += every) {
        const vec3 *at = (const vec3 *)positions + n_joints * f;
        const quat *q = (const quat *)world + n_joints * f;
        quat hip = q[leg[0]];
        vec3 thigh = vec3_sub(at[leg[1]], at[leg[0]]), shank = vec3_sub(at[leg[2]], at[leg[1]]);
        thighs = vec3_add(thighs, quat_rotate_back(hip, thigh));
        vec3 ahead = quat_rotate(q[leg[2]], *lever);
        by_foot = vec3_add(by_foot, quat_rotate_back(hip, vec3_cross(ahead, shank)));
        vec3 across = vec3_cross(thigh, shank);
        double size = vec3_length(across);
        if (!(ml_atan2(size, vec3_dot(thigh, shank)) > bent)) continue;
        across = vec3_divide(across, ml_max(size, 1e-12)); /* 0 where it is folded flat */
        by_bend = vec3_add(by_bend, quat_rotate_back(hip, across));
        *n_bent += 1;
    }
    sums[0] = by_foot, sums[1] = by_bend, sums[2] = thighs;
    return ML_OK;
}

ml_status ml_hinge_flexion(int64_t n_frames, int64_t n_joints, const double *local,
                           int64_t n_offsets, const double *offsets, int64_t n_chain,
                           const int64_t *chain, int64_t knee, const double *axis, double *out) {
    if (n_offsets != 1 && n_offsets != n_frames) return ML_BAD_SIZE;
    for (int64_t k = 0; k < n_chain; k++)
        if (chain[k] < 0 || chain[k] >= n_joints) return ML_BAD_SIZE;
    vec3 hinge = *(const vec3 *)axis;
    for (int64_t f = 0; f < n_frames; f++) {
        const quat *own = (const quat *)local + n_joints * f;
        const vec3 *places = (const vec3 *)offsets + (n_offsets == 1 ? 0 : n_joints * f);
        quat turn = QUAT_IDENTITY;
        vec3 thigh = VEC3_ZERO, at = VEC3_ZERO;
        for (int64_t k = 0; k < n_chain; k++) {
            vec3 place = places[chain[k]];
            at = vec3_add(at, k > 0 ? quat_rotate(turn, place) : place);
            if (chain[k] == knee) thigh = at, at = VEC3_ZERO;
            if (k + 1 == n_chain) break;
            turn = k > 0 ? quat_multiply(turn, own[chain[k]]) : own[chain[k]];
        }
        /* Square to axis and thigh: where the shank goes when it flexes. */
        vec3 across = vec3_cross(hinge, thigh), along = vec3_cross(across, hinge);
        double angle = ml_atan2(vec3_dot(at, across), vec3_dot(at, along));
        out[f] = angle < ML_KNEE_FOLDED ? angle + 2.0 * ML_PI : angle;
    }
    return ML_OK;
}
