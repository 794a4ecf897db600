/* The run time as a game uses it: test_runtime FILE, a small file with the clips walk, run, stand and
   kick, and the labels idle and running. */

#include "play.h"

#if defined(__SANITIZE_ADDRESS__) /* from sanitizer/allocator_interface.h, which not all have */
int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void *, size_t),
                                              void (*)(const volatile void *));
#endif

#define MOST (INT64_C(1) << 30)
#define STEPS 1000

static int64_t n_allocations;

#if defined(__SANITIZE_ADDRESS__)
static void allocated(const volatile void *block, size_t size) {
    (void)block;
    (void)size;
    n_allocations++;
}
static void freed(const volatile void *block) { (void)block; }
#endif

static int unit(int64_t n, const double *quats) {
    for (int64_t k = 0; k < n; k++) {
        const double *q = quats + 4 * k;
        if (!(fabs(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1.0) < 1e-6)) return 0;
    }
    return 1;
}

static void names_and_rows(const ml_table *table) {
    EXPECT(table->n_clips == 4 && table->n_labels == 2);
    EXPECT(!strcmp(ml_table_joint_name(table, 0), "Hips"));
    EXPECT(!strcmp(ml_table_clip_name(table, 1), "run"));
    EXPECT(!strcmp(ml_table_label_name(table, 1), "running"));
    EXPECT(!*ml_table_joint_name(table, -1) && !*ml_table_clip_name(table, 4));
    EXPECT(!*ml_table_label_name(table, 2));
    EXPECT(ml_table_find_joint(table, 5, "Spine") == 1 && ml_table_find_clip(table, 3, "run") == 1);
    EXPECT(ml_table_find_label(table, 4, "idle") == 0);
    EXPECT(ml_table_find_clip(table, 2, "run") == -1); /* only a part of the name */
    EXPECT(ml_table_find_joint(table, 4, "walk") == -1 && ml_table_find_clip(table, 0, "") == -1);
    EXPECT(ml_table_row(table, 0, 0) == 0 && ml_table_row(table, 1, 0) == table->starts[1]);
    EXPECT(ml_table_row(table, 0, 23) == 23 && ml_table_row(table, 0, 24) == -1);
    EXPECT(ml_table_row(table, 0, -1) == -1 && ml_table_row(table, -1, 0) == -1);
    EXPECT(ml_table_row(table, 4, 0) == -1);
}

static void transitions(play_table *play) {
    const ml_table *table = &play->table;
    ml_frames *made = &play->frames;
    int64_t walk = ml_table_row(table, 0, 3), run = ml_table_row(table, 1, 20);
    EXPECT(ml_table_transition(table, walk, run, made) == ML_OK);
    EXPECT(made->n_frames == table->length);
    EXPECT(unit(made->n_frames * made->n_joints, made->quats));
    EXPECT(fabs(made->root[0] - table->rows->ground[2 * walk]) < 1e-6);
    EXPECT(fabs(made->root[2] - table->rows->ground[2 * walk + 1]) < 1e-6);
    EXPECT(ml_table_transition_to_label(table, walk, 1, made) == ML_OK);
    EXPECT(unit(made->n_frames * made->n_joints, made->quats));
    for (int64_t from = 0; from < table->rows->n_rows; from += 3)
        for (int64_t to = 0; to < table->rows->n_rows; to += 11) {
            int is_short = from >= table->starts[3] || to >= table->starts[3];
            EXPECT(ml_table_transition(table, from, to, made) == (is_short ? ML_NOWHERE : ML_OK));
        }
    EXPECT(ml_table_transition(table, -1, run, made) == ML_NOWHERE);
    EXPECT(ml_table_transition(table, walk, table->rows->n_rows, made) == ML_NOWHERE);
    EXPECT(ml_table_transition_to_label(table, walk, 2, made) == ML_NOWHERE);
    EXPECT(ml_table_transition_to_label(table, walk, -1, made) == ML_NOWHERE);
    made->most--;
    EXPECT(ml_table_transition(table, walk, run, made) == ML_BAD_SIZE);
    made->most++;
    made->n_joints++;
    EXPECT(ml_table_transition(table, walk, run, made) == ML_BAD_SIZE);
    made->n_joints--;
}

/* Whether the rows that a frame is made of are rows, with shares that add up to one. */
static int shares_add_up(const ml_stream *stream) {
    int64_t rows[ML_MOST_SHARES];
    double weights[ML_MOST_SHARES], sum = 0.0;
    uint8_t changed;
    int64_t n = ml_stream_made_of(stream, rows, weights, &changed);
    if (n < 1 || (n > 1 && !changed)) return 0;
    for (int64_t k = 0; k < n; k++) {
        if (ml_table_row_clip(stream->table, rows[k]) < 0) return 0;
        sum += weights[k];
    }
    return fabs(sum - 1.0) < 1e-9;
}

