/* Pace: how fast the joints of a clip go at most. */

#include "../kernels.h"
#include "../math/elementary.h"

/* Cosine of half the angle between two rotations, the second turned about +Y. */
static double pace_turned(const float *a, const float *b, double turn) {
    double c, s, q[4];
    ml_sincos(0.5 * turn, &s, &c);
    q[0] = c * (double)b[0] - s * (double)b[2];
    q[1] = c * (double)b[1] + s * (double)b[3];
    q[2] = c * (double)b[2] + s * (double)b[0];
    q[3] = c * (double)b[3] - s * (double)b[1];
    return fabs((double)a[0] * q[0] + (double)a[1] * q[1] + (double)a[2] * q[2] +
                (double)a[3] * q[3]);
}

/* Joints of a frame in the world. */
static void pace_place(int64_t n_joints, double heading, const double *ground,
                       const float *restrict pose, double *restrict out) {
    double sine, cosine;
    ml_sincos(heading, &sine, &cosine);
    for (int64_t j = 0; j < n_joints; j++) {
        double x = (double)pose[3 * j], z = (double)pose[3 * j + 2];
        out[3 * j] = ground[0] + cosine * x + sine * z;
        out[3 * j + 1] = (double)pose[3 * j + 1];
        out[3 * j + 2] = ground[1] + cosine * z - sine * x;
    }
}

void ml_pace_measure(int64_t n_frames, int64_t n_joints, const double *heading,
                     const double *ground, const float *quats, const float *body, int64_t pelvis,
                     double *scratch, double *out) {
    double *before = scratch, *now = scratch + 3 * n_joints;
    double step = 0.0, least = 1.0, travel = 0.0;
    for (int64_t f = 0; f < n_frames && n_joints > 0; f++) {
        const float *q = quats + 4 * n_joints * f;
        pace_place(n_joints, heading[f], ground + 2 * f, body + 3 * n_joints * f, now);
        for (int64_t j = 0; f > 0 && j < n_joints; j++) {
            const double *a = before + 3 * j, *b = now + 3 * j;
            double dx = b[0] - a[0], dy = b[1] - a[1], dz = b[2] - a[2];
            step = ml_max(step, dx * dx + dy * dy + dz * dz);
            if (j == pelvis) travel = ml_max(travel, dx * dx + dz * dz);
        }
        for (int64_t j = 1; f > 0 && j < n_joints; j++) {
            const float *b = q + 4 * j, *a = b - 4 * n_joints;
            double dot = (double)b[0] * (double)a[0] + (double)b[1] * (double)a[1] +
                         (double)b[2] * (double)a[2] + (double)b[3] * (double)a[3];
            least = ml_min(least, fabs(dot));
        }
        if (f > 0)
            least = ml_min(least, pace_turned(q - 4 * n_joints, q, heading[f] - heading[f - 1]));
        double *other = before;
        before = now;
        now = other;
    }
    out[0] = sqrt(step);
    out[1] = 2.0 * ml_acos(ml_min(least, 1.0));
    out[2] = sqrt(travel);
}
