/* What the checks measure in every frame, per joint and of the whole body.

   Turns are measured as 2 |q - p| of unit quaternions, the angle between them to a third of a per
   cent for steps below 30 degrees: no inverse cosine, and the same in sources and results. */

#include "../math/vec.h"
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
    const vec3 *places = (const vec3 *)at, *levers = (const vec3 *)rig->soles + 2 * side;
    const quat *turns = (const quat *)q;
    vec3 axis = quat_rotate(turns[hip], ((const vec3 *)rig->hinges)[side]);
    vec3 u = vec3_sub(places[knee], places[hip]), v = vec3_sub(places[ankle], places[knee]);
    /* Both bones without what they have along the hinge: their product in its plane. */
    double dot = vec3_dot(u, v) - vec3_dot(u, axis) * vec3_dot(v, axis);
    double angle = ml_atan2(vec3_dot(axis, vec3_cross(u, v)), dot);
    vec3 *soles = (vec3 *)out->soles + 4 * t + 2 * side; /* heel, ball */
    for (int k = 0; k < 2; k++)
        soles[k] = vec3_add(places[ankle], quat_rotate(turns[ankle], levers[k]));
    out->lowest[t] = ml_min(ml_min(out->lowest[t], soles[0].y), soles[1].y);
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
static vec3 check_mass(const ml_check_rig *rig, const vec3 *at) {
    vec3 pelvis = at[rig->checked[0]];
    if (rig->n_legs < 2) return pelvis;
    double thigh = vec3_length(vec3_sub(at[rig->legs[0]], at[rig->legs[1]]));
    double shank = vec3_length(vec3_sub(at[rig->legs[1]], at[rig->legs[2]]));
    vec3 top = vec3_add(pelvis, (vec3){0.0, 0.6 * (thigh + shank), 0.0});
    for (int64_t k = 0; k < rig->n_across; k++) {
        const int64_t *pair = rig->across + 2 * k;
        if (pair[0] != rig->legs[0]) top = vec3_scale(0.5, vec3_add(at[pair[0]], at[pair[1]]));
    }
    vec3 trunk = vec3_add(pelvis, vec3_scale(CHECK_TRUNK_PLACE, vec3_sub(top, pelvis)));
    vec3 mass = vec3_scale(CHECK_TRUNK, trunk);
    for (int side = 0; side < 2; side++) {
        const int64_t *joints = rig->legs + 3 * side;
        vec3 hip = at[joints[0]], knee = at[joints[1]], ankle = at[joints[2]];
        vec3 upper = vec3_scale(CHECK_THIGH * 0.5, vec3_add(hip, knee));
        vec3 lower = vec3_scale(CHECK_SHANK * 0.5, vec3_add(knee, ankle));
        mass = vec3_add(mass, vec3_add(upper, lower));
    }
    return mass;
}

void ml_check_body(const ml_check_rig *rig, int64_t t, const double *at,
                   const ml_check_series *out) {
    const vec3 *places = (const vec3 *)at;
    ((vec3 *)out->pelvis)[t] = places[rig->checked[0]];
    if (out->mass) ((vec3 *)out->mass)[t] = check_mass(rig, places);
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
