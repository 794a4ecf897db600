/* Tables at run time: recipes as slots and as rows, and made frames between captured ones. */

#include <stddef.h>

#include "rows.h"

/* As in a table's recipes: there are fewer intermediaries; there is no recipe. */
#define TABLE_NO_WINDOW 255
#define TABLE_NO_RECIPE 254

/* The windows of a recipe: a source, its intermediaries, a target, then -1; the number of windows,
   or 0 where an intermediary is none of the medoids. */
static int table_recipe(const uint8_t *between, int64_t n_medoids, int64_t source, int64_t target,
                        int64_t windows[ML_MOST_WAYS]) {
    int count = 1;
    for (int m = 1; m < ML_MOST_WAYS; m++) windows[m] = -1;
    windows[0] = source;
    for (int m = 0; m < ML_MOST_WAYS - 2; m++) {
        if (between[m] == TABLE_NO_WINDOW) continue;
        if (between[m] >= n_medoids) return 0;
        windows[count++] = between[m];
    }
    windows[count++] = target;
    return count;
}

ml_status ml_table_slots(int64_t n_ends, int64_t n_recipes, const uint8_t *between,
                         int64_t n_medoids, int64_t n_targets, const int64_t *ends,
                         int64_t n_captured, int64_t share, int64_t most, int32_t *ids,
                         int64_t *count) {
    int64_t n = 0, windows[ML_MOST_WAYS];
    if (n_medoids < 0 || n_medoids > INT32_MAX / 2 || share < 0) return ML_BAD_SIZE;
    for (int64_t k = 0; k < 1 + n_targets; k++)
        if (ends[k] < 0 || ends[k] >= n_ends) return ML_BAD_SIZE;
    if (share > n_recipes) share = n_recipes;
    for (int64_t k = 0; k < n_targets; k++) {
        int64_t target = n_medoids + 1 + k * (1 + n_captured);
        const uint8_t *recipe = between + 2 * n_recipes * (n_ends * ends[0] + ends[1 + k]);
        if (most - n < n_captured + 1 + share) return ML_BAD_SIZE;
        for (int64_t m = 0; m <= n_captured; m++, n++) { /* the plain blend last */
            int32_t *id = ids + ML_MOST_WAYS * n;
            int plain = m == n_captured;
            id[0] = (int32_t)n_medoids;
            id[1] = (int32_t)(plain ? target : target + 1 + m);
            id[2] = plain ? -1 : (int32_t)target;
            id[3] = -1;
        }
        for (int64_t r = 0; r < share && recipe[2 * r] != TABLE_NO_RECIPE; r++) {
            int found = table_recipe(recipe + 2 * r, n_medoids, n_medoids, target, windows);
            if (!found) return ML_BAD_SIZE;
            if (found == 2) continue; /* the plain blend is there already */
            for (int i = 0; i < ML_MOST_WAYS; i++)
                ids[ML_MOST_WAYS * n + i] = (int32_t)windows[i];
            n++;
        }
    }
    *count = n;
    return ML_OK;
}

ml_status ml_table_rows(int64_t n_recipes, const uint8_t *between, int64_t n_medoids,
                        const int64_t *medoids, int64_t source, int64_t target, int64_t *rows,
                        int64_t *count) {
    int64_t n = 0;
    for (int64_t r = 0; r < n_recipes && between[2 * r] != TABLE_NO_RECIPE; r++, n++) {
        int64_t *windows = rows + ML_MOST_WAYS * n;
        int found = table_recipe(between + 2 * r, n_medoids, source, target, windows);
        if (!found) return ML_BAD_SIZE;
        for (int i = 1; i < found - 1; i++) windows[i] = medoids[windows[i]];
    }
    rows[ML_MOST_WAYS * n] = source;
    rows[ML_MOST_WAYS * n + 1] = target;
    for (int i = 2; i < ML_MOST_WAYS; i++) rows[ML_MOST_WAYS * n + i] = -1;
    *count = n + 1;
    return ML_OK;
}

