/* The mean pose: local rotations of several motions at fractional frames, mixed by weights.

   Park et al. 2002: logarithms about an unweighted mean, averaged by the weights, and taken back. */

#include "../kernels.h"
#include "blend.h"

/* Square of an angle: rotations nearer to their normalised sum than this have it for their mean,
   to a few billionths of a radian in the result. */
#define POSE_NEAR (0.05 * 0.05)

/* What is kept of each motion while a frame is mixed. */
enum { POSE_ROW, POSE_PART, POSE_COSINE, POSE_SINE, POSE_PICKED, POSE_WIDTH = POSE_PICKED + 4 };

/* Slerp from a to b, which lies `step` numbers on. Between neighbouring frames the angle is small
   nearly always, and a series saves three sines. */
static inline void pose_between(const double *a, int64_t step, double t, double *out) {
    if (t <= 0.0) {
        for (int c = 0; c < 4; c++) out[c] = a[c];
        return;
    }
    const double *b = a + step;
    double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
    double near = ml_min(fabs(dot), 1.0), d = 1.0 - near, wa, wb;
    if (d < 2e-3) {
        /* Below 0.063 rad the terms left out are under 1e-13, and so is the length's error. */
        double square = d * (2.0 + d * (1.0 / 3.0 + d * (4.0 / 45.0)));
        double s = t * t, r = (1.0 - t) * (1.0 - t), fourth = square * (1.0 / 360.0);
        wb = (1.0 - s) * (1.0 / 6.0) + fourth * (7.0 + s * (3.0 * s - 10.0));
        wa = (1.0 - r) * (1.0 / 6.0) + fourth * (7.0 + r * (3.0 * r - 10.0));
        wb = t * (1.0 + square * wb);
        wa = (1.0 - t) * (1.0 + square * wa);
        if (!(dot >= 0.0)) wb = -wb;
        for (int c = 0; c < 4; c++) out[c] = wa * a[c] + wb * b[c];
        return;
    }
    double sine = sqrt((1.0 - near) * (1.0 + near)), cosine;
    ml_sincos(t * ml_atan2(sine, near), &wb, &cosine);
    wb /= sine;
    wa = cosine - near * wb; /* sin((1 - t) angle) / sin(angle) */
    if (!(dot >= 0.0)) wb = -wb;
    for (int c = 0; c < 4; c++) out[c] = wa * a[c] + wb * b[c];
    double norm = 1.0 / sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2] + out[3] * out[3]);
    for (int c = 0; c < 4; c++) out[c] *= norm;
}

/* log(q^-1 p), the short way. */
static inline void pose_log_between(const double *q, const double *p, double *out) {
    double w = q[0] * p[0] + q[1] * p[1] + q[2] * p[2] + q[3] * p[3];
    double x = q[0] * p[1] - q[1] * p[0] - q[2] * p[3] + q[3] * p[2];
    double y = q[0] * p[2] + q[1] * p[3] - q[2] * p[0] - q[3] * p[1];
    double z = q[0] * p[3] - q[1] * p[2] + q[2] * p[1] - q[3] * p[0];
    double square = x * x + y * y + z * z, scale;
    if (square < 0.02) { /* the series of 2 arcsin(s) / s, to 1e-11 */
        double s = 105.0 / 3456.0 + square * (945.0 / 42240.0);
        s = 3.0 / 40.0 + square * (15.0 / 336.0 + square * s);
        scale = 2.0 * (1.0 + square * (1.0 / 6.0 + square * s));
    } else {
        double sine = sqrt(square);
        scale = 2.0 * ml_atan2(sine, fabs(w)) / sine;
    }
    if (w < 0.0) scale = -scale;
    out[0] = scale * x;
    out[1] = scale * y;
    out[2] = scale * z;
}

/* q exp(v) at unit length. */
static inline void pose_times_exp(const double *q, const double *v, double *out) {
    double square = 0.25 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), w, s;
    if (square < 0.02) {
        w = 1.0 / 24.0 - square * (1.0 / 720.0 - square * (1.0 / 40320.0));
        w = 1.0 - square * (0.5 - square * w);
        s = 1.0 / 120.0 - square * (1.0 / 5040.0 - square * (1.0 / 362880.0));
        s = 0.5 * (1.0 - square * (1.0 / 6.0 - square * s));
    } else {
        double half = sqrt(square), sine;
        ml_sincos(half, &sine, &w);
        s = 0.5 * sine / half;
    }
    double x = s * v[0], y = s * v[1], z = s * v[2];
    double a = q[0] * w - q[1] * x - q[2] * y - q[3] * z;
    double b = q[0] * x + q[1] * w + q[2] * z - q[3] * y;
    double c = q[0] * y - q[1] * z + q[2] * w + q[3] * x;
    double d = q[0] * z + q[1] * y - q[2] * x + q[3] * w;
    double norm = 1.0 / sqrt(a * a + b * b + c * c + d * d);
    out[0] = a * norm;
    out[1] = b * norm;
    out[2] = c * norm;
    out[3] = d * norm;
}

