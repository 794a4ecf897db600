/* Elementary functions at values known exactly, and at their edges; how large their errors are is
   tested in tests/unit/core/test_elementary.py. Every argument must be met without undefined
   behaviour. */

#include "../src/math/elementary.h"
#include "../src/math/rotation_vector.h"
#include "expect.h"

#define CLOSE 4e-16
#define HALF_ROOT 0.70710678118654752440

static void known_values(void) {
    EXPECT(ml_min(1.0, 2.0) == 1.0 && ml_max(1.0, 2.0) == 2.0);
    EXPECT(ml_min(3.0, NAN) == 3.0 && ml_max(3.0, NAN) == 3.0); /* the first one */
    EXPECT(ml_clamp(-4.0, -1.0, 2.0) == -1.0 && ml_clamp(5.0, -1.0, 2.0) == 2.0);
    EXPECT(ml_square(-3.0) == 9.0);
    EXPECT(ml_nearest(2.5) == 2.0 && ml_nearest(3.5) == 4.0 && ml_nearest(-2.4) == -2.0);
    EXPECT(ml_sin(0.0) == 0.0 && ml_cos(0.0) == 1.0);
    EXPECT_NEAR(ml_sin(ML_PI / 6.0), 0.5, CLOSE);
    EXPECT_NEAR(ml_cos(ML_PI / 3.0), 0.5, CLOSE);
    EXPECT_NEAR(ml_sin(-ML_PI / 4.0), -HALF_ROOT, CLOSE);
    EXPECT_NEAR(ml_cos(ML_PI), -1.0, 0.0);
    EXPECT_NEAR(ml_sin(1000000.0), -0.34999350217129295212, CLOSE);
    EXPECT(ml_atan2(0.0, 1.0) == 0.0 && ml_atan2(0.0, -1.0) == ML_PI);
    EXPECT(ml_atan2(1.0, 0.0) == ML_HALF_PI && ml_atan2(-1.0, 0.0) == -ML_HALF_PI);
    EXPECT_NEAR(ml_atan2(1.0, 1.0), ML_PI / 4.0, CLOSE);
    EXPECT_NEAR(ml_acos(0.5), ML_PI / 3.0, CLOSE);
    EXPECT_NEAR(ml_asin(-0.5), -ML_PI / 6.0, CLOSE);
    EXPECT(ml_power_of_two(0) == 1.0 && ml_power_of_two(-1022) == 0x1p-1022);
    EXPECT(ml_power_of_two(1023) == 0x1p1023);
    EXPECT(ml_exp(0.0) == 1.0);
    EXPECT_NEAR(ml_exp(1.0), 2.71828182845904523536, 2.0 * CLOSE);
    EXPECT(ml_log(1.0) == 0.0);
    EXPECT_NEAR(ml_log(2.0), 0.69314718055994530942, CLOSE);
    EXPECT_NEAR(ml_log1p(1e-10), 1e-10 - 5e-21, 1e-25);
    EXPECT_NEAR(ml_tanh(0.5), 0.46211715726000975850, CLOSE);
    EXPECT(ml_tanh(30.0) == 1.0 && ml_tanh(-30.0) == -1.0);
}

