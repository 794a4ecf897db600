/* Feet: how one is turned and shifted so that its held points stand. */

#include "../kernels.h"
#include "../math/vec.h"
#include "leg.h"
#include "offset.h"

/* Turns of the foot about the ball set in over this angle, 3 degrees. */
#define FOOT_SOFT_TURN 0.05235987755982989
/* Beyond this, 40 degrees, the body has to come nearer instead; and its sine. */
#define FOOT_MOST_TURN 0.6981317007977318
#define FOOT_STEEPEST 0.6427876096865393
/* A foot that leaves its hold may shift farther than it was held by at most this, metres. */
#define FOOT_GROWTH_M 0.01
/* Smaller depths under the ground are rounding, metres. */
#define FOOT_LEAST_DEPTH 1e-9
/* Smaller tilts are rounding, radians: frames that nothing changes must stay as they are. */
#define FOOT_LEAST_TILT 1e-6

void ml_foot_ground(int64_t n_frames, const uint8_t *held, const double *places, double *out) {
    for (int k = 0; k < 2; k++) {
        int64_t before = -1;
        for (int64_t f = 0; f < n_frames; f++) {
            if (!held[2 * f + k]) continue;
            double height = places[6 * f + 3 * k + 1];
            double last = before < 0 ? height : out[2 * before + k];
            double slope = before < 0 ? 0.0 : (height - last) / (double)(f - before);
            for (int64_t g = before + 1; g < f; g++)
                out[2 * g + k] = slope * (double)(g - before) + last;
            out[2 * f + k] = height;
            before = f;
        }
        for (int64_t g = before + 1; g < n_frames; g++)
            out[2 * g + k] = before < 0 ? -HUGE_VAL : out[2 * before + k];
    }
}

/* One foot over all frames, and what it is to hold. */
typedef struct {
    double heel, ball;
} foot_heights;

typedef struct {
    vec3 heel, ball;
} foot_points;

typedef struct {
    uint8_t heel, ball;
} foot_contacts;

typedef struct {
    int64_t n_frames;
    const vec3 *hip, *ankle, *heel, *ball;
    const foot_contacts *held;
    /* Where held points stand. */
    const foot_points *places;
    /* Longest distance from hip to ankle. */
    const double *reach;
    /* Height of the ground under heel and ball. */
    const foot_heights *ground;
    /* Frames over which a change blends off after a hold; the half-width of its last smoothing. */
    double blend_frames, stop;
} foot_track;

/* The pose that is worked out: turns of foot and toes, the roll over the ball, and where heel and
   ball then are, seen from the ankle. */
typedef struct {
    quat *foot, *toes;
    double *roll;
    foot_points *levers;
} foot_pose;

static int foot_only_ball(foot_contacts held) { return held.ball && !held.heel; }
static int foot_both(foot_contacts held) { return held.heel && held.ball; }

/* Level axis across the foot. A positive turn about it lifts the heel. */
static vec3 foot_across(foot_points levers) {
    double x = levers.ball.z - levers.heel.z, z = -(levers.ball.x - levers.heel.x);
    double size = sqrt(x * x + z * z);
    return size > 1e-9 ? (vec3){x / size, 0.0, z / size} : (vec3){1.0, 0.0, 0.0};
}

/* The least angle by which a foot on its ball must roll about `axis` so that its ankle comes within
   `reach` of the hip; 0 where it is within reach already.

   With g from the ball to the hip and the arm from the ball to the ankle, the turned ankle is at
   the distance `reach` from the hip where a cos t + b sin t = c. */
static double foot_roll_needed(vec3 axis, vec3 ball, vec3 g, double reach) {
    vec3 arm = {-ball.x, -ball.y, -ball.z};
    double x = axis.x, z = axis.z;
    double along = (g.x * x + g.z * z) * (arm.x * x + arm.z * z);
    double a = vec3_dot(g, arm) - along;
    double b = -g.x * z * arm.y + g.y * (z * arm.x - x * arm.z) + g.z * x * arm.y;
    double c = -along - 0.5 * ml_square(reach);
    c += 0.5 * (g.x * g.x + arm.x * arm.x);
    c += 0.5 * (g.y * g.y + arm.y * arm.y);
    c += 0.5 * (g.z * g.z + arm.z * arm.z);
    double most = sqrt(a * a + b * b);
    if (!(most > 0.0)) return 0.0;
    return ml_max(0.0, ml_atan2(b, a) - ml_acos(ml_min(1.0, ml_max(-1.0, c / most))));
}

