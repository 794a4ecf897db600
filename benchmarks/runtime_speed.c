/* Times of what a game calls, as lines "name mean 99th-percentile" in microseconds of the processor,
   which other work on the machine disturbs least; benchmarks/runtime.py takes the best of several
   runs. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "motionloom.h"

#define ASKED 400

static double now(void) { return 1e6 * (double)clock() / (double)CLOCKS_PER_SEC; }

static void check(ml_status bad) {
    if (!bad) return;
    fprintf(stderr, "%s\n", ml_status_text(bad));
    exit(1);
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *name, int n, double *times) {
    double sum = 0.0;
    for (int k = 0; k < n; k++) sum += times[k];
    qsort(times, (size_t)n, sizeof *times, by_size);
    printf("%s %.3f %.3f\n", name, sum / n, times[99 * n / 100]);
}

/* The same numbers in every run. */
static int64_t some_row(uint64_t *state, int64_t n_rows) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((*state >> 33) % (uint64_t)n_rows);
}

/* Time of the longest of the steps up to the first one of a transition, which has most frames left. */
static double longest_until_it_leaves(const ml_table *table, ml_stream *live, double *root,
                                      double *quats, uint8_t *planted) {
    double longest = 0.0;
    do {
        double start = now();
        check(ml_stream_step(live, root, quats, planted));
        longest = fmax(longest, now() - start);
    } while (ml_stream_frames_left(live) != ml_table_length(table) - 2);
    return longest;
}

int main(int n_words, char **words) {
    static double times[ASKED * 60];
    FILE *in = n_words == 2 ? fopen(words[1], "rb") : NULL;
    if (!in) return 2;
    fseek(in, 0, SEEK_END);
    int64_t n_bytes = ftell(in);
    rewind(in);
    uint8_t *file = malloc((size_t)n_bytes), planted[4];
    if (fread(file, 1, (size_t)n_bytes, in) != (size_t)n_bytes) return 2;
    ml_table table;
    ml_stream live;
    ml_frames made;
    int64_t n = ml_table_memory(n_bytes, file), n_rows = 0;
    uint8_t *memory = malloc((size_t)n);
    check(ml_table_open(n_bytes, file, n, memory, &table)); /* the memory is there */
    double start = now();
    n = ml_table_memory(n_bytes, file);
    check(ml_table_open(n_bytes, file, n, memory, &table));
    times[0] = now() - start;
    report("open", 1, times);
    printf("table_bytes %lld 0\n", (long long)n);
    n = ml_stream_memory(&table);
    printf("character_bytes %lld 0\n", (long long)n);
    check(ml_stream_open(&table, 0, n, malloc((size_t)n), &live));
    uint8_t *block = malloc((size_t)ml_frames_memory(&table));
    check(ml_frames_open(&table, ml_frames_memory(&table), block, &made));
    for (int64_t clip = 0; clip < ml_table_n_clips(&table); clip++)
        n_rows += ml_table_clip_frames(&table, clip);
    double root[3], *quats = malloc(sizeof(double) * 4 * (size_t)ml_table_n_joints(&table));

    for (int round = 0; round < 2; round++) {
        uint64_t state = 1;
        for (int k = 0; k < ASKED; k++) {
            int64_t from = some_row(&state, n_rows), to = some_row(&state, n_rows);
            start = now();
            check(ml_table_transition(&table, from, to, &made));
            times[k] = now() - start;
        }
    }
    report("transition", ASKED, times);

    /* Orders from the middle of clips, and from the middle of transitions. */
    static double first[ASKED], second[ASKED], inside[ASKED];
    uint64_t state = 2;
    int64_t size = ml_stream_memory(&table);
    uint8_t *own = malloc((size_t)size);
    for (int k = 0; k < ASKED; k++) {
        check(ml_stream_open(&table, some_row(&state, n_rows), size, own, &live));
        check(ml_stream_step(&live, root, quats, planted));
        check(ml_stream_go_to_row(&live, some_row(&state, n_rows)));
        first[k] = longest_until_it_leaves(&table, &live, root, quats, planted);
        start = now();
        for (int64_t t = 0; t < ml_table_length(&table) / 2; t++)
            check(ml_stream_step(&live, root, quats, planted));
        inside[k] = (now() - start) / (double)(ml_table_length(&table) / 2);
        check(ml_stream_go_to_row(&live, some_row(&state, n_rows)));
        second[k] = longest_until_it_leaves(&table, &live, root, quats, planted);
    }
    report("step", ASKED, inside);
    report("order", ASKED, first);
    report("change_of_mind", ASKED, second);

    /* Playing, with an order every half second. */
    int every = (int)(0.5 * ml_table_fps(&table)), n_steps = ASKED * 15;
    state = 3;
    check(ml_stream_open(&table, 0, size, own, &live));
    for (int k = 0; k < n_steps; k++) {
        if (k % every == 0) check(ml_stream_go_to_row(&live, some_row(&state, n_rows)));
        start = now();
        check(ml_stream_step(&live, root, quats, planted));
        times[k] = now() - start;
    }
    report("play", n_steps, times);
    return 0;
}
