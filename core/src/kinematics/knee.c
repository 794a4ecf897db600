/* Knees near full stretch: angles and spans that open ever less. */

#include "../kernels.h"
#include "../math/elementary.h"

/* Knee angle from which opening is damped, radians; pi is a straight leg (Kovar et al. 2002). */
#define KNEE_DAMPED_FROM 2.8
/* Its cosine. */
#define KNEE_DAMPED_COSINE -0.9422223406686581

/* t below 0, one half from 1 on, smooth between: the integral of 1 - 3 t^2 + 2 t^3. */
static double knee_saturated(double t) {
    if (t <= 0.0) return t;
    return t >= 1.0 ? 0.5 : t + t * t * t * (0.5 * t - 1.0);
}

static double knee_damped(double now, double wanted) {
    double width = ML_PI - KNEE_DAMPED_FROM;
    double a = (now - KNEE_DAMPED_FROM) / width, b = (wanted - KNEE_DAMPED_FROM) / width;
    return now + width * (knee_saturated(b) - knee_saturated(a));
}

void ml_knee_damp(int64_t n, const double *now, const double *wanted, double *out) {
    for (int64_t f = 0; f < n; f++) out[f] = knee_damped(now[f], wanted[f]);
}

/* Cosine of the knee of a leg of two bones whose ends are `span` apart. */
static double knee_cosine(double square, double product, double span) {
    return ml_min(1.0, ml_max(-1.0, (square - span * span) / product));
}

void ml_knee_damp_span(int64_t n, const double *upper, const double *lower, const double *before,
                       const double *wanted, double *out) {
    for (int64_t f = 0; f < n; f++) {
        double product = ml_max(2.0 * upper[f] * lower[f], 1e-12);
        double square = upper[f] * upper[f] + lower[f] * lower[f];
        double now = knee_cosine(square, product, before[f]);
        double then = knee_cosine(square, product, wanted[f]);
        /* From any angle that is not damped yet, the knee opens as from the first that is. */
        if (now > KNEE_DAMPED_COSINE && then <= KNEE_DAMPED_COSINE)
            then = ml_cos(knee_damped(KNEE_DAMPED_FROM, ml_acos(then)));
        else if (now <= KNEE_DAMPED_COSINE)
            then = ml_cos(knee_damped(ml_acos(now), ml_acos(then)));
        out[f] = sqrt(ml_max(square - product * then, 0.0));
    }
}

void ml_knee_soften_span(int64_t n, const double *before, const double *wanted, const double *reach,
                         const double *part, double *out) {
    for (int64_t f = 0; f < n; f++) {
        double width = 2.0 * part[f] * ml_max(reach[f], 1e-9);
        double a = (before[f] - reach[f]) / width + 0.5, b = (wanted[f] - reach[f]) / width + 0.5;
        double change = width * (knee_saturated(b) - knee_saturated(a));
        /* Where damping has set in at the beginning, less is left. */
        if (change > 0.0 && a > 0.0)
            change *= ml_max(reach[f] - before[f], 0.0) / (width * (0.5 - knee_saturated(a)));
        out[f] = before[f] + change;
    }
}

void ml_knee_jerks(int64_t n, const double *track, int64_t n_columns, int64_t column, double *out) {
    for (int64_t f = 0; f < n; f++) {
        double square = 0.0;
        if (f > 0 && f + 1 < n)
            for (int64_t c = 0; c < 3; c++) {
                const double *at = track + 3 * f + c;
                double second = at[3] - 2.0 * at[0] + at[-3];
                square += second * second;
            }
        out[n_columns * f + column] = sqrt(square);
    }
}
