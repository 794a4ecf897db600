/* Holds: the part of every plant in which a foot point is held, and the place where it stands. */

#include "../kernels.h"
#include "../math/median.h"
#include "../math/vector.h"

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
static double hold_speed(const double *velocity, const double *slide) {
    double square = 0.0;
    for (int c = 0; c < 3; c++) square += ml_square(velocity[c] - slide[c]);
    return sqrt(square);
}

ml_status ml_hold_trim(int64_t n_frames, const double *velocities, const double *body_velocity,
                       int64_t n_holds, const int64_t *labels, double kept, int64_t *spans,
                       double *fastest) {
    if (!hold_spans_fit(n_frames, n_holds, labels)) return ML_BAD_SIZE;
    for (int64_t i = 0; i < n_holds; i++) {
        int64_t kind = labels[3 * i], first = labels[3 * i + 1], last = labels[3 * i + 2];
        int64_t n = last - first + 1, quarter = n / 4;
        double slide[3] = {0.0}, body[3] = {0.0}, part = (double)(n - 2 * quarter);
        for (int64_t f = first + quarter; f <= last - quarter; f++)
            for (int c = 0; c < 3; c++) {
                slide[c] += velocities[12 * f + 3 * kind + c] / part;
                body[c] += body_velocity[3 * f + c] / part;
            }
        const double *moving = velocities + 12 * first + 3 * kind;
        double stands = HOLD_BODY_PART * ml_length(body);
        stands = ml_min(ml_max(stands, HOLD_SLOWEST), HOLD_FASTEST);
        int64_t a = 0, b = n - 1, most = (int64_t)((1.0 - kept) * (double)n);
        for (int64_t k = 0; k < most && a < b; k++) {
            double start = hold_speed(moving + 12 * a, slide);
            double end = hold_speed(moving + 12 * b, slide);
            if (ml_max(start, end) < stands) break;
            if (start >= end)
                a++;
            else
                b--;
        }
        spans[2 * i] = first + a;
        spans[2 * i + 1] = first + b;
        fastest[i] = hold_speed(moving, slide);
        for (int64_t k = 1; k < n; k++)
            fastest[i] = ml_max(fastest[i], hold_speed(moving + 12 * k, slide));
    }
    return ML_OK;
}

/* Means of the points over their spans, where frames at rest count most. */
static void hold_means(const double *points, const double *velocities, int64_t n_holds,
                       const int64_t *spans, double *places) {
    for (int64_t i = 0; i < n_holds; i++) {
        const int64_t *span = spans + 3 * i;
        const double *origin = points + 12 * span[1] + 3 * span[0];
        double total = 0.0, sum[3] = {0.0};
        for (int64_t f = span[1]; f <= span[2]; f++) {
            const double *v = velocities + 12 * f + 3 * span[0];
            const double *at = points + 12 * f + 3 * span[0];
            double weight = 1.0 / (1.0 + ml_dot(v, v) / (HOLD_STILL * HOLD_STILL));
            total += weight;
            for (int c = 0; c < 3; c++) sum[c] += weight * (at[c] - origin[c]);
        }
        for (int c = 0; c < 3; c++) places[3 * i + c] = origin[c] + sum[c] / total;
    }
}

/* Take `part` of `excess` out of the way from i to j; the shorter hold moves more. */
static void hold_share(double *places, const int64_t *spans, int64_t i, int64_t j,
                       const double *excess, double part) {
    double a = (double)(spans[3 * i + 2] - spans[3 * i + 1] + 1);
    double b = (double)(spans[3 * j + 2] - spans[3 * j + 1] + 1);
    for (int c = 0; c < 3; c++) {
        places[3 * i + c] += part * excess[c] * b / (a + b);
        places[3 * j + c] -= part * excess[c] * a / (a + b);
    }
}

/* One pair of holds of a foot in one sweep; 1 where no later hold matters to the first. */
static int hold_settle_pair(const double *points, const int64_t *spans, int64_t i, int64_t j,
                            double length, double near, int sweep, double *places) {
    int64_t gap = spans[3 * j + 1] - spans[3 * i + 2];
    int same = spans[3 * i] == spans[3 * j];
    if ((double)gap > near) return same;
    double way[3];
    ml_between(places + 3 * j, places + 3 * i, way);
    if (gap <= 0) {
        if (same) return 0;
        double now = ml_max(ml_length(way), 1e-12);
        if (sweep < HOLD_SWEEPS)
            hold_share(places, spans, i, j, way, 1.0 - length / now);
        else
            for (int c = 0; c < 3; c++)
                places[3 * j + c] = places[3 * i + c] + way[c] * (length / now);
    } else if (2 * sweep < HOLD_SWEEPS) {
        double step[3], excess[3];
        ml_between(points + 12 * spans[3 * j + 1] + 3 * spans[3 * j],
                   points + 12 * spans[3 * i + 2] + 3 * spans[3 * i], step);
        ml_between(way, step, excess);
        hold_share(places, spans, i, j, excess, 1.0 - ((double)gap - 1.0) / near);
    }
    return 0;
}

/* Median length of a foot from heel to ball. */
static double hold_sole(int64_t n_frames, const double *points, int foot, double *scratch) {
    for (int64_t f = 0; f < n_frames; f++) {
        double sole[3];
        ml_between(points + 12 * f + 6 * foot + 3, points + 12 * f + 6 * foot, sole);
        scratch[f] = ml_length(sole);
    }
    return ml_median(scratch, n_frames);
}

ml_status ml_hold_place(int64_t n_frames, const double *points, const double *velocities,
                        int64_t n_holds, const int64_t *spans, const int64_t *order, int64_t n_left,
                        double near, double *scratch, double *places, double *strays) {
    if (!hold_spans_fit(n_frames, n_holds, spans) || n_left < 0 || n_left > n_holds)
        return ML_BAD_SIZE;
    for (int64_t i = 0; i < n_holds; i++)
        if (order[i] < 0 || order[i] >= n_holds) return ML_BAD_SIZE;
    hold_means(points, velocities, n_holds, spans, places);
    for (int foot = 0; foot < 2; foot++) {
        const int64_t *mine = order + (foot ? n_left : 0);
        int64_t n_mine = foot ? n_holds - n_left : n_left;
        if (n_mine < 1) continue;
        double length = hold_sole(n_frames, points, foot, scratch);
        for (int sweep = 0; sweep <= HOLD_SWEEPS; sweep++)
            for (int64_t a = 0; a < n_mine; a++)
                for (int64_t b = a + 1; b < n_mine; b++)
                    if (hold_settle_pair(points, spans, mine[a], mine[b], length, near, sweep,
                                         places))
                        break;
    }
    for (int64_t i = 0; i < n_holds; i++) {
        const int64_t *span = spans + 3 * i;
        double most = 0.0, gap[3];
        for (int64_t f = span[1]; f <= span[2]; f++) {
            ml_between(points + 12 * f + 3 * span[0], places + 3 * i, gap);
            most = ml_max(most, ml_dot(gap, gap));
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
            for (int c = 0; c < 3; c++) stood[3 * at + c] = places[3 * i + c];
        }
    }
    return ML_OK;
}
