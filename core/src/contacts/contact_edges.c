/* Edges of plants: windows of a track about them, and the evidence for the instant at which a point
   comes to rest, where both sides are Gaussian processes. */

#include "../kernels.h"
#include "../math/elementary.h"

/* Logarithms that are so much smaller than the largest add nothing to their sum. */
#define EDGE_NOTHING (-40.0)

/* Rows of a covariance (n, n), of which only the upper half counts, each with what it has to
   explain behind it: `n_columns` numbers. */
typedef struct {
    int64_t n, n_columns;
    double *rows;
} edge_system;

/* Divides row e by its pivot; adds the squares of what it explains to `fit`. */
static double edge_divide(const edge_system *at, int64_t e, double *restrict fit) {
    int64_t width = at->n + at->n_columns;
    double *restrict row = at->rows + e * width;
    double pivot = sqrt(row[e]), inverse = 1.0 / pivot;
    for (int64_t j = e; j < width; j++) row[j] *= inverse;
    for (int64_t c = 0; c < at->n_columns; c++) fit[c] += row[at->n + c] * row[at->n + c];
    return pivot;
}

/* Takes rows `first` to `end - 1` out of those after them, by Cholesky. Half the logarithm of their
   determinant. */
static double edge_eliminate(const edge_system *at, int64_t first, int64_t end, double *fit) {
    double half_log = 0.0;
    int64_t width = at->n + at->n_columns;
    for (int64_t e = first; e < end; e++) {
        half_log += ml_log(edge_divide(at, e, fit));
        const double *restrict own = at->rows + e * width;
        for (int64_t i = e + 1; i < at->n; i++) {
            double *restrict row = at->rows + i * width, share = own[i];
            for (int64_t j = i; j < width; j++) row[j] -= share * own[j];
        }
    }
    return half_log;
}

/* As edge_eliminate, of all rows from `first` on: row after row, four of those before it at once. */
static double edge_eliminate_rest(const edge_system *at, int64_t first, double *fit) {
    double half_log = 0.0;
    int64_t width = at->n + at->n_columns;
    for (int64_t i = first; i < at->n; i++) {
        double *restrict row = at->rows + i * width;
        int64_t e = first;
        for (; e + 4 <= i; e += 4) {
            const double *restrict a = at->rows + e * width, *restrict b = a + width;
            const double *restrict c = b + width, *restrict d = c + width;
            double of_a = a[i], of_b = b[i], of_c = c[i], of_d = d[i];
            for (int64_t j = i; j < width; j++)
                row[j] = row[j] - of_a * a[j] - of_b * b[j] - of_c * c[j] - of_d * d[j];
        }
        for (; e < i; e++) {
            const double *restrict a = at->rows + e * width;
            double of_a = a[i];
            for (int64_t j = i; j < width; j++) row[j] -= of_a * a[j];
        }
        half_log += ml_log(edge_divide(at, i, fit));
    }
    return half_log;
}

/* log(sum of e^x) of n > 0 numbers that are `step` apart. */
static double edge_log_sum(int64_t n, int64_t step, const double *x) {
    int64_t most = 0;
    double others = 0.0;
    for (int64_t k = 1; k < n; k++)
        if (x[k * step] > x[most * step]) most = k;
    for (int64_t k = 0; k < n; k++) {
        double less = x[k * step] - x[most * step];
        if (k != most && !(less < EDGE_NOTHING)) others += ml_exp(less);
    }
    return others == 0.0 ? x[most * step] : x[most * step] + ml_log1p(others);
}

/* Covariances of a point that stands, and the tracks behind them. */
static void edge_fill_still(const edge_system *still, const double *tracks, double sigma,
                            double drift, double fps, const double *sway) {
    int64_t n = still->n, n_columns = still->n_columns;
    for (int64_t i = 0; i < n; i++) {
        double *row = still->rows + i * (n + n_columns);
        for (int64_t j = i; j < n; j++)
            row[j] = 1.0 + drift * drift * ((double)j / fps) * ((double)i / fps) + sway[j - i];
        row[i] += sigma * sigma;
        for (int64_t c = 0; c < n_columns; c++) row[n + c] = tracks[i * n_columns + c];
    }
}

