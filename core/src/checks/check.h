/* What the quality checks share: when a sole point is dragged, when a body is off the floor and
   how far it is off free fall, and how fast it brakes. Sources and results are measured by the same code. */

#ifndef MOTIONLOOM_CHECK_H
#define MOTIONLOOM_CHECK_H

#include "../kernels.h"
#include "../math/vector.h"

#define CHECK_DEGREES (ML_PI / 180.0)

/* Metres, m/s. A sole point that is lower than one of the heights over the floor and faster than the
   speed is dragged. Drags below each height are compared with the sources' below the same: a foot
   that swings by at 2 cm does not license one that wipes the floor. */
#define CHECK_DRAG_HEIGHTS {0.01, 0.02, 0.03}
/* Metres. A body all of whose points are higher than this over the floor touches nothing. */
#define CHECK_HOVER_HEIGHT 0.04
/* m/s. A sole point that is faster does not carry the body. */
#define CHECK_STANDS_SPEED 1.0
/* Metres. A part of the body that is so much lower than the soles may carry it. */
#define CHECK_REST 0.05
/* Metres off free fall that are always allowed. */
#define CHECK_HOVER_FREE 0.05
/* Seconds. Longer runs without support are no flights, and looked at in parts. */
#define CHECK_FLIGHT_S 2.0
/* Metres that a contact may always slide. */
#define CHECK_SLIDE_FREE 0.04
/* Slides are compared over equally long contacts: of this long, twice, four times ..., and any. */
#define CHECK_SPAN_S (1.0 / 15.0)
/* A heel is tested at its end and so far towards the ball, where it carries the body: a foot that
   turns on the end of its heel slides. Points that are tested: left heel and ball, right heel and
   ball, left and right pad of the heel. */
#define CHECK_PAD 0.2
#define CHECK_POINTS 6
/* Seconds. Decelerations are measured over this long. */
#define CHECK_BRAKE_S 0.15
/* Fields of `body` of the limits: 95th percentile of the head's rotation speed, rad/s; ground speed
   of the pelvis, m/s; deceleration, m/s2; farthest off free fall, metres. */
enum { CHECK_BODY_HEAD, CHECK_BODY_TRAVEL, CHECK_BODY_BRAKE, CHECK_BODY_HOVER };

/* Pelvis of frame t of a series, and mass point, where it has any; and heading: from positions of joints. */
void ml_check_body(const ml_check_rig *rig, int64_t t, const double *at,
                   const ml_check_series *out);
void ml_check_heading(const ml_check_rig *rig, int64_t t, const double *at,
                      const ml_check_series *out);

/* Velocities of soles and of the body in frames `first` to `stop` - 1, as of ml_support_measure. */
void ml_support_moves(const ml_check_series *series, double fps, int64_t first, int64_t stop,
                      const ml_support *out);

/* Frames in some seconds, to the nearest, at least `least`. */
static inline int64_t ml_check_frames(double seconds, double fps, int64_t least) {
    int64_t frames = (int64_t)ml_nearest(ml_min(ml_max(0.0, seconds * fps), 1e9));
    return frames > least ? frames : least;
}

/* Length of a step over the ground, between two points. */
static inline double ml_check_way(const double *now, const double *before) {
    double x = now[0] - before[0], z = now[2] - before[2];
    return sqrt(x * x + z * z);
}

/* Tested point k of soles (F, 4, 3) in frame t; of a pad a copy in `pad`. */
static inline const double *ml_check_point(const double *soles, int64_t t, int k, double *pad) {
    if (k < 4) return soles + 12 * t + 3 * k;
    const double *heel = soles + 12 * t + 6 * (k - 4);
    for (int c = 0; c < 3; c++) pad[c] = heel[c] + CHECK_PAD * (heel[3 + c] - heel[c]);
    return pad;
}

/* The sole point that is planted where tested point k is. */
static inline int ml_check_sole(int k) { return k < 4 ? k : 2 * (k - 4); }