void ml_foot_roll(int64_t n_frames, const double *levers, const double *hip, const uint8_t *held,
                  const double *places, const double *reach, double *axes, double *angles) {
    const foot_points *lever = (const foot_points *)levers, *place = (const foot_points *)places;
    const foot_contacts *contact = (const foot_contacts *)held;
    const vec3 *hips = (const vec3 *)hip;
    vec3 *axis = (vec3 *)axes;
    for (int64_t f = 0; f < n_frames; f++) {
        vec3 sole = vec3_sub(lever[f].ball, lever[f].heel);
        axis[f] = foot_across(lever[f]);
        angles[f] = 0.0;
        if (!foot_only_ball(contact[f]) || sqrt(sole.z * sole.z + sole.x * sole.x) < 1e-9) continue;
        vec3 to_hip = vec3_sub(hips[f], place[f].ball);
        angles[f] = foot_roll_needed(axis[f], lever[f].ball, to_hip, reach[f]);
    }
}

/* The slope of the sole, as an angle, where its ends differ in height by `rise`. */
static double foot_slope(double rise, double length, double steepest) {
    return ml_asin(ml_clamp(rise / length, -steepest, steepest));
}

/* How far a foot that is held at one end must tilt to keep its other end above the ground. A point
   that was under the ground in the capture may stay as deep as it was. */
void ml_foot_tilt(int64_t n_frames, const double *levers, const double *heel, const double *ball,
                  const uint8_t *held, const double *places, const double *ground, double *out) {
    const foot_points *lever = (const foot_points *)levers, *place = (const foot_points *)places;
    const foot_contacts *contact = (const foot_contacts *)held;
    const foot_heights *floor = (const foot_heights *)ground;
    const vec3 *heels = (const vec3 *)heel, *balls = (const vec3 *)ball;
    for (int64_t f = 0; f < n_frames; f++) {
        out[f] = 0.0;
        if (contact[f].heel == contact[f].ball) continue;
        vec3 sole = vec3_sub(lever[f].ball, lever[f].heel);
        double length = ml_max(vec3_length(sole), 1e-9), slope = foot_slope(sole.y, length, 1.0);
        double tilt;
        if (contact[f].heel) {
            double lowest = ml_min(balls[f].y, floor[f].ball);
            double least = foot_slope(lowest - place[f].heel.y, length, FOOT_STEEPEST);
            tilt = -ml_max(least - slope, 0.0);
        } else {
            double lowest = ml_min(heels[f].y, floor[f].heel);
            double most = foot_slope(place[f].ball.y - lowest, length, FOOT_STEEPEST);
            tilt = ml_max(slope - most, 0.0);
        }
        if (fabs(tilt) > FOOT_LEAST_TILT) out[f] = tilt;
    }
}

static void foot_turn_levers(quat turn, foot_points *levers) {
    levers->heel = quat_rotate(turn, levers->heel);
    levers->ball = quat_rotate(turn, levers->ball);
}

/* Turn the foot of one frame further, about its ankle. */
static void foot_turn_on(const foot_pose *pose, int64_t f, quat turn) {
    pose->foot[f] = quat_multiply(turn, pose->foot[f]);
    foot_turn_levers(turn, &pose->levers[f]);
}

/* Lay the sole along its two places where heel and ball are both held, by the shortest turn; the
   turn blends off after the hold. `both` (n) gets the frames, scratch is (6, n). */
static void foot_lay_sole(const foot_track *track, const foot_pose *pose, uint8_t *both,
                          double *scratch) {
    int64_t n = track->n_frames;
    vec3 *needed = (vec3 *)scratch, *turns = needed + n;
    int any = 0;
    for (int64_t f = 0; f < n; f++) {
        both[f] = foot_both(track->held[f]);
        pose->foot[f] = pose->toes[f] = QUAT_IDENTITY;
        needed[f] = VEC3_ZERO;
        if (!both[f]) continue;
        any = 1;
        vec3 sole = vec3_sub(pose->levers[f].ball, pose->levers[f].heel);
        vec3 wanted = vec3_sub(track->places[f].ball, track->places[f].heel);
        vec3 axis = vec3_cross(sole, wanted);
        double sine = vec3_length(axis);
        if (sine > 0.0) needed[f] = vec3_scale(ml_atan2(sine, vec3_dot(sole, wanted)) / sine, axis);
    }
    if (!any) return;
    ml_offset_blend(n, 3, scratch, both, track->blend_frames, track->stop, &turns->x);
    for (int64_t f = 0; f < n; f++) {
        if (vec3_is_zero(turns[f])) continue;
        pose->foot[f] = pose->toes[f] = quat_exp(turns[f]);
        foot_turn_levers(pose->foot[f], &pose->levers[f]);
    }
}

