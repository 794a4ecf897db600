/* Rewriting a motion: world turns of legs back into local rotations, and how far joints moved. */

#include "../kernels.h"
#include "../math/vector.h"

/* The local rotation of a joint that is `own` in the world, below one that is `above` there. */
static void rewrite_joint(const double *above, const double *own, double *q) {
    double back[4] = {above[0], -above[1], -above[2], -above[3]}, made[4];
    ml_times(back, own, made);
    double dot = made[0] * q[0] + made[1] * q[1] + made[2] * q[2] + made[3] * q[3];
    for (int c = 0; c < 4; c++) q[c] = dot < 0.0 ? -made[c] : made[c];
}

/* Local rotations of the joints of a leg of one frame, each with its parent. */
static void rewrite_frame(const int64_t *joints, const int64_t *parents, const double *world,
                          const double *const *turns, double *local) {
    double own[4][4], above[4];
    for (int k = 0; k < 4; k++) {
        const double *over = above;
        if (joints[k] < 0) continue;
        ml_times(turns[k], world + 4 * joints[k], own[k]);
        for (int c = 0; c < 4; c++) above[c] = c == 0 ? 1.0 : 0.0;
        if (parents[k] >= 0 && k == 0)
            over = world + 4 * parents[k];
        else if (k > 0 && parents[k] == joints[k - 1])
            over = own[k - 1];
        else if (parents[k] >= 0)
            ml_times(turns[k - 1], world + 4 * parents[k], above);
        rewrite_joint(over, own[k], local + 4 * joints[k]);
    }
}

ml_status ml_rewrite_leg(int64_t n_frames, int64_t n_joints, const int64_t *joints,
                         const int64_t *parents, const double *world, const double *shift,
                         const double *ankle, const double *target, const double *q_upper,
                         const double *q_lower, const double *q_foot, const double *q_toes,
                         double *local, double *off) {
    for (int k = 0; k < 4; k++) {
        int64_t least = k < 3 ? 0 : -1; /* a leg may have no toe joint */
        if (joints[k] < least || joints[k] >= n_joints) return ML_BAD_SIZE;
        if (parents[k] < -1 || parents[k] >= n_joints) return ML_BAD_SIZE;
    }
    double worst = off[0], least = off[1];
    for (int64_t f = 0; f < n_frames; f++) {
        const double *turns[4] = {q_upper + 4 * f, q_lower + 4 * f, q_foot + 4 * f, q_toes + 4 * f};
        int changed = 0;
        for (int c = 0; c < 3; c++)
            changed |= shift[3 * f + c] != 0.0 || turns[2][1 + c] != 0.0 ||
                       target[3 * f + c] != ankle[3 * f + c];
        if (changed)
            rewrite_frame(joints, parents, world + 4 * n_joints * f, turns,
                          local + 4 * n_joints * f);
        for (int k = 0; k < 4; k++) {
            if (joints[k] < 0) continue;
            const double *q = local + 4 * (n_joints * f + joints[k]);
            const double *last = f > 0 ? q - 4 * n_joints : q;
            double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
            double dot = q[0] * last[0] + q[1] * last[1] + q[2] * last[2] + q[3] * last[3];
            worst = ml_max(worst, fabs(square - 1.0));
            least = ml_max(least, -dot);
        }
    }
    off[0] = worst;
    off[1] = least;
    return ML_OK;
}

/* Distances that are worked out together; they are added up one after the other. */
#define REWRITE_AT_ONCE 64

void ml_rewrite_ways(int64_t n_frames, int64_t n_joints, const double *before, const double *after,
                     double *out) {
    double total = 0.0, most = 0.0, squares[3 * REWRITE_AT_ONCE], ways[REWRITE_AT_ONCE];
    for (int64_t i = 0, n = n_frames * n_joints; i < n; i += REWRITE_AT_ONCE) {
        int64_t some = n - i < REWRITE_AT_ONCE ? n - i : REWRITE_AT_ONCE;
        for (int64_t k = 0; k < 3 * some; k++)
            squares[k] = ml_square(after[3 * i + k] - before[3 * i + k]);
        for (int64_t k = 0; k < some; k++)
            ways[k] = sqrt(squares[3 * k] + squares[3 * k + 1] + squares[3 * k + 2]);
        for (int64_t k = 0; k < some; k++) {
            total += ways[k];
            most = ml_max(most, ways[k]);
        }
    }
    out[0] = total / (double)(n_frames * n_joints);
    out[1] = most;
}
