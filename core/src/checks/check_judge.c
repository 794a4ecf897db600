/* Measured series compared with the limits of the sources: everything that is wrong with a motion,
   for every check and joint the worst frame. */

#include "../math/median.h"
#include "check.h"

/* What the pelvis may exceed its maximum in the sources by, and what it may always reach, rad/s; so also
   of braking, m/s2, and of travel, m/s. ML_CHECK_TURN_MORE and those after it are of joints. */
#define CHECK_PELVIS_MORE 1.5
#define CHECK_PELVIS_FREE (150.0 * CHECK_DEGREES)
#define CHECK_BRAKE_MORE 1.3
#define CHECK_BRAKE_FREE 9.0
#define CHECK_TRAVEL_MORE 1.3
#define CHECK_TRAVEL_FREE 0.5
#define CHECK_PLAN_OFF (30.0 * CHECK_DEGREES)
/* A step this many times the median of the time around it, above the joint's own maximum by MORE
   and above FREE, rad/s, is a flip. */
#define CHECK_FLIP_TIMES 3.0
#define CHECK_FLIP_FREE (200.0 * CHECK_DEGREES)
#define CHECK_FLIP_MORE 1.2
#define CHECK_FLIP_S 0.1
/* Two sixtieths of a second before and after a flip its joint turns at most this part as fast. */
#define CHECK_FLIP_ALONE 0.5
/* A copied step that stands out may be a tenth larger than in its source, where other frames may be
   15 % faster: part of what is allowed. */
#define CHECK_STEP_ALLOWED (1.1 / 1.15)
/* Radians. Smaller steps are not seen as flips, whatever the frame rate. */
#define CHECK_FLIP_STEP (4.0 * CHECK_DEGREES)
/* The same of speeds: a bone that is faster than it always may be, and by MORE than in the sources,
   for at most S seconds, jumps. One that is FAR beyond it and NEAR times as fast as in the steps
   before and after jumps whatever the sources do. What it always may be counts by the step where
   there are more than FPS in a second: smaller ones are noise. */
#define CHECK_JUMP_MORE 1.05
#define CHECK_JUMP_S 0.07
#define CHECK_JUMP_FAR 1.875
#define CHECK_JUMP_NEAR 3.0
#define CHECK_JUMP_FPS 60.0
/* A bone that is out of place in one frame twitches: farther from the middle between the frames before
   and after than it may always go in S seconds (8 degrees of a short bone; twice as far at half as
   many frames per second), TIMES as far as what stands out around, and back to within BACK of the
   shorter of its two steps. */
#define CHECK_TWITCH_S (8.0 / 320.0)
#define CHECK_TWITCH_TIMES 2.0
#define CHECK_TWITCH_BACK 0.7
/* Knees, radians; soles and contacts, metres; drags, metres; hovering, metres off free fall. */
#define CHECK_BACK_MORE (3.0 * CHECK_DEGREES)
#define CHECK_BACK_FREE (-5.0 * CHECK_DEGREES)
#define CHECK_FOLD_MORE (10.0 * CHECK_DEGREES)
#define CHECK_FOLD_FREE (160.0 * CHECK_DEGREES)
#define CHECK_DRAG_MORE 1.2
#define CHECK_DRAG_FREE {0.10, 0.10, 0.30}
#define CHECK_HOVER_MORE 1.25

/* What one call of ml_check_judge is about, and what it found so far. */
typedef struct {
    const ml_check_series *series;
    const ml_check_limits *limits;
    const uint8_t *planted, *skipped, *judged;
    const double *plan, *allowed, *grounds, *floors, *hovers;
    double fps, warp;
    int64_t first, last, n_most, n_found;
    double *work, *found;
} check_case;

/* Keep a failure, and the worse of two of the same check and joint. */
static void check_note(check_case *at, int check, int64_t joint, int64_t frame, double value,
                       double limit) {
    double over = fabs(value - limit);
    double *row = at->found;
    if (at->judged && !at->judged[frame]) return;
    for (int64_t k = 0; k < at->n_found; k++, row += 5)
        if (row[0] == (double)check && row[1] == (double)joint) {
            if (over > fabs(row[3] - row[4])) {
                row[2] = (double)frame;
                row[3] = value;
                row[4] = limit;
            }
            return;
        }
    if (at->n_found == at->n_most) return;
    row[0] = (double)check;
    row[1] = (double)joint;
    row[2] = (double)frame;
    row[3] = value;
    row[4] = limit;
    at->n_found++;
}

