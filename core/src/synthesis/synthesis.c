/* Synthesis: a recipe made into frames, feet and all. */

#include "synthesis.h"

/* Heels and balls of both feet apart from one another, (2, 2, n, 3), from points (n, 4, 3). */
static void synthesis_part(int64_t n, const double *points, double *soles) {
    for (int64_t t = 0; t < n; t++)
        for (int64_t k = 0; k < 4; k++)
            for (int64_t c = 0; c < 3; c++) soles[3 * (n * k + t) + c] = points[12 * t + 3 * k + c];
}

ml_status ml_synthesis_pose(const ml_leg_rig *rig, int64_t n, const double *root,
                            const double *quats, double *positions, double *world, double *points) {
    ml_status status = ml_chain_pose(n, rig->n_joints, rig->parents, rig->offsets, rig->n_chain,
                                     rig->chain, root, quats, positions, world);
    if (status) return status;
    return ml_chain_soles(n, rig->n_joints, rig->legs, rig->soles, positions, world, points);
}

int ml_synthesis_begin(const ml_blend *blend, const ml_leg_rig *rig, const ml_synthesis *made) {
    int64_t n = blend->n_frames, n_joints = rig->n_joints;
    if (blend->rows->n_joints != n_joints || made->n_frames != n || made->n_joints != n_joints)
        return 0;
    made->errors[0] = made->errors[1] = 0.0;
    for (int64_t k = 0; k < 4 * n; k++) made->planted[k] = 0;
    for (int64_t k = 0; k < 2 * n; k++) made->held[k] = ML_NOT_HELD;
    return 1;
}

ml_status ml_synthesis_tread(const ml_blend *blend, const ml_leg_rig *rig, double part,
                             const ml_synthesis *made) {
    int64_t n = blend->n_frames;
    double *positions = made->scratch, *world = positions + 3 * rig->n_joints * n;
    double *points = world + 4 * rig->n_joints * n;
    ml_status status = ml_synthesis_pose(rig, n, made->root, made->quats, positions, world, points);
    if (status) return status;
    return ml_tread_follow(blend, made->psi, part, points, points + 12 * n, made->root);
}

ml_status ml_synthesis_feet(const ml_blend *blend, const ml_leg_rig *rig, int32_t captured,
                            int sways, const ml_synthesis *made) {
    int64_t n = blend->n_frames, n_joints = rig->n_joints, *held = made->held;
    double *positions = made->scratch, *world = positions + 3 * n_joints * n;
    double *points = world + 4 * n_joints * n, *soles = points + 12 * n;
    double *ways = soles + 12 * n, *places = ways + 6 * n, *shifts = places + 6 * n;
    double *drops = shifts + 6 * n, *tilts = drops + n, *rest = tilts + 2 * n;
    double *root = made->root, *quats = made->quats, reaches[2], missed;
    ml_status status = ml_synthesis_pose(rig, n, root, quats, positions, world, points);
    if (status) return status;
    synthesis_part(n, points, soles);
    status = ml_reach_ways(n, n_joints, rig->legs, positions, ways, reaches);
    if (status) return status;
    status = ml_footing_choose(blend, made->psi, root, soles, ways, reaches, rest, held, places,
                               made->planted, made->errors);
    if (status) return status;
    for (int64_t side = 0; side < 2; side++) {
        const double *heel = soles + 6 * n * side, *ball = heel + 3 * n;
        double *shift = shifts + 3 * n * side;
        if (sways)
            status = ml_sway_add(blend, side, made->psi, held + n * side, ball, rest,
                                 places + 3 * n * side);
        if (status) return status;
        ml_swing_offsets(n, held + n * side, places + 3 * n * side, ball, captured, shift);
        status = ml_swing_clear(blend->rows, side, n, blend->n_ways, blend->at, blend->weights,
                                held + n * side, heel, ball, blend->fps, captured, rest, shift,
                                tilts + n * side);
        if (status) return status;
    }
    status = ml_reach_lower(n, n_joints, rig->legs, positions, held, shifts, rest, drops);
    if (status) return status;
    for (int64_t side = 0; side < 2; side++) {
        ml_moved_leg leg = {.n_frames = n,
                            .n_joints = n_joints,
                            .parents = rig->parents,
                            .joints = rig->legs + 3 * side,
                            .sole = rig->soles + 6 * side,
                            .pole = rig->poles + 3 * side,
                            .held = held + n * side,
                            .shifts = shifts + 3 * n * side,
                            .tilts = tilts + n * side,
                            .drops = drops,
                            .positions = positions,
                            .world = world};
        status = ml_reach_follow(&leg, rest, quats, &missed);
        if (status) return status;
        made->errors[1] = ml_max(made->errors[1], missed);
    }
    for (int64_t t = 0; t < n; t++) root[3 * t + 1] -= drops[t];
    /* Labels are true of the pose as it came out. */
    status = ml_synthesis_pose(rig, n, root, quats, positions, world, points);
    if (status) return status;
    ml_label_keep(n, 4, points, blend->fps, made->planted);
    return ML_OK;
}

ml_status ml_synthesis_make(const ml_blend *blend, const ml_leg_rig *rig, int32_t feet,
                            const ml_synthesis *made) {
    if (!ml_synthesis_begin(blend, rig, made)) return ML_BAD_SIZE;
    ml_status status = ml_mixture_track(blend->rows, blend->n_frames, blend->n_ways, blend->at,
                                        blend->weights, made->psi, made->root);
    if (status) return status;
    status = ml_mixture_rotations(blend->rows, blend->n_frames, blend->n_ways, blend->at,
                                  blend->weights, made->psi, made->quats);
    if (status || !feet) return status;
    status = ml_synthesis_tread(blend, rig, 1.0, made);
    if (status) return status;
    return ml_synthesis_feet(blend, rig, 0, 0, made);
}
