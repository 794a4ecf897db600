/* Rows of numbers as text with six decimals. */

#include "../kernels.h"
#include "../math/elementary.h"

/* Above it a scaled value has no bits left to be rounded well. */
#define DIGITS_LARGEST 1e9

/* Both digits of the numbers below 100. */
static const char digits_pairs[201] = "00010203040506070809101112131415161718192021222324"
                                      "25262728293031323334353637383940414243444546474849"
                                      "50515253545556575859606162636465666768697071727374"
                                      "75767778798081828384858687888990919293949596979899";

static inline uint8_t *digits_put(uint8_t *at, double value) {
    uint64_t scaled = (uint64_t)(fabs(value) * 1e6 + 0.5);
    uint64_t whole = scaled / 1000000, part = scaled - whole * 1000000;
    if (value < 0.0 && scaled > 0) *at++ = '-';
    if (whole < 10) {
        *at++ = (uint8_t)('0' + whole);
    } else {
        int n = 2;
        for (uint64_t power = 100; whole >= power; power *= 10) n++; /* ten digits at most */
        for (int k = n - 1; k >= 0; k--, whole /= 10) at[k] = (uint8_t)('0' + whole % 10);
        at += n;
    }
    *at++ = '.';
    uint64_t high = part / 10000, middle = part / 100 - high * 100, low = part % 100;
    memcpy(at, digits_pairs + 2 * high, 2);
    memcpy(at + 2, digits_pairs + 2 * middle, 2);
    memcpy(at + 4, digits_pairs + 2 * low, 2);
    return at + 6;
}

int64_t ml_digits_write(int64_t n_rows, int64_t n_columns, const double *rows,
                        int32_t with_carriage, uint8_t *out) {
    uint8_t *at = out;
    for (int64_t r = 0; r < n_rows; r++) {
        for (int64_t c = 0; c < n_columns; c++) {
            double value = rows[r * n_columns + c];
            if (!(fabs(value) <= DIGITS_LARGEST)) return -1;
            if (c > 0) *at++ = ' ';
            at = digits_put(at, value);
        }
        if (with_carriage) *at++ = '\r';
        *at++ = '\n';
    }
    return at - out;
}
