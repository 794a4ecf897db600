/* One foot of a blend, and what holds for all its plants: how far it may be from the blend's, how
   much time it needs from place to place, and where its leg reaches.

   A foot rolls from heel to ball, so what is kept in a stand is not one place but no slide: from
   frame to frame, what stands does not move. */

#ifndef MOTIONLOOM_SEAM_H
#define MOTIONLOOM_SEAM_H

#include "../math/vec.h"
#include "rows.h"

/* Frames of the blend's way by which a foot that is let go falls behind while it takes up speed. */
#define ML_SEAM_FOLLOWS 3.0
/* Frames kept at least between two stands of one foot. */
#define ML_SEAM_GAP 6
/* What going from stand to stand may add to a foot's acceleration, m/s2. */
#define ML_SEAM_HURRY 7.0
/* A foot goes from stand to stand at this part of the fastest that its clips' joints go. */
#define ML_SEAM_PACE 0.5
/* A point that its clip moves faster than this does not stand, whatever its label says, m/s. */
#define ML_SEAM_LABELLED 0.45
/* A foot that stands on its heel is let go where its ball would be this far in the ground,
   metres. */
#define ML_SEAM_BELOW 0.005
/* A place is in reach of a hip that is this much lower, as part of a leg, with a leg this long. */
#define ML_SEAM_SINK 0.05
#define ML_SEAM_STRETCH 1.01

/* Places of a foot's ball in all frames of its blend. */
static inline const vec3 *ml_seam_balls(const ml_blend_foot *foot) {
    return (const vec3 *)foot->ball;
}

/* Distance of the ball from a place in one frame, metres. */
static inline double ml_seam_far(const ml_blend_foot *foot, int64_t t, vec3 place) {
    return vec3_length(vec3_sub(ml_seam_balls(foot)[t], place));
}

/* How far a foot gets from the blend's where it is let go, or taken, at a place, metres. The
   blend's foot goes on from there, or came, as fast as between a frame and its neighbour. */
static inline double ml_seam_behind(const ml_blend_foot *foot, int64_t t, int64_t neighbour,
                                    vec3 place) {
    return ml_seam_far(foot, t, place) +
           ML_SEAM_FOLLOWS * ml_seam_far(foot, t, ml_seam_balls(foot)[neighbour]);
}

/* 1 where the leg is too short for its ball to be at a place. */
static inline int ml_seam_out_of_reach(const ml_blend_foot *foot, int64_t t, vec3 place) {
    vec3 leg = ((const vec3 *)foot->legs)[t];
    vec3 to = vec3_sub(vec3_add(leg, place), ml_seam_balls(foot)[t]);
    to.y = ml_min(to.y + ML_SEAM_SINK * foot->reach, 0.0);
    double most = ml_max(vec3_dot(leg, leg), ml_square(ML_SEAM_STRETCH * foot->reach));
    return vec3_dot(to, to) > most;
}

/* Frames that a ball needs from its place in frame `low` to that in frame `high`: so many that what
   it is hurried by on top of the blend's own motion, and how fast it goes, stay in bounds. */
static inline int64_t ml_seam_frames(const vec3 *ball, int64_t low, vec3 from, int64_t high,
                                     vec3 to, double fps, double speed) {
    vec3 way = vec3_sub(to, from);
    vec3 change = vec3_add(way, vec3_sub(ball[low], ball[high]));
    double hurry = sqrt(6.0 * fps * fps * vec3_length(change) / ML_SEAM_HURRY);
    double frames = ceil(ml_max(hurry, fps * vec3_length(way) / (ML_SEAM_PACE * speed)));
    if (!(frames > ML_SEAM_GAP && frames < 0x1p62)) return ML_SEAM_GAP; /* clips that stand still */
    return (int64_t)frames;
}

/* 1 where a foot point of a clip stands in two neighbouring rows. */
static inline int ml_seam_point_stands(const ml_rows *rows, int64_t first, int64_t second,
                                       int64_t column, double fps) {
    if (!ml_rows_stands(rows, first, column) || !ml_rows_stands(rows, second, column)) return 0;
    const float *p = ml_rows_point(rows, first, column), *q = ml_rows_point(rows, second, column);
    const double *here = rows->ground + 2 * first, *there = rows->ground + 2 * second;
    double p_x = (double)p[0], p_z = (double)p[2], q_x = (double)q[0], q_z = (double)q[2];
    double c, s, d, r;
    ml_sincos(rows->heading[first], &s, &c);
    ml_sincos(rows->heading[second], &r, &d);
    double x = there[0] - here[0] + d * q_x + r * q_z - c * p_x - s * p_z;
    double z = there[1] - here[1] + d * q_z - r * q_x - c * p_z + s * p_x;
    return x * x + z * z < ml_square(ML_SEAM_LABELLED / fps);
}

/* The ball's place at `t` from the one at `before`: what stands in both does not move. 0 where
   neither heel nor ball stands in both. */
static inline int ml_seam_roll_on(const ml_blend_foot *foot, int64_t way, int64_t before, int64_t t,
                                  vec3 *places) {
    const ml_blend *blend = foot->blend;
    int64_t first = ml_blend_row(blend, before, way), second = ml_blend_row(blend, t, way);
    int on_ball = ml_seam_point_stands(blend->rows, first, second, ML_BALL(foot->side), blend->fps);
    int on_heel = !on_ball &&
                  ml_seam_point_stands(blend->rows, first, second, ML_HEEL(foot->side), blend->fps);
    const vec3 *ball = ml_seam_balls(foot), *moves = on_ball ? ball : (const vec3 *)foot->heel;
    vec3 shift = vec3_sub(places[before], ball[before]);
    if (on_ball || on_heel) shift = vec3_add(shift, vec3_sub(moves[before], moves[t]));
    places[t] = vec3_add(ball[t], shift);
    return on_ball || on_heel;
}

/* How low a ball gets in its window, less what it may be below, metres. */
static inline double ml_seam_lowest(const ml_blend_foot *foot, int64_t way) {
    float low = HUGE_VALF;
    for (int64_t t = 0; t < foot->blend->n_frames; t++) {
        int64_t row = ml_blend_row(foot->blend, t, way);
        float y = ml_rows_point(foot->blend->rows, row, ML_BALL(foot->side))[1];
        if (y < low) low = y;
    }
    return (double)low - ML_SEAM_BELOW;
}

/* 1 where a heel or ball of the foot is labelled as planted in a row. */
static inline int ml_seam_planted(const ml_blend_foot *foot, int64_t row) {
    return ml_rows_stands(foot->blend->rows, row, ML_HEEL(foot->side)) ||
           ml_rows_stands(foot->blend->rows, row, ML_BALL(foot->side));
}

#endif
