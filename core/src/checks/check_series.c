/* What the checks measure in every frame, per joint and of the whole body.

   Turns are measured as 2 |q - p| of unit quaternions, the angle between them to a third of a per
   cent for steps below 30 degrees: no inverse cosine, and the same in sources and results. */

#include "check.h"

/* Joints whose turns are measured at once. */
#define CHECK_AT_ONCE 32

/* Rotation speed of n <= CHECK_AT_ONCE joints from the rotations of the frame before, for small
   angles. Sums of two numbers at once first, side by side in memory: compilers then know how. */
static inline void check_turns(int64_t n, const int64_t *joints, const double *now,
                               const double *before, double fps, double *restrict out) {
    double sums[4 * CHECK_AT_ONCE];
    for (int64_t k = 0; k < n; k++) {
        const double *a = now + 4 * joints[k], *b = before + 4 * joints[k];
        double same[4], other[4];
        for (int c = 0; c < 4; c++) same[c] = a[c] - b[c];
        for (int c = 0; c < 4; c++) other[c] = a[c] + b[c];
        sums[4 * k] = same[0] * same[0] + same[2] * same[2];
        sums[4 * k + 1] = same[1] * same[1] + same[3] * same[3];
        sums[4 * k + 2] = other[0] * other[0] + other[2] * other[2];
        sums[4 * k + 3] = other[1] * other[1] + other[3] * other[3];
    }
    for (int64_t k = 0; k < n; k++) {
        double same = sums[4 * k] + sums[4 * k + 1], other = sums[4 * k + 2] + sums[4 * k + 3];
        out[k] = fps * (2.0 * sqrt(ml_min(same, other)));
    }
}

/* Whether every joint that a rig names is one of its joints. */
static int check_rig_is_sound(const ml_check_rig *rig) {
    int64_t n = rig->n_joints;
    if (rig->n_checked < 1 || rig->n_legs < 0 || rig->n_legs > 2 || rig->head >= n) return 0;
    for (int64_t k = 0; k < rig->n_checked; k++) {
        int64_t joint = rig->checked[k];
        if (joint < 0 || joint >= n) return 0;
        if (k > 0 && (rig->parents[joint] < 0 || rig->parents[joint] >= n)) return 0;
    }
    for (int64_t k = 0; k < rig->n_carriers; k++)
        if (rig->carriers[k] < 0 || rig->carriers[k] >= n) return 0;
    for (int64_t k = 0; k < 2 * rig->n_across; k++)
        if (rig->across[k] < 0 || rig->across[k] >= n) return 0;
    for (int64_t k = 0; k < 3 * rig->n_legs; k++)
        if (rig->legs[k] < 0 || rig->legs[k] >= n) return 0;
    return 1;
}

/* Steps into frame t > 0 of checked joints, and their bends in it unless it is the last. `steps` are
   those of all joints (n_joints, 3), and become those into the next frame; `changes` is scratch. */
static void check_joints(const ml_check_rig *rig, double fps, int64_t t, const double *positions,
                         const double *world, const double *quats, double *restrict steps,
                         double *restrict changes, const ml_check_series *out) {
    const int64_t *checked = rig->checked;
    int64_t n_checked = rig->n_checked, places = 3 * rig->n_joints, turns = 4 * rig->n_joints;
    const double *here = positions + places * t, *after = here + places;
    const double *q = quats + turns * t;
    double *restrict turn = out->turn + n_checked * t, *restrict bend = out->bend + n_checked * t;
    double *restrict speed = out->speed + n_checked * t, *restrict kink = out->kink + n_checked * t;
    double square_rate = fps * fps;
    check_turns(1, checked, world + turns * t, world + turns * (t - 1), fps, turn);
    for (int64_t n = 1; n < n_checked; n += CHECK_AT_ONCE) {
        int64_t some = n_checked - n < CHECK_AT_ONCE ? n_checked - n : CHECK_AT_ONCE;
        check_turns(some, checked + n, q, q - turns, fps, turn + n);
    }
    speed[0] = fps * ml_length(steps + 3 * checked[0]);
    for (int64_t n = 1; n < n_checked; n++) {
        double own[3];
        ml_between(steps + 3 * checked[n], steps + 3 * rig->parents[checked[n]], own);
        speed[n] = fps * ml_length(own);
    }
    if (t + 1 == out->n_frames) return;
    for (int64_t k = 0; k < places; k++) {
        double next = after[k] - here[k];
        changes[k] = next - steps[k];
        steps[k] = next;
    }
    for (int64_t n = 0; n < n_checked; n++) {
        const double *change = changes + 3 * checked[n];
        bend[n] = square_rate * ml_length(change);
    }
    for (int64_t n = 1; n < n_checked; n++) {
        double own[3];
        ml_between(changes + 3 * checked[n], changes + 3 * rig->parents[checked[n]], own);
        kink[n] = 0.5 * ml_length(own);
    }
}

