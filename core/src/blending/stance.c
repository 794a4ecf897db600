/* Feet of a live motion: planted points stay where they came down, frame by frame.

   Nothing of the future is known. A point is held from the frame of its contact on where it is then;
   what that takes (a shift and a turn of the foot) goes back to nothing by a spring once the foot
   is free, from the speed it has: the foot leaves as fast as it goes. Legs follow in closed form.
   Where one would not reach, the body goes down a little, and follows its feet slowly. */

#include <string.h>

#include "../kernels.h"
#include "../kinematics/knee.h"
#include "../math/vec.h"

/* How fast what a hold changed goes back, 1 / s, as a critically damped spring. */
#define STANCE_RETURN 14.0
/* The same of how low the body is. */
#define STANCE_RISE 16.0
/* How fast the body follows its held feet, 1 / s. */
#define STANCE_FOLLOW 2.5
/* Part of its length over which a leg eases into full stretch. */
#define STANCE_SOFT 0.025
/* Part of what is left to full stretch that it takes. */
#define STANCE_PART 0.4
/* Farthest that a heel comes up so that its leg reaches, radians. */
#define STANCE_STEEPEST 0.6
/* A heel that the motion has raised by this much more is let go, as the sine of an angle. */
#define STANCE_RAISED 0.12
/* Metres that do not count. */
#define STANCE_EXACT 1e-9
/* A foot is let go where the body would go down by more than this part of a leg, or where the
   motion has it farther from its place than the second, metres. */
#define STANCE_LOWEST 0.10
#define STANCE_FARTHEST 0.25
/* One foot of a frame. */
typedef struct {
    int64_t hip, knee, ankle;
    vec3 levers[2]; /* heel and ball from the ankle, in the world, as the motion has them */
    vec3 shift;     /* what they are moved by */
    quat turn;      /* what they are turned by */
    double thigh, shank, now; /* lengths of the leg, metres; now: as the motion has it */
    double span;              /* from hip to ankle, as it is to be */
} stance_foot;

/* Place of a joint, and its rotation, in the world. */
static vec3 stance_at(const ml_stance *stance, int64_t joint) {
    return ((const vec3 *)stance->positions)[joint];
}

static quat stance_world(const ml_stance *stance, int64_t joint) {
    return ((const quat *)stance->world)[joint];
}

/* Places of heel and ball of a side, where they are held. */
static vec3 *stance_places(const ml_stance *stance, int side) {
    return (vec3 *)stance->places + 2 * side;
}

/* A spring that goes to 0: value and speed of `n` numbers after `seconds`. */
static void stance_spring(int n, double rate, double seconds, double *value, double *speed) {
    double left = ml_exp(-rate * seconds);
    for (int c = 0; c < n; c++) {
        double more = speed[c] + rate * value[c];
        value[c] = (value[c] + more * seconds) * left;
        speed[c] = (speed[c] - rate * more * seconds) * left;
    }
}

/* Where a point of a foot comes to lie. */
static vec3 stance_point(const ml_stance *stance, const stance_foot *foot, int point) {
    return vec3_add(quat_rotate(foot->turn, foot->levers[point]),
                    vec3_add(stance_at(stance, foot->ankle), foot->shift));
}

/* The shift that puts a point on its place. */
static void stance_put(const ml_stance *stance, int side, int point, stance_foot *foot) {
    vec3 missing = vec3_sub(stance_places(stance, side)[point], stance_point(stance, foot, point));
    foot->shift = vec3_add(foot->shift, missing);
}

/* Let go of the heel of a flat foot that the motion raises: holding it would stretch the knee. */
static void stance_raise(ml_stance *stance, int side, const stance_foot *foot) {
    uint8_t *held = stance->held + 2 * side;
    if (!held[0] || !held[1]) return;
    const vec3 *places = stance_places(stance, side);
    vec3 lever = vec3_sub(foot->levers[0], foot->levers[1]);
    if (lever.y - (places[0].y - places[1].y) < STANCE_RAISED * vec3_length(lever)) return;
    held[0] = 0;
    stance->loose[2 * side] = 1;
}

