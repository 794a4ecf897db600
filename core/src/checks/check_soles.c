/* Slides, drags and hovering of heels and balls.

   Every sole point is measured on its own: rigs draw heels and balls at different heights, and a
   heel that lands is not a ball that drags. */

#include "check.h"

/* Slides of one contact, of frames `first` to `first + n - 1` of a point; `out` (ML_CHECK_SPANS) keeps
   the farthest. Boxes hold x, -x, z and -z, each the lowest of `width` frames from each on. */
static void sole_slide(const double *soles, int64_t first, int64_t n, int k, int64_t first_width,
                       double *boxes, double *out) {
    for (int64_t f = 0; f < n; f++) {
        double pad[3];
        const double *at = ml_check_point(soles, first + f, k, pad);
        boxes[4 * f] = at[0];
        boxes[4 * f + 1] = -at[0];
        boxes[4 * f + 2] = at[2];
        boxes[4 * f + 3] = -at[2];
    }
    int64_t width = 1;
    for (int span = 0; span < ML_CHECK_SPANS; span++) {
        int64_t wanted = span == ML_CHECK_SPANS - 1 ? n : first_width << span;
        if (wanted > n) wanted = n;
        while (width < wanted) {
            int64_t step = width < wanted - width ? width : wanted - width;
            for (int64_t f = 0; f < n - width - step + 1; f++)
                for (int c = 0; c < 4; c++)
                    boxes[4 * f + c] = ml_min(boxes[4 * f + c], boxes[4 * (f + step) + c]);
            width += step;
        }
        double farthest = 0.0; /* as a square */
        for (int64_t f = 0; f < n - width + 1; f++) {
            const double *box = boxes + 4 * f;
            farthest = ml_max(farthest, ml_square(box[0] + box[1]) + ml_square(box[2] + box[3]));
        }
        out[span] = ml_max(out[span], sqrt(farthest));
        if (width == n) { /* longer spans have the same */
            for (int longer = span + 1; longer < ML_CHECK_SPANS; longer++)
                out[longer] = ml_max(out[longer], sqrt(farthest));
            return;
        }
    }
}

void ml_sole_slides(int64_t n_frames, const double *soles, const uint8_t *planted, double fps,
                    double *boxes, double *out) {
    int64_t first_width = ml_check_frames(CHECK_SPAN_S, fps, 2);
    for (int k = 0; k < 4 * ML_CHECK_SPANS; k++) out[k] = 0.0;
    for (int k = 0; k < CHECK_POINTS; k++) {
        double *most = out + ml_check_row(k) * ML_CHECK_SPANS;
        int64_t t = 0;
        while (t < n_frames) {
            int64_t first = t;
            while (t < n_frames && planted[4 * t + ml_check_sole(k)]) t++;
            if (t - first >= ML_CHECK_SHORTEST_CONTACT)
                sole_slide(soles, first, t - first, k, first_width, boxes, most);
            if (t == first) t++;
        }
    }
}

void ml_sole_drags(int64_t n_frames, const double *soles, const double *floors, double fps,
                   double *out) {
    for (int i = 0; i < 4 * ML_CHECK_HEIGHTS; i++) out[i] = 0.0;
    for (int k = 0; k < CHECK_POINTS; k++) {
        double ways[ML_CHECK_HEIGHTS] = {0.0}, step,
               *longest = out + ML_CHECK_HEIGHTS * ml_check_row(k);
        for (int64_t t = 1; t < n_frames; t++) {
            int below = ml_check_drag(soles, floors, t, k, fps, &step);
            for (int h = 0; h < ML_CHECK_HEIGHTS; h++) {
                ways[h] = h >= below ? ways[h] + step : 0.0;
                longest[h] = ml_max(longest[h], ways[h]);
            }
        }
    }
}

double ml_sole_hover(int64_t n_frames, const double *soles, const double *lowest,
                     const double *mass, const double *floors, double fps, float *out) {
    double worst = 0.0;
    int64_t t = 0;
    while (t < n_frames) {
        int64_t first = t;
        while (t < n_frames && ml_check_is_off(soles, lowest, t, floors, fps)) t++;
        double gap = t > first ? ml_check_gap(n_frames, mass, first, t, fps, ML_CHECK_WARP) : 0.0;
        worst = ml_max(worst, gap);
        if (t == first) t++;
        for (int64_t s = first; out && s < t; s++) out[s] = (float)gap;
    }
    return worst;
}
