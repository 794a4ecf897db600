/* Elementary functions: sine, cosine, arc tangent, exponential and logarithm, for every kernel.

   Not those of the C library, which differ between platforms in their last bits. These use only
   additions, products, quotients and square roots, all of them rounded as IEEE 754 says, in a
   fixed order: the same input gives the same bits on arm64, x86-64 and WebAssembly. Bounds of
   their errors are tested in tests/unit/core/test_elementary.py.

   Each is a reduction of the argument to a short interval around 0 and the Taylor series there. */

#ifndef MOTIONLOOM_ELEMENTARY_H
#define MOTIONLOOM_ELEMENTARY_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define ML_PI 0x1.921fb54442d18p+1
#define ML_HALF_PI 0x1.921fb54442d18p+0
#define ML_HALF_PI_REST 0x1.1a62633145c07p-54

/* As min(a, b) and max(a, b) of Python: the first one where they do not compare. */
static inline double ml_min(double a, double b) { return b < a ? b : a; }
static inline double ml_max(double a, double b) { return b > a ? b : a; }
static inline double ml_clamp(double x, double low, double high) {
    return ml_min(ml_max(x, low), high);
}
static inline double ml_square(double x) { return x * x; }

/* Nearest whole number, halves to even; |x| below 2^51. */
static inline double ml_nearest(double x) {
    const double shift = 0x1.8p52;
    return (x + shift) - shift;
}

/* sin(x) and cos(x) for |x| up to 1e6. */
static inline void ml_sincos_near(double x, double *sine, double *cosine) {
    const double shift = 0x1.8p52; /* as in ml_nearest: the last bits of the sum are those of k */
    double shifted = x * 0.6366197723675814 + shift, k = shifted - shift;
    uint64_t turn; /* quarter turns, in its last two bits */
    memcpy(&turn, &shifted, sizeof turn);
    /* pi / 2 in three parts of 33 bits: the products with k are exact. */
    double high = (x - k * 0x1.921fb544p+0) - k * 0x1.0b4611a6p-34;
    double low = k * 0x1.3198a2e037073p-69;
    double r = high - low;
    double rest = (high - r) - low;
    double q = r * r;
    double s = 1.0 / 355687428096000.0;
    s = s * q - 1.0 / 1307674368000.0;
    s = s * q + 1.0 / 6227020800.0;
    s = s * q - 1.0 / 39916800.0;
    s = s * q + 1.0 / 362880.0;
    s = s * q - 1.0 / 5040.0;
    s = s * q + 1.0 / 120.0;
    s = s * q - 1.0 / 6.0;
    double c = 1.0 / 20922789888000.0;
    c = c * q - 1.0 / 87178291200.0;
    c = c * q + 1.0 / 479001600.0;
    c = c * q - 1.0 / 3628800.0;
    c = c * q + 1.0 / 40320.0;
    c = c * q - 1.0 / 720.0;
    c = c * q + 1.0 / 24.0;
    double half = 0.5 * q, one = 1.0 - half;
    double sin_r = r + (r * q * s + rest * one);
    double cos_r = one + (((1.0 - one) - half) + (q * q * c - r * rest));
    double a = turn & 1 ? cos_r : sin_r, b = turn & 1 ? sin_r : cos_r;
    *sine = turn & 2 ? -a : a;
    *cosine = (turn + 1) & 2 ? -b : b;
}

/* sin(x) and cos(x). Errors below 2 units in the last place for |x| up to 1e6. Larger arguments are
   first brought into one turn by the double nearest to 2 pi. */
static inline void ml_sincos(double x, double *sine, double *cosine) {
    if (!(fabs(x) <= 1e6)) x = fmod(x, 2.0 * ML_PI); /* exact; nan for infinity */
    ml_sincos_near(x, sine, cosine);
}

/* The same of n numbers: a loop that compilers make together. */
static inline void ml_sincos_all(int64_t n, const double *restrict x, double *restrict sines,
                                 double *restrict cosines) {
    int64_t far = 0;
    for (int64_t k = 0; k < n; k++) far += !(fabs(x[k]) <= 1e6);
    if (far > 0) {
        for (int64_t k = 0; k < n; k++) ml_sincos(x[k], sines + k, cosines + k);
        return;
    }
    for (int64_t k = 0; k < n; k++) ml_sincos_near(x[k], sines + k, cosines + k);
}

static inline double ml_sin(double x) {
    double sine, cosine;
    ml_sincos(x, &sine, &cosine);
    return sine;
}