/* The frame of a run from `begin` to `stop` - 1 that a failure of it is noted in: `frame`, or the first
   that is judged where that is not. */
static int64_t check_frame(const check_case *at, int64_t begin, int64_t stop, int64_t frame) {
    if (!at->judged || at->judged[frame]) return frame;
    for (int64_t t = begin; t < stop; t++)
        if (at->judged[t]) return t;
    return frame;
}

/* Whether a fast turn of joint n stands alone: two sixtieths of a second away the joint is calm. */
static int check_is_alone(const check_case *at, int64_t t, int64_t n) {
    const double *turn = at->series->turn;
    int64_t n_checked = at->series->n_checked, away = 2 * ml_check_frames(1.0, at->fps / 60.0, 1);
    double most = CHECK_FLIP_ALONE * turn[t * n_checked + n];
    if (t - away >= 1 && turn[(t - away) * n_checked + n] > most) return 0;
    return !(t + away < at->series->n_frames && turn[(t + away) * n_checked + n] > most);
}

/* Whether a bone is fast for a moment only: steps in a row around frame t that are larger than half
   of it. */
static int check_is_brief(const check_case *at, int64_t t, int64_t n) {
    const double *speed = at->series->speed;
    int64_t n_checked = at->series->n_checked, last = at->series->n_frames - 1;
    int64_t longest = (int64_t)(CHECK_JUMP_S * at->fps), from = t, to = t;
    double half = 0.5 * speed[t * n_checked + n];
    if (longest < 1) longest = 1;
    while (from > 1 && to - from < longest && speed[(from - 1) * n_checked + n] > half) from--;
    while (to < last && to - from < longest && speed[(to + 1) * n_checked + n] > half) to++;
    return to - from < longest;
}

/* What a step of joint n into frame t may be because of those around it. */
static double check_usual(const check_case *at, const double *steps, int64_t t, int64_t n) {
    int64_t half = ml_check_frames(CHECK_FLIP_S, at->fps, 2), count = 0;
    int64_t begin = t - half > 1 ? t - half : 1, end = at->series->n_frames - 1;
    if (t + half < end) end = t + half;
    for (int64_t u = begin; u <= end; u++)
        if (u != t) at->work[count++] = steps[u * at->series->n_checked + n];
    return count ? CHECK_FLIP_TIMES * ml_median(at->work, count) : HUGE_VAL;
}

/* What each joint may do, whatever frames were copied, and whether it does more in any frame: most
   joints of most motions do not, and need not be looked at again. All: (n_checked) */
typedef struct {
    double *restrict turn, *restrict speed, *restrict bend, *restrict flip, *restrict jump;
    double *restrict over;
} check_most;

/* How many times as fast bones may always be, because frames are shorter. */
static double check_often(const check_case *at) { return ml_max(1.0, at->fps / CHECK_JUMP_FPS); }

/* Whether a bone that may always be as fast as `quick` moves far more in a step than in those before
   and after it. */
static inline int check_is_far(double quick, double before, double step, double after) {
    return (step > CHECK_JUMP_FAR * quick) & (step > CHECK_JUMP_NEAR * before) &
           (step > CHECK_JUMP_NEAR * after);
}

/* How far from the middle of its neighbours a bone may always be, in seconds of its `quick`. */
static double check_aside(const check_case *at) {
    return CHECK_TWITCH_S * ml_max(1.0, CHECK_JUMP_FPS / at->fps);
}