/* The box on the ground, from (low) to (high), that a planted point stayed in so far. */
typedef struct {
    double low[2], high[2];
    int64_t n_frames;
} check_contact;

/* A frame more of a contact. */
static inline void ml_check_touch(check_contact *contact, const double *point) {
    for (int c = 0; c < 2; c++) {
        double at = point[2 * c];
        contact->low[c] = contact->n_frames ? ml_min(contact->low[c], at) : at;
        contact->high[c] = contact->n_frames ? ml_max(contact->high[c], at) : at;
    }
    contact->n_frames++;
}

/* How far the point moved: the diagonal of the box. */
static inline double ml_check_moved(const check_contact *contact) {
    return sqrt(ml_square(contact->high[0] - contact->low[0]) +
                ml_square(contact->high[1] - contact->low[1]));
}

/* Numbers of each tested point that copied frames allow: its lowest height, how far the contact that
   starts there may slide, and how far it may be dragged below each height. */
#define CHECK_GROUNDS (2 + ML_CHECK_HEIGHTS)

/* Points of a sole whose support is judged, the heel first. */
#define CHECK_SOLE_POINTS 5

/* Which row of slides and drags of the sources tested point k is compared with: feet share them. */
static inline int ml_check_row(int k) { return k < 4 ? k & 1 : 2; }

/* Height of the floor under tested point k, over floors (4) under sole points. */
static inline double ml_check_floor(const double *floors, int k) {
    int sole = ml_check_sole(k);
    return k < 4 ? floors[k] : floors[sole] + CHECK_PAD * (floors[sole + 1] - floors[sole]);
}

/* Which of the ML_CHECK_SPANS limits a contact of n frames has. */
static inline int64_t ml_check_span(int64_t n_frames, double fps) {
    int64_t width = ml_check_frames(CHECK_SPAN_S, fps, 2);
    for (int64_t span = 0; span < ML_CHECK_SPANS - 1; span++) {
        if (n_frames <= width) return span;
        width *= 2;
    }
    return ML_CHECK_SPANS - 1;
}

/* How far tested point k moves along the floor in the step into frame t > 0, and the lowest of the
   heights that it is below: ML_CHECK_HEIGHTS where it is above all, or moves too slowly. */
static inline int ml_check_drag(const double *soles, const double *floors, int64_t t, int k,
                                double fps, double *way) {
    static const double heights[ML_CHECK_HEIGHTS] = CHECK_DRAG_HEIGHTS;
    double pads[6], floor = ml_check_floor(floors, k);
    const double *now = ml_check_point(soles, t, k, pads);
    *way = 0.0;
    if (now[1] >= floor + heights[ML_CHECK_HEIGHTS - 1]) return ML_CHECK_HEIGHTS;
    const double *before = ml_check_point(soles, t - 1, k, pads + 3);
    double high = ml_max(now[1], before[1]);
    int h = 0;
    while (h < ML_CHECK_HEIGHTS && high >= floor + heights[h]) h++;
    if (h == ML_CHECK_HEIGHTS) return h;
    *way = ml_check_way(now, before);
    return *way * fps > ML_CHECK_DRAG_SPEED ? h : ML_CHECK_HEIGHTS;
}

/* Whether nothing supports the body in frame t: every sole point is off the floor or moves along it,
   and no other part of the body is down there. soles (F, 4, 3), lowest (F), floors (4). Both feet
   stand on the lower floor of the two: a run shows the heel of one foot, or none, on the ground. */
static inline int ml_check_is_off(const double *soles, const double *lowest, int64_t t,
                                  const double *floors, double fps) {
    double low = HUGE_VAL, sole = HUGE_VAL;
    for (int k = 0; k < 4; k++) {
        const double *now = soles + 12 * t + 3 * k;
        double floor = ml_min(floors[k], floors[k ^ 2]);
        low = ml_min(low, floor);
        sole = ml_min(sole, now[1]);
        if (now[1] > floor + CHECK_HOVER_HEIGHT) continue;
        if (t == 0 || ml_check_way(now, now - 12) * fps <= CHECK_STANDS_SPEED) return 0;
    }
    if (lowest[t] > low + CHECK_HOVER_HEIGHT) return 1;
    return sole <= low + CHECK_HOVER_HEIGHT && lowest[t] > sole - CHECK_REST;
}

