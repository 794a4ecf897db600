/* Windows and contexts: motion around a row of a collection, as numbers that can be compared. */

#include "context.h"

/* One frame of a window, seen from the body at row `at`: `n` joints times `scale`. */
static void window_frame(const double *heading, const double *ground, const float *pose, int64_t at,
                         int64_t row, double sin_at, double cos_at, double scale, int64_t n,
                         const int64_t *restrict joints, float *restrict out) {
    double sine, cosine;
    ml_sincos(heading[row] - heading[at], &sine, &cosine);
    double x = ground[2 * row] - ground[2 * at], z = ground[2 * row + 1] - ground[2 * at + 1];
    double ahead_x = cos_at * x - sin_at * z, ahead_z = sin_at * x + cos_at * z;
    for (int64_t j = 0; j < n; j++) {
        const float *p = pose + 3 * joints[j];
        double px = (double)p[0], pz = (double)p[2];
        out[3 * j] = (float)(scale * (cosine * px + sine * pz + ahead_x));
        out[3 * j + 1] = (float)(scale * (double)p[1]);
        out[3 * j + 2] = (float)(scale * (cosine * pz - sine * px + ahead_z));
    }
}

ml_status ml_window_features(int64_t n_rows, int64_t n_joints, const double *heading,
                             const double *ground, const float *body, int64_t n,
                             const int64_t *rows, int64_t centre, int64_t n_offsets,
                             const int64_t *offsets, int64_t n_compared, const int64_t *joints,
                             float *out) {
    int64_t farthest = centre;
    if (n_offsets < 0 || n_compared < 0 || centre < 0 || centre >= n_rows)
        return n > 0 ? ML_BAD_SIZE : ML_OK;
    for (int64_t s = 0; s < n_offsets; s++) {
        if (offsets[s] < 0 || offsets[s] >= n_rows) return ML_BAD_SIZE;
        farthest = offsets[s] > farthest ? offsets[s] : farthest;
    }
    for (int64_t j = 0; j < n_compared; j++)
        if (joints[j] < 0 || joints[j] >= n_joints) return ML_BAD_SIZE;
    for (int64_t i = 0; i < n; i++)
        if (rows[i] < 0 || rows[i] >= n_rows - farthest) return ML_BAD_SIZE;
    double scale = 1.0 / sqrt((double)(n_offsets * n_compared));
    for (int64_t i = 0; i < n; i++) {
        int64_t at = rows[i] + centre;
        double sin_at, cos_at;
        ml_sincos(heading[at], &sin_at, &cos_at);
        for (int64_t s = 0; s < n_offsets; s++) {
            int64_t row = rows[i] + offsets[s];
            window_frame(heading, ground, body + 3 * n_joints * row, at, row, sin_at, cos_at, scale,
                         n_compared, joints, out);
            out += 3 * n_compared;
        }
    }
    return ML_OK;
}

ml_status ml_window_contexts(int64_t n_clips, int64_t n_rows, int64_t n_joints,
                             const int64_t *starts, const double *heading, const double *ground,
                             const float *body, int64_t n_compared, const int64_t *joints,
                             double reach, int64_t n, const int64_t *rows, int64_t n_offsets,
                             const int64_t *offsets, float *out) {
    ml_context_frames seen = {n_clips, n_rows, n_joints, n_compared, reach,   starts,
                              heading, ground, body,     joints,     offsets, offsets};
    if (n_offsets < 0 || !ml_context_fits(&seen, n_offsets, offsets)) return ML_BAD_SIZE;
    for (int64_t i = 0; i < n; i++) {
        ml_status status =
            ml_context_of(&seen, rows[i], n_offsets, offsets, out + 3 * n_offsets * n_compared * i);
        if (status != ML_OK) return status;
    }
    return ML_OK;
}
