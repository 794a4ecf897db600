/* Passages: captured windows, bent to leave one frame and to arrive at another.

   What windows do is kept; what they lack at the two ends, in posture and in velocity, is added and
   fades. Where they lead over the ground is free: velocities of the root are met, places are not.
   Of several windows the slow part is averaged; what is faster is that of one of them, the carrier:
   averages of fast parts are none that anybody did. */

#include "passage.h"

#include <string.h>

#include "rotation_vector.h"
#include "synthesis.h"

/* Frames that a row's clip has before it (side 0) or after it (side 1). */
static int64_t passage_outside(int64_t n_clips, const int64_t *starts, int64_t row, int side) {
    int64_t low = 0, high = n_clips;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (starts[middle] > row) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return side ? starts[low + 1] - 1 - row : row - starts[low];
}

/* Four numbers at a time: compilers keep such sums at hand, those of an array they do not. */
typedef double passage_four __attribute__((vector_size(32)));

/* Weighted means of sixteen series over frames `from` to `last`, around frame t. */
static inline void passage_means(int64_t wide, const double *values, int64_t t, int64_t from,
                                 int64_t last, const double *parts, double *out) {
    passage_four a = {0.0}, b = a, c = a, d = a;
    double total = 0.0;
    for (int64_t u = from; u <= last; u++) {
        double part = parts[u < t ? t - u : u - t];
        const double *now = values + wide * u;
        passage_four p, q, r, s;
        memcpy(&p, now, sizeof p);
        memcpy(&q, now + 4, sizeof q);
        memcpy(&r, now + 8, sizeof r);
        memcpy(&s, now + 12, sizeof s);
        total += part;
        a += part * p;
        b += part * q;
        c += part * r;
        d += part * s;
    }
    passage_four means[4] = {a / total, b / total, c / total, d / total};
    memcpy(out, means, sizeof means);
}

/* The same of one series. */
static inline double passage_mean(int64_t wide, const double *values, int64_t t, int64_t from,
                                  int64_t last, const double *parts) {
    double total = 0.0, sum = 0.0;
    for (int64_t u = from; u <= last; u++) {
        double part = parts[u < t ? t - u : u - t];
        total += part;
        sum += part * values[wide * u];
    }
    return sum / total;
}

void ml_passage_smooth(const ml_passage *made, int64_t wide, const double *values, double *out) {
    double parts[PASSAGE_MOST];
    int64_t n = made->n_frames, half = ml_passage_parts(PASSAGE_SLOW_S * made->fps, parts);
    for (int64_t t = 0; t < n; t++, out += wide) {
        int64_t from = t > half ? t - half : 0, last = t + half < n - 1 ? t + half : n - 1, c = 0;
        for (; c + 16 <= wide; c += 16)
            passage_means(wide, values + c, t, from, last, parts, out + c);
        if (wide > 16 && c < wide) { /* the last sixteen: some of them once more */
            c = wide - 16;
            passage_means(wide, values + c, t, from, last, parts, out + c);
            c = wide;
        }
        for (; c < wide; c++) out[c] = passage_mean(wide, values + c, t, from, last, parts);
    }
}

/* A local rotation of a row, of unit length. */
static void passage_rotation(const ml_rows *rows, int64_t row, int64_t joint, double *out) {
    const float *q = rows->quats + 4 * (rows->n_joints * row + joint);
    double square = 0.0;
    for (int c = 0; c < 4; c++) square += (double)q[c] * (double)q[c];
    double scale = square > 0.0 ? 1.0 / sqrt(square) : 1.0;
    for (int c = 0; c < 4; c++) out[c] = scale * (double)q[c];
}

/* The same in the world where it is the root's, for a body that faces so. */
static void passage_facing(const ml_rows *rows, int64_t row, int64_t joint, double psi,
                           double *out) {
    double turn[4] = {1.0, 0.0, 0.0, 0.0}, q[4];
    passage_rotation(rows, row, joint, joint == 0 ? q : out);
    if (joint != 0) return;
    ml_sincos(0.5 * psi, turn + 2, turn);
    ml_times(turn, q, out);
}

/* Rotation vector from one rotation to another. */
static void passage_from_to(const double *from, const double *to, double *out) {
    double back[4] = {from[0], -from[1], -from[2], -from[3]}, between[4];
    ml_times(back, to, between);
    ml_rotation_log(between, out);
}

/* The rotation vector of the same rotation that is nearer to another: the long way round where the
   other goes that way. */
static void passage_alike(const double *other, double *v) {
    double angle = ml_length(v), here = 0.0, there = 0.0;
    if (!(angle > 1e-9)) return;
    double round = 1.0 - 2.0 * ML_PI / angle;
    for (int c = 0; c < 3; c++) {
        here += ml_square(v[c] - other[c]);
        there += ml_square(round * v[c] - other[c]);
    }
    for (int c = 0; c < 3 && there < here; c++) v[c] *= round;
}

