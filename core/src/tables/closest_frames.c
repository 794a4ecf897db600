/* Meetings: places where two clips come closest, to go from one to the other by a plain blend. */

#include "closest_frames.h"

#include <stdlib.h>
#include <string.h>

#include "judge.h"

/* Times that are compared for the place to blend at, a second. */
#define MEETING_RATE 20.0
/* Places to blend at differ by so much at least, s. */
#define MEETING_APART_S 0.15
/* What weighs a metre that standing feet slip: how much more natural one has to be that slips and passes
   the quality check as often. */
#define MEETING_SLIP 12.0

/* Rows of the two clips that a join may use, steps of their roots, and differences of the two. */
typedef struct {
    const ml_table *table;
    int64_t source, source_end, target, target_first, target_end, stride, most, later;
    double *mine, *theirs, *posture, *velocity, *feet;
    uint8_t *stands;
    double movement, speed;
} meeting_clips;

/* Steps of heading (as metres) and root, seen from the body, to rows of a clip, metres. */
static void meeting_steps(const ml_rows *rows, int64_t first, int64_t end, double *steps) {
    for (int64_t row = first; row < end; row++, steps += 3) {
        int64_t before = row > first ? row - 1 : row;
        double c, s, x = rows->ground[2 * row] - rows->ground[2 * before];
        double z = rows->ground[2 * row + 1] - rows->ground[2 * before + 1];
        ml_sincos(rows->heading[before], &s, &c);
        steps[0] = (double)JUDGE_TURN_M * (rows->heading[row] - rows->heading[before]);
        steps[1] = c * x - s * z;
        steps[2] = s * x + c * z;
    }
}

/* Mean squared distance of the joints of two rows, each seen from its body. */
static double meeting_apart(const ml_table *table, int64_t a, int64_t b) {
    const float *p = table->rows->body + 3 * table->rows->n_joints * a;
    const float *q = table->rows->body + 3 * table->rows->n_joints * b;
    float sum = 0.0f;
    for (int64_t j = 0; j < table->seen->n_compared; j++) {
        int64_t at = 3 * table->seen->joints[j];
        float x = p[at] - q[at], y = p[at + 1] - q[at + 1], z = p[at + 2] - q[at + 2];
        sum += x * x + y * y + z * z;
    }
    return (double)sum / (double)table->seen->n_compared;
}

/* The vector from the right ball to the left one over the ground, as the body sees it: what row b has more
   of it than row a, and by bits which balls stand in the two. */
static void meeting_stance(const meeting_clips *clips, int64_t i, int64_t a, int64_t b) {
    const ml_rows *rows = clips->table->rows;
    int bits = 0;
    for (int c = 0; c < 2; c++) {
        double way[2];
        for (int k = 0; k < 2; k++) {
            const float *left = ml_rows_point(rows, k ? b : a, ML_BALL(0));
            const float *right = ml_rows_point(rows, k ? b : a, ML_BALL(1));
            way[k] = (double)left[2 * c] - (double)right[2 * c];
        }
        clips->feet[2 * i + c] = way[1] - way[0];
        bits |= ml_rows_stands(rows, a, ML_BALL(c)) << c;
        bits |= ml_rows_stands(rows, b, ML_BALL(c)) << (2 + c);
    }
    clips->stands[i] = (uint8_t)bits;
}

/* Frames between two places. */
static int64_t meeting_between(ml_meeting a, ml_meeting b) {
    return llabs(a.ahead - b.ahead) + llabs(a.sooner - b.sooner);
}

/* Into the sorted list of places, unless one near to it is better; a worse one goes. */
static void meeting_keep(ml_meeting place, int64_t apart, int64_t *count, ml_meeting *meetings) {
    int64_t kept = 0, at;
    for (int64_t k = 0; k < *count; k++) {
        int64_t far = meeting_between(meetings[k], place);
        if (far < apart && meetings[k].cost <= place.cost) return;
    }
    for (int64_t k = 0; k < *count; k++)
        if (meeting_between(meetings[k], place) >= apart) meetings[kept++] = meetings[k];
    for (at = kept; at > 0 && meetings[at - 1].cost > place.cost;) at--;
    if (at < MEETINGS) {
        if (kept < MEETINGS) kept++;
        memmove(meetings + at + 1, meetings + at, sizeof *meetings * (size_t)(kept - at - 1));
        meetings[at] = place;
    }
    *count = kept;
}

/* Metres that feet would slip in a plain blend while both stand: they are differently far apart in the
   two clips, or the other one is in front. */
static double meeting_slip(const meeting_clips *clips, int64_t ahead) {
    int64_t length = clips->table->length, stride = clips->stride;
    const double *leaves = clips->table->weights + ML_MOST_WAYS * length, *enters = leaves + length;
    double at[2] = {0.0, 0.0}, least[2] = {0.0, 0.0}, most[2] = {0.0, 0.0};
    for (int64_t t = stride; t < length; t += stride) {
        int bits = clips->stands[ahead + t];
        double left = leaves[t] * (double)(bits & 1) + enters[t] * (double)(bits >> 2 & 1);
        double right = leaves[t] * (double)(bits >> 1 & 1) + enters[t] * (double)(bits >> 3 & 1);
        double change = ml_min(left, right) * (enters[t] - enters[t - stride]);
        for (int c = 0; c < 2; c++) {
            at[c] += change * clips->feet[2 * (ahead + t) + c];
            least[c] = ml_min(least[c], at[c]);
            most[c] = ml_max(most[c], at[c]);
        }
    }
    return ml_over_ground(most[0] - least[0], most[1] - least[1]);
}