/* A digest of steps with changes of the goal at any time. */
static uint64_t stream(play_table *play, int check) {
    const ml_table *table = &play->table;
    size_t wide = sizeof(double) * 4 * (size_t)table->rows->n_joints;
    uint64_t digest = PLAY_DIGEST;
    double before[3] = {0};
    expect_drawn drawn = {14};
    EXPECT(play_start(play, ml_table_row(table, 0, 2)) == ML_OK);
    int64_t began = n_allocations;
    for (int n = 0; n < STEPS; n++) {
        uint64_t draw = expect_draw(&drawn);
        if (draw % 9 == 0) {
            int64_t label = (int64_t)(draw >> 8) & 1;
            EXPECT((draw >> 9) % 3 == 0   ? ml_stream_go_to_label(&play->stream, label) == ML_OK
                   : (draw >> 9) % 3 == 1 ? ml_stream_hold_label(&play->stream, label) == ML_OK
                                          : ml_stream_act_label(&play->stream, label) == ML_OK);
        } else if (draw % 9 == 1) {
            int64_t row = (int64_t)((draw >> 8) % (uint64_t)table->starts[3]);
            EXPECT(ml_stream_go_to_row(&play->stream, row) == ML_OK);
        }
        if (draw % 31 == 2) EXPECT(ml_stream_think(&play->stream, 3) == ML_OK);
        EXPECT(play_step(play) == ML_OK);
        EXPECT(ml_stream_doing(&play->stream) >= 0 && shares_add_up(&play->stream));
        digest = play_digest(digest, play->root, sizeof play->root);
        digest = play_digest(digest, play->quats, wide);
        digest = play_digest(digest, play->planted, sizeof play->planted);
        if (check) {
            EXPECT(unit(table->rows->n_joints, play->quats));
            /* No faster than anything in these clips: nothing jumps. */
            double x = play->root[0] - before[0], z = play->root[2] - before[2];
            EXPECT(n == 0 || sqrt(x * x + z * z) < 0.12);
            memcpy(before, play->root, sizeof before);
        }
    }
    EXPECT(n_allocations == began);
    return digest;
}

static void streams_refuse(play_table *play) {
    const ml_table *table = &play->table;
    ml_stream other;
    EXPECT(play_start(play, -1) == ML_NOWHERE &&
           play_start(play, table->rows->n_rows) == ML_NOWHERE);
    EXPECT(ml_stream_open(table, 0, play->n_stream_memory - 1, play->stream_memory, &other) ==
           ML_BAD_SIZE);
    EXPECT(ml_stream_open(table, 0, play->n_stream_memory, play->stream_memory + 8, &other) ==
           ML_UNALIGNED);
    EXPECT(play_start(play, 0) == ML_OK);
    EXPECT(ml_stream_go_to_label(&play->stream, 2) == ML_NOWHERE);
    EXPECT(ml_stream_go_to_label(&play->stream, -1) == ML_NOWHERE);
    EXPECT(ml_stream_go_to_row(&play->stream, -1) == ML_NOWHERE);
    EXPECT(ml_stream_go_to_row(&play->stream, table->starts[3]) == ML_NOWHERE);
    EXPECT(ml_stream_go_to_row(&play->stream, table->rows->n_rows) == ML_NOWHERE);
    int64_t none[3] = {-1, -1, -1}, wild[3] = {-1, INT64_MAX, -1}, far[3] = {INT64_MIN, -2, -1};
    EXPECT(table->n_ends == 3);
    const int64_t piece[2] = {0, 20}, apart[2] = {0, table->starts[1]}, over[2] = {-1, 20};
    const int64_t *first = table->spokes;
    EXPECT(ml_stream_follow(&play->stream, 2, 1, piece, none) == ML_NOWHERE);
    EXPECT(ml_stream_follow(&play->stream, 3, 1, piece, wild) == ML_NOWHERE);
    EXPECT(ml_stream_follow(&play->stream, 3, 1, piece, far) == ML_NOWHERE);
    EXPECT(ml_stream_follow(&play->stream, 3, 1, apart, first) == ML_NOWHERE);
    EXPECT(ml_stream_follow(&play->stream, 4, 1, over, first) == ML_NOWHERE);
    EXPECT(ml_stream_follow(&play->stream, 2, 0, piece, first) == ML_NOWHERE);
    EXPECT(ml_stream_follow(&play->stream, 1, 1, piece, first) == ML_BAD_SIZE);
    EXPECT(ml_stream_follow(&play->stream, 5, 1, piece, first) == ML_BAD_SIZE);
    EXPECT(ml_stream_follow(&play->stream, 3, -1, piece, first) == ML_BAD_SIZE);
    EXPECT(ml_stream_hold_label(&play->stream, 2) == ML_NOWHERE);
    EXPECT(ml_table_hold_frames(table) == 5 && ml_table_label_longest(table, 2) == 0);
    EXPECT(ml_table_label_longest(table, 1) == 13 && ml_table_label_longest(table, -1) == 0);
    const int64_t *idle = table->pieces, last = idle[1];
    const int64_t brief[2] = {last - 3, last}, least[2] = {last - 4, last}, both[4] = {
        last - 8, last - 6, last - 5, last};
    EXPECT(ml_pieces_longest(table, 1, brief) == 4 && ml_pieces_longest(table, 1, least) == 5);
    EXPECT(ml_pieces_longest(table, 2, both) == 6 && ml_pieces_longest(table, 1, over) == 0);
    EXPECT(ml_stream_follow(&play->stream, 2, 1, brief, first) == ML_OK);
    EXPECT(ml_stream_doing(&play->stream) == ML_STREAM_GOING);
    EXPECT(ml_stream_follow(&play->stream, 3, 1, brief, first) == ML_TOO_SHORT);
    EXPECT(play->stream.order == 2 && play->stream.pieces == brief); /* nothing changed */
    EXPECT(ml_stream_follow(&play->stream, 3, 1, least, first) == ML_OK);
    EXPECT(ml_stream_follow(&play->stream, 3, 2, both, first) == ML_OK);
    for (int n = 0; n < 200; n++) {
        EXPECT(play_step(play) == ML_OK);
        int64_t now = ml_stream_now(&play->stream);
        if (ml_stream_doing(&play->stream) == ML_STREAM_IN)
            EXPECT(play->stream.in_transition || (now >= both[0] && now <= both[3]));
    }
    EXPECT(play->stream.reached == 1); /* it did arrive, in the piece that is long enough */
    EXPECT(play_start(play, 0) == ML_OK);
    EXPECT(ml_stream_act_label(&play->stream, -1) == ML_NOWHERE);
    EXPECT(ml_stream_set_patience(&play->stream, -1.0) == ML_BAD_SIZE);
    EXPECT(ml_stream_set_patience(&play->stream, (double)NAN) == ML_BAD_SIZE);
    EXPECT(play_step(play) == ML_OK);
}

