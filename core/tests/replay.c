/* What a file plays, as bytes, to compare platforms: replay FILE writes them to its output. The same
   is a function for WebAssembly. tests/unit/core/test_digest.py plays the same with the library.

   20 transitions between rows, then 200 steps of a live character with changes of its goal. Of each
   a status, and where that is 0 heading, root, rotations and plants; a step has no heading. */

#include "play.h"

#define TRANSITIONS 20
#define STEPS 200

/* Bytes go to `out`, if there are fewer than `most`; how many there are. */
typedef struct {
    uint8_t *out;
    int64_t most, n;
} replay_sink;

static void replay_put(replay_sink *sink, const void *values, int64_t n) {
    if (sink->n + n <= sink->most) memcpy(sink->out + sink->n, values, (size_t)n);
    sink->n += n;
}

static void replay_status(replay_sink *sink, ml_status status) {
    int64_t number = status;
    replay_put(sink, &number, 8);
}

static void replay_transitions(play_table *play, replay_sink *sink) {
    const ml_table *table = &play->table;
    const ml_frames *made = &play->frames;
    int64_t rows = table->rows->n_rows, n = table->length;
    for (int64_t k = 0; k < TRANSITIONS; k++) {
        ml_status status =
            k % 4 == 3 && table->n_labels
                ? ml_table_transition_to_label(table, 37 * k % rows, k % table->n_labels,
                                               &play->frames)
                : ml_table_transition(table, 37 * k % rows, (53 * k + 11) % rows, &play->frames);
        replay_status(sink, status);
        if (status) continue;
        replay_put(sink, made->heading, 8 * n);
        replay_put(sink, made->root, 24 * n);
        replay_put(sink, made->quats, 32 * made->n_joints * n);
        replay_put(sink, made->planted, 4 * n);
    }
}

static void replay_steps(play_table *play, replay_sink *sink) {
    const ml_table *table = &play->table;
    for (int64_t n = 0; n < STEPS; n++) {
        if (n % 25 == 3 && table->n_labels) {
            ml_status (*const orders[])(ml_stream *, int64_t) = {
                ml_stream_go_to_label, ml_stream_hold_label, ml_stream_act_label};
            orders[n / 25 % 3](&play->stream, n / 25 % table->n_labels);
        }
        if (n % 25 == 14) ml_stream_go_to_row(&play->stream, 41 * n % table->rows->n_rows);
        ml_status status = play_step(play);
        replay_status(sink, status);
        if (status) continue;
        replay_put(sink, play->root, 24);
        replay_put(sink, play->quats, 32 * table->rows->n_joints);
        replay_put(sink, play->planted, 4);
    }
}

/* The bytes of what a file plays, and how many there are; -1 where it does not open. */
#if defined(__wasm__)
__attribute__((export_name("replay")))
#endif
int64_t replay(int64_t n_bytes, const uint8_t *file, int64_t most, uint8_t *out);

int64_t replay(int64_t n_bytes, const uint8_t *file, int64_t most, uint8_t *out) {
    play_table play;
    replay_sink sink = {out, most, 0};
    if (play_open(n_bytes, file, INT64_C(1) << 30, 0, &play)) return -1;
    replay_transitions(&play, &sink);
    if (!play_start(&play, 0)) replay_steps(&play, &sink);
    play_close(&play);
    return sink.n;
}

#if defined(__wasm__)
__attribute__((export_name("take"))) uint8_t *take(int64_t n_bytes);
uint8_t *take(int64_t n_bytes) { return malloc((size_t)n_bytes); }
#else
int main(int count, char **arguments) {
    int64_t n_bytes;
    EXPECT(count == 2);
    uint8_t *file = play_read(arguments[1], &n_bytes);
    int64_t most = replay(n_bytes, file, 0, NULL);
    EXPECT(most > 0);
    uint8_t *out = malloc((size_t)most);
    EXPECT(replay(n_bytes, file, most, out) == most);
    EXPECT(fwrite(out, 1, (size_t)most, stdout) == (size_t)most);
    free(out);
    free(file);
    return 0;
}
#endif
