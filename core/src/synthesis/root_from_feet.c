/* Tread: where a body goes over the ground by the feet that it stands on.

   Windows that are bent to other ends stride in another way than they go, so that feet which stand
   slide. Where a passage leads is free: its root goes as its standing feet ask for. */

#include "passage.h"
#include "stance_drift.h"

/* Steps are means over so long to either side, s, and count from so much support on. */
#define TREAD_MEAN_S 0.45
#define TREAD_SUPPORT 0.15
/* They are followed so long after an end, s: velocities at the ends are given. */
#define TREAD_SEAM_S (8.0 / 60.0)

/* How much a foot stands in the step to a frame: 1 where it does in all windows, 0 where it moves in a
   quarter of them, by weight. Where they do not agree the body would stop for a foot that swings. */
static double tread_stands(const ml_blend *blend, int64_t side, int64_t t) {
    const ml_rows *rows = blend->rows;
    double part = 0.0;
    for (int64_t i = 0; i < blend->n_ways; i++) {
        int64_t first = ml_blend_row(blend, t - 1, i), second = ml_blend_row(blend, t, i);
        int stands = 0;
        for (int64_t column = ML_HEEL(side); column <= ML_BALL(side); column++)
            stands |= ml_rows_stands(rows, first, column) && ml_rows_stands(rows, second, column);
        if (stands) part += ml_blend_weight(blend, t, i);
    }
    return ml_max(0.0, 4.0 * part - 3.0);
}

/* What standing feet ask a step to have more, over the ground, and how many stand. asks: (3) */
static void tread_ask(const ml_blend *blend, const double *psi, const double *points, int64_t t,
                      double *asks) {
    asks[0] = asks[1] = asks[2] = 0.0;
    for (int64_t side = 0; side < 2 && t > 0; side++) {
        const vec3 *now = (const vec3 *)points + 4 * t + ML_BALL(side), *before = now - 4;
        vec3 step;
        if (!ml_sway_step(blend, side, psi[t - 1], t, &step)) continue;
        double stands = tread_stands(blend, side, t);
        asks[0] += stands * (step.x - (now->x - before->x));
        asks[1] += stands * (step.z - (now->z - before->z));
        asks[2] += stands;
    }
}

ml_status ml_tread_follow(const ml_blend *blend, const double *psi, double part,
                          const double *points, double *scratch, double *root) {
    double parts[PASSAGE_MOST], *asks = scratch, gone[2] = {0.0, 0.0}, fps = blend->fps;
    int64_t n = blend->n_frames, half = ml_passage_parts(TREAD_MEAN_S * fps, parts);
    if (!ml_blend_fits(blend, 0)) return ML_BAD_SIZE;
    for (int64_t t = 0; t < n; t++) tread_ask(blend, psi, points, t, asks + 3 * t);
    for (int64_t t = 1; t < n; t++) {
        int64_t from = t > half ? t - half : 1, last = t + half < n - 1 ? t + half : n - 1;
        double sum[2] = {0.0, 0.0}, support = 0.0, whole = 0.0;
        for (int64_t u = from; u <= last; u++) {
            double near = parts[u < t ? t - u : u - t];
            for (int c = 0; c < 2; c++) sum[c] += near * asks[3 * u + c];
            support += near * asks[3 * u + 2];
            whole += near;
        }
        double ends = (double)(t < n - t ? t : n - t) / (TREAD_SEAM_S * fps);
        double share = part * ml_eased(ends) / (support + TREAD_SUPPORT * whole);
        for (int c = 0; c < 2; c++) gone[c] += share * sum[c];
        root[3 * t] += gone[0];
        root[3 * t + 2] += gone[1];
    }
    return ML_OK;
}