static void check_find_over(const check_case *at, const check_most *most) {
    const ml_check_series *series = at->series;
    const ml_check_limits *limits = at->limits;
    int64_t n_checked = series->n_checked;
    double step = CHECK_FLIP_STEP * at->fps, often = check_often(at), aside = check_aside(at);
    for (int64_t n = 0; n < n_checked; n++) {
        double own = limits->turn[n];
        most->turn[n] = ml_max(ML_CHECK_TURN_MORE * own, ML_CHECK_TURN_FREE);
        most->speed[n] = ml_max(ML_CHECK_SPEED_MORE * limits->speed[n], limits->quick[n]);
        most->bend[n] = ml_max(ML_CHECK_BEND_MORE * limits->bend[n], ML_CHECK_BEND_FREE);
        most->flip[n] = ml_max(ml_max(CHECK_FLIP_MORE * own, CHECK_FLIP_FREE), step);
        most->jump[n] = ml_max(CHECK_JUMP_MORE * limits->speed[n], often * limits->quick[n]);
        most->over[n] = 0.0;
    }
    most->turn[0] = ml_max(CHECK_PELVIS_MORE * limits->turn[0], CHECK_PELVIS_FREE);
    most->speed[0] = most->jump[0] = HUGE_VAL; /* the others are compared with it */
    for (int64_t t = at->first > 1 ? at->first : 1; t <= at->last; t++) {
        const double *turn = series->turn + t * n_checked, *speed = series->speed + t * n_checked;
        const double *bend = series->bend + t * n_checked, *before = speed - n_checked;
        const double *kink = series->kink + t * n_checked;
        const double *after = t < series->n_frames - 1 ? speed + n_checked : before;
        for (int64_t n = 0; n < n_checked; n++) {
            int more = (turn[n] > most->turn[n]) | (turn[n] > most->flip[n]) |
                       (speed[n] > most->speed[n]) | (speed[n] > most->jump[n]) |
                       (bend[n] > most->bend[n]) | (kink[n] > aside * limits->quick[n]) |
                       check_is_far(often * limits->quick[n], before[n], speed[n], after[n]);
            most->over[n] = more ? 1.0 : most->over[n];
        }
    }
}

/* Steps of one frame that stand out from those around it: turns, and paths of bones. `own`: what they
   may be because of the very frame of the source. */
static void check_judge_step(check_case *at, const check_most *most, int64_t t, int64_t n,
                             double own_turn, double own_speed) {
    const ml_check_series *series = at->series;
    int64_t n_checked = series->n_checked;
    const double *step = series->speed + t * n_checked + n;
    double turn = series->turn[t * n_checked + n], speed = step[0], flip = most->flip[n];
    if (turn > ml_max(flip, own_turn) && check_is_alone(at, t, n)) {
        double usual = check_usual(at, series->turn, t, n);
        if (turn > usual) check_note(at, ML_CHECK_FLIP, n, t, turn, ml_max(usual, flip));
    }
    if (n == 0 || speed <= own_speed) return;
    double after = t < series->n_frames - 1 ? step[n_checked] : 0.0, limit = most->jump[n];
    double quick = check_often(at) * at->limits->quick[n];
    int is_far = check_is_far(quick, step[-n_checked], speed, after);
    if (is_far) limit = ml_min(limit, CHECK_JUMP_FAR * quick);
    if (!is_far && !(speed > limit && check_is_brief(at, t, n))) return;
    double usual = check_usual(at, series->speed, t, n);
    if (speed > usual) check_note(at, ML_CHECK_JUMP, n, t, speed, ml_max(usual, limit));
}

/* A bone that is out of place in frame t alone. `own`: what the source does in the very frame. */
static void check_judge_twitch(check_case *at, int64_t t, int64_t n, const double *own) {
    const ml_check_series *series = at->series;
    int64_t n_checked = series->n_checked;
    const double *step = series->speed + t * n_checked + n;
    double kink = series->kink[t * n_checked + n], limit = check_aside(at) * at->limits->quick[n];
    if (!(kink > limit) || at->limits->speed[n] > 1e300) return; /* no source shows its own */
    double there = step[0] / at->fps, back = step[n_checked] / at->fps;
    if (own && step[0] <= own[1] && step[n_checked] <= own[3 * n_checked + 1]) return;
    /* Of a triangle: its third side from two sides and the line to the middle of the third. */
    double apart = 2.0 * (ml_square(there) + ml_square(back)) - 4.0 * ml_square(kink);
    if (apart >= ml_square(CHECK_TWITCH_BACK * ml_min(there, back))) return;
    limit = ml_max(limit, CHECK_TWITCH_TIMES * check_usual(at, series->kink, t, n));
    double both = 2.0 * at->fps; /* how fast it goes there and back */
    if (kink > limit) check_note(at, ML_CHECK_JUMP, n, t, both * kink, both * limit);
}

