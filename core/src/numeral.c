/* Decimal numbers out of text, to the last bit.

   Short numbers take one exact division (Clinger 1990), longer ones a 128-bit product (Lemire
   2021); the few that neither can settle are handed back. The text is untrusted. Its last byte is
   a separator, so that no run of digits goes past it. */

#include "../motionloom.h"
#include "elementary.h"
#include "fives.h"

/* Powers of ten that doubles hold exactly. */
static const double numeral_tens[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                        1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                        1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* Whole numbers up to here are doubles. */
#define NUMERAL_EXACT ((uint64_t)1 << 53)
/* With so many digits a number still fits 64 bits. */
#define NUMERAL_FEW 18
#define NUMERAL_MANY ((uint64_t)1000000000000000000)

/* Upper and lower halves of the 128-bit product of two 64-bit numbers. */
static inline void numeral_product(uint64_t a, uint64_t b, uint64_t *upper, uint64_t *lower) {
    const uint64_t mask = 0xffffffff;
    uint64_t low = (a & mask) * (b & mask);
    uint64_t middle = (a >> 32) * (b & mask) + (low >> 32);
    uint64_t other = (a & mask) * (b >> 32) + (middle & mask);
    *upper = (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
    *lower = (other << 32) | (low & mask);
}

/* digits 10^power rounded to nearest, or nan where 128 bits cannot tell. Digits are not 0, and the
   power is one of the table's. */
static double numeral_scaled(uint64_t digits, int64_t power) {
    const uint64_t *five = ml_fives[power + ML_LARGEST_FIVE], mask9 = 0x1ff;
    int shift = 0;
    uint64_t w = digits, upper, lower;
    while (w >> 63 == 0) {
        w <<= 1;
        shift++;
    }
    numeral_product(w, five[0], &upper, &lower);
    if ((upper & mask9) == mask9) {
        uint64_t carry, rest;
        numeral_product(w, five[1], &carry, &rest);
        lower += carry;
        if (carry > lower) upper++;
    }
    if (lower == UINT64_MAX && (power < -27 || power > 55)) return NAN;
    int top = (int)(upper >> 63), drop = top + 9;
    uint64_t mantissa = upper >> drop;
    /* The binary digits of 10^power: 2^16 log2(10) is 217706, and the quotient rounds down. */
    int64_t twos = 217706 * power;
    twos = twos >= 0 ? twos / 65536 : -((65535 - twos) / 65536);
    int exponent = (int)twos + 63 + top - shift;
    if (lower <= 1 && -4 <= power && power <= 23 && (mantissa & 3) == 1 &&
        mantissa << drop == upper)
        mantissa--; /* exactly between two doubles: to the even one */
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    return (double)mantissa * ml_power_of_two(exponent - 52);
}

static inline uint64_t numeral_digit(uint8_t byte) { return (uint64_t)byte - 48; }

/* Status of the number at `*at`, whatever its length and exponent; its end and value. */
static int32_t numeral_any(const uint8_t *text, int64_t *at, double *value) {
    int64_t i = *at, power = 0, n_digits = 0;
    uint64_t digits = 0;
    int negative = text[i] == '-', dropped = 0;
    if (negative || text[i] == '+') i++;
    for (; numeral_digit(text[i]) <= 9; i++, n_digits++) {
        if (digits < NUMERAL_MANY) {
            digits = digits * 10 + numeral_digit(text[i]);
        } else {
            power++;
            dropped = 1;
        }
    }
    if (text[i] == '.') {
        for (i++; numeral_digit(text[i]) <= 9; i++, n_digits++) {
            if (digits < NUMERAL_MANY) {
                digits = digits * 10 + numeral_digit(text[i]);
                power--;
            } else {
                dropped = 1;
            }
        }
    }
    int valid = n_digits > 0;
    if (valid && (text[i] == 'e' || text[i] == 'E')) {
        i++;
        int down = text[i] == '-';
        if (down || text[i] == '+') i++;
        int64_t exponent = 0;
        for (n_digits = 0; numeral_digit(text[i]) <= 9; i++, n_digits++)
            if (exponent < 100000) exponent = exponent * 10 + (int64_t)numeral_digit(text[i]);
        valid = n_digits > 0;
        power += down ? -exponent : exponent;
    }
    *at = i;
    /* `0.0-7.5` is two numbers whose space was lost; any other ending spoils the token. */
    if (!valid || (text[i] > 32 && text[i] != '-' && text[i] != '+')) {
        *value = NAN;
        return ML_SCAN_BAD;
    }
    double number = NAN;
    if (digits == 0) {
        number = 0.0;
    } else if (digits <= NUMERAL_EXACT && -22 <= power && power <= 22 && !dropped) {
        number = power < 0 ? (double)digits / numeral_tens[-power]
                           : (double)digits * numeral_tens[power];
    } else if (-ML_LARGEST_FIVE <= power && power <= ML_LARGEST_FIVE) {
        number = numeral_scaled(digits, power);
        if (dropped && number != numeral_scaled(digits + 1, power)) number = NAN;
    }
    *value = negative ? -number : number;
    return number == number ? ML_SCAN_DONE : ML_SCAN_SLOW;
}

int32_t ml_numeral_scan(int64_t n_bytes, const uint8_t *text, int64_t stop, int64_t width,
                        int64_t expected, int64_t n_values, double *values, int64_t *state) {
    int64_t i = state[ML_SCAN_POSITION], at = state[ML_SCAN_VALUES], line = state[ML_SCAN_LINE];
    int64_t on_line = state[ML_SCAN_ON_LINE], column = state[ML_SCAN_COLUMN];
    int64_t rows = state[ML_SCAN_ROWS], row_line = state[ML_SCAN_ROW_LINE];
    int64_t starts_inside = state[ML_SCAN_STARTS_INSIDE], straddles = state[ML_SCAN_STRADDLES];
    int32_t status = ML_SCAN_DONE;
    if (stop < 0 || stop > n_bytes || i < 0 || i > stop || at < 0 || at > n_values ||
        (stop > 0 && text[stop - 1] > 32))
        return ML_SCAN_REFUSED;
    for (;;) {
        for (; i < stop && text[i] <= 32; i++) {
            if (text[i] == '\n' || (text[i] == '\r' && !(i + 1 < stop && text[i + 1] == '\n'))) {
                line++;
                on_line = 0;
            }
        }
        if (i >= stop) break;
        if (text[i] == '#' || (text[i] == '/' && text[i + 1] == '/')) {
            while (i < stop && text[i] != '\n' && text[i] != '\r') i++;
            continue;
        }
        if (at >= n_values) {
            status = ML_SCAN_REFUSED;
            break;
        }
        /* A frame is a row. It may go over several lines, if line breaks stand at both its ends:
           anything else means a value too few or too many, and all later frames would be
           shifted. */
        if (column == 0) {
            if (straddles && on_line > 0) {
                status = ML_SCAN_MISPLACED;
                break;
            }
            straddles = 0;
            starts_inside = on_line > 0;
            row_line = line;
        } else if (line != row_line && !straddles) {
            if (starts_inside || (rows >= expected && !state[ML_SCAN_WRAPPED])) {
                status = ML_SCAN_MISPLACED;
                break;
            }
            straddles = state[ML_SCAN_WRAPPED] = 1;
        }
        const int64_t start = i;
        const int negative = text[i] == '-';
        i += negative;
        uint64_t digits = 0;
        int64_t first = i, n_decimals = 0;
        for (uint64_t d; (d = numeral_digit(text[i])) <= 9; i++) digits = digits * 10 + d;
        int64_t n_digits = i - first;
        if (text[i] == '.') {
            first = ++i;
            for (uint64_t d; (d = numeral_digit(text[i])) <= 9; i++) digits = digits * 10 + d;
            n_decimals = i - first;
            n_digits += n_decimals;
        }
        /* Nearly all tokens are like -12.3456 and need one exact division. */
        if (0 < n_digits && n_digits <= NUMERAL_FEW && digits <= NUMERAL_EXACT && text[i] <= 32) {
            values[at] = (negative ? -1.0 : 1.0) * ((double)digits / numeral_tens[n_decimals]);
        } else {
            i = start;
            status = numeral_any(text, &i, values + at);
            if (status != ML_SCAN_DONE) {
                state[ML_SCAN_TOKEN_START] = start;
                state[ML_SCAN_TOKEN_STOP] = i;
                if (status == ML_SCAN_BAD) break;
            }
        }
        at++;
        on_line++;
        if (++column == width) {
            column = 0;
            rows++;
        }
        if (status == ML_SCAN_SLOW) {
            state[ML_SCAN_SLOW_NUMBERS]++;
            break;
        }
    }
    state[ML_SCAN_POSITION] = i;
    state[ML_SCAN_VALUES] = at;
    state[ML_SCAN_LINE] = line;
    state[ML_SCAN_ON_LINE] = on_line;
    state[ML_SCAN_COLUMN] = column;
    state[ML_SCAN_ROWS] = rows;
    state[ML_SCAN_ROW_LINE] = row_line;
    state[ML_SCAN_STARTS_INSIDE] = starts_inside;
    state[ML_SCAN_STRADDLES] = straddles;
    return status;
}
