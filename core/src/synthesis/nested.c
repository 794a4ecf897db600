/* Rotations blended by nested spherical interpolation (Ikemoto, Arikan and Forsyth 2006, section
   4): neighbours are interpolated, then neighbours of the results, until one rotation is left. */

#include "../math/vec.h"
#include "rows.h"

/* Rotations closer than this, as the cosine of half the angle, are interpolated in a line. */
#define NESTED_ALIKE 0.9999999

/* The rotation at part u of the shorter way from a to b. */
static quat nested_slerp(quat a, quat b, double u) {
    double like = quat_dot(a, b), sign = like < 0.0 ? -1.0 : 1.0, first = 1.0 - u, second = u;
    like = fabs(like);
    if (like < NESTED_ALIKE) {
        double angle = ml_acos(like), over = 1.0 / sqrt(1.0 - like * like);
        first = ml_sin((1.0 - u) * angle) * over;
        second = ml_sin(u * angle) * over;
    }
    quat mean = quat_add(quat_scale(first, a), quat_scale(sign * second, b));
    return quat_scale(1.0 / sqrt(quat_dot(mean, mean)), mean);
}

/* Rotation of a joint in a row, at unit length. */
static quat nested_rotation(const ml_rows *rows, int64_t row, int64_t joint) {
    const float *q = rows->quats + 4 * (rows->n_joints * row + joint);
    quat read = {(double)q[0], (double)q[1], (double)q[2], (double)q[3]};
    return quat_scale(1.0 / sqrt(quat_dot(read, read)), read);
}

ml_status ml_nested_rotations(const ml_rows *rows, int64_t n_frames, int64_t n_ways,
                              const int64_t *at, const double *parts, const double *psi,
                              double *out) {
    int64_t n_joints = rows->n_joints;
    quat *made = (quat *)out;
    if (n_ways < 1 || n_ways > ML_MOST_WAYS || n_joints < 1 || n_frames < 1 ||
        !ml_rows_have(rows->n_rows, n_frames * n_ways, at))
        return ML_BAD_SIZE;
    for (int64_t t = 0; t < n_frames; t++)
        for (int64_t j = 0; j < n_joints; j++, made++) {
            quat some[ML_MOST_WAYS];
            for (int64_t i = 0; i < n_ways; i++)
                some[i] = nested_rotation(rows, at[t * n_ways + i], j);
            for (int64_t left = n_ways - 1; left > 0; left--)
                for (int64_t i = 0; i < left; i++)
                    some[i] = nested_slerp(some[i], some[i + 1], parts[t]);
            if (j == 0) { /* the root is turned to its heading */
                quat about = {0.0, 0.0, 0.0, 0.0};
                ml_sincos(0.5 * psi[t], &about.y, &about.w);
                some[0] = quat_multiply(about, some[0]);
            }
            int is_opposite = t > 0 && quat_dot(some[0], made[-n_joints]) < 0.0;
            *made = is_opposite ? quat_negate(some[0]) : some[0];
        }
    return ML_OK;
}