static void check_judge_joints(check_case *at) {
    const ml_check_series *series = at->series;
    int64_t n_checked = series->n_checked, end = series->n_frames - 1;
    double *scratch = at->work + series->n_frames;
    check_most most = {scratch,
                       scratch + n_checked,
                       scratch + 2 * n_checked,
                       scratch + 3 * n_checked,
                       scratch + 4 * n_checked,
                       scratch + 5 * n_checked};
    check_find_over(at, &most);
    for (int64_t n = 0; n < n_checked; n++) {
        if (most.over[n] == 0.0) continue;
        double most_turn = most.turn[n], most_speed = most.speed[n], most_bend = most.bend[n];
        int check = n == 0 ? ML_CHECK_PELVIS : ML_CHECK_TURN;
        for (int64_t t = at->first > 1 ? at->first : 1; t <= at->last; t++) {
            double own_turn = 0.0, own_speed = 0.0, own_bend = 0.0, limit;
            /* Copied frames are compared with their source, whose glitches they may repeat. */
            if (at->allowed) {
                const double *own = at->allowed + 3 * (t * n_checked + n);
                own_turn = own[0], own_speed = own[1], own_bend = own[2];
            } else if (at->skipped[t] || at->skipped[t - 1]) {
                continue;
            }
            double bend = series->bend[t * n_checked + n], turn = series->turn[t * n_checked + n];
            double speed = series->speed[t * n_checked + n];
            limit = ml_max(most_bend, own_bend);
            if (bend > limit && (at->allowed || !at->skipped[t < end ? t + 1 : end]))
                check_note(at, ML_CHECK_BEND, n, t, bend, limit);
            if (t == at->first) continue; /* the step into the first frame is not its own */
            limit = ml_max(most_turn, own_turn);
            if (turn > limit) check_note(at, check, n, t, turn, limit);
            limit = ml_max(most_speed, own_speed);
            if (speed > limit) check_note(at, ML_CHECK_SPEED, n, t, speed, limit);
            check_judge_step(at, &most, t, n, CHECK_STEP_ALLOWED * own_turn,
                             CHECK_STEP_ALLOWED * own_speed);
            if (n > 0 && t < end && (at->allowed || !at->skipped[t + 1]))
                check_judge_twitch(at, t, n,
                                   at->allowed ? at->allowed + 3 * (t * n_checked + n) : NULL);
        }
    }
}

static void check_judge_body(check_case *at) {
    const ml_check_series *series = at->series;
    const ml_check_limits *limits = at->limits;
    double pelvis = ml_max(CHECK_PELVIS_MORE * limits->turn[0], CHECK_PELVIS_FREE);
    double brake = ml_max(CHECK_BRAKE_MORE * limits->body[CHECK_BODY_BRAKE], CHECK_BRAKE_FREE);
    double travel = ml_max(CHECK_TRAVEL_MORE * limits->body[CHECK_BODY_TRAVEL], CHECK_TRAVEL_FREE);
    ml_check_braking(series->n_frames, series->pelvis, at->fps, at->work);
    for (int64_t t = at->first; t <= at->last; t++) {
        if (at->skipped[t]) continue;
        const double *here = series->pelvis + 3 * t;
        double slowed = at->work[t];
        if (slowed > brake) check_note(at, ML_CHECK_BRAKING, -1, t, slowed, brake);
        if (t > 0 && !at->skipped[t - 1]) {
            double speed = at->fps * ml_check_way(here, here - 3);
            if (speed > travel) check_note(at, ML_CHECK_FAST, -1, t, speed, travel);
            for (int64_t k = 0; k < series->n_carriers; k++) {
                double limit = ml_max(ML_CHECK_TURN_MORE * limits->carried[k], pelvis);
                double turn = series->carried[t * series->n_carriers + k];
                if (turn > limit) check_note(at, ML_CHECK_ROOT_BONE, k, t, turn, limit);
            }
        }
        if (at->plan) {
            double off = series->heading[t] - at->plan[t];
            off = fabs(off - 2.0 * ML_PI * ml_nearest(off / (2.0 * ML_PI)));
            if (off > CHECK_PLAN_OFF) check_note(at, ML_CHECK_PLAN, -1, t, off, CHECK_PLAN_OFF);
        }
    }
}