/* Flexion of one knee in frame t, as `motion.knees` defines it, and heel and ball of its foot. `at`
   and `q` are positions and world rotations of that frame. */
static inline void check_leg(const ml_check_rig *rig, int64_t side, int64_t t, const double *at,
                             const double *q, const ml_check_series *out) {
    int64_t hip = rig->legs[3 * side], knee = rig->legs[3 * side + 1];
    int64_t ankle = rig->legs[3 * side + 2];
    double axis[3], u[3], v[3], across[3], heel[3], ball[3];
    ml_turn(q + 4 * hip, rig->hinges + 3 * side, axis);
    ml_between(at + 3 * knee, at + 3 * hip, u);
    ml_between(at + 3 * ankle, at + 3 * knee, v);
    /* Both bones without what they have along the hinge: their product in its plane. */
    double dot = ml_dot(u, v) - ml_dot(u, axis) * ml_dot(v, axis);
    ml_cross(u, v, across);
    double angle = ml_atan2(ml_dot(axis, across), dot);
    ml_turn(q + 4 * ankle, rig->soles + 6 * side, heel);
    ml_turn(q + 4 * ankle, rig->soles + 6 * side + 3, ball);
    double *soles = out->soles + 12 * t + 6 * side;
    for (int c = 0; c < 3; c++) {
        soles[c] = at[3 * ankle + c] + heel[c];
        soles[3 + c] = at[3 * ankle + c] + ball[c];
    }
    out->lowest[t] = ml_min(ml_min(out->lowest[t], soles[1]), soles[4]);
    out->flexion[2 * t + side] = angle < ML_KNEE_FOLDED ? angle + 2.0 * ML_PI : angle;
}

/* Heading from the lines between left and right joints, at positions `at`; that of the frame before
   while the body lies on a side. In the first frame there is none before. */
static inline double check_heading(const ml_check_rig *rig, int is_first, double before,
                                   const double *at) {
    double least = 0.2 * (double)(rig->n_across > 1 ? rig->n_across : 1), x = 0.0, z = 0.0, line[3];
    for (int64_t k = 0; k < rig->n_across; k++) {
        ml_between(at + 3 * rig->across[2 * k], at + 3 * rig->across[2 * k + 1], line);
        double size = ml_length(line);
        if (size > 0.0) {
            x += line[0] / size;
            z += line[2] / size;
        }
    }
    if (sqrt(x * x + z * z) < least) return before;
    double heading = ml_atan2(-z, x), turn = heading - before;
    if (is_first) return heading;
    return before + turn - 2.0 * ML_PI * ml_nearest(turn / (2.0 * ML_PI));
}

/* Parts of the body's weight that the mass point counts: trunk with arms and head, both thighs, both
   shanks with feet; and where the trunk's is, from the pelvis to the shoulders. */
#define CHECK_TRUNK 0.62
#define CHECK_THIGH 0.10
#define CHECK_SHANK 0.09
#define CHECK_TRUNK_PLACE 0.55

/* The mass point at positions `at`. The trunk of a body whose shoulders are not known is taken as long
   as 0.6 of a leg, upright. */
