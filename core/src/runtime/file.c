/* Files of the run time: a table with the poses of its collection, in one block. Numbers in it are
   little-endian, arrays follow each other at multiples of 8 bytes; see docs/runtime.md. A file may
   come from anywhere: every count, index and number is checked before anything follows it. */

#include <stddef.h>
#include <string.h>

#include "../tables/table.h"
#include "stream_window.h"

/* Counts are below this, so that products of a few of them fit into 64 bits. */
#define FILE_MOST (INT64_C(1) << 31)
#define FILE_LONGEST 16384
/* Plants of a foot in a window: those of four windows are numbered in 16 bits. */
#define FILE_MOST_PLANTS 4096
/* A rotation is 7 bytes: which part is largest, and 18 bits for each of the others. */
#define FILE_QUAT 7
#define FILE_HALF_ROOT 0.70710678118654752440
/* Rows whose contexts are made at once when the index is filled. */
#define FILE_BLOCK 256
#define FILE_LOOKS 3

static const char file_magic[8] = {'M', 'L', 'R', 't', 'i', 'm', 'e', '1'};

/* clang-format off */
enum {
    FILE_ROWS, FILE_JOINTS, FILE_CLIPS, FILE_JUMPS, FILE_MEDOIDS, FILE_ENDS, FILE_RECIPES,
    FILE_LABELS, FILE_LENGTH, FILE_CHAIN, FILE_CHECKED, FILE_CARRIERS, FILE_ACROSS, FILE_CHECK_LEGS,
    FILE_HEAD_JOINT, FILE_PARTS, FILE_PLANTS, FILE_PAD, FILE_WINDOW_PLANTS, FILE_TAPS, FILE_ROLL,
    FILE_COMPARED, FILE_CODES, FILE_PRUNES, FILE_BOUNDED, FILE_START_GROUPS, FILE_START_LISTS,
    FILE_BOTH_GROUPS, FILE_BOTH_LISTS, FILE_MEMBERS, FILE_CHARACTERS, FILE_PIECES, FILE_COUNTS
};
/* clang-format on */
enum { FILE_FPS, FILE_LOW, FILE_REACH, FILE_NUMBERS };

/* What is read where it lies. */
typedef struct {
    const int64_t *counts;
    const double *numbers;
    const int64_t *parents, *chain, *legs, *checked, *carriers, *across, *check_legs;
    const double *offsets, *soles, *poles, *hinges, *check_soles;
    const int64_t *firsts, *joints;
    const float *parts, *masses, *taps, *term_weights, *sole;
    const double *linear, *log;
    const int64_t *compared, *before, *after;
    const float *start_mean, *start_axes, *start_steps, *end_mean, *end_axes, *end_steps, *way_step;
    const float *groups[2], *centres[2];
    const int64_t *group_first[2], *list_first[2];
    const uint32_t *members[2];
    const int64_t *starts, *jumps, *medoids, *spokes, *first_piece, *pieces;
    const uint16_t *nearest;
    const uint8_t *between;
    const float *costs;
    const double *speeds, *weights, *limits;
    const float *hovers;
    const int8_t *slowest;
    const int64_t *plant_spans; /* first row, last row, foot */
    const double *plant_places, *plant_ahead;
    const char *names;
    const uint8_t *quats, *planted;
    const float *heading, *ground, *height;
} file_parts;

/* Where reading has come to. */
typedef struct {
    const uint8_t *file;
    int64_t size, at;
    int is_short;
} file_cursor;

static const void *file_next(file_cursor *cursor, int64_t count, int64_t size) {
    int64_t at = cursor->at;
    if (cursor->is_short || count < 0 || count > (cursor->size - at) / size) {
        cursor->is_short = 1;
        return NULL;
    }
    int64_t padded = (count * size + 7) / 8 * 8;
    cursor->at = padded > cursor->size - at ? cursor->size : at + padded;
    return cursor->file + at;
}

#define FILE_NEXT(cursor, type, count)                                                             \
    ((const type *)file_next((cursor), (count), (int64_t)sizeof(type)))

/* FNV-1a over words of eight bytes. */
static uint64_t file_digest(const uint8_t *bytes, int64_t n) {
    uint64_t digest = UINT64_C(0xcbf29ce484222325), word;
    for (int64_t k = 0; k < n; k += 8) {
        memcpy(&word, bytes + k, 8);
        digest = (digest ^ word) * UINT64_C(0x100000001b3);
    }
    return digest;
}

/* What a later version may use. */
static int file_is_zero(const uint8_t *bytes, int n) {
    for (int k = 0; k < n; k++)
        if (bytes[k]) return 0;
    return 1;
}

static ml_status file_head(const uint8_t *file, int64_t n_bytes) {
    uint32_t version;
    int64_t size;
    uint64_t digest;
    if ((uintptr_t)file % 8) return ML_UNALIGNED;
    if (n_bytes < ML_FILE_HEAD || n_bytes % 8) return ML_DAMAGED;
    memcpy(&version, file + 8, 4);
    memcpy(&size, file + 16, 8);
    memcpy(&digest, file + 24, 8);
    if (memcmp(file, file_magic, 8)) return ML_DAMAGED;
    if (version != ML_FILE_VERSION) return ML_OTHER_VERSION;
    if (size != n_bytes || !file_is_zero(file + 12, 4) ||
        !file_is_zero(file + 32, ML_FILE_HEAD - 32))
        return ML_DAMAGED;
    return digest == file_digest(file + ML_FILE_HEAD, n_bytes - ML_FILE_HEAD) ? ML_OK : ML_DAMAGED;
}

