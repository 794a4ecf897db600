/* Blends of windows: where the body goes and faces, and its local rotations. */

#include "rows.h"

/* Every how many frames two windows are compared for the sign of their quaternions. */
#define MIXTURE_STRIDE 4
/* Joints that are blended together. */
#define MIXTURE_BLOCK 64

ml_status ml_mixture_track(const ml_rows *rows, int64_t n_frames, int64_t n_ways, const int64_t *at,
                           const double *weights, double *psi, double *root) {
    const double *heading = rows->heading, *ground = rows->ground;
    if (n_frames < 1 || n_ways < 1 || !ml_rows_have(rows->n_rows, n_frames * n_ways, at))
        return ML_BAD_SIZE;
    psi[0] = heading[at[0]];
    root[0] = ground[2 * at[0]];
    root[2] = ground[2 * at[0] + 1];
    for (int64_t t = 0; t < n_frames; t++) {
        double height = 0.0;
        for (int64_t i = 0; i < n_ways; i++)
            height += weights[i * n_frames + t] *
                      (double)rows->body[3 * rows->n_joints * at[t * n_ways + i] + 1];
        root[3 * t + 1] = height;
    }
    for (int64_t t = 1; t < n_frames; t++) {
        double turn = 0.0, ahead = 0.0, aside = 0.0, c, s;
        for (int64_t i = 0; i < n_ways; i++) {
            int64_t now = at[t * n_ways + i], before = at[(t - 1) * n_ways + i];
            double w = weights[i * n_frames + t];
            if (now == before || w == 0.0) continue;
            turn += w * (heading[now] - heading[before]);
            ml_sincos(heading[before], &s, &c);
            double x = ground[2 * now] - ground[2 * before];
            double z = ground[2 * now + 1] - ground[2 * before + 1];
            aside += w * (c * x - s * z);
            ahead += w * (s * x + c * z);
        }
        ml_sincos(psi[t - 1], &s, &c);
        root[3 * t] = root[3 * t - 3] + c * aside + s * ahead;
        root[3 * t + 2] = root[3 * t - 1] + c * ahead - s * aside;
        psi[t] = psi[t - 1] + turn;
    }
    return ML_OK;
}

/* Signs of some joints of every window that go with the window before it. One sign a window and
   joint: clips are continuous in sign, so blends are. */
static void mixture_signs(const ml_rows *rows, int64_t n_frames, int64_t n_ways, const int64_t *at,
                          const double *weights, int64_t first, int64_t count,
                          float signs[ML_MOST_WAYS][MIXTURE_BLOCK]) {
    int64_t width = 4 * rows->n_joints;
    for (int64_t j = 0; j < count; j++) signs[0][j] = 1.0f;
    for (int64_t i = 1; i < n_ways; i++) {
        float total[4 * MIXTURE_BLOCK] = {0.0f};
        for (int64_t t = 0; t < n_frames; t += MIXTURE_STRIDE) {
            const float *restrict a = rows->quats + width * at[t * n_ways + i] + 4 * first;
            const float *restrict b = rows->quats + width * at[t * n_ways + i - 1] + 4 * first;
            float share =
                (float)(weights[i * n_frames + t] * weights[(i - 1) * n_frames + t] + 1e-6);
            for (int64_t k = 0; k < 4 * count; k++) total[k] += share * a[k] * b[k];
        }
        for (int64_t j = 0; j < count; j++) {
            const float *q = total + 4 * j;
            float like = q[0] + q[1] + q[2] + q[3];
            signs[i][j] = like >= 0.0f ? signs[i - 1][j] : -signs[i - 1][j];
        }
    }
}

/* Weighted sums of some joints of one frame, brought to unit length. Opposite rotations in equal
   parts have no mean, and the source's is as good as any. */
static void mixture_mix(int64_t n_ways, const float *const *rows, const float *shares,
                        float signs[ML_MOST_WAYS][MIXTURE_BLOCK], int64_t count,
                        double *restrict out) {
    float mixed[4 * MIXTURE_BLOCK], squares[MIXTURE_BLOCK];
    double norms[MIXTURE_BLOCK];
    for (int64_t j = 0; j < count; j++) {
        float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        for (int64_t i = 0; i < n_ways; i++) {
            float share = shares[i] * signs[i][j];
            for (int c = 0; c < 4; c++) sum[c] += share * rows[i][4 * j + c];
        }
        for (int c = 0; c < 4; c++) mixed[4 * j + c] = sum[c];
    }
    /* Loops apart from one another: each is one that compilers make wide. */
    for (int64_t j = 0; j < count; j++) {
        const float *q = mixed + 4 * j;
        squares[j] = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    }
    int none = 0;
    for (int64_t j = 0; j < count; j++) none |= (double)squares[j] < 1e-9;
    if (none)
        for (int64_t j = 0; j < count; j++)
            if ((double)squares[j] < 1e-9)
                for (int c = 0; c < 4; c++) mixed[4 * j + c] = rows[0][4 * j + c];
    for (int64_t k = 0; k < 4 * count; k++) out[k] = (double)mixed[k];
    for (int64_t j = 0; j < count; j++) {
        const double *q = out + 4 * j;
        norms[j] = 1.0 / sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    }
    for (int64_t j = 0; j < count; j++)
        for (int c = 0; c < 4; c++) out[4 * j + c] *= norms[j];
}

ml_status ml_mixture_rotations(const ml_rows *rows, int64_t n_frames, int64_t n_ways,
                               const int64_t *at, const double *weights, const double *psi,
                               double *out) {
    int64_t n_joints = rows->n_joints, width = 4 * n_joints;
    if (n_ways < 1 || n_ways > ML_MOST_WAYS || n_joints < 1 ||
        !ml_rows_have(rows->n_rows, n_frames * n_ways, at))
        return ML_BAD_SIZE;
    for (int64_t first = 0; first < n_joints; first += MIXTURE_BLOCK) {
        int64_t count = n_joints - first < MIXTURE_BLOCK ? n_joints - first : MIXTURE_BLOCK;
        float signs[ML_MOST_WAYS][MIXTURE_BLOCK];
        mixture_signs(rows, n_frames, n_ways, at, weights, first, count, signs);
        for (int64_t t = 0; t < n_frames; t++) {
            const float *windows[ML_MOST_WAYS];
            float shares[ML_MOST_WAYS];
            for (int64_t i = 0; i < n_ways; i++) {
                windows[i] = rows->quats + width * at[t * n_ways + i] + 4 * first;
                shares[i] = (float)weights[i * n_frames + t];
            }
            mixture_mix(n_ways, windows, shares, signs, count, out + width * t + 4 * first);
        }
    }
    for (int64_t t = 0; t < n_frames; t++) { /* the root is turned to its heading */
        double *q = out + width * t, w = q[0], x = q[1], y = q[2], z = q[3], c, s;
        ml_sincos(0.5 * psi[t], &s, &c);
        q[0] = c * w - s * y, q[1] = c * x + s * z;
        q[2] = c * y + s * w, q[3] = c * z - s * x;
    }
    return ML_OK;
}
