/* Seams: feet that stand at the first or the last frame of a transition. They stand exactly where
   the clip before, or after, has them. */

#include "seam.h"

/* A foot is let go before the blend gets this far away from where it stands, metres. */
#define SEAM_RELEASE 0.12
/* Stands of both seams closer than this are one, and the foot creeps from one to the other. */
#define SEAM_SAME_PLACE 0.02
/* Frames that it needs for that. */
#define SEAM_CREEP 12

/* Frames one after another from a seam in which a foot stands there; its places are filled. */
static int64_t seam_stand(const ml_blend_foot *foot, int64_t way, int64_t seam, int64_t step,
                          vec3 *places) {
    double low = ml_seam_lowest(foot, way);
    int64_t count = 0;
    places[seam] = ml_seam_balls(foot)[seam];
    for (; count < foot->blend->n_frames; count++) {
        int64_t t = seam + step * count, neighbour = count > 0 ? t - step : t;
        if (!ml_seam_planted(foot, ml_blend_row(foot->blend, t, way))) break;
        if (count > 0 && !ml_seam_roll_on(foot, way, neighbour, t, places)) break;
        if (places[t].y < low) break;
        if (ml_seam_behind(foot, t, neighbour, places[t]) > SEAM_RELEASE ||
            ml_seam_out_of_reach(foot, t, places[t]))
            break;
    }
    return count;
}

ml_status ml_seam_stands(const ml_blend_foot *foot, double *source, double *target, int64_t *span) {
    if (!ml_blend_fits(foot->blend, foot->side)) return ML_BAD_SIZE;
    const vec3 *ball = ml_seam_balls(foot);
    vec3 *left = (vec3 *)source, *reached = (vec3 *)target;
    double fps = foot->blend->fps, speed = foot->blend->speed;
    int64_t n = foot->blend->n_frames, end = n - 1;
    int64_t last = seam_stand(foot, 0, 0, 1, left) - 1;
    int64_t first = n - seam_stand(foot, foot->blend->n_ways - 1, end, -1, reached);
    while (last > 0 &&
           end - last < ml_seam_frames(ball, last, left[last], end, ball[end], fps, speed))
        last--;
    while (first < end &&
           first < ml_seam_frames(ball, 0, ball[0], first, reached[first], fps, speed))
        first++;
    span[0] = last;
    span[1] = first;
    return ML_OK;
}

static double seam_apart(vec3 a, vec3 b) { return vec3_length(vec3_sub(a, b)); }

/* Let go of frames of one foot's two stands until there is time for its step. */
static void seam_step(int64_t n, const vec3 *ball, const vec3 *source, const vec3 *target,
                      double fps, double speed, int staggered, int early, int64_t *last,
                      int64_t *first) {
    int64_t low = *last, high = *first;
    if (high <= low) {
        int64_t middle = n / 2;
        if (staggered) {
            middle = (int64_t)((early ? 0.3 : 0.7) * (double)n);
        } else {
            for (int64_t t = high; t <= low; t++)
                if (seam_apart(ball[t], source[t]) > seam_apart(ball[t], target[t])) {
                    middle = t;
                    break;
                }
        }
        if (middle < high) middle = high;
        if (middle > low) middle = low;
        low = middle;
        high = middle + 1;
        if (high > n - 1) high = n - 1;
    }
    while (high - low < ml_seam_frames(ball, low, source[low], high, target[high], fps, speed)) {
        /* The end that is farther from the blend gives way, as long as it has frames. */
        int nearer = seam_apart(ball[low], source[low]) < seam_apart(ball[high], target[high]);
        if (low > 0 && (high == n - 1 || !nearer)) {
            low--;
        } else if (high < n - 1) {
            high++;
        } else {
            break;
        }
    }
    *last = low;
    *first = high;
}

ml_status ml_seam_part(int64_t n_frames, const double *soles, double fps, double speed,
                       const double *target, double *source, int64_t *last, int64_t *first) {
    int steps[2] = {0, 0}, stood[2];
    double ways[2] = {0.0, 0.0};
    int64_t n = n_frames;
    for (int side = 0; side < 2; side++)
        if (last[side] < -1 || last[side] >= n || first[side] < 0 || first[side] > n)
            return ML_BAD_SIZE;
    for (int side = 0; side < 2; side++) {
        int64_t a = first[side], b = last[side];
        if (b < 0 || a >= n || a > b) {
            steps[side] = b >= 0 && a < n;
            continue;
        }
        vec3 *from = (vec3 *)source + n * side;
        const vec3 *to = (const vec3 *)target + n * side;
        int64_t middle = (a + b) / 2;
        ways[side] = seam_apart(from[middle], to[middle]);
        steps[side] = !(ways[side] <= SEAM_SAME_PLACE && b - a >= SEAM_CREEP);
        if (steps[side]) continue;
        for (int64_t t = a; t <= b; t++) {
            double u = (double)(t - a) / (double)(b - a);
            u = u * u * (3.0 - 2.0 * u);
            from[t] = vec3_add(from[t], vec3_scale(u, vec3_sub(to[t], from[t])));
        }
        first[side] = b + 1;
    }
    for (int side = 0; side < 2; side++) stood[side] = first[side] <= last[side];
    for (int side = 0; side < 2; side++) {
        if (!steps[side]) continue;
        int other = 1 - side;
        int early = ways[side] > ways[other] || (ways[side] == ways[other] && side == 0);
        seam_step(n, (const vec3 *)soles + n * (2 * side + 1), (const vec3 *)source + n * side,
                  (const vec3 *)target + n * side, fps, speed, steps[other] && stood[other], early,
                  last + side, first + side);
    }
    return ML_OK;
}
