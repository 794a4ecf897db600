/* Elementary functions over arrays. */

#include "elementary.h"
#include "../kernels.h"

#define ML_OVER_ARRAY(name, function)                                                              \
    void name(int64_t n, const double *x, double *out) {                                           \
        for (int64_t i = 0; i < n; i++) out[i] = function(x[i]);                                   \
    }

ML_OVER_ARRAY(ml_sin_of, ml_sin)
ML_OVER_ARRAY(ml_cos_of, ml_cos)
ML_OVER_ARRAY(ml_acos_of, ml_acos)
ML_OVER_ARRAY(ml_asin_of, ml_asin)
ML_OVER_ARRAY(ml_exp_of, ml_exp)
ML_OVER_ARRAY(ml_log_of, ml_log)
ML_OVER_ARRAY(ml_log1p_of, ml_log1p)
ML_OVER_ARRAY(ml_tanh_of, ml_tanh)

void ml_atan2_of(int64_t n, const double *y, const double *x, double *out) {
    for (int64_t i = 0; i < n; i++) out[i] = ml_atan2(y[i], x[i]);
}
