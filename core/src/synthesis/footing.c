/* Footing: where and when the feet of a transition stand.

   What stands at a seam comes first, then what most windows agree on, where the blend has it; then
   the plants of all windows are taken in the order of how well the blend agrees with them (Ikemoto,
   Arikan and Forsyth 2007, section 4). Unlike there, a plant is cut where it would hurry the foot or
   where the leg does not reach: the rest of the contact is still better held than not. */

#include "seam.h"

/* Candidates of one foot that are looked at; a second of dancing has fewer than ten a window. */
#define FOOTING_MOST 48
/* A plant is left where the blend's foot would be farther from it on average, metres (6 in). */
#define FOOTING_FARTHEST 0.1524
/* Frames that a plant must have left. */
#define FOOTING_SHORTEST 4
/* A foot stands where windows of more than this weight stand. */
#define FOOTING_MAJORITY 0.5
/* A plant begins and ends this close to the blend's foot, with what its speed adds, metres. */
#define FOOTING_ARRIVES 0.10

/* Frames in which a window's ball is planted. */
typedef struct {
    int64_t way, first, last;
    double error;
} footing_plant;

/* How one foot is held: by which plant in every frame, and where its ball is then; labels of both
   feet's points; sums of distances from the blend's foot, and frames. */
typedef struct {
    int64_t *held;
    vec3 *places;
    uint8_t *planted;
    double *totals;
} footing_holds;

static int footing_is_free(const footing_holds *holds, int64_t t) {
    return holds->held[t] == ML_NOT_HELD;
}

/* Where a foot is at a frame: in its hold, else where the blend has it. At a seam where nothing stands
   it must be there. */
static vec3 footing_at(const ml_blend_foot *foot, const footing_holds *holds, int64_t t) {
    return footing_is_free(holds, t) ? ml_seam_balls(foot)[t] : holds->places[t];
}

/* How low the ball of a foot gets in any of its windows. */
static double footing_lowest(const ml_blend_foot *foot) {
    double low = HUGE_VAL;
    for (int64_t i = 0; i < foot->blend->n_ways; i++) low = ml_min(low, ml_seam_lowest(foot, i));
    return low;
}

/* Put the mean of n places no higher than the mean of n heights and not below `low`; the blend's mean
   distance from it in frames `first` to `last`. */
static double footing_settle(const ml_blend_foot *foot, int64_t first, int64_t last, double height,
                             double low, vec3 *place) {
    double off = 0.0, n = (double)(last - first + 1);
    *place = vec3_divide(*place, n);
    place->y = ml_max(ml_min(place->y, height / n), low);
    for (int64_t t = first; t <= last; t++) off += ml_seam_far(foot, t, *place);
    return off / n;
}

/* Mean place of a window's planted ball in the blend, and the blend's mean distance from it. It is
   no higher than the blend's foot, for clips differ in the height of their ground, and not below
   `low`. */
static double footing_fit(const ml_blend_foot *foot, const double *psi, const double *root,
                          int64_t way, int64_t first, int64_t last, double low, vec3 *place) {
    const ml_blend *blend = foot->blend;
    double height = 0.0;
    *place = VEC3_ZERO;
    for (int64_t t = first; t <= last; t++) {
        const float *p =
            ml_rows_point(blend->rows, ml_blend_row(blend, t, way), ML_BALL(foot->side));
        double x = (double)p[0], z = (double)p[2], c, s;
        ml_sincos(psi[t], &s, &c);
        place->x += root[3 * t] + c * x + s * z;
        place->y += (double)p[1];
        place->z += root[3 * t + 2] + c * z - s * x;
        height += ml_seam_balls(foot)[t].y;
    }
    return footing_settle(foot, first, last, height, low, place);
}

/* Frames around a free one that are held, or the seams. */
static void footing_neighbours(int64_t n, const footing_holds *holds, int64_t t, int64_t *low,
                               int64_t *high) {
    for (*low = t; *low > 0 && footing_is_free(holds, *low);) --*low;
    for (*high = t; *high < n - 1 && footing_is_free(holds, *high);) ++*high;
}