/* A local rotation so many frames outside an end: of the clip there (i = -1) or of a window. Where
   it has no such frame, the one as far inside is turned round. */
static void passage_outer(const ml_passage *made, int64_t i, int k, int64_t joint, int64_t away,
                          double *out) {
    int64_t row = ml_passage_end(made, i, k), way = k ? away : -away;
    passage_rotation(made->rows, row + (made->inward[k][1 + i] ? -way : way), joint, out);
    if (!made->inward[k][1 + i] || away == 0) return;
    double end[4], back[4] = {out[0], -out[1], -out[2], -out[3]}, turn[4];
    passage_rotation(made->rows, row, joint, end);
    ml_times(back, end, turn);
    ml_times(end, turn, out);
}

/* What a joint of the windows' mean, so many frames outside an end, lacks to be that of the clip. */
static void passage_lack(const ml_passage *made, int64_t joint, int k, int64_t away, double *out) {
    double mean[4] = {0.0, 0.0, 0.0, 0.0}, main[4], q[4], square = 0.0;
    passage_outer(made, made->main[k], k, joint, away, main);
    for (int64_t i = 0; i < made->n_ways; i++) {
        double share = ml_passage_share(made, i, k ? made->n_frames - 1 : 0), like = 0.0;
        passage_outer(made, i, k, joint, away, q);
        for (int c = 0; c < 4; c++) like += q[c] * main[c];
        for (int c = 0; c < 4; c++) mean[c] += (like < 0.0 ? -share : share) * q[c];
    }
    for (int c = 0; c < 4; c++) square += mean[c] * mean[c];
    for (int c = 0; c < 4; c++) mean[c] = square > 1e-12 ? mean[c] / sqrt(square) : main[c];
    passage_outer(made, -1, k, joint, away, q);
    passage_from_to(mean, q, out);
}

/* Half a rotation as the vector part of its quaternion, and back: near to half its vector, without
   angles. */
static void passage_halved(const double *from, const double *to, double *out) {
    double back[4] = {from[0], -from[1], -from[2], -from[3]}, between[4];
    ml_times(back, to, between);
    for (int c = 0; c < 3; c++) out[c] = between[0] < 0.0 ? -between[1 + c] : between[1 + c];
}

static void passage_turn(double *q, double x, double y, double z) {
    double square = x * x + y * y + z * z, scale = square > 1.0 ? 1.0 / sqrt(square) : 1.0;
    double turn[4] = {0.0, scale * x, scale * y, scale * z}, turned[4];
    turn[0] = sqrt(ml_max(1.0 - square, 0.0));
    ml_times(q, turn, turned);
    for (int c = 0; c < 4; c++) q[c] = turned[c];
}

/* All joints with the carrier's fast part. scratch: (6, n_joints, n_frames) */
static void passage_carry(const ml_passage *made, const double *psi, double *scratch,
                          double *quats) {
    int64_t n = made->n_frames, joints = made->rows->n_joints, wide = 3 * joints;
    double *apart = scratch, *slow = apart + wide * n, own[4];
    for (int64_t t = 0; t < n; t++)
        for (int64_t j = 0; j < joints; j++) {
            double *q = quats + 4 * (joints * t + j);
            passage_facing(made->rows, ml_passage_row(made, made->carrier, t), j, psi[t], own);
            passage_halved(own, q, apart + wide * t + 3 * j);
            for (int c = 0; c < 4; c++) q[c] = own[c];
        }
    ml_passage_smooth(made, wide, apart, slow);
    for (int64_t k = 0; k < n * joints; k++)
        passage_turn(quats + 4 * k, slow[3 * k], slow[3 * k + 1], slow[3 * k + 2]);
}

/* Frames in which a joint's spin, less what the offsets add, is taken over. */
static double passage_time(const ml_passage *made, const double *spin) {
    double longest = ml_min(PASSAGE_EASE_S * made->fps, (double)(made->n_frames - 1));
    double shortest = ml_min(PASSAGE_SHORTEST_S * made->fps, (double)(made->n_frames - 1));
    /* t (1 - t / T)^2 is 4 T / 27 at most. */
    double time = 6.75 * PASSAGE_SWING / ml_max(ml_length(spin), 1e-9);
    return ml_min(ml_max(time, shortest), longest);
}

/* What the step of a joint next to an end lacks to go on as the clip outside does, with the change
   from step to step that the main window has there. */
