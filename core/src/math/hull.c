/* Hulls of soles, and distances from them. */

#include "hull.h"

#include <math.h>

#include "../kernels.h"
#include "simd8.h"

void ml_hull_sole(const float *plant, const float *sole, float *out) {
    float x = plant[0], z = plant[1], dx = plant[2], dz = plant[3];
    for (int end = 0; end < 2; end++) {
        float along = end == 0 ? -sole[0] : sole[1];
        for (int edge = 0; edge < 2; edge++) {
            float across = edge == 0 ? -sole[2] : sole[2];
            *out++ = x + along * dx - across * dz;
            *out++ = z + along * dz + across * dx;
        }
    }
}

/* Above 0 where the path over the last two of k corners to a point turns left. */
static float hull_turn(const float *corners, int64_t k, const float *point) {
    const float *a = corners + 2 * (k - 2), *b = corners + 2 * (k - 1);
    return (b[0] - a[0]) * (point[1] - a[1]) - (b[1] - a[1]) * (point[0] - a[0]);
}

/* Andrew's monotone chain. Rounding, and points that are no numbers, may make more turns than there
   are points: then the last ones are left out. */
int64_t ml_hull_corners(int64_t n, float *restrict points, float *restrict out) {
    for (int64_t i = 1; i < n; i++) {
        float x = points[2 * i], z = points[2 * i + 1];
        int64_t j = i;
        while (j > 0 &&
               (points[2 * j - 2] > x || (points[2 * j - 2] == x && points[2 * j - 1] > z))) {
            points[2 * j] = points[2 * j - 2];
            points[2 * j + 1] = points[2 * j - 1];
            j--;
        }
        points[2 * j] = x;
        points[2 * j + 1] = z;
    }
    int64_t k = 0;
    for (int64_t i = 0; i < n; i++) {
        while (k >= 2 && !(hull_turn(out, k, points + 2 * i) > 0.0f)) k--;
        out[2 * k] = points[2 * i];
        out[2 * k + 1] = points[2 * i + 1];
        k++;
    }
    int64_t lower = k + 1;
    for (int64_t i = n - 2; i >= 0; i--) {
        while (k >= lower && !(hull_turn(out, k, points + 2 * i) > 0.0f)) k--;
        if (k > n) break;
        out[2 * k] = points[2 * i];
        out[2 * k + 1] = points[2 * i + 1];
        k++;
    }
    int64_t least = n < 1 ? n : 1;
    return k - 1 > least ? k - 1 : least;
}

/* Above 0 where points lie beyond the edge from a to b. */
static ml_lanes hull_beyond(const float *a, const float *b, ml_lanes x, ml_lanes z) {
    ml_lanes dx = ml_lanes_subtract(x, ml_lanes_fill(a[0]));
    ml_lanes dz = ml_lanes_subtract(z, ml_lanes_fill(a[1]));
    return ml_lanes_subtract(ml_lanes_scale(dx, b[1] - a[1]), ml_lanes_scale(dz, b[0] - a[0]));
}

/* Squared distances of points from the edge from a to b. */
static ml_lanes hull_square(const float *a, const float *b, ml_lanes x, ml_lanes z) {
    float ex = b[0] - a[0], ez = b[1] - a[1], size = ex * ex + ez * ez;
    float part = size > 0.0f ? 1.0f / size : 0.0f;
    ml_lanes dx = ml_lanes_subtract(x, ml_lanes_fill(a[0]));
    ml_lanes dz = ml_lanes_subtract(z, ml_lanes_fill(a[1]));
    ml_lanes u = ml_lanes_add(ml_lanes_scale(dx, ex), ml_lanes_scale(dz, ez));
    u = ml_lanes_max(ml_lanes_zero(), ml_lanes_scale(u, part));
    u = ml_lanes_min(ml_lanes_fill(1.0f), u);
    ml_lanes gx = ml_lanes_subtract(dx, ml_lanes_scale(u, ex));
    ml_lanes gz = ml_lanes_subtract(dz, ml_lanes_scale(u, ez));
    return ml_lanes_add_product(ml_lanes_multiply(gx, gx), gz, gz);
}