/* Acceleration of the parabola nearest to heights of points (F, 3) from frame `first` to `stop`,
   m/s2. */
static inline double ml_check_fall(const double *points, int64_t first, int64_t stop, double fps) {
    double middle = 0.5 * (double)(stop - first - 1), mean = 0.0, along = 0.0, size = 0.0;
    for (int64_t t = first; t < stop; t++) mean += ml_square((double)(t - first) - middle);
    mean /= (double)(stop - first);
    for (int64_t t = first; t < stop; t++) {
        double weight = ml_square((double)(t - first) - middle) - mean;
        along += weight * points[3 * t + 1];
        size += weight * weight;
    }
    return size > 0.0 ? 2.0 * (along / size) * fps * fps : 0.0;
}

/* How far the mass point (F, 3) of a body that nothing supports leaves the path of a body that falls freely
   from frame `from` to frame `to`, metres: 0 in a jump, g T^2 / 8 in a level glide of T seconds. Gravity
   may be lower or higher by a part `warp`: the nearest of such paths, or that of gravity itself. */
static inline double ml_check_gap_in(const double *mass, int64_t from, int64_t to, double fps,
                                     double warp) {
    double length = (double)(to - from) / fps, start = mass[3 * from + 1];
    double slope = (mass[3 * to + 1] - start) / length, along = 0.0, size = 0.0;
    double falls[2] = {ML_GRAVITY, ML_GRAVITY}, gaps[2] = {0.0, 0.0};
    if (to - from < 2) return 0.0;
    for (int64_t t = from + 1; t < to; t++) {
        double now = (double)(t - from) / fps, arc = 0.5 * now * (length - now);
        along += arc * (mass[3 * t + 1] - start - slope * now);
        size += arc * arc;
    }
    falls[1] *= ml_clamp(along / (ML_GRAVITY * size), 1.0 - warp, 1.0 + warp);
    for (int64_t t = from + 1; t < to; t++) {
        double now = (double)(t - from) / fps, arc = 0.5 * now * (length - now);
        double off = mass[3 * t + 1] - start - slope * now;
        for (int k = 0; k < 2; k++) gaps[k] = ml_max(gaps[k], fabs(off - falls[k] * arc));
    }
    return ml_min(gaps[0], gaps[1]);
}

/* The same of a run of any length, from the frame before `first` to frame `stop`: of one that is longer
   than flights are, its parts. */
static inline double ml_check_gap(int64_t n_frames, const double *mass, int64_t first, int64_t stop,
                                  double fps, double warp) {
    int64_t from = first > 0 ? first - 1 : 0, to = stop < n_frames ? stop : n_frames - 1;
    int64_t most = ml_check_frames(CHECK_FLIGHT_S, fps, 2);
    double gap = 0.0;
    for (; to - from > most; from += most / 2)
        gap = ml_max(gap, ml_check_gap_in(mass, from, from + most, fps, warp));
    return ml_max(gap, ml_check_gap_in(mass, from, to, fps, warp));
}

/* Loss of ground speed of the pelvis (n, 3) over CHECK_BRAKE_S before each frame, m/s2, smoothed
   over it; 0 in frames that have not so many before them. */
static inline void ml_check_braking(int64_t n, const double *pelvis, double fps, double *out) {
    int64_t width = ml_check_frames(CHECK_BRAKE_S, fps, 2), half = width / 2;
    for (int64_t t = half; t < n; t++)
        out[t] = fps * ml_check_way(pelvis + 3 * t, pelvis + 3 * (t - half)) / (double)half;
    for (int64_t t = n - 1; t >= width + half; t--)
        out[t] = (out[t - width] - out[t]) * fps / (double)width;
    for (int64_t t = 0; t < n && t < width + half; t++) out[t] = 0.0;
}

#endif