/* Heights over which sole points are dragged in frame t, and at which they stand. */
static const double *check_lands(const check_case *at, int64_t t) {
    return at->floors ? at->floors + 8 * t : at->limits->floor;
}

static const double *check_stands(const check_case *at, int64_t t) {
    return at->floors ? at->floors + 8 * t + 4 : at->limits->highest;
}

/* Whether everything is off the floor in frame t. */
static int check_is_off(const check_case *at, int64_t t) {
    const ml_check_series *series = at->series;
    return ml_check_is_off(series->soles, series->lowest, t, check_stands(at, t), at->fps);
}

/* Whether a foot is down in most frames of a run in which nothing supports the body: it glides. */
static int check_glides(const check_case *at, int64_t begin, int64_t stop) {
    int64_t down = 0;
    for (int64_t t = begin; t < stop; t++) {
        const double *floors = check_stands(at, t), *soles = at->series->soles + 12 * t;
        int near = 0;
        for (int k = 0; k < 4; k++)
            near |= soles[3 * k + 1] <= ml_min(floors[k], floors[k ^ 2]) + CHECK_HOVER_HEIGHT;
        down += near;
    }
    return 2 * down > stop - begin;
}

/* Runs of frames in which nothing supports the body, and it does not fall. */
static void check_judge_hovering(check_case *at) {
    const ml_check_series *series = at->series;
    int64_t t = at->first;
    while (t > 0 && check_is_off(at, t) && check_is_off(at, t - 1))
        t--; /* it may have begun before */
    while (t <= at->last) {
        int64_t begin = t;
        while (t < at->series->n_frames && check_is_off(at, t)) t++;
        if (t == begin) {
            t++;
            continue;
        }
        double gap = ml_check_gap(series->n_frames, series->mass, begin, t, at->fps, at->warp);
        double own = 0.0;
        if (!at->hovers) own = at->limits->body[CHECK_BODY_HOVER];
        for (int64_t u = begin; at->hovers && u < t; u++) own = ml_max(own, at->hovers[u]);
        double most = ml_max(CHECK_HOVER_MORE * own, CHECK_HOVER_FREE);
        int check = check_glides(at, begin, t) ? ML_CHECK_GLIDE : ML_CHECK_HOVERING;
        if (gap <= most) continue;
        int64_t middle = (begin + t) / 2;
        middle = middle < at->first ? at->first : middle > at->last ? at->last : middle;
        check_note(at, check, -1, check_frame(at, begin, t, middle), gap, most);
    }
}

/* Whether soles and drags of frame t are compared with the very frame of the source: not where they are
   changed, which is judged by support. */
static int check_is_copy(const check_case *at, int64_t t) {
    return at->grounds && !(at->judged && at->judged[t]);
}

/* Knees of one leg, and how low its soles are. */
static void check_judge_leg(check_case *at, int side, int held) {
    const ml_check_limits *limits = at->limits;
    double back = ml_min(limits->least_flexion[side] - CHECK_BACK_MORE, CHECK_BACK_FREE);
    double fold = ml_max(limits->most_flexion[side] + CHECK_FOLD_MORE, CHECK_FOLD_FREE);
    for (int64_t t = at->first; t <= at->last; t++) {
        if (at->skipped[t]) continue;
        double bent = at->series->flexion[2 * t + side];
        if (bent < back) check_note(at, ML_CHECK_BACKWARDS, side, t, bent, back);
        if (bent > fold) check_note(at, ML_CHECK_FOLDED_KNEE, side, t, bent, fold);
        for (int point = 2 * side; held && point < 2 * side + 2; point++) {
            double low = limits->sole[point] - ML_CHECK_SINK;
            double height = at->series->soles[12 * t + 3 * point + 1];
            if (check_is_copy(at, t))
                low = ml_max(low, at->grounds[CHECK_GROUNDS * (CHECK_POINTS * t + point)]);
            if (height < low) check_note(at, ML_CHECK_SOLE, point, t, height, low);
        }
    }
}

