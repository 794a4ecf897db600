/* The root: shifted as little as needed for every held ankle to be within reach. */

#include "../kernels.h"
#include "../math/vector.h"

/* Quick changes of a leg's length up to about this are tremble, which the root takes over, metres;
   of larger ones ever less, for they would jerk the whole body. */
#define ROOT_TREMBLE_M 0.004
/* Keeps legs that are parallel from asking for a large sideways shift. */
#define ROOT_RIDGE 0.1
/* Less than this is rounding, metres. */
#define ROOT_SLACK_M 1e-12

/* The point of a ball nearest the origin. */
static void root_onto_ball(const double *centre, double radius, double *out) {
    double far = ml_length(centre);
    for (int c = 0; c < 3; c++)
        out[c] = far <= radius ? 0.0 : centre[c] + -centre[c] * (radius / far);
}

static double root_apart(const double *a, const double *b) {
    double way[3];
    ml_between(a, b, way);
    return ml_length(way);
}

/* The point nearest the origin that lies in both balls; where they do not meet, the point between
   them that misses both by the same amount. */
static void root_into_both(const double *c1, double r1, const double *c2, double r2, double *out) {
    double second[3], axis[3], middle[3], side[3];
    root_onto_ball(c1, r1, out);
    if (root_apart(out, c2) <= r2 + ROOT_SLACK_M) return;
    root_onto_ball(c2, r2, second);
    if (root_apart(second, c1) <= r1 + ROOT_SLACK_M) {
        for (int c = 0; c < 3; c++) out[c] = second[c];
        return;
    }
    double apart = root_apart(c2, c1);
    if (apart <= ROOT_SLACK_M) return;
    for (int c = 0; c < 3; c++) axis[c] = (c2[c] - c1[c]) / apart;
    if (apart >= r1 + r2) {
        for (int c = 0; c < 3; c++) out[c] = c1[c] + axis[c] * (r1 + 0.5 * (apart - r1 - r2));
        return;
    }
    double along = (apart * apart + r1 * r1 - r2 * r2) / (2.0 * apart);
    for (int c = 0; c < 3; c++) middle[c] = c1[c] + axis[c] * along;
    double ring = sqrt(ml_max(r1 * r1 - along * along, 0.0)), off = -ml_dot(middle, axis);
    for (int c = 0; c < 3; c++) side[c] = -middle[c] - axis[c] * off;
    double size = ml_length(side);
    if (size <= ROOT_SLACK_M) { /* the origin is on the axis: any point of the ring is as near */
        int k = 0;
        for (int c = 1; c < 3; c++)
            if (fabs(axis[c]) < fabs(axis[k])) k = c;
        for (int c = 0; c < 3; c++) side[c] = (c == k ? 1.0 : 0.0) - axis[c] * axis[k];
        size = ml_length(side);
    }
    for (int c = 0; c < 3; c++) out[c] = middle[c] + side[c] * (ring / size);
}

void ml_root_least_shift(int64_t n_frames, const double *hips, const double *ankles,
                         const double *reach, const uint8_t *held, double *out) {
    for (int64_t f = 0; f < n_frames; f++) {
        const uint8_t *stands = held + 2 * f;
        double way[2][3], *shift = out + 3 * f;
        int within = 1;
        for (int k = 0; k < 2; k++) {
            ml_between(ankles + 6 * f + 3 * k, hips + 6 * f + 3 * k, way[k]);
            within &= !stands[k] || ml_dot(way[k], way[k]) <= ml_square(reach[2 * f + k]);
        }
        shift[0] = shift[1] = shift[2] = 0.0;
        if (within) continue;
        if (stands[0] && stands[1])
            root_into_both(way[0], reach[2 * f], way[1], reach[2 * f + 1], shift);
        else if (stands[0])
            root_onto_ball(way[0], reach[2 * f], shift);
        else
            root_onto_ball(way[1], reach[2 * f + 1], shift);
    }
}

void ml_root_drop(int64_t n_frames, const double *hips, const double *ankles, const double *reach,
                  const uint8_t *held, const double *shifts, double most, double *out) {
    for (int64_t f = 0; f < n_frames; f++) {
        out[f] = 0.0;
        for (int k = 0; k < 2; k++) {
            if (!held[2 * f + k]) continue;
            double gap[3];
            for (int c = 0; c < 3; c++) {
                int64_t at = 6 * f + 3 * k + c;
                gap[c] = hips[at] + shifts[3 * f + c] - ankles[at];
            }
            double flat = gap[0] * gap[0] + gap[2] * gap[2];
            double low = gap[1] - sqrt(ml_max(ml_square(reach[2 * f + k]) - flat, 0.0));
            out[f] = ml_max(out[f], ml_clamp(low, 0.0, most));
        }
    }
}

void ml_root_still_legs(int64_t n_frames, const double *hips, const double *ankles,
                        const double *spans, const double *pull, int64_t half,
                        const double *weights, double *scratch, double *out) {
    double *change = scratch, *smooth = scratch + 2 * n_frames;
    for (int64_t i = 0; i < 2 * n_frames; i++)
        change[i] = root_apart(ankles + 3 * i, hips + 3 * i) - spans[i];
    ml_offset_spread(n_frames, 2, change, half, weights, smooth);
    for (int64_t f = 0; f < n_frames; f++) {
        double along[2][3], rough[2], own = 1.0 + ROOT_RIDGE, cross = 0.0;
        for (int k = 0; k < 2; k++) {
            int64_t i = 2 * f + k;
            ml_between(ankles + 3 * i, hips + 3 * i, along[k]);
            double span = ml_max(ml_length(along[k]), 1e-9);
            for (int c = 0; c < 3; c++) along[k][c] /= span;
            rough[k] = change[i] - smooth[i];
            rough[k] = rough[k] / (1.0 + ml_square(rough[k] / ROOT_TREMBLE_M)) * pull[i];
        }
        /* The least shift s with along . s = rough for the legs that count: 2 x 2 equations. */
        if (pull[2 * f] > 0.0 && pull[2 * f + 1] > 0.0) cross = ml_dot(along[0], along[1]);
        double left = (own * rough[0] - cross * rough[1]) / (own * own - cross * cross);
        double right = (own * rough[1] - cross * rough[0]) / (own * own - cross * cross);
        for (int c = 0; c < 3; c++) out[3 * f + c] = left * along[0][c] + right * along[1][c];
    }
}
