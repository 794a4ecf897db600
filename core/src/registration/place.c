/* Places where two stretches of motion are alike. */

#include "../kernels.h"

/* Cells that are looked at together. */
#define PLACE_BLOCK 16

/* Whether a cell is below its neighbours in a row from `low` to `high`. */
static int place_is_below(double here, const double *row, int64_t low, int64_t high, int64_t self) {
    for (int64_t j = low; j <= high; j++)
        if (j != self && !(row[j] > here)) return 0;
    return 1;
}

/* Cells of row i from `first` to `stop`, wherever they lie. */
static void place_cells(int64_t n, int64_t m, int64_t i, int64_t first, int64_t stop,
                        const double *row, double limit, uint8_t *lowest) {
    for (int64_t j = first; j < stop; j++) {
        int64_t low = j > 0 ? j - 1 : 0, high = j + 1 < m ? j + 1 : j;
        lowest[j] = row[j] <= limit && place_is_below(row[j], row, low, high, j) &&
                    (i == 0 || place_is_below(row[j], row - m, low, high, -1)) &&
                    (i + 1 == n || place_is_below(row[j], row + m, low, high, -1));
    }
}

/* Sixteen cells inside the grid, without a branch. */
static void place_block(int64_t m, const double *restrict row, double limit,
                        uint8_t *restrict lowest) {
    const double *restrict up = row - m, *restrict down = row + m;
    int some = 0;
    for (int k = 0; k < PLACE_BLOCK; k++) some |= row[k] <= limit;
    for (int k = 0; k < PLACE_BLOCK; k++) lowest[k] = 0;
    if (!some) return;
    for (int k = 0; k < PLACE_BLOCK; k++) {
        double here = row[k];
        lowest[k] = (here <= limit) & (row[k - 1] > here) & (row[k + 1] > here) &
                    (up[k - 1] > here) & (up[k] > here) & (up[k + 1] > here) &
                    (down[k - 1] > here) & (down[k] > here) & (down[k + 1] > here);
    }
}

void ml_place_minima(int64_t n, int64_t m, const double *cost, double limit, uint8_t *lowest) {
    for (int64_t i = 0; i < n; i++) {
        const double *row = cost + m * i;
        uint8_t *out = lowest + m * i;
        int64_t j = m > 0 ? 1 : 0;
        place_cells(n, m, i, 0, j, row, limit, out);
        for (; 0 < i && i + 1 < n && j + PLACE_BLOCK < m; j += PLACE_BLOCK)
            place_block(m, row + j, limit, out + j);
        place_cells(n, m, i, j, m, row, limit, out);
    }
}