static inline double ml_cos(double x) {
    double sine, cosine;
    ml_sincos(x, &sine, &cosine);
    return cosine;
}

/* Angle of (x, y) from the x axis in [-pi, pi], with the signs of zero that C prescribes. Errors
   below 2 units in the last place. */
static inline double ml_atan2(double y, double x) {
    /* clang-format off */
    static const double angle[9] = {
        0x0.0p+0,           0x1.fd5ba9aac2f6ep-4, 0x1.f5b75f92c80ddp-3,
        0x1.6f61941e4def1p-2, 0x1.dac670561bb4fp-2, 0x1.1e00babdefeb4p-1,
        0x1.4978fa3269ee1p-1, 0x1.700a7c5784634p-1, 0x1.921fb54442d18p-1};
    static const double rest[9] = {
        0x0.0p+0,            -0x1.cd37686760c17p-59, 0x1.8ab6e3cf7afbdp-57,
        -0x1.c63aae6f6e918p-56, 0x1.a2b7f222f65e2p-56, -0x1.928df287a668fp-58,
        0x1.2419a87f2a458p-56, -0x1.8c34d25aadef6p-56, 0x1.1a62633145c07p-55};
    /* clang-format on */
    if (x != x || y != y) return x + y;
    double ax = fabs(x), ay = fabs(y);
    double large = ax > ay ? ax : ay, small = ax > ay ? ay : ax;
    double a = 0.0;
    if (small > 0.0) {
        if (isinf(large)) { /* as far as both go */
            small = isinf(small) ? 1.0 : 0.0;
            large = 1.0;
        }
        if (large > 0x1p1000 || large < 0x1p-1000) { /* the sums below must not leave the range */
            double scale = large > 1.0 ? 0x1p-100 : 0x1p100;
            large *= scale;
            small *= scale;
        }
        int k = (int)(8.0 * (small / large) + 0.5);
        double c = 0.125 * k;
        double u = (small - c * large) / (large + c * small);
        double q = u * u;
        double s = 1.0 / 13.0;
        s = s * q - 1.0 / 11.0;
        s = s * q + 1.0 / 9.0;
        s = s * q - 1.0 / 7.0;
        s = s * q + 1.0 / 5.0;
        s = s * q - 1.0 / 3.0;
        a = angle[k] + (u + (u * q * s + rest[k]));
    }
    if (ay > ax) a = (ML_HALF_PI - a) + ML_HALF_PI_REST;
    if (signbit(x)) a = (ML_PI - a) + 2.0 * ML_HALF_PI_REST;
    return signbit(y) ? -a : a;
}

/* Angle of at most pi/6 whose sine is s, of which t is the square. */
static inline double ml_asin_small(double s, double t) {
    double q = t * t;
    double p = 0x1.d72b2bc8121b6p-6;
    p = p * q + (0x1.1d1894082e08ap-6 - 0x1.e6aaa8a0966e4p-7 * t);
    p = p * q + (0x1.52420b04b2decp-7 + 0x1.65a9c4dfd48fdp-8 * t);
    p = p * q + (0x1.c9cf07674733dp-7 + 0x1.782651caa66e1p-7 * t);
    p = p * q + (0x1.6e8bb1c8209a2p-6 + 0x1.1c4d35cf95423p-6 * t);
    p = p * q + (0x1.6db6db6e31f13p-5 + 0x1.f1c71c1db0623p-6 * t);
    p = p * q + (0x1.5555555555556p-3 + 0x1.3333333332ecap-4 * t);
    return s + s * (t * p);
}

/* Angle whose sine is x, in [-pi/2, pi/2]; nan beyond -1 and 1. Errors below 3 units in the last
   place. */
static inline double ml_asin(double x) {
    double a = fabs(x), t = 0.5 * (1.0 - a);
    if (a <= 0.5) return copysign(ml_asin_small(a, a * a), x);
    double half = ml_asin_small(sqrt(t), t); /* half of the angle to a quarter turn */
    return copysign(ML_HALF_PI - (2.0 * half - ML_HALF_PI_REST), x);
}

/* Angle whose cosine is x, in [0, pi]; nan beyond -1 and 1. Errors below 3 units in the last
   place. */
static inline double ml_acos(double x) {
    double a = fabs(x), t = 0.5 * (1.0 - a);
    if (a <= 0.5) return ML_HALF_PI - (ml_asin_small(x, x * x) - ML_HALF_PI_REST);
    double twice = 2.0 * ml_asin_small(sqrt(t), t);
    return x > 0.0 ? twice : ML_PI - (twice - 2.0 * ML_HALF_PI_REST);
}

