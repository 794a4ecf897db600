/* Run-time files that are damaged or made up: fuzz_table FILE COUNT SEED [FIRST].

   Case k of a seed is always the same file, so that `fuzz_table FILE 1 SEED k` meets it again. Each is
   a good file with a few mutations; the digest is put right, so that the checks behind it are met.
   A file that opens makes a transition or plays a few steps; one of eight plays 60. None may crash, hang or reach out of
   bounds, which is what this is compiled with sanitizers for. Counts are printed as JSON. */

#define _XOPEN_SOURCE 700 /* timers */

#include "../src/runtime/file.c" /* for the places of its arrays */

#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "play.h"

#define STEPS 60
#define FEW_STEPS 3 /* most files: what reads them matters most */
/* Files and memory beyond this are not tried: they are for their callers to refuse. */
#define MOST_FILE (INT64_C(1) << 18)
#define MOST_MEMORY (INT64_C(1) << 23)
/* Seconds of processor time for one file, after which it counts as hanging. */
#define LONGEST 20

enum { WHOLE, WIDE, SINGLE, WORD, HALF, BYTE }; /* int64, double, float, uint32, uint16, uint8 */
static const int64_t sizes[] = {8, 8, 4, 4, 2, 1};

/* The arrays of a file, in order. */
enum { PARTS = 62 };
typedef struct {
    int64_t at[PARTS], n_bytes[PARTS], total;
    int kind[PARTS], count;
} places;

static const char *const mutators[] = {"bytes",   "counts", "resized", "numbers", "indices",
                                       "swapped", "cut",    "filled",  "redrawn", "head"};
enum { BYTES, COUNTS, RESIZED, NUMBERS, INDICES, SWAPPED, CUT, FILLED, REDRAWN, HEAD, MUTATORS };

static int64_t number; /* of the case */

static uint64_t below(expect_drawn *drawn, uint64_t most) { return expect_draw(drawn) % most; }

static void place(places *found, const uint8_t *file, const void *start, int kind) {
    found->at[found->count] = (int64_t)((uintptr_t)start - (uintptr_t)file);
    found->kind[found->count++] = kind;
}

/* Where the arrays of a file lie, by its counts alone; 0 where the counts are refused. */
static int find_places(const uint8_t *file, places *found) {
    file_parts p;
    file_cursor cursor = {file, INT64_C(1) << 50, ML_FILE_HEAD, 0};
    memset(&p, 0, sizeof p);
    file_find(&cursor, &p); /* never fits: there is no end */
    if (cursor.is_short || !p.quats) return 0;
    found->count = 0;
#define PLACE(field, kind) place(found, file, p.field, kind)
    PLACE(counts, WHOLE), PLACE(numbers, WIDE), PLACE(parents, WHOLE), PLACE(offsets, WIDE);
    PLACE(chain, WHOLE), PLACE(legs, WHOLE), PLACE(soles, WIDE), PLACE(poles, WIDE);
    PLACE(checked, WHOLE), PLACE(carriers, WHOLE), PLACE(across, WHOLE), PLACE(check_legs, WHOLE);
    PLACE(hinges, WIDE), PLACE(check_soles, WIDE), PLACE(firsts, WHOLE), PLACE(joints, WHOLE);
    PLACE(parts, SINGLE), PLACE(masses, SINGLE), PLACE(taps, SINGLE), PLACE(term_weights, SINGLE);
    PLACE(sole, SINGLE), PLACE(linear, WIDE), PLACE(log, WIDE), PLACE(compared, WHOLE);
    PLACE(before, WHOLE), PLACE(after, WHOLE), PLACE(start_mean, SINGLE);
    PLACE(start_axes, SINGLE), PLACE(start_steps, SINGLE), PLACE(end_mean, SINGLE);
    PLACE(end_axes, SINGLE), PLACE(end_steps, SINGLE), PLACE(way_step, SINGLE);
    for (int k = 0; k < 2; k++) {
        PLACE(groups[k], SINGLE), PLACE(group_first[k], WHOLE), PLACE(centres[k], SINGLE);
        PLACE(list_first[k], WHOLE), PLACE(members[k], WORD);
    }
    PLACE(starts, WHOLE), PLACE(jumps, WHOLE), PLACE(medoids, WHOLE), PLACE(nearest, HALF);
    PLACE(between, BYTE), PLACE(costs, SINGLE), PLACE(spokes, WHOLE), PLACE(speeds, WIDE);
    PLACE(weights, WIDE), PLACE(limits, WIDE), PLACE(plant_spans, WHOLE);
    PLACE(plant_places, WIDE), PLACE(plant_ahead, WIDE), PLACE(names, BYTE);
    PLACE(heading, SINGLE), PLACE(ground, SINGLE), PLACE(height, SINGLE), PLACE(planted, BYTE);
    PLACE(quats, BYTE);
#undef PLACE
    EXPECT(found->count <= PARTS);
    found->total = cursor.at;
    for (int k = 0; k < found->count; k++)
        found->n_bytes[k] = (k + 1 < found->count ? found->at[k + 1] : found->total) - found->at[k];
    return 1;
}

