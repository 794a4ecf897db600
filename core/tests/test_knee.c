/* Knees: distances and places worked out by hand, and what must hold of every leg. */

#include "../src/kinematics/knee.h"
#include "expect.h"

#define CLOSE 1e-12
/* 1 - 1 / e: the part of a way that is left to full stretch which a leg goes, wanted there. */
#define EASED 0.63212055882855767840
/* Distance of hip and ankle of two bones of length 1 at 160 degrees of flexion: 2 sin(10). */
#define FOLDED 0.34729635533386069770

static void spans(void) {
    EXPECT(ml_knee_span(1.0, 1.5, 1.0, 1.0, 0.0) == 1.5); /* within reach: as wanted */
    EXPECT_NEAR(ml_knee_span(1.0, 3.0, 1.0, 1.0, 0.0), 2.0, CLOSE);
    EXPECT_NEAR(ml_knee_span(1.0, 0.0, 1.0, 1.0, 0.0), FOLDED, CLOSE);
    EXPECT_NEAR(ml_knee_span(1.0, 2.0, 1.0, 1.0, 0.1), 1.8 + 0.2 * EASED, CLOSE);
    EXPECT_NEAR(ml_knee_span(1.0, FOLDED, 1.0, 1.0, 0.1), FOLDED + 0.2 - 0.2 * EASED, CLOSE);
    EXPECT_NEAR(ml_knee_span(1.95, 2.0, 1.0, 1.0, 0.1), 1.95 + 0.05 * EASED, CLOSE);
    EXPECT(ml_knee_span(1.95, 1.95, 1.0, 1.0, 0.1) == 1.95); /* stretched already: may stay */
    EXPECT(ml_knee_span(0.4, 0.4, 1.0, 1.0, 0.1) == 0.4);
    EXPECT(ml_knee_span(0.5, 0.3, 0.0, 0.0, 0.1) >= 0.0); /* a leg without length */
}

/* Hip at the origin, thigh and shank of 5. */
static void places(void) {
    static const struct {
        double target[3], ankle[3], knee[3], pole[3], wanted[3];
    } cases[] = {/* the ankle stays */
                 {{0, -8, 0}, {0, -8, 0}, {0, -4, 3}, {0, 0.6, 0.8}, {0, -4, 3}},
                 {{0, -8, 0}, {0, -8, 0}, {1.8, -4, 2.4}, {0, 0.6, 0.8}, {1.8, -4, 2.4}},
                 /* it rises */
                 {{0, -6, 0}, {0, -8, 0}, {0, -4, 3}, {0, 0.6, 0.8}, {0, -3, 4}},
                 /* bent backwards: forwards, the ankle in the same place */
                 {{0, -8, 0}, {0, -8, 0}, {0, -4, -3}, {0, -0.6, 0.8}, {0, -4, 3}},
                 /* straight: to the side of the pole */
                 {{0, -8, 0}, {0, -10, 0}, {0, -5, 0}, {0, 0, 1}, {0, -4, 3}},
                 /* the line swings forwards by a quarter, and forwards becomes upwards */
                 {{0, 0, 8}, {0, -8, 0}, {0, -4, 3}, {0, 0.6, 0.8}, {0, 3, 4}},
                 /* no pole: the knee's own side */
                 {{0, -6, 0}, {0, -8, 0}, {0, -4, 3}, {0, 0, 0}, {0, -3, 4}}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double out[3];
        ml_knee_place(cases[k].target, cases[k].ankle, cases[k].knee, cases[k].pole, 5.0, 5.0, out);
        EXPECT_ALL_NEAR(3, out, cases[k].wanted, CLOSE);
    }
    /* Bent more, a knee to the side goes outwards in proportion, eased near the line: by 4.25 to
       3.25, for a twentieth of the thigh is 0.25 and the knee was 3 from the line and is 4. */
    double target[3] = {0, -6, 0}, ankle[3] = {0, -8, 0}, knee[3] = {1.8, -4, 2.4};
    double pole[3] = {-0.45, 1.0, 4.81 / 2.4}, out[3]; /* square to the thigh, ahead in its plane */
    double aside = 1.8 * 4.25 / 3.25, wanted[3] = {aside, -3, sqrt(16.0 - aside * aside)};
    ml_knee_place(target, ankle, knee, pole, 5.0, 5.0, out);
    EXPECT_ALL_NEAR(3, out, wanted, CLOSE);
}

/* Any leg, turned anywhere: bones keep their lengths, and the knee is on the side of the pole. */
static void every_leg(void) {
    const double thigh = 0.42, shank = 0.40;
    expect_drawn drawn = {3};
    for (int n = 0; n < 2000; n++) {
        double flexion = expect_uniform(&drawn, -20.0, 140.0) * ML_PI / 180.0;
        double side = expect_uniform(&drawn, -30.0, 30.0) * ML_PI / 180.0, q[4], size = 0.0;
        double flat_knee[3] = {0.0, -thigh, 0.0}, flat_pole[3] = {0.0, 0.0, 1.0};
        double flat_ankle[3] = {shank * ml_sin(flexion) * ml_sin(side),
                                -thigh - shank * ml_cos(flexion),
                                -shank * ml_sin(flexion) * ml_cos(side)};
        double knee[3], ankle[3], pole[3], target[3], out[3], lower[3], line[3], now[3];
        for (int c = 0; c < 4; c++) q[c] = expect_uniform(&drawn, -1.0, 1.0);
        for (int c = 0; c < 4; c++) size += q[c] * q[c];
        for (int c = 0; c < 4; c++) q[c] /= sqrt(size);
        ml_turn(q, flat_knee, knee);
        ml_turn(q, flat_ankle, ankle);
        ml_turn(q, flat_pole, pole);
        for (int c = 0; c < 3; c++) target[c] = ankle[c] + expect_uniform(&drawn, -0.3, 0.3);
        double soft = n % 3 == 0 ? 0.0 : 0.02;
        double span = ml_knee_span(ml_length(ankle), ml_length(target), thigh, shank, soft);
        double wanted = ml_length(target);
        for (int c = 0; c < 3; c++) target[c] *= span / wanted;
        EXPECT(span <= thigh + shank + CLOSE && span > 0.0);
        ml_knee_place(target, ankle, knee, pole, thigh, shank, out);
        ml_between(target, out, lower);
        EXPECT_NEAR(ml_length(out), thigh, 1e-9);
        EXPECT_NEAR(ml_length(lower), shank, 1e-9);
        /* Carried back by the turn of the line, the knee is not behind it. */
        for (int c = 0; c < 3; c++) line[c] = ankle[c] / ml_length(ankle);
        ml_arc(target, ankle, q);
        ml_turn(q, out, now);
        double along = ml_dot(now, line), ahead[3];
        for (int c = 0; c < 3; c++) {
            now[c] -= along * line[c];
            ahead[c] = ml_dot(knee, line) * pole[c] - ml_dot(pole, line) * knee[c];
        }
        EXPECT(ml_dot(now, ahead) >= -1e-7);
    }
}

int main(void) {
    spans();
    places();
    every_leg();
    return 0;
}