/* A character in a clip that is too short for a window plays it and stays, or goes on. */
static void a_short_clip(play_table *play) {
    EXPECT(play_start(play, play->table.starts[3]) == ML_OK);
    for (int n = 0; n < 60; n++) {
        if (n == 20) EXPECT(ml_stream_go_to_label(&play->stream, 0) == ML_OK);
        EXPECT(play_step(play) == ML_OK);
    }
}

static void opening_refuses(int64_t n_bytes, const uint8_t *file) {
    int64_t n_memory = ml_table_memory(n_bytes, file);
    uint8_t *memory = malloc((size_t)n_memory), *copy = malloc((size_t)n_bytes);
    ml_table table;
    EXPECT(ml_table_open(n_bytes, file, n_memory - 1, memory, &table) == ML_BAD_SIZE);
    EXPECT(ml_table_open(n_bytes, file, n_memory, memory + 8, &table) == ML_UNALIGNED);
    for (int64_t n = 0; n < n_bytes; n += n < 256 ? 1 : 997) {
        uint8_t *part = malloc((size_t)n + 1); /* what lies behind a part must not be read */
        memcpy(part, file, (size_t)n);
        EXPECT(ml_table_memory(n, part) < 0);
        EXPECT(ml_table_open(n, part, n_memory, memory, &table) == ML_DAMAGED);
        free(part);
    }
    for (int64_t n = 0; n < n_bytes; n += 1009) { /* one bit: noticed by the digest */
        if (n >= 32 && n < 64) continue;          /* nothing is kept there */
        memcpy(copy, file, (size_t)n_bytes);
        copy[n] ^= 4;
        EXPECT(ml_table_open(n_bytes, copy, n_memory, memory, &table) == ML_DAMAGED);
    }
    EXPECT(ml_table_memory(-8, file) < 0 && ml_table_memory(0, file) < 0);
    free(memory);
    free(copy);
}

int main(int count, char **arguments) {
    int64_t n_bytes;
    play_table play;
    EXPECT(count == 2);
#if defined(__SANITIZE_ADDRESS__)
    EXPECT(__sanitizer_install_malloc_and_free_hooks(allocated, freed));
#endif
    uint8_t *file = play_read(arguments[1], &n_bytes);
    opening_refuses(n_bytes, file);
    EXPECT(play_open(n_bytes, file, MOST, 0, &play) == ML_OK);
    names_and_rows(&play.table);
    transitions(&play);
    uint64_t first = stream(&play, 1);
    EXPECT(stream(&play, 0) == first); /* again, in memory that was used */
    streams_refuse(&play);
    a_short_clip(&play);
    play_close(&play);
    EXPECT(play_open(n_bytes, file, MOST, 0xff, &play) == ML_OK);
    EXPECT(stream(&play, 0) == first);
    play_close(&play);
    free(file);
    return 0;
}