/* A file that is being changed. */
typedef struct {
    uint8_t *bytes;
    int64_t n;
    places parts; /* of the file before it is cut */
} made_file;

static double odd_number(expect_drawn *drawn) {
    static const double odd[] = {NAN, HUGE_VAL, -HUGE_VAL,   0.0,    -0.0,   1e6,     -1e6,  1e-300,
                                 1e9, 1e3,      1e300,       -1e38,  5e-324, 1.0,     -1.0,  1e-7,
                                 0.5, 1000.0,   1.0000001e6, 3.0e38, 1e-30,  65536.0, 255.0, 30.0};
    if (below(drawn, 3)) return odd[below(drawn, sizeof odd / sizeof *odd)];
    double size = ml_exp(expect_uniform(drawn, -20.0, 20.0));
    return below(drawn, 2) ? size : -size;
}

static int64_t odd_whole(expect_drawn *drawn, const int64_t *counts, int64_t now) {
    static const int64_t odd[] = {-1,
                                  0,
                                  1,
                                  2,
                                  3,
                                  7,
                                  8,
                                  15,
                                  16,
                                  17,
                                  253,
                                  254,
                                  255,
                                  256,
                                  16383,
                                  16384,
                                  65534,
                                  65535,
                                  65536,
                                  INT32_MAX,
                                  INT32_MIN,
                                  INT64_C(1) << 31,
                                  INT64_C(1) << 32,
                                  INT64_C(1) << 61,
                                  INT64_MAX,
                                  INT64_MIN,
                                  INT64_MIN + 1,
                                  INT64_MAX / 8};
    switch (below(drawn, 5)) {
    case 0:
        return odd[below(drawn, sizeof odd / sizeof *odd)];
    case 1:
        return (int64_t)((uint64_t)counts[below(drawn, FILE_COUNTS)] - below(drawn, 3));
    case 2:
        return (int64_t)((uint64_t)now + below(drawn, 17) - 8);
    case 3:
        return (int64_t)below(drawn, 130);
    default:
        return (int64_t)((uint64_t)now * (1 + below(drawn, 3)));
    }
}

static void put_whole(made_file *made, int64_t at, int kind, int64_t value) {
    if (at + sizes[kind] <= made->n) memcpy(made->bytes + at, &value, (size_t)sizes[kind]);
}

static void put_number(made_file *made, int64_t at, int kind, double value) {
    float single = (float)(fabs(value) < 3.4e38 || !isfinite(value) ? value : HUGE_VAL);
    if (at + sizes[kind] > made->n) return;
    if (kind == WIDE) memcpy(made->bytes + at, &value, sizeof value);
    if (kind == SINGLE) memcpy(made->bytes + at, &single, sizeof single);
}

static int is_number(int kind) { return kind == WIDE || kind == SINGLE; }

/* An array with something in it, of numbers, of whole ones or of any. */
static int draw_part(expect_drawn *drawn, const made_file *made, int wanted) {
    for (int tries = 0; tries < 100; tries++) {
        int k = 1 + (int)below(drawn, (uint64_t)made->parts.count - 1);
        if (!made->parts.n_bytes[k]) continue;
        if (wanted < 0 || is_number(made->parts.kind[k]) == wanted) return k;
    }
    return 1;
}

