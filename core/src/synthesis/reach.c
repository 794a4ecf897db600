/* Reach: legs that follow their feet.

   Each leg is solved in closed form. Where a held foot would be out of reach, the body is lowered
   a little, then the heel comes up about the ball; knees ease into full stretch instead of meeting
   it. */

#include "../kinematics/knee.h"
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
    double bone[3];
    ml_between(positions + 3 * leg->knee, positions + 3 * leg->hip, bone);
    leg->thigh = ml_length(bone);
    ml_between(positions + 3 * leg->ankle, positions + 3 * leg->knee, bone);
    leg->shank = ml_length(bone);
    return 1;
}

ml_status ml_reach_ways(int64_t n_frames, int64_t n_joints, const int64_t *legs,
                        const double *positions, double *ways, double *reaches) {
    if (n_frames < 1) return ML_BAD_SIZE;
    for (int64_t side = 0; side < 2; side++) {
        reach_leg leg;
        if (!reach_measure(legs + 3 * side, n_joints, positions, &leg)) return ML_BAD_SIZE;
        reaches[side] = leg.thigh + leg.shank;
        for (int64_t t = 0; t < n_frames; t++)
            ml_between(positions + 3 * (n_joints * t + leg.ankle),
                       positions + 3 * (n_joints * t + leg.hip), ways + 3 * (n_frames * side + t));
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
            const double *shift = shifts + 3 * (n_frames * side + t);
            double way[3];
            ml_between(positions + 3 * (n_joints * t + leg.ankle),
                       positions + 3 * (n_joints * t + leg.hip), way);
            double reach = ml_max(ml_length(way), REACH_HELD * full);
            double x = way[0] + shift[0], y = way[1] + shift[1], z = way[2] + shift[2];
            double left = reach * reach - x * x - z * z;
            double need = left > 0.0 ? -y - sqrt(left) : REACH_LOWEST * full;
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
static inline void reach_arc(const double *a, const double *b, double *out) {
    out[0] = sqrt(ml_dot(a, a) * ml_dot(b, b)) + ml_dot(a, b);
    ml_cross(a, b, out + 1);
    double norm = sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2] + out[3] * out[3]);
    if (norm < 1e-12) {
        out[0] = norm = 1.0;
        out[1] = out[2] = out[3] = 0.0;
    }
    for (int c = 0; c < 4; c++) out[c] /= norm;
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

static void reach_no_turn(double *out) {
    out[0] = 1.0;
    out[1] = out[2] = out[3] = 0.0;
}

/* Turn by an angle that raises a heel which is (x, z) over the ground from its ball. */
static void reach_heel_up(double x, double z, double angle, double *out) {
    double size = ml_over_ground(x, z), sine;
    reach_no_turn(out);
    if (size < 1e-6) return;
    ml_sincos(0.5 * angle, &sine, out);
    sine /= size;
    out[1] = -sine * z;
    out[3] = sine * x;
}

/* Angle about the ball that brings the ankle within reach of the hip, no steeper than a heel comes
   up. `ankle` is seen from the hip, `ball` from the ankle. */
static double reach_angle(const double *ankle, const double *ball, double reach) {
    if (ml_dot(ankle, ankle) <= reach * reach) return 0.0;
    double hip[3]; /* seen from the ball */
    for (int c = 0; c < 3; c++) hip[c] = -(ankle[c] + ball[c]);
    double far = ml_length(hip), foot = ml_length(ball);
    if (foot < 1e-6 || far < 1e-6) return 0.0;
    double now = -ml_dot(ball, hip) / (far * foot);
    double wanted = (foot * foot + far * far - reach * reach) / (2.0 * foot * far);
    double angle = ml_acos(ml_clamp(now, -1.0, 1.0)) - ml_acos(ml_clamp(wanted, -1.0, 1.0));
    return ml_clamp(angle, 0.0, REACH_STEEPEST);
}

/* Turn by an angle about the ball that takes the ankle towards the hip. */
static void reach_roll(const double *ankle, const double *ball, double angle, double *out) {
    double hip[3], axis[3];
    for (int c = 0; c < 3; c++) hip[c] = -(ankle[c] + ball[c]);
    reach_no_turn(out);
    ml_cross(hip, ball, axis);
    double size = ml_length(axis), sine;
    if (size < 1e-9) return;
    ml_sincos(0.5 * angle, &sine, out);
    sine /= size;
    for (int c = 0; c < 3; c++) out[1 + c] = sine * axis[c];
}

/* A foot turned about its ball: its ankle, ball and rotation after it. */
static void reach_turn_foot(const double *turn, double *ankle, double *ball, double *q) {
    double after[3], turned[4];
    ml_turn(turn, ball, after);
    for (int c = 0; c < 3; c++) {
        ankle[c] = ankle[c] + ball[c] - after[c];
        ball[c] = after[c];
    }
    ml_times(turn, q, turned);
    for (int c = 0; c < 4; c++) q[c] = turned[c];
}

/* Local rotation of a joint from its parent's and its own in the world, sign kept. */
static inline void reach_set(const double *parent, const double *own, double *local) {
    double back[4] = {parent[0], -parent[1], -parent[2], -parent[3]}, q[4];
    ml_times(back, own, q);
    double dot = q[0] * local[0] + q[1] * local[1] + q[2] * local[2] + q[3] * local[3];
    double norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    norm = dot >= 0.0 ? 1.0 / norm : -1.0 / norm;
    for (int c = 0; c < 4; c++) local[c] = q[c] * norm;
}

/* One leg whose foot is moved, in all frames: the arguments of ml_reach_follow. */
typedef struct {
    reach_leg leg;
    int64_t n_frames, n_joints, parent;
    const double *sole, *pole, *shifts, *tilts, *drops, *positions, *world;
    const int64_t *held;
} reach_task;

/* Where a foot is to be in one frame: its ankle seen from the hip, the ball seen from the ankle, and
   its rotation. */
typedef struct {
    double ankle[3], ball[3], turn[4];
} reach_foot;

static int reach_is_moved(const reach_task *task, int64_t t) {
    const double *shift = task->shifts + 3 * t;
    double drop = task->drops[t], tilt = task->tilts[t];
    return !(ml_dot(shift, shift) + drop * drop + tilt * tilt < 1e-16);
}

/* Hip to ankle in a frame as it was. */
static inline void reach_way(const reach_task *task, int64_t t, double *way) {
    const double *at = task->positions + 3 * task->n_joints * t;
    ml_between(at + 3 * task->leg.ankle, at + 3 * task->leg.hip, way);
}

/* The foot shifted, its heel turned up, under a hip that comes down. */
static inline void reach_place(const reach_task *task, int64_t t, const double *way,
                               reach_foot *foot) {
    const double *world = task->world + 4 * (task->n_joints * t + task->leg.ankle);
    double turn[4], heel[3];
    for (int c = 0; c < 3; c++) foot->ankle[c] = way[c] + task->shifts[3 * t + c];
    foot->ankle[1] += task->drops[t];
    for (int c = 0; c < 4; c++) foot->turn[c] = world[c];
    ml_turn(world, task->sole + 3, foot->ball);
    if (!(task->tilts[t] > 0.0)) return;
    ml_turn(world, task->sole, heel);
    reach_heel_up(heel[0] - foot->ball[0], heel[2] - foot->ball[2], task->tilts[t], turn);
    reach_turn_foot(turn, foot->ankle, foot->ball, foot->turn);
}

/* How far the heel of a held foot must come up in each frame to be in reach, radians; whether it
   must in any. */
static int reach_find_rolls(const reach_task *task, double *needs) {
    double full = task->leg.thigh + task->leg.shank;
    int any = 0;
    for (int64_t t = 0; t < task->n_frames; t++) {
        needs[t] = 0.0;
        if (task->held[t] < 0 || !reach_is_moved(task, t)) continue;
        double way[3];
        reach_foot foot;
        reach_way(task, t, way);
        reach_place(task, t, way, &foot);
        double reach = ml_max(ml_max(ml_length(way), 1e-6), REACH_HELD * full);
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
static inline double reach_frame(const reach_task *task, int64_t t, double roll, double *quats) {
    static const double none[4] = {1.0, 0.0, 0.0, 0.0};
    const reach_leg *leg = &task->leg;
    const double *positions = task->positions + 3 * task->n_joints * t;
    const double *world = task->world + 4 * task->n_joints * t;
    double knee[3], ankle[3], aim[3], side[3], place[3], full = leg->thigh + leg->shank;
    double turn[4], thigh_q[4], shank_q[4], shank[3], swung[3], left[3], fold[4], both[4];
    reach_foot foot;
    reach_way(task, t, ankle);
    ml_between(positions + 3 * leg->knee, positions + 3 * leg->hip, knee);
    double before = ml_max(ml_length(ankle), 1e-6);
    reach_place(task, t, ankle, &foot);
    if (roll > 0.0) {
        reach_roll(foot.ankle, foot.ball, roll, turn);
        reach_turn_foot(turn, foot.ankle, foot.ball, foot.turn);
    }
    double wanted = ml_length(foot.ankle);
    double span = reach_eased(before, reach_calmed(before, wanted, full),
                              ml_max(before, REACH_FREE * full), REACH_SOFT * full);
    if (span < before) span = ml_knee_span(before, span, leg->thigh, leg->shank, REACH_SOFT);
    for (int c = 0; c < 3; c++) aim[c] = span * (foot.ankle[c] / wanted);
    ml_turn(world + 4 * leg->hip, task->pole, side);
    ml_knee_place(aim, ankle, knee, side, leg->thigh, leg->shank, place);
    /* The thigh swings the shortest way, then the shank does. */
    reach_arc(knee, place, turn);
    ml_between(ankle, knee, shank);
    ml_turn(turn, shank, swung);
    ml_times(turn, world + 4 * leg->hip, thigh_q);
    ml_between(aim, place, left);
    reach_arc(swung, left, fold);
    ml_times(fold, turn, both);
    ml_times(both, world + 4 * leg->knee, shank_q);
    reach_set(task->parent < 0 ? none : world + 4 * task->parent, thigh_q, quats + 4 * leg->hip);
    reach_set(thigh_q, shank_q, quats + 4 * leg->knee);
    reach_set(shank_q, foot.turn, quats + 4 * leg->ankle);
    return fabs(wanted - span);
}

ml_status ml_reach_follow(int64_t n_frames, int64_t n_joints, const int64_t *parents,
                          const int64_t *joints, const double *sole, const double *pole,
                          const int64_t *held, const double *shifts, const double *tilts,
                          const double *drops, const double *positions, const double *world,
                          double *scratch, double *quats, double *missed) {
    reach_leg leg;
    if (n_frames < 1 || !reach_measure(joints, n_joints, positions, &leg)) return ML_BAD_SIZE;
    int64_t parent = parents[leg.hip];
    if (parent >= n_joints) return ML_BAD_SIZE;
    reach_task task = {leg,    n_frames, n_joints, parent,    sole,  pole,
                       shifts, tilts,    drops,    positions, world, held};
    double worst = 0.0;
    int rolls = reach_find_rolls(&task, scratch);
    for (int64_t t = 0; t < n_frames; t++) {
        double roll = rolls ? reach_rolled(n_frames, scratch, t) : 0.0;
        if (!(roll > 0.0) && !reach_is_moved(&task, t)) continue;
        double miss = reach_frame(&task, t, roll, quats + 4 * n_joints * t);
        if (held[t] >= 0) worst = ml_max(worst, miss);
    }
    *missed = worst;
    return ML_OK;
}
