/* The dynamic programme behind every path through a grid of distances. */

#include "../kernels.h"
#include "../math/elementary.h"
#include "../math/select.h"

/* Where the state ends and the count of cells begins in the number that a path carries. */
#define SWEEP_MARK 256

/* Paths one step longer, taken where they are the best yet: one loop, no branch. */
static void sweep_extend(int64_t n, const double *restrict total, const double *restrict cost,
                         double *restrict extended, const int64_t *restrict begun, int64_t more,
                         double *restrict best, int64_t *restrict mark) {
    for (int64_t k = 0; k < n; k++) {
        double t = total[k] + cost[k], b = best[k];
        extended[k] = t;
        best[k] = ml_chosen(t < b, t, b);
        mark[k] = ml_chosen_whole(t < b, begun[k] + more, mark[k]);
    }
}

/* Costs of a row above the level, and the paths that come into it along diagonals. */
static void sweep_step(int64_t n, const double *restrict last, const int64_t *restrict last_mark,
                       const double *restrict cost, double level, double *restrict c,
                       double *restrict diagonal, int64_t *restrict own, double *restrict best,
                       int64_t *restrict mark) {
    for (int64_t k = 0; k < n; k++) {
        double above = cost[k] - level, total = last[k] + above;
        int64_t new = (last_mark[k] & -SWEEP_MARK) + SWEEP_MARK;
        c[k] = above;
        diagonal[k] = total;
        best[k] = total;
        own[k] = new;
        mark[k] = new;
    }
}

static inline int64_t sweep_least(int64_t a, int64_t b) { return b < a ? b : a; }
static inline int64_t sweep_most(int64_t a, int64_t b) { return b > a ? b : a; }

/* First column that a path from the first cell can be at in row i, and one past the last: steps
   along one clip are at most `limit` times those along both, and `limit` more. */
static inline int64_t sweep_first(int64_t i, int64_t m, int64_t limit) {
    return sweep_least(i / (limit + 1), m);
}
static inline int64_t sweep_stop(int64_t i, int64_t m, int64_t limit) {
    return sweep_least(i + limit * (i + 1) + 1, m);
}

/* Cells of a path, of its mark; the quotient rounds down. */
static inline int64_t sweep_count(int64_t mark) {
    return (mark - (mark & (SWEEP_MARK - 1))) / SWEEP_MARK;
}