static int64_t draw_element(expect_drawn *drawn, const made_file *made, int part) {
    int64_t size = sizes[made->parts.kind[part]];
    uint64_t n = (uint64_t)(made->parts.n_bytes[part] / size);
    return made->parts.at[part] + size * (int64_t)below(drawn, n);
}

/* A count changed, and every array as long as it then has to be. */
static void resize(expect_drawn *drawn, made_file *made) {
    int64_t counts[FILE_COUNTS], *n = (int64_t *)(void *)(made->bytes + ML_FILE_HEAD);
    places now;
    memcpy(counts, n, sizeof counts);
    int k = (int)below(drawn, FILE_COUNTS);
    n[k] = below(drawn, 2) ? (int64_t)((uint64_t)n[k] + below(drawn, 9) - 4)
                           : odd_whole(drawn, counts, n[k]);
    if (!find_places(made->bytes, &now) || now.total > MOST_FILE) return;
    uint8_t *bytes = malloc((size_t)now.total);
    memset(bytes, 0, (size_t)now.total);
    memcpy(bytes, made->bytes, ML_FILE_HEAD);
    for (int part = 0; part < now.count; part++) {
        int64_t had = made->parts.n_bytes[part], size = sizes[now.kind[part]];
        for (int64_t at = 0; had && at < now.n_bytes[part]; at += size)
            memcpy(bytes + now.at[part] + at, made->bytes + made->parts.at[part] + at % had,
                   (size_t)size);
    }
    free(made->bytes);
    made->bytes = bytes;
    made->n = now.total;
    made->parts = now;
}

/* The array of every clip's first row, and others that go from 0 up, end where they must. */
static void mend_ranges(made_file *made) {
    file_parts p;
    file_cursor cursor = {made->bytes, made->n, ML_FILE_HEAD, 0};
    if (file_find(&cursor, &p)) return;
    const int64_t *n = p.counts;
    ((int64_t *)(uintptr_t)p.starts)[n[FILE_CLIPS]] = n[FILE_ROWS];
    ((int64_t *)(uintptr_t)p.firsts)[ML_SEGMENTS] = n[FILE_PARTS];
    ((int64_t *)(uintptr_t)p.first_piece)[n[FILE_LABELS]] = n[FILE_PIECES];
    for (int k = 0; k < 2; k++) {
        int64_t groups = n[k ? FILE_BOTH_GROUPS : FILE_START_GROUPS];
        int64_t lists = n[k ? FILE_BOTH_LISTS : FILE_START_LISTS];
        ((int64_t *)(uintptr_t)p.group_first[k])[groups] = lists;
        ((int64_t *)(uintptr_t)p.list_first[k])[lists] = n[FILE_MEMBERS];
    }
}

