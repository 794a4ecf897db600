/* Course of a passage: where the body goes, faces and rises. */

#include "passage.h"

/* Numbers of a step: turn, way sideways and ahead as seen from the body before it, and height after
   it. */
enum { COURSE_TURN, COURSE_ASIDE, COURSE_AHEAD, COURSE_HEIGHT, COURSE_WIDE };

static double course_height(const ml_rows *rows, int64_t row) {
    return (double)rows->body[3 * rows->n_joints * row + 1];
}

/* Add `share` of the way from one row to another. */
static void course_add(const ml_rows *rows, int64_t before, int64_t now, double share,
                       double *step) {
    double c, s, x = rows->ground[2 * now] - rows->ground[2 * before];
    double z = rows->ground[2 * now + 1] - rows->ground[2 * before + 1];
    ml_sincos(rows->heading[before], &s, &c);
    step[COURSE_TURN] += share * (rows->heading[now] - rows->heading[before]);
    step[COURSE_ASIDE] += share * (c * x - s * z);
    step[COURSE_AHEAD] += share * (s * x + c * z);
    step[COURSE_HEIGHT] += share * course_height(rows, now);
}

/* Add `share` of the step of a window to a frame; that to the first one is as that after it where
   its clip begins there. */
static void course_add_step(const ml_passage *made, int64_t i, int64_t t, double share,
                            double *step) {
    int64_t first = t > 0 || !made->inward[0][1 + i] ? t - 1 : t;
    double height = step[COURSE_HEIGHT];
    course_add(made->rows, ml_passage_row(made, i, first), ml_passage_row(made, i, first + 1),
               share, step);
    step[COURSE_HEIGHT] = height + share * course_height(made->rows, ml_passage_row(made, i, t));
}

/* Mean steps of the windows: what is slow of all, what is fast of the carrier. */
static void course_mean(const ml_passage *made, double *apart, double *slow, double *steps) {
    int64_t n = made->n_frames;
    for (int64_t k = 0; k < COURSE_WIDE * n; k++) apart[k] = steps[k] = 0.0;
    for (int64_t t = 0; t < n; t++)
        for (int64_t i = 0; i < made->n_ways; i++) {
            double share = ml_passage_share(made, i, t);
            course_add_step(made, i, t, share, apart + COURSE_WIDE * t);
            if (i == made->carrier) course_add_step(made, i, t, 1.0, steps + COURSE_WIDE * t);
        }
    for (int64_t k = 0; k < COURSE_WIDE * n; k++) apart[k] -= steps[k];
    if (made->carrier >= 0) ml_passage_smooth(made, COURSE_WIDE, apart, slow);
    for (int64_t k = 0; k < COURSE_WIDE * n; k++)
        steps[k] += made->carrier < 0 ? apart[k] : slow[k];
}

/* What windows lack in velocity at an end, a frame; the last is how fast they rise. */
static void course_lack(const ml_passage *made, int k, double *lack) {
    for (int c = 0; c < COURSE_WIDE; c++) lack[c] = 0.0;
    for (int64_t i = -1; i < made->n_ways; i++) {
        int64_t row = ml_passage_end(made, i, k), way = k ? made->reach[k] : -made->reach[k];
        if (made->inward[k][1 + i]) way = -way;
        if (way == 0) continue; /* clips of one frame */
        double share = i < 0 ? 1.0 : -ml_passage_share(made, i, k ? made->n_frames - 1 : 0);
        course_add(made->rows, row, row + way, share / (double)way, lack);
        lack[COURSE_HEIGHT] -= share / (double)way * course_height(made->rows, row);
    }
}

/* What the step next to an end lacks to go on as the clip outside does, with the change from step to
   step that the main window has there. `inside` is that step as it is; its height is a rise. */
