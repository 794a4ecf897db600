/* Passages: from one frame of a collection to another along captured windows.

   The windows are bent at both ends: the difference to the wanted posture and velocity is added
   there and fades towards the middle. The root gets the wanted velocities, but where it arrives on
   the ground is left free. Of several windows only the slow part is averaged; the fast part is
   copied from one of them, the carrier, because an average of fast movements blurs them. */

#include "passage.h"

#include <string.h>

#include "../math/vec.h"
#include "synthesis.h"

/* Part by which the root follows its standing feet. Legs of captured windows that are bent to other
   ends change their posture more than their stride: of 0.3 to 0.7, 0.4 makes captured seconds again
   with the smallest error. Held feet do the rest. */
#define PASSAGE_TREAD 0.4

/* Frames that a row's clip has before it (side 0) or after it (side 1). */
static int64_t passage_outside(int64_t n_clips, const int64_t *starts, int64_t row, int side) {
    int64_t low = 0, high = n_clips;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (starts[middle] > row) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return side ? starts[low + 1] - 1 - row : row - starts[low];
}

/* --- Rotations */

/* A joint's local rotation in a row, of unit length. */
static quat passage_rotation(const ml_rows *rows, int64_t row, int64_t joint) {
    const float *q = rows->quats + 4 * (rows->n_joints * row + joint);
    double w = (double)q[0], x = (double)q[1], y = (double)q[2], z = (double)q[3];
    double square = 0.0 + w * w + x * x + y * y + z * z;
    double scale = square > 0.0 ? 1.0 / sqrt(square) : 1.0;
    return (quat){scale * w, scale * x, scale * y, scale * z};
}

/* The same for a body with heading `psi`, which turns the root only. */
static quat passage_rotation_facing(const ml_rows *rows, int64_t row, int64_t joint, double psi) {
    quat q = passage_rotation(rows, row, joint), turn = QUAT_IDENTITY;
    if (joint != 0) return q;
    ml_sincos(0.5 * psi, &turn.y, &turn.w);
    return quat_multiply(turn, q);
}

/* Rotation vector from one rotation to another. */
static vec3 passage_difference(quat from, quat to) { return quat_log(quat_between(from, to)); }

/* The rotation vector `v`, or the one the other way round that is the same rotation, whichever is
   nearer to `other`: then a mean of the two does not spin. */
static vec3 passage_nearest(vec3 other, vec3 v) {
    double angle = vec3_length(v), here = 0.0, there = 0.0;
    if (!(angle > 1e-9)) return v;
    double flip = 1.0 - 2.0 * ML_PI / angle;
    vec3 flipped = vec3_scale(flip, v), a = vec3_sub(v, other), b = vec3_sub(flipped, other);
    here = a.x * a.x + a.y * a.y + a.z * a.z;
    there = b.x * b.x + b.y * b.y + b.z * b.z;
    return there < here ? flipped : v;
}

/* Turn q by the rotation whose quaternion has the vector part v: near to twice v, and without
   angles, which cost time. */
static quat passage_turned(quat q, vec3 v) {
    double square = vec3_dot(v, v), scale = square > 1.0 ? 1.0 / sqrt(square) : 1.0;
    quat turn = {sqrt(ml_max(1.0 - square, 0.0)), scale * v.x, scale * v.y, scale * v.z};
    return quat_multiply(q, turn);
}

/* The vector part of the quaternion between two rotations, by the shorter way: inverse of
   passage_turned. */
static vec3 passage_half_difference(quat from, quat to) {
    quat q = quat_between(from, to);
    return q.w < 0.0 ? (vec3){-q.x, -q.y, -q.z} : (vec3){q.x, q.y, q.z};
}

/* --- The fast part of the carrier */

/* Replace the fast part of the mean of the windows by that of the carrier, for all joints.
   scratch: (6, n_joints, n_frames) */
