/* Support and travel without contact labels: feet that carry the body are compared with the feet of
   the clips at the times that a result plays, and so is the velocity of the body.

   A sole is five points from heel to ball. Its velocity is that of its slowest low point, because a
   foot rolls and turns about the point on which it stands; of one that neither rises nor sinks, where
   there is one, because a heel that comes down does not hide a ball that slides. Velocities are seen from the body's
   heading, so that clips may be turned; they are multiplied by the rate at which a clip plays. */

#include "check.h"

#define SUPPORT_POINTS CHECK_SOLE_POINTS
/* Metres for a leg of SUPPORT_LEG. A point as near to a height at which the body stands is low. */
#define SUPPORT_LOW 0.025
#define SUPPORT_LEG 0.8
/* Seconds before and after a frame, and frames per second, in which such heights are looked for. */
#define SUPPORT_LEVELS_S 1.0
#define SUPPORT_LEVELS_FPS 30.0
/* Seconds. Velocities are slopes of lines over twice this long, accelerations those of parabolas. */
#define SUPPORT_SLOPE_S (1.0 / 30.0)
#define SUPPORT_FALL_S 0.1
/* m/s2. A body that falls faster is in flight: nothing carries it. */
#define SUPPORT_FALLS (-5.0)
/* m/s, and part of the body's weight: a foot that is faster over the ground, or rises or sinks faster,
   or carries less, does not carry the body. */
#define SUPPORT_FASTEST 1.2
#define SUPPORT_RISES 0.3
#define SUPPORT_SHARE 0.3
/* m/s. A foot that is always slower around the mapped time stands in the clip. */
#define SUPPORT_STANDS 0.15
/* m/s. A foot that is slower does not slip, whatever the clips' feet do. */
#define SUPPORT_STILL 0.03
/* Metres. A foot and the other closer than this: the weight is on both. */
#define SUPPORT_APART 0.01
/* Seconds. A clip may do what it does there as much earlier or later. */
#define SUPPORT_NEAR_S 0.05
/* Frames. A moment so near to a frame is that frame: what is next to it is not known of the moment. */
#define SUPPORT_ON_FRAME 1e-6
/* A clip that plays faster than this does not move its feet and its body faster yet. */
#define SUPPORT_FASTEST_RATE 1.25
/* Seconds. Rates are measured over twice this long. A step in time that is longer than this many
   frames is none of one clip that plays on. */
#define SUPPORT_RATE_S 0.1
#define SUPPORT_LONGEST_STEP 3.0
/* Seconds. Slips are measured over this long, in runs that are as long as this at least. */
#define SUPPORT_SLIP 0.025
#define SUPPORT_WINDOW_S 0.6
#define SUPPORT_SHORTEST_S 0.05
/* Seconds. The velocity of the body is its mean over twice this long. */
#define SUPPORT_TRAVEL_S 0.12
/* Clips of one frame that are looked at, and moments of each for the direction of travel. */
#define SUPPORT_CLIPS 16
#define SUPPORT_DIRECTIONS 3
/* The body may be so much slower than the slowest clip there, and faster than the fastest, and by
   FREE, m/s; a clip that plays slower may be so much slower, and one that plays faster as much faster
   as its rate counts. */
#define SUPPORT_STALL 0.8
#define SUPPORT_LAUNCH 1.2
#define SUPPORT_SPEED_FREE 0.1
#define SUPPORT_SLOWER 0.7
/* How far the velocity of the body may be from all velocities between those of the clips there and
   none: m/s, and part of the fastest. */
#define SUPPORT_ASTRAY_FREE 0.25
#define SUPPORT_ASTRAY 0.25
/* Seconds before and after, in which the lowest height of a sole point in a clip is looked for, more of
   them on one side where the clip is over on the other; and metres that the point may be lower. */
#define SUPPORT_SOLE_S 0.5
#define SUPPORT_SINK 0.025