/* Counts that stand in no relation to the size of the file, or whose products matter. */
static int file_counts_fit(const int64_t *n) {
    for (int k = 0; k < FILE_COUNTS; k++)
        if (k != FILE_HEAD_JOINT && (n[k] < 0 || n[k] >= FILE_MOST)) return 0;
    return n[FILE_ROWS] >= 1 && n[FILE_JOINTS] >= 1 && n[FILE_JOINTS] <= ML_MOST_JOINTS &&
           n[FILE_CLIPS] >= 1 && n[FILE_MEDOIDS] >= 1 && n[FILE_MEDOIDS] < 254 &&
           n[FILE_ENDS] >= 1 && n[FILE_ENDS] < ML_TABLE_NO_END && n[FILE_RECIPES] >= 1 &&
           n[FILE_RECIPES] <= ML_TABLE_NO_END && n[FILE_LENGTH] >= 2 &&
           n[FILE_LENGTH] <= FILE_LONGEST && n[FILE_PAD] >= 1 && n[FILE_PAD] <= FILE_LONGEST &&
           n[FILE_WINDOW_PLANTS] >= 1 && n[FILE_WINDOW_PLANTS] <= FILE_MOST_PLANTS &&
           n[FILE_TAPS] >= 2 * n[FILE_PAD] - 1 && n[FILE_TAPS] <= 4 * FILE_LONGEST &&
           n[FILE_ROLL] <= FILE_LONGEST && n[FILE_CHECK_LEGS] == 2 && n[FILE_CHECKED] >= 1 &&
           n[FILE_CHECKED] <= n[FILE_JOINTS] && n[FILE_CARRIERS] <= n[FILE_JOINTS] &&
           n[FILE_CHAIN] <= n[FILE_JOINTS] && n[FILE_COMPARED] >= 1 &&
           n[FILE_COMPARED] <= n[FILE_JOINTS] && n[FILE_CODES] >= 16 && n[FILE_CODES] <= 1024 &&
           n[FILE_HEAD_JOINT] >= -1 && n[FILE_HEAD_JOINT] < n[FILE_JOINTS] && n[FILE_PRUNES] <= 1 &&
           n[FILE_BOUNDED] <= 1;
}

static int64_t file_n_limits(const int64_t *n) {
    return 4 * n[FILE_CHECKED] + n[FILE_CARRIERS] + 20 + 4 * (ML_CHECK_SPANS + ML_CHECK_HEIGHTS);
}

