/* Swing: how far a foot is moved in every frame, held or between two holds. */

#include "rows.h"

/* Frames in which an offset runs out where nothing else asks for the foot. */
#define SWING_FADE 15
/* Frames in which a foot that is let go takes up the blend's own speed, and the fewest. */
#define SWING_SLOPE 20
#define SWING_QUICKEST 6
/* The most for its speed up and down: feet leave and meet the ground abruptly. */
#define SWING_UPRIGHT 8
/* How far it may get behind the blend meanwhile, metres; a faster one takes it up sooner. */
#define SWING_GROWTH 0.05
/* Greatest height that a step is given, and height of a free heel over where it stands, metres. */
#define SWING_LIFT_MOST 0.05
#define SWING_HEEL_CLEAR 0.02

/* How feet are lifted, metres and m/s. */
typedef struct {
    double from;        /* a foot that steps less far than this is not lifted */
    double part;        /* least height of a step, as a part of its way */
    double hurry;       /* a step of n frames is lifted by no more than this times n^2 */
    double clear;       /* height of a free ball over where it stands, at `fast`; nothing below `slow` */
    double slow, fast;
} swing_manner;

/* Blends: a standing foot and a swinging one go along at the height of neither, and drag. */
static const swing_manner SWING_BLENDED = {0.025, 1.0, 2.4e-4, 0.035, 0.1, 0.5};
/* Captured windows lift their feet themselves: more would be a hop that nobody made. */
static const swing_manner SWING_CAPTURED = {0.03, 0.15, 1.2e-4, 0.03, 0.25, 1.0};

static const swing_manner *swing_manner_of(int32_t captured) {
    return captured ? &SWING_CAPTURED : &SWING_BLENDED;
}

/* Frames in which it gets there. */
#define SWING_RISE 9
/* Frames in which a heel comes up that would be in the ground, and goes down again. */
#define SWING_TILT 9

static int64_t swing_fewer(int64_t a, int64_t b) { return b < a ? b : a; }

/* `frames` at first, 0 with slope 0 from `length` on: a slope that runs out. */
static double swing_ebb(int64_t frames, int64_t length) {
    if (frames >= length) return 0.0;
    double left = 1.0 - (double)frames / (double)length;
    return (double)frames * left * left;
}

/* Frames in which an offset that changes so much a frame may go on until it stops:
   t (1 - t / n)^2 is 4 n / 27 at most. */
static int64_t swing_frames_to_follow(const double *before, const double *after) {
    double change[3];
    ml_between(after, before, change);
    double step = ml_length(change);
    if (!(step * SWING_SLOPE * 4.0 > SWING_GROWTH * 27.0)) return SWING_SLOPE;
    int64_t frames = (int64_t)(SWING_GROWTH * 27.0 / (4.0 * step));
    return frames > SWING_QUICKEST ? frames : SWING_QUICKEST;
}

/* How much higher the middle of a step must be, metres. */
static double swing_lift(const swing_manner *manner, const int64_t *held, const double *foot,
                         const double *offsets, int64_t low, int64_t high) {
    const double *a = foot + 3 * low, *b = foot + 3 * high;
    const double *from = offsets + 3 * low, *to = offsets + 3 * high;
    double way = ml_over_ground(b[0] + to[0] - a[0] - from[0], b[2] + to[2] - a[2] - from[2]);
    if (way < manner->from || held[low] == ML_NOT_HELD || held[high] == ML_NOT_HELD)
        return 0.0;
    double ends = 0.5 * (a[1] + from[1] + b[1] + to[1]);
    double now = foot[3 * ((low + high) / 2) + 1] + 0.5 * (from[1] + to[1]) - ends;
    double frames = (double)(high - low);
    double most = ml_min(SWING_LIFT_MOST, manner->hurry * (frames * frames));
    return ml_max(ml_min(manner->part * way, most) - now, 0.0);
}

