/* Distances between all frames of two clips, whatever their place and heading. */

#include "../motionloom.h"
#include "elementary.h"

/* One frame of that: its row, and its three means, `stride` apart. */
static void grid_lay_out_frame(int64_t n_points, const double *restrict points, double mean_x,
                               double mean_z, const double *restrict weights,
                               const double *restrict root_weights, double *restrict row,
                               int64_t stride, double *restrict out) {
    double centre_x = 0.0, centre_z = 0.0, energy = 0.0;
    for (int64_t p = 0; p < n_points; p++) {
        double x = points[3 * p] - mean_x, y = points[3 * p + 1], z = points[3 * p + 2] - mean_z;
        row[p] = root_weights[p] * x;
        row[n_points + p] = root_weights[p] * z;
        row[2 * n_points + p] = root_weights[p] * y;
        centre_x += weights[p] * x;
        centre_z += weights[p] * z;
        energy += weights[p] * (x * x + y * y + z * z);
    }
    out[0] = centre_x, out[stride] = centre_z, out[2 * stride] = energy;
}

ml_status ml_grid_lay_out(int64_t n_frames, int64_t n_points, const double *points,
                          const double *weights, const double *root_weights, double *rows,
                          double *frames, double *means) {
    if (n_frames < 1 || n_points < 1) return ML_BAD_SIZE;
    double mean_x = 0.0, mean_z = 0.0, size = (double)(n_frames * n_points);
    for (int64_t k = 0; k < n_frames * n_points; k++) {
        mean_x += points[3 * k];
        mean_z += points[3 * k + 2];
    }
    mean_x /= size, mean_z /= size;
    for (int64_t i = 0; i < n_frames; i++)
        grid_lay_out_frame(n_points, points + 3 * n_points * i, mean_x, mean_z, weights,
                           root_weights, rows + 3 * n_points * i, n_frames, frames + i);
    means[0] = mean_x, means[1] = mean_z;
    return ML_OK;
}

/* A frame of A: the means of its window. */
typedef struct {
    double x, z, spread;
} grid_frame;

/* The distances of a row, of the sums along its diagonals. */
static void grid_distances(int64_t m, double scale, grid_frame a, const double *restrict x_b,
                           const double *restrict z_b, const double *restrict spread_b,
                           const double *restrict dots, const double *restrict crosses,
                           const double *restrict heights, double *restrict cost,
                           double *restrict cross, double *restrict dot) {
    for (int64_t k = 0; k < m; k++) {
        double c = scale * dots[k] - (a.x * x_b[k] + a.z * z_b[k]);
        double s = scale * crosses[k] - (a.x * z_b[k] - a.z * x_b[k]);
        double left = (a.spread + spread_b[k]) - 2.0 * (scale * heights[k] + sqrt(c * c + s * s));
        dot[k] = c;
        cross[k] = s;
        cost[k] = left > 0.0 ? left : 0.0;
    }
}

/* The sums along the diagonals of a row, from those of the row before: each gains a cell and loses
   one. The first of the row has no neighbour to slide from and is summed anew. */
static void grid_slide(int64_t m, int64_t width, const double *product, int64_t stride,
                       const double *restrict last, double *restrict sums) {
    const double *lose = product - stride, *gain = product + (width - 1) * stride + width;
    sums[0] = 0.0;
    for (int64_t d = 0; d < width; d++) sums[0] += product[d * stride + d];
    for (int64_t k = 0; k < m - 1; k++) sums[k + 1] = last[k] + (gain[k] - lose[k]);
}

/* The sums along the diagonals of the first row. */
static void grid_begin(int64_t m, int64_t width, const double *product, int64_t stride,
                       double *restrict sums) {
    for (int64_t k = 0; k < m; k++) sums[k] = 0.0;
    for (int64_t d = 0; d < width; d++)
        for (int64_t k = 0; k < m; k++) sums[k] += product[d * stride + d + k];
}

ml_status ml_grid_sum_windows(int64_t n, int64_t m, int64_t half_window, const double *dots,
                              const double *crosses, const double *heights, const double *x_a,
                              const double *z_a, const double *spread_a, const double *x_b,
                              const double *z_b, const double *spread_b, double *work, double *cost,
                              double *cross, double *dot) {
    if (n < 1 || m < 1 || half_window < 0) return ML_BAD_SIZE;
    const int64_t width = 2 * half_window + 1, stride = m + 2 * half_window;
    const double *products[3] = {dots, crosses, heights}, scale = 1.0 / (double)width;
    double *last = work, *sums = work + 3 * m;
    for (int64_t i = 0; i < n; i++) {
        for (int q = 0; q < 3; q++) {
            const double *product = products[q] + i * stride;
            if (i == 0)
                grid_begin(m, width, product, stride, sums + q * m);
            else
                grid_slide(m, width, product, stride, last + q * m, sums + q * m);
        }
        const grid_frame a = {x_a[i], z_a[i], spread_a[i]};
        grid_distances(m, scale, a, x_b, z_b, spread_b, sums, sums + m, sums + 2 * m, cost + i * m,
                       cross + i * m, dot + i * m);
        double *swap = last;
        last = sums, sums = swap;
    }
    return ML_OK;
}
