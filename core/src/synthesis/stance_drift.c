/* Sway: what a foot that stands moves by in its window, kept where it is held.

   Captured feet that stand are not still: they settle and roll, millimetres in all. A foot that is
   held to one point looks nailed to the floor. */

#include "stance_drift.h"

#include "passage.h"

/* Way of a foot point over its clip's ground from one row to the next, seen from the body in the
   first of them, and up. */
static vec3 sway_way(const ml_rows *rows, int64_t first, int64_t second, int64_t column) {
    const float *p = ml_rows_point(rows, first, column), *q = ml_rows_point(rows, second, column);
    const double *here = rows->ground + 2 * first, *there = rows->ground + 2 * second;
    double c, s, d, r, x = there[0] - here[0], z = there[1] - here[1];
    ml_sincos(rows->heading[first], &s, &c);
    ml_sincos(rows->heading[second] - rows->heading[first], &r, &d);
    return (vec3){c * x - s * z + d * (double)q[0] + r * (double)q[2] - (double)p[0],
                  (double)q[1] - (double)p[1],
                  s * x + c * z + d * (double)q[2] - r * (double)q[0] - (double)p[2]};
}

int ml_sway_step(const ml_blend *blend, int64_t side, double psi, int64_t t, vec3 *out) {
    const ml_rows *rows = blend->rows;
    double most = 0.0, c, s;
    vec3 way = VEC3_ZERO;
    for (int64_t i = 0; i < blend->n_ways; i++) {
        int64_t first = ml_blend_row(blend, t - 1, i), second = ml_blend_row(blend, t, i);
        double weight = ml_blend_weight(blend, t, i);
        if (weight <= most || first == second) continue;
        for (int64_t column = ML_BALL(side); column >= ML_HEEL(side); column--)
            if (ml_rows_stands(rows, first, column) && ml_rows_stands(rows, second, column)) {
                way = sway_way(rows, first, second, column);
                most = weight;
                break;
            }
    }
    ml_sincos(psi, &s, &c);
    *out = (vec3){c * way.x + s * way.z, way.y, c * way.z - s * way.x};
    return most > 0.0;
}

/* Sway of the frames of one hold: nothing at a seam, zero on average where there is none. */
static void sway_settle(int64_t n, int64_t first, int64_t last, vec3 *sway) {
    vec3 sum = VEC3_ZERO, reached = sway[last];
    for (int64_t t = first; t <= last; t++) sum = vec3_add(sum, sway[t]);
    vec3 mean = vec3_divide(sum, (double)(last - first + 1));
    vec3 start = first == 0 ? VEC3_ZERO : last == n - 1 ? reached : mean;
    vec3 end = last == n - 1 ? reached : first == 0 ? VEC3_ZERO : mean;
    for (int64_t t = first; t <= last; t++) {
        double u = last > first ? (double)(t - first) / (double)(last - first) : 0.0;
        vec3 drift = vec3_add(start, vec3_scale(u, vec3_sub(end, start)));
        sway[t] = vec3_sub(sway[t], drift);
    }
}

/* Let a foot that stands at a seam (frame `seam`) go on there as fast as the blend has it. */
static void sway_ease(int64_t first, int64_t last, int64_t seam, double fps, const vec3 *foot,
                      vec3 *places) {
    int64_t next = seam == first ? seam + 1 : seam - 1;
    double quick = ml_min(ML_PASSAGE_QUICK_S * fps, (double)(last - first));
    if (last - first < 2) return;
    vec3 change = vec3_sub(vec3_sub(places[next], foot[next]), places[seam]);
    change = vec3_add(change, foot[seam]);
    double one = ml_passage_slope(1.0, quick);
    for (int64_t t = first; t <= last; t++) {
        double part = ml_passage_slope((double)(t > seam ? t - seam : seam - t), quick) / one;
        places[t] = vec3_sub(places[t], vec3_scale(part, change));
    }
}

ml_status ml_sway_add(const ml_blend *blend, int64_t side, const double *psi, const int64_t *held,
                      const double *foot, double *scratch, double *places) {
    int64_t n = blend->n_frames, t = 0;
    const vec3 *ball = (const vec3 *)foot;
    vec3 *sway = (vec3 *)scratch, *moved = (vec3 *)places;
    if (!ml_blend_fits(blend, side)) return ML_BAD_SIZE;
    while (t < n) {
        int64_t first = t++;
        if (held[first] == ML_NOT_HELD) continue;
        sway[first] = VEC3_ZERO;
        for (; t < n && held[t] == held[first]; t++) {
            vec3 step;
            ml_sway_step(blend, side, psi[t - 1], t, &step);
            sway[t] = vec3_add(sway[t - 1], step);
        }
        sway_settle(n, first, t - 1, sway);
        for (int64_t k = first; k < t; k++) moved[k] = vec3_add(moved[k], sway[k]);
        if (first == 0) sway_ease(first, t - 1, 0, blend->fps, ball, moved);
        if (t == n) sway_ease(first, t - 1, n - 1, blend->fps, ball, moved);
    }
    return ML_OK;
}
