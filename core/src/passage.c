/* Passages: a blend of captured windows, bent to leave one frame and to arrive at another.

   What windows do is kept; what they lack at the two ends, in posture and in velocity, is added and
   fades. Where they lead over the ground is free: velocities of the root are met, places are not. */

#include "passage.h"

#include "rotation_vector.h"
#include "synthesis.h"

/* How a body stands at a row over the ground, and how it moves outside the passage, a frame. */
typedef struct {
    double height, turn, aside, ahead, climb;
} passage_root;

/* A row outside the passage, next to the one at its end; the same where the clip has no other. */
static int64_t passage_next_to(int64_t n_clips, const int64_t *starts, int64_t row, int64_t way,
                               int64_t reach) {
    int64_t low = 0, high = n_clips;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (starts[middle] > row) {
            high = middle;
        } else {
            low = middle;
        }
    }
    int64_t first = starts[low], last = starts[low + 1] - 1, next = row + way * reach;
    next = next < first ? first : next > last ? last : next;
    if (next == row) next = row - way;
    return next < first || next > last ? row : next;
}

/* Add `share` of what a row has. */
static void passage_add_root(const ml_rows *rows, int64_t row, int64_t next, double share,
                             passage_root *sum) {
    double gone = next == row ? 1.0 : (double)(next - row), c, s;
    double height = (double)rows->body[3 * rows->n_joints * row + 1];
    double x = rows->ground[2 * next] - rows->ground[2 * row];
    double z = rows->ground[2 * next + 1] - rows->ground[2 * row + 1];
    ml_sincos(rows->heading[row], &s, &c);
    sum->height += share * height;
    sum->turn += share * (rows->heading[next] - rows->heading[row]) / gone;
    sum->aside += share * (c * x - s * z) / gone;
    sum->ahead += share * (s * x + c * z) / gone;
    sum->climb += share * ((double)rows->body[3 * rows->n_joints * next + 1] - height) / gone;
}

/* A local rotation of a row, of unit length. */
static void passage_rotation(const ml_rows *rows, int64_t row, int64_t joint, double *out) {
    const float *q = rows->quats + 4 * (rows->n_joints * row + joint);
    double square = 0.0;
    for (int c = 0; c < 4; c++) square += (double)q[c] * (double)q[c];
    double scale = square > 0.0 ? 1.0 / sqrt(square) : 1.0;
    for (int c = 0; c < 4; c++) out[c] = scale * (double)q[c];
}

/* Rotation vector from one rotation to another. */
static void passage_from_to(const double *from, const double *to, double *out) {
    double back[4] = {from[0], -from[1], -from[2], -from[3]}, between[4];
    ml_times(back, to, between);
    ml_rotation_log(between, out);
}

/* Add `share` of the rotation vector a frame of a joint at a row. */
static void passage_add_spin(const ml_rows *rows, int64_t row, int64_t next, int64_t joint,
                             double share, double *sum) {
    double now[4], then[4], spin[3], gone = next == row ? 1.0 : (double)(next - row);
    passage_rotation(rows, row, joint, now);
    passage_rotation(rows, next, joint, then);
    passage_from_to(now, then, spin);
    for (int c = 0; c < 3; c++) sum[c] += share * spin[c] / gone;
}

/* A passage that is being made: rows at its two ends and next to them, and of its windows. */
typedef struct {
    const ml_rows *rows;
    int64_t n_frames, n_ways, ends[2], next[2];
    int64_t own[2][ML_MOST_WAYS], own_next[2][ML_MOST_WAYS];
    const int64_t *at;
    const double *weights;
    double fps;
} passage_made;

/* How much of a window is in a frame. */
static double passage_share(const passage_made *made, int64_t i, int64_t t) {
    return made->weights[i * made->n_frames + t];
}

/* Where the body goes: mean steps of the windows, with the velocities of both ends. */
static void passage_track(const passage_made *made, double *psi, double *root) {
    const ml_rows *rows = made->rows;
    int64_t n = made->n_frames, ways = made->n_ways, end = n - 1;
    passage_root lack[2] = {{0.0, 0.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0, 0.0, 0.0}};
    for (int k = 0; k < 2; k++) {
        passage_add_root(rows, made->ends[k], made->next[k], 1.0, lack + k);
        for (int64_t i = 0; i < ways; i++)
            passage_add_root(rows, made->own[k][i], made->own_next[k][i],
                             -passage_share(made, i, k ? end : 0), lack + k);
    }
    double time = ml_min(PASSAGE_EASE_S * made->fps, (double)end);
    double along = (lack[1].height - lack[0].height) / (double)end;
    psi[0] = rows->heading[made->ends[0]];
    root[0] = rows->ground[2 * made->ends[0]];
    root[2] = rows->ground[2 * made->ends[0] + 1];
    for (int64_t t = 0; t < n; t++) {
        double turn = 0.0, aside = 0.0, ahead = 0.0, height = 0.0, c, s, u = (double)t / (double)end;
        for (int64_t i = 0; i < ways; i++) {
            double share = passage_share(made, i, t);
            int64_t now = made->at[t * ways + i];
            height += share * (double)rows->body[3 * rows->n_joints * now + 1];
            if (t == 0) continue;
            int64_t before = made->at[(t - 1) * ways + i];
            turn += share * (rows->heading[now] - rows->heading[before]);
            ml_sincos(rows->heading[before], &s, &c);
            double x = rows->ground[2 * now] - rows->ground[2 * before];
            double z = rows->ground[2 * now + 1] - rows->ground[2 * before + 1];
            aside += share * (c * x - s * z);
            ahead += share * (s * x + c * z);
        }
        root[3 * t + 1] = height + (1.0 - u) * lack[0].height + u * lack[1].height +
                          (lack[0].climb - along) * ml_passage_slope((double)t, time) -
                          (lack[1].climb - along) * ml_passage_slope((double)(end - t), time);
        if (t == 0) continue;
        double a = ml_passage_glide((double)t - 0.5, made->fps);
        double b = ml_passage_glide((double)(end - t) + 0.5, made->fps);
        turn += a * lack[0].turn + b * lack[1].turn;
        aside += a * lack[0].aside + b * lack[1].aside;
        ahead += a * lack[0].ahead + b * lack[1].ahead;
        ml_sincos(psi[t - 1], &s, &c);
        root[3 * t] = root[3 * t - 3] + c * aside + s * ahead;
        root[3 * t + 2] = root[3 * t - 1] + c * ahead - s * aside;
        psi[t] = psi[t - 1] + turn;
    }
}

