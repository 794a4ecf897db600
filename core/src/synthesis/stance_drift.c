/* Sway: what a foot that stands moves by in its window, kept where it is held.

   Captured feet that stand are not still: they settle and roll, millimetres in all. A foot that is
   held to one point looks nailed to the floor. */

#include "stance_drift.h"

#include "passage.h"

/* Way of a foot point over its clip's ground from one row to the next, seen from the body in the
   first of them, and up. */
static void sway_way(const ml_rows *rows, int64_t first, int64_t second, int64_t column,
                     double *out) {
    const float *p = ml_rows_point(rows, first, column), *q = ml_rows_point(rows, second, column);
    const double *here = rows->ground + 2 * first, *there = rows->ground + 2 * second;
    double c, s, d, r, x = there[0] - here[0], z = there[1] - here[1];
    ml_sincos(rows->heading[first], &s, &c);
    ml_sincos(rows->heading[second] - rows->heading[first], &r, &d);
    out[0] = c * x - s * z + d * (double)q[0] + r * (double)q[2] - (double)p[0];
    out[1] = (double)q[1] - (double)p[1];
    out[2] = s * x + c * z + d * (double)q[2] - r * (double)q[0] - (double)p[2];
}

int ml_sway_step(const ml_blend *blend, int64_t side, double psi, int64_t t, double *out) {
    const ml_rows *rows = blend->rows;
    double most = 0.0, way[3] = {0.0, 0.0, 0.0}, c, s;
    for (int64_t i = 0; i < blend->n_ways; i++) {
        int64_t first = ml_blend_row(blend, t - 1, i), second = ml_blend_row(blend, t, i);
        double weight = ml_blend_weight(blend, t, i);
        if (weight <= most || first == second) continue;
        for (int64_t column = ML_BALL(side); column >= ML_HEEL(side); column--)
            if (ml_rows_stands(rows, first, column) && ml_rows_stands(rows, second, column)) {
                sway_way(rows, first, second, column, way);
                most = weight;
                break;
            }
    }
    ml_sincos(psi, &s, &c);
    out[0] = c * way[0] + s * way[2];
    out[1] = way[1];
    out[2] = c * way[2] - s * way[0];
    return most > 0.0;
}

/* Sway of the frames of one hold: nothing at a seam, zero on average where there is none. */
static void sway_settle(int64_t n, int64_t first, int64_t last, double *sway) {
    for (int c = 0; c < 3; c++) {
        double sum = 0.0, reached = sway[3 * last + c];
        for (int64_t t = first; t <= last; t++) sum += sway[3 * t + c];
        double mean = sum / (double)(last - first + 1);
        double start = first == 0 ? 0.0 : last == n - 1 ? reached : mean;
        double end = last == n - 1 ? reached : first == 0 ? 0.0 : mean;
        for (int64_t t = first; t <= last; t++) {
            double u = last > first ? (double)(t - first) / (double)(last - first) : 0.0;
            sway[3 * t + c] -= start + u * (end - start);
        }
    }
}

/* Let a foot that stands at a seam (frame `seam`) go on there as fast as the blend has it. */
static void sway_ease(int64_t first, int64_t last, int64_t seam, double fps, const double *foot,
                      double *places) {
    int64_t next = seam == first ? seam + 1 : seam - 1;
    double quick = ml_min(ML_PASSAGE_QUICK_S * fps, (double)(last - first)), change[3];
    if (last - first < 2) return;
    for (int c = 0; c < 3; c++)
        change[c] =
            places[3 * next + c] - foot[3 * next + c] - places[3 * seam + c] + foot[3 * seam + c];
    double one = ml_passage_slope(1.0, quick);
    for (int64_t t = first; t <= last; t++) {
        double part = ml_passage_slope((double)(t > seam ? t - seam : seam - t), quick) / one;
        for (int c = 0; c < 3; c++) places[3 * t + c] -= part * change[c];
    }
}

ml_status ml_sway_add(const ml_blend *blend, int64_t side, const double *psi, const int64_t *held,
                      const double *foot, double *scratch, double *places) {
    int64_t n = blend->n_frames, t = 0;
    double *sway = scratch;
    if (!ml_blend_fits(blend, side)) return ML_BAD_SIZE;
    while (t < n) {
        int64_t first = t++;
        if (held[first] == ML_NOT_HELD) continue;
        for (int c = 0; c < 3; c++) sway[3 * first + c] = 0.0;
        for (; t < n && held[t] == held[first]; t++) {
            double step[3];
            ml_sway_step(blend, side, psi[t - 1], t, step);
            for (int c = 0; c < 3; c++) sway[3 * t + c] = sway[3 * t - 3 + c] + step[c];
        }
        sway_settle(n, first, t - 1, sway);
        for (int64_t k = 3 * first; k < 3 * t; k++) places[k] += sway[k];
        if (first == 0) sway_ease(first, t - 1, 0, blend->fps, foot, places);
        if (t == n) sway_ease(first, t - 1, n - 1, blend->fps, foot, places);
    }
    return ML_OK;
}