/* Logarithms about `centre`: their mean by weights, their plain mean, and the largest square. */
static inline double pose_mean_log(const double *centre, int64_t n, const double *kept,
                                   const double *weights, double *mean, double *plain) {
    double widest = 0.0, vx = 0.0, vy = 0.0, vz = 0.0, ux = 0.0, uy = 0.0, uz = 0.0;
    for (int64_t k = 0; k < n; k++) {
        double v[3], share = weights[k];
        pose_log_between(centre, kept + POSE_WIDTH * k + POSE_PICKED, v);
        widest = ml_max(widest, v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        vx += share * v[0], vy += share * v[1], vz += share * v[2];
        ux += v[0], uy += v[1], uz += v[2];
    }
    double share = 1.0 / (double)n;
    mean[0] = vx, mean[1] = vy, mean[2] = vz;
    plain[0] = share * ux, plain[1] = share * uy, plain[2] = share * uz;
    return widest;
}

/* Rotation of one joint in every motion, all signs as the first motion's; gives their sum. */
static inline void pose_pick(const double *quats, int64_t n_joints, int64_t j, int64_t n_motions,
                             double *kept, double *sum) {
    double sw = 0.0, sx = 0.0, sy = 0.0, sz = 0.0;
    const double *first = kept + POSE_PICKED;
    for (int64_t k = 0; k < n_motions; k++) {
        double *own = kept + POSE_WIDTH * k, *q = own + POSE_PICKED;
        int64_t row = (int64_t)own[POSE_ROW];
        pose_between(quats + 4 * (row * n_joints + j), 4 * n_joints, own[POSE_PART], q);
        double w = q[0], x = q[1], y = q[2], z = q[3];
        if (j == 0) { /* the root is turned about the up axis before it is mixed */
            double c = own[POSE_COSINE], s = own[POSE_SINE];
            q[0] = c * w - s * y;
            q[1] = c * x + s * z;
            q[2] = c * y + s * w;
            q[3] = c * z - s * x;
        }
        /* With equal signs the plain sum is near the mean. */
        if (k > 0 && q[0] * first[0] + q[1] * first[1] + q[2] * first[2] + q[3] * first[3] < 0.0)
            for (int c = 0; c < 4; c++) q[c] = -q[c];
        sw += q[0], sx += q[1], sy += q[2], sz += q[3];
    }
    sum[0] = sw, sum[1] = sx, sum[2] = sy, sum[3] = sz;
}

ml_status ml_pose_mix(int64_t n_motions, int64_t n_rows, int64_t n_joints, const double *quats,
                      const int64_t *starts, int64_t n, const double *frames, const double *weights,
                      const double *headings, double *scratch, double *out, double *spread) {
    if (!ml_starts_fit(n_motions, starts, n_rows)) return ML_BAD_SIZE;
    for (int64_t i = 0; i < n; i++) {
        const double *shares = weights + i * n_motions;
        for (int64_t k = 0; k < n_motions; k++) {
            double *own = scratch + POSE_WIDTH * k, frame = frames[i * n_motions + k];
            int64_t last = starts[k + 1] - starts[k] - 1, low = ml_row_below(frame, last);
            own[POSE_ROW] = (double)(starts[k] + low);
            own[POSE_PART] = low < last ? frame - (double)low : 0.0;
            ml_sincos(0.5 * headings[i * n_motions + k], own + POSE_SINE, own + POSE_COSINE);
        }
        for (int64_t j = 0; j < n_joints; j++) {
            double centre[4], sum[4], mean[3], plain[3];
            pose_pick(quats, n_joints, j, n_motions, scratch, sum);
            double square = sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2] + sum[3] * sum[3];
            if (square < 1e-12) { /* they cancel */
                for (int c = 0; c < 4; c++) sum[c] = scratch[POSE_PICKED + c];
                square = 1.0;
            }
            double norm = 1.0 / sqrt(square);
            for (int c = 0; c < 4; c++) centre[c] = sum[c] * norm;
            double widest = pose_mean_log(centre, n_motions, scratch, shares, mean, plain);
            if (n_motions > 2 && widest > POSE_NEAR) {
                /* One step of the geodesic mean; nearer than that it changes nothing. */
                double moved[4];
                pose_times_exp(centre, plain, moved);
                for (int c = 0; c < 4; c++) centre[c] = moved[c];
                widest = pose_mean_log(centre, n_motions, scratch, shares, mean, plain);
            }
            pose_times_exp(centre, mean, out + 4 * (i * n_joints + j));
            if (spread) spread[j] = ml_max(spread[j], sqrt(widest));
        }
    }
    return ML_OK;
}