/* Velocity at frame t of a line through n frames of columns `at` and at + 1 ... of rows (.., width). */
static void support_slope(int64_t n_frames, int64_t half, double fps, const double *values,
                          int64_t width, int64_t t, int n, double *out) {
    int64_t from = t - half > 0 ? t - half : 0, to = t + half < n_frames ? t + half : n_frames - 1;
    double middle = 0.5 * (double)(from + to), size = 0.0;
    for (int c = 0; c < n; c++) out[c] = 0.0;
    for (int64_t u = from; u <= to; u++) {
        double x = (double)u - middle;
        size += x * x;
        for (int c = 0; c < n; c++) out[c] += x * values[width * u + c];
    }
    for (int c = 0; c < n; c++) out[c] = size > 0.0 ? out[c] * fps / size : 0.0;
}

/* Vector (x, z) over the ground, seen from a heading: to the left of it, and along it. */
static inline void support_seen(double sine, double cosine, double x, double z, double *out) {
    out[0] = cosine * x - sine * z;
    out[1] = sine * x + cosine * z;
}

/* Point i of the sole of a foot. */
static inline double support_point(const double *foot, int i, int c) {
    return foot[c] + 0.25 * (double)i * (foot[3 + c] - foot[c]);
}

/* Heights on which the body stands: of the lowest sole point where it does not fall, else nan. */
static void support_levels(const double *soles, const uint8_t *falls, int64_t first, int64_t stop,
                           double *levels) {
    for (int64_t t = first; t < stop; t++) {
        const double *at = soles + 12 * t;
        double low = ml_min(ml_min(at[1], at[4]), ml_min(at[7], at[10]));
        levels[t] = falls[t] ? (double)NAN : low;
    }
}

/* Which of ten heights in frame t are near a level. Nearly all are near the first, or beyond the range of
   all. */
static void support_near(const double *levels, int64_t n_frames, int64_t t, int64_t half,
                         int64_t step, double near, const double *heights, uint8_t *low) {
    int64_t first = t - half, last = t + half < n_frames ? t + half : n_frames - 1;
    double least = HUGE_VAL, most = -HUGE_VAL;
    if (first < 0) first += (step - 1 - first) / step * step;
    for (int64_t u = first; u <= last; u += step) {
        least = ml_min(least, levels[u]);
        most = ml_max(most, levels[u]);
    }
    for (int i = 0; i < 2 * SUPPORT_POINTS; i++) {
        low[i] = 0;
        if (heights[i] - most >= near || least - heights[i] >= near) continue;
        for (int64_t u = first; u <= last && !low[i]; u += step)
            low[i] = fabs(heights[i] - levels[u]) < near;
    }
}

/* Part of the weight on each foot: where the mass point is between the middles of their low parts. */
static void support_shares(const double *soles, const double *mass, const uint8_t *low,
                           double *share) {
    double middle[2][2];
    int any[2];
    for (int f = 0; f < 2; f++) {
        double sum[2] = {0.0, 0.0};
        any[f] = 0;
        for (int i = 0; i < SUPPORT_POINTS; i++) {
            if (!low[SUPPORT_POINTS * f + i]) continue;
            sum[0] += support_point(soles + 6 * f, i, 0);
            sum[1] += support_point(soles + 6 * f, i, 2);
            any[f]++;
        }
        for (int c = 0; c < 2; c++) middle[f][c] = any[f] ? sum[c] / (double)any[f] : 0.0;
    }
    double x = middle[0][0] - middle[1][0], z = middle[0][1] - middle[1][1];
    double along = (mass[0] - middle[1][0]) * x + (mass[2] - middle[1][1]) * z;
    double left = ml_clamp(along / ml_max(x * x + z * z, ml_square(SUPPORT_APART)), 0.0, 1.0);
    share[0] = any[0] ? (any[1] ? left : 1.0) : 0.0;
    share[1] = any[1] ? (any[0] ? 1.0 - left : 1.0) : 0.0;
}

