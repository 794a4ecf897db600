/* Vectors and quaternions against values worked out by hand. */

#include "../src/math/vector.h"
#include "expect.h"

#define CLOSE 1e-15
#define HALF_ROOT 0.70710678118654752440

static void arcs_between_directions_of_any_length(void) {
    static const double cases[6][10] = {
        {1, 0, 0, 0, 1, 0, HALF_ROOT, 0, 0, HALF_ROOT},
        {0, 2, 0, 0.5, 0, 0, HALF_ROOT, 0, 0, -HALF_ROOT},
        {1, 0, 0, 3, 0, 0, 1, 0, 0, 0},
        /* 30 degrees about y: cosine and sine of 15 */
        {0, 0, 1, 1, 0, 1.7320508075688772, 0.96592582628906831, 0, 0.25881904510252074, 0},
        {0, 0, 0, 0, 1, 0, 1, 0, 0, 0},
        {0, 1, 0, 0, 0, 0, 1, 0, 0, 0}};
    for (int k = 0; k < 6; k++) {
        double out[4] = {NAN, NAN, NAN, NAN};
        ml_arc(cases[k], cases[k] + 3, out);
        EXPECT_ALL_NEAR(4, out, cases[k] + 6, CLOSE);
    }
}

static void opposite_directions_are_half_a_turn_apart(void) {
    static const double cases[5][3] = {
        {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.3, -2.0, 0.1}, {1, 1, 1}};
    for (int k = 0; k < 5; k++) {
        const double *a = cases[k];
        double b[3] = {-3 * a[0], -3 * a[1], -3 * a[2]}, q[4], turned[3];
        ml_arc(a, b, q);
        EXPECT(q[0] == 0.0);
        EXPECT_NEAR(q[1] * q[1] + q[2] * q[2] + q[3] * q[3], 1.0, CLOSE);
        ml_turn(q, a, turned);
        for (int c = 0; c < 3; c++) EXPECT_NEAR(turned[c], -a[c], 4 * CLOSE);
    }
}

/* The axis of half a turn is square to the axis that the direction is least along. */
static void half_a_turn_is_about_one_axis(void) {
    static const double cases[4][3] = {
        {0.3, -2.0, 0.1}, {0.3, 0.2, -4.0}, {-0.1, -2.0, 0.3}, {-3.0, 1.0, -0.5}};
    static const int least[4] = {2, 1, 0, 2};
    for (int k = 0; k < 4; k++) {
        const double *a = cases[k];
        double b[3] = {-0.5 * a[0], -0.5 * a[1], -0.5 * a[2]}, unit[3] = {0, 0, 0}, q[4], axis[3];
        unit[least[k]] = 1.0;
        ml_arc(a, b, q);
        ml_cross(a, unit, axis);
        double size = ml_length(axis);
        EXPECT(q[0] == 0.0);
        for (int c = 0; c < 3; c++) EXPECT_NEAR(q[1 + c], axis[c] / size, CLOSE);
    }
}

static void products_follow_hamilton(void) {
    /* 1, i, j, k by number; products of the first two are the third, times the sign */
    static const int cases[7][4] = {{1, 2, 3, 1},  {2, 3, 1, 1}, {3, 1, 2, 1}, {2, 1, 3, -1},
                                    {1, 1, 0, -1}, {0, 3, 3, 1}, {3, 3, 0, -1}};
    for (int n = 0; n < 7; n++) {
        double a[4] = {0}, b[4] = {0}, wanted[4] = {0}, out[4];
        a[cases[n][0]] = b[cases[n][1]] = 1.0;
        wanted[cases[n][2]] = cases[n][3];
        ml_times(a, b, out);
        for (int c = 0; c < 4; c++) EXPECT(out[c] == wanted[c]);
    }
    double a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}, wanted[4] = {-60, 12, 30, 24}, out[4];
    ml_times(a, b, out);
    for (int c = 0; c < 4; c++) EXPECT(out[c] == wanted[c]);
}

static void small_products(void) {
    double a[3] = {1, 2, 3}, b[3] = {-4, 5, 0.5}, out[3];
    EXPECT(ml_dot(a, b) == 7.5);
    double across[3] = {-14, -12.5, 13}, apart[3] = {5, -3, 2.5}, box[3] = {2, 3, 6};
    ml_cross(a, b, out);
    for (int c = 0; c < 3; c++) EXPECT(out[c] == across[c]);
    ml_between(a, b, out);
    for (int c = 0; c < 3; c++) EXPECT(out[c] == apart[c]);
    EXPECT(ml_length(box) == 7.0);
}

static void turns_are_those_of_the_matrix(void) {
    double quarter[4] = {HALF_ROOT, 0, 0, HALF_ROOT}, x[3] = {1, 0, 0}, y[3] = {0, 1, 0}, out[3];
    ml_turn(quarter, x, out);
    EXPECT_ALL_NEAR(3, out, y, CLOSE);
    expect_drawn drawn = {3};
    for (int n = 0; n < 200; n++) {
        double q[4], v[3], size = 0.0;
        for (int c = 0; c < 4; c++) q[c] = expect_uniform(&drawn, -1.0, 1.0);
        for (int c = 0; c < 3; c++) v[c] = expect_uniform(&drawn, -2.0, 2.0);
        for (int c = 0; c < 4; c++) size += q[c] * q[c];
        for (int c = 0; c < 4; c++) q[c] /= sqrt(size);
        double w = q[0], i = q[1], j = q[2], k = q[3];
        double rows[3][3] = {{1 - 2 * (j * j + k * k), 2 * (i * j - k * w), 2 * (i * k + j * w)},
                             {2 * (i * j + k * w), 1 - 2 * (i * i + k * k), 2 * (j * k - i * w)},
                             {2 * (i * k - j * w), 2 * (j * k + i * w), 1 - 2 * (i * i + j * j)}};
        ml_turn(q, v, out);
        for (int c = 0; c < 3; c++) EXPECT_NEAR(out[c], ml_dot(rows[c], v), 1e-14);
    }
}

int main(void) {
    arcs_between_directions_of_any_length();
    opposite_directions_are_half_a_turn_apart();
    half_a_turn_is_about_one_axis();
    products_follow_hamilton();
    small_products();
    turns_are_those_of_the_matrix();
    return 0;
}
