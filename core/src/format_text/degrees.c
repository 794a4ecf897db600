/* Sines, cosines and angles of files in degrees, over arrays. */

#include "degrees.h"
#include "../kernels.h"

void ml_half_cos_sin_of(int64_t n, const double *degrees, double *cosine, double *sine) {
    for (int64_t i = 0; i < n; i++) {
        double c, s;
        ml_half_cos_sin(degrees[i], &c, &s);
        cosine[i] = c;
        sine[i] = s;
    }
}

void ml_quick_atan2_of(int64_t n, const double *y, const double *x, double *out) {
    for (int64_t i = 0; i < n; i++) out[i] = ml_quick_atan2(y[i], x[i]);
}
