/* Feet: how one is turned and shifted so that its held points stand. */

#include "../motionloom.h"
#include "leg.h"
#include "offset.h"
#include "rotation_vector.h"

/* Turns of the foot about the ball set in over this angle, 3 degrees. */
#define FOOT_SOFT_TURN 0.05235987755982989
/* Beyond this, 40 degrees, the body has to come nearer instead; and its sine. */
#define FOOT_MOST_TURN 0.6981317007977318
#define FOOT_STEEPEST 0.6427876096865393
/* The slope with which a foot leaves its hold carries its shift on by no more than this, metres. */
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

void ml_foot_roll(int64_t n_frames, const double *levers, const double *hip, const uint8_t *held,
                  const double *places, const double *reach, double *axes, double *angles) {
    for (int64_t f = 0; f < n_frames; f++) {
        const double *heel = levers + 6 * f, *ball = heel + 3;
        double x = ball[2] - heel[2], z = heel[0] - ball[0], size = sqrt(x * x + z * z);
        double *axis = axes + 3 * f;
        axis[0] = 1.0;
        axis[1] = axis[2] = angles[f] = 0.0;
        if (size < 1e-9) continue;
        axis[0] = x /= size;
        axis[2] = z /= size;
        if (held[2 * f] || !held[2 * f + 1]) continue;
        /* With g from ball to hip and the arm from ball to ankle, the turned ankle is at the
           distance `reach` where a cos t + b sin t = c. */
        double g[3], arm[3] = {-ball[0], -ball[1], -ball[2]};
        ml_between(hip + 3 * f, places + 6 * f + 3, g);
        double along = (g[0] * x + g[2] * z) * (arm[0] * x + arm[2] * z);
        double a = ml_dot(g, arm) - along;
        double b = -g[0] * z * arm[1] + g[1] * (z * arm[0] - x * arm[2]) + g[2] * x * arm[1];
        double c = -along - 0.5 * ml_square(reach[f]);
        for (int k = 0; k < 3; k++) c += 0.5 * (g[k] * g[k] + arm[k] * arm[k]);
        double most = sqrt(a * a + b * b);
        if (most > 0.0)
            angles[f] =
                ml_max(0.0, ml_atan2(b, a) - ml_acos(ml_min(1.0, ml_max(-1.0, c / most))));
    }
}

void ml_foot_tilt(int64_t n_frames, const double *levers, const double *heel, const double *ball,
                  const uint8_t *held, const double *places, const double *ground, double *out) {
    for (int64_t f = 0; f < n_frames; f++) {
        out[f] = 0.0;
        if (held[2 * f] == held[2 * f + 1]) continue;
        double sole[3], tilt;
        ml_between(levers + 6 * f + 3, levers + 6 * f, sole);
        double length = ml_max(ml_length(sole), 1e-9);
        double slope = ml_asin(ml_clamp(sole[1] / length, -1.0, 1.0));
        if (held[2 * f]) {
            double low = ml_min(ball[3 * f + 1], ground[2 * f + 1]);
            double least = (low - places[6 * f + 1]) / length;
            least = ml_asin(ml_clamp(least, -FOOT_STEEPEST, FOOT_STEEPEST));
            tilt = -ml_max(least - slope, 0.0);
        } else {
            double low = ml_min(heel[3 * f + 1], ground[2 * f]);
            double most = (places[6 * f + 4] - low) / length;
            most = ml_asin(ml_clamp(most, -FOOT_STEEPEST, FOOT_STEEPEST));
            tilt = ml_max(slope - most, 0.0);
        }
        if (fabs(tilt) > FOOT_LEAST_TILT) out[f] = tilt;
    }
}

/* Turn the levers of heel and ball of one frame. */
static void foot_turn(const double *q, double *levers) {
    for (int k = 0; k < 2; k++) {
        double moved[3];
        ml_turn(q, levers + 3 * k, moved);
        for (int c = 0; c < 3; c++) levers[3 * k + c] = moved[c];
    }
}

/* Where heel and ball are both held, the foot takes the shortest turn that lays it along its two
   places. Turns of foot and toes. */
