/* Eight floats at a time, for sums that would be slow one after the other.

   A sum over many numbers is eight sums of every eighth of them, added up at last in a fixed
   order: the same bits on every platform, whatever its vectors hold. Compilers do not find this
   form by themselves where several sums run together, so vectors are written out, as GCC and Clang
   have them. Loops without sums need none of this. */

#ifndef MOTIONLOOM_SIMD8_H
#define MOTIONLOOM_SIMD8_H

#include <stdint.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define ML_LANES 8

typedef float ml_four __attribute__((vector_size(16)));

#if defined(__AVX__)
#define ML_LANE_PARTS 1
typedef float ml_lane_part __attribute__((vector_size(32)));
typedef int32_t ml_lane_mask __attribute__((vector_size(32)));
typedef int8_t ml_lane_codes __attribute__((vector_size(8)));
#else
#define ML_LANE_PARTS 2
typedef ml_four ml_lane_part;
typedef int32_t ml_lane_mask __attribute__((vector_size(16)));
typedef int8_t ml_lane_codes __attribute__((vector_size(4)));
#endif

typedef struct {
    ml_lane_part at[ML_LANE_PARTS];
} ml_lanes;

/* Part by part, here and below: a whole one would go through memory once more. */
static inline ml_lanes ml_lanes_load(const float *from) {
    ml_lanes out;
    for (int k = 0; k < ML_LANE_PARTS; k++)
        memcpy(&out.at[k], from + k * (ML_LANES / ML_LANE_PARTS), sizeof out.at[k]);
    return out;
}

/* Eight small whole numbers. */
static inline ml_lanes ml_lanes_load_codes(const int8_t *from) {
    ml_lanes out;
#if defined(__AVX2__) /* compilers take one after the other apart */
    out.at[0] = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)from)));
    return out;
#endif
    for (int k = 0; k < ML_LANE_PARTS; k++) {
        ml_lane_codes codes;
        memcpy(&codes, from + k * (ML_LANES / ML_LANE_PARTS), sizeof codes);
        out.at[k] =
            __builtin_convertvector(__builtin_convertvector(codes, ml_lane_mask), ml_lane_part);
    }
    return out;
}

static inline void ml_lanes_store(ml_lanes x, float *to) {
    for (int k = 0; k < ML_LANE_PARTS; k++)
        memcpy(to + k * (ML_LANES / ML_LANE_PARTS), &x.at[k], sizeof x.at[k]);
}

static inline ml_lanes ml_lanes_zero(void) {
    ml_lanes out;
    for (int k = 0; k < ML_LANE_PARTS; k++) out.at[k] = (ml_lane_part){0.0f};
    return out;
}

static inline ml_lanes ml_lanes_fill(float x) {
    ml_lanes out = ml_lanes_zero();
    for (int k = 0; k < ML_LANE_PARTS; k++) out.at[k] = out.at[k] + x;
    return out;
}

static inline ml_lanes ml_lanes_add(ml_lanes a, ml_lanes b) {
    for (int k = 0; k < ML_LANE_PARTS; k++) a.at[k] = a.at[k] + b.at[k];
    return a;
}

static inline ml_lanes ml_lanes_subtract(ml_lanes a, ml_lanes b) {
    for (int k = 0; k < ML_LANE_PARTS; k++) a.at[k] = a.at[k] - b.at[k];
    return a;
}

static inline ml_lanes ml_lanes_multiply(ml_lanes a, ml_lanes b) {
    for (int k = 0; k < ML_LANE_PARTS; k++) a.at[k] = a.at[k] * b.at[k];
    return a;
}

static inline ml_lanes ml_lanes_scale(ml_lanes a, float by) {
    for (int k = 0; k < ML_LANE_PARTS; k++) a.at[k] = a.at[k] * by;
    return a;
}

/* x where a < b, else y. */
static inline ml_lanes ml_lanes_where_less(ml_lanes a, ml_lanes b, ml_lanes x, ml_lanes y) {
    for (int k = 0; k < ML_LANE_PARTS; k++) {
        ml_lane_mask less = a.at[k] < b.at[k];
        y.at[k] = (ml_lane_part)(((ml_lane_mask)x.at[k] & less) | ((ml_lane_mask)y.at[k] & ~less));
    }
    return y;
}

/* The smaller one of each, a where they do not compare. */
static inline ml_lanes ml_lanes_min(ml_lanes a, ml_lanes b) {
    return ml_lanes_where_less(b, a, b, a);
}

/* The larger one of each, a where they do not compare. */
static inline ml_lanes ml_lanes_max(ml_lanes a, ml_lanes b) {
    return ml_lanes_where_less(a, b, b, a);
}

/* a + b c, rounded twice. */
static inline ml_lanes ml_lanes_add_product(ml_lanes a, ml_lanes b, ml_lanes c) {
    return ml_lanes_add(a, ml_lanes_multiply(b, c));
}

/* Whether any is not 0. */
static inline int ml_lanes_any(ml_lanes x) {
    uint64_t bits[4], all = 0;
    memcpy(bits, &x, sizeof bits);
    for (int k = 0; k < 4; k++) all |= bits[k];
    return (all & 0x7fffffff7fffffffull) != 0;
}

/* The first four and the last four added. */
static inline ml_four ml_lanes_fold(ml_lanes x) {
#if defined(__AVX__)
    ml_four half[2];
    memcpy(half, &x, sizeof half);
    return half[0] + half[1];
#else
    return x.at[0] + x.at[1];
#endif
}

/* All eight. */
static inline float ml_lanes_sum(ml_lanes x) {
    ml_four half = ml_lanes_fold(x);
    return (half[0] + half[1]) + (half[2] + half[3]);
}

/* Sum of n numbers. */
static inline float ml_lanes_sum_of(int64_t n, const float *x) {
    ml_lanes lanes = ml_lanes_zero();
    int64_t k = 0;
    for (; k + ML_LANES <= n; k += ML_LANES) lanes = ml_lanes_add(lanes, ml_lanes_load(x + k));
    float sum = ml_lanes_sum(lanes);
    for (; k < n; k++) sum += x[k];
    return sum;
}

#endif
