/* Every number of 300 steps and of 20 transitions, as bytes, for a test that compares them. */

#include <stdio.h>
#include <stdlib.h>

#include "motionloom.h"

static void check(ml_status bad) {
    if (!bad) return;
    fprintf(stderr, "%s\n", ml_status_text(bad));
    exit(1);
}

int main(int n_words, char **words) {
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
    int64_t n = ml_table_memory(n_bytes, file);
    check(ml_table_open(n_bytes, file, n, malloc((size_t)n), &table));
    n = ml_stream_memory(&table);
    check(ml_stream_open(&table, 20, n, malloc((size_t)n), &live));
    n = ml_frames_memory(&table);
    check(ml_frames_open(&table, n, malloc((size_t)n), &made));
    size_t wide = 4 * (size_t)ml_table_n_joints(&table);
    double root[3], *quats = malloc(sizeof(double) * wide);
    for (int64_t frame = 0; frame < 300; frame++) {
        if (frame % 25 == 10) check(ml_stream_go_to_row(&live, 61 * frame % 1100));
        check(ml_stream_step(&live, root, quats, planted));
        fwrite(root, sizeof(double), 3, stdout);
        fwrite(quats, sizeof(double), wide, stdout);
        fwrite(planted, 1, 4, stdout);
    }
    for (int64_t k = 0; k < 20; k++) {
        check(ml_table_transition(&table, 53 * k, 1100 - 47 * k, &made));
        for (int64_t frame = 0; frame < made.n_frames; frame++) {
            check(ml_frames_pose(&made, frame, root, quats, planted));
            fwrite(root, sizeof(double), 3, stdout);
            fwrite(quats, sizeof(double), wide, stdout);
            fwrite(planted, 1, 4, stdout);
        }
    }
    return 0;
}