/* 2^k for whole k from -1022 to 1023. */
static inline double ml_power_of_two(int k) {
    uint64_t bits = (uint64_t)(k + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* e^x. Errors below 1 unit in the last place where the result is normal. */
static inline double ml_exp(double x) {
    if (x != x) return x;
    if (x > 709.782712893384) return HUGE_VAL;
    if (x < -745.2) return 0.0;
    double k = ml_nearest(x * 1.4426950408889634);
    double high = x - k * 0x1.62e42feep-1, low = k * 0x1.a39ef35793c76p-33;
    double r = high - low;
    double rest = (high - r) - low;
    double s = 1.0 / 6227020800.0;
    s = s * r + 1.0 / 479001600.0;
    s = s * r + 1.0 / 39916800.0;
    s = s * r + 1.0 / 3628800.0;
    s = s * r + 1.0 / 362880.0;
    s = s * r + 1.0 / 40320.0;
    s = s * r + 1.0 / 5040.0;
    s = s * r + 1.0 / 720.0;
    s = s * r + 1.0 / 120.0;
    s = s * r + 1.0 / 24.0;
    s = s * r + 1.0 / 6.0;
    s = s * r + 0.5;
    double value = 1.0 + (r + (r * r * s + rest * (1.0 + r)));
    int n = (int)k, half = n / 2; /* in two steps: 2^n alone may leave the range */
    return value * ml_power_of_two(half) * ml_power_of_two(n - half);
}

/* Natural logarithm; -inf for 0, nan below. Errors below 2 units in the last place. */
static inline double ml_log(double x) {
    if (x != x || x < 0.0) return x != x ? x : (x - x) / (x - x);
    if (x == 0.0) return -HUGE_VAL;
    if (isinf(x)) return x;
    int n = 0;
    if (x < 0x1p-1022) { /* too small for a normal exponent */
        x *= 0x1p54;
        n = -54;
    }
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    n += (int)(bits >> 52) - 1023;
    bits = (bits & 0x000fffffffffffffull) | 0x3ff0000000000000ull;
    double m;
    memcpy(&m, &bits, sizeof m);
    if (m > 1.4142135623730951) {
        m *= 0.5;
        n += 1;
    }
    double f = m - 1.0;
    double u = f / (2.0 + f), q = u * u;
    double s = 1.0 / 21.0;
    s = s * q + 1.0 / 19.0;
    s = s * q + 1.0 / 17.0;
    s = s * q + 1.0 / 15.0;
    s = s * q + 1.0 / 13.0;
    s = s * q + 1.0 / 11.0;
    s = s * q + 1.0 / 9.0;
    s = s * q + 1.0 / 7.0;
    s = s * q + 1.0 / 5.0;
    s = s * q + 1.0 / 3.0;
    /* 2 u + 2 u^3 s = f - u (f - 2 u^2 s): the first term is exact. */
    double tail = u * (f - 2.0 * q * s);
    double k = (double)n;
    return k * 0x1.62e42feep-1 + (f - (tail - k * 0x1.a39ef35793c76p-33));
}

/* log(1 + x), exact for small x. */
static inline double ml_log1p(double x) {
    double u = 1.0 + x;
    if (u == 1.0) return x;
    if (isinf(u) || u <= 0.0) return ml_log(u);
    return ml_log(u) + (x - (u - 1.0)) / u; /* what the sum lost, to first order */
}

/* Hyperbolic tangent. Errors below 8 units in the last place. */
static inline double ml_tanh(double x) {
    double a = fabs(x);
    if (a > 22.0) return x > 0.0 ? 1.0 : -1.0;
    if (a < 0.8) { /* the quotient below loses digits: the series of an eighth, doubled thrice */
        double y = 0.125 * x, q = y * y;
        double t = 21844.0 / 6081075.0;
        t = t * q - 1382.0 / 155925.0;
        t = t * q + 62.0 / 2835.0;
        t = t * q - 17.0 / 315.0;
        t = t * q + 2.0 / 15.0;
        t = t * q - 1.0 / 3.0;
        t = y + y * q * t;
        for (int k = 0; k < 3; k++) t = 2.0 * t / (1.0 + t * t);
        return t;
    }
    double t = 1.0 - 2.0 / (ml_exp(2.0 * a) + 1.0);
    return x > 0.0 ? t : -t;
}

#endif