static void passage_left(const ml_passage *made, int64_t joint, int k, const double *psi,
                         const double *quats, double *left) {
    int64_t end = made->n_frames - 1, wide = 4 * made->rows->n_joints, t = k ? end : 0;
    int64_t way = k ? 1 : -1;
    double lacks[3][3], own[4], asked[4];
    for (int c = 0; c < 3; c++) left[c] = 0.0;
    if (!ml_passage_goes_on(made, k)) return;
    for (int m = 0; m < 2; m++) {
        int64_t at = t - m * way;
        passage_facing(made->rows, ml_passage_row(made, made->main[k], at), joint, psi[at], own);
        passage_from_to(own, quats + wide * at + 4 * joint, lacks[m]);
    }
    passage_outer(made, made->main[k], k, joint, 1, own);
    passage_outer(made, -1, k, joint, 1, asked);
    passage_from_to(own, asked, lacks[2]);
    passage_alike(lacks[0], lacks[1]);
    passage_alike(lacks[0], lacks[2]);
    for (int c = 0; c < 3; c++)
        left[c] = (double)way * (lacks[2][c] - 2.0 * lacks[0][c] + lacks[1][c]);
}

/* A curve that is added to a joint's frames: values at both ends, and slopes that run out. */
typedef struct {
    double off[2][3], spin[2][3], time[2];
} passage_curve;

/* Rotation vectors of a curve, and half their sizes.
   frames: (n) vectors: (3, n) halves: (n) */
static void passage_vectors(int64_t n, const double *restrict frames, const passage_curve *curve,
                            double *restrict vectors, double *restrict halves) {
    double end = (double)(n - 1), *x = vectors, *y = vectors + n, *z = vectors + 2 * n;
    for (int64_t t = 0; t < n; t++) {
        double v[3], u = frames[t] / end;
        double a = ml_passage_slope(frames[t], curve->time[0]);
        double b = ml_passage_slope(end - frames[t], curve->time[1]);
        for (int c = 0; c < 3; c++)
            v[c] = (1.0 - u) * curve->off[0][c] + u * curve->off[1][c] + a * curve->spin[0][c] -
                   b * curve->spin[1][c];
        x[t] = v[0];
        y[t] = v[1];
        z[t] = v[2];
        halves[t] = 0.5 * ml_length(v);
    }
}

/* scratch: (7, n_frames), of which the first are the numbers of the frames */
static void passage_add(const ml_passage *made, int64_t joint, const passage_curve *curve,
                        double *scratch, double *quats) {
    int64_t n = made->n_frames, wide = 4 * made->rows->n_joints;
    double *vectors = scratch + n, *halves = vectors + 3 * n, *sines = halves + n;
    double *cosines = sines + n;
    passage_vectors(n, scratch, curve, vectors, halves);
    ml_sincos_all(n, halves, sines, cosines);
    for (int64_t t = 0; t < n; t++) /* as ml_rotation_exp */
        sines[t] = 0.5 * (halves[t] > ML_ROTATION_TINY ? sines[t] / halves[t] : 1.0);
    for (int64_t t = 0; t < n; t++) {
        double *q = quats + wide * t + 4 * joint, bent[4];
        double turn[4] = {cosines[t], sines[t] * vectors[t], sines[t] * vectors[n + t],
                          sines[t] * vectors[2 * n + t]};
        ml_times(q, turn, bent);
        for (int c = 0; c < 4; c++) q[c] = bent[c];
    }
}

/* Add steps at both ends that fade. */
static void passage_fade(const ml_passage *made, int64_t joint, double left[2][3],
                         double *quats) {
    int64_t wide = 4 * made->rows->n_joints, end = made->n_frames - 1;
    double quick = ml_min(PASSAGE_QUICK_S * made->fps, (double)end);
    for (int64_t t = 0; t <= end; t++) {
        double a = 0.5 * ml_passage_slope((double)t, quick);
        double b = 0.5 * ml_passage_slope((double)(end - t), quick);
        if (a > 0.0 || b > 0.0)
            passage_turn(quats + wide * t + 4 * joint, a * left[0][0] - b * left[1][0],
                         a * left[0][1] - b * left[1][1], a * left[0][2] - b * left[1][2]);
    }
}

/* One joint of all frames, bent to have the rotations and spins of both ends.
   scratch: (7, n_frames), of which the first are the numbers of the frames */
