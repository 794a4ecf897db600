/* Places where two clips come closest. */

#ifndef MOTIONLOOM_CLOSEST_FRAMES_H
#define MOTIONLOOM_CLOSEST_FRAMES_H

#include "table.h"

/* Places that are kept, the closest first. */
#define MEETINGS 12

/* Where a join may blend: frames that the source's clip plays on for, and that the target's clip is
   entered sooner by (later where negative). */
typedef struct {
    int64_t ahead, sooner;
    double cost;
} ml_meeting;

/* The places at which clips come closest, from a source's window to a target's, for joins of up to
   `most` more frames that arrive up to `later` frames after the target; how many.
   reference: (4) of the two windows, by ml_natural_reference  meetings: (MEETINGS) */
int64_t ml_meeting_find(const ml_table *table, const ml_table_pieces *work, int64_t source,
                        int64_t target, const double *reference, int64_t most, int64_t later,
                        ml_meeting *meetings);

#endif
