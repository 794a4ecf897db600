/* A table opened from a file, with a transition's frames and a live character, each in memory of
   exactly the size that it needs: what reaches beyond is noticed by AddressSanitizer. */

#ifndef MOTIONLOOM_PLAY_H
#define MOTIONLOOM_PLAY_H

#include <string.h>

#include "../src/kernels.h"
#include "expect.h"

typedef struct {
    uint8_t *memory, *stream_memory;
    int64_t n_memory, n_stream_memory;
    ml_table table;
    ml_stream stream;
    ml_frames frames;
    double root[3], *quats;
    uint8_t planted[4];
} play_table;

/* The bytes of a file, at a multiple of 16. */
static inline uint8_t *play_read(const char *path, int64_t *n_bytes) {
    FILE *file = fopen(path, "rb");
    EXPECT(file && !fseek(file, 0, SEEK_END));
    *n_bytes = ftell(file);
    EXPECT(*n_bytes > 0 && !fseek(file, 0, SEEK_SET));
    uint8_t *bytes = malloc((size_t)*n_bytes);
    EXPECT(bytes && fread(bytes, 1, (size_t)*n_bytes, file) == (size_t)*n_bytes);
    fclose(file);
    return bytes;
}

/* Frames of a transition. */
static inline ml_frames play_frames(const ml_table *table) {
    size_t n = (size_t)table->length, joints = (size_t)table->rows->n_joints;
    ml_frames made = {.most = table->length, .n_joints = table->rows->n_joints};
    made.heading = malloc(sizeof(double) * n);
    made.root = malloc(sizeof(double) * 3 * n);
    made.quats = malloc(sizeof(double) * 4 * joints * n);
    made.planted = malloc(4 * n);
    return made;
}

static inline void play_free_frames(ml_frames *frames) {
    free(frames->heading);
    free(frames->root);
    free(frames->quats);
    free(frames->planted);
}

/* Open a file, in memory filled with a byte: results must not depend on what memory held before. A
   file that asks for more than `most` bytes is not opened. */
static inline ml_status play_open(int64_t n_bytes, const uint8_t *file, int64_t most, int fill,
                                  play_table *play) {
    memset(play, 0, sizeof *play);
    play->n_memory = ml_table_memory(n_bytes, file);
    if (play->n_memory < 0 || play->n_memory > most) return ML_DAMAGED;
    play->memory = malloc((size_t)play->n_memory);
    memset(play->memory, fill, (size_t)play->n_memory);
    ml_status status = ml_table_open(n_bytes, file, play->n_memory, play->memory, &play->table);
    if (status) {
        free(play->memory);
        return status;
    }
    play->n_stream_memory = ml_stream_memory(&play->table);
    if (play->n_stream_memory > most) {
        free(play->memory);
        return ML_DAMAGED;
    }
    play->stream_memory = malloc((size_t)play->n_stream_memory);
    memset(play->stream_memory, fill, (size_t)play->n_stream_memory);
    play->frames = play_frames(&play->table);
    play->quats = malloc(sizeof(double) * 4 * (size_t)play->table.rows->n_joints);
    return ML_OK;
}

static inline ml_status play_start(play_table *play, int64_t row) {
    return ml_stream_open(&play->table, row, play->n_stream_memory, play->stream_memory,
                          &play->stream);
}

static inline ml_status play_step(play_table *play) {
    return ml_stream_step(&play->stream, play->root, play->quats, play->planted);
}

static inline void play_close(play_table *play) {
    play_free_frames(&play->frames);
    free(play->quats);
    free(play->stream_memory);
    free(play->memory);
}

/* Digest of what is shown, FNV-1a by bytes. */
#define PLAY_DIGEST UINT64_C(0xcbf29ce484222325)
static inline uint64_t play_digest(uint64_t digest, const void *values, size_t n) {
    const uint8_t *bytes = values;
    for (size_t k = 0; k < n; k++) digest = (digest ^ bytes[k]) * UINT64_C(0x100000001b3);
    return digest;
}

#endif
