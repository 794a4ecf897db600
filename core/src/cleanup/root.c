/* The root: shifted as little as needed for every held ankle to be within reach. */

#include "../kernels.h"
#include "../math/vec.h"

/* Quick changes of a leg's length up to about this are tremble, which the root takes over, metres;
   of larger ones ever less, for they would jerk the whole body. */
#define ROOT_TREMBLE_M 0.004
/* Keeps legs that are parallel from asking for a large sideways shift. */
#define ROOT_RIDGE 0.1
/* Less than this is rounding, metres. */
#define ROOT_SLACK_M 1e-12

/* The point of a ball nearest the origin. */
static vec3 root_onto_ball(vec3 centre, double radius) {
    double far = vec3_length(centre);
    if (far <= radius) return VEC3_ZERO;
    return vec3_add(centre, vec3_scale(radius / far, vec3_negate(centre)));
}

static double root_apart(vec3 a, vec3 b) { return vec3_length(vec3_sub(a, b)); }

/* The point nearest the origin that lies in both balls; where they do not meet, the point between
   them that misses both by the same amount. */
static vec3 root_into_both(vec3 c1, double r1, vec3 c2, double r2) {
    vec3 first = root_onto_ball(c1, r1), second = root_onto_ball(c2, r2);
    if (root_apart(first, c2) <= r2 + ROOT_SLACK_M) return first;
    if (root_apart(second, c1) <= r1 + ROOT_SLACK_M) return second;
    double apart = root_apart(c2, c1);
    if (apart <= ROOT_SLACK_M) return first;
    vec3 axis = vec3_divide(vec3_sub(c2, c1), apart);
    if (apart >= r1 + r2) return vec3_add(c1, vec3_scale(r1 + 0.5 * (apart - r1 - r2), axis));
    /* The balls meet in a ring about their axis. */
    double along = (apart * apart + r1 * r1 - r2 * r2) / (2.0 * apart);
    vec3 middle = vec3_add(c1, vec3_scale(along, axis));
    double ring = sqrt(ml_max(r1 * r1 - along * along, 0.0)), off = -vec3_dot(middle, axis);
    vec3 side = vec3_sub(vec3_negate(middle), vec3_scale(off, axis));
    double size = vec3_length(side);
    if (size <= ROOT_SLACK_M) { /* the origin is on the axis: any point of the ring is as near */
        vec3 least = vec3_least_axis(axis);
        side = vec3_sub(least, vec3_scale(vec3_dot(least, axis), axis));
        size = vec3_length(side);
    }
    return vec3_add(middle, vec3_scale(ring / size, side));
}

void ml_root_least_shift(int64_t n_frames, const double *hips, const double *ankles,
                         const double *reach, const uint8_t *held, double *out) {
    const vec3 *tops = (const vec3 *)hips, *ends = (const vec3 *)ankles;
    vec3 *shifts = (vec3 *)out;
    for (int64_t f = 0; f < n_frames; f++) {
        const uint8_t *stands = held + 2 * f;
        const double *r = reach + 2 * f;
        vec3 legs[2];
        int within = 1;
        for (int k = 0; k < 2; k++) {
            legs[k] = vec3_sub(ends[2 * f + k], tops[2 * f + k]);
            within &= !stands[k] || vec3_dot(legs[k], legs[k]) <= ml_square(r[k]);
        }
        if (within)
            shifts[f] = VEC3_ZERO;
        else if (stands[0] && stands[1])
            shifts[f] = root_into_both(legs[0], r[0], legs[1], r[1]);
        else if (stands[0])
            shifts[f] = root_onto_ball(legs[0], r[0]);
        else
            shifts[f] = root_onto_ball(legs[1], r[1]);
    }
}

void ml_root_drop(int64_t n_frames, const double *hips, const double *ankles, const double *reach,
                  const uint8_t *held, const double *shifts, double most, double *out) {
    const vec3 *tops = (const vec3 *)hips, *ends = (const vec3 *)ankles;
    const vec3 *moved = (const vec3 *)shifts;
    for (int64_t f = 0; f < n_frames; f++) {
        out[f] = 0.0;
        for (int64_t i = 2 * f; i < 2 * f + 2; i++) {
            if (!held[i]) continue;
            vec3 gap = vec3_sub(vec3_add(tops[i], moved[f]), ends[i]);
            double flat = gap.x * gap.x + gap.z * gap.z;
            double low = gap.y - sqrt(ml_max(ml_square(reach[i]) - flat, 0.0));
            out[f] = ml_max(out[f], ml_clamp(low, 0.0, most));
        }
    }
}

void ml_root_still_legs(int64_t n_frames, const double *hips, const double *ankles,
                        const double *spans, const double *pull, int64_t half,
                        const double *weights, double *scratch, double *out) {
    const vec3 *tops = (const vec3 *)hips, *ends = (const vec3 *)ankles;
    double *change = scratch, *smooth = scratch + 2 * n_frames;
    vec3 *shifts = (vec3 *)out;
    for (int64_t i = 0; i < 2 * n_frames; i++) change[i] = root_apart(ends[i], tops[i]) - spans[i];
    ml_offset_spread(n_frames, 2, change, half, weights, smooth);
    for (int64_t f = 0; f < n_frames; f++) {
        vec3 along[2];
        double rough[2], own = 1.0 + ROOT_RIDGE, cross = 0.0;
        for (int k = 0; k < 2; k++) {
            int64_t i = 2 * f + k;
            vec3 leg = vec3_sub(ends[i], tops[i]);
            along[k] = vec3_divide(leg, ml_max(vec3_length(leg), 1e-9));
            rough[k] = change[i] - smooth[i];
            rough[k] = rough[k] / (1.0 + ml_square(rough[k] / ROOT_TREMBLE_M)) * pull[i];
        }
        /* The least shift s with along . s = rough for the legs that count: 2 x 2 equations. */
        if (pull[2 * f] > 0.0 && pull[2 * f + 1] > 0.0) cross = vec3_dot(along[0], along[1]);
        double left = (own * rough[0] - cross * rough[1]) / (own * own - cross * cross);
        double right = (own * rough[1] - cross * rough[0]) / (own * own - cross * cross);
        shifts[f] = vec3_add(vec3_scale(left, along[0]), vec3_scale(right, along[1]));
    }
}