/* Shift and turn of a foot whose held points are in place; what comes down in this frame is held
   from here on. */
static void stance_place(ml_stance *stance, int side, const uint8_t *planted, stance_foot *foot) {
    uint8_t *held = stance->held + 2 * side;
    int was[2] = {held[0], held[1]};
    vec3 *places = stance_places(stance, side);
    if (was[0] && was[1]) { /* the foot lies as it lay, but for rolling to its sides */
        vec3 now = quat_rotate(foot->turn, vec3_sub(foot->levers[1], foot->levers[0]));
        quat arc = quat_arc(now, vec3_sub(places[1], places[0]));
        foot->turn = quat_multiply(arc, foot->turn);
    }
    if (was[0] || was[1]) stance_put(stance, side, was[1] ? 1 : 0, foot);
    for (int p = 0; p < 2; p++) {
        if (!planted[2 * side + p] || was[p]) continue;
        places[p] = stance_point(stance, foot, p);
        held[p] = 1;
    }
}

/* From the hip of a foot, lowered by `sink`, to where its ankle comes to lie. */
static vec3 stance_leg(const ml_stance *stance, const stance_foot *foot, double sink) {
    vec3 ankle = vec3_add(stance_at(stance, foot->ankle), foot->shift);
    vec3 leg = vec3_sub(ankle, stance_at(stance, foot->hip));
    leg.y += sink;
    return leg;
}

/* How long the leg of a foot may be: as the motion has it, or easing towards full stretch, which it
   does not come near to, for a straight knee moves fast. */
static void stance_measure(const ml_stance *stance, stance_foot *foot) {
    double full = foot->thigh + foot->shank;
    double wanted = vec3_length(stance_leg(stance, foot, 0.0));
    double high = ml_max(foot->now, full - STANCE_SOFT * full);
    double left = STANCE_PART * (full - high);
    foot->span = wanted;
    if (wanted > high)
        foot->span = left < 1e-9 ? high : high + left * (1.0 - ml_exp((high - wanted) / left));
}

/* How far the body must go down for the leg of a foot to have its span; HUGE_VAL where that does
   not help. */
static double stance_depth(const ml_stance *stance, const stance_foot *foot) {
    vec3 leg = stance_leg(stance, foot, 0.0);
    if (vec3_length(leg) - foot->span < STANCE_EXACT) return 0.0;
    double left = foot->span * foot->span - leg.x * leg.x - leg.z * leg.z;
    return left <= 0.0 ? HUGE_VAL : -leg.y - sqrt(left);
}

/* Raise the heel of a foot that stands on its ball until the leg has its span. */
static void stance_rise(const ml_stance *stance, int side, stance_foot *foot) {
    vec3 leg = stance_leg(stance, foot, stance->sink[0]);
    if (vec3_length(leg) - foot->span < STANCE_EXACT) return;
    vec3 lever = quat_rotate(foot->turn, foot->levers[1]);
    vec3 back = vec3_negate(lever);              /* from the ball to the ankle */
    vec3 up = vec3_negate(vec3_add(leg, lever)); /* from the ball to the hip */
    vec3 axis = vec3_cross(back, up);
    double a = vec3_length(back), b = vec3_length(up), size = vec3_length(axis);
    if (size < 1e-9) return;
    double now = ml_atan2(size, vec3_dot(back, up));
    double cosine = (a * a + b * b - foot->span * foot->span) / (2.0 * a * b);
    double angle = ml_clamp(now - ml_acos(ml_clamp(cosine, -1.0, 1.0)), 0.0, STANCE_STEEPEST);
    foot->turn = quat_multiply(quat_about(vec3_divide(axis, size), angle), foot->turn);
    stance_put(stance, side, 1, foot);
}

