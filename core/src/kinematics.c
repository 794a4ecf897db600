/* Forward kinematics, of two frames at a time: each number is a pair, one of either frame. Products
   and sums are those of ml_turn and ml_times in the same order, so the bits are the same. */

#include "../motionloom.h"
#include "quad.h"

/* A joint of two frames in the world. */
typedef struct {
    ml_pair x, y, z, q[4];
} kinematics_joint;

static inline ml_pair kinematics_firsts(ml_pair a, ml_pair b) { return (ml_pair){a[0], b[0]}; }

static inline ml_pair kinematics_seconds(ml_pair a, ml_pair b) { return (ml_pair){a[1], b[1]}; }

/* A rotation of either frame. */
static inline void kinematics_load(const double *one, const double *other, ml_pair *q) {
    for (int c = 0; c < 4; c += 2) {
        ml_pair a = ml_pair_load(one + c), b = ml_pair_load(other + c);
        q[c] = kinematics_firsts(a, b);
        q[c + 1] = kinematics_seconds(a, b);
    }
}

/* Joint j of a frame and of the one whose joints come `more` later. */
static inline kinematics_joint kinematics_read(const double *positions, const double *world,
                                               int64_t j, int64_t more) {
    kinematics_joint at;
    const double *one = positions + 3 * j, *other = one + 3 * more;
    kinematics_load(world + 4 * j, world + 4 * (j + more), at.q);
    at.x = (ml_pair){one[0], other[0]};
    at.y = (ml_pair){one[1], other[1]};
    at.z = (ml_pair){one[2], other[2]};
    return at;
}

static inline void kinematics_write(const kinematics_joint *at, double *positions, double *world,
                                    int64_t j, int64_t more) {
    double *one = positions + 3 * j, *other = one + 3 * more;
    ml_pair_store(kinematics_firsts(at->x, at->y), one);
    ml_pair_store(kinematics_seconds(at->x, at->y), other);
    one[2] = at->z[0];
    other[2] = at->z[1];
    for (int c = 0; c < 4; c += 2) {
        ml_pair_store(kinematics_firsts(at->q[c], at->q[c + 1]), world + 4 * j + c);
        ml_pair_store(kinematics_seconds(at->q[c], at->q[c + 1]), world + 4 * (j + more) + c);
    }
}

/* A joint from its parent p, its place v in it and its own rotation. */
static inline kinematics_joint kinematics_child(const kinematics_joint *p, const ml_pair *v,
                                                const ml_pair *own) {
    ml_pair w = p->q[0], x = p->q[1], y = p->q[2], z = p->q[3];
    ml_pair tx = 2.0 * (y * v[2] - z * v[1]);
    ml_pair ty = 2.0 * (z * v[0] - x * v[2]);
    ml_pair tz = 2.0 * (x * v[1] - y * v[0]);
    kinematics_joint at;
    at.x = p->x + (v[0] + w * tx + y * tz - z * ty);
    at.y = p->y + (v[1] + w * ty + z * tx - x * tz);
    at.z = p->z + (v[2] + w * tz + x * ty - y * tx);
    at.q[0] = w * own[0] - x * own[1] - y * own[2] - z * own[3];
    at.q[1] = w * own[1] + x * own[0] + y * own[3] - z * own[2];
    at.q[2] = w * own[2] - x * own[3] + y * own[0] + z * own[1];
    at.q[3] = w * own[3] + x * own[2] - y * own[1] + z * own[0];
    return at;
}

/* Every joint but the root of a frame and of the one whose joints come `more` later, with offsets
   that come `more_offsets` later. */
static inline void kinematics_pose(int64_t n_joints, const int64_t *parents, const double *offsets,
                                   const double *local, int64_t more, int64_t more_offsets,
                                   double *positions, double *world) {
    kinematics_joint at = kinematics_read(positions, local, 0, more);
    kinematics_write(&at, positions, world, 0, more);
    for (int64_t j = 1; j < n_joints; j++) {
        const double *one = offsets + 3 * j, *other = one + 3 * more_offsets;
        ml_pair own[4], v[3];
        for (int c = 0; c < 3; c++) v[c] = (ml_pair){one[c], other[c]};
        kinematics_load(local + 4 * j, local + 4 * (j + more), own);
        if (parents[j] != j - 1) at = kinematics_read(positions, world, parents[j], more);
        at = kinematics_child(&at, v, own);
        kinematics_write(&at, positions, world, j, more);
    }
}

ml_status ml_kinematics_forward(int64_t n_frames, int64_t n_joints, const int64_t *parents,
                                int64_t n_offsets, const double *offsets, const double *roots,
                                const double *local, double *positions, double *world) {
    if (n_joints < 1 || (n_offsets != 1 && n_offsets != n_frames)) return ML_BAD_SIZE;
    for (int64_t j = 1; j < n_joints; j++)
        if (parents[j] < 0 || parents[j] >= j) return ML_BAD_SIZE;
    for (int64_t f = 0; f < n_frames; f += 2) {
        int64_t more = f + 1 < n_frames ? n_joints : 0; /* 0: the last frame, twice */
        const double *own = local + 4 * n_joints * f;
        double *place = positions + 3 * n_joints * f, *q = world + 4 * n_joints * f;
        memcpy(place, roots + 3 * f, 3 * sizeof *roots);
        if (more) memcpy(place + 3 * more, roots + 3 * (f + 1), 3 * sizeof *roots);
        if (n_offsets == 1)
            kinematics_pose(n_joints, parents, offsets, own, more, 0, place, q);
        else
            kinematics_pose(n_joints, parents, offsets + 3 * n_joints * f, own, more, more, place,
                            q);
    }
    return ML_OK;
}
