/* Curves of keys with constant, linear and cubic segments, as scene files hold them. */

#include "../kernels.h"

/* Halvings of the interval in which the parameter of a Bezier segment lies. */
#define KEYED_HALVINGS 45
/* Weights nearer than this to a third are a third. */
#define KEYED_SAME 1e-9

/* Where on a Bezier segment its time is a share u: the share itself for weights of a third. */
static double keyed_parameter(double u, double out, double into) {
    const double third = 1.0 / 3.0;
    double a = out - third, b = into - third;
    if (a <= KEYED_SAME && a >= -KEYED_SAME && b <= KEYED_SAME && b >= -KEYED_SAME) return u;
    double x2 = 1.0 - into, low = 0.0, high = 1.0;
    for (int step = 0; step < KEYED_HALVINGS; step++) {
        double s = 0.5 * (low + high), r = 1.0 - s;
        if (3.0 * r * s * (r * out + s * x2) + s * s * s < u)
            low = s;
        else
            high = s;
    }
    return 0.5 * (low + high);
}

/* The last of the keys from the first to the one before the last that is not after a time. */
static int64_t keyed_segment(int64_t n_keys, const double *times, double at) {
    int64_t low = 0, high = n_keys - 1;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (times[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

ml_status ml_keyed_values(int64_t n_keys, const double *times, const double *values,
                          const int64_t *flags, int64_t n_tangents, const double *tangents,
                          int64_t n, const double *at, double *out) {
    if (n_keys < 1 || (n_tangents && n_tangents != n_keys)) return ML_BAD_SIZE;
    int64_t k = 0;
    for (int64_t i = 0; i < n; i++) {
        if (n_keys == 1) {
            out[i] = values[0];
            continue;
        }
        /* Most times are in the segment of the one before, or in the next. */
        if (k + 2 < n_keys && times[k + 1] <= at[i]) k++;
        if (!(times[k] <= at[i] && (k + 2 == n_keys || at[i] < times[k + 1])))
            k = keyed_segment(n_keys, times, at[i]);
        double span = times[k + 1] - times[k], u = (at[i] - times[k]) / span;
        double first = values[k], last = values[k + 1];
        if (u <= 0.0) {
            out[i] = first;
        } else if (u >= 1.0) {
            out[i] = last;
        } else if (flags[k] & ML_KEY_CONSTANT) {
            out[i] = flags[k] & ML_KEY_NEXT ? last : first;
        } else if (n_tangents && flags[k] & ML_KEY_CUBIC) {
            const double *t = tangents + 4 * k;
            double s = keyed_parameter(u, t[2], t[3]), r = 1.0 - s;
            double c1 = first + t[0] * t[2] * span, c2 = last - t[1] * t[3] * span;
            out[i] = r * r * r * first + 3.0 * r * s * (r * c1 + s * c2) + s * s * s * last;
        } else {
            out[i] = first + u * (last - first);
        }
    }
    return ML_OK;
}