/* Offsets strictly between two frames whose offsets are known. */
static void swing_bridge(const swing_manner *manner, int64_t n, const int64_t *held,
                         const double *foot, double *offsets, int64_t low, int64_t high) {
    int64_t wide = high - low;
    if (wide < 2) return;
    const double *from = offsets + 3 * low, *to = offsets + 3 * high;
    double lift = swing_lift(manner, held, foot, offsets, low, high);
    int leaves = low > 0 && held[low] != ML_NOT_HELD && held[low - 1] == held[low];
    int meets = high < n - 1 && held[high] != ML_NOT_HELD && held[high + 1] == held[high];
    int64_t leaving = swing_fewer(wide, SWING_SLOPE), meeting = leaving;
    if (leaves) leaving = swing_fewer(leaving, swing_frames_to_follow(from - 3, from));
    if (meets) meeting = swing_fewer(meeting, swing_frames_to_follow(to, to + 3));
    for (int64_t t = low + 1; t < high; t++) {
        int64_t gone = t - low, left = high - t;
        double a, b, u = (double)gone / (double)wide, *offset = offsets + 3 * t;
        if (wide > 2 * SWING_FADE) {
            a = 1.0 - ml_eased((double)gone / SWING_FADE);
            b = 1.0 - ml_eased((double)left / SWING_FADE);
        } else {
            b = ml_eased(u);
            a = 1.0 - b;
        }
        for (int c = 0; c < 3; c++) {
            offset[c] = a * from[c] + b * to[c];
            if (leaves) {
                int64_t frames = c == 1 ? swing_fewer(leaving, SWING_UPRIGHT) : leaving;
                offset[c] += swing_ebb(gone, frames) * (from[c] - from[c - 3]);
            }
            if (meets) {
                int64_t frames = c == 1 ? swing_fewer(meeting, SWING_UPRIGHT) : meeting;
                offset[c] -= swing_ebb(left, frames) * (to[c + 3] - to[c]);
            }
        }
        offset[1] += lift * 16.0 * u * u * (1.0 - u) * (1.0 - u);
    }
}

void ml_swing_offsets(int64_t n_frames, const int64_t *held, const double *places,
                      const double *foot, int32_t captured, double *offsets) {
    const swing_manner *manner = swing_manner_of(captured);
    for (int64_t t = 0; t < n_frames; t++)
        for (int64_t k = 3 * t; k < 3 * t + 3; k++)
            offsets[k] = held[t] != ML_NOT_HELD ? places[k] - foot[k] : 0.0;
    int64_t t = 0;
    while (t < n_frames - 1) {
        int64_t low = t++;
        if (held[low] != ML_NOT_HELD && held[t] == held[low]) continue;
        while (t < n_frames - 1 && held[t] == ML_NOT_HELD) t++;
        swing_bridge(manner, n_frames, held, foot, offsets, low, t);
    }
}

/* Frames from each one to the nearest that is held or at a seam, 0 where it is. */
static void swing_frames_to_holds(int64_t n, const int64_t *held, double *frames) {
    for (int64_t t = 0; t < n; t++)
        frames[t] = t == 0 || held[t] != ML_NOT_HELD ? 0.0 : frames[t - 1] + 1.0;
    frames[n - 1] = 0.0;
    for (int64_t t = n - 2; t >= 0; t--) frames[t] = ml_min(frames[t], frames[t + 1] + 1.0);
}

/* From 0 for a foot point that stands to 1 for one that goes fast over the ground. */
static double swing_hurry(const swing_manner *manner, const double *point, const double *offsets,
                          int64_t t, double fps) {
    const double *after = point + 3 * (t + 1), *before = point + 3 * (t - 1);
    const double *to = offsets + 3 * (t + 1), *from = offsets + 3 * (t - 1);
    double x = after[0] + to[0] - before[0] - from[0], z = after[2] + to[2] - before[2] - from[2];
    double speed = 0.5 * fps * ml_over_ground(x, z);
    return ml_eased((speed - manner->slow) / (manner->fast - manner->slow));
}

/* Lift free feet over the floor, and balls over where they stand the faster they go. */
static void swing_lift_free(const swing_manner *manner, int64_t n, const int64_t *held,
                            const double *heel, const double *ball, const double *levels,
                            double floor_y, double fps, double *scratch, double *offsets) {
    double *wanted = scratch, *needed = scratch + n, *frames = scratch + 2 * n;
    double parts[SWING_RISE + 1]; /* of what is wanted so many frames away */
    for (int d = 0; d <= SWING_RISE; d++)
        parts[d] = 1.0 - ml_square((double)d / (SWING_RISE + 1.0));
    swing_frames_to_holds(n, held, frames);
    for (int64_t t = 0; t < n; t++) {
        wanted[t] = needed[t] = 0.0;
        if (t == 0 || t == n - 1 || held[t] != ML_NOT_HELD) continue;
        double up = offsets[3 * t + 1], heel_y = heel[3 * t + 1], ball_y = ball[3 * t + 1];
        /* Close to a hold a heel comes up about the ball instead, as it does in the hold. */
        double low = (floor_y - heel_y - up) * ml_eased(frames[t] / SWING_RISE);
        needed[t] = ml_max(floor_y - ball_y - up, low);
        double over = ball_y + up - levels[t], over_heel = heel_y + up - floor_y;
        wanted[t] =
            ml_max(manner->clear * swing_hurry(manner, ball, offsets, t, fps) - over,
                   SWING_HEEL_CLEAR * swing_hurry(manner, heel, offsets, t, fps) - over_heel);
    }
    for (int64_t t = 1; t < n - 1; t++) {
        if (held[t] != ML_NOT_HELD) continue;
        int64_t from = t > SWING_RISE ? t - SWING_RISE : 1;
        int64_t last = swing_fewer(t + SWING_RISE, n - 2);
        double lift = 0.0, least = 0.0;
        for (int64_t u = from; u <= last; u++) {
            if (wanted[u] > 0.0) {
                double left = parts[u < t ? t - u : u - t];
                lift = ml_max(lift, wanted[u] * left * left);
            }
            if (needed[u] > 0.0) {
                double width = ml_min(SWING_RISE + 1.0, frames[u]);
                double left = 1.0 - ml_square((double)(t - u) / width);
                if (left > 0.0) least = ml_max(least, needed[u] * left * left);
            }
        }
        offsets[3 * t + 1] += ml_max(lift * ml_eased(frames[t] / SWING_RISE), least);
    }
}