static void every_kind_of_argument(void) {
    static const double kinds[] = {0.0,  -0.0, 5e-324, -1e-310, 1e-300,   1e-9,      0.8,
                                   1.0,  -1.0, 22.0,   709.0,   710.0,    -745.0,    1e6,
                                   1e15, 1e17, -1e20,  1e300,   HUGE_VAL, -HUGE_VAL, NAN};
    const int n = (int)(sizeof kinds / sizeof *kinds);
    expect_drawn drawn = {16};
    for (int k = 0; k < n + 100000; k++) {
        double x, y;
        uint64_t bits = expect_draw(&drawn), more = expect_draw(&drawn);
        memcpy(&x, &bits, sizeof x);
        memcpy(&y, &more, sizeof y);
        if (k < n) x = kinds[k];
        double s, c;
        ml_sincos(x, &s, &c);
        if (isfinite(x)) {
            EXPECT(fabs(s) <= 1.0 && fabs(c) <= 1.0);
            EXPECT_NEAR(s * s + c * c, 1.0, 1e-15);
            EXPECT(fabs(ml_tanh(x)) <= 1.0 && fabs(ml_atan2(x, 1.0)) <= ML_HALF_PI);
            EXPECT(ml_exp(x) >= 0.0);
            EXPECT(x < 0.0 ? isnan(ml_log(x)) : !isnan(ml_log(x)));
            EXPECT(fabs(x) <= 1.0 ? !isnan(ml_acos(x)) : isnan(ml_acos(x)));
            EXPECT(fabs(x) <= 1.0 ? !isnan(ml_asin(x)) : isnan(ml_asin(x)));
            EXPECT(x < -1.0 ? isnan(ml_log1p(x)) : !isnan(ml_log1p(x)));
        } else if (isnan(x)) {
            EXPECT(isnan(s) && isnan(c) && isnan(ml_exp(x)) && isnan(ml_log(x)));
            EXPECT(isnan(ml_log1p(x)) && isnan(ml_tanh(x)) && isnan(ml_atan2(x, y)));
        } else {
            EXPECT(isnan(s) && isnan(c) && ml_exp(x) == (x > 0.0 ? HUGE_VAL : 0.0));
        }
        ml_atan2(y, x);
        for (int j = 0; k < n && j < n; j++) ml_atan2(kinds[j], x);
    }
}

/* Many at once are the same bits as one after the other, near or far. */
static void many_at_once(void) {
    double x[67], sines[67], cosines[67];
    expect_drawn drawn = {18};
    for (int round = 0; round < 400; round++) {
        double most = round % 4 == 0 ? 1.0 : round % 4 == 1 ? 1e6 : round % 4 == 2 ? 1e12 : 1e-3;
        int n = round % 68;
        for (int k = 0; k < n; k++) x[k] = expect_uniform(&drawn, -most, most);
        if (n > 0 && round % 5 == 0) x[n - 1] = round % 2 ? NAN : HUGE_VAL;
        ml_sincos_all(n, x, sines, cosines);
        for (int k = 0; k < n; k++) {
            double s, c;
            ml_sincos(x[k], &s, &c);
            EXPECT(isfinite(x[k]) ? sines[k] == s && cosines[k] == c
                                  : isnan(sines[k]) && isnan(cosines[k]));
        }
    }
}

static void rotations(void) {
    double z[3] = {0, 0, 1}, none[3] = {0, 0, 0}, tiny[3] = {1e-12, 0, 0}, half[3] = {0, ML_PI, 0};
    double quarter[4] = {HALF_ROOT, 0, 0, HALF_ROOT}, q[4], v[3];
    ml_rotation_about(z, ML_HALF_PI, q);
    EXPECT_ALL_NEAR(4, q, quarter, CLOSE);
    ml_rotation_exp(none, q);
    EXPECT(q[0] == 1.0 && q[1] == 0.0 && q[2] == 0.0 && q[3] == 0.0);
    ml_rotation_exp(tiny, q);
    EXPECT(q[0] == 1.0 && q[1] == 0.5e-12);
    ml_rotation_exp(half, q);
    EXPECT_NEAR(q[0], 0.0, CLOSE);
    EXPECT_NEAR(q[2], 1.0, CLOSE);
    double back[4] = {-HALF_ROOT, 0, 0, -HALF_ROOT}, wanted[3] = {0, 0, ML_HALF_PI};
    ml_rotation_log(back, v); /* the same turn with the other sign: the short way round */
    EXPECT_ALL_NEAR(3, v, wanted, CLOSE);
    ml_rotation_exp(tiny, q);
    ml_rotation_log(q, v);
    EXPECT_ALL_NEAR(3, v, tiny, 1e-27);
    expect_drawn drawn = {17};
    for (int n = 0; n < 2000; n++) {
        double turn[3], again[3];
        for (int c = 0; c < 3; c++) turn[c] = expect_uniform(&drawn, -1.8, 1.8);
        if (ml_length(turn) > 3.1) continue;
        ml_rotation_exp(turn, q);
        EXPECT_NEAR(q[0] * q[0] + ml_dot(q + 1, q + 1), 1.0, 1e-15);
        ml_rotation_log(q, again);
        EXPECT_ALL_NEAR(3, again, turn, 1e-14);
    }
}

int main(void) {
    known_values();
    every_kind_of_argument();
    many_at_once();
    rotations();
    return 0;
}