/* Roll the foot over its ball where only the ball is held and the ankle would be out of reach. The
   roll sets in smoothly, stays below FOOT_MOST_TURN, and runs out within half a blend.
   scratch: (4, n) */
static void foot_roll_over_ball(const foot_track *track, const foot_pose *pose,
                                const uint8_t *standing, double *scratch) {
    int64_t n = track->n_frames;
    vec3 *axes = (vec3 *)scratch;
    double *needed = scratch + 3 * n, held_for = 0.0;
    int any = 0;
    ml_foot_roll(n, &pose->levers->heel.x, &track->hip->x, &track->held->heel,
                 &track->places->heel.x, track->reach, scratch, needed);
    for (int64_t f = 0; f < n; f++) {
        held_for = foot_only_ball(track->held[f]) ? held_for + 1.0 : 0.0;
        if (!(needed[f] > 0.0)) continue;
        any = 1;
        double soft = needed[f] * needed[f] / (needed[f] + FOOT_SOFT_TURN) / FOOT_MOST_TURN;
        double left = 1.0 - ml_offset_ease(held_for / (0.5 * track->blend_frames));
        needed[f] = FOOT_MOST_TURN * ml_tanh(soft) * left;
    }
    if (!any) return;
    ml_offset_blend(n, 1, needed, standing, track->blend_frames, track->stop, pose->roll);
    for (int64_t f = 0; f < n; f++)
        if (pose->roll[f] != 0.0) foot_turn_on(pose, f, quat_about(axes[f], pose->roll[f]));
}

/* Tilt the foot out of the ground where one end is held and the other would sink. Toes go up with
   the ball, but stay on the ground where the heel goes up. scratch: (2, n) */
static void foot_tilt_out(const foot_track *track, const foot_pose *pose, const uint8_t *standing,
                          double *scratch) {
    int64_t n = track->n_frames;
    double *needed = scratch, *tilt = scratch + n;
    int any = 0;
    ml_foot_tilt(n, &pose->levers->heel.x, &track->heel->x, &track->ball->x, &track->held->heel,
                 &track->places->heel.x, &track->ground->heel, needed);
    for (int64_t f = 0; f < n; f++) any |= needed[f] != 0.0;
    if (!any) return;
    ml_offset_blend(n, 1, needed, standing, track->blend_frames, track->stop, tilt);
    for (int64_t f = 0; f < n; f++) {
        if (tilt[f] == 0.0) continue;
        quat turn = quat_about(foot_across(pose->levers[f]), tilt[f]);
        foot_turn_on(pose, f, turn);
        if (!(tilt[f] > 0.0)) pose->toes[f] = quat_multiply(turn, pose->toes[f]);
    }
}

/* Keep the shift of a foot that is free from `first` up to `stop` from growing beyond that of the
   holds around it, but for FOOT_GROWTH_M. */
static void foot_bound_shift(int64_t n, int64_t first, int64_t stop, vec3 *shift) {
    double most = 0.0;
    if (first > 0) most = vec3_length(shift[first - 1]);
    if (stop < n) most = ml_max(most, vec3_length(shift[stop]));
    for (int64_t f = first; f < stop; f++) {
        double over = vec3_length(shift[f]) - most;
        if (!(over > 0.0)) continue;
        double bounded = most + FOOT_GROWTH_M * ml_tanh(over / FOOT_GROWTH_M);
        shift[f] = vec3_scale(bounded / (most + over + 1e-12), shift[f]);
    }
}

/* How far the ankle must move to bring held points onto their places: by the mean where both are
   held. */
