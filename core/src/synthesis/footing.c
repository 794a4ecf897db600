/* Footing: where and when the feet of a transition stand.

   What stands at a seam comes first, then what most windows agree on, where the blend has it; then
   the plants of all windows are taken in the order of how well the blend agrees with them (Ikemoto,
   Arikan and Forsyth 2007, section 4). Unlike there, a plant is cut where it would hurry the foot or
   where the leg does not reach it: what is left of it is still better held than not. */

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

/* Mean place of a window's planted ball in the blend, and the blend's mean distance from it. It is
   no higher than the blend's foot, for clips differ in the height of their ground, and not below
   `low`. */
static double footing_fit(const ml_blend_foot *foot, const double *psi, const double *root,
                          int64_t way, int64_t first, int64_t last, double low, double *place) {
    double height = 0.0, off = 0.0, n = (double)(last - first + 1);
    for (int c = 0; c < 3; c++) place[c] = 0.0;
    for (int64_t t = first; t <= last; t++) {
        const float *p = ml_rows_point(foot->blend->rows, ml_blend_row(foot->blend, t, way),
                                       ML_BALL(foot->side));
        double x = (double)p[0], z = (double)p[2], c, s;
        ml_sincos(psi[t], &s, &c);
        place[0] += root[3 * t] + c * x + s * z;
        place[1] += (double)p[1];
        place[2] += root[3 * t + 2] + c * z - s * x;
        height += foot->ball[3 * t + 1];
    }
    for (int c = 0; c < 3; c++) place[c] /= n;
    place[1] = ml_max(ml_min(place[1], height / n), low);
    for (int64_t t = first; t <= last; t++) off += ml_seam_far(foot, t, place);
    return off / n;
}

/* Frames around a free one that are held, or the seams. */
static void footing_neighbours(int64_t n, const int64_t *held, int64_t t, int64_t *low,
                               int64_t *high) {
    for (*low = t; *low > 0 && held[*low] == ML_NOT_HELD;) --*low;
    for (*high = t; *high < n - 1 && held[*high] == ML_NOT_HELD;) ++*high;
}

/* The part of a plant that fits between those that are held already, and in reach; it is empty
   where the last frame comes before the first. */
