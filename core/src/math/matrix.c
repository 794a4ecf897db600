/* Products and eigenvectors of matrices, with the same bits on every platform. */

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "../kernels.h"
#include "elementary.h"

/* Rows and columns of a product that are summed together: as many sums as registers hold. */
#define MATRIX_ROWS 4
#define MATRIX_COLUMNS 8
/* Rows that are multiplied or squared at a time: they stay in a cache. */
#define MATRIX_BATCH 64
/* Steps after which an eigenvalue is taken as it is; two or three do. */
#define MATRIX_STEPS 60

/* A block of a product. */
static void matrix_block(int64_t n_between, int64_t n_columns, const double *restrict a,
                         const double *restrict b, double *restrict out) {
    double sums[MATRIX_ROWS][MATRIX_COLUMNS] = {{0.0}};
    for (int64_t k = 0; k < n_between; k++)
        for (int r = 0; r < MATRIX_ROWS; r++)
            for (int c = 0; c < MATRIX_COLUMNS; c++)
                sums[r][c] += a[n_between * r + k] * b[n_columns * k + c];
    for (int r = 0; r < MATRIX_ROWS; r++)
        for (int c = 0; c < MATRIX_COLUMNS; c++) out[n_columns * r + c] = sums[r][c];
}

void ml_matrix_multiply(int64_t n, int64_t n_between, int64_t n_columns, const double *a,
                        const double *b, double *out) {
    int64_t whole_rows = n - n % MATRIX_ROWS, whole = n_columns - n_columns % MATRIX_COLUMNS;
    for (int64_t first = 0; first < whole_rows; first += MATRIX_BATCH) {
        int64_t last = first + MATRIX_BATCH < whole_rows ? first + MATRIX_BATCH : whole_rows;
        for (int64_t j = 0; j < whole; j += MATRIX_COLUMNS)
            for (int64_t i = first; i < last; i += MATRIX_ROWS)
                matrix_block(n_between, n_columns, a + n_between * i, b + j,
                             out + n_columns * i + j);
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i < whole_rows ? whole : 0; j < n_columns; j++) {
            double sum = 0.0;
            for (int64_t k = 0; k < n_between; k++)
                sum += a[n_between * i + k] * b[n_columns * k + j];
            out[n_columns * i + j] = sum;
        }
}

/* Products of some columns, from i and j on, over some rows, added to `out`. */
static void matrix_square_block(int64_t n, int64_t n_columns, const double *restrict x,
                                const double *restrict y, double *restrict out) {
    double sums[MATRIX_ROWS][MATRIX_COLUMNS];
    for (int r = 0; r < MATRIX_ROWS; r++)
        for (int c = 0; c < MATRIX_COLUMNS; c++) sums[r][c] = out[n_columns * r + c];
    for (int64_t row = 0; row < n; row++)
        for (int r = 0; r < MATRIX_ROWS; r++)
            for (int c = 0; c < MATRIX_COLUMNS; c++)
                sums[r][c] += x[n_columns * row + r] * y[n_columns * row + c];
    for (int r = 0; r < MATRIX_ROWS; r++)
        for (int c = 0; c < MATRIX_COLUMNS; c++) out[n_columns * r + c] = sums[r][c];
}

void ml_matrix_square(int64_t n, int64_t n_columns, const double *a, double *out) {
    for (int64_t first = 0; first < n; first += MATRIX_BATCH) {
        const double *rows = a + n_columns * first;
        int64_t count = n - first < MATRIX_BATCH ? n - first : MATRIX_BATCH;
        for (int64_t i = 0; i < n_columns; i += MATRIX_ROWS)
            for (int64_t j = i; j < n_columns; j += MATRIX_COLUMNS) {
                double *to = out + n_columns * i + j;
                if (i + MATRIX_ROWS <= n_columns && j + MATRIX_COLUMNS <= n_columns) {
                    matrix_square_block(count, n_columns, rows + i, rows + j, to);
                    continue;
                }
                for (int64_t r = 0; r < MATRIX_ROWS && i + r < n_columns; r++)
                    for (int64_t c = 0; c < MATRIX_COLUMNS && j + c < n_columns; c++)
                        for (int64_t row = 0; row < count; row++)
                            to[n_columns * r + c] +=
                                rows[n_columns * row + i + r] * rows[n_columns * row + j + c];
            }
    }
    for (int64_t i = 0; i < n_columns; i++)
        for (int64_t j = 0; j < i; j++) out[n_columns * i + j] = out[n_columns * j + i];
}

/* One step of the reduction: row i of the matrix, of which `v` holds the columns as rows, becomes
   three numbers wide. `d` is its vector. */
static void matrix_reflect(int64_t n, int64_t i, double *v, double *d, double *e) {
    double scale = 0.0, h = 0.0;
    for (int64_t k = 0; k < i; k++) scale += fabs(d[k]);
    if (!(scale > 0.0)) {
        e[i] = d[i - 1];
        for (int64_t j = 0; j < i; j++) {
            d[j] = v[n * j + i - 1];
            v[n * j + i] = v[n * i + j] = 0.0;
        }
        d[i] = 0.0;
        return;
    }
    for (int64_t k = 0; k < i; k++) {
        d[k] /= scale;
        h += d[k] * d[k];
    }
    double f = d[i - 1], g = f > 0.0 ? -sqrt(h) : sqrt(h);
    e[i] = scale * g;
    h -= f * g;
    d[i - 1] = f - g;
    for (int64_t j = 0; j < i; j++) e[j] = 0.0;
    for (int64_t j = 0; j < i; j++) {
        const double *column = v + n * j;
        f = d[j];
        v[n * i + j] = f;
        g = e[j] + column[j] * f;
        for (int64_t k = j + 1; k < i; k++) {
            g += column[k] * d[k];
            e[k] += column[k] * f;
        }
        e[j] = g;
    }
    f = 0.0;
    for (int64_t j = 0; j < i; j++) {
        e[j] /= h;
        f += e[j] * d[j];
    }
    double half = f / (h + h);
    for (int64_t j = 0; j < i; j++) e[j] -= half * d[j];
    for (int64_t j = 0; j < i; j++) {
        double *restrict column = v + n * j;
        f = d[j];
        g = e[j];
        for (int64_t k = j; k < i; k++) column[k] -= f * e[k] + g * d[k];
        d[j] = column[i - 1];
        column[i] = 0.0;
    }
    d[i] = h;
}