/* Whether tested point k is labelled in a frame that counts: what a copy slides is its own. */
static int check_is_planted(const check_case *at, int64_t t, int k) {
    return at->planted[4 * t + ml_check_sole(k)] && (!at->judged || at->judged[t]);
}

/* Contacts of tested point k that move too far while they are labelled. */
static void check_judge_contacts(check_case *at, int k) {
    const double *limits = at->limits->slide + ml_check_row(k) * ML_CHECK_SPANS;
    int64_t t = at->first;
    while (t <= at->last) {
        if (!check_is_planted(at, t, k)) {
            t++;
            continue;
        }
        int64_t begin = t;
        check_contact contact = {.n_frames = 0};
        double pad[3];
        for (; t <= at->last && check_is_planted(at, t, k); t++)
            ml_check_touch(&contact, ml_check_point(at->series->soles, t, k, pad));
        double limit = limits[ml_check_span(t - begin, at->fps)];
        if (at->grounds)
            limit = ml_min(limit, at->grounds[CHECK_GROUNDS * (CHECK_POINTS * begin + k) + 1]);
        limit = ml_max(limit, CHECK_SLIDE_FREE);
        double way = ml_check_moved(&contact);
        if (t - begin >= ML_CHECK_SHORTEST_CONTACT && way > limit)
            check_note(at, ML_CHECK_CONTACT, ml_check_sole(k), begin, way, limit);
    }
}

/* How far tested point k is dragged along the floor below each height, from before the frames that
   are checked on. A drag that is wholly copied is compared with the same frames of the source; one in
   frames that are judged, which are changed, with the worst of the source. */
static void check_judge_drags(check_case *at, int k) {
    const double *own = at->limits->drag + ML_CHECK_HEIGHTS * ml_check_row(k);
    static const double frees[ML_CHECK_HEIGHTS] = CHECK_DRAG_FREE;
    double ways[ML_CHECK_HEIGHTS] = {0.0}, step;
    int is_made[ML_CHECK_HEIGHTS] = {0};
    for (int64_t t = 1; t <= at->last; t++) {
        int below = ml_check_drag(at->series->soles, check_lands(at, t), t, k, at->fps, &step);
        const double *grounds =
            at->grounds ? at->grounds + CHECK_GROUNDS * (CHECK_POINTS * t + k) : NULL;
        int is_changed = !check_is_copy(at, t);
        for (int h = 0; h < ML_CHECK_HEIGHTS; h++) {
            double most = CHECK_DRAG_MORE * own[h];
            ways[h] = h >= below ? ways[h] + step : 0.0;
            is_made[h] = h >= below && (is_made[h] || is_changed || grounds[2 + h] == HUGE_VAL);
            if (ways[h] <= frees[h] || t < at->first) continue;
            if (!is_made[h]) most = ml_min(most, grounds[2 + h]);
            most = ml_max(most, frees[h]);
            if (ways[h] > most)
                check_note(at, ML_CHECK_DRAGGED, ml_check_sole(k), t, ways[h], most);
        }
    }
}

ml_status ml_check_judge(const ml_check_series *series, const ml_check_limits *limits,
                         const uint8_t *planted, double fps, int64_t first, int64_t last,
                         const uint8_t *skipped, const uint8_t *judged, const double *plan,
                         uint8_t held, const double *allowed, const double *grounds,
                         const double *floors, const double *hovers, double warp, double *work,
                         int64_t n_most, double *found, int64_t *n_found) {
    *n_found = 0;
    if (series->n_checked < 1 || limits->n_checked != series->n_checked ||
        limits->n_carriers != series->n_carriers || first < 0 || last >= series->n_frames)
        return ML_BAD_SIZE;
    check_case at = {series, limits, planted, skipped, judged, plan,   allowed, grounds, floors,
                     hovers, fps,    warp,    first,   last,   n_most, 0,       work,    found};
    check_judge_joints(&at);
    check_judge_body(&at);
    check_judge_hovering(&at);
    if (series->n_frames > 0 && limits->sole[0] < 1e300) {
        for (int side = 0; side < 2; side++) check_judge_leg(&at, side, held);
        for (int k = 0; held && k < CHECK_POINTS; k++) {
            check_judge_contacts(&at, k);
            check_judge_drags(&at, k);
        }
    }
    *n_found = at.n_found;
    return ML_OK;
}
