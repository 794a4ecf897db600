/* How fast, how low and how far a clip goes: what results that are made from it are held to. */

#include "../math/median.h"
#include "check.h"

/* The head's usual rotation speed: this part of its frames is below it. */
#define LIMITS_HEAD 0.95
/* Where no point stands, this part of the frames has its lowest point below the floor. */
#define LIMITS_LOW 0.05

/* The number that `part` of n > 0 numbers are below, between two of them in proportion. The numbers
   are put into another order. */
static double limits_quantile(double *values, int64_t n, double part) {
    double place = (double)(n - 1) * part;
    int64_t at = (int64_t)place;
    if (at > n - 1) at = n - 1;
    ml_select(values, n, at);
    double a = values[at], b = a, t = place - (double)at;
    if (at + 1 < n) b = values[at + 1];
    for (int64_t k = at + 2; k < n; k++) b = ml_min(b, values[k]);
    return t >= 0.5 ? b - (b - a) * (1.0 - t) : a + (b - a) * t;
}

void ml_sole_floors(int64_t n_frames, const double *soles, const double *lowest,
                    const uint8_t *planted, double part, double *work, double *out) {
    int known[4], any = 0;
    double floor = 0.0;
    for (int k = 0; k < 4; k++) {
        int64_t n = 0;
        for (int64_t t = 0; t < n_frames; t++)
            if (planted[4 * t + k]) work[n++] = soles[12 * t + 3 * k + 1];
        known[k] = n >= ML_CHECK_SHORTEST_CONTACT;
        if (!known[k]) continue;
        out[k] = limits_quantile(work, n, part);
        floor = any ? ml_min(floor, out[k]) : out[k];
        any = 1;
    }
    if (!any && n_frames > 0) {
        for (int64_t t = 0; t < n_frames; t++) {
            work[t] = lowest[t];
            for (int k = 0; k < 4; k++) work[t] = ml_min(work[t], soles[12 * t + 3 * k + 1]);
        }
        floor = limits_quantile(work, n_frames, LIMITS_LOW);
    }
    for (int k = 0; k < 4; k++)
        if (!known[k]) out[k] = floor;
}

/* The largest of each of n numbers over good frames, of which there is one at least. */
static void limits_most(int64_t n_frames, int64_t n, const double *values, const uint8_t *good,
                        double *restrict out) {
    int64_t t = 0;
    while (!good[t]) t++;
    for (int64_t k = 0; k < n; k++) out[k] = values[t * n + k];
    for (t++; t < n_frames; t++) {
        const double *row = values + t * n;
        if (good[t])
            for (int64_t k = 0; k < n; k++) out[k] = row[k] > out[k] ? row[k] : out[k];
    }
}

/* What the body does as a whole. */
static void limits_body(const ml_check_series *series, double fps, const uint8_t *good,
                        const double *stands, double *work, double *body) {
    int64_t n_frames = series->n_frames, n = 0;
    double travel = 0.0, brake = 0.0;
    ml_check_braking(n_frames, series->pelvis, fps, work);
    for (int64_t t = 0, any = 0; t < n_frames; t++) {
        if (!good[t]) continue;
        const double *now = series->pelvis + 3 * t;
        brake = any ? ml_max(brake, work[t]) : work[t];
        travel = ml_max(travel, t > 0 ? fps * ml_check_way(now, now - 3) : 0.0);
        any = 1;
    }
    for (int64_t t = 0; t < n_frames; t++)
        if (good[t]) work[n++] = series->head[t];
    body[CHECK_BODY_HEAD] = limits_quantile(work, n, LIMITS_HEAD);
    body[CHECK_BODY_TRAVEL] = travel;
    body[CHECK_BODY_BRAKE] = brake;
    body[CHECK_BODY_HOVER] =
        ml_sole_hover(n_frames, series->soles, series->lowest, series->mass, stands, fps, NULL);
}

ml_status ml_limits_measure(const ml_check_series *series, double fps, const uint8_t *planted,
                            const uint8_t *good, double *work, double *turn, double *speed,
                            double *bend, double *carried, double *flexion, double *sole,
                            double *floor, double *highest, double *slide, double *drag,
                            double *body) {
    int64_t n_frames = series->n_frames, n_checked = series->n_checked, any = 0;
    for (int64_t t = 0; t < n_frames; t++) any |= good[t];
    if (!any) return ML_BAD_SIZE;
    limits_most(n_frames, n_checked, series->turn, good, turn);
    limits_most(n_frames, n_checked, series->speed, good, speed);
    limits_most(n_frames, n_checked, series->bend, good, bend);
    limits_most(n_frames, series->n_carriers, series->carried, good, carried);
    limits_most(n_frames, 2, series->flexion, good, flexion + 2);
    for (int k = 0; k < 2; k++) flexion[k] = flexion[2 + k];
    for (int k = 0; k < 4; k++) sole[k] = HUGE_VAL;
    for (int64_t t = 0; t < n_frames; t++) {
        if (!good[t]) continue;
        for (int k = 0; k < 2; k++) flexion[k] = ml_min(flexion[k], series->flexion[2 * t + k]);
        for (int k = 0; k < 4; k++) sole[k] = ml_min(sole[k], series->soles[12 * t + 3 * k + 1]);
    }
    ml_sole_floors(n_frames, series->soles, series->lowest, planted, ML_CHECK_LANDS, work, floor);
    ml_sole_floors(n_frames, series->soles, series->lowest, planted, ML_CHECK_STANDS, work,
                   highest);
    limits_body(series, fps, good, highest, work, body);
    ml_sole_slides(n_frames, series->soles, planted, fps, work, slide);
    ml_sole_drags(n_frames, series->soles, floor, fps, drag);
    return ML_OK;
}