/* What a plain blend would lose, its windows `ahead` frames after those asked for, by differences
   along the way. */
static double meeting_loss(const meeting_clips *clips, int64_t ahead) {
    int64_t length = clips->table->length;
    const double *leaves = clips->table->weights + ML_MOST_WAYS * length, *enters = leaves + length;
    double posture = 0.0, velocity = 0.0, part = (double)clips->stride / (double)length;
    for (int64_t t = 0; t < length; t += clips->stride) {
        double weight = part * leaves[t] * enters[t];
        posture += weight * clips->posture[ahead + t];
        velocity += weight * clips->velocity[ahead + t];
    }
    return ML_NATURAL_POSTURE * sqrt(posture) / clips->movement +
           ML_NATURAL_VELOCITY * sqrt(velocity) / clips->speed +
           MEETING_SLIP * meeting_slip(clips, ahead);
}

/* All places whose frames add up to `sum`. */
static void meeting_try_sum(const meeting_clips *clips, int64_t sum, int64_t *count,
                            ml_meeting *meetings) {
    const ml_table *table = clips->table;
    int64_t length = table->length, stride = clips->stride, meets = clips->target - sum;
    int64_t first = clips->target_first > meets ? clips->target_first - meets : 0;
    int64_t end = clips->source_end - clips->source;
    int64_t apart = (int64_t)(MEETING_APART_S * table->fps) + 1;
    if (clips->target_end - meets < end) end = clips->target_end - meets;
    first = (first + stride - 1) / stride * stride;
    for (int64_t i = first; i < end; i += stride) {
        const double *a = clips->mine + 3 * i;
        const double *b = clips->theirs + 3 * (meets + i - clips->target_first);
        double square = 0.0;
        for (int c = 0; c < 3; c++) square += ml_square(a[c] - b[c]);
        meeting_stance(clips, i, clips->source + i, meets + i);
        clips->posture[i] = meeting_apart(table, clips->source + i, meets + i);
        clips->velocity[i] = square * ml_square(table->fps);
    }
    for (int64_t ahead = first; ahead + length <= end && ahead <= clips->most; ahead += stride) {
        int64_t sooner = sum - ahead;
        if (sooner < -clips->later || ahead + (sooner > 0 ? sooner : 0) > clips->most) continue;
        if ((ahead == 0 && sooner == 0) || !ml_table_has_window(table, clips->source + ahead) ||
            !ml_table_has_window(table, clips->target - sooner))
            continue;
        ml_meeting place = {ahead, sooner, meeting_loss(clips, ahead)};
        meeting_keep(place, apart, count, meetings);
    }
}

int64_t ml_meeting_find(const ml_table *table, const ml_table_pieces *work, int64_t source,
                        int64_t target, const double *reference, int64_t most, int64_t later,
                        ml_meeting *meetings) {
    int64_t widest = (ML_TABLE_JOINED - 1) * table->length, count = 0;
    int64_t left = ml_table_clip_at(table, source), entered = ml_table_clip_at(table, target);
    if (later > widest / 2) later = widest / 2;
    if (most > widest - later) most = widest - later;
    meeting_clips clips = {
        .table = table, .source = source, .target = target, .most = most, .later = later};
    clips.source_end = source + most + table->length;
    if (clips.source_end > table->starts[left + 1]) clips.source_end = table->starts[left + 1];
    clips.target_first = target - most;
    if (clips.target_first < table->starts[entered]) clips.target_first = table->starts[entered];
    clips.target_end = target + later + table->length;
    if (clips.target_end > table->starts[entered + 1])
        clips.target_end = table->starts[entered + 1];
    int64_t stride = (int64_t)(table->fps / MEETING_RATE), rows = ML_TABLE_JOINED * table->length;
    clips.stride = stride > 1 ? stride : 1;
    clips.mine = work->steps;
    clips.theirs = clips.mine + 3 * rows;
    clips.posture = clips.theirs + 3 * rows;
    clips.velocity = clips.posture + rows;
    clips.feet = clips.velocity + rows;
    clips.stands = work->stands;
    double stature = ml_max(reference[0], 1e-6);
    clips.movement = reference[1] + ML_NATURAL_STILL * stature;
    clips.speed = reference[2] + ML_NATURAL_SLOW * sqrt(ML_GRAVITY * stature);
    meeting_steps(table->rows, clips.source, clips.source_end, clips.mine);
    meeting_steps(table->rows, clips.target_first, clips.target_end, clips.theirs);
    for (int64_t sum = -(later / clips.stride) * clips.stride; sum <= most; sum += clips.stride)
        meeting_try_sum(&clips, sum, &count, meetings);
    return count;
}
