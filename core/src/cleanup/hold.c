/* Holds: the part of every plant in which a foot point is held, and the place where it stands. */

#include "../kernels.h"
#include "../math/median.h"
#include "../math/vec.h"

/* A point stands below this part of the body's speed, within these bounds, m/s. Tighter bounds
   leave out more frames of walks, whose points then speed up again while labelled. */
#define HOLD_BODY_PART 0.13
#define HOLD_SLOWEST 0.3
#define HOLD_FASTEST 0.45
/* A point at this speed counts half as much as one at rest, m/s. */
#define HOLD_STILL 0.05
#define HOLD_SWEEPS 20

/* Whether every row of spans (kind, first, last) lies in the clip. */
static int hold_spans_fit(int64_t n_frames, int64_t n_holds, const int64_t *spans) {
    for (int64_t i = 0; i < n_holds; i++) {
        const int64_t *span = spans + 3 * i;
        if (span[0] < 0 || span[0] > 3 || span[1] < 0 || span[2] < span[1] || span[2] >= n_frames)
            return 0;
    }
    return 1;
}

/* Size of a velocity less the common slide. */
static double hold_speed(vec3 velocity, vec3 slide) {
    return vec3_length(vec3_sub(velocity, slide));
}

ml_status ml_hold_trim(int64_t n_frames, const double *velocities, const double *body_velocity,
                       int64_t n_holds, const int64_t *labels, double kept, int64_t *spans,
                       double *fastest) {
    const vec3 *points = (const vec3 *)velocities, *bodies = (const vec3 *)body_velocity;
    if (!hold_spans_fit(n_frames, n_holds, labels)) return ML_BAD_SIZE;
    for (int64_t i = 0; i < n_holds; i++) {
        int64_t kind = labels[3 * i], first = labels[3 * i + 1], last = labels[3 * i + 2];
        int64_t n = last - first + 1, quarter = n / 4;
        double part = (double)(n - 2 * quarter);
        vec3 slide = VEC3_ZERO, body = VEC3_ZERO;
        for (int64_t f = first + quarter; f <= last - quarter; f++) {
            slide = vec3_add(slide, vec3_divide(points[4 * f + kind], part));
            body = vec3_add(body, vec3_divide(bodies[f], part));
        }
        const vec3 *moving = points + 4 * first + kind;
        double stands = HOLD_BODY_PART * vec3_length(body);
        stands = ml_min(ml_max(stands, HOLD_SLOWEST), HOLD_FASTEST);
        int64_t a = 0, b = n - 1, most = (int64_t)((1.0 - kept) * (double)n);
        for (int64_t k = 0; k < most && a < b; k++) {
            double start = hold_speed(moving[4 * a], slide);
            double end = hold_speed(moving[4 * b], slide);
            if (ml_max(start, end) < stands) break;
            if (start >= end)
                a++;
            else
                b--;
        }
        spans[2 * i] = first + a;
        spans[2 * i + 1] = first + b;
        fastest[i] = hold_speed(moving[0], slide);
        for (int64_t k = 1; k < n; k++)
            fastest[i] = ml_max(fastest[i], hold_speed(moving[4 * k], slide));
    }
    return ML_OK;
}

/* Means of the points over their spans, where frames at rest count most. */
static void hold_means(const vec3 *points, const vec3 *velocities, int64_t n_holds,
                       const int64_t *spans, vec3 *places) {
    for (int64_t i = 0; i < n_holds; i++) {
        int64_t kind = spans[3 * i], first = spans[3 * i + 1], last = spans[3 * i + 2];
        double total = 0.0;
        vec3 origin = points[4 * first + kind], sum = VEC3_ZERO;
        for (int64_t f = first; f <= last; f++) {
            vec3 v = velocities[4 * f + kind];
            double weight = 1.0 / (1.0 + vec3_dot(v, v) / (HOLD_STILL * HOLD_STILL));
            total += weight;
            sum = vec3_add(sum, vec3_scale(weight, vec3_sub(points[4 * f + kind], origin)));
        }
        places[i] = vec3_add(origin, vec3_divide(sum, total));
    }
}

/* Take `part` of `excess` out of the step from hold i to hold j; the shorter hold moves more. */
static void hold_share(vec3 *places, const int64_t *spans, int64_t i, int64_t j, vec3 excess,
                       double part) {
    double a = (double)(spans[3 * i + 2] - spans[3 * i + 1] + 1);
    double b = (double)(spans[3 * j + 2] - spans[3 * j + 1] + 1);
    vec3 taken = vec3_scale(part, excess);
    places[i] = vec3_add(places[i], vec3_divide(vec3_scale(b, taken), a + b));
    places[j] = vec3_sub(places[j], vec3_divide(vec3_scale(a, taken), a + b));
}