/* What is known of a foot before it is held: lever arms, and what is left of an earlier hold. */
static void stance_read(const ml_stance *stance, int side, stance_foot *foot) {
    const int64_t *joints = stance->legs + 3 * side;
    const vec3 *levers = (const vec3 *)stance->levers + 2 * side;
    const vec3 *changed = (const vec3 *)stance->shifts + 2 * side; /* a shift, a rotation vector */
    vec3 hip = stance_at(stance, joints[0]), knee = stance_at(stance, joints[1]);
    vec3 ankle = stance_at(stance, joints[2]);
    foot->hip = joints[0], foot->knee = joints[1], foot->ankle = joints[2];
    for (int p = 0; p < 2; p++)
        foot->levers[p] = quat_rotate(stance_world(stance, foot->ankle), levers[p]);
    foot->shift = changed[0];
    foot->turn = quat_exp(changed[1]);
    foot->thigh = vec3_length(vec3_sub(knee, hip));
    foot->shank = vec3_length(vec3_sub(ankle, knee));
    foot->now = vec3_length(vec3_sub(ankle, hip));
}

/* Turn the leg so that its ankle stands where the foot was put. */
static void stance_follow(const ml_stance *stance, int side, const stance_foot *foot, quat *quats) {
    const int64_t joints[3] = {foot->hip, foot->knee, foot->ankle}, *parents = stance->parents;
    vec3 down[3]; /* the leg went down with the body */
    for (int k = 0; k < 3; k++) {
        down[k] = stance_at(stance, joints[k]);
        down[k].y -= stance->sink[0];
    }
    vec3 leg = stance_leg(stance, foot, stance->sink[0]), knee, ankle;
    double part = ml_min(foot->span / ml_max(vec3_length(leg), 1e-9), 1.0), miss;
    vec3 target = vec3_add(down[0], vec3_scale(part, leg));
    vec3 pole = quat_rotate(stance_world(stance, foot->hip), ((const vec3 *)stance->poles)[side]);
    quat upper, lower;
    ml_leg_solve(1, &down[0].x, &down[1].x, &down[2].x, &target.x, &pole.x, 0.0, &upper.w, &lower.w,
                 &knee.x, &ankle.x, &miss);
    quat hip_now = quat_multiply(upper, stance_world(stance, foot->hip));
    quats[foot->hip] = quat_between(stance_world(stance, parents[foot->hip]), hip_now);
    quat above = quat_multiply(upper, stance_world(stance, parents[foot->knee]));
    quat knee_now = quat_multiply(lower, stance_world(stance, foot->knee));
    quats[foot->knee] = quat_between(above, knee_now);
    above = quat_multiply(lower, stance_world(stance, parents[foot->ankle]));
    quat ankle_now = quat_multiply(foot->turn, stance_world(stance, foot->ankle));
    quats[foot->ankle] = quat_between(above, ankle_now);
}

/* Let go of what is no longer planted, or cannot be held. A point that was let go in the middle of
   its contact is held again at its next one. */
static void stance_release(ml_stance *stance, int side, const uint8_t *planted) {
    for (int p = 2 * side; p < 2 * side + 2; p++) {
        if (!planted[p]) stance->loose[p] = 0;
        if (!planted[p] || stance->loose[p]) stance->held[p] = 0;
    }
}

/* Whether a held foot must be let go: too far away, or out of reach. */
static int stance_lost(const ml_stance *stance, const stance_foot *foot) {
    if (sqrt(ml_square(foot->shift.x) + ml_square(foot->shift.z)) > STANCE_FARTHEST) return 1;
    return stance_depth(stance, foot) > STANCE_LOWEST * (foot->thigh + foot->shank);
}

/* Place one foot; 1 where it is held. */
static int stance_hold_foot(ml_stance *stance, int side, const uint8_t *planted, double seconds,
                            stance_foot *foot) {
    uint8_t *held = stance->held + 2 * side, wanted[4] = {0, 0, 0, 0};
    stance_spring(6, STANCE_RETURN, seconds, stance->shifts + 6 * side, stance->speeds + 6 * side);
    stance_release(stance, side, planted);
    stance_read(stance, side, foot);
    stance_raise(stance, side, foot);
    stance_foot free_foot = *foot;
    for (int p = 2 * side; p < 2 * side + 2; p++) wanted[p] = planted[p] && !stance->loose[p];
    stance_place(stance, side, wanted, foot);
    int any = held[0] || held[1];
    stance_measure(stance, foot);
    if (any && stance_lost(stance, foot)) {
        for (int p = 0; p < 2; p++) {
            stance->loose[2 * side + p] = planted[2 * side + p];
            held[p] = 0;
        }
        *foot = free_foot;
        stance_measure(stance, foot);
        any = 0;
    }
    return any;
}

