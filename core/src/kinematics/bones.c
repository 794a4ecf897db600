/* Rotations found from averaged joint positions, on bones of the skeleton's own lengths (Ikemoto,
   Arikan and Forsyth 2007 average positions, which shortens limbs). */

#include "../kernels.h"
#include "../math/vec.h"

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
static quat bones_fit(double m[3][3]) {
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
    return (quat){v[0][best], v[1][best], v[2][best], v[3][best]};
}

/* How joint j turns beyond `world`, which carries its bones. 0 where it has none. */
static int bones_turn(int64_t n_joints, const int64_t *parents, const vec3 *offsets,
                      const vec3 *joints, quat guess, quat world, int64_t j, quat *out) {
    double m[3][3] = {{0.0}};
    quat first = QUAT_IDENTITY;
    int count = 0;
    for (int64_t child = j + 1; child < n_joints; child++) {
        double length = vec3_length(offsets[child]);
        if (parents[child] != j || length <= BONES_NONE) continue;
        vec3 seen = vec3_sub(joints[child], joints[j]), now = quat_rotate(world, offsets[child]);
        double size = vec3_length(seen);
        seen = size > BONES_NONE ? vec3_scale(length / size, seen)
                                 : quat_rotate(guess, offsets[child]);
        if (count++ == 0) first = quat_arc(now, seen);
        const double to[3] = {seen.x, seen.y, seen.z}, from[3] = {now.x, now.y, now.z};
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) m[i][k] += to[i] * from[k];
    }
    if (count) *out = count == 1 || bones_flat(m) ? first : bones_fit(m);
    return count > 0;
}

ml_status ml_bones_restore(int64_t n_frames, int64_t n_joints, const int64_t *parents,
                           const double *offsets, const double *joints, const double *guess,
                           double *worlds, double *out) {
    if (n_frames < 1 || n_joints < 1 || parents[0] >= 0) return ML_BAD_SIZE;
    for (int64_t j = 1; j < n_joints; j++)
        if (parents[j] < 0 || parents[j] >= j) return ML_BAD_SIZE;
    quat *guessed = (quat *)worlds, *world = guessed + n_joints;
    for (int64_t t = 0; t < n_frames; t++) {
        const vec3 *at = (const vec3 *)joints + n_joints * t;
        const quat *q = (const quat *)guess + n_joints * t;
        quat *now = (quat *)out + n_joints * t, *before = now - n_joints;
        for (int64_t j = 0; j < n_joints; j++) {
            quat turn;
            int64_t p = parents[j];
            /* What parents were turned by beyond the guess carries the guess along. */
            guessed[j] = j ? quat_multiply(guessed[p], q[j]) : q[j];
            world[j] = j ? quat_multiply(world[p], q[j]) : q[j];
            if (bones_turn(n_joints, parents, (const vec3 *)offsets, at, guessed[j], world[j], j,
                           &turn))
                world[j] = quat_multiply(turn, world[j]);
        }
        for (int64_t j = 0; j < n_joints; j++) {
            quat local = j ? quat_between(world[parents[j]], world[j]) : world[j];
            double sign = t && quat_dot(local, before[j]) < 0.0 ? -1.0 : 1.0;
            now[j] = quat_scale(sign / sqrt(quat_dot(local, local)), local);
        }
    }
    return ML_OK;
}