static void check_mass(const ml_check_rig *rig, const double *at, double *out) {
    const double *pelvis = at + 3 * rig->checked[0], *shoulders[2] = {NULL, NULL};
    for (int c = 0; c < 3; c++) out[c] = pelvis[c];
    if (rig->n_legs < 2) return;
    for (int64_t k = 0; k < rig->n_across; k++)
        if (rig->across[2 * k] != rig->legs[0])
            for (int c = 0; c < 2; c++) shoulders[c] = at + 3 * rig->across[2 * k + c];
    double leg[3], shank[3];
    ml_between(at + 3 * rig->legs[0], at + 3 * rig->legs[1], leg);
    ml_between(at + 3 * rig->legs[1], at + 3 * rig->legs[2], shank);
    double rise = 0.6 * (ml_length(leg) + ml_length(shank));
    for (int c = 0; c < 3; c++) {
        double top = shoulders[0] ? 0.5 * (shoulders[0][c] + shoulders[1][c])
                                  : pelvis[c] + (c == 1 ? rise : 0.0);
        double trunk = pelvis[c] + CHECK_TRUNK_PLACE * (top - pelvis[c]);
        out[c] = CHECK_TRUNK * trunk;
        for (int side = 0; side < 2; side++) {
            const int64_t *joints = rig->legs + 3 * side;
            double hip = at[3 * joints[0] + c], knee = at[3 * joints[1] + c];
            double ankle = at[3 * joints[2] + c];
            out[c] += CHECK_THIGH * 0.5 * (hip + knee) + CHECK_SHANK * 0.5 * (knee + ankle);
        }
    }
}

void ml_check_body(const ml_check_rig *rig, int64_t t, const double *at,
                   const ml_check_series *out) {
    for (int c = 0; c < 3; c++) out->pelvis[3 * t + c] = at[3 * rig->checked[0] + c];
    if (out->mass) check_mass(rig, at, out->mass + 3 * t);
}

void ml_check_heading(const ml_check_rig *rig, int64_t t, const double *at,
                      const ml_check_series *out) {
    out->heading[t] = check_heading(rig, t == 0, t > 0 ? out->heading[t - 1] : 0.0, at);
}

ml_status ml_check_measure(const ml_check_rig *rig, double fps, const double *positions,
                           const double *world, const double *quats, double *work,
                           const ml_check_series *out) {
    if (!check_rig_is_sound(rig) || out->n_checked != rig->n_checked ||
        out->n_carriers != rig->n_carriers)
        return ML_BAD_SIZE;
    int64_t turns = 4 * rig->n_joints, places = 3 * rig->n_joints, pelvis = 3 * rig->checked[0];
    double *steps = work;
    for (int64_t t = 0; t < out->n_frames; t++) {
        const double *q = world + turns * t, *at = positions + places * t;
        double low = at[pelvis + 1];
        for (int64_t n = 1; n < rig->n_checked; n++) low = ml_min(low, at[3 * rig->checked[n] + 1]);
        out->lowest[t] = low;
        ml_check_body(rig, t, at, out);
        ml_check_heading(rig, t, at, out);
        for (int64_t side = 0; side < rig->n_legs; side++) check_leg(rig, side, t, at, q, out);
        if (t == 0) continue;
        if (t == 1)
            for (int64_t k = 0; k < places; k++) steps[k] = at[k] - at[k - places];
        check_joints(rig, fps, t, positions, world, quats, steps, steps + places, out);
        for (int64_t n = 0; n < rig->n_carriers; n++)
            check_turns(1, rig->carriers + n, q, q - turns, fps,
                        out->carried + t * rig->n_carriers + n);
        if (rig->head >= 0) check_turns(1, &rig->head, q, q - turns, fps, out->head + t);
    }
    return ML_OK;
}

void ml_check_decelerations(int64_t n_frames, const double *pelvis, double fps, double *out) {
    ml_check_braking(n_frames, pelvis, fps, out);
}