/* Where every array lies, by the counts. */
static ml_status file_find(file_cursor *cursor, file_parts *p) {
    const int64_t *n = p->counts = FILE_NEXT(cursor, int64_t, FILE_COUNTS);
    p->numbers = FILE_NEXT(cursor, double, FILE_NUMBERS);
    if (cursor->is_short || !file_counts_fit(n)) return ML_DAMAGED;
    int64_t padded = n[FILE_LENGTH] + 2 * n[FILE_PAD], columns = 9 * n[FILE_COMPARED];
    p->parents = FILE_NEXT(cursor, int64_t, n[FILE_JOINTS]);
    p->offsets = FILE_NEXT(cursor, double, 3 * n[FILE_JOINTS]);
    p->chain = FILE_NEXT(cursor, int64_t, n[FILE_CHAIN]);
    p->legs = FILE_NEXT(cursor, int64_t, 6);
    p->soles = FILE_NEXT(cursor, double, 12);
    p->poles = FILE_NEXT(cursor, double, 6);
    p->checked = FILE_NEXT(cursor, int64_t, n[FILE_CHECKED]);
    p->carriers = FILE_NEXT(cursor, int64_t, n[FILE_CARRIERS]);
    p->across = FILE_NEXT(cursor, int64_t, 2 * n[FILE_ACROSS]);
    p->check_legs = FILE_NEXT(cursor, int64_t, 6);
    p->hinges = FILE_NEXT(cursor, double, 6);
    p->check_soles = FILE_NEXT(cursor, double, 12);
    p->firsts = FILE_NEXT(cursor, int64_t, ML_SEGMENTS + 1);
    p->joints = FILE_NEXT(cursor, int64_t, n[FILE_PARTS]);
    p->parts = FILE_NEXT(cursor, float, n[FILE_PARTS]);
    p->masses = FILE_NEXT(cursor, float, ML_SEGMENTS);
    p->taps = FILE_NEXT(cursor, float, 3 * n[FILE_TAPS]);
    p->term_weights = FILE_NEXT(cursor, float, 16 * padded);
    p->sole = FILE_NEXT(cursor, float, 4);
    p->linear = FILE_NEXT(cursor, double, ML_TABLE_COLUMNS);
    p->log = FILE_NEXT(cursor, double, ML_TABLE_COLUMNS);
    p->compared = FILE_NEXT(cursor, int64_t, n[FILE_COMPARED]);
    p->before = FILE_NEXT(cursor, int64_t, FILE_LOOKS);
    p->after = FILE_NEXT(cursor, int64_t, FILE_LOOKS);
    p->start_mean = FILE_NEXT(cursor, float, columns);
    p->start_axes = FILE_NEXT(cursor, float, columns * n[FILE_CODES]);
    p->start_steps = FILE_NEXT(cursor, float, n[FILE_CODES]);
    p->end_mean = FILE_NEXT(cursor, float, columns);
    p->end_axes = FILE_NEXT(cursor, float, columns * n[FILE_CODES]);
    p->end_steps = FILE_NEXT(cursor, float, n[FILE_CODES]);
    p->way_step = FILE_NEXT(cursor, float, 1);
    for (int k = 0; k < 2; k++) {
        int64_t width = k ? 35 : 16, groups = n[k ? FILE_BOTH_GROUPS : FILE_START_GROUPS];
        int64_t lists = n[k ? FILE_BOTH_LISTS : FILE_START_LISTS];
        p->groups[k] = FILE_NEXT(cursor, float, width * groups);
        p->group_first[k] = FILE_NEXT(cursor, int64_t, groups + 1);
        p->centres[k] = FILE_NEXT(cursor, float, width * lists);
        p->list_first[k] = FILE_NEXT(cursor, int64_t, lists + 1);
        p->members[k] = FILE_NEXT(cursor, uint32_t, n[FILE_MEMBERS]);
    }
    p->starts = FILE_NEXT(cursor, int64_t, n[FILE_CLIPS] + 1);
    p->jumps = FILE_NEXT(cursor, int64_t, n[FILE_JUMPS]);
    p->medoids = FILE_NEXT(cursor, int64_t, n[FILE_MEDOIDS]);
    p->nearest = FILE_NEXT(cursor, uint16_t, n[FILE_ROWS]);
    /* Ends are below 2^16 and recipes as well: the product fits. */
    p->between = FILE_NEXT(cursor, uint8_t, 2 * n[FILE_ENDS] * n[FILE_ENDS] * n[FILE_RECIPES]);
    p->costs = FILE_NEXT(cursor, float, n[FILE_ENDS] * n[FILE_ENDS]);
    p->spokes = FILE_NEXT(cursor, int64_t, n[FILE_LABELS] * n[FILE_ENDS]);
    p->first_piece = FILE_NEXT(cursor, int64_t, n[FILE_LABELS] + 1);
    p->pieces = FILE_NEXT(cursor, int64_t, 2 * n[FILE_PIECES]);
    p->speeds = FILE_NEXT(cursor, double, n[FILE_CLIPS]);
    p->weights = FILE_NEXT(cursor, double, 16 * n[FILE_LENGTH]);
    p->limits = FILE_NEXT(cursor, double, n[FILE_CLIPS] * file_n_limits(n));
    p->hovers = FILE_NEXT(cursor, float, n[FILE_ROWS]);
    p->slowest = FILE_NEXT(cursor, int8_t, 2 * n[FILE_ROWS]);
    p->plant_spans = FILE_NEXT(cursor, int64_t, 3 * n[FILE_PLANTS]);
    p->plant_places = FILE_NEXT(cursor, double, 2 * n[FILE_PLANTS]);
    p->plant_ahead = FILE_NEXT(cursor, double, 2 * n[FILE_PLANTS]);
    p->names = FILE_NEXT(cursor, char, n[FILE_CHARACTERS]);
    p->heading = FILE_NEXT(cursor, float, n[FILE_ROWS]);
    p->ground = FILE_NEXT(cursor, float, 2 * n[FILE_ROWS]);
    p->height = FILE_NEXT(cursor, float, n[FILE_ROWS]);
    p->planted = FILE_NEXT(cursor, uint8_t, n[FILE_ROWS]);
    p->quats = FILE_NEXT(cursor, uint8_t, FILE_QUAT * n[FILE_ROWS] * n[FILE_JOINTS]);
    return cursor->is_short || cursor->at != cursor->size ? ML_DAMAGED : ML_OK;
}

static ml_status file_read(const uint8_t *file, int64_t n_bytes, file_parts *p) {
    file_cursor cursor = {file, n_bytes, ML_FILE_HEAD, 0};
    ml_status status = file_head(file, n_bytes);
    return status ? status : file_find(&cursor, p);
}

static int file_indices(int64_t n, const int64_t *values, int64_t low, int64_t high) {
    for (int64_t k = 0; k < n; k++)
        if (values[k] < low || values[k] >= high) return 0;
    return 1;
}

/* Ranges one after another, from 0 to `last`, each with `least` at least. */
static int file_ranges(int64_t n, const int64_t *firsts, int64_t least, int64_t last) {
    if (firsts[0] != 0 || firsts[n] != last) return 0;
    for (int64_t k = 0; k < n; k++)
        if (firsts[k] > last - least || firsts[k + 1] < firsts[k] + least) return 0;
    return 1;
}

static int file_numbers(int64_t n, const double *values, double most) {
    for (int64_t k = 0; k < n; k++)
        if (!(fabs(values[k]) <= most)) return 0;
    return 1;
}

static int file_singles(int64_t n, const float *values, float most) {
    for (int64_t k = 0; k < n; k++)
        if (!(fabsf(values[k]) <= most)) return 0;
    return 1;
}

/* Sizes of metres, seconds and weights that a file may have: results stay finite. */
#define FILE_LARGEST 1e6