ml_status ml_edge_evidence(int64_t n_frames, int64_t n_tracks, int64_t n_axes, const double *tracks,
                           int64_t n_rests, const double *rests, const int64_t *earliest_first,
                           int64_t n_densities, const double *densities, double sigma, double drift,
                           double fps, double impact, const double *sway, double *work,
                           double *out) {
    int64_t n = n_frames, n_columns = n_tracks * n_axes, done = 0;
    if (n_densities < 1) return ML_BAD_SIZE;
    for (int64_t k = 0; k < n_rests; k++)
        if (earliest_first[k] < 0 || earliest_first[k] >= n_rests) return ML_BAD_SIZE;
    int64_t width = n + n_columns;
    edge_system still = {n, n_columns, work}, moving = {n, n_columns, work + n * width};
    double *restrict moved = moving.rows + n * width, *restrict since = moved + n * n;
    double *restrict fit_still = since + n, *restrict fit = fit_still + n_columns;
    double *restrict logs = fit + n_columns; /* (n_densities, n_columns) */
    edge_fill_still(&still, tracks, sigma, drift, fps, sway);
    for (int64_t c = 0; c < n_columns; c++) fit_still[c] = 0.0;
    for (int64_t c = 0; c < n_tracks * n_rests; c++) out[c] = 0.0;
    double half_log_still = 0.0;
    for (int64_t r = 0; r < n_rests; r++) {
        int64_t k = earliest_first[r], stands = done;
        while (stands < n && (double)stands <= rests[k]) stands++;
        half_log_still += edge_eliminate(&still, done, stands, fit_still);
        done = stands;
        for (int64_t i = stands; i < n; i++) since[i] = ((double)i - rests[k]) / fps;
        for (int64_t i = stands; i < n; i++) {
            double low = since[i];
            for (int64_t j = i; j < n; j++) {
                double high = since[j];
                moved[i * n + j] = impact * low * high + low * low * (high / 2.0 - low / 6.0);
            }
        }
        for (int64_t p = 0; p < n_densities; p++) {
            double density = densities[p];
            for (int64_t i = stands; i < n; i++) {
                const double *restrict from = still.rows + i * width;
                double *restrict row = moving.rows + i * width;
                for (int64_t j = i; j < n; j++) row[j] = from[j] + density * moved[i * n + j];
                for (int64_t j = n; j < width; j++) row[j] = from[j];
            }
            for (int64_t c = 0; c < n_columns; c++) fit[c] = fit_still[c];
            double half_log = half_log_still + edge_eliminate_rest(&moving, stands, fit);
            for (int64_t c = 0; c < n_columns; c++)
                logs[p * n_columns + c] = -0.5 * fit[c] - half_log;
        }
        for (int64_t c = 0; c < n_columns; c++)
            out[c / n_axes * n_rests + k] += edge_log_sum(n_densities, n_columns, logs + c);
    }
    return ML_OK;
}

ml_status ml_edge_windows(int64_t n_frames, const double *points, int64_t n_edges,
                          const int64_t *edges, int64_t before, int64_t after, int64_t block,
                          double *ground, double *height) {
    int64_t width = before + after;
    if (before < 0 || after < 0 || block < 1 || width < 1) return ML_BAD_SIZE;
    if (width > n_frames / block) return n_edges ? ML_BAD_SIZE : ML_OK;
    for (int64_t m = 0; m < n_edges; m++)
        if (edges[m] < before * block || edges[m] > n_frames - after * block) return ML_BAD_SIZE;
    for (int64_t m = 0; m < n_edges; m++) {
        const double *start = points + 3 * (edges[m] - before * block);
        double *flat = ground + 2 * m, *up = height + m, origin[3];
        for (int64_t i = 0; i < width; i++) { /* x and z, not turned yet, from the last block on */
            const double *frames = start + 3 * (width - 1 - i) * block;
            double mean[3] = {0.0, 0.0, 0.0};
            for (int64_t b = 0; b < block; b++)
                for (int c = 0; c < 3; c++) mean[c] += frames[3 * b + c];
            for (int c = 0; c < 3; c++) {
                mean[c] /= (double)block;
                if (i == 0) origin[c] = mean[c];
            }
            flat[2 * n_edges * i] = mean[0] - origin[0];
            flat[2 * n_edges * i + 1] = mean[2] - origin[2];
            up[n_edges * i] = mean[1] - origin[1];
        }
        int64_t near = width < 3 ? width : 3, far = width < 2 ? width : 2;
        double x = 0.0, z = 0.0;
        for (int64_t i = width - far; i < width; i++) {
            x += flat[2 * n_edges * i] / (double)far;
            z += flat[2 * n_edges * i + 1] / (double)far;
        }
        for (int64_t i = 0; i < near; i++) {
            x -= flat[2 * n_edges * i] / (double)near;
            z -= flat[2 * n_edges * i + 1] / (double)near;
        }
        double length = sqrt(x * x + z * z), cosine = 1.0, sine = 0.0;
        if (length > 1e-9) {
            cosine = x / length;
            sine = z / length;
        }
        for (int64_t i = 0; i < width; i++) {
            double *at = flat + 2 * n_edges * i, a = at[0], b = at[1];
            at[0] = a * cosine + b * sine;
            at[1] = b * cosine - a * sine;
        }
    }
    return ML_OK;
}