void ml_support_moves(const ml_check_series *series, double fps, int64_t first, int64_t stop,
                      const ml_support *out) {
    int64_t n = series->n_frames, half = ml_check_frames(SUPPORT_SLOPE_S, fps, 1);
    int64_t travel = ml_check_frames(SUPPORT_TRAVEL_S, fps, 1);
    for (int64_t t = first; t < stop; t++) {
        double sine, cosine, ends[12], *velocity = out->velocity + 6 * SUPPORT_POINTS * t;
        ml_sincos(series->heading[t], &sine, &cosine);
        support_slope(n, half, fps, series->soles, 12, t, 12, ends);
        for (int i = 0; i < 2 * SUPPORT_POINTS; i++, velocity += 3) {
            double move[3], seen[2];
            for (int c = 0; c < 3; c++)
                move[c] = support_point(ends + 6 * (i / SUPPORT_POINTS), i % SUPPORT_POINTS, c);
            support_seen(sine, cosine, move[0], move[2], seen);
            velocity[0] = seen[0], velocity[1] = move[1], velocity[2] = seen[1];
        }
        int64_t a = t - travel > 0 ? t - travel : 0, b = t + travel < n ? t + travel : n - 1;
        double rate = b > a ? fps / (double)(b - a) : 0.0;
        const double *before = series->pelvis + 3 * a, *after = series->pelvis + 3 * b;
        support_seen(sine, cosine, rate * (after[0] - before[0]), rate * (after[2] - before[2]),
                     out->travel + 2 * t);
    }
}

/* The slowest low point of a foot, -1 where none is low: of those that neither rise nor sink, if there are
   any. velocity: (5, 3) */
static int8_t support_slowest(const double *velocity, const uint8_t *low) {
    double least[2] = {HUGE_VAL, HUGE_VAL};
    int8_t slowest[2] = {-1, -1};
    for (int8_t i = 0; i < SUPPORT_POINTS; i++, velocity += 3) {
        double square = ml_square(velocity[0]) + ml_square(velocity[2]);
        int rises = fabs(velocity[1]) >= SUPPORT_RISES;
        if (!low[i] || square >= least[rises]) continue;
        least[rises] = square;
        slowest[rises] = i;
    }
    return slowest[slowest[0] < 0];
}

ml_status ml_support_measure(const ml_check_series *series, double fps, double leg, int64_t first,
                             int64_t stop, double *levels, const ml_support *out) {
    int64_t n = series->n_frames, wide = ml_check_frames(SUPPORT_LEVELS_S, fps, 1);
    if (out->n_frames != n || first < 0 || stop > n || !(fps > 0.0)) return ML_BAD_SIZE;
    int64_t step = ml_check_frames(1.0, fps / SUPPORT_LEVELS_FPS, 1);
    int64_t fall = ml_check_frames(SUPPORT_FALL_S, fps, 2);
    int64_t from = first - wide > 0 ? first - wide : 0, to = stop + wide < n ? stop + wide : n;
    for (int64_t t = from; t < to; t++) {
        int64_t a = t - fall > 0 ? t - fall : 0, b = t + fall + 1 < n ? t + fall + 1 : n;
        out->falls[t] = ml_check_fall(series->mass, a, b, fps) < SUPPORT_FALLS;
    }
    support_levels(series->soles, out->falls, from, to, levels);
    ml_support_moves(series, fps, first, stop, out);
    for (int64_t t = first; t < stop; t++) {
        const double *soles = series->soles + 12 * t;
        double heights[2 * SUPPORT_POINTS];
        uint8_t low[2 * SUPPORT_POINTS];
        for (int i = 0; i < 2 * SUPPORT_POINTS; i++)
            heights[i] = support_point(soles + 6 * (i / SUPPORT_POINTS), i % SUPPORT_POINTS, 1);
        support_near(levels, n, t, wide, step, SUPPORT_LOW * leg / SUPPORT_LEG, heights, low);
        support_shares(soles, series->mass + 3 * t, low, out->share + 2 * t);
        for (int f = 0; f < 2; f++)
            out->slowest[2 * t + f] = support_slowest(
                out->velocity + 3 * SUPPORT_POINTS * (2 * t + f), low + SUPPORT_POINTS * f);
    }
    return ML_OK;
}

