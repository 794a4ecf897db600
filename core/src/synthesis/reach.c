/* Reach: legs that follow their feet.

   Each leg is solved in closed form. Where a held foot would be out of reach, the body is lowered
   a little, then the heel comes up about the ball; knees ease into full stretch instead of meeting
   it. */

#include "../kinematics/knee.h"
#include "../math/vec.h"
#include "rows.h"
#include "synthesis.h"

/* Part of its full length to which a leg may be stretched for a held foot. */
#define REACH_HELD 0.985
/* The same for a free one; a captured leg that is longer stays so. */
#define REACH_FREE 0.995
/* Part of a leg's length before its reach from which stretching is eased. */
#define REACH_SOFT 0.03
/* From this part of its length on a leg is nearly straight; changes of its span by less than the
   second, metres, are then not made in full. */
#define REACH_STRAIGHT 0.98
#define REACH_CALM 0.006
/* Part of a leg's length by which the body may be lowered. */
#define REACH_LOWEST 0.08
/* Frames over which the body goes down and comes up. */
#define REACH_SPREAD 12
/* Frames from a seam in which it may not yet be lowered in full. */
#define REACH_SEAM 10
/* Farthest that a heel comes up to reach, radians. */
#define REACH_STEEPEST 0.7
/* Frames in which it comes up, and goes down again. */
#define REACH_ROLL 9

/* A leg of three joints and its bones' lengths. */
typedef struct {
    int64_t hip, knee, ankle;
    double thigh, shank;
} reach_leg;

/* Lengths are those of the first frame. 0 where a joint is none of the body's. */
static int reach_measure(const int64_t *joints, int64_t n_joints, const double *positions,
                         reach_leg *leg) {
    for (int c = 0; c < 3; c++)
        if (joints[c] < 0 || joints[c] >= n_joints) return 0;
    leg->hip = joints[0], leg->knee = joints[1], leg->ankle = joints[2];
    const vec3 *at = (const vec3 *)positions;
    leg->thigh = vec3_length(vec3_sub(at[leg->knee], at[leg->hip]));
    leg->shank = vec3_length(vec3_sub(at[leg->ankle], at[leg->knee]));
    return 1;
}

/* Hip to ankle in a frame. */
static inline vec3 reach_vector(const vec3 *at, const reach_leg *leg) {
    return vec3_sub(at[leg->ankle], at[leg->hip]);
}

ml_status ml_reach_ways(int64_t n_frames, int64_t n_joints, const int64_t *legs,
                        const double *positions, double *ways, double *reaches) {
    vec3 *out = (vec3 *)ways;
    if (n_frames < 1) return ML_BAD_SIZE;
    for (int64_t side = 0; side < 2; side++) {
        reach_leg leg;
        if (!reach_measure(legs + 3 * side, n_joints, positions, &leg)) return ML_BAD_SIZE;
        reaches[side] = leg.thigh + leg.shank;
        for (int64_t t = 0; t < n_frames; t++)
            *out++ = reach_vector((const vec3 *)positions + n_joints * t, &leg);
    }
    return ML_OK;
}

