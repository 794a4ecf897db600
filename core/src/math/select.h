/* Branch-free select. Compilers often turn `a ? b : c` into a branch, and then do not vectorize the
   loop around it. */

#ifndef MOTIONLOOM_SELECT_H
#define MOTIONLOOM_SELECT_H

#include <stdint.h>
#include <string.h>

/* a where the condition holds, else b. */
static inline int64_t ml_chosen_whole(_Bool holds, int64_t a, int64_t b) {
    return b ^ ((a ^ b) & -(int64_t)holds);
}

static inline double ml_chosen(_Bool holds, double a, double b) {
    int64_t from_a, from_b;
    memcpy(&from_a, &a, sizeof from_a);
    memcpy(&from_b, &b, sizeof from_b);
    from_a = ml_chosen_whole(holds, from_a, from_b);
    memcpy(&a, &from_a, sizeof a);
    return a;
}

#endif