/* A symmetric matrix `v` as a product with a tridiagonal one: `d` is its diagonal, `e` what stands
   below it, from the second on; `v` becomes the rotation, its columns as rows. */
static void matrix_reduce(int64_t n, double *v, double *d, double *e) {
    for (int64_t j = 0; j < n; j++) d[j] = v[n * j + n - 1];
    for (int64_t i = n - 1; i > 0; i--) matrix_reflect(n, i, v, d, e);
    for (int64_t i = 0; i < n - 1; i++) {
        double *next = v + n * (i + 1), h = d[i + 1];
        v[n * i + n - 1] = v[n * i + i];
        v[n * i + i] = 1.0;
        if (h != 0.0) {
            for (int64_t k = 0; k <= i; k++) d[k] = next[k] / h;
            for (int64_t j = 0; j <= i; j++) {
                double *restrict column = v + n * j, g = 0.0;
                for (int64_t k = 0; k <= i; k++) g += next[k] * column[k];
                for (int64_t k = 0; k <= i; k++) column[k] -= g * d[k];
            }
        }
        for (int64_t k = 0; k <= i; k++) next[k] = 0.0;
    }
    for (int64_t j = 0; j < n; j++) {
        d[j] = v[n * j + n - 1];
        v[n * j + n - 1] = 0.0;
    }
    v[n * n - 1] = 1.0;
    e[0] = 0.0;
}

static double matrix_hypotenuse(double a, double b) {
    double x = fabs(a), y = fabs(b), large = ml_max(x, y), small = ml_min(x, y);
    if (!(large > 0.0)) return large;
    small /= large;
    return large * sqrt(1.0 + small * small);
}

/* One implicit QL step on numbers l to m of a tridiagonal matrix; gives the shift. */
static double matrix_step(int64_t n, int64_t l, int64_t m, double *v, double *d, double *e) {
    double g = d[l], p = (d[l + 1] - g) / (2.0 * e[l]), r = matrix_hypotenuse(p, 1.0);
    if (p < 0.0) r = -r;
    d[l] = e[l] / (p + r);
    d[l + 1] = e[l] * (p + r);
    double second = d[l + 1], shift = g - d[l], below = e[l + 1];
    for (int64_t i = l + 2; i < n; i++) d[i] -= shift;
    double c = 1.0, c2 = 1.0, c3 = 1.0, s = 0.0, s2 = 0.0;
    p = d[m];
    for (int64_t i = m - 1; i >= l; i--) {
        double *restrict a = v + n * i, *restrict b = v + n * (i + 1);
        c3 = c2;
        c2 = c;
        s2 = s;
        g = c * e[i];
        double h = c * p;
        r = matrix_hypotenuse(p, e[i]);
        e[i + 1] = s * r;
        s = e[i] / r;
        c = p / r;
        p = c * d[i] - s * g;
        d[i + 1] = h + s * (c * g + s * d[i]);
        for (int64_t k = 0; k < n; k++) {
            double x = a[k], y = b[k];
            b[k] = s * x + c * y;
            a[k] = c * x - s * y;
        }
    }
    p = -s * s2 * c3 * below * e[l] / second;
    e[l] = s * p;
    d[l] = c * p;
    return shift;
}

/* Eigenvalues of a tridiagonal matrix into `d`; rows of `v` become eigenvectors. */
static void matrix_solve(int64_t n, double *v, double *d, double *e) {
    double shift = 0.0, largest = 0.0;
    for (int64_t i = 1; i < n; i++) e[i - 1] = e[i];
    e[n - 1] = 0.0;
    for (int64_t l = 0; l < n; l++) {
        largest = ml_max(largest, fabs(d[l]) + fabs(e[l]));
        int64_t m = l;
        while (m < n - 1 && !(fabs(e[m]) <= 0x1p-52 * largest)) m++;
        for (int k = 0; m > l && k < MATRIX_STEPS; k++) {
            shift += matrix_step(n, l, m, v, d, e);
            if (!(fabs(e[l]) > 0x1p-52 * largest)) break;
        }
        d[l] += shift;
        e[l] = 0.0;
    }
}

void ml_matrix_eigen(int64_t n, const double *matrix, double *values, double *vectors,
                     double *scratch) {
    if (n < 1) return;
    memcpy(vectors, matrix, sizeof(double) * (size_t)(n * n));
    matrix_reduce(n, vectors, values, scratch);
    matrix_solve(n, vectors, values, scratch);
    for (int64_t i = 0; i < n - 1; i++) { /* ascending */
        int64_t least = i;
        for (int64_t j = i + 1; j < n; j++)
            if (values[j] < values[least]) least = j;
        if (least == i) continue;
        double held = values[i];
        values[i] = values[least];
        values[least] = held;
        for (int64_t k = 0; k < n; k++) {
            held = vectors[n * i + k];
            vectors[n * i + k] = vectors[n * least + k];
            vectors[n * least + k] = held;
        }
    }
}