/* How fast a clip plays at frame t of a result, of whose frames `at` are the clip's. */
static double support_rate(const double *at, int64_t first, int64_t stop, int64_t t, int64_t half,
                           double longest) {
    int64_t a = t, b = t;
    while (a > first && t - a < half && fabs(at[a] - at[a - 1]) <= longest) a--;
    while (b + 1 < stop && b - t < half && fabs(at[b + 1] - at[b]) <= longest) b++;
    return b > a ? (at[b] - at[a]) / (double)(b - a) : longest / SUPPORT_LONGEST_STEP;
}

/* Lowest heights of the four sole points of a clip around its frame g. `lowest` are the frames in which
   they are lowest around frame g - 1, or -1: most of them are the lowest still. */
static void support_lows(const ml_support *source, double fps, int64_t g, int64_t *lowest,
                         double *lows) {
    int64_t half = ml_check_frames(SUPPORT_SOLE_S, fps, 1), n = source->n_frames;
    int64_t from = g - half, to = g + half;
    if (to > n - 1) from -= to - (n - 1), to = n - 1;
    if (from < 0) to = to - from < n ? to - from : n - 1, from = 0;
    for (int k = 0; k < 4; k++) {
        const double *heights = source->soles + 3 * k + 1;
        int known = lowest[k] >= from;
        int64_t best = known ? lowest[k] : from;
        for (int64_t u = known ? to : from + 1; u <= to; u++)
            if (heights[12 * u] < heights[12 * best]) best = u;
        lowest[k] = best;
        lows[k] = heights[12 * best];
    }
}

/* Whether a clip's foot is as low and slow in its frame g as one that carries. */
static int support_is_low(const ml_support *source, int64_t g, int f) {
    int8_t own = source->slowest[2 * g + f];
    if (own < 0) return 0;
    const double *v = source->velocity + 3 * (SUPPORT_POINTS * (2 * g + f) + own);
    return ml_square(v[0]) + ml_square(v[2]) < ml_square(SUPPORT_FASTEST);
}

/* What a clip does at a place between two of its frames, forwards or backwards (`way` 1 or -1): moment
   i of frame t of a result. */
static void support_moment(const ml_support *source, const ml_support *result, int64_t t,
                           double place, double rate, double way, int i, double *told,
                           double *moves) {
    double whole = ml_nearest(place);
    if (fabs(place - whole) < SUPPORT_ON_FRAME) place = whole;
    int64_t g = (int64_t)place, next = place > (double)g ? g + 1 : g;
    double part = place - (double)g;
    for (int c = 0; c < 2; c++)
        moves[2 * i + c] = way * (source->travel[2 * g + c] + part * (source->travel[2 * next + c] -
                                                                      source->travel[2 * g + c]));
    for (int f = 0; f < 2; f++) {
        int8_t k = result->slowest[2 * t + f];
        if (k < 0) continue;
        int now = support_is_low(source, g, f), then = support_is_low(source, next, f);
        if (!(now || then)) continue;
        int64_t from = now ? g : next, to = then ? next : g; /* not into the air, nor out of it */
        const double *a = source->velocity + 3 * (SUPPORT_POINTS * (2 * from + f) + k);
        const double *b = source->velocity + 3 * (SUPPORT_POINTS * (2 * to + f) + k);
        double *out = told + 2 * (ML_SUPPORT_MOMENTS * f + i);
        for (int c = 0; c < 2; c++) out[c] = way * rate * (a[2 * c] + part * (b[2 * c] - a[2 * c]));
    }
}