static int file_body_fits(const file_parts *p) {
    const int64_t *n = p->counts;
    int64_t joints = n[FILE_JOINTS];
    for (int64_t j = 0; j < joints; j++)
        if (p->parents[j] < -1 || p->parents[j] >= j || (p->parents[j] < 0) != (j == 0)) return 0;
    for (int k = 0; k < ML_SEGMENTS; k++)
        if (!(p->masses[k] >= 0.0f)) return 0;
    return file_indices(n[FILE_CHAIN], p->chain, 0, joints) &&
           file_indices(6, p->legs, 0, joints) &&
           file_indices(n[FILE_CHECKED], p->checked, 0, joints) &&
           file_indices(n[FILE_CARRIERS], p->carriers, 0, joints) &&
           file_indices(2 * n[FILE_ACROSS], p->across, 0, joints) &&
           file_indices(6, p->check_legs, 0, joints) &&
           file_indices(n[FILE_PARTS], p->joints, 0, joints) &&
           file_indices(n[FILE_COMPARED], p->compared, 0, joints) &&
           file_ranges(ML_SEGMENTS, p->firsts, 1, n[FILE_PARTS]) &&
           file_numbers(3 * joints, p->offsets, FILE_LARGEST) &&
           file_numbers(12, p->soles, FILE_LARGEST) && file_numbers(6, p->poles, FILE_LARGEST) &&
           file_numbers(6, p->hinges, FILE_LARGEST) &&
           file_numbers(12, p->check_soles, FILE_LARGEST) &&
           file_singles(n[FILE_PARTS], p->parts, 1e6f) &&
           file_singles(ML_SEGMENTS, p->masses, 1e6f) && file_singles(4, p->sole, 1e6f);
}

static int file_positive(int64_t n, const float *values) {
    for (int64_t k = 0; k < n; k++)
        if (!(values[k] > 0.0f && values[k] <= 1e6f)) return 0;
    return 1;
}

static int file_measures_fit(const file_parts *p) {
    const int64_t *n = p->counts;
    const double *x = p->numbers;
    int64_t padded = n[FILE_LENGTH] + 2 * n[FILE_PAD], columns = 9 * n[FILE_COMPARED];
    for (int64_t k = 0; k < n[FILE_CLIPS] * file_n_limits(n); k++)
        if (isnan(p->limits[k])) return 0; /* no limit is infinite */
    return x[FILE_FPS] >= 1.0 && x[FILE_FPS] <= 1000.0 && file_numbers(1, x + FILE_LOW, 1e3) &&
           x[FILE_REACH] >= 0.0 && x[FILE_REACH] <= 1e3 &&
           file_singles(n[FILE_ROWS], p->hovers, 1e9f) &&
           file_singles(3 * n[FILE_TAPS], p->taps, 1e9f) &&
           file_singles(16 * padded, p->term_weights, 1e3f) &&
           file_numbers(ML_TABLE_COLUMNS, p->linear, FILE_LARGEST) &&
           file_numbers(ML_TABLE_COLUMNS, p->log, FILE_LARGEST) &&
           file_indices(FILE_LOOKS, p->before, -FILE_LONGEST, 1) &&
           file_indices(FILE_LOOKS, p->after, 0, FILE_LONGEST) &&
           file_singles(columns, p->start_mean, 1e6f) && file_singles(columns, p->end_mean, 1e6f) &&
           file_singles(columns * n[FILE_CODES], p->start_axes, 1e3f) &&
           file_singles(columns * n[FILE_CODES], p->end_axes, 1e3f) &&
           file_positive(n[FILE_CODES], p->start_steps) &&
           file_positive(n[FILE_CODES], p->end_steps) && file_positive(1, p->way_step) &&
           file_numbers(n[FILE_CLIPS], p->speeds, FILE_LARGEST) &&
           file_numbers(16 * n[FILE_LENGTH], p->weights, 1e3);
}

/* The clip that a row is in. */
static int64_t file_clip_at(const file_parts *p, int64_t row) {
    int64_t low = 0, high = p->counts[FILE_CLIPS];
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (p->starts[middle] > row) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return low;
}

/* 1 where a window of the table's length starts at a row. */
static int file_is_window(const file_parts *p, int64_t row) {
    if (row < 0 || row >= p->counts[FILE_ROWS]) return 0;
    return row + p->counts[FILE_LENGTH] <= p->starts[file_clip_at(p, row) + 1];
}

static int file_lists_fit(const file_parts *p, int k) {
    const int64_t *n = p->counts;
    int64_t width = k ? 35 : 16, groups = n[k ? FILE_BOTH_GROUPS : FILE_START_GROUPS];
    int64_t lists = n[k ? FILE_BOTH_LISTS : FILE_START_LISTS];
    for (int64_t m = 0; m < n[FILE_MEMBERS]; m++)
        if (!file_is_window(p, (int64_t)p->members[k][m])) return 0;
    return file_ranges(groups, p->group_first[k], 0, lists) &&
           file_ranges(lists, p->list_first[k], 0, n[FILE_MEMBERS]) &&
           file_singles(width * groups, p->groups[k], 1e9f) &&
           file_singles(width * lists, p->centres[k], 1e9f);
}

static int file_recipes_fit(const file_parts *p) {
    const int64_t *n = p->counts;
    int64_t ends = n[FILE_ENDS], medoids = n[FILE_MEDOIDS];
    for (int64_t row = 0; row < n[FILE_ROWS]; row++)
        if (p->nearest[row] != ML_TABLE_NO_END && p->nearest[row] >= ends) return 0;
    for (int64_t k = 0; k < medoids; k++)
        if (!file_is_window(p, p->medoids[k])) return 0;
    for (int64_t k = 0; k < n[FILE_LABELS] * ends; k++) {
        int64_t row = p->spokes[k];
        if (row != -1 && (!file_is_window(p, row) || p->nearest[row] >= ends)) return 0;
    }
    if (!file_ranges(n[FILE_LABELS], p->first_piece, 0, n[FILE_PIECES])) return 0;
    for (int64_t k = 0; k < n[FILE_PIECES]; k++) {
        const int64_t *piece = p->pieces + 2 * k;
        if (piece[0] < 0 || piece[1] < piece[0] || piece[1] >= n[FILE_ROWS] ||
            file_clip_at(p, piece[0]) != file_clip_at(p, piece[1]))
            return 0;
    }
    for (int64_t k = 0; k < 2 * ends * ends * n[FILE_RECIPES]; k++)
        if (p->between[k] >= medoids && p->between[k] < 254) return 0;
    return file_singles(ends * ends, p->costs, 1e9f);
}

