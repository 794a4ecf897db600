/* A live character's memory, and the functions that playing and thinking share. */

#ifndef MOTIONLOOM_CHARACTER_H
#define MOTIONLOOM_CHARACTER_H

#include "../tables/table.h"
#include "frames.h"
#include "stream_window.h"

/* As `reached` of a stream. */
enum { STREAM_NOT_REACHED, STREAM_REACHED, STREAM_ACTED };
/* As `stage` of a stream: the next piece of thinking. */
enum { STREAM_LOOK, STREAM_CHOOSE, STREAM_RANK, STREAM_TRY, STREAM_LEAST };

/* Captured windows that are tried where a clip is over. */
#define STREAM_CONTINUED 12
/* Recipes of an order that are tried with held feet; and, of both, with the feet that the blend has. */
#define STREAM_HELD 8
#define STREAM_LOOSE 2
/* Frames before the last whole window of a clip from which on it is thought about its end: one piece
   of thinking in each. */
#define STREAM_AHEAD (STREAM_CONTINUED + STREAM_LOOSE + 4)

/* Captured rows that frames are made of, and their shares; row -1 where there is none. `changed`: 0 where
   a frame is the row, carried.
   rows, weights: (frames, 16)  changed: (frames) */
typedef struct {
    int64_t *rows;
    double *weights;
    uint8_t *changed;
} stream_shares;

/* Frames and what they are made of. */
typedef struct {
    ml_frames frames;
    stream_shares shares;
} stream_part;

/* Captured windows that a transition goes by, and whether its feet are held. */
typedef struct {
    int64_t n_windows, windows[ML_MOST_WAYS];
    uint8_t feet;
} stream_way;

/* Pieces of a stream's `work`. */
typedef struct {
    stream_part segment; /* the transition that is played */
    stream_part made;    /* one that is tried, or is to be played next */
    stream_part planned; /* frames shown last and those that would be played after them */
    stream_part played;
    ml_check_series shown;   /* the same measured */
    check_contact *contacts; /* of tested points, that go on in the frame shown last */
    stream_way *way;         /* of the last transition that was made to go on */
    ml_choice choice;
    double *found;
    ml_planned_pieces own;
} stream_pieces;

/* Where a clip stands whose row is at a heading and over a point of the ground. */
typedef struct {
    double turn, x, z;
} stream_place;

stream_place ml_stream_meeting(const ml_table *table, int64_t row, double heading,
                               const double *root);

/* Rows of a clip, from `row` on, as `n` frames from `t` on, carried to a place. */
void ml_stream_captured(const ml_table *table, int64_t row, int64_t n, stream_place place,
                        stream_part *out, int64_t t);

/* Carry frames `first` to `first + n - 1` to a place. */
void ml_stream_carry(ml_frames *frames, int64_t first, int64_t n, stream_place place);

/* The row after the last one of a row's clip, or of its part before a capture glitch. */
int64_t ml_stream_clip_end(const ml_table *table, int64_t row);

/* First row of the first window that arrives in a piece so that it can be held; -1 where there is none. */
int64_t ml_stream_stays_in(const ml_table *table, const int64_t *piece);

/* The piece of the stream's label that a row is in, -1 for none. Of a label that is held, only pieces
   that can be held count. */
int64_t ml_stream_piece_at(const ml_stream *stream, int64_t row);

/* First row of the window that ends at a row, or of its clip's first one; -1 where there is none. */
int64_t ml_stream_window_to(const ml_table *table, int64_t row);

/* The same for the first row of a piece; -1 too where the window ends after the piece. */
int64_t ml_stream_start_of(const ml_table *table, const int64_t *piece);

/* Whether the body travels, so that it cannot stay in a frame. */
int ml_stream_travels(const ml_stream *stream, const ml_frames *played);

/* Frames that a context looks back. */
int64_t ml_stream_looks_back(const ml_table *table);

/* A frame that is made, of nothing yet. */
void ml_stream_no_shares(const stream_shares *shares, int64_t frame);

/* Add a share of a row to a frame. Where there is no place the least share goes to the greatest. */
void ml_stream_share(const stream_shares *shares, int64_t frame, int64_t row, double weight);

/* Shares of `n` frames from `first` on as those of others from `t` on. */
void ml_stream_copy_shares(const stream_shares *from, int64_t first, int64_t n,
                           const stream_shares *to, int64_t t);

/* When the present clip, or the one that the transition arrives in, can be left, in steps from now:
   not before `soonest`; from a whole window of it until `window`; no later than `latest`. */
typedef struct {
    int64_t soonest, window, latest;
} stream_time;

stream_time ml_stream_when(const ml_stream *stream, const stream_pieces *work);

/* One piece of thinking about the pending order, or about the end of the clip. */
ml_status ml_stream_think_once(ml_stream *stream, stream_pieces *work);

/* Whether there is something to think about. */
int ml_stream_has_thoughts(const ml_stream *stream, const stream_pieces *work);

#endif
