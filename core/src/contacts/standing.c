/* How feet stand: at which slide they stand most often, and medians of runs of frames. */

#include "../kernels.h"
#include "../math/median.h"

/* m/s. A point this slow counts half as standing when the slide is sought. */
#define STANDING_SLOW 0.1

/* Squares of speeds in units of STANDING_SLOW are no larger than this: four multiply in the range. */
#define STANDING_MOST 1e60
/* Points whose quotients are made one, and slides that are tried at once. */
#define STANDING_POINTS 4
#define STANDING_SLIDES 32

/* 1 + (what is left of a point's velocity / STANDING_SLOW)^2 is a parabola over the slide:
   a - slide (b - slide c). */
static void standing_parabola(const double *foot, const double *body, double *a, double *b,
                              double *c) {
    double own = 0.0, mixed = 0.0, whole = 0.0, sharp = 1.0 / (STANDING_SLOW * STANDING_SLOW);
    for (int axis = 0; axis < 3; axis++) {
        own += foot[axis] * foot[axis];
        mixed += foot[axis] * body[axis];
        whole += body[axis] * body[axis];
    }
    *a = 1.0 + ml_min(own * sharp, STANDING_MOST);
    *b = ml_clamp(2.0 * mixed * sharp, -STANDING_MOST, STANDING_MOST);
    *c = ml_min(whole * sharp, STANDING_MOST);
}

void ml_foot_standing(int64_t n_frames, int64_t n_points, const double *feet, const double *body,
                      int64_t n_slides, const double *slides, double *out) {
    const double *restrict tried = slides;
    double *restrict stood = out;
    int64_t n = n_frames * n_points;
    for (int64_t k = 0; k < n_slides; k++) stood[k] = 0.0;
    for (int64_t first = 0; first < n; first += STANDING_POINTS) {
        double a[STANDING_POINTS], b[STANDING_POINTS], c[STANDING_POINTS],
            left[STANDING_POINTS][STANDING_SLIDES];
        int64_t here = n - first < STANDING_POINTS ? n - first : STANDING_POINTS;
        for (int64_t p = 0; p < here; p++)
            standing_parabola(feet + 3 * (first + p), body + 3 * ((first + p) / n_points), a + p,
                              b + p, c + p);
        for (int64_t from = 0; from < n_slides; from += STANDING_SLIDES) {
            int64_t some = n_slides - from < STANDING_SLIDES ? n_slides - from : STANDING_SLIDES;
            for (int64_t p = 0; p < here; p++)
                for (int64_t k = 0; k < some; k++) {
                    double s = tried[from + k];
                    left[p][k] = ml_max(a[p] - s * (b[p] - s * c[p]), 1.0);
                }
            if (here == STANDING_POINTS) { /* one quotient: it takes as long as ten sums */
                for (int64_t k = 0; k < some; k++) {
                    double two = left[0][k] * left[1][k], others = left[2][k] * left[3][k];
                    double sum =
                        (left[0][k] + left[1][k]) * others + (left[2][k] + left[3][k]) * two;
                    stood[from + k] += sum / (two * others);
                }
                continue;
            }
            for (int64_t p = 0; p < here; p++)
                for (int64_t k = 0; k < some; k++) stood[from + k] += 1.0 / left[p][k];
        }
    }
}

ml_status ml_run_medians(int64_t n_frames, int64_t n_columns, const double *columns, int64_t n_runs,
                         const int64_t *runs, double *work, double *out) {
    for (int64_t r = 0; r < n_runs; r++) {
        int64_t first = runs[2 * r], last = runs[2 * r + 1];
        if (first < 0 || last < first || last >= n_frames) return ML_BAD_SIZE;
        for (int64_t c = 0; c < n_columns; c++) {
            for (int64_t t = first; t <= last; t++) work[t - first] = columns[t * n_columns + c];
            out[r * n_columns + c] = ml_median(work, last - first + 1);
        }
    }
    return ML_OK;
}