static int file_rows_fit(const file_parts *p) {
    const int64_t *n = p->counts;
    int64_t planted = 0; /* a foot has one plant in a row at most: filling them in stays quick */
    for (int64_t k = 0; k < n[FILE_PLANTS]; k++) {
        const int64_t *span = p->plant_spans + 3 * k;
        if (span[0] < 0 || span[1] < span[0] || span[1] >= n[FILE_ROWS] || span[2] < 0 ||
            span[2] > 1)
            return 0;
        planted += span[1] - span[0] + 1;
        if (planted > 2 * n[FILE_ROWS]) return 0;
    }
    for (int64_t k = 0; k < n[FILE_JUMPS]; k++)
        if (p->jumps[k] < (k ? p->jumps[k - 1] : 0) || p->jumps[k] >= n[FILE_ROWS]) return 0;
    for (int64_t k = 0; k < 2 * n[FILE_ROWS]; k++)
        if (p->slowest[k] < -1 || p->slowest[k] >= CHECK_SOLE_POINTS) return 0;
    return file_numbers(2 * n[FILE_PLANTS], p->plant_places, FILE_LARGEST) &&
           file_numbers(2 * n[FILE_PLANTS], p->plant_ahead, FILE_LARGEST) &&
           file_singles(n[FILE_ROWS], p->heading, 1e6f) &&
           file_singles(2 * n[FILE_ROWS], p->ground, 1e6f) &&
           file_singles(n[FILE_ROWS], p->height, 1e6f);
}

/* As many names as there are joints, clips and labels, each with a 0 at its end. */
static int file_names_fit(const file_parts *p) {
    const int64_t *n = p->counts;
    int64_t ends = 0;
    for (int64_t k = 0; k < n[FILE_CHARACTERS]; k++) ends += p->names[k] == 0;
    return ends == n[FILE_JOINTS] + n[FILE_CLIPS] + n[FILE_LABELS] &&
           p->names[n[FILE_CHARACTERS] - 1] == 0;
}

static ml_status file_check(const file_parts *p) {
    const int64_t *n = p->counts;
    if (!file_ranges(n[FILE_CLIPS], p->starts, 1, n[FILE_ROWS])) return ML_DAMAGED;
    return file_body_fits(p) && file_measures_fit(p) && file_lists_fit(p, 0) &&
                   file_lists_fit(p, 1) && file_recipes_fit(p) && file_rows_fit(p) &&
                   file_names_fit(p)
               ? ML_OK
               : ML_DAMAGED;
}

/* What is made of a file in memory: structs, and arrays to be filled. */
typedef struct {
    ml_rows *rows;
    ml_leg_rig *rig;
    ml_check_rig *check_rig;
    ml_term_source *source;
    ml_terms *terms;
    table_terms own;
    ml_window_index *index;
    ml_window_lists *lists[2];
    ml_context_frames *seen;
    double *heading, *ground, *positions, *world, *pose_root, *pose_quats;
    float *quats, *body, *points, *across, *moments;
    uint8_t *planted, *measured;
    int32_t *plant_ids;
    int8_t *starts, *ends, *heads[2];
    int16_t *ways;
    int64_t *met, *missing, *name_at, *block_rows;
} file_memory;

static void file_lay_out(const file_parts *p, ml_memory *m, file_memory *made) {
    const int64_t *n = p->counts;
    int64_t rows = n[FILE_ROWS], joints = n[FILE_JOINTS], codes = n[FILE_CODES];
    int64_t columns = 9 * n[FILE_COMPARED];
    made->rows = ML_TAKE(m, ml_rows, 1);
    made->rig = ML_TAKE(m, ml_leg_rig, 1);
    made->check_rig = ML_TAKE(m, ml_check_rig, 1);
    made->source = ML_TAKE(m, ml_term_source, 1);
    made->terms = ML_TAKE(m, ml_terms, 1);
    made->index = ML_TAKE(m, ml_window_index, 1);
    made->seen = ML_TAKE(m, ml_context_frames, 1);
    made->heading = ML_TAKE(m, double, rows);
    made->ground = ML_TAKE(m, double, 2 * rows);
    made->quats = ML_TAKE(m, float, 4 * joints * rows);
    made->body = ML_TAKE(m, float, 3 * joints * rows);
    made->points = ML_TAKE(m, float, 12 * rows);
    made->planted = ML_TAKE(m, uint8_t, 4 * rows);
    made->plant_ids = ML_TAKE(m, int32_t, 2 * rows);
    made->starts = ML_TAKE(m, int8_t, codes * rows);
    made->ends = ML_TAKE(m, int8_t, codes * rows);
    made->ways = ML_TAKE(m, int16_t, 3 * rows);
    for (int k = 0; k < 2; k++) {
        made->lists[k] = ML_TAKE(m, ml_window_lists, 1);
        made->heads[k] = ML_TAKE(m, int8_t, (k ? 16 : 8) * n[FILE_MEMBERS]);
    }
    made->positions = ML_TAKE(m, double, 3 * joints);
    made->world = ML_TAKE(m, double, 4 * joints);
    made->pose_root = ML_TAKE(m, double, 3);
    made->pose_quats = ML_TAKE(m, double, 4 * joints);
    made->across = ML_TAKE(m, float, columns * codes);
    made->moments = ML_TAKE(m, float, columns * FILE_BLOCK);
    made->block_rows = ML_TAKE(m, int64_t, FILE_BLOCK);
    made->measured = ML_TAKE(m, uint8_t, n[FILE_CLIPS]);
    made->met = ML_TAKE(m, int64_t, n[FILE_MEDOIDS] + ML_TABLE_WIDE);
    made->missing = ML_TAKE(m, int64_t, 1);
    made->name_at = ML_TAKE(m, int64_t, joints + n[FILE_CLIPS] + n[FILE_LABELS]);
}

