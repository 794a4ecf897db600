/* How what windows lack at the two ends of a passage is shared out over its frames. */

#ifndef MOTIONLOOM_PASSAGE_H
#define MOTIONLOOM_PASSAGE_H

#include "rows.h"

/* Velocities at an end are differences over this long, outside the passage, s. */
#define PASSAGE_REACH_S (4.0 / 60.0)
/* What the root lacks in velocity at an end fades within this long, s. */
#define PASSAGE_GLIDE_S (50.0 / 60.0)
/* Velocities of postures are taken over by the windows' own within so long, at least and at most,
   s; in between, they add at most this angle, radians. */
#define PASSAGE_SHORTEST_S (20.0 / 60.0)
#define PASSAGE_EASE_S (50.0 / 60.0)
#define PASSAGE_SWING 0.12217304763960307

/* Frames that velocities at an end are measured over. */
static inline int64_t ml_passage_reach(double fps) {
    double reach = PASSAGE_REACH_S * fps + 0.5;
    return reach < 2.0 ? 1 : (int64_t)reach;
}

/* Part of what the root lacks at an end that is left after so many frames. */
static inline double ml_passage_glide(double frames, double fps) {
    return 1.0 - ml_eased(frames / (PASSAGE_GLIDE_S * fps));
}

/* Values that start at 0 with slope 1 and come back to 0 after `time` frames. */
static inline double ml_passage_slope(double frames, double time) {
    double left = 1.0 - frames / time;
    return left > 0.0 ? frames * left * left : 0.0;
}

#endif
