/* Decimal numbers out of text, to the last bit.

   Short numbers take one exact division (Clinger 1990), longer ones a 128-bit product (Lemire
   2021); the few that neither can settle are handed back. The text is untrusted. Its last byte is
   a separator, so that no run of digits goes past it. */

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "../kernels.h"
#include "../math/elementary.h"
#include "powers_of_five.h"

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

/* The same for numbers that are short, as most are: one exact division. */
static int32_t numeral_one(const uint8_t *text, int64_t *at, double *value) {
    int64_t i = *at;
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
    if (n_digits == 0 || n_digits > NUMERAL_FEW || digits > NUMERAL_EXACT || text[i] > 32)
        return numeral_any(text, at, value);
    *value = (negative ? -1.0 : 1.0) * ((double)digits / numeral_tens[n_decimals]);
    *at = i;
    return ML_SCAN_DONE;
}

#if defined(__AVX2__)

/* Bytes of a number that are read together, and those that are searched for separators together. */
#define NUMERAL_BYTES 16
#define NUMERAL_CHUNK 64

/* Which bytes of a chunk are separators, a bit each, the first one lowest. */
static inline uint64_t numeral_separators(const uint8_t *text) {
    const __m256i largest = _mm256_set1_epi8(32);
    __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)text);
    __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(text + 32));
    a = _mm256_cmpeq_epi8(_mm256_min_epu8(a, largest), a);
    b = _mm256_cmpeq_epi8(_mm256_min_epu8(b, largest), b);
    return (uint32_t)_mm256_movemask_epi8(a) | (uint64_t)(uint32_t)_mm256_movemask_epi8(b) << 32;
}

static inline __m128i numeral_load(const void *from) {
    return _mm_loadu_si128((const __m128i *)from);
}

/* The number of sixteen digits. */
static inline uint64_t numeral_sixteen(__m128i digits) {
    const __m128i tens = _mm_set1_epi16(1 << 8 | 10), hundreds = _mm_set1_epi32(1 << 16 | 100);
    const __m128i myriads = _mm_set1_epi32(1 << 16 | 10000);
    __m128i fours = _mm_madd_epi16(_mm_maddubs_epi16(digits, tens), hundreds);
    uint64_t eights =
        (uint64_t)_mm_cvtsi128_si64(_mm_madd_epi16(_mm_packus_epi32(fours, fours), myriads));
    return (eights & UINT32_MAX) * 100000000 + (eights >> 32);
}

/* Whether the text from `from` to `end` is like -12.3456, with at most fifteen digits; its value
   then. The text begins sixteen bytes before `end` at least and goes on for as many behind `from`.
   No branch depends on where the point is: that one would be guessed wrongly again and again. */
static inline int numeral_plain(const uint8_t *from, const uint8_t *end, double *value) {
    static const int8_t steps[2 * NUMERAL_BYTES] = {-1, -1, -1, -1, -1, -1, -1, -1,
                                                    -1, -1, -1, -1, -1, -1, -1, -1};
    static const int8_t own[2 * NUMERAL_BYTES] = {0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
                                                  0,  0,  0,  0,  0,  -1, -1, -1, -1, -1, -1,
                                                  -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    const __m128i places = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const uint64_t negative = *from == '-', length = (uint64_t)(end - from);
    const uint64_t n_digits = length - negative - 1;
    const int points = _mm_movemask_epi8(_mm_cmpeq_epi8(numeral_load(from), _mm_set1_epi8('.')));
    /* Without a point this is more than any; so it is with one behind the end. */
    const uint64_t n_decimals = length - 1 - (uint64_t)__builtin_ctz((unsigned)points | 1u << 31);
    if (n_digits - 1 >= NUMERAL_BYTES - 1 || n_decimals >= NUMERAL_BYTES) return 0;
    /* The digits before the point go a place on; what stands before them becomes zeros. */
    __m128i digits = _mm_sub_epi8(numeral_load(end - NUMERAL_BYTES), _mm_set1_epi8('0'));
    digits = _mm_shuffle_epi8(digits, _mm_add_epi8(places, numeral_load(steps + n_decimals)));
    digits = _mm_and_si128(digits, numeral_load(own + n_digits));
    __m128i right = _mm_cmpeq_epi8(_mm_min_epu8(digits, _mm_set1_epi8(9)), digits);
    if (_mm_movemask_epi8(right) != 0xffff) return 0;
    double number = (double)(int64_t)numeral_sixteen(digits) / numeral_tens[n_decimals];
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    bits |= negative << 63;
    memcpy(value, &bits, sizeof bits);
    return 1;
}

/* How many plain numbers with one blank between them begin at `*at`, `most` at most; their values,
   and where the last one ends. It may give up early, near the ends of the text above all. */
static int64_t numeral_run(const uint8_t *text, int64_t stop, int64_t most, int64_t *at,
                           double *restrict values) {
    int64_t from = *at, chunk = from - from % NUMERAL_CHUNK, n = 0, end = from;
    const int64_t last = stop - NUMERAL_CHUNK - NUMERAL_BYTES;
    if (from < NUMERAL_BYTES || chunk > last) return 0;
    uint64_t ends = numeral_separators(text + chunk) & UINT64_MAX << from % NUMERAL_CHUNK;
    while (n < most) {
        while (ends == 0 && chunk <= last) {
            chunk += NUMERAL_CHUNK;
            if (chunk <= last) ends = numeral_separators(text + chunk);
        }
        if (chunk > last) break;
        const int64_t next = chunk + __builtin_ctzll(ends);
        if (!numeral_plain(text + from, text + next, values + n)) break;
        ends &= ends - 1;
        end = next;
        n++;
        if (text[end] != ' ') break;
        from = end + 1;
    }
    *at = end;
    return n;
}

#else

/* On other processors numbers are read one by one. */
static int64_t numeral_run(const uint8_t *text, int64_t stop, int64_t most, int64_t *at,
                           double *restrict values) {
    (void)text, (void)stop, (void)most, (void)at, (void)values;
    return 0;
}

#endif

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
        /* Nearly all numbers are plain and stand on one line with the others of their row. */
        int64_t more = n_values - at < width - column ? n_values - at : width - column;
        if ((more = numeral_run(text, stop, more, &i, values + at)) > 0) {
            at += more;
            on_line += more;
            if ((column += more) == width) {
                column = 0;
                rows++;
            }
            continue;
        }
        const int64_t start = i;
        status = numeral_one(text, &i, values + at);
        if (status != ML_SCAN_DONE) {
            state[ML_SCAN_TOKEN_START] = start;
            state[ML_SCAN_TOKEN_STOP] = i;
            if (status == ML_SCAN_BAD) break;
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
