/* Contacts: how fast planted points move, and how far they slide. */

#include "../kernels.h"
#include "../math/vector.h"

/* Speed of point i, counted over frames, to the next frame; -1 where it is not planted in both. */
static double contact_speed(int64_t n_frames, const double *points, const uint8_t *planted,
                            double fps, int64_t i) {
    if (i + 4 >= 4 * n_frames || !planted[i] || !planted[i + 4]) return -1.0;
    double step[3];
    ml_between(points + 3 * i + 12, points + 3 * i, step);
    return fps * ml_length(step);
}

void ml_contact_speeds(int64_t n_frames, const double *points, const uint8_t *planted, double fps,
                       double *out) {
    for (int64_t i = 0; i < 4 * n_frames; i++)
        out[i] = contact_speed(n_frames, points, planted, fps, i);
}

ml_status ml_contact_fastest(int64_t n_frames, const double *points, const uint8_t *planted,
                             double fps, int64_t n_labels, const int64_t *labels, double *out) {
    for (int64_t k = 0; k < n_labels; k++) {
        const int64_t *label = labels + 3 * k;
        if (label[0] < 0 || label[0] > 3 || label[1] < 0 || label[2] >= n_frames)
            return ML_BAD_SIZE;
        out[k] = -1.0;
        for (int64_t f = label[1]; f <= label[2]; f++)
            out[k] =
                ml_max(out[k], contact_speed(n_frames, points, planted, fps, 4 * f + label[0]));
    }
    return ML_OK;
}

void ml_contact_misses(int64_t n_frames, const double *before, const double *after,
                       const uint8_t *held, const double *left, const double *right,
                       const double *ground, const double *shift, double missed, double *out) {
    double n_missed = 0.0, most = 0.0, deep = 0.0, deeper = 0.0, far = 0.0;
    for (int64_t f = 0; f < n_frames; f++) {
        int any = 0;
        for (int k = 0; k < 4; k++) {
            const double *place = (k < 2 ? left : right) + 6 * f + 3 * (k % 2);
            int64_t i = 4 * f + k;
            deep = ml_max(deep, ground[i] - before[3 * i + 1]);
            deeper = ml_max(deeper, ground[i] - after[3 * i + 1]);
            if (!held[i]) continue;
            double gap[3];
            ml_between(after + 3 * i, place, gap);
            double miss = ml_length(gap);
            any |= miss > missed;
            most = ml_max(most, miss);
        }
        n_missed += any;
        far = ml_max(far, ml_dot(shift + 3 * f, shift + 3 * f));
    }
    out[0] = n_missed;
    out[1] = most;
    out[2] = deep;
    out[3] = deeper;
    out[4] = far;
}

/* Distance over the ground between the two farthest places of a point from `first` to `last`. The
   farthest pair is nearly always the farthest from the first frame with its own farthest. */
static double contact_slide(const double *points, int64_t kind, int64_t first, int64_t last) {
    int64_t at = first;
    double far = 0.0;
    for (int k = 0; k < 2; k++) {
        const double *start = points + 12 * at + 3 * kind;
        far = 0.0;
        for (int64_t f = first; f <= last; f++) {
            const double *now = points + 12 * f + 3 * kind;
            double x = now[0] - start[0], z = now[2] - start[2];
            if (x * x + z * z > far) {
                at = f;
                far = x * x + z * z;
            }
        }
    }
    return sqrt(far);
}

/* The slides of one contact before and after, added to those of its other parts. */
static void contact_add(const double *before, const double *after, int64_t kind, int64_t first,
                        int64_t last, double *slides) {
    slides[0] = ml_max(slides[0], contact_slide(before, kind, first, last));
    slides[1] = ml_max(slides[1], contact_slide(after, kind, first, last));
}

ml_status ml_contact_slides(int64_t n_frames, const double *before, const double *after,
                            const uint8_t *held, int64_t n_holds, const int64_t *holds,
                            int64_t *out, double *slides) {
    for (int64_t i = 0; i < n_holds; i++) {
        const int64_t *hold = holds + 6 * i;
        if (hold[0] < 0 || hold[0] > 3) return ML_BAD_SIZE;
        for (int k = 1; k < 5; k += 2)
            if (hold[k] < 0 || hold[k + 1] < hold[k] || hold[k + 1] >= n_frames) return ML_BAD_SIZE;
    }
    for (int64_t i = 0; i < n_holds; i++) {
        const int64_t *hold = holds + 6 * i;
        int64_t kind = hold[0], *span = out + 2 * i;
        double *slide = slides + 4 * i;
        span[0] = span[1] = -1;
        slide[0] = slide[1] = slide[2] = slide[3] = 0.0;
        for (int64_t f = hold[3]; hold[5] && f <= hold[4]; f++) {
            int64_t first = f;
            while (f <= hold[4] && held[4 * f + kind]) f++;
            if (f == first) continue;
            if (span[0] < 0) span[0] = first;
            span[1] = f - 1;
            contact_add(before, after, kind, first, f - 1, slide);
        }
        contact_add(before, after, kind, hold[1], hold[2], slide + 2);
        if (span[0] < 0)
            for (int k = 0; k < 2; k++) slide[k] = slide[2 + k];
    }
    return ML_OK;
}
