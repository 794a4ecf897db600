/* The slow part of a passage's series: weighted means over the frames around each. */

#include "passage.h"

#include <string.h>

/* Four numbers at a time: compilers keep such sums at hand, those of an array they do not. */
typedef double passage_four __attribute__((vector_size(32)));

/* Weighted means of sixteen series over frames `from` to `last`, around frame t. */
static inline void passage_means(int64_t wide, const double *values, int64_t t, int64_t from,
                                 int64_t last, const double *parts, double *out) {
    passage_four a = {0.0}, b = a, c = a, d = a;
    double total = 0.0;
    for (int64_t u = from; u <= last; u++) {
        double part = parts[u < t ? t - u : u - t];
        const double *now = values + wide * u;
        passage_four p, q, r, s;
        memcpy(&p, now, sizeof p);
        memcpy(&q, now + 4, sizeof q);
        memcpy(&r, now + 8, sizeof r);
        memcpy(&s, now + 12, sizeof s);
        total += part;
        a += part * p;
        b += part * q;
        c += part * r;
        d += part * s;
    }
    passage_four means[4] = {a / total, b / total, c / total, d / total};
    memcpy(out, means, sizeof means);
}

/* The same of one series. */
static inline double passage_mean(int64_t wide, const double *values, int64_t t, int64_t from,
                                  int64_t last, const double *parts) {
    double total = 0.0, sum = 0.0;
    for (int64_t u = from; u <= last; u++) {
        double part = parts[u < t ? t - u : u - t];
        total += part;
        sum += part * values[wide * u];
    }
    return sum / total;
}

void ml_passage_smooth(const ml_passage *passage, int64_t wide, const double *values, double *out) {
    double parts[PASSAGE_MOST];
    int64_t n = passage->n_frames, half = ml_passage_parts(ML_PASSAGE_SLOW_S * passage->fps, parts);
    for (int64_t t = 0; t < n; t++, out += wide) {
        int64_t from = t > half ? t - half : 0, last = t + half < n - 1 ? t + half : n - 1, c = 0;
        for (; c + 16 <= wide; c += 16)
            passage_means(wide, values + c, t, from, last, parts, out + c);
        if (wide > 16 && c < wide) { /* the last sixteen: some of them once more */
            c = wide - 16;
            passage_means(wide, values + c, t, from, last, parts, out + c);
            c = wide;
        }
        for (; c < wide; c++) out[c] = passage_mean(wide, values + c, t, from, last, parts);
    }
}
