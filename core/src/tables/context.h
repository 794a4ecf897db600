/* Contexts: how a body stands at a row of a collection, and how it moves before or after it. */

#ifndef MOTIONLOOM_CONTEXT_H
#define MOTIONLOOM_CONTEXT_H

#include "../kernels.h"
#include "../math/elementary.h"

/* Frames that an offset may reach: sums of rows and offsets stay whole numbers of 64 bits. */
#define ML_CONTEXT_FARTHEST (INT64_C(1) << 40)

/* Which clip a row is in, or -1 where it is in none. */
static inline int64_t ml_context_clip(const ml_context_frames *seen, int64_t at) {
    int64_t low = 0, high = seen->n_clips + 1; /* the first clip that starts after it */
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (seen->starts[middle] > at) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    int64_t clip = low - 1;
    if (at < 0 || clip < 0 || clip >= seen->n_clips) return -1;
    return seen->starts[clip] < 0 || seen->starts[clip + 1] > seen->n_rows ? -1 : clip;
}

/* Whether joints and offsets lie in their ranges. */
static inline int ml_context_fits(const ml_context_frames *seen, int64_t n_offsets,
                                  const int64_t *offsets) {
    if (seen->n_clips < 0 || seen->n_rows < 0) return 0;
    for (int64_t j = 0; j < seen->n_compared; j++)
        if (seen->joints[j] < 0 || seen->joints[j] >= seen->n_joints) return 0;
    for (int64_t s = 0; s < n_offsets; s++)
        if (offsets[s] < -ML_CONTEXT_FARTHEST || offsets[s] > ML_CONTEXT_FARTHEST) return 0;
    return 1;
}

/* The context of row `at`: joints seen from the body there, and their mean velocities from the
   other offsets to it, in as many numbers as three times offsets times joints. */
static inline ml_status ml_context_of(const ml_context_frames *restrict seen, int64_t at,
                                      int64_t n_offsets, const int64_t *restrict offsets,
                                      float *restrict out) {
    const double *heading = seen->heading, *ground = seen->ground;
    int64_t clip = ml_context_clip(seen, at);
    if (clip < 0) return ML_BAD_SIZE;
    int64_t first = seen->starts[clip], last = seen->starts[clip + 1] - 1;
    double scale = 1.0 / sqrt((double)(n_offsets * seen->n_compared)), sin_at, cos_at;
    const float *now = seen->body + 3 * seen->n_joints * at;
    ml_sincos(heading[at], &sin_at, &cos_at);
    for (int64_t s = 0; s < n_offsets; s++) {
        int64_t row = at + offsets[s];
        row = row < first ? first : row;
        row = row > last ? last : row;
        const float *then = seen->body + 3 * seen->n_joints * row;
        double sine, cosine;
        ml_sincos(heading[row] - heading[at], &sine, &cosine);
        double gx = ground[2 * row] - ground[2 * at], gz = ground[2 * row + 1] - ground[2 * at + 1];
        double ahead_x = cos_at * gx - sin_at * gz, ahead_z = sin_at * gx + cos_at * gz;
        double moves = row != at ? scale * seen->reach / (double)(row - at) : 0.0;
        for (int64_t j = 0; j < seen->n_compared; j++, out += 3) {
            const float *p = then + 3 * seen->joints[j], *q = now + 3 * seen->joints[j];
            double px = (double)p[0], pz = (double)p[2];
            double x = cosine * px + sine * pz + ahead_x;
            double z = cosine * pz - sine * px + ahead_z;
            if (offsets[s] == 0) {
                out[0] = (float)(scale * x);
                out[1] = (float)(scale * (double)p[1]);
                out[2] = (float)(scale * z);
            } else {
                out[0] = (float)(moves * (x - (double)q[0]));
                out[1] = (float)(moves * (double)(p[1] - q[1]));
                out[2] = (float)(moves * (z - (double)q[2]));
            }
        }
    }
    return ML_OK;
}

#endif
