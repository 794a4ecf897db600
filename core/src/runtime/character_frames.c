/* Frames of a live character: where its clip and its pieces end, captured frames where it stands, and
   which captured rows a frame is made of. */

#include "character.h"

#include <string.h>

/* Frames that a context looks back, at least: pose and velocity are found by them. */
#define STREAM_LOOKS_BACK 10
/* m/s. A body that goes slower may stay in the last frame of its clip while it thinks. */
#define STREAM_RESTING 0.2

int64_t ml_stream_looks_back(const ml_table *table) {
    int64_t most = STREAM_LOOKS_BACK;
    for (int k = 0; k < 3; k++)
        if (1 - table->seen->before[k] > most) most = 1 - table->seen->before[k];
    return most;
}

/* ---- Where it is ------------------------------------------------------------------------------*/

int64_t ml_stream_clip_end(const ml_table *table, int64_t row) {
    int64_t end = table->starts[ml_table_clip_at(table, row) + 1], low = 0, high = table->n_jumps;
    while (low < high) { /* the first glitch after the row */
        int64_t middle = low + (high - low) / 2;
        if (table->jumps[middle] > row) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    if (low == table->n_jumps || table->jumps[low] >= end) return end;
    return table->jumps[low] - 1 > row + 1 ? table->jumps[low] - 1 : row + 1;
}

/* The first row of a piece at which a window of its clip may end. */
static int64_t character_first(const ml_table *table, const int64_t *piece) {
    int64_t first = table->starts[ml_table_clip_at(table, piece[0])] + table->length - 1;
    return piece[0] > first ? piece[0] : first;
}

/* Frames of a piece that are played before, at and after its row `last`, with which a window ends: those
   of the window, and those up to the end of the piece or of its clip. 0 where there is no window. */
static int64_t character_frames_of(const ml_table *table, const int64_t *piece, int64_t last) {
    int64_t first = last - table->length + 1, end = ml_stream_clip_end(table, last);
    if (!ml_table_has_window(table, first)) return 0;
    if (first < piece[0]) first = piece[0];
    return (end < piece[1] + 1 ? end : piece[1] + 1) - first;
}

int64_t ml_table_hold_frames(const ml_table *table) { return table->length / 2 + 1; }

int64_t ml_stream_stays_in(const ml_table *table, const int64_t *piece) {
    int64_t least = ml_table_hold_frames(table);
    if (piece[1] - piece[0] + 1 < least) return -1;
    for (int64_t last = character_first(table, piece); last <= piece[1]; last++)
        if (character_frames_of(table, piece, last) >= least) return last - table->length + 1;
    return -1;
}

int64_t ml_pieces_longest(const ml_table *table, int64_t n_pieces, const int64_t *pieces) {
    int64_t longest = 0;
    for (const int64_t *piece = pieces; piece < pieces + 2 * n_pieces; piece += 2) {
        if (ml_table_clip_at(table, piece[0]) < 0 || ml_table_clip_at(table, piece[1]) < 0) continue;
        for (int64_t last = character_first(table, piece); last <= piece[1]; last++) {
            int64_t frames = character_frames_of(table, piece, last);
            if (frames > longest) longest = frames;
        }
    }
    return longest;
}

int64_t ml_table_label_longest(const ml_table *table, int64_t label) {
    if (label < 0 || label >= table->n_labels) return 0;
    int64_t first = table->first_piece[label], end = table->first_piece[label + 1];
    return ml_pieces_longest(table, end - first, table->pieces + 2 * first);
}

int64_t ml_stream_piece_at(const ml_stream *stream, int64_t row) {
    int holds = stream->order == ML_ORDER_HOLD;
    for (int64_t k = 0; k < stream->n_pieces; k++) {
        const int64_t *piece = stream->pieces + 2 * k;
        if (row < piece[0] || row > piece[1]) continue;
        if (!holds || ml_stream_stays_in(stream->table, piece) >= 0) return k;
    }
    return -1;
}

stream_place ml_stream_meeting(const ml_table *table, int64_t row, double heading,
                               const double *root) {
    stream_place place = {heading - table->rows->heading[row], 0.0, 0.0};
    double c, s, x = table->rows->ground[2 * row], z = table->rows->ground[2 * row + 1];
    ml_sincos(place.turn, &s, &c);
    place.x = root[0] - c * x - s * z;
    place.z = root[2] - c * z + s * x;
    return place;
}

void ml_stream_captured(const ml_table *table, int64_t row, int64_t n, stream_place place,
                        stream_part *out, int64_t t) {
    double c, s;
    ml_sincos(place.turn, &s, &c);
    for (int64_t k = 0; k < n; k++) {
        const double *ground = table->rows->ground + 2 * (row + k);
        double x = c * ground[0] + s * ground[1] + place.x;
        double z = c * ground[1] - s * ground[0] + place.z;
        ml_frames_captured(table->rows, row + k, row + k,
                           table->rows->heading[row + k] + place.turn, x, z, &out->frames, t + k);
        ml_stream_no_shares(&out->shares, t + k);
        ml_stream_share(&out->shares, t + k, row + k, 1.0);
        out->shares.changed[t + k] = 0;
    }
}

void ml_stream_carry(ml_frames *frames, int64_t first, int64_t n, stream_place place) {
    double c, s, turned[4], about[4] = {1.0, 0.0, 0.0, 0.0};
    ml_sincos(place.turn, &s, &c);
    ml_sincos(0.5 * place.turn, &about[2], &about[0]);
    for (int64_t t = first; t < first + n; t++) {
        double *root = frames->root + 3 * t, *q = frames->quats + 4 * frames->n_joints * t;
        double x = root[0], z = root[2];
        root[0] = c * x + s * z + place.x;
        root[2] = c * z - s * x + place.z;
        ml_times(about, q, turned);
        memcpy(q, turned, sizeof turned);
        frames->heading[t] += place.turn;
    }
}

/* ---- What frames are made of ------------------------------------------------------------------*/

void ml_stream_no_shares(const stream_shares *shares, int64_t frame) {
    shares->changed[frame] = 1;
    for (int64_t k = 0; k < ML_MOST_SHARES; k++) {
        shares->rows[ML_MOST_SHARES * frame + k] = -1;
        shares->weights[ML_MOST_SHARES * frame + k] = 0.0;
    }
}

void ml_stream_share(const stream_shares *shares, int64_t frame, int64_t row, double weight) {
    int64_t *rows = shares->rows + ML_MOST_SHARES * frame;
    double *weights = shares->weights + ML_MOST_SHARES * frame;
    int64_t k = 0, least = 0, most = 0;
    if (weight == 0.0) return;
    while (k < ML_MOST_SHARES && rows[k] >= 0 && rows[k] != row) k++;
    if (k < ML_MOST_SHARES) {
        rows[k] = row;
        weights[k] += weight;
        return;
    }
    for (k = 1; k < ML_MOST_SHARES; k++) {
        if (weights[k] < weights[least]) least = k;
        if (weights[k] > weights[most]) most = k;
    }
    if (weight > weights[least]) { /* it takes the place of the least */
        double given = weights[least];
        rows[least] = row;
        weights[least] = weight;
        weight = given;
    }
    weights[most] += weight;
}

void ml_stream_copy_shares(const stream_shares *from, int64_t first, int64_t n,
                           const stream_shares *to, int64_t t) {
    memmove(to->rows + ML_MOST_SHARES * t, from->rows + ML_MOST_SHARES * first,
            sizeof(int64_t) * (size_t)(ML_MOST_SHARES * n));
    memmove(to->weights + ML_MOST_SHARES * t, from->weights + ML_MOST_SHARES * first,
            sizeof(double) * (size_t)(ML_MOST_SHARES * n));
    memmove(to->changed + t, from->changed + first, (size_t)n);
}

/* ---- Whether it travels -----------------------------------------------------------------------*/

int ml_stream_travels(const ml_stream *stream, const ml_frames *played) {
    int64_t now = stream->n_played - 1;
    if (now < 1) return 0;
    const double *root = played->root + 3 * now;
    double x = root[0] - root[-3], y = root[1] - root[-2], z = root[2] - root[-1];
    return sqrt(x * x + y * y + z * z) * stream->table->fps > STREAM_RESTING;
}