ml_status ml_sweep_grid(int64_t n, int64_t m, const double *cost, double level, int64_t limit,
                        int64_t seed_state, int32_t free_start, int32_t to_corner, double *totals,
                        int64_t *marks, uint8_t *states, double *border, int64_t *border_count) {
    if (n < 1 || m < 1 || limit < 0 || 2 * limit >= SWEEP_MARK || seed_state < 0 ||
        seed_state > 2 * limit)
        return ML_BAD_SIZE;
    double *c = totals, *diagonal = c + m, *best = diagonal + m, *last = best + m;
    double *along_a = last + m;            /* totals in states 0, 1..L, a row each */
    double *along_b = along_a + limit * m; /* totals in states L+1..2L, from row 1 on */
    int64_t *mark = marks, *last_mark = mark + m;
    int64_t *begun = last_mark + m; /* marks of state 0 in the last rows */
    for (int64_t k = 0; k < m; k++) {
        c[k] = 0.0;
        mark[k] = last_mark[k] = 0;
    }
    for (int64_t k = 0; k < (2 * limit + 4) * m; k++) diagonal[k] = HUGE_VAL;
    for (int64_t k = 0; k < (limit + 1) * m; k++) begun[k] = SWEEP_MARK;
    int64_t first = 0, stop = m;
    for (int64_t i = 0; i < n; i++) {
        const double *row = cost + i * m;
        int64_t *own = begun + i % (limit + 1) * m;
        first = free_start ? 0 : sweep_first(i, m, limit);
        stop = free_start ? m : sweep_stop(i, m, limit);
        if (to_corner) {
            first = sweep_most(first, m - sweep_stop(n - 1 - i, m, limit));
            stop = sweep_least(stop, m - sweep_first(n - 1 - i, m, limit));
        }
        double *swap = best;
        best = last, last = swap;
        int64_t *swap_mark = mark;
        mark = last_mark, last_mark = swap_mark;
        const int64_t from = sweep_most(first, 1);
        sweep_step(stop - from, last + from - 1, last_mark + from - 1, row + from, level, c + from,
                   diagonal + from, own + from, best + from, mark + from);
        if (first == 0) {
            c[0] = row[0] - level;
            diagonal[0] = best[0] = free_start || (i == 0 && seed_state == 0) ? c[0] : HUGE_VAL;
            own[0] = mark[0] = SWEEP_MARK;
        }
        if (i == 0 && free_start) {
            for (int64_t j = 0; j < m; j++) {
                diagonal[j] = best[j] = c[j];
                own[j] = mark[j] = SWEEP_MARK;
            }
        }
        for (int64_t r = limit; r > 0; r--)
            sweep_extend(stop - first, along_a + (r - 1) * m + first, c + first,
                         along_a + r * m + first,
                         begun + (i - r + limit + 1) % (limit + 1) * m + first, r * SWEEP_MARK + r,
                         best + first, mark + first);
        for (int64_t j = first; j < stop; j++) along_a[j] = diagonal[j];
        const double *shorter = diagonal;
        for (int64_t r = 1; r <= sweep_least(limit, stop - first - 1); r++) {
            const int64_t there = first + r;
            sweep_extend(stop - there, shorter + there - 1, c + there, along_b + r * m + there,
                         own + first, r * SWEEP_MARK + limit + r, best + there, mark + there);
            shorter = along_b + r * m;
        }
        if (i == 0 && seed_state > 0) { /* a seeded run is the one that starts in no state 0 */
            if (seed_state <= limit) {
                along_a[seed_state * m] = c[0];
                begun[(limit + 1 - seed_state) * m] = (1 - seed_state) * SWEEP_MARK;
                best[0] = c[0], mark[0] = SWEEP_MARK + seed_state;
            } else {
                double total = 0.0;
                for (int64_t j = 0; j < sweep_least(m, 2 * limit - seed_state + 1); j++) {
                    total += c[j];
                    best[j] = total, mark[j] = (j + 1) * SWEEP_MARK + seed_state + j;
                }
            }
        }
        if (first > 0) best[first - 1] = HUGE_VAL; /* what an earlier row left is out of reach */
        for (int64_t j = first; j < stop; j++)
            states[i * m + j] = (uint8_t)(mark[j] & (SWEEP_MARK - 1));
        if (stop == m) {
            const int64_t at = i < n - 1 ? m + i : m - 1;
            border[at] = best[m - 1], border_count[at] = sweep_count(mark[m - 1]);
        }
    }
    for (int64_t j = first; j < m; j++) border[j] = best[j], border_count[j] = sweep_count(mark[j]);
    return ML_OK;
}

ml_status ml_sweep_trace(int64_t n, int64_t m, const uint8_t *states, int64_t limit, int64_t i,
                         int64_t j, int64_t n_cells, int64_t *cells) {
    if (i < 0 || i >= n || j < 0 || j >= m || n_cells < 1) return ML_BAD_SIZE;
    int64_t state = states[i * m + j];
    for (int64_t k = n_cells - 1; k >= 0; k--) {
        if (i < 0 || j < 0) return ML_BAD_SIZE;
        cells[2 * k] = i, cells[2 * k + 1] = j;
        if (state == 0) {
            i--, j--;
            if (i >= 0 && j >= 0) state = states[i * m + j];
        } else if (state <= limit) {
            state--;
            i--;
        } else {
            state = state == limit + 1 ? 0 : state - 1;
            j--;
        }
    }
    return ML_OK;
}