static void passage_carry(const ml_passage *passage, const double *psi, double *scratch,
                          quat *quats) {
    int64_t n = passage->n_frames, n_joints = passage->rows->n_joints, count = n * n_joints;
    vec3 *apart = (vec3 *)scratch, *slow = apart + count;
    for (int64_t t = 0; t < n; t++) {
        int64_t row = ml_passage_row(passage, passage->carrier, t);
        for (int64_t j = 0; j < n_joints; j++) {
            int64_t k = n_joints * t + j;
            quat own = passage_rotation_facing(passage->rows, row, j, psi[t]);
            apart[k] = passage_half_difference(own, quats[k]);
            quats[k] = own;
        }
    }
    ml_passage_smooth(passage, 3 * n_joints, scratch, &slow->x);
    for (int64_t k = 0; k < count; k++) quats[k] = passage_turned(quats[k], slow[k]);
}

/* --- What the windows lack at the two ends, which are k = 0 and k = 1 */

/* A local rotation `away` frames outside an end, of the clip there (i = -1) or of window i. Where
   the clip has no such frame, the motion inside is mirrored in time about the end. */
static quat passage_outside_end(const ml_passage *passage, int64_t i, int k, int64_t joint,
                                int64_t away) {
    int64_t row = ml_passage_end(passage, i, k), step = k ? away : -away;
    if (!passage->inward[k][1 + i] || away == 0)
        return passage_rotation(passage->rows, row + (passage->inward[k][1 + i] ? -step : step),
                                joint);
    quat inside = passage_rotation(passage->rows, row - step, joint);
    quat end = passage_rotation(passage->rows, row, joint);
    return quat_multiply(end, quat_between(inside, end));
}

static void passage_accumulate(quat *sum, double part, quat q) {
    sum->w += part * q.w;
    sum->x += part * q.x;
    sum->y += part * q.y;
    sum->z += part * q.z;
}

/* Rotation vector from the windows' mean to the clip, `away` frames outside an end. */
static vec3 passage_lack(const ml_passage *passage, int64_t joint, int k, int64_t away) {
    quat sum = {0.0, 0.0, 0.0, 0.0};
    quat main = passage_outside_end(passage, passage->main[k], k, joint, away);
    for (int64_t i = 0; i < passage->n_ways; i++) {
        double share = ml_passage_share(passage, i, k ? passage->n_frames - 1 : 0);
        quat q = passage_outside_end(passage, i, k, joint, away);
        double like = 0.0 + q.w * main.w + q.x * main.x + q.y * main.y + q.z * main.z;
        passage_accumulate(&sum, like < 0.0 ? -share : share, q);
    }
    double square = 0.0 + sum.w * sum.w + sum.x * sum.x + sum.y * sum.y + sum.z * sum.z;
    double size = sqrt(square);
    quat mean =
        square > 1e-12 ? (quat){sum.w / size, sum.x / size, sum.y / size, sum.z / size} : main;
    return passage_difference(mean, passage_outside_end(passage, -1, k, joint, away));
}

/* How fast the lack changes at an end, per frame of the passage. */
static vec3 passage_spin(const ml_passage *passage, int64_t joint, int k) {
    int64_t reach = passage->reach[k];
    if (reach == 0) return VEC3_ZERO;
    vec3 near = passage_lack(passage, joint, k, 0);
    vec3 far = passage_nearest(near, passage_lack(passage, joint, k, reach));
    vec3 change = vec3_sub(near, far);
    double frames = (double)(k ? -reach : reach);
    return (vec3){change.x / frames, change.y / frames, change.z / frames};
}

/* The step of a joint across an end that is missing to go on as the clip outside does, with the
   change from step to step that the main window has there. */
static vec3 passage_missing_step(const ml_passage *passage, int64_t joint, int k, const double *psi,
                                 const quat *quats) {
    const ml_rows *rows = passage->rows;
    int64_t t = k ? passage->n_frames - 1 : 0, outwards = k ? 1 : -1, main = passage->main[k];
    if (!ml_passage_goes_on(passage, k)) return VEC3_ZERO;
    vec3 added[3]; /* by the bend: at the end, one frame inside, and wanted one frame outside */
    for (int m = 0; m < 2; m++) {
        int64_t at = t - m * outwards;
        quat own = passage_rotation_facing(rows, ml_passage_row(passage, main, at), joint, psi[at]);
        added[m] = passage_difference(own, quats[rows->n_joints * at + joint]);
    }
    added[2] = passage_difference(passage_outside_end(passage, main, k, joint, 1),
                                  passage_outside_end(passage, -1, k, joint, 1));
    added[1] = passage_nearest(added[0], added[1]);
    added[2] = passage_nearest(added[0], added[2]);
    vec3 twice = vec3_scale(2.0, added[0]);
    return vec3_scale((double)outwards, vec3_add(vec3_sub(added[2], twice), added[1]));
}