static void mutate(expect_drawn *drawn, made_file *made, int how) {
    int64_t counts[FILE_COUNTS], value;
    memcpy(counts, made->bytes + ML_FILE_HEAD, sizeof counts);
    int whole = draw_part(drawn, made, 0), real = draw_part(drawn, made, 1);
    int any = draw_part(drawn, made, -1), other = draw_part(drawn, made, -1);
    int64_t shorter = made->parts.n_bytes[any] < made->parts.n_bytes[other]
                          ? made->parts.n_bytes[any]
                          : made->parts.n_bytes[other];
    switch (how) {
    case BYTES:
        for (uint64_t n = 1 + below(drawn, 8); n > 0; n--)
            made->bytes[made->parts.at[any] +
                        (int64_t)below(drawn, (uint64_t)made->parts.n_bytes[any])] =
                (uint8_t)expect_draw(drawn);
        break;
    case COUNTS:
        value = (int64_t)below(drawn, FILE_COUNTS);
        put_whole(made, ML_FILE_HEAD + 8 * value, WHOLE, odd_whole(drawn, counts, counts[value]));
        break;
    case RESIZED:
        resize(drawn, made);
        if (below(drawn, 4)) mend_ranges(made);
        break;
    case NUMBERS:
        for (uint64_t n = 1 + below(drawn, 4); n > 0; n--)
            put_number(made, draw_element(drawn, made, real), made->parts.kind[real],
                       odd_number(drawn));
        break;
    case INDICES:
        for (uint64_t n = 1 + below(drawn, 3); n > 0; n--) {
            int64_t at = draw_element(drawn, made, whole), size = sizes[made->parts.kind[whole]];
            value = 0;
            memcpy(&value, made->bytes + at, (size_t)size);
            put_whole(made, at, made->parts.kind[whole], odd_whole(drawn, counts, value));
        }
        break;
    case SWAPPED:
        if (below(drawn, 2)) { /* one array over another */
            memmove(made->bytes + made->parts.at[any], made->bytes + made->parts.at[other],
                    (size_t)shorter);
        } else { /* two elements of one */
            int64_t a = draw_element(drawn, made, any), b = draw_element(drawn, made, any);
            uint8_t held[8];
            size_t size = (size_t)sizes[made->parts.kind[any]];
            memcpy(held, made->bytes + a, size);
            memmove(made->bytes + a, made->bytes + b, size);
            memcpy(made->bytes + b, held, size);
        }
        break;
    case FILLED:
        if (is_number(made->parts.kind[any])) {
            double filling = odd_number(drawn);
            for (int64_t at = 0; at < made->parts.n_bytes[any]; at += sizes[made->parts.kind[any]])
                put_number(made, made->parts.at[any] + at, made->parts.kind[any], filling);
        } else {
            value = odd_whole(drawn, counts, 0);
            for (int64_t at = 0; at < made->parts.n_bytes[any]; at += sizes[made->parts.kind[any]])
                put_whole(made, made->parts.at[any] + at, made->parts.kind[any], value);
        }
        break;
    case REDRAWN: { /* numbers that may be: nonsense is played */
        double size = ml_exp(expect_uniform(drawn, -5.0, 13.0));
        any = below(drawn, 4) ? real : made->parts.count - 1; /* the last: rotations */
        for (int64_t at = 0; at < made->parts.n_bytes[any]; at += sizes[made->parts.kind[any]]) {
            if (any == real)
                put_number(made, made->parts.at[any] + at, made->parts.kind[any],
                           expect_uniform(drawn, -size, size));
            else
                made->bytes[made->parts.at[any] + at] = (uint8_t)expect_draw(drawn);
        }
        break;
    }
    default:
        break;
    }
}

/* At the end: cut or lengthen, then mend the head, or not. */
static void finish(expect_drawn *drawn, made_file *made, int how) {
    if (how == CUT) {
        int64_t n = below(drawn, 4) ? (int64_t)below(drawn, (uint64_t)made->n)
                                    : made->n + (int64_t)below(drawn, 64);
        if (below(drawn, 8)) n = n / 8 * 8;
        uint8_t *bytes = malloc((size_t)n + 1); /* 1: for no bytes as well */
        memset(bytes, 0, (size_t)n);
        memcpy(bytes, made->bytes, (size_t)(n < made->n ? n : made->n));
        free(made->bytes);
        made->bytes = bytes;
        made->n = n;
    }
    if (made->n < ML_FILE_HEAD) return;
    memcpy(made->bytes + 16, &made->n, 8);
    if (made->n % 8 == 0) {
        uint64_t digest = file_digest(made->bytes + ML_FILE_HEAD, made->n - ML_FILE_HEAD);
        memcpy(made->bytes + 24, &digest, 8);
    }
    if (how == HEAD) made->bytes[below(drawn, ML_FILE_HEAD)] = (uint8_t)expect_draw(drawn);
}