static void course_left(const ml_passage *made, int k, const double *inside, double *left) {
    int64_t way = k ? 1 : -1, row = made->ends[k], own = ml_passage_end(made, made->main[k], k);
    double steps[3][COURSE_WIDE] = {{0.0}, {0.0}, {0.0}};
    for (int c = 0; c < COURSE_WIDE; c++) left[c] = 0.0;
    if (!ml_passage_goes_on(made, k)) return;
    /* Outside: the clip's and the window's; inside: the window's. */
    int64_t from[3] = {row, own, own - way}, to[3] = {row + way, own + way, own};
    for (int m = 0; m < 3; m++) {
        int64_t before = k ? from[m] : to[m], now = k ? to[m] : from[m];
        course_add(made->rows, before, now, 1.0, steps[m]);
        steps[m][COURSE_HEIGHT] -= course_height(made->rows, before);
    }
    for (int c = 0; c < COURSE_WIDE; c++)
        left[c] = steps[0][c] - steps[1][c] + steps[2][c] - inside[c];
}

void ml_passage_course(const ml_passage *made, double *scratch, double *psi, double *root) {
    int64_t n = made->n_frames, end = n - 1;
    double *steps = scratch, *apart = steps + COURSE_WIDE * n, lack[2][COURSE_WIDE];
    double left[2][COURSE_WIDE], off[2];
    double ease = ml_min(ML_PASSAGE_EASE_S * made->fps, (double)end);
    double quick = ml_min(ML_PASSAGE_QUICK_S * made->fps, (double)end);
    course_mean(made, apart, apart + COURSE_WIDE * n, steps);
    for (int k = 0; k < 2; k++) {
        course_lack(made, k, lack[k]);
        off[k] = course_height(made->rows, made->ends[k]) -
                 steps[COURSE_WIDE * (k ? end : 0) + COURSE_HEIGHT];
    }
    double along = (off[1] - off[0]) / (double)end;
    for (int64_t t = 0; t < n; t++) {
        double *step = steps + COURSE_WIDE * t, u = (double)t / (double)end;
        double a = ml_passage_glide((double)t - 0.5, made->fps);
        double b = ml_passage_glide((double)(end - t) + 0.5, made->fps);
        for (int c = 0; c < COURSE_HEIGHT; c++) step[c] += a * lack[0][c] + b * lack[1][c];
        step[COURSE_HEIGHT] +=
            (1.0 - u) * off[0] + u * off[1] +
            (lack[0][COURSE_HEIGHT] - along) * ml_passage_slope((double)t, ease) -
            (lack[1][COURSE_HEIGHT] - along) * ml_passage_slope((double)(end - t), ease);
    }
    for (int k = 0; k < 2; k++) {
        const double *inside = steps + COURSE_WIDE * (k ? end : 1);
        double step[COURSE_WIDE] = {inside[0], inside[1], inside[2],
                                    inside[COURSE_HEIGHT] - inside[COURSE_HEIGHT - COURSE_WIDE]};
        course_left(made, k, step, left[k]);
    }
    psi[0] = made->rows->heading[made->ends[0]];
    root[0] = made->rows->ground[2 * made->ends[0]];
    root[2] = made->rows->ground[2 * made->ends[0] + 1];
    for (int64_t t = 0; t < n; t++) {
        double *step = steps + COURSE_WIDE * t, c, s;
        double a = 1.0 - ml_eased(((double)t - 1.0) / quick);
        double b = 1.0 - ml_eased((double)(end - t) / quick);
        root[3 * t + 1] = step[COURSE_HEIGHT] +
                          left[0][COURSE_HEIGHT] * ml_passage_slope((double)t, quick) -
                          left[1][COURSE_HEIGHT] * ml_passage_slope((double)(end - t), quick);
        if (t == 0) continue;
        for (int k = 0; k < COURSE_HEIGHT; k++) step[k] += a * left[0][k] + b * left[1][k];
        ml_sincos(psi[t - 1], &s, &c);
        root[3 * t] = root[3 * t - 3] + c * step[COURSE_ASIDE] + s * step[COURSE_AHEAD];
        root[3 * t + 2] = root[3 * t - 1] + c * step[COURSE_AHEAD] - s * step[COURSE_ASIDE];
        psi[t] = psi[t - 1] + step[COURSE_TURN];
    }
}