/* A captured row as frame `t`, moved so that row `meets` is at a heading and root. */
static void table_captured(const ml_rows *rows, int64_t row, int64_t meets, double heading,
                           const double *root, int64_t t, double *roots, double *quats,
                           double *headings, uint8_t *planted) {
    const double *here = rows->ground + 2 * row, *there = rows->ground + 2 * meets;
    double turn = heading - rows->heading[meets], c, s, norm;
    double x = here[0] - there[0], z = here[1] - there[1];
    ml_sincos(turn, &s, &c);
    roots[3 * t] = root[0] + c * x + s * z;
    roots[3 * t + 1] = (double)rows->body[3 * rows->n_joints * row + 1];
    roots[3 * t + 2] = root[2] + c * z - s * x;
    headings[t] = rows->heading[row] + turn;
    for (int k = 0; k < 4; k++) planted[4 * t + k] = rows->planted[4 * row + k];
    for (int64_t j = 0; j < rows->n_joints; j++) {
        const float *from = rows->quats + 4 * (rows->n_joints * row + j);
        double *q = quats + 4 * (rows->n_joints * t + j);
        norm = 0.0;
        for (int k = 0; k < 4; k++) {
            q[k] = (double)from[k];
            norm += q[k] * q[k];
        }
        norm = 1.0 / sqrt(norm);
        for (int k = 0; k < 4; k++) q[k] *= norm;
    }
    double *q = quats + 4 * rows->n_joints * t, w = q[0], y = q[2];
    ml_sincos(0.5 * headings[t], &s, &c);
    x = q[1], z = q[3];
    q[0] = c * w - s * y, q[1] = c * x + s * z;
    q[2] = c * y + s * w, q[3] = c * z - s * x;
}

ml_status ml_table_surround(const ml_rows *rows, const ml_leg_rig *rig, int64_t n_frames,
                            const double *heading, const double *root, const double *quats,
                            const uint8_t *planted, int64_t first_row, int64_t before,
                            int64_t last_row, int64_t after, double *all_headings,
                            double *all_roots, double *all_quats, uint8_t *all_planted,
                            double *positions, double *world) {
    int64_t n_joints = rows->n_joints, n = n_frames, end = n_frames - 1;
    if (n < 1 || before < 0 || after < 0 || n_joints != rig->n_joints || first_row < before ||
        first_row >= rows->n_rows || last_row < 0 || last_row >= rows->n_rows - after)
        return ML_BAD_SIZE;
    for (int64_t t = 0; t < n; t++) all_headings[before + t] = heading[t];
    for (int64_t k = 0; k < 3 * n; k++) all_roots[3 * before + k] = root[k];
    for (int64_t k = 0; k < 4 * n; k++) all_planted[4 * before + k] = planted[k];
    for (int64_t k = 0; k < 4 * n_joints * n; k++) all_quats[4 * n_joints * before + k] = quats[k];
    for (int64_t t = 0; t < before; t++)
        table_captured(rows, first_row - before + t, first_row, heading[0], root, t, all_roots,
                       all_quats, all_headings, all_planted);
    for (int64_t t = 0; t < after; t++)
        table_captured(rows, last_row + 1 + t, last_row, heading[end], root + 3 * end,
                       before + n + t, all_roots, all_quats, all_headings, all_planted);
    return ml_chain_pose(before + n + after, n_joints, rig->parents, rig->offsets, n_joints, NULL,
                         all_roots, all_quats, positions, world);
}

void ml_table_same_signs(int64_t n_joints, const double *quats, const double *before, double *out) {
    for (int64_t j = 0; j < n_joints; j++) {
        const double *q = quats + 4 * j, *p = before + 4 * j;
        double dot = q[0] * p[0] + q[1] * p[1] + q[2] * p[2] + q[3] * p[3];
        double sign = dot < 0.0 ? -1.0 : 1.0;
        for (int c = 0; c < 4; c++) out[4 * j + c] = sign * q[c];
    }
}
