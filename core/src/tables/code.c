/* Codes: contexts in a byte a component. */

#include "../kernels.h"
#include "../math/elementary.h"
#include "../math/simd4.h"

#define CODE_LARGEST 127.0
/* Components whose sums are held at a time. */
#define CODE_LANES 20

/* The nearest code, halves to even; 0 for what is no number. */
static int8_t code_nearest(float value) {
    double step = ml_nearest(ml_clamp((double)value, -CODE_LARGEST, CODE_LARGEST));
    return (int8_t)(step == step ? step : 0.0);
}

/* Twenty components of a context. */
static void code_components(int64_t n_columns, int64_t n_codes, const float *moment,
                            const float *mean, const float *across, const float *steps,
                            int8_t *codes) {
    ml_quad sums[CODE_LANES / 4] = {{0.0f}};
    float along[CODE_LANES];
    for (int64_t d = 0; d < n_columns; d++, across += n_codes) {
        float away = moment[d] - mean[d];
        for (int k = 0; k < CODE_LANES / 4; k++) sums[k] += away * ml_quad_load(across + 4 * k);
    }
    for (int k = 0; k < CODE_LANES / 4; k++) ml_quad_store(sums[k], along + 4 * k);
    for (int k = 0; k < CODE_LANES; k++) codes[k] = code_nearest(along[k] / steps[k]);
}

/* Every sum runs over columns in their order: a context is rounded alone as among others. */
void ml_code_encode(int64_t n, int64_t n_columns, int64_t n_codes, const float *moments,
                    const float *mean, const float *across, const float *steps, int8_t *codes) {
    for (int64_t i = 0; i < n; i++) {
        const float *moment = moments + n_columns * i;
        int8_t *code = codes + n_codes * i;
        int64_t c = 0;
        for (; c + CODE_LANES <= n_codes; c += CODE_LANES)
            code_components(n_columns, n_codes, moment, mean, across + c, steps + c, code + c);
        for (; c < n_codes; c++) {
            float sum = 0.0f;
            for (int64_t d = 0; d < n_columns; d++)
                sum += (moment[d] - mean[d]) * across[n_codes * d + c];
            code[c] = code_nearest(sum / steps[c]);
        }
    }
}