ml_status ml_reach_lower(int64_t n_frames, int64_t n_joints, const int64_t *legs,
                         const double *positions, const int64_t *held, const double *shifts,
                         double *scratch, double *drops) {
    double *needs = scratch, parts[REACH_SPREAD + 1];
    if (n_frames < 1) return ML_BAD_SIZE;
    for (int64_t t = 0; t < n_frames; t++) needs[t] = 0.0;
    for (int64_t side = 0; side < 2; side++) {
        reach_leg leg;
        if (!reach_measure(legs + 3 * side, n_joints, positions, &leg)) return ML_BAD_SIZE;
        double full = leg.thigh + leg.shank;
        for (int64_t t = 0; t < n_frames; t++) {
            if (held[n_frames * side + t] < 0) continue;
            vec3 before = reach_vector((const vec3 *)positions + n_joints * t, &leg);
            vec3 now = vec3_add(before, ((const vec3 *)shifts)[n_frames * side + t]);
            double reach = ml_max(vec3_length(before), REACH_HELD * full);
            double left = reach * reach - now.x * now.x - now.z * now.z;
            double need = left > 0.0 ? -now.y - sqrt(left) : REACH_LOWEST * full;
            needs[t] = ml_max(needs[t], ml_min(need, REACH_LOWEST * full));
        }
    }
    for (int d = 0; d <= REACH_SPREAD; d++)
        parts[d] = 1.0 - ml_square((double)d / (REACH_SPREAD + 1.0));
    for (int64_t t = 0; t < n_frames; t++) {
        int64_t from = t > REACH_SPREAD ? t - REACH_SPREAD : 0;
        int64_t stop = t + REACH_SPREAD < n_frames ? t + REACH_SPREAD + 1 : n_frames;
        double drop = 0.0;
        for (int64_t u = from; u < stop; u++)
            if (needs[u] > 0.0) {
                double part = parts[u < t ? t - u : u - t];
                drop = ml_max(drop, needs[u] * part * part);
            }
        int64_t away = t < n_frames - 1 - t ? t : n_frames - 1 - t;
        double seam = ml_min((double)away / REACH_SEAM, 1.0);
        drops[t] = drop * seam * seam * (3.0 - 2.0 * seam);
    }
    return ML_OK;
}

/* The shortest turn from one direction to another, which are never opposite here. */
static inline quat reach_arc(vec3 a, vec3 b) {
    vec3 v = vec3_cross(a, b);
    double w = sqrt(vec3_dot(a, a) * vec3_dot(b, b)) + vec3_dot(a, b);
    double norm = sqrt(w * w + v.x * v.x + v.y * v.y + v.z * v.z);
    if (norm < 1e-12) return QUAT_IDENTITY;
    return (quat){w / norm, v.x / norm, v.y / norm, v.z / norm};
}

/* Hip to ankle as wanted, easing into `reach`; a leg that is not stretched keeps its span. */
static inline double reach_eased(double before, double wanted, double reach, double width) {
    double low = ml_max(before, reach - width);
    if (wanted <= low) return wanted;
    double left = reach - low;
    return left < 1e-9 ? low : low + left * (1.0 - ml_exp(-(wanted - low) / left));
}

/* The wanted span of a leg; millimetres are not followed where it is nearly straight. There they
   would take the knee centimetres out and back, and captured legs do get straight. */
static inline double reach_calmed(double before, double wanted, double full) {
    double straight = (ml_max(before, wanted) / full - REACH_STRAIGHT) / (1.0 - REACH_STRAIGHT);
    if (straight <= 0.0) return wanted;
    double calm = REACH_CALM * ml_min(straight, 1.0), change = wanted - before;
    return before + change * fabs(change) / (fabs(change) + calm);
}

/* Turn by an angle about an axis of some length; none where that is below `least`. */
static quat reach_about(vec3 axis, double least, double angle) {
    double size = vec3_length(axis), sine, cosine;
    if (size < least) return QUAT_IDENTITY;
    ml_sincos(0.5 * angle, &sine, &cosine);
    sine /= size;
    return (quat){cosine, sine * axis.x, sine * axis.y, sine * axis.z};
}

/* Angle about the ball that brings the ankle within reach of the hip, no steeper than a heel comes
   up. `ankle` is seen from the hip, `ball` from the ankle. */
static double reach_angle(vec3 ankle, vec3 ball, double reach) {
    if (vec3_dot(ankle, ankle) <= reach * reach) return 0.0;
    vec3 hip = vec3_negate(vec3_add(ankle, ball)); /* seen from the ball */
    double far = vec3_length(hip), foot = vec3_length(ball);
    if (foot < 1e-6 || far < 1e-6) return 0.0;
    double now = -vec3_dot(ball, hip) / (far * foot);
    double wanted = (foot * foot + far * far - reach * reach) / (2.0 * foot * far);
    double angle = ml_acos(ml_clamp(now, -1.0, 1.0)) - ml_acos(ml_clamp(wanted, -1.0, 1.0));
    return ml_clamp(angle, 0.0, REACH_STEEPEST);
}