ml_status ml_support_told(const ml_support *source, double source_fps, const ml_support *result,
                          double fps, int64_t first, int64_t stop, const double *at, double *feet,
                          double *travel, double *rates, double *lows) {
    int64_t half = ml_check_frames(SUPPORT_RATE_S, fps, 1), n = source->n_frames;
    if (first < 0 || stop > result->n_frames || n < 1 || !(fps > 0.0)) return ML_BAD_SIZE;
    double usual = source_fps / fps, longest = SUPPORT_LONGEST_STEP * usual;
    int64_t before = -2, lowest[4] = {-1, -1, -1, -1};
    for (int64_t t = first; t < stop; t++) {
        double *told = feet + 4 * ML_SUPPORT_MOMENTS * (t - first);
        double *moves = travel + 2 * ML_SUPPORT_MOMENTS * (t - first);
        for (int i = 0; i < 4 * ML_SUPPORT_MOMENTS; i++) told[i] = (double)NAN;
        for (int i = 0; i < 2 * ML_SUPPORT_MOMENTS; i++) moves[i] = (double)NAN;
        rates[t - first] = (double)NAN;
        if (!(at[t] >= -0.5 && at[t] <= (double)n)) continue;
        double rate = support_rate(at, first, stop, t, half, longest) / usual;
        double way = rate < 0.0 ? -1.0 : 1.0; /* a clip may play backwards */
        rate = ml_min(fabs(rate), SUPPORT_FASTEST_RATE);
        rates[t - first] = rate;
        int64_t here = (int64_t)ml_nearest(ml_clamp(at[t], 0.0, (double)(n - 1)));
        if (here != before && here != before + 1)
            for (int k = 0; k < 4; k++) lowest[k] = -1;
        support_lows(source, source_fps, before = here, lowest, lows + 4 * (t - first));
        for (int i = 0; i < ML_SUPPORT_MOMENTS; i++) {
            double away = SUPPORT_NEAR_S * (2.0 * (double)i / (ML_SUPPORT_MOMENTS - 1) - 1.0);
            double place = ml_clamp(at[t] + away * source_fps, 0.0, (double)(n - 1));
            support_moment(source, result, t, place, rate, way, i, told, moves);
        }
    }
    return ML_OK;
}

/* Square of the distance from p to the line between a and b, and the vector to p from its nearest
   point. */
static double support_off_line(const double *p, const double *a, const double *b, double *off) {
    double x = b[0] - a[0], z = b[1] - a[1], size = x * x + z * z;
    double part = size > 0.0 ? ((p[0] - a[0]) * x + (p[1] - a[1]) * z) / size : 0.0;
    part = ml_clamp(part, 0.0, 1.0);
    off[0] = p[0] - (a[0] + part * x);
    off[1] = p[1] - (a[1] + part * z);
    return ml_square(off[0]) + ml_square(off[1]);
}

/* Whether p is among n > 2 points: in their convex hull. Seen from a p outside they are all within
   half a turn, between the outermost to the left and to the right. */
static int support_is_among(const double *p, int64_t n, const double *points) {
    double left[2] = {points[0] - p[0], points[1] - p[1]}, right[2] = {left[0], left[1]};
    for (int64_t k = 1; k < n; k++) {
        double x = points[2 * k] - p[0], z = points[2 * k + 1] - p[1];
        int beyond_left = left[0] * z - left[1] * x > 0.0;
        int beyond_right = right[0] * z - right[1] * x < 0.0;
        if (beyond_left && beyond_right) return 1;
        if (beyond_left) left[0] = x, left[1] = z;
        if (beyond_right) right[0] = x, right[1] = z;
    }
    return 0;
}

/* Vector to p from the nearest point of the convex hull of n points; infinite for none. */
static void support_off_hull(const double *p, int64_t n, const double *points, double *off) {
    double best = HUGE_VAL, tried[2];
    off[0] = n ? 0.0 : HUGE_VAL, off[1] = 0.0;
    if (n > 2 && support_is_among(p, n, points)) return;
    for (int64_t a = 0; a < n; a++)
        for (int64_t b = n > 1 ? a + 1 : a; b < n; b++) {
            double size = support_off_line(p, points + 2 * a, points + 2 * b, tried);
            if (size >= best) continue;
            best = size;
            off[0] = tried[0], off[1] = tried[1];
        }
}

/* What is judged: a result, and what each clip tells of it in frames `first` to `stop`. */
typedef struct {
    const ml_support *result;
    double fps;
    int64_t first, stop, n_told;
    const double *feet, *travel, *rates, *lows;
    const uint8_t *judged;
    double part;
    int64_t n_most, n_found;
    double *found;
} support_case;

