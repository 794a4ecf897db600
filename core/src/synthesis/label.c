/* Labels: which foot points are labelled as planted, by where they are in the end. */

#include "rows.h"

/* A point that goes faster than this is not planted, m/s. */
#define LABEL_STANDS 0.3
/* A planted point stays this close to where it is in the middle of its label, metres. */
#define LABEL_EXTENT 0.019

/* Distance of a point between two frames, metres. */
static double label_apart(const double *points, int64_t n_points, int64_t p, int64_t a, int64_t b) {
    double way[3];
    ml_between(points + 3 * (n_points * a + p), points + 3 * (n_points * b + p), way);
    return ml_length(way);
}

/* Remove labels from the first frame on, either way, that is too far from the middle one. */
static void label_keep_around(const double *points, int64_t n_points, int64_t p, int64_t first,
                              int64_t last, uint8_t *planted) {
    int64_t middle = (first + last) / 2;
    int near = 1;
    for (int64_t t = middle; t <= last; t++) {
        near = near && label_apart(points, n_points, p, t, middle) <= LABEL_EXTENT;
        planted[n_points * t + p] = (uint8_t)near;
    }
    near = 1;
    for (int64_t t = middle; t >= first; t--) {
        near = near && label_apart(points, n_points, p, t, middle) <= LABEL_EXTENT;
        planted[n_points * t + p] = (uint8_t)near;
    }
}

void ml_label_keep(int64_t n_frames, int64_t n_points, const double *points, double fps,
                   uint8_t *planted) {
    for (int64_t p = 0; p < n_points; p++) {
        int before = 0;
        for (int64_t t = 0; t < n_frames; t++) {
            uint8_t *label = planted + n_points * t + p;
            int now = *label != 0;
            if (before && now && label_apart(points, n_points, p, t, t - 1) > LABEL_STANDS / fps)
                *label = label[-n_points] = 0;
            before = now;
        }
        int64_t t = 0;
        while (t < n_frames) {
            int64_t first = t;
            while (t < n_frames && planted[n_points * t + p]) t++;
            if (t > first) label_keep_around(points, n_points, p, first, t - 1, planted);
            while (t < n_frames && !planted[n_points * t + p]) t++;
        }
    }
}
