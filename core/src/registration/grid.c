/* Distances between all frames of two clips, whatever their place and heading. */

#include "../kernels.h"
#include "../math/elementary.h"

/* The ground centre of a clip: the mean x and z of all its points. */
static void grid_centre(int64_t n, const double *points, double *x, double *z) {
    double sum_x = 0.0, sum_z = 0.0;
    for (int64_t k = 0; k < n; k++) {
        sum_x += points[3 * k];
        sum_z += points[3 * k + 2];
    }
    *x = sum_x / (double)n, *z = sum_z / (double)n;
}

/* One frame about that centre: its points times the roots of their weights, and the weighted means
   of x, of z and of the squared distance. */
static void grid_lay_out_frame(int64_t n_points, const double *restrict points, double centre_x,
                               double centre_z, const double *restrict weights,
                               const double *restrict root_weights, double *restrict ground,
                               double *restrict height, double *restrict means) {
    double mean_x = 0.0, mean_z = 0.0, energy = 0.0;
    for (int64_t p = 0; p < n_points; p++) {
        double x = points[3 * p] - centre_x, y = points[3 * p + 1];
        double z = points[3 * p + 2] - centre_z;
        ground[p] = root_weights[p] * x;
        ground[n_points + p] = root_weights[p] * z;
        height[p] = root_weights[p] * y;
        mean_x += weights[p] * x;
        mean_z += weights[p] * z;
        energy += weights[p] * (x * x + y * y + z * z);
    }
    means[0] = mean_x, means[1] = mean_z, means[2] = energy;
}

/* The means of one window, of those of the frames: frames beyond the ends are the end ones. */
static void grid_window(int64_t n_frames, int64_t i, int64_t half_window,
                        const double *restrict frames, double *restrict out) {
    double sums[3] = {0.0, 0.0, 0.0}, width = (double)(2 * half_window + 1);
    for (int64_t k = i - half_window; k <= i + half_window; k++) {
        int64_t at = k < 0 ? 0 : k >= n_frames ? n_frames - 1 : k;
        for (int c = 0; c < 3; c++) sums[c] += frames[3 * at + c];
    }
    for (int c = 0; c < 3; c++) out[c] = sums[c] / width;
}

ml_status ml_grid_lay_out(int64_t n_frames, int64_t n_points, int64_t half_window,
                          const double *points, const double *weights, const double *root_weights,
                          double *ground, double *heights, double *frames, double *windows,
                          double *centre) {
    if (n_frames < 1 || n_points < 1 || half_window < 0) return ML_BAD_SIZE;
    const size_t wide = sizeof(double) * (size_t)(2 * n_points);
    double centre_x, centre_z;
    grid_centre(n_frames * n_points, points, &centre_x, &centre_z);
    for (int64_t i = 0; i < n_frames; i++)
        grid_lay_out_frame(n_points, points + 3 * n_points * i, centre_x, centre_z, weights,
                           root_weights, ground + 2 * n_points * (half_window + i),
                           heights + n_points * (half_window + i), frames + 3 * i);
    for (int64_t k = 0; k < half_window; k++) { /* the end frames repeated */
        const int64_t before = half_window, last = half_window + n_frames - 1;
        memcpy(ground + 2 * n_points * k, ground + 2 * n_points * before, wide);
        memcpy(heights + n_points * k, heights + n_points * before, wide / 2);
        memcpy(ground + 2 * n_points * (last + 1 + k), ground + 2 * n_points * last, wide);
        memcpy(heights + n_points * (last + 1 + k), heights + n_points * last, wide / 2);
    }
    for (int64_t i = 0; i < n_frames; i++) {
        double means[3];
        grid_window(n_frames, i, half_window, frames, means);
        const double x = means[0], z = means[1];
        windows[i] = x, windows[n_frames + i] = z;
        windows[2 * n_frames + i] = means[2] - x * x - z * z;
        centre[2 * i] = x + centre_x, centre[2 * i + 1] = z + centre_z;
    }
    return ML_OK;
}

void ml_grid_turn(int64_t n_rows, int64_t n_points, const double *ground, double *turned) {
    for (int64_t i = 0; i < n_rows; i++, ground += 2 * n_points, turned += 2 * n_points)
        for (int64_t p = 0; p < n_points; p++) {
            turned[p] = ground[n_points + p];
            turned[n_points + p] = -ground[p];
        }
}

/* A frame of A, the means of its window, and the number of frames in a window inverted. */
typedef struct {
    double x, z, spread, scale;
} grid_frame;

/* The distance of a cell, of its sums. */
static inline double grid_distance(grid_frame a, double x_b, double z_b, double spread_b,
                                   double dots, double crosses, double heights) {
    double c = a.scale * dots - (a.x * x_b + a.z * z_b);
    double s = a.scale * crosses - (a.x * z_b - a.z * x_b);
    double left = (a.spread + spread_b) - 2.0 * (a.scale * heights + sqrt(c * c + s * s));
    return left > 0.0 ? left : 0.0;
}

/* The sum along the diagonal that begins at a cell. */
static double grid_diagonal(int64_t width, const double *product, int64_t stride) {
    double sum = 0.0;
    for (int64_t d = 0; d < width; d++) sum += product[d * (stride + 1)];
    return sum;
}

/* The distances of a row. The sums of the row before become its own: each loses a cell and gains
   one, so far ahead. */
