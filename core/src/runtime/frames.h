/* Frames where a character stands. */

#ifndef MOTIONLOOM_FRAMES_H
#define MOTIONLOOM_FRAMES_H

#include "../synthesis/rows.h"

/* Frames `first` to `first + n - 1` as frames `t` to `t + n - 1` of others, or of the same. */
void ml_frames_copy(const ml_frames *from, int64_t first, int64_t n, ml_frames *to, int64_t t);

/* A captured row as frame `t`, moved so that row `meets` is at a heading and over a point of the
   ground. */
void ml_frames_captured(const ml_rows *rows, int64_t row, int64_t meets, double heading, double x,
                        double z, ml_frames *out, int64_t t);

#endif