/* Keep what the hold of a foot takes now, and how fast that changes. */
static void stance_keep(ml_stance *stance, int side, const double *before, const stance_foot *foot,
                        double seconds) {
    double *kept = stance->shifts + 6 * side, *speed = stance->speeds + 6 * side;
    vec3 *changed = (vec3 *)kept;
    changed[0] = foot->shift;
    changed[1] = quat_log(foot->turn);
    for (int c = 0; c < 6; c++) speed[c] = stance->begun ? (kept[c] - before[c]) / seconds : 0.0;
}

/* Lower the body by at least this. */
static void stance_sink(ml_stance *stance, double needed, double before, double seconds) {
    if (stance->sink[0] >= needed) return;
    stance->sink[0] = needed;
    stance->sink[1] = stance->begun ? (needed - before) / seconds : 0.0;
}

/* How low the body is: as low as held legs need, and up again by a spring. A foot that stands on
   its ball alone raises its heel first. */
static void stance_lower(ml_stance *stance, stance_foot *feet, const int *any, double seconds) {
    double before = stance->sink[0];
    stance_spring(1, STANCE_RISE, seconds, stance->sink, stance->sink + 1);
    for (int round = 0; round < 2; round++)
        for (int side = 0; side < 2; side++) {
            const uint8_t *held = stance->held + 2 * side;
            if (!any[side] || (round == 0 && !held[0])) continue;
            if (round == 1 && !held[0]) stance_rise(stance, side, feet + side);
            stance_sink(stance, stance_depth(stance, feet + side), before, seconds);
        }
}

/* Let the body follow its held feet over the ground. */
static void stance_drift(ml_stance *stance, const stance_foot *feet, const int *any,
                         double seconds) {
    double share = 1.0 - ml_exp(-STANCE_FOLLOW * seconds), n = (double)(any[0] + any[1]);
    vec3 mean = VEC3_ZERO;
    for (int side = 0; side < 2; side++)
        if (any[side]) mean = vec3_add(mean, vec3_divide(feet[side].shift, n));
    stance->slide[0] += share * mean.x;
    stance->slide[1] += share * mean.z;
}

ml_status ml_stance_hold(ml_stance *stance, double *root, double *quats, uint8_t *planted) {
    int64_t n = stance->n_joints;
    for (int k = 0; k < 6; k++)
        if (stance->legs[k] < 1 || stance->legs[k] >= n) return ML_BAD_SIZE;
    if (!(stance->fps > 0.0)) return ML_BAD_SIZE;
    double seconds = 1.0 / stance->fps;
    root[0] += stance->slide[0];
    root[2] += stance->slide[1];
    ml_status status = ml_kinematics_forward(1, n, stance->parents, 1, stance->offsets, root, quats,
                                             stance->positions, stance->world);
    if (status != ML_OK) return status;
    stance_foot feet[2];
    int any[2];
    double before[12];
    memcpy(before, stance->shifts, sizeof before);
    for (int side = 0; side < 2; side++)
        any[side] = stance_hold_foot(stance, side, planted, seconds, feet + side);
    stance_lower(stance, feet, any, seconds);
    for (int side = 0; side < 2; side++)
        if (any[side]) stance_keep(stance, side, before + 6 * side, feet + side, seconds);
    for (int side = 0; side < 2; side++) stance_follow(stance, side, feet + side, (quat *)quats);
    root[1] -= stance->sink[0];
    stance_drift(stance, feet, any, seconds);
    for (int p = 0; p < 4; p++) planted[p] = stance->held[p];
    stance->begun = 1;
    return ML_OK;
}