/* One pair of holds of a foot in one sweep; 1 where no later hold matters to the first. */
static int hold_settle_pair(const vec3 *points, const int64_t *spans, int64_t i, int64_t j,
                            double length, double near, int sweep, vec3 *places) {
    int64_t gap = spans[3 * j + 1] - spans[3 * i + 2];
    int same = spans[3 * i] == spans[3 * j];
    if ((double)gap > near) return same;
    vec3 apart = vec3_sub(places[j], places[i]);
    if (gap <= 0) {
        if (same) return 0;
        double now = ml_max(vec3_length(apart), 1e-12);
        if (sweep < HOLD_SWEEPS)
            hold_share(places, spans, i, j, apart, 1.0 - length / now);
        else
            places[j] = vec3_add(places[i], vec3_scale(length / now, apart));
    } else if (2 * sweep < HOLD_SWEEPS) {
        vec3 step = vec3_sub(points[4 * spans[3 * j + 1] + spans[3 * j]],
                             points[4 * spans[3 * i + 2] + spans[3 * i]]);
        hold_share(places, spans, i, j, vec3_sub(apart, step), 1.0 - ((double)gap - 1.0) / near);
    }
    return 0;
}

/* Median length of a foot from heel to ball. */
static double hold_sole(int64_t n_frames, const vec3 *points, int foot, double *scratch) {
    for (int64_t f = 0; f < n_frames; f++)
        scratch[f] = vec3_length(vec3_sub(points[4 * f + 2 * foot + 1], points[4 * f + 2 * foot]));
    return ml_median(scratch, n_frames);
}

ml_status ml_hold_place(int64_t n_frames, const double *points, const double *velocities,
                        int64_t n_holds, const int64_t *spans, const int64_t *order, int64_t n_left,
                        double near, double *scratch, double *places, double *strays) {
    if (!hold_spans_fit(n_frames, n_holds, spans) || n_left < 0 || n_left > n_holds)
        return ML_BAD_SIZE;
    const vec3 *tracks = (const vec3 *)points;
    vec3 *stands = (vec3 *)places;
    for (int64_t i = 0; i < n_holds; i++)
        if (order[i] < 0 || order[i] >= n_holds) return ML_BAD_SIZE;
    hold_means(tracks, (const vec3 *)velocities, n_holds, spans, stands);
    for (int foot = 0; foot < 2; foot++) {
        const int64_t *mine = order + (foot ? n_left : 0);
        int64_t n_mine = foot ? n_holds - n_left : n_left;
        if (n_mine < 1) continue;
        double length = hold_sole(n_frames, tracks, foot, scratch);
        for (int sweep = 0; sweep <= HOLD_SWEEPS; sweep++)
            for (int64_t a = 0; a < n_mine; a++)
                for (int64_t b = a + 1; b < n_mine; b++)
                    if (hold_settle_pair(tracks, spans, mine[a], mine[b], length, near, sweep,
                                         stands))
                        break;
    }
    for (int64_t i = 0; i < n_holds; i++) {
        const int64_t *span = spans + 3 * i;
        double most = 0.0;
        for (int64_t f = span[1]; f <= span[2]; f++) {
            vec3 gap = vec3_sub(tracks[4 * f + span[0]], stands[i]);
            most = ml_max(most, vec3_dot(gap, gap));
        }
        strays[i] = sqrt(most);
    }
    return ML_OK;
}

ml_status ml_hold_fill(int64_t n_frames, int64_t n_holds, const int64_t *spans,
                       const double *places, uint8_t *held, double *stood) {
    for (int64_t i = 0; i < n_holds; i++) {
        const int64_t *span = spans + 3 * i;
        if (span[0] < 0 || span[0] > 3 || span[1] < 0 || span[2] >= n_frames) return ML_BAD_SIZE;
        int64_t foot = span[0] / 2 * n_frames, point = span[0] % 2;
        for (int64_t f = span[1]; f <= span[2]; f++) {
            int64_t at = 2 * (foot + f) + point;
            held[at] = 1;
            ((vec3 *)stood)[at] = ((const vec3 *)places)[i];
        }
    }
    return ML_OK;
}