/* Local rotation of a joint from its parent's and its own in the world, sign kept. */
static inline quat reach_local(quat parent, quat own, quat before) {
    quat q = quat_between(parent, own);
    double dot = q.w * before.w + q.x * before.x + q.y * before.y + q.z * before.z;
    double norm = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    norm = dot >= 0.0 ? 1.0 / norm : -1.0 / norm;
    return (quat){q.w * norm, q.x * norm, q.y * norm, q.z * norm};
}

/* One leg whose foot is moved, in all frames: ml_moved_leg, measured. */
typedef struct {
    reach_leg leg;
    int64_t n_frames, n_joints, parent;
    vec3 heel, ball, pole; /* in the frames of ankle and hip */
    const vec3 *shifts;
    const double *tilts, *drops;
    const vec3 *positions;
    const quat *world;
    const int64_t *held;
} reach_task;

/* Where a foot is to be in one frame: its ankle seen from the hip, the ball seen from the ankle, and
   its rotation. */
typedef struct {
    vec3 ankle, ball;
    quat turn;
} reach_foot;

/* A foot turned about its ball. */
static reach_foot reach_turned(quat turn, reach_foot foot) {
    vec3 ball = quat_rotate(turn, foot.ball);
    vec3 ankle = vec3_sub(vec3_add(foot.ankle, foot.ball), ball);
    return (reach_foot){ankle, ball, quat_multiply(turn, foot.turn)};
}

static int reach_is_moved(const reach_task *task, int64_t t) {
    vec3 shift = task->shifts[t];
    double drop = task->drops[t], tilt = task->tilts[t];
    return !(vec3_dot(shift, shift) + drop * drop + tilt * tilt < 1e-16);
}

/* The foot shifted, its heel turned up, under a hip that comes down. `leg`: hip to ankle before. */
static inline reach_foot reach_place(const reach_task *task, int64_t t, vec3 leg) {
    quat world = task->world[task->n_joints * t + task->leg.ankle];
    reach_foot foot = {vec3_add(leg, task->shifts[t]), quat_rotate(world, task->ball), world};
    foot.ankle.y += task->drops[t];
    if (!(task->tilts[t] > 0.0)) return foot;
    vec3 heel = vec3_sub(quat_rotate(world, task->heel), foot.ball);
    vec3 across = {-heel.z, 0.0, heel.x}; /* a turn about it raises the heel */
    return reach_turned(reach_about(across, 1e-6, task->tilts[t]), foot);
}

/* How far the heel of a held foot must come up in each frame to be in reach, radians; whether it
   must in any. */
static int reach_find_rolls(const reach_task *task, double *needs) {
    double full = task->leg.thigh + task->leg.shank;
    int any = 0;
    for (int64_t t = 0; t < task->n_frames; t++) {
        needs[t] = 0.0;
        if (task->held[t] < 0 || !reach_is_moved(task, t)) continue;
        vec3 before = reach_vector(task->positions + task->n_joints * t, &task->leg);
        reach_foot foot = reach_place(task, t, before);
        double reach = ml_max(ml_max(vec3_length(before), 1e-6), REACH_HELD * full);
        needs[t] = reach_angle(foot.ankle, foot.ball, reach);
        any |= needs[t] > 0.0;
    }
    return any;
}

/* How far a heel comes up in frame t: as it must, and towards frames in which it must and away from
   them within a few frames. A heel that came up in frames held alone would drop when they end. */
static double reach_rolled(int64_t n, const double *needs, int64_t t) {
    int64_t from = t > REACH_ROLL ? t - REACH_ROLL : 0;
    int64_t stop = t + REACH_ROLL < n ? t + REACH_ROLL + 1 : n;
    double roll = needs[t];
    for (int64_t u = from; u < stop; u++) {
        if (!(needs[u] > roll)) continue;
        double width = (double)(u < n - 1 - u ? u : n - 1 - u); /* to the seams, which stay */
        double left = 1.0 - ml_square((double)(t - u) / ml_min(REACH_ROLL + 1.0, width));
        if (left > 0.0) roll = ml_max(roll, needs[u] * left * left);
    }
    return roll;
}

