/* Splines whose dimensions all increase: Appendix A of Kovar and Gleicher 2003. */

#include "../kernels.h"
#include "elementary.h"

/* Halvings of the interval in which the base step lies. */
#define SPLINE_HALVINGS 100
/* A step that is to change by less stays as it is. */
#define SPLINE_SAME 1e-13

/* Nearest steps to d with epsilon d_b <= d_j <= d_b / epsilon and d_b >= smallest, b the base.

   Given the base step s every other is best clipped into its bounds, so this is a convex problem
   in s alone, whose slope is piecewise linear and increasing. */
static void spline_project(int64_t n, const double *d, int64_t base, double epsilon,
                           double smallest, double *out) {
    const double pull_up = 2.0 * epsilon, pull_down = 2.0 / epsilon;
    double low = smallest, high = smallest;
    for (int64_t j = 0; j < n; j++) high = ml_max(high, fabs(d[j]) / epsilon + smallest);
    for (int step = 0; step < SPLINE_HALVINGS; step++) {
        double s = step == 0 ? low : 0.5 * (low + high);
        double slope = 2.0 * (s - d[base]), least = epsilon * s, most = s / epsilon;
        for (int64_t j = 0; j < n; j++) {
            if (j == base) continue;
            if (d[j] < least)
                slope += pull_up * (least - d[j]);
            else if (d[j] > most)
                slope += pull_down * (most - d[j]);
        }
        if (step == 0 && slope >= 0.0) {
            high = low;
            break;
        }
        double *side = slope > 0.0 ? &high : &low;
        if (step > 0 && *side == s) break; /* nothing changes any more */
        *side = s;
    }
    double s = 0.5 * (low + high);
    for (int64_t j = 0; j < n; j++) out[j] = ml_clamp(d[j], epsilon * s, s / epsilon);
    out[base] = s;
}

/* The smaller of `share` and the part of a change that takes up the rest, none where it does
   not use any. */
static inline double spline_share(double share, double left, double use) {
    return use > 1e-15 ? ml_min(share, ml_max(left, 0.0) / use) : share;
}

ml_status ml_spline_adjust(int64_t n, int64_t n_dimensions, double *points, int64_t base,
                           double epsilon, double smallest, double *work, double *moved) {
    if (n_dimensions < 1 || base < 0 || base >= n_dimensions) return ML_BAD_SIZE;
    double *d = work, *wanted = work + n_dimensions, *change = work + 2 * n_dimensions;
    *moved = 0.0;
    for (int64_t i = 1; i < n; i++) {
        double *now = points + i * n_dimensions, *before = now - n_dimensions;
        for (int64_t j = 0; j < n_dimensions; j++) d[j] = now[j] - before[j];
        spline_project(n_dimensions, d, base, epsilon, smallest, wanted);
        double worst = 0.0, share = 0.5;
        for (int64_t j = 0; j < n_dimensions; j++) {
            change[j] = wanted[j] - d[j];
            worst = ml_max(worst, fabs(change[j]));
        }
        if (worst < SPLINE_SAME) continue;
        if (i > 1) { /* the point before gets as much as its own step can bear */
            const double *last = before - n_dimensions;
            double step_base = before[base] - last[base];
            for (int64_t j = 0; j < n_dimensions; j++) {
                double step = before[j] - last[j];
                if (j == base) {
                    share = spline_share(share, step_base - smallest, change[base]);
                    continue;
                }
                share = spline_share(share, step - epsilon * step_base,
                                     change[j] - epsilon * change[base]);
                share = spline_share(share, step_base - epsilon * step,
                                     change[base] - epsilon * change[j]);
            }
        }
        for (int64_t j = 0; j < n_dimensions; j++) {
            now[j] += (1.0 - share) * change[j];
            before[j] -= share * change[j];
            *moved += (ml_square(1.0 - share) + ml_square(share)) * ml_square(change[j]);
        }
    }
    return ML_OK;
}

ml_status ml_spline_solve(int64_t n, int64_t n_columns, double *bands, double *values) {
    /* The Cholesky factor U takes the place of its matrix: element (j - d, j) is band[3 - d][j]. */
    double *const band[4] = {bands, bands + n, bands + 2 * n, bands + 3 * n};
    for (int64_t j = 0; j < n; j++) {
        double *row = values + j * n_columns;
        for (int64_t d = j < 3 ? j : 3; d >= 0; d--) {
            double rest = band[3 - d][j];
            for (int64_t k = d + 1; k <= 3 && k <= j; k++)
                rest -= band[3 - (k - d)][j - d] * band[3 - k][j];
            if (d > 0) {
                band[3 - d][j] = rest / band[3][j - d];
            } else {
                if (!(rest > 0.0)) return ML_BAD_SIZE;
                band[3][j] = sqrt(rest);
            }
        }
        for (int64_t c = 0; c < n_columns; c++) {
            for (int64_t d = 1; d <= 3 && d <= j; d++)
                row[c] -= band[3 - d][j] * row[c - d * n_columns];
            row[c] /= band[3][j];
        }
    }
    for (int64_t j = n - 1; j >= 0; j--) {
        double *row = values + j * n_columns;
        for (int64_t c = 0; c < n_columns; c++) {
            for (int64_t d = 1; d <= 3 && j + d < n; d++)
                row[c] -= band[3 - d][j + d] * row[c + d * n_columns];
            row[c] /= band[3][j];
        }
    }
    return ML_OK;
}