static vec3 foot_gap(foot_contacts held, foot_points place, vec3 ankle, foot_points lever) {
    vec3 heel = vec3_sub(vec3_sub(place.heel, ankle), lever.heel);
    vec3 ball = vec3_sub(vec3_sub(place.ball, ankle), lever.ball);
    if (foot_both(held)) return vec3_add(vec3_scale(0.5, heel), vec3_scale(0.5, ball));
    return held.heel ? heel : ball;
}

/* Shift the ankle so that held points come onto their places. scratch: (3, n) */
static void foot_shift_ankle(const foot_track *track, const foot_pose *pose,
                             const uint8_t *standing, double *scratch, vec3 *shift) {
    int64_t n = track->n_frames;
    vec3 *gaps = (vec3 *)scratch;
    for (int64_t f = 0; f < n; f++) {
        gaps[f] = VEC3_ZERO;
        if (standing[f])
            gaps[f] = foot_gap(track->held[f], track->places[f], track->ankle[f], pose->levers[f]);
    }
    ml_offset_blend(n, 3, scratch, standing, track->blend_frames, track->stop, &shift->x);
    for (int64_t f = 0; f < n;) {
        int64_t first = f;
        while (f < n && !standing[f]) f++;
        if (f > first) foot_bound_shift(n, first, f, shift);
        while (f < n && standing[f]) f++;
    }
}

/* Turn and shift one foot so that its held points stand. flags: (2, n), scratch: (6, n). */
static void foot_place(const foot_track *track, double free_change, int may_roll, uint8_t *flags,
                       double *scratch, const foot_pose *pose, vec3 *shift) {
    int64_t n = track->n_frames;
    uint8_t *standing = flags, *both = flags + n;
    for (int64_t f = 0; f < n; f++) {
        standing[f] = track->held[f].heel || track->held[f].ball;
        pose->roll[f] = 0.0;
        pose->levers[f].heel = vec3_sub(track->heel[f], track->ankle[f]);
        pose->levers[f].ball = vec3_sub(track->ball[f], track->ankle[f]);
    }
    foot_lay_sole(track, pose, both, scratch);
    ml_twitch_calm(n, &track->ankle->x, &track->held->heel, &track->places->heel.x, free_change,
                   track->stop, both, scratch, &pose->levers->heel.x, &pose->foot->w,
                   &pose->toes->w);
    if (may_roll) foot_roll_over_ball(track, pose, standing, scratch);
    foot_tilt_out(track, pose, standing, scratch);
    foot_shift_ankle(track, pose, standing, scratch, shift);
}

void ml_foot_place(int64_t n_frames, const double *hip, const double *ankle, const double *heel,
                   const double *ball, const uint8_t *held, const double *places,
                   const double *reach, const double *ground, double length, double stop,
                   double free_change, int32_t may_roll, uint8_t *flags, double *scratch,
                   double *q_foot, double *q_toes, double *shift, double *roll, double *levers) {
    foot_track track = {
        .n_frames = n_frames,
        .hip = (const vec3 *)hip,
        .ankle = (const vec3 *)ankle,
        .heel = (const vec3 *)heel,
        .ball = (const vec3 *)ball,
        .held = (const foot_contacts *)held,
        .places = (const foot_points *)places,
        .reach = reach,
        .ground = (const foot_heights *)ground,
        .blend_frames = length,
        .stop = stop,
    };
    foot_pose pose = {(quat *)q_foot, (quat *)q_toes, roll, (foot_points *)levers};
    foot_place(&track, free_change, may_roll, flags, scratch, &pose, (vec3 *)shift);
}

/* How far a free foot is raised so that no point of it is pushed into the ground, by `lift`. A point
   that was under the ground before may stay as deep as it was. The lift follows the deepest frames
   around smoothly. `work`: n, n and n + 2 * half numbers. */
static void foot_lift(int64_t n, const double *heel, const double *ball, const double *ground,
                      const double *targets, const double *levers, const double *pull, int64_t half,
                      const double *weights, double *work, double *lift) {
    double *high = work, *nearby = work + n;
    int any = 0;
    for (int64_t f = 0; f < n; f++) {
        double y = targets[6 * f + 1];
        double under = ml_min(heel[3 * f + 1], ground[4 * f]) - (y + levers[6 * f + 1]);
        double other = ml_min(ball[3 * f + 1], ground[4 * f + 1]) - (y + levers[6 * f + 4]);
        double depth = ml_max(under, other);
        lift[f] = depth > FOOT_LEAST_DEPTH ? depth : 0.0;
        any |= lift[f] != 0.0;
    }
    if (any && half > 0) {
        ml_offset_highest(n, lift, half, nearby, high);
        ml_offset_spread(n, 1, high, half, weights, lift);
    }
    for (int64_t f = 0; f < n; f++) lift[f] = lift[f] * (1.0 - pull[f]);
}

