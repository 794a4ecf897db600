/* A joint of two frames in the world: each number is a pair, one of either frame. Products and sums
   are those of ml_turn and ml_times in the same order, so the bits are the same. */

#ifndef MOTIONLOOM_JOINT_H
#define MOTIONLOOM_JOINT_H

#include "../math/simd4.h"

typedef struct {
    ml_pair x, y, z, q[4];
} ml_joint_pair;

static inline ml_pair ml_pair_firsts(ml_pair a, ml_pair b) { return (ml_pair){a[0], b[0]}; }

static inline ml_pair ml_pair_seconds(ml_pair a, ml_pair b) { return (ml_pair){a[1], b[1]}; }

/* A rotation of either frame. */
static inline void ml_joint_load(const double *one, const double *other, ml_pair *q) {
    for (int c = 0; c < 4; c += 2) {
        ml_pair a = ml_pair_load(one + c), b = ml_pair_load(other + c);
        q[c] = ml_pair_firsts(a, b);
        q[c + 1] = ml_pair_seconds(a, b);
    }
}

/* Joint j of a frame and of the one whose joints come `more` later. */
static inline ml_joint_pair ml_joint_read(const double *positions, const double *world, int64_t j,
                                          int64_t more) {
    ml_joint_pair at;
    const double *one = positions + 3 * j, *other = one + 3 * more;
    ml_joint_load(world + 4 * j, world + 4 * (j + more), at.q);
    at.x = (ml_pair){one[0], other[0]};
    at.y = (ml_pair){one[1], other[1]};
    at.z = (ml_pair){one[2], other[2]};
    return at;
}

static inline void ml_joint_write(const ml_joint_pair *at, double *positions, double *world,
                                  int64_t j, int64_t more) {
    double *one = positions + 3 * j, *other = one + 3 * more;
    ml_pair_store(ml_pair_firsts(at->x, at->y), one);
    ml_pair_store(ml_pair_seconds(at->x, at->y), other);
    one[2] = at->z[0];
    other[2] = at->z[1];
    for (int c = 0; c < 4; c += 2) {
        ml_pair_store(ml_pair_firsts(at->q[c], at->q[c + 1]), world + 4 * j + c);
        ml_pair_store(ml_pair_seconds(at->q[c], at->q[c + 1]), world + 4 * (j + more) + c);
    }
}

/* A joint from its parent p, its place v in it and its own rotation. */
static inline ml_joint_pair ml_joint_child(const ml_joint_pair *p, const ml_pair *v,
                                           const ml_pair *own) {
    ml_pair w = p->q[0], x = p->q[1], y = p->q[2], z = p->q[3];
    ml_pair tx = 2.0 * (y * v[2] - z * v[1]);
    ml_pair ty = 2.0 * (z * v[0] - x * v[2]);
    ml_pair tz = 2.0 * (x * v[1] - y * v[0]);
    ml_joint_pair at;
    at.x = p->x + (v[0] + w * tx + y * tz - z * ty);
    at.y = p->y + (v[1] + w * ty + z * tx - x * tz);
    at.z = p->z + (v[2] + w * tz + x * ty - y * tx);
    at.q[0] = w * own[0] - x * own[1] - y * own[2] - z * own[3];
    at.q[1] = w * own[1] + x * own[0] + y * own[3] - z * own[2];
    at.q[2] = w * own[2] - x * own[3] + y * own[0] + z * own[1];
    at.q[3] = w * own[3] + x * own[2] - y * own[1] + z * own[0];
    return at;
}

#endif