/* The part of a plant that fits between those that are held already, and in reach; it is empty
   where the last frame comes before the first. */
static void footing_cut(const ml_blend_foot *foot, const footing_holds *holds, vec3 place,
                        int64_t *first, int64_t *last) {
    const vec3 *ball = ml_seam_balls(foot);
    double fps = foot->blend->fps, speed = foot->blend->speed;
    int64_t n = foot->blend->n_frames, middle = (*first + *last) / 2, low, high;
    while (middle > *first && !footing_is_free(holds, middle)) middle--;
    if (!footing_is_free(holds, middle)) {
        middle = (*first + *last) / 2;
        while (middle < *last && !footing_is_free(holds, middle)) middle++;
    }
    if (!footing_is_free(holds, middle)) {
        *last = *first - 1;
        return;
    }
    footing_neighbours(n, holds, middle, &low, &high);
    vec3 from = footing_at(foot, holds, low), to = footing_at(foot, holds, high);
    int64_t a = *first > low + 1 ? *first : low + 1, b = *last < high - 1 ? *last : high - 1;
    while (a <= b && (a - low < ml_seam_frames(ball, low, from, a, place, fps, speed) ||
                      ml_seam_behind(foot, a, a > 0 ? a - 1 : 0, place) > FOOTING_ARRIVES ||
                      ml_seam_out_of_reach(foot, a, place)))
        a++;
    while (b >= a && (high - b < ml_seam_frames(ball, b, place, high, to, fps, speed) ||
                      ml_seam_behind(foot, b, b < n - 1 ? b + 1 : n - 1, place) > FOOTING_ARRIVES ||
                      ml_seam_out_of_reach(foot, b, place)))
        b--;
    for (int64_t t = a; t <= b; t++)
        if (ml_seam_out_of_reach(foot, t, place)) {
            b = a - 1;
            break;
        }
    *first = a;
    *last = b;
}

/* Hold on by the heel where it stands before its ball does, or after. */
static void footing_add_heels(const ml_blend_foot *foot, int64_t way, int64_t first, int64_t last,
                              const footing_holds *holds) {
    const ml_blend *blend = foot->blend;
    double low = ml_seam_lowest(foot, way);
    for (int64_t step = -1; step < 2; step += 2) {
        int64_t t = step < 0 ? first : last, before, after;
        while (0 < t + step && t + step < blend->n_frames - 1 && footing_is_free(holds, t + step)) {
            footing_neighbours(blend->n_frames, holds, t + step, &before, &after);
            int64_t end = step < 0 ? before : after;
            t += step;
            if (!ml_blend_stands(blend, t, way, ML_HEEL(foot->side))) break;
            if (!ml_seam_roll_on(foot, way, t - step, t, holds->places)) break;
            vec3 place = holds->places[t];
            if (place.y < low || ml_seam_behind(foot, t, t + step, place) > FOOTING_ARRIVES) break;
            int64_t away = t > end ? t - end : end - t;
            if (away < ml_seam_frames(ml_seam_balls(foot), end, footing_at(foot, holds, end), t,
                                      place, blend->fps, blend->speed))
                break;
            if (ml_seam_out_of_reach(foot, t, place)) break;
            holds->held[t] = holds->held[t - step];
            holds->planted[4 * t + ML_HEEL(foot->side)] = 1;
        }
    }
}

/* Every run of frames in which a ball is planted, at most as many as are looked at. */
static int64_t footing_plants(const ml_blend_foot *foot, const double *psi, const double *root,
                              double low, footing_plant *plants) {
    const ml_blend *blend = foot->blend;
    int64_t count = 0, column = ML_BALL(foot->side);
    vec3 place;
    for (int64_t i = 0; i < blend->n_ways; i++) {
        int64_t t = 0;
        while (t < blend->n_frames) {
            int64_t a = t;
            while (t < blend->n_frames && ml_blend_stands(blend, t, i, column)) t++;
            if (t - a >= FOOTING_SHORTEST && count < FOOTING_MOST) {
                double error = footing_fit(foot, psi, root, i, a, t - 1, low, &place);
                plants[count++] = (footing_plant){i, a, t - 1, error};
            }
            if (t == a) t++;
        }
    }
    return count;
}