static void support_note(support_case *at, int check, int joint, int64_t frame, double value,
                         double limit) {
    double *row = at->found;
    for (int64_t k = 0; k < at->n_found; k++, row += 5)
        if (row[0] == (double)check && row[1] == (double)joint) {
            if (fabs(value - limit) <= fabs(row[3] - row[4])) return;
            row[2] = (double)frame, row[3] = value, row[4] = limit;
            return;
        }
    if (at->n_found == at->n_most) return;
    row[0] = (double)check, row[1] = (double)joint, row[2] = (double)frame;
    row[3] = value, row[4] = limit;
    at->n_found++;
}

/* Whether a foot that is in the air in every clip swings in frame t of the result: the other foot
   stands. `n` frames are judged. */
static int support_swings(const support_case *at, int64_t n, int64_t t, int f) {
    int8_t k = at->result->slowest[2 * t + 1 - f];
    if (k < 0) return 0;
    const double *v = at->result->velocity + 3 * (SUPPORT_POINTS * (2 * t + 1 - f) + k);
    if (ml_square(v[0]) + ml_square(v[2]) >= ml_square(SUPPORT_STANDS)) return 0;
    for (int64_t s = 0; s < at->n_told; s++) {
        const double *told = at->feet + 2 * ML_SUPPORT_MOMENTS * (2 * (n * s + t - at->first) + f);
        if (isnan(at->rates[n * s + t - at->first])) continue;
        for (int i = 0; i < ML_SUPPORT_MOMENTS; i++)
            if (!isnan(told[2 * i])) return 0;
    }
    return 1;
}

/* How foot f moves over the ground in frame t beyond what the clips' feet do there. 0 where it is not
   low, too fast, swings, or nothing is known of the frame; 2 where it stands still in every clip all the
   time, whatever weight is on it; else 1. */
static int support_beyond(const support_case *at, int64_t t, int f, double *out, double *speed) {
    int8_t k = at->result->slowest[2 * t + f];
    int64_t n = at->stop - at->first, n_now = 0, known = 0, stands = 1;
    double now[2 * SUPPORT_CLIPS], off[2];
    if (k < 0 || at->result->falls[t] || !at->judged[t]) return 0;
    const double *v = at->result->velocity + 3 * (SUPPORT_POINTS * (2 * t + f) + k);
    double u[2] = {v[0], v[2]};
    *speed = sqrt(ml_square(u[0]) + ml_square(u[1]));
    if (*speed >= SUPPORT_FASTEST || fabs(v[1]) >= SUPPORT_RISES) return 0;
    out[0] = u[0], out[1] = u[1];
    double best = *speed < SUPPORT_STILL ? ml_square(*speed) : HUGE_VAL;
    for (int64_t s = 0; s < at->n_told; s++) {
        if (isnan(at->rates[n * s + t - at->first])) continue;
        known++;
        const double *told = at->feet + 2 * ML_SUPPORT_MOMENTS * (2 * (n * s + t - at->first) + f);
        for (int i = 0; i < ML_SUPPORT_MOMENTS; i++) {
            stands &=
                ml_square(told[2 * i]) + ml_square(told[2 * i + 1]) < ml_square(SUPPORT_STANDS);
            if (isnan(told[2 * i])) continue;
            int next = i + 1 < ML_SUPPORT_MOMENTS && !isnan(told[2 * i + 2]) ? i + 1 : i;
            double size = support_off_line(u, told + 2 * i, told + 2 * next, off);
            if (size >= best) continue;
            best = size;
            out[0] = off[0], out[1] = off[1];
        }
        const double *middle = told + (ML_SUPPORT_MOMENTS - 1);
        if (isnan(middle[0]) || n_now == SUPPORT_CLIPS) continue;
        now[2 * n_now] = middle[0], now[2 * n_now + 1] = middle[1];
        n_now++;
    }
    if (support_swings(at, n, t, f)) return 0;
    if (n_now > 1) {
        support_off_hull(u, n_now, now, off);
        if (ml_square(off[0]) + ml_square(off[1]) < best) out[0] = off[0], out[1] = off[1];
    }
    return known ? 1 + (int)stands : 0;
}

/* Numbers of a frame that slips are found with: the path; of each foot what it does beyond the clips'
   feet, its speed, and whether it carries. */