/* A transition, or steps with a change of goal, wherever the file lets them. */
static int64_t play_some(expect_drawn *drawn, play_table *play) {
    const ml_table *table = &play->table;
    uint64_t rows = (uint64_t)table->rows->n_rows;
    int64_t shown = 0, label = -1, from = (int64_t)below(drawn, rows);
    for (int64_t k = -1; k <= 1; k++) ml_table_joint_name(table, k);
    if (table->n_labels) label = (int64_t)below(drawn, (uint64_t)table->n_labels);
    if (below(drawn, 2)) {
        if (below(drawn, 2) && label >= 0)
            ml_table_transition_to_label(table, from, label, &play->frames);
        else
            ml_table_transition(table, from, (int64_t)below(drawn, rows), &play->frames);
        return 0;
    }
    if (play_start(play, (int64_t)below(drawn, rows))) return 0;
    uint64_t n_steps = below(drawn, 4) ? FEW_STEPS : STEPS;
    uint64_t turn = below(drawn, n_steps), again = turn + 1 + below(drawn, 40);
    for (uint64_t n = 0; n < n_steps; n++) {
        if (n == turn || n == again) {
            uint64_t order = label >= 0 ? below(drawn, 6) : 0;
            if (order < 2)
                ml_stream_go_to_row(&play->stream, (int64_t)below(drawn, rows));
            else if (order < 4)
                ml_stream_go_to_label(&play->stream, label);
            else if (order < 5)
                ml_stream_hold_label(&play->stream, label);
            else
                ml_stream_act_label(&play->stream, label);
            if (below(drawn, 2)) ml_stream_think(&play->stream, (int64_t)below(drawn, 8));
        }
        ml_status status = play_step(play);
        EXPECT(status != ML_MISSING); /* limits are in the file */
        shown += !status;
    }
    return shown;
}

static void report(void) { fprintf(stderr, "case %lld\n", (long long)number); }

static void hangs(int signal_number) {
    static const char text[] = "a file hangs\n";
    (void)signal_number;
    if (write(2, text, sizeof text - 1) < 0) _exit(4);
    report();
    _exit(3);
}

#if defined(__SANITIZE_ADDRESS__)
void __sanitizer_set_death_callback(void (*)(void));
#endif

int main(int count, char **arguments) {
    int64_t n_bytes, opened[MUTATORS] = {0}, cases[MUTATORS] = {0}, steps = 0, all = 0;
    places good;
    EXPECT(count == 4 || count == 5);
    uint8_t *file = play_read(arguments[1], &n_bytes);
    int64_t wanted = atoll(arguments[2]), first = count == 5 ? atoll(arguments[4]) : 0;
    uint64_t seed = strtoull(arguments[3], NULL, 10);
    EXPECT(find_places(file, &good) && good.total == n_bytes);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_set_death_callback(report);
#endif
    signal(SIGPROF, hangs);
    clock_t began = clock();
    for (number = first; number < first + wanted; number++) {
        expect_drawn drawn = {seed * UINT64_C(0x2545f4914f6cdd1d) + (uint64_t)number};
        made_file made = {malloc((size_t)n_bytes), n_bytes, good};
        play_table play;
        struct itimerval limit = {{0, 0}, {LONGEST, 0}};
        setitimer(ITIMER_PROF, &limit, NULL);
        memcpy(made.bytes, file, (size_t)n_bytes);
        int how = (int)below(&drawn, MUTATORS);
        mutate(&drawn, &made, how);
        for (uint64_t more = below(&drawn, 6) / 4 + below(&drawn, 12) / 11; more > 0; more--)
            mutate(&drawn, &made, (int)below(&drawn, MUTATORS));
        finish(&drawn, &made, how);
        cases[how]++;
        if (play_open(made.n, made.bytes, MOST_MEMORY, (int)(number & 255), &play) == ML_OK) {
            opened[how]++;
            steps += play_some(&drawn, &play);
            play_close(&play);
        }
        free(made.bytes);
    }
    for (int k = 0; k < MUTATORS; k++) all += opened[k];
    printf(
        "{\"cases\": %lld, \"opened\": %lld, \"steps\": %lld, \"seconds\": %.1f, \"mutators\": {",
        (long long)wanted, (long long)all, (long long)steps,
        (double)(clock() - began) / CLOCKS_PER_SEC);
    for (int k = 0; k < MUTATORS; k++)
        printf("%s\"%s\": {\"cases\": %lld, \"opened\": %lld}", k ? ", " : "", mutators[k],
               (long long)cases[k], (long long)opened[k]);
    printf("}}\n");
    free(file);
    return 0;
}