/* Terms of windows, which are still to be filled, and memory to judge blends in. */
static void file_lay_out_terms(const file_parts *p, ml_memory *m, file_memory *made) {
    const int64_t *n = p->counts;
    int64_t padded = n[FILE_LENGTH] + 2 * n[FILE_PAD], windows = n[FILE_MEDOIDS] + ML_TABLE_WIDE;
    ml_table_lay_out_terms(m, windows, padded, n[FILE_WINDOW_PLANTS], n[FILE_LENGTH], &made->own);
    if (!m->block) return;
    ml_term_slots *s = made->own.slots;
    s->pad = n[FILE_PAD];
    s->fps = p->numbers[FILE_FPS];
    made->own.weighing->prunes = n[FILE_PRUNES] != 0;
    made->own.weighing->bounded = n[FILE_BOUNDED] != 0;
    made->own.weighing->linear = p->linear;
    made->own.weighing->log = p->log;
    *made->terms = (ml_terms){windows,
                              padded,
                              s->n_plants,
                              n[FILE_TAPS],
                              n[FILE_LENGTH],
                              n[FILE_PAD],
                              n[FILE_ROLL],
                              (float)p->numbers[FILE_FPS],
                              (float)p->numbers[FILE_LOW],
                              s->rows,
                              s->posture,
                              s->anchors,
                              s->spans,
                              s->ahead,
                              s->counts,
                              s->reach,
                              p->taps,
                              p->term_weights,
                              p->sole,
                              p->masses};
}

/* A rotation of 7 bytes. */
static void file_unpack(const uint8_t *bytes, double *q) {
    uint64_t word = 0;
    double sum = 0.0;
    for (int k = 0; k < FILE_QUAT; k++) word |= (uint64_t)bytes[k] << (8 * k);
    int largest = (int)(word & 3), at = 2;
    for (int c = 0; c < 4; c++) {
        if (c == largest) continue;
        double step = (double)(word >> at & 0x3ffff);
        q[c] = (2.0 * step / ML_FILE_STEPS - 1.0) * FILE_HALF_ROOT;
        sum += q[c] * q[c];
        at += 18;
    }
    q[largest] = sqrt(ml_max(0.0, 1.0 - sum));
    if (sum > 1.0) /* no file of ours has this: any rotation will do */
        for (int c = 0; c < 4; c++) q[c] = c == 0;
}

/* Poses: rotations as they are kept, joints and feet as the body sees them. */
static ml_status file_fill_rows(const file_parts *p, file_memory *made) {
    const int64_t *n = p->counts;
    int64_t joints = n[FILE_JOINTS], wide = 4 * joints, clip = 0;
    for (int64_t row = 0; row < n[FILE_ROWS]; row++) {
        double *q = made->pose_quats, points[12];
        while (p->starts[clip + 1] <= row) clip++;
        const float *before = made->quats + (row > 0 ? wide * (row - 1) : 0);
        for (int64_t j = 0; j < joints; j++) {
            file_unpack(p->quats + FILE_QUAT * (joints * row + j), q + 4 * j);
            double dot = 0.0;
            if (row > p->starts[clip])
                for (int c = 0; c < 4; c++) dot += q[4 * j + c] * (double)before[4 * j + c];
            for (int c = 0; c < 4; c++) {
                float value = (float)(dot < 0.0 ? -q[4 * j + c] : q[4 * j + c]);
                made->quats[wide * row + 4 * j + c] = value;
            }
        }
        made->pose_root[0] = made->pose_root[2] = 0.0;
        made->pose_root[1] = (double)p->height[row];
        ml_status status = ml_chain_pose(1, joints, p->parents, p->offsets, joints, NULL,
                                         made->pose_root, q, made->positions, made->world);
        if (!status)
            status =
                ml_chain_soles(1, joints, p->legs, p->soles, made->positions, made->world, points);
        if (status) return status;
        for (int64_t k = 0; k < 3 * joints; k++)
            made->body[3 * joints * row + k] = (float)made->positions[k];
        for (int k = 0; k < 12; k++) made->points[12 * row + k] = (float)points[k];
        made->heading[row] = (double)p->heading[row];
        made->ground[2 * row] = (double)p->ground[2 * row];
        made->ground[2 * row + 1] = (double)p->ground[2 * row + 1];
        for (int k = 0; k < 4; k++) made->planted[4 * row + k] = p->planted[row] >> k & 1;
        made->plant_ids[2 * row] = made->plant_ids[2 * row + 1] = -1;
    }
    for (int64_t k = 0; k < n[FILE_PLANTS]; k++)
        for (int64_t row = p->plant_spans[3 * k]; row <= p->plant_spans[3 * k + 1]; row++)
            made->plant_ids[2 * row + p->plant_spans[3 * k + 2]] = (int32_t)k;
    return ML_OK;
}

