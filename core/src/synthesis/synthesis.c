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

ml_status ml_synthesis_feet(const ml_rows *rows, const ml_leg_rig *rig, int64_t n, int64_t n_ways,
                            const int64_t *at, const double *weights, double fps, double speed,
                            int32_t captured, int sways, double *scratch, int64_t *held, const double *psi,
                            double *root, double *quats, uint8_t *planted, double *errors) {
    int64_t n_joints = rig->n_joints;
    double *positions = scratch, *world = positions + 3 * n_joints * n;
    double *points = world + 4 * n_joints * n, *soles = points + 12 * n;
    double *ways = soles + 12 * n, *places = ways + 6 * n, *shifts = places + 6 * n;
    double *drops = shifts + 6 * n, *tilts = drops + n, *rest = tilts + 2 * n;
    double reaches[2], missed;
    ml_status status = ml_synthesis_pose(rig, n, root, quats, positions, world, points);
    if (status) return status;
    synthesis_part(n, points, soles);
    status = ml_reach_ways(n, n_joints, rig->legs, positions, ways, reaches);
    if (status) return status;
    status = ml_footing_choose(rows, n, n_ways, at, weights, psi, root, soles, ways, reaches, fps,
                               speed, rest, held, places, planted, errors);
    if (status) return status;
    for (int64_t side = 0; side < 2; side++) {
        const double *heel = soles + 6 * n * side, *ball = heel + 3 * n;
        double *shift = shifts + 3 * n * side;
        if (sways)
            status = ml_sway_add(rows, side, n, n_ways, at, weights, psi, fps, held + n * side,
                                 ball, rest, places + 3 * n * side);
        if (status) return status;
        ml_swing_offsets(n, held + n * side, places + 3 * n * side, ball, captured, shift);
        status = ml_swing_clear(rows, side, n, n_ways, at, weights, held + n * side, heel, ball,
                                fps, captured, rest, shift, tilts + n * side);
        if (status) return status;
    }
    status = ml_reach_lower(n, n_joints, rig->legs, positions, held, shifts, rest, drops);
    if (status) return status;
    for (int64_t side = 0; side < 2; side++) {
        status =
            ml_reach_follow(n, n_joints, rig->parents, rig->legs + 3 * side, rig->soles + 6 * side,
                            rig->poles + 3 * side, held + n * side, shifts + 3 * n * side,
                            tilts + n * side, drops, positions, world, rest, quats, &missed);
        if (status) return status;
        errors[1] = ml_max(errors[1], missed);
    }
    for (int64_t t = 0; t < n; t++) root[3 * t + 1] -= drops[t];
    /* Labels are true of the pose as it came out. */
    status = ml_synthesis_pose(rig, n, root, quats, positions, world, points);
    if (status) return status;
    ml_label_keep(n, 4, points, fps, planted);
    return ML_OK;
}

ml_status ml_synthesis_make(const ml_rows *rows, const ml_leg_rig *rig, int64_t n_frames,
                            int64_t n_ways, const int64_t *at, const double *weights, double fps,
                            double speed, int32_t feet, double *scratch, int64_t *held, double *psi,
                            double *root, double *quats, uint8_t *planted, double *errors) {
    if (rows->n_joints != rig->n_joints) return ML_BAD_SIZE;
    errors[0] = errors[1] = 0.0;
    for (int64_t k = 0; k < 4 * n_frames; k++) planted[k] = 0;
    for (int64_t k = 0; k < 2 * n_frames; k++) held[k] = ML_NOT_HELD;
    ml_status status = ml_mixture_track(rows, n_frames, n_ways, at, weights, psi, root);
    if (status) return status;
    status = ml_mixture_rotations(rows, n_frames, n_ways, at, weights, psi, quats);
    if (status || !feet) return status;
    double *world = scratch + 3 * rows->n_joints * n_frames;
    double *points = world + 4 * rows->n_joints * n_frames;
    status = ml_synthesis_pose(rig, n_frames, root, quats, scratch, world, points);
    if (!status)
        status = ml_tread_follow(rows, n_frames, n_ways, at, weights, psi, fps, 1.0, points,
                                 points + 12 * n_frames, root);
    if (status) return status;
    return ml_synthesis_feet(rows, rig, n_frames, n_ways, at, weights, fps, speed, 0, 0, scratch,
                             held, psi, root, quats, planted, errors);
}