static void footing_cut(const ml_blend_foot *foot, const int64_t *held, const double *places,
                        const double *place, int64_t *first, int64_t *last) {
    int64_t n = foot->blend->n_frames, middle = (*first + *last) / 2, low, high;
    while (middle > *first && held[middle] != ML_NOT_HELD) middle--;
    if (held[middle] != ML_NOT_HELD) {
        middle = (*first + *last) / 2;
        while (middle < *last && held[middle] != ML_NOT_HELD) middle++;
    }
    if (held[middle] != ML_NOT_HELD) {
        *last = *first - 1;
        return;
    }
    footing_neighbours(n, held, middle, &low, &high);
    /* At a seam where nothing stands the foot must be where the blend has it. */
    const double *from = (held[low] != ML_NOT_HELD ? places : foot->ball) + 3 * low;
    const double *to = (held[high] != ML_NOT_HELD ? places : foot->ball) + 3 * high;
    int64_t a = *first > low + 1 ? *first : low + 1, b = *last < high - 1 ? *last : high - 1;
    while (a <= b && (a - low < ml_seam_frames(foot->ball, low, from, a, place, foot->blend->fps,
                                               foot->blend->speed) ||
                      ml_seam_behind(foot, a, a > 0 ? a - 1 : 0, place) > FOOTING_ARRIVES ||
                      ml_seam_out_of_reach(foot, a, place)))
        a++;
    while (b >= a && (high - b < ml_seam_frames(foot->ball, b, place, high, to, foot->blend->fps,
                                                foot->blend->speed) ||
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
                              int64_t *held, double *places, uint8_t *planted) {
    double low = ml_seam_lowest(foot, way);
    for (int64_t step = -1; step < 2; step += 2) {
        int64_t t = step < 0 ? first : last, before, after;
        while (0 < t + step && t + step < foot->blend->n_frames - 1 &&
               held[t + step] == ML_NOT_HELD) {
            footing_neighbours(foot->blend->n_frames, held, t + step, &before, &after);
            int64_t end = step < 0 ? before : after;
            t += step;
            if (!ml_rows_stands(foot->blend->rows, ml_blend_row(foot->blend, t, way),
                                ML_HEEL(foot->side)))
                break;
            if (!ml_seam_roll_on(foot, way, t - step, t, places)) break;
            const double *place = places + 3 * t;
            if (place[1] < low || ml_seam_behind(foot, t, t + step, place) > FOOTING_ARRIVES) break;
            const double *there = (held[end] != ML_NOT_HELD ? places : foot->ball) + 3 * end;
            int64_t away = t > end ? t - end : end - t;
            if (away < ml_seam_frames(foot->ball, end, there, t, place, foot->blend->fps,
                                      foot->blend->speed))
                break;
            if (ml_seam_out_of_reach(foot, t, place)) break;
            held[t] = held[t - step];
            planted[4 * t + ML_HEEL(foot->side)] = 1;
        }
    }
}

/* Every run of frames in which a ball is planted, at most as many as are looked at. */
static int64_t footing_plants(const ml_blend_foot *foot, const double *psi, const double *root,
                              double low, footing_plant *plants) {
    int64_t count = 0, column = ML_BALL(foot->side);
    double place[3];
    for (int64_t i = 0; i < foot->blend->n_ways; i++) {
        int64_t t = 0;
        while (t < foot->blend->n_frames) {
            int64_t a = t;
            while (t < foot->blend->n_frames &&
                   ml_rows_stands(foot->blend->rows, ml_blend_row(foot->blend, t, i), column))
                t++;
            if (t - a >= FOOTING_SHORTEST && count < FOOTING_MOST) {
                double error = footing_fit(foot, psi, root, i, a, t - 1, low, place);
                plants[count++] = (footing_plant){i, a, t - 1, error};
            }
            if (t == a) t++;
        }
    }
    return count;
}

/* Plants between those of the seams, the best agreed first; sums of their distances and frames. */
static void footing_fill(const ml_blend_foot *foot, const double *psi, const double *root,
                         int64_t *held, double *places, uint8_t *planted, double *totals) {
    footing_plant plants[FOOTING_MOST];
    int64_t column = ML_BALL(foot->side);
    double place[3] = {0.0, 0.0, 0.0}, low = HUGE_VAL;
    totals[0] = totals[1] = 0.0;
    for (int64_t i = 0; i < foot->blend->n_ways; i++) low = ml_min(low, ml_seam_lowest(foot, i));
    int64_t count = footing_plants(foot, psi, root, low, plants);
    for (int64_t number = 0; number < count; number++) {
        int64_t best = 0;
        for (int64_t m = 1; m < count; m++)
            if (plants[m].error < plants[best].error) best = m;
        int64_t a = plants[best].first, b = plants[best].last, i = plants[best].way;
        double off = 0.0;
        plants[best].error = HUGE_VAL;
        for (int again = 0; again < 2; again++) /* its place is the mean of what is left of it */
            if (b - a + 1 >= FOOTING_SHORTEST) {
                off = footing_fit(foot, psi, root, i, a, b, low, place);
                footing_cut(foot, held, places, place, &a, &b);
            }
        if (b - a + 1 < FOOTING_SHORTEST || off > FOOTING_FARTHEST) continue;
        totals[0] += off * (double)(b - a + 1);
        totals[1] += (double)(b - a + 1);
        for (int64_t t = a; t <= b; t++) {
            held[t] = number + 2;
            for (int c = 0; c < 3; c++) places[3 * t + c] = place[c];
            planted[4 * t + column] = 1;
            planted[4 * t + column - 1] = (uint8_t)ml_rows_stands(
                foot->blend->rows, ml_blend_row(foot->blend, t, i), column - 1);
        }
        footing_add_heels(foot, i, a, b, held, places, planted);
    }
}

/* Weight of the windows in which a point stands at a frame, and the heaviest of these windows. */
static double footing_vote(const ml_blend_foot *foot, int64_t t, int64_t column, int64_t *way) {
    double sum = 0.0, most = -1.0;
    for (int64_t i = 0; i < foot->blend->n_ways; i++) {
        double weight = ml_blend_weight(foot->blend, t, i);
        if (!ml_rows_stands(foot->blend->rows, ml_blend_row(foot->blend, t, i), column)) continue;
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
                           double *place) {
    double height = 0.0, off = 0.0, n = (double)(last - first + 1);
    for (int c = 0; c < 3; c++) place[c] = 0.0;
    for (int64_t t = first; t <= last; t++) {
        int64_t way = 0;
        footing_vote(foot, t, ML_BALL(foot->side), &way);
        const float *p = ml_rows_point(foot->blend->rows, ml_blend_row(foot->blend, t, way),
                                       ML_BALL(foot->side));
        for (int c = 0; c < 3; c++) place[c] += foot->ball[3 * t + c];
        height += (double)p[1];
    }
    for (int c = 0; c < 3; c++) place[c] /= n;
    place[1] = ml_max(ml_min(place[1], height / n), low);
    for (int64_t t = first; t <= last; t++) off += ml_seam_far(foot, t, place);
    return off / n;
}

/* One run of frames in which most windows stand, held where the blend has the foot. */
static void footing_agree(const ml_blend_foot *foot, int64_t number, int64_t first, int64_t last,
                          double low, int64_t *held, double *places, uint8_t *planted,
                          double *totals) {
    int64_t a = first, b = last, column = ML_BALL(foot->side), way = 0;
    double off = 0.0, place[3] = {0.0, 0.0, 0.0};
    for (int again = 0; again < 2; again++) /* its place is the mean of what is left of it */
        if (b - a + 1 >= FOOTING_SHORTEST) {
            off = footing_mean(foot, a, b, low, place);
            footing_cut(foot, held, places, place, &a, &b);
        }
    if (b - a + 1 < FOOTING_SHORTEST || off > FOOTING_FARTHEST) return;
    totals[0] += off * (double)(b - a + 1);
    totals[1] += (double)(b - a + 1);
    for (int64_t t = a; t <= b; t++) {
        held[t] = number;
        for (int c = 0; c < 3; c++) places[3 * t + c] = place[c];
        planted[4 * t + column] = 1;
        planted[4 * t + column - 1] = footing_vote(foot, t, column - 1, &way) > FOOTING_MAJORITY;
    }
    footing_vote(foot, (a + b) / 2, column, &way);
    footing_add_heels(foot, way, a, b, held, places, planted);
}

/* Frames in which most windows stand, one run after another. */
static void footing_vote_all(const ml_blend_foot *foot, int64_t *held, double *places,
                             uint8_t *planted, double *totals) {
    int64_t t = 0, way = 0, number = FOOTING_MOST + 2, column = ML_BALL(foot->side);
    double low = HUGE_VAL;
    for (int64_t i = 0; i < foot->blend->n_ways; i++) low = ml_min(low, ml_seam_lowest(foot, i));
    while (t < foot->blend->n_frames) {
        int64_t a = t;
        while (t < foot->blend->n_frames && footing_vote(foot, t, column, &way) > FOOTING_MAJORITY)
            t++;
        if (t - a >= FOOTING_SHORTEST)
            footing_agree(foot, number++, a, t - 1, low, held, places, planted, totals);
        if (t == a) t++;
    }
}

ml_status ml_footing_fill(const ml_blend_foot *foot, const double *psi, const double *root,
                          int64_t *held, double *places, uint8_t *planted, double *totals) {
    if (!ml_blend_fits(foot->blend, foot->side)) return ML_BAD_SIZE;
    footing_fill(foot, psi, root, held, places, planted, totals);
    return ML_OK;
}

ml_status ml_footing_choose(const ml_blend *blend, const double *psi, const double *root,
                            const double *soles, const double *legs, const double *reaches,
                            double *scratch, int64_t *held, double *places, uint8_t *planted,
                            double *error) {
    int64_t n = blend->n_frames, last[2], first[2];
    double *source = scratch, *target = scratch + 6 * n, totals[2] = {0.0, 0.0}, more[2];
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
        int64_t *own = held + n * side;
        double *own_places = places + 3 * n * side;
        for (int64_t t = 0; t < n; t++) {
            own[t] = ML_NOT_HELD;
            if (last[side] < t && t < first[side]) continue;
            int leaves = t <= last[side];
            int64_t row = ml_blend_row(blend, t, leaves ? 0 : blend->n_ways - 1);
            const double *stand = (leaves ? source : target) + 3 * (n * side + t);
            own[t] = leaves || first[side] == last[side] + 1 ? 0 : 1;
            for (int c = 0; c < 3; c++) own_places[3 * t + c] = stand[c];
            for (int64_t k = 2 * side; k < 2 * side + 2; k++)
                planted[4 * t + k] = (uint8_t)ml_rows_stands(blend->rows, row, k);
            totals[0] += ml_seam_far(foot, t, stand);
            totals[1] += 1.0;
        }
        footing_vote_all(foot, own, own_places, planted, totals);
        footing_fill(foot, psi, root, own, own_places, planted, more);
        for (int c = 0; c < 2; c++) totals[c] += more[c];
    }
    *error = totals[0] / ml_max(totals[1], 1.0);
    return ML_OK;
}