/* Codes of all contexts of one side. */
static ml_status file_encode(const file_parts *p, file_memory *made, const int64_t *offsets,
                             const float *mean, const float *axes, const float *steps,
                             int8_t *codes) {
    const int64_t *n = p->counts;
    int64_t columns = 9 * n[FILE_COMPARED], n_codes = n[FILE_CODES];
    for (int64_t c = 0; c < columns; c++)
        for (int64_t k = 0; k < n_codes; k++) made->across[n_codes * c + k] = axes[columns * k + c];
    for (int64_t row = 0; row < n[FILE_ROWS]; row += FILE_BLOCK) {
        int64_t count = n[FILE_ROWS] - row < FILE_BLOCK ? n[FILE_ROWS] - row : FILE_BLOCK;
        for (int64_t k = 0; k < count; k++) made->block_rows[k] = row + k;
        ml_status status = ml_window_contexts(
            n[FILE_CLIPS], n[FILE_ROWS], n[FILE_JOINTS], p->starts, made->heading, made->ground,
            made->body, n[FILE_COMPARED], p->compared, p->numbers[FILE_REACH], count,
            made->block_rows, FILE_LOOKS, offsets, made->moments);
        if (status) return status;
        ml_code_encode(count, columns, n_codes, made->moments, mean, made->across, steps,
                       codes + n_codes * row);
    }
    return ML_OK;
}

/* Ways of all windows, in steps. */
static void file_fill_ways(const file_parts *p, file_memory *made) {
    const int64_t *n = p->counts;
    double step = (double)p->way_step[0];
    for (int64_t row = 0; row < n[FILE_ROWS]; row++) {
        int64_t last = row + n[FILE_LENGTH] - 1;
        double c, s, way[3] = {0.0, 0.0, 0.0};
        if (file_is_window(p, row)) {
            double x = made->ground[2 * last] - made->ground[2 * row];
            double z = made->ground[2 * last + 1] - made->ground[2 * row + 1];
            ml_sincos(made->heading[row], &s, &c);
            way[0] = ML_CONTEXT_DISPLACEMENT * (c * x - s * z);
            way[1] = ML_CONTEXT_DISPLACEMENT * (s * x + c * z);
            way[2] = ML_CONTEXT_TURN_M * (made->heading[last] - made->heading[row]);
        }
        for (int k = 0; k < 3; k++)
            made->ways[3 * row + k] =
                (int16_t)ml_nearest(ml_clamp(way[k] / step, -32767.0, 32767.0));
    }
}

static ml_status file_fill_index(const file_parts *p, file_memory *made) {
    const int64_t *n = p->counts;
    int64_t codes = n[FILE_CODES], last = n[FILE_LENGTH] - 1;
    ml_status status =
        file_encode(p, made, p->before, p->start_mean, p->start_axes, p->start_steps, made->starts);
    if (!status)
        status = file_encode(p, made, p->after, p->end_mean, p->end_axes, p->end_steps, made->ends);
    if (status) return status;
    file_fill_ways(p, made);
    for (int64_t m = 0; m < n[FILE_MEMBERS]; m++) {
        memcpy(made->heads[0] + 8 * m, made->starts + codes * p->members[0][m], 8);
        memcpy(made->heads[1] + 16 * m, made->starts + codes * p->members[1][m], 8);
        memcpy(made->heads[1] + 16 * m + 8, made->ends + codes * (p->members[1][m] + last), 8);
    }
    return ML_OK;
}