/* Angles about the ball at which no heel is below the floor, growing and going slowly. */
static void swing_raise_heels(int64_t n, const double *heel, const double *ball, double floor_y,
                              const double *offsets, double *needs, double *tilts) {
    for (int64_t t = 1; t < n - 1; t++) {
        double way[3];
        ml_between(heel + 3 * t, ball + 3 * t, way);
        double least = floor_y - ml_max(ball[3 * t + 1] + offsets[3 * t + 1], floor_y);
        needs[t] = 0.0;
        if (way[1] < least) {
            double length = ml_length(way);
            needs[t] = ml_asin(ml_max(least / length, -1.0)) - ml_asin(way[1] / length);
        }
    }
    tilts[0] = tilts[n - 1] = 0.0;
    for (int64_t t = 1; t < n - 1; t++) {
        int64_t from = t > SWING_TILT ? t - SWING_TILT : 1;
        int64_t last = swing_fewer(t + SWING_TILT, n - 2);
        double tilt = 0.0;
        for (int64_t u = from; u <= last; u++)
            if (needs[u] > 0.0) {
                double width = ml_min(SWING_TILT + 1.0, (double)swing_fewer(u, n - 1 - u));
                double left = 1.0 - ml_square((double)(t - u) / width);
                if (left > 0.0) tilt = ml_max(tilt, needs[u] * left * left);
            }
        tilts[t] = tilt;
    }
}

ml_status ml_swing_clear(const ml_rows *rows, int64_t side, int64_t n_frames, int64_t n_ways,
                         const int64_t *at, const double *weights, const int64_t *held,
                         const double *heel, const double *ball, double fps, int32_t captured,
                         double *scratch, double *offsets, double *tilts) {
    const swing_manner *manner = swing_manner_of(captured);
    int64_t n = n_frames;
    if (n < 1 || (side != 0 && side != 1) || !ml_rows_have(rows->n_rows, n * n_ways, at))
        return ML_BAD_SIZE;
    double *levels = scratch, floor_y = HUGE_VAL;
    for (int64_t t = 0; t < n; t++) levels[t] = 0.0;
    for (int64_t i = 0; i < n_ways; i++) {
        double low = HUGE_VAL;
        for (int64_t t = 0; t < n; t++) {
            int64_t row = at[t * n_ways + i];
            low = ml_min(low, (double)ml_rows_point(rows, row, ML_BALL(side))[1]);
            floor_y = ml_min(floor_y, (double)ml_rows_point(rows, row, ML_HEEL(side))[1]);
        }
        floor_y = ml_min(floor_y, low);
        for (int64_t t = 0; t < n; t++) levels[t] += weights[i * n + t] * low;
    }
    for (int64_t t = 0; t < n; t++)
        if (held[t] != ML_NOT_HELD || t == 0 || t == n - 1)
            floor_y = ml_min(floor_y, ball[3 * t + 1] + offsets[3 * t + 1]);
    floor_y = ml_min(floor_y, ml_min(heel[1], heel[3 * (n - 1) + 1]));
    /* A foot that stands nowhere in a window says nothing about the ground. */
    for (int64_t t = 0; t < n; t++) levels[t] = ml_min(levels[t], floor_y + manner->clear);
    swing_lift_free(manner, n, held, heel, ball, levels, floor_y, fps, scratch + n, offsets);
    swing_raise_heels(n, heel, ball, floor_y, offsets, scratch + n, tilts);
    return ML_OK;
}