/* Frames in which a joint's spin, less what the offsets add, is taken over. */
static double passage_time(const passage_made *made, const double *spin) {
    double longest = ml_min(PASSAGE_EASE_S * made->fps, (double)(made->n_frames - 1));
    double shortest = ml_min(PASSAGE_SHORTEST_S * made->fps, (double)(made->n_frames - 1));
    /* t (1 - t / T)^2 is 4 T / 27 at most. */
    double time = 6.75 * PASSAGE_SWING / ml_max(ml_length(spin), 1e-9);
    return ml_min(ml_max(time, shortest), longest);
}

/* One joint of all frames, bent to have the rotations and spins of both ends. */
static void passage_bend(const passage_made *made, int64_t joint, const double *psi,
                         double *quats) {
    int64_t n = made->n_frames, wide = 4 * made->rows->n_joints, end = n - 1;
    double off[2][3], spin[2][3] = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}}, time[2];
    for (int k = 0; k < 2; k++) {
        double asked[4], turned[4], turn[4] = {1.0, 0.0, 0.0, 0.0};
        int64_t t = k ? end : 0;
        if (joint == 0) ml_sincos(0.5 * psi[t], turn + 2, turn);
        passage_rotation(made->rows, made->ends[k], joint, asked);
        ml_times(turn, asked, turned);
        passage_from_to(quats + wide * t + 4 * joint, turned, off[k]);
        passage_add_spin(made->rows, made->ends[k], made->next[k], joint, 1.0, spin[k]);
        for (int64_t i = 0; i < made->n_ways; i++)
            passage_add_spin(made->rows, made->own[k][i], made->own_next[k][i], joint,
                             -passage_share(made, i, t), spin[k]);
    }
    for (int k = 0; k < 2; k++) {
        for (int c = 0; c < 3; c++) spin[k][c] -= (off[1][c] - off[0][c]) / (double)end;
        time[k] = passage_time(made, spin[k]);
    }
    for (int64_t t = 0; t < n; t++) {
        double v[3], turn[4], bent[4], u = (double)t / (double)end, *q = quats + wide * t + 4 * joint;
        double a = ml_passage_slope((double)t, time[0]);
        double b = ml_passage_slope((double)(end - t), time[1]);
        for (int c = 0; c < 3; c++)
            v[c] = (1.0 - u) * off[0][c] + u * off[1][c] + a * spin[0][c] - b * spin[1][c];
        ml_rotation_exp(v, turn);
        ml_times(q, turn, bent);
        for (int c = 0; c < 4; c++) q[c] = bent[c];
    }
}

ml_status ml_passage_make(const ml_rows *rows, const ml_leg_rig *rig, int64_t n_clips,
                          const int64_t *starts, int64_t n_frames, int64_t n_ways,
                          const int64_t *at, const double *weights, int64_t first, int64_t last,
                          double fps, double speed, int32_t feet, double *scratch, int64_t *held,
                          double *psi, double *root, double *quats, uint8_t *planted,
                          double *errors) {
    passage_made made = {.rows = rows, .n_frames = n_frames, .n_ways = n_ways, .at = at,
                         .ends = {first, last}, .weights = weights, .fps = fps};
    if (rows->n_joints != rig->n_joints || n_frames < 2 || n_ways < 1 || n_ways > ML_MOST_WAYS ||
        n_clips < 1 || starts[0] < 0 || starts[n_clips] > rows->n_rows || first < 0 || last < 0 ||
        first >= rows->n_rows || last >= rows->n_rows ||
        !ml_rows_have(rows->n_rows, n_frames * n_ways, at))
        return ML_BAD_SIZE;
    int64_t reach = ml_passage_reach(fps);
    for (int k = 0; k < 2; k++) {
        made.next[k] = passage_next_to(n_clips, starts, made.ends[k], k ? 1 : -1, reach);
        for (int64_t i = 0; i < n_ways; i++) {
            int64_t own = at[(k ? n_frames - 1 : 0) * n_ways + i];
            made.own[k][i] = own;
            made.own_next[k][i] = passage_next_to(n_clips, starts, own, k ? 1 : -1, reach);
        }
    }
    errors[0] = errors[1] = 0.0;
    for (int64_t k = 0; k < 4 * n_frames; k++) planted[k] = 0;
    for (int64_t k = 0; k < 2 * n_frames; k++) held[k] = ML_NOT_HELD;
    passage_track(&made, psi, root);
    ml_status bad = ml_mixture_rotations(rows, n_frames, n_ways, at, weights, psi, quats);
    if (bad) return bad;
    for (int64_t joint = 0; joint < rows->n_joints; joint++)
        passage_bend(&made, joint, psi, quats);
    if (!feet) return ML_OK;
    return ml_synthesis_feet(rows, rig, n_frames, n_ways, at, weights, fps, speed, scratch, held,
                             psi, root, quats, planted, errors);
}
