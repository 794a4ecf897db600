/* A block of memory that the caller owns, given out piece by piece. Without a block, pieces are only
   counted: so the same code says how much is needed, and lays it out. */

#ifndef MOTIONLOOM_MEMORY_H
#define MOTIONLOOM_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Pieces begin at multiples of this many bytes from the start of the block. */
#define ML_PIECE 64

typedef struct {
    uint8_t *block; /* NULL to count */
    int64_t used;
} ml_memory;

/* So many things of a size; NULL where they are only counted. */
static inline void *ml_take(ml_memory *memory, int64_t count, size_t size) {
    uint8_t *piece = memory->block ? memory->block + memory->used : NULL;
    int64_t bytes = count * (int64_t)size;
    memory->used += (bytes + ML_PIECE - 1) / ML_PIECE * ML_PIECE;
    return piece;
}

#define ML_TAKE(memory, type, count) ((type *)ml_take((memory), (count), sizeof(type)))

#endif
