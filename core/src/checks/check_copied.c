/* What a source does in the frames that were copied from it. */

#include "check.h"

static ml_status copied_fits(int64_t n_own, int64_t n_frames, int64_t first, int64_t start,
                             int64_t n) {
    return n < 0 || first < 0 || start < 0 || first + n > n_frames || start + n > n_own;
}

ml_status ml_copied_joints(int64_t n_own, int64_t n_checked, const double *turn,
                           const double *speed, const double *bend, int64_t n_frames, int64_t first,
                           int64_t start, int64_t n, double more, double *out) {
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

/* Extent over the ground of tested point k in n frames, metres. */
static double copied_box(const double *soles, int64_t first, int64_t n, int k) {
    double low[2] = {HUGE_VAL, HUGE_VAL}, high[2] = {-HUGE_VAL, -HUGE_VAL}, pad[3];
    for (int64_t t = 0; t < n; t++) {
        const double *point = ml_check_point(soles, first + t, k, pad);
        for (int c = 0; c < 2; c++) {
            low[c] = ml_min(low[c], point[2 * c]);
            high[c] = ml_max(high[c], point[2 * c]);
        }
    }
    return sqrt(ml_square(high[0] - low[0]) + ml_square(high[1] - low[1]));
}

ml_status ml_copied_grounds(int64_t n_own, const double *soles, int64_t n_frames,
                            const uint8_t *planted, int64_t first, int64_t start, int64_t n,
                            int64_t near, double sink, double more, double *out) {
    if (near < 0 || copied_fits(n_own, n_frames, first, start, n)) return ML_BAD_SIZE;
    for (int k = 0; k < CHECK_POINTS; k++) {
        const double *own = soles + 3 * ml_check_sole(k);
        const uint8_t *column = planted + ml_check_sole(k);
        int64_t begun = -1, lowest = -1;
        for (int64_t t = 0; t <= n; t++) {
            int64_t at = first + t, from = start + t;
            int stands = t < n && column[4 * at];
            if (!stands) {
                if (begun < 0) continue;
                /* A contact that is wholly copied may slide as far as it does in the source. */
                int64_t here = first + begun;
                int goes_on =
                    (here > 0 && column[4 * (here - 1)]) || (at < n_frames && column[4 * at]);
                if (!goes_on)
                    out[CHECK_GROUNDS * (CHECK_POINTS * here + k) + 1] =
                        more * copied_box(soles, start + begun, t - begun, k);
                begun = -1;
                continue;
            }
            if (begun < 0) begun = t;
            if (k >= 4) continue; /* heights are those of the ends of heels */
            int64_t low = from > near ? from - near : 0;
            int64_t high = from + near < n_own ? from + near : n_own - 1;
            if (lowest < low || lowest > high || t == begun) {
                lowest = low; /* the lowest so far is too long ago: look at all again */
                for (int64_t s = low + 1; s <= high; s++)
                    if (own[12 * s + 1] <= own[12 * lowest + 1]) lowest = s;
            } else if (own[12 * high + 1] <= own[12 * lowest + 1]) {
                lowest = high;
            }
            out[CHECK_GROUNDS * (CHECK_POINTS * at + k)] = own[12 * lowest + 1] - sink;
        }
    }
    return ML_OK;
}

ml_status ml_copied_drags(int64_t n_own, const double *soles, const double *floors, double fps,
                          int64_t n_frames, int64_t first, int64_t start, int64_t n, int64_t near,
                          double more, double *out) {
    if (near < 0 || copied_fits(n_own, n_frames, first, start, n)) return ML_BAD_SIZE;
    int64_t wide = CHECK_GROUNDS * CHECK_POINTS;
    for (int i = 0; i < CHECK_POINTS * ML_CHECK_HEIGHTS; i++) {
        int k = i / ML_CHECK_HEIGHTS, h = i % ML_CHECK_HEIGHTS;
        double *own = out + wide * first + CHECK_GROUNDS * k + 2 + h;
        for (int64_t t = 0; t < n; t++) own[wide * t] = 0.0;
        for (int64_t from = 1; from < n_own; from++) {
            int64_t to = from;
            double way = 0.0, step;
            for (; to < n_own && ml_check_drag(soles, floors, to, k, fps, &step) <= h; to++)
                way += step;
            if (to == from) continue;
            int64_t low = from - near - start, high = to + near - start; /* in copied frames */
            for (int64_t t = low > 0 ? low : 0; t < n && t < high; t++) {
                double *most = own + wide * t;
                *most = ml_max(*most, more * way);
            }
            from = to;
        }
    }
    return ML_OK;
}
