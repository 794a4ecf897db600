/* What a source does in the frames that were copied from it. */

#include "check.h"

static ml_status copied_fits(int64_t n_own, int64_t n_frames, int64_t first, int64_t start,
                             int64_t n) {
    return n < 0 || first < 0 || start < 0 || first + n > n_frames || start + n > n_own;
}

ml_status ml_copied_joints(int64_t n_own, int64_t n_checked, const double *turn,
                           const double *speed, const double *bend, int64_t n_frames,
                           int64_t first, int64_t start, int64_t n, double more, double *out) {
    const double *own[3] = {turn, speed, bend};
    if (copied_fits(n_own, n_frames, first, start, n)) return ML_BAD_SIZE;
    for (int64_t t = 0; t < n; t++) {
        int64_t at = start + t, before = at > 0 ? at - 1 : 0, after = at + 1 < n_own ? at + 1 : at;
        double *row = out + 3 * n_checked * (first + t);
        for (int64_t j = 0; j < n_checked; j++)
            for (int c = 0; c < 3; c++) {
                const double *values = own[c] + j;
                double most = ml_max(values[n_checked * before], values[n_checked * at]);
                row[3 * j + c] = more * ml_max(most, values[n_checked * after]);
            }
    }
    return ML_OK;
}

/* Extent over the ground, metres. */
static double copied_box(int64_t n, const double *points, int64_t size) {
    double low[2], high[2];
    for (int c = 0; c < 2; c++) low[c] = high[c] = points[2 * c];
    for (int64_t t = 1; t < n; t++)
        for (int c = 0; c < 2; c++) {
            low[c] = ml_min(low[c], points[size * t + 2 * c]);
            high[c] = ml_max(high[c], points[size * t + 2 * c]);
        }
    return sqrt(ml_square(high[0] - low[0]) + ml_square(high[1] - low[1]));
}

ml_status ml_copied_grounds(int64_t n_own, const double *soles, int64_t n_frames,
                            const uint8_t *planted, int64_t first, int64_t start, int64_t n,
                            int64_t near, double sink, double more, double *out) {
    if (near < 0 || copied_fits(n_own, n_frames, first, start, n)) return ML_BAD_SIZE;
    for (int64_t k = 0; k < 4; k++) {
        const double *own = soles + 3 * k;
        int64_t begun = -1, lowest = -1;
        for (int64_t t = 0; t <= n; t++) {
            int64_t at = first + t, from = start + t;
            int stands = t < n && planted[4 * at + k];
            if (!stands) {
                if (begun < 0) continue;
                /* A contact that is wholly copied may slide as far as it does in the source. */
                int64_t here = first + begun;
                int goes_on = (here > 0 && planted[4 * (here - 1) + k]) ||
                              (at < n_frames && planted[4 * at + k]);
                if (!goes_on)
                    out[12 * here + 3 * k + 1] =
                        more * copied_box(t - begun, own + 12 * (start + begun), 12);
                begun = -1;
                continue;
            }
            if (begun < 0) begun = t;
            int64_t low = from > near ? from - near : 0;
            int64_t high = from + near < n_own ? from + near : n_own - 1;
            if (lowest < low || lowest > high || t == begun) {
                lowest = low; /* the lowest so far is too long ago: look at all again */
                for (int64_t s = low + 1; s <= high; s++)
                    if (own[12 * s + 1] <= own[12 * lowest + 1]) lowest = s;
            } else if (own[12 * high + 1] <= own[12 * lowest + 1]) {
                lowest = high;
            }
            out[12 * at + 3 * k] = own[12 * lowest + 1] - sink;
        }
    }
    return ML_OK;
}

ml_status ml_copied_drags(int64_t n_own, const double *soles, const double *floors, double fps,
                          int64_t n_frames, int64_t first, int64_t start, int64_t n, int64_t near,
                          double more, double *out) {
    if (near < 0 || copied_fits(n_own, n_frames, first, start, n)) return ML_BAD_SIZE;
    for (int k = 0; k < 4; k++) {
        for (int64_t t = 0; t < n; t++) out[12 * (first + t) + 3 * k + 2] = 0.0;
        for (int64_t from = 1; from < n_own; from++) {
            int64_t to = from;
            double way = 0.0;
            for (; to < n_own && ml_check_is_dragged(soles, floors, to, k, fps); to++)
                way += ml_check_way(soles + 12 * to + 3 * k, soles + 12 * (to - 1) + 3 * k);
            if (to == from) continue;
            int64_t low = from - near - start, high = to + near - start; /* in copied frames */
            for (int64_t t = low > 0 ? low : 0; t < n && t < high; t++) {
                double *most = out + 12 * (first + t) + 3 * k + 2;
                *most = ml_max(*most, more * way);
            }
            from = to;
        }
    }
    return ML_OK;
}
