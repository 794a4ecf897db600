/* Walking along a registration curve, for the files that blend: how far each frame goes, and where
   the blend then stands. Both are decided by votes of the motions, counted by their weights. */

#ifndef MOTIONLOOM_BLEND_H
#define MOTIONLOOM_BLEND_H

#include "../math/elementary.h"

/* Whole part of x, from 0 to `last`; 0 for nan. */
static inline int64_t ml_row_below(double x, int64_t last) {
    double whole = floor(x);
    if (!(whole > 0.0)) return 0;
    return whole < (double)last ? (int64_t)whole : last;
}

/* Whether motions lie one after the other in `n_rows` rows, each with one row or more. */
static inline int ml_starts_fit(int64_t n_motions, const int64_t *starts, int64_t n_rows) {
    if (n_motions < 1 || starts[0] < 0 || starts[n_motions] > n_rows) return 0;
    for (int64_t k = 0; k < n_motions; k++)
        if (starts[k] >= starts[k + 1]) return 0;
    return 1;
}

/* Frame of motion k at u; straight past the ends. points: (n, n_motions), n >= 3 */
static inline double ml_curve_value(int64_t n, int64_t n_motions, const double *points, int64_t k,
                                    double u) {
    int64_t span = ml_row_below(u, n - 3);
    const double *at = points + span * n_motions + k;
    double t = u - (double)span, end = (double)(n - 2);
    double a = at[0], b = at[n_motions], c = at[2 * n_motions];
    if (u < 0.0) return 0.5 * (a + b) + u * (b - a);
    if (u > end) return 0.5 * (b + c) + (u - end) * (c - b);
    return 0.5 * ((1.0 - t) * (1.0 - t) * a + (1.0 + 2.0 * t - 2.0 * t * t) * b + t * t * c);
}

/* Parameter where motion k is at `value`, searched from `near`; straight past the ends. */
static inline double ml_curve_inverse(int64_t n, int64_t n_motions, const double *points, int64_t k,
                                      double value, double near) {
    const double *p = points + k; /* control point i is p[i * n_motions] */
    const double *tail = p + (n - 2) * n_motions;
    double first = 0.5 * (p[0] + p[n_motions]), last = 0.5 * (tail[0] + tail[n_motions]);
    if (value <= first) return (value - first) / (p[n_motions] - p[0]);
    if (value >= last) return (double)(n - 2) + (value - last) / (tail[n_motions] - tail[0]);
    int64_t span = ml_row_below(near, n - 3);
    p += span * n_motions;
    while (span > 0 && 0.5 * (p[0] + p[n_motions]) > value) {
        span--;
        p -= n_motions;
    }
    while (span < n - 3 && 0.5 * (p[n_motions] + p[2 * n_motions]) < value) {
        span++;
        p += n_motions;
    }
    double b = p[n_motions] - p[0];
    double a = 0.5 * (p[2 * n_motions] - p[n_motions] - b);
    double c = value - 0.5 * (p[0] + p[n_motions]);
    double root = sqrt(ml_max(b * b + 4.0 * a * c, 0.0));
    return (double)span + (b + root > 0.0 ? 2.0 * c / (b + root) : 0.0);
}

/* Sum of sizes, by which votes are divided. */
static inline double ml_sum_of_sizes(int64_t n, const double *weights) {
    double total = 0.0;
    for (int64_t k = 0; k < n; k++) total += fabs(weights[k]);
    return total;
}

/* Parameter after `frames` frames of the blend, as ml_walk_step. */
static inline double ml_parameter_after(int64_t n, int64_t n_motions, const double *points,
                                        const double *weights, double u, double frames, int euler) {
    const double h = 1e-6;
    double total = ml_sum_of_sizes(n_motions, weights), step = 0.0;
    for (int64_t k = 0; k < n_motions; k++) {
        double w = fabs(weights[k]) / total;
        if (!(w > 0.0)) continue;
        if (euler) {
            double slope = (ml_curve_value(n, n_motions, points, k, u + h) -
                            ml_curve_value(n, n_motions, points, k, u - h)) /
                           (2.0 * h);
            step += w * frames / slope;
        } else {
            double wanted = ml_curve_value(n, n_motions, points, k, u) + frames;
            step += w * (ml_curve_inverse(n, n_motions, points, k, wanted, u) - u);
        }
    }
    return u + step;
}

/* Turn, x and z of a frame from those of the frame before.
   was_turned, turned: (n)  was_slid, slid: (n, 2)   alignments of the motions, then and now
   roots: (n, 2)   after their alignment
   from, to: (3) */
static inline void ml_place_after(int64_t n, const double *was_turned, const double *was_slid,
                                  const double *turned, const double *slid, const double *roots,
                                  const double *weights, const double *from, double *to) {
    double total = ml_sum_of_sizes(n, weights), ox = 0.0, oz = 0.0;
    for (int64_t k = 0; k < n; k++) {
        double w = fabs(weights[k]) / total;
        ox += w * roots[2 * k];
        oz += w * roots[2 * k + 1];
    }
    double turn = from[0], x0 = from[1], z0 = from[2], phi = 0.0, px = 0.0, pz = 0.0;
    double c, s, cosine, sine;
    ml_sincos(turn, &sine, &cosine);
    for (int64_t k = 0; k < n; k++) {
        double w = weights[k];
        if (w == 0.0) continue;
        double d = was_turned[k] - turned[k];
        phi += w * (turn + d);
        /* The common point, back through this frame's alignment and on through the last one's. */
        double x = ox - slid[2 * k], z = oz - slid[2 * k + 1];
        ml_sincos(d, &s, &c);
        double gx = c * x + s * z + was_slid[2 * k];
        double gz = c * z - s * x + was_slid[2 * k + 1];
        px += w * (cosine * gx + sine * gz + x0);
        pz += w * (cosine * gz - sine * gx + z0);
    }
    ml_sincos(phi, &s, &c);
    to[0] = phi;
    to[1] = px - (c * ox + s * oz);
    to[2] = pz - (c * oz - s * ox);
}

#endif