/* The structs of a table, over arrays in the file and in memory. */
static void file_connect(const file_parts *p, file_memory *made, ml_table *table) {
    const int64_t *n = p->counts;
    *made->rows = (ml_rows){n[FILE_ROWS], n[FILE_JOINTS], made->heading, made->ground,
                            made->quats,  made->body,     made->points,  made->planted};
    *made->rig = (ml_leg_rig){n[FILE_JOINTS], n[FILE_CHAIN], p->parents, p->offsets,
                              p->chain,       p->legs,       p->soles,   p->poles};
    *made->check_rig = (ml_check_rig){
        n[FILE_JOINTS],     n[FILE_CHECKED], n[FILE_CARRIERS], n[FILE_ACROSS], n[FILE_CHECK_LEGS],
        n[FILE_HEAD_JOINT], p->parents,      p->checked,       p->carriers,    p->across,
        p->check_legs,      p->hinges,       p->check_soles};
    *made->source = (ml_term_source){
        n[FILE_ROWS],    n[FILE_JOINTS],  n[FILE_CLIPS],  n[FILE_PLANTS], n[FILE_PARTS],
        made->heading,   made->ground,    made->body,     made->points,   p->starts,
        made->plant_ids, p->plant_places, p->plant_ahead, p->firsts,      p->joints,
        p->parts,        p->masses};
    *made->index = (ml_window_index){
        n[FILE_ROWS], n[FILE_CODES], 9 * n[FILE_COMPARED], n[FILE_LENGTH], made->starts,
        made->ends,   made->ways,    p->start_mean,        p->start_axes,  p->start_steps,
        p->end_mean,  p->end_axes,   p->end_steps,         p->way_step};
    for (int k = 0; k < 2; k++)
        *made->lists[k] = (ml_window_lists){n[k ? FILE_BOTH_GROUPS : FILE_START_GROUPS],
                                            n[k ? FILE_BOTH_LISTS : FILE_START_LISTS],
                                            n[FILE_MEMBERS],
                                            k ? 35 : 16,
                                            k ? 16 : 8,
                                            1,
                                            k,
                                            k,
                                            p->groups[k],
                                            p->group_first[k],
                                            p->centres[k],
                                            p->list_first[k],
                                            p->members[k],
                                            made->heads[k]};
    *made->seen = (ml_context_frames){
        n[FILE_CLIPS], n[FILE_ROWS],  n[FILE_JOINTS], n[FILE_COMPARED], p->numbers[FILE_REACH],
        p->starts,     made->heading, made->ground,   made->body,       p->compared,
        p->before,     p->after};
    int64_t name = 0, at = 0;
    for (int64_t k = 0; k < n[FILE_CHARACTERS]; k++)
        if (p->names[k] == 0) {
            made->name_at[name++] = at;
            at = k + 1;
        }
    memset(made->measured, 1, (size_t)n[FILE_CLIPS]);
    for (int64_t k = 0; k < n[FILE_MEDOIDS] + ML_TABLE_WIDE; k++) made->met[k] = -1;
    *table = (ml_table){.n_clips = n[FILE_CLIPS],
                        .n_jumps = n[FILE_JUMPS],
                        .n_medoids = n[FILE_MEDOIDS],
                        .n_ends = n[FILE_ENDS],
                        .n_recipes = n[FILE_RECIPES],
                        .n_limits = file_n_limits(n),
                        .n_labels = n[FILE_LABELS],
                        .n_pieces = n[FILE_PIECES],
                        .length = n[FILE_LENGTH],
                        .fps = p->numbers[FILE_FPS],
                        .rows = made->rows,
                        .rig = made->rig,
                        .check_rig = made->check_rig,
                        .term_source = made->source,
                        .term_slots = made->own.slots,
                        .terms = made->terms,
                        .scratch = made->own.scratch,
                        .weighing = made->own.weighing,
                        .index = made->index,
                        .by_start = made->lists[0],
                        .by_both = made->lists[1],
                        .seen = made->seen,
                        .starts = p->starts,
                        .jumps = p->jumps,
                        .medoids = p->medoids,
                        .nearest = p->nearest,
                        .between = p->between,
                        .costs = p->costs,
                        .spokes = p->spokes,
                        .first_piece = p->first_piece,
                        .pieces = p->pieces,
                        .speeds = p->speeds,
                        .weights = p->weights,
                        .limits = p->limits,
                        .hovers = p->hovers,
                        .slowest = p->slowest,
                        .measured = made->measured,
                        .met = made->met,
                        .missing = made->missing,
                        .n_characters = n[FILE_CHARACTERS],
                        .n_names = name,
                        .names = p->names,
                        .name_at = made->name_at};
}

/* Sizes that the work of a table depends on, without anything else of it. */
static int64_t file_work(const file_parts *p) {
    const int64_t *n = p->counts;
    ml_rows rows = {.n_rows = n[FILE_ROWS], .n_joints = n[FILE_JOINTS]};
    ml_check_rig rig = {.n_checked = n[FILE_CHECKED], .n_carriers = n[FILE_CARRIERS]};
    ml_window_index index = {.n_codes = n[FILE_CODES], .n_columns = 9 * n[FILE_COMPARED]};
    ml_window_lists starts = {.width = 16, .n_head = 8}, both = {.width = 35, .n_head = 16};
    ml_table table = {.n_recipes = n[FILE_RECIPES],
                      .length = n[FILE_LENGTH],
                      .fps = p->numbers[FILE_FPS],
                      .n_limits = file_n_limits(n),
                      .rows = &rows,
                      .check_rig = &rig,
                      .index = &index,
                      .by_start = &starts,
                      .by_both = &both};
    return ml_table_work(&table);
}

static int64_t file_memory_size(const file_parts *p) {
    file_memory made;
    ml_memory memory = {NULL, 0};
    file_lay_out(p, &memory, &made);
    file_lay_out_terms(p, &memory, &made);
    return memory.used + file_work(p);
}

int64_t ml_table_memory(int64_t n_bytes, const uint8_t *file) {
    file_parts parts;
    ml_status status = file_read(file, n_bytes, &parts);
    return status ? -(int64_t)status : file_memory_size(&parts);
}

ml_status ml_table_open(int64_t n_bytes, const uint8_t *file, int64_t n_memory, uint8_t *memory,
                        ml_table *table) {
    file_parts parts;
    file_memory made;
    ml_memory pieces = {memory, 0};
    ml_status status = file_read(file, n_bytes, &parts);
    if (!status) status = file_check(&parts);
    if (status) return status;
    if ((uintptr_t)memory % ML_ALIGNED) return ML_UNALIGNED;
    if (n_memory < file_memory_size(&parts)) return ML_BAD_SIZE;
    file_lay_out(&parts, &pieces, &made);
    file_lay_out_terms(&parts, &pieces, &made);
    status = file_fill_rows(&parts, &made);
    if (!status) status = file_fill_index(&parts, &made);
    if (status) return status;
    file_connect(&parts, &made, table);
    table->n_work = ml_table_work(table);
    table->work = memory + pieces.used;
    for (int64_t k = 0; k < table->n_medoids && !status; k++) {
        status = ml_window_terms(table->term_source, table->term_slots, table->medoids[k], k);
        table->met[k] = table->medoids[k];
    }
    return status;
}