/* Plants between those of the seams, the best agreed first; sums of their distances and frames. */
static void footing_fill(const ml_blend_foot *foot, const double *psi, const double *root,
                         const footing_holds *holds) {
    footing_plant plants[FOOTING_MOST];
    int64_t column = ML_BALL(foot->side);
    vec3 place = VEC3_ZERO;
    double low = footing_lowest(foot), *totals = holds->totals;
    totals[0] = totals[1] = 0.0;
    int64_t count = footing_plants(foot, psi, root, low, plants);
    for (int64_t number = 0; number < count; number++) {
        int64_t best = 0;
        for (int64_t m = 1; m < count; m++)
            if (plants[m].error < plants[best].error) best = m;
        int64_t a = plants[best].first, b = plants[best].last, i = plants[best].way;
        double off = 0.0;
        plants[best].error = HUGE_VAL;
        for (int again = 0; again < 2; again++) /* a contact's place is the mean of its remaining frames */
            if (b - a + 1 >= FOOTING_SHORTEST) {
                off = footing_fit(foot, psi, root, i, a, b, low, &place);
                footing_cut(foot, holds, place, &a, &b);
            }
        if (b - a + 1 < FOOTING_SHORTEST || off > FOOTING_FARTHEST) continue;
        totals[0] += off * (double)(b - a + 1);
        totals[1] += (double)(b - a + 1);
        for (int64_t t = a; t <= b; t++) {
            uint8_t *labels = holds->planted + 4 * t + column;
            holds->held[t] = number + 2;
            holds->places[t] = place;
            labels[0] = 1;
            labels[-1] = (uint8_t)ml_blend_stands(foot->blend, t, i, column - 1);
        }
        footing_add_heels(foot, i, a, b, holds);
    }
}

/* Weight of the windows in which a point stands at a frame, and the heaviest of these windows. */
static double footing_vote(const ml_blend_foot *foot, int64_t t, int64_t column, int64_t *way) {
    double sum = 0.0, most = -1.0;
    for (int64_t i = 0; i < foot->blend->n_ways; i++) {
        double weight = ml_blend_weight(foot->blend, t, i);
        if (!ml_blend_stands(foot->blend, t, i, column)) continue;
        sum += weight;
        if (weight > most) {
            most = weight;
            *way = i;
        }
    }
    return sum;
}

/* Mean place of the blend's ball, as high as the windows that stand have theirs at most, and not
   below `low`; the blend's mean distance from it. */
static double footing_mean(const ml_blend_foot *foot, int64_t first, int64_t last, double low,
                           vec3 *place) {
    double height = 0.0;
    *place = VEC3_ZERO;
    for (int64_t t = first; t <= last; t++) {
        int64_t way = 0, column = ML_BALL(foot->side);
        footing_vote(foot, t, column, &way);
        height +=
            (double)ml_rows_point(foot->blend->rows, ml_blend_row(foot->blend, t, way), column)[1];
        *place = vec3_add(*place, ml_seam_balls(foot)[t]);
    }
    return footing_settle(foot, first, last, height, low, place);
}