ml_status ml_foot_aim(int64_t n_frames, int64_t side, const ml_leg *leg, const uint8_t *held,
                      const double *places, const double *lifts, double length, double stop,
                      double free_change, int32_t may_roll, int64_t half, const double *weights,
                      uint8_t *flags, double *work, double *q_foot, double *q_toes, double *shift,
                      double *roll, double *levers, double *held_reach, double *pull,
                      double *ground, double *targets, double *points) {
    int64_t n = n_frames;
    if (side < 0 || side > 1 || half < 0 || leg->n_frames != n) return ML_BAD_SIZE;
    double *near = work, *own_pull = near + n, *own_ground = own_pull + n;
    double *scratch = own_ground + 2 * n, *lift = scratch;
    ml_foot_ground(n, held, places, own_ground);
    for (int64_t f = 0; f < n; f++) {
        near[f] = ml_max(leg->bones[2 * n + f], (1.0 - ML_LEG_HARD) * leg->reach[f]);
        flags[f] = held[2 * f] || held[2 * f + 1];
    }
    ml_offset_near(n, flags, stop, own_pull);
    ml_foot_place(n, leg->hip, leg->ankle, leg->heel, leg->ball, held, places, near, own_ground,
                  length, stop, free_change, may_roll, flags, scratch, q_foot, q_toes, shift, roll,
                  levers);
    double *to = targets + 3 * side, *under = ground + 2 * side, *both = points + 6 * side;
    for (int64_t f = 0; f < n; f++) {
        held_reach[2 * f + side] = near[f];
        pull[2 * f + side] = own_pull[f];
        for (int k = 0; k < 2; k++) under[4 * f + k] = own_ground[2 * f + k];
        for (int c = 0; c < 3; c++) to[6 * f + c] = leg->ankle[3 * f + c] + shift[3 * f + c];
    }
    foot_lift(n, leg->heel, leg->ball, under, to, levers, own_pull, half, weights, lift + n, lift);
    for (int64_t f = 0; f < n; f++) {
        to[6 * f + 1] += lift[f];
        to[6 * f + 1] += lifts[2 * f + side];
        for (int k = 0; k < 2; k++)
            for (int c = 0; c < 3; c++)
                both[12 * f + 3 * k + c] = to[6 * f + c] + levers[6 * f + 3 * k + c];
    }
    return ML_OK;
}

ml_status ml_foot_follow(int64_t n_frames, int64_t n_joints, const double *positions, int64_t ankle,
                         int64_t side, const double *levers, double *points) {
    if (ankle < 0 || ankle >= n_joints || side < 0 || side > 1) return ML_BAD_SIZE;
    for (int64_t f = 0; f < n_frames; f++) {
        const double *at = positions + 3 * (n_joints * f + ankle);
        for (int k = 0; k < 6; k++) points[12 * f + 6 * side + k] = at[k % 3] + levers[6 * f + k];
    }
    return ML_OK;
}

ml_status ml_foot_points(int64_t n_frames, int64_t n_joints, const double *positions,
                         const double *world, int64_t ankle, int64_t toe, int64_t side,
                         const double *heel, const double *ball, double *points) {
    if (ankle < 0 || ankle >= n_joints || toe < -1 || toe >= n_joints) return ML_BAD_SIZE;
    if (side < 0 || side > 1) return ML_BAD_SIZE;
    for (int64_t f = 0; f < n_frames; f++) {
        const double *places = positions + 3 * n_joints * f, *at = places + 3 * ankle;
        const double *q = world + 4 * (n_joints * f + ankle);
        double *out = points + 12 * f + 6 * side, arm[3];
        ml_turn(q, heel, arm);
        for (int c = 0; c < 3; c++) out[c] = at[c] + arm[c];
        if (toe < 0) ml_turn(q, ball, arm);
        for (int c = 0; c < 3; c++) out[3 + c] = toe < 0 ? at[c] + arm[c] : places[3 * toe + c];
    }
    return ML_OK;
}
