/* Points of a drawn body that go with its joints. */

#include "../kernels.h"
#include "../math/vector.h"

ml_status ml_points_place(int64_t n_joints, const int64_t *parents, const double *bones,
                          const double *root, const double *local, int64_t n, const int64_t *joints,
                          const double *offsets, double *scratch, double *out) {
    double *world = scratch, *positions = scratch + 4 * n_joints;
    ml_status status =
        ml_kinematics_forward(1, n_joints, parents, 1, bones, root, local, positions, world);
    if (status != ML_OK) return status;
    for (int64_t p = 0; p < n; p++) {
        int64_t j = joints[p];
        if (j < 0 || j >= n_joints) return ML_BAD_SIZE;
        ml_turn(world + 4 * j, offsets + 3 * p, out + 3 * p);
        for (int c = 0; c < 3; c++) out[3 * p + c] += positions[3 * j + c];
    }
    return ML_OK;
}