static void foot_lie(int64_t n, const uint8_t *held, const double *places, double length,
                     double stop, uint8_t *both, double *scratch, double *levers, double *q_foot,
                     double *q_toes) {
    double *turns = scratch, *blended = scratch + 3 * n;
    int any = 0;
    for (int64_t f = 0; f < n; f++) {
        double *turn = turns + 3 * f, d[3], u[3], axis[3];
        both[f] = held[2 * f] && held[2 * f + 1];
        turn[0] = turn[1] = turn[2] = 0.0;
        q_foot[4 * f] = q_toes[4 * f] = 1.0;
        for (int c = 1; c < 4; c++) q_foot[4 * f + c] = q_toes[4 * f + c] = 0.0;
        if (!both[f]) continue;
        any = 1;
        ml_between(levers + 6 * f + 3, levers + 6 * f, d);
        ml_between(places + 6 * f + 3, places + 6 * f, u);
        ml_cross(d, u, axis);
        double sine = ml_length(axis);
        if (sine > 0.0) {
            double part = ml_atan2(sine, ml_dot(d, u)) / sine;
            for (int c = 0; c < 3; c++) turn[c] = part * axis[c];
        }
    }
    if (!any) return;
    ml_offset_blend(n, 3, turns, both, length, stop, blended);
    for (int64_t f = 0; f < n; f++) {
        const double *turn = blended + 3 * f;
        if (turn[0] == 0.0 && turn[1] == 0.0 && turn[2] == 0.0) continue;
        ml_rotation_exp(turn, q_foot + 4 * f);
        for (int c = 0; c < 4; c++) q_toes[4 * f + c] = q_foot[4 * f + c];
        foot_turn(q_foot + 4 * f, levers + 6 * f);
    }
}

/* Turn the foot of one frame further. */
static void foot_turn_on(const double *turn, double *q_foot, double *levers) {
    double made[4];
    ml_times(turn, q_foot, made);
    for (int c = 0; c < 4; c++) q_foot[c] = made[c];
    foot_turn(turn, levers);
}

/* Where only the ball is held and the ankle would be out of reach, the foot rolls on over the ball.
   The roll sets in smoothly, is bounded, and runs out after the hold. */
static void foot_roll_on(int64_t n, const double *hip, const uint8_t *held, const double *places,
                         const double *reach, const uint8_t *standing, double length, double stop,
                         double *scratch, double *levers, double *q_foot, double *roll) {
    double *axes = scratch, *needed = scratch + 3 * n, since = 0.0;
    int any = 0;
    ml_foot_roll(n, levers, hip, held, places, reach, axes, needed);
    for (int64_t f = 0; f < n; f++) {
        /* Frames since the ball alone is held. */
        since = held[2 * f + 1] && !held[2 * f] ? since + 1.0 : 0.0;
        if (!(needed[f] > 0.0)) continue;
        any = 1;
        double soft = needed[f] * needed[f] / (needed[f] + FOOT_SOFT_TURN) / FOOT_MOST_TURN;
        needed[f] = FOOT_MOST_TURN * ml_tanh(soft) * (1.0 - ml_offset_ease(since / (0.5 * length)));
    }
    if (!any) return;
    ml_offset_blend(n, 1, needed, standing, length, stop, roll);
    for (int64_t f = 0; f < n; f++) {
        double turn[4];
        if (roll[f] == 0.0) continue;
        ml_rotation_about(axes + 3 * f, roll[f], turn);
        foot_turn_on(turn, q_foot + 4 * f, levers + 6 * f);
    }
}

/* Level axis across the foot; a positive turn about it lifts the heel. */
static void foot_across(const double *levers, double *axis) {
    double x = levers[5] - levers[2], z = -(levers[3] - levers[0]), size = sqrt(x * x + z * z);
    axis[0] = size > 1e-9 ? x / size : 1.0;
    axis[1] = 0.0;
    axis[2] = size > 1e-9 ? z / size : 0.0;
}

/* A heel or ball whose other end is held stays above the ground. Toes go up with the ball, but stay
   on the ground where the heel goes up. */
static void foot_tilt_out(int64_t n, const double *heel, const double *ball, const uint8_t *held,
                          const double *places, const double *ground, const uint8_t *standing,
                          double length, double stop, double *scratch, double *levers,
                          double *q_foot, double *q_toes) {
    double *needed = scratch, *tilt = scratch + n;
    int any = 0;
    ml_foot_tilt(n, levers, heel, ball, held, places, ground, needed);
    for (int64_t f = 0; f < n; f++) any |= needed[f] != 0.0;
    if (!any) return;
    ml_offset_blend(n, 1, needed, standing, length, stop, tilt);
    for (int64_t f = 0; f < n; f++) {
        double axis[3], turn[4], toes[4];
        if (tilt[f] == 0.0) continue;
        foot_across(levers + 6 * f, axis);
        ml_rotation_about(axis, tilt[f], turn);
        foot_turn_on(turn, q_foot + 4 * f, levers + 6 * f);
        if (tilt[f] > 0.0) continue;
        ml_times(turn, q_toes + 4 * f, toes);
        for (int c = 0; c < 4; c++) q_toes[4 * f + c] = toes[c];
    }
}

