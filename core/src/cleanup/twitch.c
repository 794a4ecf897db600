/* Twitches: feet that turn abruptly in the capture while one of their points is held. Such a point
   stays, so the ankle would jump; the foot's turn is smoothed there instead. */

#include "../kernels.h"
#include "../math/rotation_vector.h"
#include "offset.h"

/* An ankle may accelerate this many times as much as it does in the clip nearby. */
#define TWITCH_OVER_OWN 1.5
/* Nearby: within this many times the frames over which a turn may be smoothed. */
#define TWITCH_NEARBY 5.0

/* Size of the second difference of a track around a frame; `stride` numbers lie between frames. */
static double twitch_second(const double *track, int64_t stride, int64_t f) {
    const double *at = track + stride * f;
    double second[3];
    for (int c = 0; c < 3; c++) second[c] = at[stride + c] - 2.0 * at[c] + at[c - stride];
    return ml_length(second);
}

/* Whether a point is held at one place from the frame before to the frame after. */
static int twitch_stands(const uint8_t *held, const double *places, int64_t f) {
    const double *at = places + 6 * f;
    if (!held[2 * f - 2] || !held[2 * f] || !held[2 * f + 2]) return 0;
    for (int c = 0; c < 3; c++)
        if (at[c - 6] != at[c] || at[c + 6] != at[c]) return 0;
    return 1;
}

/* Whether the ankle jumps in a frame in which a point is held, unlike anything it does nearby. */
static int twitch_is(int64_t n, const double *ankle, const double *levers, int64_t half,
                     double free_change, int64_t f) {
    double jump = twitch_second(levers, 6, f), usual = jump / TWITCH_OVER_OWN;
    if (!(jump > free_change) || twitch_second(ankle, 3, f) >= usual) return 0;
    int64_t first = f > half ? f - half : 1, stop = n - 1 - f > half ? f + half + 1 : n - 1;
    for (int64_t g = first; g < stop; g++)
        if (twitch_second(ankle, 3, g) >= usual) return 0;
    return 1;
}

/* Steps around the frames in which an ankle jumps; whether there are any. */
static int twitch_find(int64_t n, const double *ankle, const uint8_t *held, const double *places,
                       const double *levers, int64_t half, double free_change, uint8_t *steps) {
    int any = 0;
    for (int64_t f = 0; f < n; f++) steps[f] = 0;
    for (int64_t f = 1; f + 1 < n; f++)
        if (twitch_stands(held, places, f) && twitch_is(n, ankle, levers, half, free_change, f))
            any = steps[f - 1] = steps[f] = 1;
    return any;
}

/* Mean of a lever over `half` frames to either side, in which far ones count less. */
static void twitch_mean(int64_t n, const double *levers, int64_t half, int64_t f, double *mean) {
    double total = 0.0;
    mean[0] = mean[1] = mean[2] = 0.0;
    for (int64_t i = -half; i <= half; i++) {
        int64_t g = f + i < 0 ? 0 : f + i >= n ? n - 1 : f + i;
        double weight = ml_offset_ease((double)(i < 0 ? -i : i) / (double)(half + 1));
        total += weight;
        for (int c = 0; c < 3; c++) mean[c] += weight * levers[6 * g + c];
    }
    for (int c = 0; c < 3; c++) mean[c] /= total;
}

/* Turn a foot with its toes so that a lever points along `to`. */
static void twitch_turn(const double *to, const double *lever, double *levers, double *q_foot,
                        double *q_toes) {
    double axis[3], turn[4], made[4];
    ml_cross(lever, to, axis);
    double sine = ml_length(axis), angle = ml_atan2(sine, ml_dot(lever, to));
    if (!(sine > 0.0)) return;
    for (int c = 0; c < 3; c++) axis[c] *= angle / sine;
    ml_rotation_exp(axis, turn);
    for (int k = 0; k < 2; k++) {
        double *q = k ? q_toes : q_foot, *arm = levers + 3 * k, moved[3];
        ml_times(turn, q, made);
        for (int c = 0; c < 4; c++) q[c] = made[c];
        ml_turn(turn, arm, moved);
        for (int c = 0; c < 3; c++) arm[c] = moved[c];
    }
}

void ml_twitch_calm(int64_t n_frames, const double *ankle, const uint8_t *held,
                    const double *places, double free_change, double stop, uint8_t *steps,
                    double *work, double *levers, double *q_foot, double *q_toes) {
    int64_t n = n_frames, most = (int64_t)ml_min(stop, (double)n);
    int64_t nearby = (int64_t)ml_min(TWITCH_NEARBY * stop, (double)n);
    double *part = work, *means = work + n;
    for (int k = 0; k < 2; k++)
        for (int64_t half = 1; half <= most; half *= 2) {
            if (!twitch_find(n, ankle, held + k, places + 3 * k, levers + 3 * k, nearby,
                             free_change, steps))
                break;
            ml_calm_share(n, steps, half + 1, part, NULL);
            for (int64_t f = 0; f < n; f++)
                if (part[f] > 0.0) twitch_mean(n, levers + 3 * k, half, f, means + 3 * f);
            for (int64_t f = 0; f < n; f++) {
                double to[3], *lever = levers + 6 * f + 3 * k;
                /* A foot that lies along two places cannot turn. */
                if (!(part[f] > 0.0) || (held[2 * f] && held[2 * f + 1])) continue;
                for (int c = 0; c < 3; c++)
                    to[c] = lever[c] + part[f] * (means[3 * f + c] - lever[c]);
                twitch_turn(to, lever, levers + 6 * f, q_foot + 4 * f, q_toes + 4 * f);
            }
        }
}