/* One run of frames in which most windows stand, held where the blend has the foot. */
static void footing_agree(const ml_blend_foot *foot, int64_t number, int64_t first, int64_t last,
                          double low, const footing_holds *holds) {
    int64_t a = first, b = last, column = ML_BALL(foot->side), way = 0;
    double off = 0.0, *totals = holds->totals;
    vec3 place = VEC3_ZERO;
    for (int again = 0; again < 2; again++) /* a contact's place is the mean of its remaining frames */
        if (b - a + 1 >= FOOTING_SHORTEST) {
            off = footing_mean(foot, a, b, low, &place);
            footing_cut(foot, holds, place, &a, &b);
        }
    if (b - a + 1 < FOOTING_SHORTEST || off > FOOTING_FARTHEST) return;
    totals[0] += off * (double)(b - a + 1);
    totals[1] += (double)(b - a + 1);
    for (int64_t t = a; t <= b; t++) {
        uint8_t *labels = holds->planted + 4 * t + column;
        holds->held[t] = number;
        holds->places[t] = place;
        labels[0] = 1;
        labels[-1] = footing_vote(foot, t, column - 1, &way) > FOOTING_MAJORITY;
    }
    footing_vote(foot, (a + b) / 2, column, &way);
    footing_add_heels(foot, way, a, b, holds);
}

/* Frames in which most windows stand, one run after another. */
static void footing_vote_all(const ml_blend_foot *foot, const footing_holds *holds) {
    int64_t t = 0, way = 0, number = FOOTING_MOST + 2, column = ML_BALL(foot->side);
    int64_t n = foot->blend->n_frames;
    double low = footing_lowest(foot);
    while (t < n) {
        int64_t a = t;
        while (t < n && footing_vote(foot, t, column, &way) > FOOTING_MAJORITY) t++;
        if (t - a >= FOOTING_SHORTEST) footing_agree(foot, number++, a, t - 1, low, holds);
        if (t == a) t++;
    }
}

ml_status ml_footing_fill(const ml_blend_foot *foot, const double *psi, const double *root,
                          int64_t *held, double *places, uint8_t *planted, double *totals) {
    if (!ml_blend_fits(foot->blend, foot->side)) return ML_BAD_SIZE;
    footing_holds holds = {held, (vec3 *)places, planted, totals};
    footing_fill(foot, psi, root, &holds);
    return ML_OK;
}

ml_status ml_footing_choose(const ml_blend *blend, const double *psi, const double *root,
                            const double *soles, const double *legs, const double *reaches,
                            double *scratch, int64_t *held, double *places, uint8_t *planted,
                            double *error) {
    int64_t n = blend->n_frames, last[2], first[2];
    double *source = scratch, *target = scratch + 6 * n, sums[2] = {0.0, 0.0}, totals[2];
    ml_blend_foot feet[2];
    for (int64_t side = 0; side < 2; side++) {
        const double *heel = soles + 6 * n * side;
        feet[side] =
            (ml_blend_foot){blend, side, heel, heel + 3 * n, legs + 3 * n * side, reaches[side]};
        int64_t span[2];
        ml_status status =
            ml_seam_stands(feet + side, source + 3 * n * side, target + 3 * n * side, span);
        if (status) return status;
        last[side] = span[0];
        first[side] = span[1];
    }
    ml_status status =
        ml_seam_part(n, soles, blend->fps, blend->speed, target, source, last, first);
    if (status) return status;
    for (int64_t side = 0; side < 2; side++) {
        const ml_blend_foot *foot = feet + side;
        footing_holds holds = {held + n * side, (vec3 *)places + n * side, planted, sums};
        for (int64_t t = 0; t < n; t++) {
            holds.held[t] = ML_NOT_HELD;
            if (last[side] < t && t < first[side]) continue;
            int leaves = t <= last[side];
            int64_t way = leaves ? 0 : blend->n_ways - 1;
            vec3 stand = ((const vec3 *)(leaves ? source : target))[n * side + t];
            holds.held[t] = leaves || first[side] == last[side] + 1 ? 0 : 1;
            holds.places[t] = stand;
            for (int64_t k = 2 * side; k < 2 * side + 2; k++)
                planted[4 * t + k] = (uint8_t)ml_blend_stands(blend, t, way, k);
            sums[0] += ml_seam_far(foot, t, stand);
            sums[1] += 1.0;
        }
        footing_vote_all(foot, &holds);
        holds.totals = totals;
        footing_fill(foot, psi, root, &holds);
        sums[0] += totals[0];
        sums[1] += totals[1];
    }
    *error = sums[0] / ml_max(sums[1], 1.0);
    return ML_OK;
}
