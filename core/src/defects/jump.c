/* Joints that turn too far from one frame to the next. */

#include "../kernels.h"
#include "../math/elementary.h"

/* Joints that are passed over together. */
#define JUMP_AT_ONCE 32

int64_t ml_jump_find(int64_t n_frames, int64_t n_joints, const double *quats, double cosine,
                     int64_t most, int64_t *found) {
    int64_t n = 0;
    double dots[JUMP_AT_ONCE];
    for (int64_t f = 0; f + 1 < n_frames; f++)
        for (int64_t first = 0; first < n_joints; first += JUMP_AT_ONCE) {
            int64_t some = n_joints - first < JUMP_AT_ONCE ? n_joints - first : JUMP_AT_ONCE;
            const double *a = quats + 4 * (f * n_joints + first), *b = a + 4 * n_joints;
            int64_t n_far = 0;
            for (int64_t k = 0; k < some; k++) {
                const double *p = a + 4 * k, *q = b + 4 * k;
                dots[k] = fabs(p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3]);
            }
            for (int64_t k = 0; k < some; k++) n_far += dots[k] < cosine;
            for (int64_t k = 0; n_far > 0 && k < some; k++) {
                if (!(dots[k] < cosine)) continue;
                if (n < most) {
                    found[2 * n] = f;
                    found[2 * n + 1] = first + k;
                }
                n++;
            }
        }
    return n;
}