static void passage_bend(const ml_passage *made, int64_t joint, const double *psi,
                         double *scratch, double *quats) {
    int64_t wide = 4 * made->rows->n_joints, end = made->n_frames - 1;
    passage_curve slow = {.time = {0.0, 0.0}};
    double left[2][3];
    for (int k = 0; k < 2; k++) {
        int64_t t = k ? end : 0, reach = made->reach[k];
        double asked[4], near[3], far[3];
        passage_facing(made->rows, made->ends[k], joint, psi[t], asked);
        passage_from_to(quats + wide * t + 4 * joint, asked, slow.off[k]);
        passage_lack(made, joint, k, 0, near);
        passage_lack(made, joint, k, reach, far);
        passage_alike(near, far);
        for (int c = 0; c < 3; c++)
            slow.spin[k][c] = reach > 0 ? (near[c] - far[c]) / (double)(k ? -reach : reach) : 0.0;
    }
    passage_alike(slow.off[0], slow.off[1]);
    for (int k = 0; k < 2; k++) {
        for (int c = 0; c < 3; c++)
            slow.spin[k][c] -= (slow.off[1][c] - slow.off[0][c]) / (double)end;
        slow.time[k] = passage_time(made, slow.spin[k]);
    }
    passage_add(made, joint, &slow, scratch, quats);
    for (int k = 0; k < 2; k++) passage_left(made, joint, k, psi, quats, left[k]);
    passage_fade(made, joint, left, quats);
}

/* The window that counts at least as much as any other in all frames, or -1. */
static int64_t passage_carrier(const ml_passage *made) {
    if (made->n_ways < 2) return -1;
    for (int64_t i = 0; i < made->n_ways; i++) {
        int carries = 1;
        for (int64_t k = 0; k < made->n_ways; k++)
            for (int64_t t = 0; t < made->n_frames; t++)
                carries &= ml_passage_share(made, i, t) >= ml_passage_share(made, k, t);
        if (carries) return i;
    }
    return -1;
}

/* What there is at both ends. */
static void passage_meet(ml_passage *made, int64_t n_clips, const int64_t *starts) {
    for (int k = 0; k < 2; k++) {
        int64_t t = k ? made->n_frames - 1 : 0;
        made->reach[k] = ml_passage_reach(made->fps);
        made->main[k] = 0;
        for (int64_t i = -1; i < made->n_ways; i++) {
            int64_t row = ml_passage_end(made, i, k);
            int64_t outside = passage_outside(n_clips, starts, row, k);
            int64_t inside = passage_outside(n_clips, starts, row, 1 - k);
            made->inward[k][1 + i] = outside < 1;
            if (outside < 1) outside = inside;
            if (outside < made->reach[k]) made->reach[k] = outside;
            if (i >= 0 && ml_passage_share(made, i, t) > ml_passage_share(made, made->main[k], t))
                made->main[k] = i;
        }
    }
    made->carrier = passage_carrier(made);
}

ml_status ml_passage_make(const ml_rows *rows, const ml_leg_rig *rig, int64_t n_clips,
                          const int64_t *starts, int64_t n_frames, int64_t n_ways,
                          const int64_t *at, const double *weights, int64_t first, int64_t last,
                          double fps, double speed, int32_t feet, double *scratch, int64_t *held,
                          double *psi, double *root, double *quats, uint8_t *planted,
                          double *errors) {
    ml_passage made = {.rows = rows, .n_frames = n_frames, .n_ways = n_ways, .at = at,
                       .ends = {first, last}, .weights = weights, .fps = fps};
    if (rows->n_joints != rig->n_joints || n_frames < 2 || n_ways < 1 || n_ways > ML_MOST_WAYS ||
        n_clips < 1 || starts[0] < 0 || starts[n_clips] > rows->n_rows || first < 0 || last < 0 ||
        first >= rows->n_rows || last >= rows->n_rows ||
        !ml_rows_have(rows->n_rows, n_frames * n_ways, at))
        return ML_BAD_SIZE;
    passage_meet(&made, n_clips, starts);
    errors[0] = errors[1] = 0.0;
    for (int64_t k = 0; k < 4 * n_frames; k++) planted[k] = 0;
    for (int64_t k = 0; k < 2 * n_frames; k++) held[k] = ML_NOT_HELD;
    ml_passage_course(&made, scratch, psi, root);
    ml_status bad = ml_mixture_rotations(rows, n_frames, n_ways, at, weights, psi, quats);
    if (bad) return bad;
    if (made.carrier >= 0) passage_carry(&made, psi, scratch, quats);
    for (int64_t t = 0; t < n_frames; t++) scratch[t] = (double)t;
    for (int64_t joint = 0; joint < rows->n_joints; joint++)
        passage_bend(&made, joint, psi, scratch, quats);
    if (!feet) return ML_OK;
    double *world = scratch + 3 * rows->n_joints * n_frames;
    double *points = world + 4 * rows->n_joints * n_frames;
    bad = ml_synthesis_pose(rig, n_frames, root, quats, scratch, world, points);
    if (!bad)
        bad = ml_tread_follow(rows, n_frames, n_ways, at, weights, psi, fps, points,
                              points + 12 * n_frames, root);
    if (bad) return bad;
    return ml_synthesis_feet(rows, rig, n_frames, n_ways, at, weights, fps, speed,
                             feet != PASSAGE_STILL, scratch, held, psi, root, quats, planted, errors);
}
