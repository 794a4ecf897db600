/* Four floats or two doubles at a time, for sums that compilers do not make together by themselves:
   they may not reorder them. Sums keep a fixed order, so that the bits do not depend on the
   processor. */

#ifndef MOTIONLOOM_SIMD4_H
#define MOTIONLOOM_SIMD4_H

#include <stdint.h>
#include <string.h>

typedef float ml_quad __attribute__((vector_size(16)));
typedef int32_t ml_quad_mask __attribute__((vector_size(16)));

typedef double ml_pair __attribute__((vector_size(16)));
typedef int64_t ml_pair_mask __attribute__((vector_size(16)));

static inline ml_pair ml_pair_load(const double *from) {
    ml_pair out;
    memcpy(&out, from, sizeof out);
    return out;
}

static inline void ml_pair_store(ml_pair x, double *to) { memcpy(to, &x, sizeof x); }

/* The larger of each two; a where they do not compare. */
static inline ml_pair ml_pair_max(ml_pair a, ml_pair b) {
    ml_pair_mask more = b > a;
    return (ml_pair)(((ml_pair_mask)b & more) | ((ml_pair_mask)a & ~more));
}

static inline ml_quad ml_quad_load(const float *from) {
    ml_quad out;
    memcpy(&out, from, sizeof out);
    return out;
}

static inline void ml_quad_store(ml_quad x, float *to) { memcpy(to, &x, sizeof x); }

/* The larger of each two; a where they do not compare. */
static inline ml_quad ml_quad_max(ml_quad a, ml_quad b) {
    ml_quad_mask more = b > a;
    return (ml_quad)(((ml_quad_mask)b & more) | ((ml_quad_mask)a & ~more));
}

static inline float ml_quad_sum(ml_quad x) { return (x[0] + x[2]) + (x[1] + x[3]); }

#endif
