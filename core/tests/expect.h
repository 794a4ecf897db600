/* What the test programs check with: the first thing that does not hold is printed and ends them. */

#ifndef MOTIONLOOM_EXPECT_H
#define MOTIONLOOM_EXPECT_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPECT(what)                                                                               \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #what);              \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define EXPECT_NEAR(have, wanted, most)                                                            \
    do {                                                                                           \
        double have_ = (have), wanted_ = (wanted);                                                 \
        if (!(fabs(have_ - wanted_) <= (most))) {                                                  \
            fprintf(stderr, "%s:%d: %s is %.17g, not %.17g\n", __FILE__, __LINE__, #have, have_,   \
                    wanted_);                                                                      \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define EXPECT_ALL_NEAR(n, have, wanted, most)                                                     \
    do {                                                                                           \
        for (int k_ = 0; k_ < (n); k_++) EXPECT_NEAR((have)[k_], (wanted)[k_], most);              \
    } while (0)

/* The same numbers on every machine. */
typedef struct {
    uint64_t state;
} expect_drawn;

static inline uint64_t expect_draw(expect_drawn *drawn) { /* splitmix64 */
    uint64_t z = drawn->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline double expect_uniform(expect_drawn *drawn, double low, double high) {
    return low + (high - low) * ((double)(expect_draw(drawn) >> 11) * 0x1p-53);
}

#endif