/* --- Bending one joint */

/* Frames over which a spin fades, so that the curve t (1 - t / T)^2, at most 4 T / 27, adds no
   more than ML_PASSAGE_SWING. */
static double passage_fade_frames(const ml_passage *passage, vec3 spin) {
    double longest = ml_min(ML_PASSAGE_EASE_S * passage->fps, (double)(passage->n_frames - 1));
    double shortest = ml_min(ML_PASSAGE_SHORTEST_S * passage->fps, (double)(passage->n_frames - 1));
    double time = 6.75 * ML_PASSAGE_SWING / ml_max(vec3_length(spin), 1e-9);
    return ml_min(ml_max(time, shortest), longest);
}

/* A curve of rotation vectors: given values at both ends, and slopes that fade after `time`
   frames. */
typedef struct {
    vec3 off[2], spin[2];
    double time[2];
} passage_curve;

static vec3 passage_curve_at(const passage_curve *curve, double t, double end) {
    double u = t / end;
    double a = ml_passage_slope(t, curve->time[0]), b = ml_passage_slope(end - t, curve->time[1]);
    vec3 line = vec3_add(vec3_scale(1.0 - u, curve->off[0]), vec3_scale(u, curve->off[1]));
    return vec3_sub(vec3_add(line, vec3_scale(a, curve->spin[0])), vec3_scale(b, curve->spin[1]));
}

/* Turn a joint by a curve in all frames. scratch: (6, n_frames); sines of all frames are taken in
   one call, which is several times as fast. */
static void passage_add(const ml_passage *passage, int64_t joint, const passage_curve *curve,
                        double *scratch, quat *quats) {
    int64_t n = passage->n_frames, n_joints = passage->rows->n_joints;
    vec3 *vectors = (vec3 *)scratch;
    double *halves = scratch + 3 * n, *sines = halves + n, *cosines = sines + n;
    for (int64_t t = 0; t < n; t++) {
        vectors[t] = passage_curve_at(curve, (double)t, (double)(n - 1));
        halves[t] = 0.5 * vec3_length(vectors[t]);
    }
    ml_sincos_all(n, halves, sines, cosines);
    for (int64_t t = 0; t < n; t++) { /* quat_exp, with the sine at hand */
        double scale = 0.5 * (halves[t] > ML_ROTATION_TINY ? sines[t] / halves[t] : 1.0);
        vec3 v = vec3_scale(scale, vectors[t]);
        quat *q = quats + n_joints * t + joint;
        *q = quat_multiply(*q, (quat){cosines[t], v.x, v.y, v.z});
    }
}

/* Add steps at both ends that fade within ML_PASSAGE_QUICK_S. */
static void passage_add_steps(const ml_passage *passage, int64_t joint, const vec3 step[2],
                              quat *quats) {
    int64_t n_joints = passage->rows->n_joints, end = passage->n_frames - 1;
    double quick = ml_min(ML_PASSAGE_QUICK_S * passage->fps, (double)end);
    for (int64_t t = 0; t <= end; t++) {
        double a = 0.5 * ml_passage_slope((double)t, quick);
        double b = 0.5 * ml_passage_slope((double)(end - t), quick);
        quat *q = quats + n_joints * t + joint;
        if (a > 0.0 || b > 0.0)
            *q = passage_turned(*q, vec3_sub(vec3_scale(a, step[0]), vec3_scale(b, step[1])));
    }
}

/* Bend one joint so that it has the rotations and spins of both ends. First a slow curve takes over
   the difference in posture and in spin; then what is left of the first and last step fades fast.
   scratch: (6, n_frames) */