/* Squared distances of eight points from a convex polygon, 0 inside. */
static ml_lanes hull_squares(int64_t n_corners, const float *corners, ml_lanes x, ml_lanes z) {
    ml_lanes zero = ml_lanes_zero(), least = ml_lanes_fill(HUGE_VALF), most = zero;
    if (n_corners < 3) most = ml_lanes_fill(1.0f);
    for (int64_t i = 0; n_corners >= 3 && i < n_corners; i++) {
        int64_t next = i + 1 < n_corners ? i + 1 : 0;
        most = ml_lanes_max(most, hull_beyond(corners + 2 * i, corners + 2 * next, x, z));
    }
    if (!ml_lanes_any(most)) return zero;
    for (int64_t i = 0; i < n_corners; i++) {
        const float *a = corners + 2 * i, *b = corners + (i + 1 < n_corners ? 2 * i + 2 : 0);
        ml_lanes square = ml_lanes_min(least, hull_square(a, b, x, z));
        /* Of a polygon only edges count that the point lies beyond. */
        if (n_corners >= 3)
            square = ml_lanes_where_less(zero, hull_beyond(a, b, x, z), square, least);
        least = square;
    }
    return ml_lanes_where_less(zero, most, least, zero);
}

void ml_hull_outside(int64_t n_corners, const float *corners, int64_t n, const float *x,
                     const float *z, float *out) {
    for (int64_t t = 0; t < n; t += ML_LANES) {
        float points[2][ML_LANES] = {{0.0f}}, square[ML_LANES];
        int64_t count = n - t < ML_LANES ? n - t : ML_LANES;
        if (count == ML_LANES) {
            ml_lanes_store(
                hull_squares(n_corners, corners, ml_lanes_load(x + t), ml_lanes_load(z + t)),
                square);
        } else { /* nothing is read beyond the last point */
            for (int64_t k = 0; k < count; k++) {
                points[0][k] = x[t + k];
                points[1][k] = z[t + k];
            }
            ml_lanes_store(hull_squares(n_corners, corners, ml_lanes_load(points[0]),
                                        ml_lanes_load(points[1])),
                           square);
        }
        for (int64_t k = 0; k < count; k++) out[t + k] = square[k] > 0.0f ? sqrtf(square[k]) : 0.0f;
    }
}

void ml_sole_corners(int64_t n, const float *plants, const float *sole, float *out) {
    for (int64_t k = 0; k < n; k++) ml_hull_sole(plants + 4 * k, sole, out + 8 * k);
}

int64_t ml_hull_find(int64_t n, float *points, float *corners) {
    return ml_hull_corners(n, points, corners);
}

void ml_hull_distance(int64_t n_corners, const float *corners, int64_t n, const float *x,
                      const float *z, float *out) {
    ml_hull_outside(n_corners, corners, n, x, z, out);
}

void ml_hull_of_feet(int64_t n, const float *soles, const uint8_t *stands, float *corners,
                     int64_t *counts) {
    for (int64_t f = 0; f < n; f++) {
        float points[16];
        int64_t count = 0;
        for (int foot = 0; foot < 2; foot++) {
            if (!stands[2 * f + foot]) continue;
            for (int c = 0; c < 8; c++) points[2 * count + c] = soles[16 * f + 8 * foot + c];
            count += 4;
        }
        counts[f] = ml_hull_corners(count, points, corners + 20 * f);
    }
}

/* As ml_hull_outside, of one point. */
static float hull_one(int64_t n_corners, const float *corners, float x, float z) {
    float least = HUGE_VALF;
    int is_outside = n_corners < 3;
    for (int64_t i = 0; i < n_corners; i++) {
        const float *a = corners + 2 * i, *b = corners + (i + 1 < n_corners ? 2 * i + 2 : 0);
        float ex = b[0] - a[0], ez = b[1] - a[1], dx = x - a[0], dz = z - a[1];
        if (n_corners >= 3 && !(dx * ez - dz * ex > 0.0f)) continue;
        is_outside = 1;
        float size = ex * ex + ez * ez, part = size > 0.0f ? 1.0f / size : 0.0f;
        float u = (dx * ex + dz * ez) * part;
        u = u > 0.0f ? u : 0.0f;
        u = u < 1.0f ? u : 1.0f;
        float gx = dx - u * ex, gz = dz - u * ez, square = gx * gx + gz * gz;
        if (square < least) least = square;
    }
    return is_outside ? sqrtf(least) : 0.0f;
}

ml_status ml_hull_misses(int64_t n, const float *points, const float *corners,
                         const int64_t *counts, double *out) {
    for (int64_t f = 0; f < n; f++)
        if (counts[f] < 0 || counts[f] > 10) return ML_BAD_SIZE;
    for (int64_t f = 0; f < n; f++)
        out[f] = (double)hull_one(counts[f], corners + 20 * f, points[2 * f], points[2 * f + 1]);
    return ML_OK;
}