static void grid_slide(int64_t m, int64_t ahead_ground, int64_t ahead_heights, grid_frame a,
                       const double *restrict windows_b, int64_t stride_b,
                       const double *restrict lost_dots, const double *restrict lost_crosses,
                       const double *restrict lost_heights, double *restrict dots,
                       double *restrict crosses, double *restrict heights, double *restrict cost) {
    const double *x_b = windows_b, *z_b = x_b + stride_b, *spread_b = z_b + stride_b;
    for (int64_t k = 0; k < m; k++) {
        double dot = dots[k] + (lost_dots[ahead_ground + k] - lost_dots[k]);
        double cross = crosses[k] + (lost_crosses[ahead_ground + k] - lost_crosses[k]);
        double height = heights[k] + (lost_heights[ahead_heights + k] - lost_heights[k]);
        dots[k] = dot, crosses[k] = cross, heights[k] = height;
        cost[k] = grid_distance(a, x_b[k], z_b[k], spread_b[k], dot, cross, height);
    }
}

ml_status ml_grid_sum_windows(int64_t n, int64_t m, int64_t half_window, const double *ground,
                              const double *heights, const double *x_a, const double *z_a,
                              const double *spread_a, const double *windows_b, double *work,
                              double *cost) {
    if (n < 1 || m < 1 || half_window < 0) return ML_BAD_SIZE;
    const int64_t width = 2 * half_window + 1, wide = m + 2 * half_window;
    for (int64_t i = 0; i < n; i++, ground += 2 * wide, heights += wide, cost += m) {
        const grid_frame a = {x_a[i], z_a[i], spread_a[i], 1.0 / (double)width};
        /* A sum stays where it is while its diagonal goes a row down and a column on. */
        double *dots = work + (n - 1 - i), *crosses = dots + (n + m), *lifts = crosses + (n + m);
        /* The first row, and the first of every other, have no neighbour to slide from. */
        for (int64_t k = 0; k < (i == 0 ? m : 1); k++) {
            dots[k] = grid_diagonal(width, ground + k, 2 * wide);
            crosses[k] = grid_diagonal(width, ground + wide + k, 2 * wide);
            lifts[k] = grid_diagonal(width, heights + k, wide);
            cost[k] = grid_distance(a, windows_b[k], windows_b[m + k], windows_b[2 * m + k],
                                    dots[k], crosses[k], lifts[k]);
        }
        if (i > 0)
            grid_slide(m - 1, width * (2 * wide + 1), width * (wide + 1), a, windows_b + 1, m,
                       ground - 2 * wide, ground - wide, heights - wide, dots + 1, crosses + 1,
                       lifts + 1, cost + 1);
    }
    return ML_OK;
}

/* Sums that are kept apart while a cell is summed, so that they need not wait for each other. */
#define GRID_LANES 4

/* Products of one frame of A and one of B, added to `dots` and `crosses`. */
static void grid_add_frames(int64_t n_points, const double *restrict a, const double *restrict b,
                            double *restrict dots, double *restrict crosses) {
    const double *x_a = a, *z_a = a + n_points, *x_b = b, *z_b = b + n_points;
    int64_t p = 0;
    for (; p + GRID_LANES <= n_points; p += GRID_LANES)
        for (int k = 0; k < GRID_LANES; k++) {
            dots[k] += x_a[p + k] * x_b[p + k] + z_a[p + k] * z_b[p + k];
            crosses[k] += x_a[p + k] * z_b[p + k] - z_a[p + k] * x_b[p + k];
        }
    for (int k = 0; p < n_points; p++, k++) {
        dots[k] += x_a[p] * x_b[p] + z_a[p] * z_b[p];
        crosses[k] += x_a[p] * z_b[p] - z_a[p] * x_b[p];
    }
}

ml_status ml_grid_turns(int64_t n_cells, const int64_t *rows, const int64_t *columns, int64_t n,
                        int64_t m, int64_t n_points, int64_t half_window, const double *ground_a,
                        const double *ground_b, const double *windows_a, const double *windows_b,
                        double *cross, double *dot) {
    if (n_cells < 0 || n < 1 || m < 1 || n_points < 1 || half_window < 0) return ML_BAD_SIZE;
    const double scale = 1.0 / (double)(2 * half_window + 1);
    for (int64_t c = 0; c < n_cells; c++) {
        const int64_t i = rows[c], j = columns[c];
        if (i < 0 || i >= n || j < 0 || j >= m) return ML_BAD_SIZE;
        double dots[GRID_LANES] = {0.0}, crosses[GRID_LANES] = {0.0};
        for (int64_t d = 0; d <= 2 * half_window; d++)
            grid_add_frames(n_points, ground_a + 2 * n_points * (i + d),
                            ground_b + 2 * n_points * (j + d), dots, crosses);
        const double x_a = windows_a[i], z_a = windows_a[n + i];
        const double x_b = windows_b[j], z_b = windows_b[m + j];
        dot[c] = scale * ((dots[0] + dots[1]) + (dots[2] + dots[3])) - (x_a * x_b + z_a * z_b);
        cross[c] = scale * ((crosses[0] + crosses[1]) + (crosses[2] + crosses[3])) -
                   (x_a * z_b - z_a * x_b);
    }
    return ML_OK;
}