static void passage_bend(const ml_passage *passage, int64_t joint, const double *psi,
                         double *scratch, quat *quats) {
    int64_t n_joints = passage->rows->n_joints, end = passage->n_frames - 1;
    passage_curve curve;
    vec3 step[2];
    for (int k = 0; k < 2; k++) {
        int64_t t = k ? end : 0;
        quat wanted = passage_rotation_facing(passage->rows, passage->ends[k], joint, psi[t]);
        curve.off[k] = passage_difference(quats[n_joints * t + joint], wanted);
        curve.spin[k] = passage_spin(passage, joint, k);
    }
    curve.off[1] = passage_nearest(curve.off[0], curve.off[1]);
    vec3 across = vec3_sub(curve.off[1], curve.off[0]);
    for (int k = 0; k < 2; k++) { /* less what the line from end to end adds */
        curve.spin[k].x -= across.x / (double)end;
        curve.spin[k].y -= across.y / (double)end;
        curve.spin[k].z -= across.z / (double)end;
        curve.time[k] = passage_fade_frames(passage, curve.spin[k]);
    }
    passage_add(passage, joint, &curve, scratch, quats);
    for (int k = 0; k < 2; k++) step[k] = passage_missing_step(passage, joint, k, psi, quats);
    passage_add_steps(passage, joint, step, quats);
}

/* The window that counts at least as much as any other in all frames, or -1. */
static int64_t passage_carrier(const ml_passage *passage) {
    if (passage->n_ways < 2) return -1;
    for (int64_t i = 0; i < passage->n_ways; i++) {
        int carries = 1;
        for (int64_t k = 0; k < passage->n_ways; k++)
            for (int64_t t = 0; t < passage->n_frames; t++)
                carries &= ml_passage_share(passage, i, t) >= ml_passage_share(passage, k, t);
        if (carries) return i;
    }
    return -1;
}

/* What there is at both ends. */
static void passage_meet(ml_passage *passage, int64_t n_clips, const int64_t *starts) {
    for (int k = 0; k < 2; k++) {
        int64_t t = k ? passage->n_frames - 1 : 0;
        passage->reach[k] = ml_passage_reach(passage->fps);
        passage->main[k] = 0;
        for (int64_t i = -1; i < passage->n_ways; i++) {
            int64_t row = ml_passage_end(passage, i, k);
            int64_t outside = passage_outside(n_clips, starts, row, k);
            int64_t inside = passage_outside(n_clips, starts, row, 1 - k);
            passage->inward[k][1 + i] = outside < 1;
            if (outside < 1) outside = inside;
            if (outside < passage->reach[k]) passage->reach[k] = outside;
            if (i >= 0 &&
                ml_passage_share(passage, i, t) > ml_passage_share(passage, passage->main[k], t))
                passage->main[k] = i;
        }
    }
    passage->carrier = passage_carrier(passage);
}

ml_status ml_passage_make(const ml_blend *blend, const ml_leg_rig *rig, int64_t n_clips,
                          const int64_t *starts, int64_t first, int64_t last, int32_t feet,
                          const ml_synthesis *made) {
    const ml_rows *rows = blend->rows;
    int64_t n_rows = rows->n_rows;
    ml_passage passage = {.rows = rows,
                          .n_frames = blend->n_frames,
                          .n_ways = blend->n_ways,
                          .at = blend->at,
                          .ends = {first, last},
                          .weights = blend->weights,
                          .fps = blend->fps};
    if (blend->n_frames < 2 || blend->n_ways > ML_MOST_WAYS || n_clips < 1 || starts[0] < 0 ||
        starts[n_clips] > n_rows || first < 0 || last < 0 || first >= n_rows || last >= n_rows ||
        !ml_blend_fits(blend, 0) || !ml_synthesis_begin(blend, rig, made))
        return ML_BAD_SIZE;
    passage_meet(&passage, n_clips, starts);
    quat *quats = (quat *)made->quats;
    ml_passage_course(&passage, made->scratch, made->psi, made->root);
    ml_status status = ml_mixture_rotations(rows, blend->n_frames, blend->n_ways, blend->at,
                                            blend->weights, made->psi, made->quats);
    if (status) return status;
    if (passage.carrier >= 0) passage_carry(&passage, made->psi, made->scratch, quats);
    for (int64_t joint = 0; joint < rows->n_joints; joint++)
        passage_bend(&passage, joint, made->psi, made->scratch, quats);
    if (!feet) return ML_OK;
    status = ml_synthesis_tread(blend, rig, feet == PASSAGE_LIFTED ? 1.0 : PASSAGE_TREAD, made);
    if (status) return status;
    return ml_synthesis_feet(blend, rig, feet != PASSAGE_LIFTED, feet != PASSAGE_STILL, made);
}
