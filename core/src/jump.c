/* Joints that turn too far from one frame to the next. */

#include "../motionloom.h"
#include "elementary.h"

int64_t ml_jump_find(int64_t n_frames, int64_t n_joints, const double *quats, double cosine,
                     int64_t most, int64_t *found) {
    int64_t n = 0;
    for (int64_t f = 0; f + 1 < n_frames; f++)
        for (int64_t j = 0; j < n_joints; j++) {
            const double *a = quats + 4 * (f * n_joints + j), *b = a + 4 * n_joints;
            double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
            if (!(fabs(dot) < cosine)) continue;
            if (n < most) {
                found[2 * n] = f;
                found[2 * n + 1] = j;
            }
            n++;
        }
    return n;
}