/* A foot that is free from `first` up to `stop` grows its shift no further than a little. */
static void foot_bound(int64_t n, int64_t first, int64_t stop, double *shift) {
    double most = 0.0;
    if (first > 0) most = ml_length(shift + 3 * (first - 1));
    if (stop < n) most = ml_max(most, ml_length(shift + 3 * stop));
    for (int64_t f = first; f < stop; f++) {
        double over = ml_length(shift + 3 * f) - most;
        if (!(over > 0.0)) continue;
        double less = most + FOOT_GROWTH_M * ml_tanh(over / FOOT_GROWTH_M);
        less /= most + over + 1e-12;
        for (int c = 0; c < 3; c++) shift[3 * f + c] *= less;
    }
}

/* Way of the ankle that brings held points onto their places. */
static void foot_shift(int64_t n, const double *ankle, const uint8_t *held, const double *places,
                       const uint8_t *standing, double length, double stop, double *scratch,
                       const double *levers, double *shift) {
    double *gaps = scratch;
    for (int64_t f = 0; f < n; f++) {
        double weight = held[2 * f] && held[2 * f + 1] ? 0.5 : 1.0;
        for (int c = 0; c < 3; c++) {
            gaps[3 * f + c] = 0.0;
            for (int k = 0; k < 2; k++)
                if (held[2 * f + k])
                    gaps[3 * f + c] += weight * (places[6 * f + 3 * k + c] - ankle[3 * f + c] -
                                                 levers[6 * f + 3 * k + c]);
        }
    }
    ml_offset_blend(n, 3, gaps, standing, length, stop, shift);
    for (int64_t f = 0; f < n;) {
        int64_t first = f;
        while (f < n && !standing[f]) f++;
        if (f > first) foot_bound(n, first, f, shift);
        while (f < n && standing[f]) f++;
    }
}

void ml_foot_place(int64_t n_frames, const double *hip, const double *ankle, const double *heel,
                   const double *ball, const uint8_t *held, const double *places,
                   const double *reach, const double *ground, double length, double stop,
                   double free_change, int32_t may_roll, uint8_t *flags, double *scratch,
                   double *q_foot, double *q_toes, double *shift, double *roll, double *levers) {
    uint8_t *standing = flags, *both = flags + n_frames;
    for (int64_t f = 0; f < n_frames; f++) {
        standing[f] = held[2 * f] || held[2 * f + 1];
        roll[f] = 0.0;
        ml_between(heel + 3 * f, ankle + 3 * f, levers + 6 * f);
        ml_between(ball + 3 * f, ankle + 3 * f, levers + 6 * f + 3);
    }
    foot_lie(n_frames, held, places, length, stop, both, scratch, levers, q_foot, q_toes);
    ml_twitch_calm(n_frames, ankle, held, places, free_change, stop, both, scratch, levers, q_foot,
                   q_toes);
    if (may_roll)
        foot_roll_on(n_frames, hip, held, places, reach, standing, length, stop, scratch, levers,
                     q_foot, roll);
    foot_tilt_out(n_frames, heel, ball, held, places, ground, standing, length, stop, scratch,
                  levers, q_foot, q_toes);
    foot_shift(n_frames, ankle, held, places, standing, length, stop, scratch, levers, shift);
}

/* How far a free foot is raised so that no point of it is pushed into the ground, by `lift`. A point
   that was under the ground before may stay as deep as it was. The lift follows the deepest frames
   around smoothly. `work`: n, n and n + 2 * half numbers. */
static void foot_lift(int64_t n, const double *heel, const double *ball, const double *ground,
                      const double *targets, const double *levers, const double *pull,
                      int64_t half, const double *weights, double *work, double *lift) {
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

ml_status ml_foot_follow(int64_t n_frames, int64_t n_joints, const double *positions,
                         int64_t ankle, int64_t side, const double *levers, double *points) {
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
