/* Rotations found from averaged joint positions, on bones of the skeleton's own lengths (Ikemoto,
   Arikan and Forsyth 2007 average positions, which shortens limbs). */

#include <string.h>

#include "../kernels.h"
#include "../math/vector.h"

/* Shorter bones have no direction, metres. */
#define BONES_NONE 1e-6
/* Bones of a joint lie on one line where the second extent of their cloud is below this part of the
   first. */
#define BONES_FLAT 1e-4
/* Sweeps of rotations that make a matrix of four rows diagonal; five are enough. */
#define BONES_SWEEPS 12

/* Eigenvalues of a symmetric matrix of n rows, on its diagonal, and eigenvectors as columns. */
static void bones_eigen(int n, double a[4][4], double v[4][4]) {
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) v[i][k] = i == k ? 1.0 : 0.0;
    for (int sweep = 0; sweep < BONES_SWEEPS; sweep++)
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                if (a[p][q] == 0.0) continue;
                double theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                double t = 1.0 / (fabs(theta) + sqrt(theta * theta + 1.0));
                if (theta < 0.0) t = -t;
                double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
                for (int k = 0; k < n; k++) {
                    double x = a[k][p], y = a[k][q];
                    a[k][p] = c * x - s * y;
                    a[k][q] = s * x + c * y;
                }
                for (int k = 0; k < n; k++) {
                    double x = a[p][k], y = a[q][k];
                    a[p][k] = c * x - s * y;
                    a[q][k] = s * x + c * y;
                }
                for (int k = 0; k < n; k++) {
                    double x = v[k][p], y = v[k][q];
                    v[k][p] = c * x - s * y;
                    v[k][q] = s * x + c * y;
                }
            }
}

/* Whether bones with these sums of products lie on one line. */
static int bones_flat(double m[3][3]) {
    double a[4][4] = {{0.0}}, v[4][4], size[3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            for (int c = 0; c < 3; c++) a[i][k] += m[c][i] * m[c][k];
    bones_eigen(3, a, v);
    for (int i = 0; i < 3; i++) size[i] = sqrt(ml_max(0.0, a[i][i]));
    double most = ml_max(size[0], ml_max(size[1], size[2]));
    int larger = 0;
    for (int i = 0; i < 3; i++) larger += size[i] >= BONES_FLAT * most;
    return larger < 2;
}

/* The rotation that carries bones best onto others, by sums of products m[i][k] of the others'
   coordinate i and their own k: the largest eigenvector of Davenport's matrix. */
static void bones_fit(double m[3][3], double *out) {
    double k[4][4], v[4][4];
    k[0][0] = m[0][0] + m[1][1] + m[2][2];
    k[0][1] = m[2][1] - m[1][2];
    k[0][2] = m[0][2] - m[2][0];
    k[0][3] = m[1][0] - m[0][1];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) k[1 + i][1 + j] = m[i][j] + m[j][i] - (i == j ? k[0][0] : 0.0);
    for (int i = 1; i < 4; i++) k[i][0] = k[0][i];
    bones_eigen(4, k, v);
    int best = 0;
    for (int i = 1; i < 4; i++)
        if (k[i][i] > k[best][best]) best = i;
    for (int c = 0; c < 4; c++) out[c] = v[c][best];
}

/* How joint j turns beyond `world`, which carries its bones. 0 where it has none. */
static int bones_turn(int64_t n_joints, const int64_t *parents, const double *offsets,
                      const double *joints, const double *guess_world, const double *world,
                      int64_t j, double *out) {
    double m[3][3] = {{0.0}}, first[4];
    int count = 0;
    for (int64_t child = j + 1; child < n_joints; child++) {
        const double *rest = offsets + 3 * child;
        double length = ml_length(rest), seen[3], now[3], size;
        if (parents[child] != j || length <= BONES_NONE) continue;
        ml_between(joints + 3 * child, joints + 3 * j, seen);
        size = ml_length(seen);
        if (size > BONES_NONE) {
            for (int c = 0; c < 3; c++) seen[c] *= length / size;
        } else {
            ml_turn(guess_world, rest, seen);
        }
        ml_turn(world, rest, now);
        if (count++ == 0) ml_arc(now, seen, first);
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) m[i][k] += seen[i] * now[k];
    }
    if (!count) return 0;
    if (count == 1 || bones_flat(m))
        memcpy(out, first, sizeof first);
    else
        bones_fit(m, out);
    return 1;
}

ml_status ml_bones_restore(int64_t n_frames, int64_t n_joints, const int64_t *parents,
                           const double *offsets, const double *joints, const double *guess,
                           double *worlds, double *out) {
    if (n_frames < 1 || n_joints < 1 || parents[0] >= 0) return ML_BAD_SIZE;
    for (int64_t j = 1; j < n_joints; j++)
        if (parents[j] < 0 || parents[j] >= j) return ML_BAD_SIZE;
    double *guessed = worlds, *world = worlds + 4 * n_joints;
    for (int64_t t = 0; t < n_frames; t++) {
        const double *at = joints + 3 * n_joints * t, *q = guess + 4 * n_joints * t;
        double *now = out + 4 * n_joints * t, *before = now - 4 * n_joints;
        for (int64_t j = 0; j < n_joints; j++) {
            double turn[4], turned[4];
            int64_t p = parents[j];
            if (j == 0) {
                memcpy(guessed, q, 4 * sizeof *q);
                memcpy(world, q, 4 * sizeof *q);
            } else { /* what parents were turned by beyond the guess carries the guess along */
                ml_times(guessed + 4 * p, q + 4 * j, guessed + 4 * j);
                ml_times(world + 4 * p, q + 4 * j, world + 4 * j);
            }
            if (bones_turn(n_joints, parents, offsets, at, guessed + 4 * j, world + 4 * j, j,
                           turn)) {
                ml_times(turn, world + 4 * j, turned);
                memcpy(world + 4 * j, turned, sizeof turned);
            }
        }
        for (int64_t j = 0; j < n_joints; j++) {
            double local[4], size = 0.0, like = 0.0;
            const double *own = world + 4 * j, *parent = world + 4 * parents[j];
            if (j == 0) {
                memcpy(local, own, sizeof local);
            } else {
                const double back[4] = {parent[0], -parent[1], -parent[2], -parent[3]};
                ml_times(back, own, local);
            }
            for (int c = 0; c < 4; c++) size += local[c] * local[c];
            for (int c = 0; t && c < 4; c++) like += local[c] * before[4 * j + c];
            size = (like < 0.0 ? -1.0 : 1.0) / sqrt(size);
            for (int c = 0; c < 4; c++) now[4 * j + c] = size * local[c];
        }
    }
    return ML_OK;
}
