/* Twitches: feet that turn abruptly in the capture while one of their points is held. Such a point
   stays, so the ankle would jump; the foot's turn is smoothed there instead. */

#include "../kernels.h"
#include "../math/vec.h"
#include "offset.h"

/* An ankle may accelerate this many times as much as it does in the clip nearby. */
#define TWITCH_OVER_OWN 1.5
/* Nearby: within this many times the frames over which a turn may be smoothed. */
#define TWITCH_NEARBY 5.0

/* Size of the second difference of a track around a frame; `stride` vectors lie between frames. */
static double twitch_second(const vec3 *track, int64_t stride, int64_t f) {
    const vec3 *at = track + stride * f;
    return vec3_length(vec3_add(vec3_sub(at[stride], vec3_scale(2.0, at[0])), at[-stride]));
}

static int twitch_same(vec3 a, vec3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

/* Whether a point is held at one place from the frame before to the frame after. */
static int twitch_stands(const uint8_t *held, const vec3 *places, int64_t f) {
    const vec3 *at = places + 2 * f;
    if (!held[2 * f - 2] || !held[2 * f] || !held[2 * f + 2]) return 0;
    return twitch_same(at[-2], at[0]) && twitch_same(at[2], at[0]);
}

/* Whether the ankle jumps in a frame in which a point is held, unlike anything it does nearby. */
static int twitch_is(int64_t n, const vec3 *ankle, const vec3 *levers, int64_t half,
                     double free_change, int64_t f) {
    double jump = twitch_second(levers, 2, f), usual = jump / TWITCH_OVER_OWN;
    if (!(jump > free_change) || twitch_second(ankle, 1, f) >= usual) return 0;
    int64_t first = f > half ? f - half : 1, stop = n - 1 - f > half ? f + half + 1 : n - 1;
    for (int64_t g = first; g < stop; g++)
        if (twitch_second(ankle, 1, g) >= usual) return 0;
    return 1;
}

/* Steps around the frames in which an ankle jumps; whether there are any. */
static int twitch_find(int64_t n, const vec3 *ankle, const uint8_t *held, const vec3 *places,
                       const vec3 *levers, int64_t half, double free_change, uint8_t *steps) {
    int any = 0;
    for (int64_t f = 0; f < n; f++) steps[f] = 0;
    for (int64_t f = 1; f + 1 < n; f++)
        if (twitch_stands(held, places, f) && twitch_is(n, ankle, levers, half, free_change, f))
            any = steps[f - 1] = steps[f] = 1;
    return any;
}

/* Mean of a lever over `half` frames to either side, in which far ones count less. */
static vec3 twitch_mean(int64_t n, const vec3 *levers, int64_t half, int64_t f) {
    double total = 0.0;
    vec3 mean = VEC3_ZERO;
    for (int64_t i = -half; i <= half; i++) {
        int64_t g = f + i < 0 ? 0 : f + i >= n ? n - 1 : f + i;
        double weight = ml_offset_ease((double)(i < 0 ? -i : i) / (double)(half + 1));
        total += weight;
        mean = vec3_add(mean, vec3_scale(weight, levers[2 * g]));
    }
    return vec3_divide(mean, total);
}

/* Turn a foot, its toes and its two levers so that one of them, `lever`, points along `to`. */
static void twitch_turn(vec3 to, vec3 lever, vec3 *levers, quat *foot, quat *toes) {
    vec3 axis = vec3_cross(lever, to);
    double sine = vec3_length(axis), angle = ml_atan2(sine, vec3_dot(lever, to));
    if (!(sine > 0.0)) return;
    quat turn = quat_exp(vec3_scale(angle / sine, axis));
    *foot = quat_multiply(turn, *foot);
    *toes = quat_multiply(turn, *toes);
    for (int k = 0; k < 2; k++) levers[k] = quat_rotate(turn, levers[k]);
}

void ml_twitch_calm(int64_t n_frames, const double *ankle, const uint8_t *held,
                    const double *places, double free_change, double stop, uint8_t *steps,
                    double *work, double *levers, double *q_foot, double *q_toes) {
    int64_t n = n_frames, most = (int64_t)ml_min(stop, (double)n);
    int64_t nearby = (int64_t)ml_min(TWITCH_NEARBY * stop, (double)n);
    const vec3 *ankles = (const vec3 *)ankle, *stood = (const vec3 *)places;
    vec3 *both = (vec3 *)levers, *means = (vec3 *)(work + n); /* heel and ball of each frame */
    quat *feet = (quat *)q_foot, *toes = (quat *)q_toes;
    double *part = work;
    for (int k = 0; k < 2; k++)
        for (int64_t half = 1; half <= most; half *= 2) {
            if (!twitch_find(n, ankles, held + k, stood + k, both + k, nearby, free_change, steps))
                break;
            ml_calm_share(n, steps, half + 1, part, NULL);
            for (int64_t f = 0; f < n; f++)
                if (part[f] > 0.0) means[f] = twitch_mean(n, both + k, half, f);
            for (int64_t f = 0; f < n; f++) {
                vec3 lever = both[2 * f + k];
                /* A foot that lies along two places cannot turn. */
                if (!(part[f] > 0.0) || (held[2 * f] && held[2 * f + 1])) continue;
                vec3 to = vec3_add(lever, vec3_scale(part[f], vec3_sub(means[f], lever)));
                twitch_turn(to, lever, both + 2 * f, feet + f, toes + f);
            }
        }
}