enum { SUPPORT_OFF = 2, SUPPORT_SPEED = 6, SUPPORT_CARRIES = 8, SUPPORT_ROW = 10 };

/* Farthest that a path gets within a window, in frames `from` to `to` in which a foot carries. */
static void support_slip(support_case *at, const double *rows, int64_t from, int64_t to,
                         int joint) {
    int64_t step = ml_check_frames(1.0, at->fps / 60.0, 1);
    int64_t window = ml_check_frames(SUPPORT_WINDOW_S, at->fps, 1), worst = from;
    double farthest = 0.0;
    if ((double)(to - from) < SUPPORT_SHORTEST_S * at->fps) return;
    for (int64_t a = from; a <= to; a += step)
        for (int64_t b = a + step; b <= to && b - a <= window; b += step) {
            const double *p = rows + SUPPORT_ROW * (a - at->first);
            const double *q = rows + SUPPORT_ROW * (b - at->first);
            double way = ml_square(q[0] - p[0]) + ml_square(q[1] - p[1]);
            if (way <= farthest) continue;
            farthest = way;
            worst = (a + b) / 2;
        }
    farthest = sqrt(farthest);
    double most = SUPPORT_SLIP * at->part;
    if (farthest > most) support_note(at, ML_CHECK_SLIP, joint, worst, farthest, most);
}

/* What both feet do beyond those of the clips. rows: (stop - first + 1, SUPPORT_ROW) */
static void support_feet(const support_case *at, double *rows) {
    for (int64_t t = at->first; t < at->stop; t++, rows += SUPPORT_ROW)
        for (int f = 0; f < 2; f++) {
            double off[2] = {0.0, 0.0}, speed = HUGE_VAL, sine, cosine;
            rows[SUPPORT_CARRIES + f] = (double)support_beyond(at, t, f, off, &speed);
            rows[SUPPORT_SPEED + f] = speed;
            ml_sincos(at->result->heading[t], &sine, &cosine);
            rows[SUPPORT_OFF + 2 * f] = (cosine * off[0] + sine * off[1]) / at->fps;
            rows[SUPPORT_OFF + 2 * f + 1] = (cosine * off[1] - sine * off[0]) / at->fps;
        }
}

/* Slips of a foot (0 left, 1 right) that carries the body, or of the slower foot of the two (2). */
static void support_judge_foot(support_case *at, int joint, double *rows) {
    int64_t begin = -1;
    rows[0] = rows[1] = 0.0;
    for (int64_t t = at->first; t <= at->stop; t++) {
        double *row = rows + SUPPORT_ROW * (t - at->first);
        int carries = 0, f = joint & 1;
        if (t < at->stop && joint < 2) {
            double least = at->result->share[2 * t + f] >= SUPPORT_SHARE ? 1.0 : 2.0;
            carries = row[SUPPORT_CARRIES + f] >= least;
        } else if (t < at->stop) {
            int left = row[SUPPORT_CARRIES] > 0.0, right = row[SUPPORT_CARRIES + 1] > 0.0;
            carries = left || right;
            f = right && (!left || row[SUPPORT_SPEED + 1] < row[SUPPORT_SPEED]);
        }
        if (!carries) {
            if (begin >= 0) support_slip(at, rows, begin, t, joint);
            begin = -1;
        } else if (begin < 0) {
            begin = t;
        }
        if (t == at->stop) break;
        for (int c = 0; c < 2; c++) row[SUPPORT_ROW + c] = row[c] + row[SUPPORT_OFF + 2 * f + c];
    }
}

/* Whether p is as near as that to one of n points: then it is to what is between them. */
static int support_is_near(const double *p, int64_t n, const double *points, double near) {
    for (int64_t k = 0; k < n; k++)
        if (ml_square(p[0] - points[2 * k]) + ml_square(p[1] - points[2 * k + 1]) <=
            ml_square(near))
            return 1;
    return 0;
}

