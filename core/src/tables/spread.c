/* How much the postures of two windows of a blend differ, in their places. */

#include "../kernels.h"
#include "../math/simd8.h"
#include "judge.h"

/* Mean over a blend's frames of u v |a - b|^2, square metres. */
static float spread_apart(const float *a, const float *b, const float *u, const float *v,
                          int64_t pad, int64_t length) {
    ml_lanes total = ml_lanes_zero();
    for (int64_t t = pad; t < pad + length; t++) {
        ml_lanes square = ml_lanes_zero();
        for (int64_t g = JUDGE_WIDE * t; g < JUDGE_WIDE * (t + 1); g += ML_LANES) {
            ml_lanes way = ml_lanes_subtract(ml_lanes_load(a + g), ml_lanes_load(b + g));
            square = ml_lanes_add_product(square, way, way);
        }
        total = ml_lanes_add(total, ml_lanes_scale(square, u[t] * v[t]));
    }
    return ml_lanes_sum(total) / (float)length;
}

ml_status ml_spread_between(const ml_terms *terms, int64_t n_some, const int64_t *some,
                            int64_t n_others, const int64_t *others, const float *u, const float *v,
                            float *out) {
    if (terms->length < 1 || terms->pad < 0 || terms->n_padded < terms->length + terms->pad)
        return ML_BAD_SIZE;
    for (int64_t i = 0; i < n_some; i++)
        if (some[i] < 0 || some[i] >= terms->n_windows) return ML_BAD_SIZE;
    for (int64_t j = 0; j < n_others; j++)
        if (others[j] < 0 || others[j] >= terms->n_windows) return ML_BAD_SIZE;
    for (int64_t i = 0; i < n_some; i++)
        for (int64_t j = 0; j < n_others; j++)
            out[i * n_others + j] = spread_apart(judge_window_posture(terms, some[i]),
                                                 judge_window_posture(terms, others[j]), u, v,
                                                 terms->pad, terms->length);
    return ML_OK;
}
