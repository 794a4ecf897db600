/* How what windows lack at the two ends of a passage is shared out over its frames. */

#ifndef MOTIONLOOM_PASSAGE_H
#define MOTIONLOOM_PASSAGE_H

#include "rows.h"

/* Times, in seconds, and angles are in kernels.h, where Python reads them. */

/* Feet of a passage: held, they stand still or move as in their windows. */
#define PASSAGE_STILL 2
/* `feet` of a passage that follows its standing feet and lifts its free ones as blends do. */
#define PASSAGE_LIFTED 3

/* A passage that is being made: its windows, and the rows that it leaves and arrives at. */
typedef struct {
    const ml_rows *rows;
    int64_t n_frames, n_ways;
    const int64_t *at;
    const double *weights;
    double fps;
    /* By end: the row, the window that counts most there, and the frames outside the passage that
       velocities are measured over. */
    int64_t ends[2], main[2], reach[2];
    /* By end, of the row and of every window: 1 where its clip has no frame outside. Its velocity is
       then that of so many frames inside. */
    uint8_t inward[2][1 + ML_MOST_WAYS];
    /* The window that counts most in all frames, -1 where there is none. */
    int64_t carrier;
} ml_passage;

/* How much of a window is in a frame. */
static inline double ml_passage_share(const ml_passage *made, int64_t i, int64_t t) {
    return made->weights[i * made->n_frames + t];
}

/* Row of a window at a frame of the passage, or outside it. */
static inline int64_t ml_passage_row(const ml_passage *made, int64_t i, int64_t t) {
    int64_t end = made->n_frames - 1, inside = t < 0 ? 0 : t > end ? end : t;
    return made->at[inside * made->n_ways + i] + t - inside;
}

/* Row of the clip that is left or arrived at (i = -1), or of a window, at an end. */
static inline int64_t ml_passage_end(const ml_passage *made, int64_t i, int k) {
    return i < 0 ? made->ends[k] : ml_passage_row(made, i, k ? made->n_frames - 1 : 0);
}

/* 1 where the steps at an end are known of its row and of its main window. */
static inline int ml_passage_goes_on(const ml_passage *made, int k) {
    return !made->inward[k][0] && !made->inward[k][1 + made->main[k]];
}

/* Weights of frames so far from the middle of a mean, which ends at PASSAGE_MOST - 1 frames. */
#define PASSAGE_MOST 256
static inline int64_t ml_passage_parts(double frames, double *parts) {
    int64_t half = frames < PASSAGE_MOST - 1.0 ? (int64_t)frames : PASSAGE_MOST - 1;
    for (int64_t k = 0; k <= half; k++)
        parts[k] = ml_square(1.0 - ml_square((double)k / (double)(half + 1)));
    return half;
}

/* The slow part of series. values, out: (n_frames, wide) */
void ml_passage_smooth(const ml_passage *made, int64_t wide, const double *values, double *out);

/* Where the body goes and faces: mean steps of the windows, with the velocities of both ends.
   scratch: (12, n_frames)  psi: (n_frames)  root: (n_frames, 3) */
void ml_passage_course(const ml_passage *made, double *scratch, double *psi, double *root);

/* Frames that velocities at an end are measured over. */
static inline int64_t ml_passage_reach(double fps) {
    double reach = ML_PASSAGE_REACH_S * fps + 0.5;
    return reach < 2.0 ? 1 : (int64_t)reach;
}

/* Part of what the root lacks at an end that is left after so many frames. */
static inline double ml_passage_glide(double frames, double fps) {
    return 1.0 - ml_eased(frames / (ML_PASSAGE_GLIDE_S * fps));
}

/* Values that start at 0 with slope 1 and come back to 0 after `time` frames. */
static inline double ml_passage_slope(double frames, double time) {
    double left = 1.0 - frames / time;
    return left > 0.0 ? frames * left * left : 0.0;
}

#endif
