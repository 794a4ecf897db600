/* What soles cover of the ground, and how far points lie outside it. Points are (x, z). */

#ifndef MOTIONLOOM_HULL_H
#define MOTIONLOOM_HULL_H

#include <stdint.h>

/* Corners of one sole: ball (x, z) and direction (x, z); heel behind the ball, tip before it and
   half the breadth. plant: (4)  sole: (3 or more)  out: (4, 2) */
void ml_hull_sole(const float *plant, const float *sole, float *out);
/* Corners of the convex hull of points, anticlockwise from the lowest x; how many. Points come out
   sorted. Points in one line give its two ends, equal points one.
   points: (n, 2)  out: (n + 1, 2) */
int64_t ml_hull_corners(int64_t n, float *points, float *out);
/* Distances of points from a convex polygon, 0 inside. One corner is a point, two are a segment.
   x, z, out: (n)  corners: (n_corners, 2) */
void ml_hull_outside(int64_t n_corners, const float *corners, int64_t n, const float *x,
                     const float *z, float *out);

#endif
