// Lanes: the words of a warp, on a GPU and, for tests, as plain C++ with one lane.
//
// Compiled with these given: LENGTH, PAD, HALF, PADDED (frames of a window, before it, on either side
// of an acceleration, in all), PLANTS (a foot, at most), SEGMENTS, NEEDS, LINEARS and LOGS (bits of
// columns that are measured, that count, and whose logarithm counts), UNROLL, GRAVITY, FLIGHT_LOAD, INCH, TURN_M.

#ifdef __CUDACC__
#define ON_DEVICE __device__ __forceinline__
#define ON_MEMBER __device__ __forceinline__
#define LANES 32
#define WHOLE 0xffffffffu
extern __shared__ float shared[];
#else
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#define ON_DEVICE static inline
#define ON_MEMBER inline
#define LANES 1
#endif

typedef unsigned long long Bits;

// Every lane owns FRAMES neighbouring frames; SLOTS has room for those past the end, which are nought.
#define FRAMES ((PADDED + LANES - 1) / LANES)
#define SLOTS (FRAMES * LANES)
#define SERIES (SLOTS + 2 * HALF)
#define N_TAPS (2 * HALF + 1)
#define N_COLUMNS 19
#define MOST_PLANTS (4 * PLANTS)
#define USES(column) ((NEEDS >> (column)) & 1)
#define FAR 1e30f
#define INFINITE (FAR * FAR)

#ifdef __CUDACC__
ON_DEVICE float earlier(float value, int by) { return __shfl_up_sync(WHOLE, value, by); }
ON_DEVICE float later(float value, int by) { return __shfl_down_sync(WHOLE, value, by); }
ON_DEVICE float across(float value, int way) { return __shfl_xor_sync(WHOLE, value, way); }
ON_DEVICE int across(int value, int way) { return __shfl_xor_sync(WHOLE, value, way); }
ON_DEVICE unsigned which(bool hit) { return __ballot_sync(WHOLE, hit); }
ON_DEVICE int ones(unsigned bits) { return __popc(bits); }
ON_DEVICE void meet() { __syncwarp(); }
// In half turns, which need no slow way for large angles.
ON_DEVICE void turned(float angle, float* c, float* s) { sincospif(0.318309886f * angle, s, c); }
ON_DEVICE int lowest(Bits bits) { return __ffsll((long long)bits) - 1; }
ON_DEVICE unsigned bits_of(float value) { return __float_as_uint(value); }
#else
ON_DEVICE float earlier(float, int) { return 0.0f; }
ON_DEVICE float later(float, int) { return 0.0f; }
ON_DEVICE float across(float value, int) { return value; }
ON_DEVICE int across(int value, int) { return value; }
ON_DEVICE unsigned which(bool hit) { return hit; }
ON_DEVICE int ones(unsigned bits) { return __builtin_popcount(bits); }
ON_DEVICE void meet() {}
ON_DEVICE void turned(float angle, float* c, float* s) { *c = cosf(angle), *s = sinf(angle); }
ON_DEVICE int lowest(Bits bits) { return __builtin_ctzll(bits); }
ON_DEVICE unsigned bits_of(float value) {
  unsigned bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
#endif

ON_DEVICE float least(float a, float b) { return a < b ? a : b; }
ON_DEVICE float most(float a, float b) { return a > b ? a : b; }

ON_DEVICE float sum(float value) {
#pragma unroll
  for (int way = LANES / 2; way > 0; way /= 2) value += across(value, way);
  return value;
}

ON_DEVICE int sum(int value) {
#pragma unroll
  for (int way = LANES / 2; way > 0; way /= 2) value += across(value, way);
  return value;
}

ON_DEVICE float highest(float value) {
#pragma unroll
  for (int way = LANES / 2; way > 0; way /= 2) value = most(value, across(value, way));
  return value;
}

// Sums of two values in every lane, in fewer exchanges than one after the other.
ON_DEVICE void sum_both(float* x, float* z, int lane) {
#if LANES == 32
  const bool upper = lane >= 16;
  float mine = (upper ? *z : *x) + across(upper ? *x : *z, 16);
#pragma unroll
  for (int way = 8; way > 0; way /= 2) mine += across(mine, way);
  *x = __shfl_sync(WHOLE, mine, 0);
  *z = __shfl_sync(WHOLE, mine, 16);
#endif
}

// The least of all lanes.
ON_DEVICE unsigned lowest_of(unsigned value) {
#if LANES == 32 && __CUDA_ARCH__ >= 800
  return __reduce_min_sync(WHOLE, value);
#else
#pragma unroll
  for (int way = LANES / 2; way > 0; way /= 2) {
    const unsigned other = (unsigned)across((int)value, way);
    value = other < value ? other : value;
  }
  return value;
#endif
}

// Sum of the values of all lanes before this one.
ON_DEVICE float before(float value, int lane) {
  float total = value;
#pragma unroll
  for (int by = 1; by < LANES; by *= 2) {
    float other = earlier(total, by);
    if (lane >= by) total += other;
  }
  float shifted = earlier(total, 1);
  return lane > 0 ? shifted : 0.0f;
}