/* Whether the body stalls, is launched, or travels in a direction in which no clip does. */
static void support_judge_travel(support_case *at) {
    int64_t n = at->stop - at->first;
    for (int64_t t = at->first; t < at->stop; t++) {
        double moves[2 * (SUPPORT_DIRECTIONS * SUPPORT_CLIPS + 1)] = {0.0}, off[2];
        double least = HUGE_VAL, most = 0.0;
        const double *v = at->result->travel + 2 * t;
        int64_t n_moves = 1;
        for (int64_t s = 0; s < at->n_told && at->judged[t] == 1; s++) {
            const double *told = at->travel + 2 * ML_SUPPORT_MOMENTS * (n * s + t - at->first);
            double rate = at->rates[n * s + t - at->first];
            if (isnan(rate)) continue;
            for (int i = 0; i < ML_SUPPORT_MOMENTS; i++) {
                double speed = sqrt(ml_square(told[2 * i]) + ml_square(told[2 * i + 1]));
                least = ml_min(least, speed * ml_clamp(rate, SUPPORT_SLOWER, 1.0));
                most = ml_max(most, speed * ml_max(rate, 1.0));
                if (i % (ML_SUPPORT_MOMENTS / SUPPORT_DIRECTIONS + 1)) continue;
                if (n_moves > SUPPORT_DIRECTIONS * SUPPORT_CLIPS) continue;
                moves[2 * n_moves] = SUPPORT_LAUNCH * told[2 * i];
                moves[2 * n_moves + 1] = SUPPORT_LAUNCH * told[2 * i + 1];
                n_moves++;
            }
        }
        if (n_moves == 1) continue;
        double speed = sqrt(ml_square(v[0]) + ml_square(v[1]));
        double low = SUPPORT_STALL * least - SUPPORT_SPEED_FREE * at->part;
        double high = SUPPORT_LAUNCH * most + SUPPORT_SPEED_FREE * at->part;
        if (speed < low) support_note(at, ML_CHECK_STALL, -1, t, speed, low);
        if (speed > high) support_note(at, ML_CHECK_LAUNCH, -1, t, speed, high);
        double free = SUPPORT_ASTRAY_FREE * at->part + SUPPORT_ASTRAY * most;
        if (support_is_near(v, n_moves, moves, free)) continue;
        support_off_hull(v, n_moves, moves, off);
        double away = sqrt(ml_square(off[0]) + ml_square(off[1]));
        if (away > free) support_note(at, ML_CHECK_ASTRAY, -1, t, away, free);
    }
}

/* Soles that are lower than in every clip around that moment. */
static void support_judge_soles(support_case *at) {
    int64_t n = at->stop - at->first;
    for (int64_t t = at->first; t < at->stop; t++) {
        if (at->judged[t] != 1) continue;
        double low[4] = {HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL};
        for (int64_t s = 0; s < at->n_told; s++) {
            if (isnan(at->rates[n * s + t - at->first])) continue;
            for (int k = 0; k < 4; k++)
                low[k] = ml_min(low[k], at->lows[4 * (n * s + t - at->first) + k] -
                                            SUPPORT_SINK * at->part);
        }
        for (int k = 0; k < 4; k++) {
            double height = at->result->soles[12 * t + 3 * k + 1];
            if (low[k] < HUGE_VAL && height < low[k])
                support_note(at, ML_CHECK_SOLE, k, t, height, low[k]);
        }
    }
}

ml_status ml_support_judge(const ml_support *result, double fps, int64_t first, int64_t stop,
                           int64_t n_told, const double *feet, const double *travel,
                           const double *rates, const double *lows, const uint8_t *judged,
                           double part, double *ways, int64_t n_most, double *found,
                           int64_t *n_found) {
    *n_found = 0;
    if (first < 0 || stop > result->n_frames || first > stop || n_told < 0) return ML_BAD_SIZE;
    support_case at = {result, fps,  first,  stop, n_told, feet, travel,
                       rates,  lows, judged, part, n_most, 0,    found};
    support_feet(&at, ways);
    for (int joint = 0; joint < 3; joint++) support_judge_foot(&at, joint, ways);
    support_judge_travel(&at);
    support_judge_soles(&at);
    *n_found = at.n_found;
    return ML_OK;
}