/* One frame of a leg whose heel comes up by an angle; how far its ankle is from where it is wanted.
   `quats` are those of the frame. */
static inline double reach_frame(const reach_task *task, int64_t t, double roll, quat *quats) {
    const reach_leg *leg = &task->leg;
    const vec3 *positions = task->positions + task->n_joints * t;
    const quat *world = task->world + task->n_joints * t;
    double full = leg->thigh + leg->shank;
    vec3 ankle = reach_vector(positions, leg);
    vec3 knee = vec3_sub(positions[leg->knee], positions[leg->hip]);
    double before = ml_max(vec3_length(ankle), 1e-6);
    reach_foot foot = reach_place(task, t, ankle);
    if (roll > 0.0) { /* about the ball, the ankle towards the hip */
        vec3 hip = vec3_negate(vec3_add(foot.ankle, foot.ball));
        foot = reach_turned(reach_about(vec3_cross(hip, foot.ball), 1e-9, roll), foot);
    }
    double wanted = vec3_length(foot.ankle);
    double span = reach_eased(before, reach_calmed(before, wanted, full),
                              ml_max(before, REACH_FREE * full), REACH_SOFT * full);
    if (span < before) span = ml_knee_span(before, span, leg->thigh, leg->shank, REACH_SOFT);
    vec3 aim = vec3_scale(span, vec3_divide(foot.ankle, wanted)), place;
    vec3 side = quat_rotate(world[leg->hip], task->pole);
    ml_knee_place(&aim.x, &ankle.x, &knee.x, &side.x, leg->thigh, leg->shank, &place.x);
    /* The thigh swings the shortest way, then the shank does. */
    quat swing = reach_arc(knee, place);
    quat thigh = quat_multiply(swing, world[leg->hip]);
    vec3 swung = quat_rotate(swing, vec3_sub(ankle, knee));
    quat fold = reach_arc(swung, vec3_sub(aim, place));
    quat shank = quat_multiply(quat_multiply(fold, swing), world[leg->knee]);
    quat parent = task->parent < 0 ? QUAT_IDENTITY : world[task->parent];
    quats[leg->hip] = reach_local(parent, thigh, quats[leg->hip]);
    quats[leg->knee] = reach_local(thigh, shank, quats[leg->knee]);
    quats[leg->ankle] = reach_local(shank, foot.turn, quats[leg->ankle]);
    return fabs(wanted - span);
}

ml_status ml_reach_follow(const ml_moved_leg *moved, double *scratch, double *quats,
                          double *missed) {
    int64_t n_frames = moved->n_frames, n_joints = moved->n_joints;
    reach_leg leg;
    if (n_frames < 1 || !reach_measure(moved->joints, n_joints, moved->positions, &leg))
        return ML_BAD_SIZE;
    int64_t parent = moved->parents[leg.hip];
    if (parent >= n_joints) return ML_BAD_SIZE;
    const vec3 *levers = (const vec3 *)moved->sole;
    reach_task task = {
        .leg = leg,
        .n_frames = n_frames,
        .n_joints = n_joints,
        .parent = parent,
        .heel = levers[0],
        .ball = levers[1],
        .pole = *(const vec3 *)moved->pole,
        .shifts = (const vec3 *)moved->shifts,
        .tilts = moved->tilts,
        .drops = moved->drops,
        .positions = (const vec3 *)moved->positions,
        .world = (const quat *)moved->world,
        .held = moved->held,
    };
    double worst = 0.0;
    int rolls = reach_find_rolls(&task, scratch);
    for (int64_t t = 0; t < n_frames; t++) {
        double roll = rolls ? reach_rolled(n_frames, scratch, t) : 0.0;
        if (!(roll > 0.0) && !reach_is_moved(&task, t)) continue;
        double miss = reach_frame(&task, t, roll, (quat *)quats + n_joints * t);
        if (moved->held[t] >= 0) worst = ml_max(worst, miss);
    }
    *missed = worst;
    return ML_OK;
}
