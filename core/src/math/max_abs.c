/* Largest absolute value of an array. */

#include "../kernels.h"

#include <string.h>

double ml_value_farthest(int64_t n, const double *x) {
    /* Absolute values have the order of their bits; infinity and nan are above all finite ones. */
    const uint64_t size = UINT64_MAX >> 1;
    uint64_t most = 0;
    double found;
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, x + i, sizeof bits);
        bits &= size;
        most = bits > most ? bits : most;
    }
    memcpy(&found, &most, sizeof found);
    return found;
}
