/* Support and travel of a table's transitions: their feet and their travel against those of the windows
   that they are made of, as check_support.c has it. */

#include <string.h>

#include "table.h"

/* Seconds of the clips around a transition and around its windows: bodies stand at heights that are
   found within this time. */
#define SUPPORT_AROUND_S 1.0
/* Seconds of a window's clip before and after it whose velocities are measured, and in which soles are
   looked at: moments around the mapped time. */
#define SUPPORT_MOMENTS_S 0.1
#define SUPPORT_LOWS_S 0.5
/* Seconds before a transition whose slips count: what comes later tells where the floor is. And clips at
   most that play there and in it. */
#define SUPPORT_BACK_S 1.0
#define SUPPORT_TRACKS 24
/* Seconds. Slopes and travel of a frame are measured over less before and after it. */
#define SUPPORT_SLOPES_S 0.15

/* A transition of a live character may do this part of every limit: the check of the whole motion
   reads clips, not rows of single precision, and another transition may follow. */
#define SUPPORT_LIVE 0.9
/* m/s. A low point of a foot that is slower may hold the body. */
#define SUPPORT_HOLDS 0.8
/* How many times as far off free fall as in the windows the body may be. */
#define SUPPORT_HOVERS 1.25

ml_check_series ml_table_series(ml_memory *memory, int64_t most) {
    ml_check_series series = {.n_frames = most};
    series.heading = ML_TAKE(memory, double, most);
    series.soles = ML_TAKE(memory, double, 12 * most);
    series.pelvis = ML_TAKE(memory, double, 3 * most);
    series.mass = ML_TAKE(memory, double, 3 * most);
    return series;
}

static ml_support support_of(ml_memory *memory, const ml_check_series *series) {
    int64_t most = series->n_frames;
    ml_support support = {.n_frames = most, .heading = series->heading, .soles = series->soles};
    support.velocity = ML_TAKE(memory, double, 30 * most);
    support.share = ML_TAKE(memory, double, 2 * most);
    support.travel = ML_TAKE(memory, double, 2 * most);
    support.slowest = ML_TAKE(memory, int8_t, 2 * most);
    support.falls = ML_TAKE(memory, uint8_t, most);
    return support;
}

static int64_t support_around(const ml_table *table) {
    return ml_check_frames(SUPPORT_AROUND_S, table->fps, 1);
}

static int64_t support_back(const ml_table *table) {
    return ml_check_frames(SUPPORT_BACK_S, table->fps, 1);
}

void ml_table_lay_out_support(const ml_table *table, ml_memory *memory, ml_table_support *out) {
    int64_t length = table->length, most = support_back(table) + length + 2 * support_around(table);
    int64_t told = SUPPORT_TRACKS * (length + support_back(table));
    out->own = ml_table_series(memory, most);
    out->clip = ml_table_series(memory, most);
    out->clip.mass = NULL; /* where a clip's body falls is known */
    out->planned = ml_table_series(memory, most);
    out->own_support = support_of(memory, &out->own);
    out->clip_support = support_of(memory, &out->clip);
    out->levels = ML_TAKE(memory, double, most);
    out->at = ML_TAKE(memory, double, most);
    out->feet = ML_TAKE(memory, double, 36 * told);
    out->travel = ML_TAKE(memory, double, 18 * told);
    out->rates = ML_TAKE(memory, double, told);
    out->lows = ML_TAKE(memory, double, 4 * told);
    out->ways = ML_TAKE(memory, double, 10 * (most + 1));
    out->judged = ML_TAKE(memory, uint8_t, most);
}

/* Where a body stands, and its heading. */
typedef struct {
    double x, z, sine, cosine;
} support_place;

/* Some points, seen from a body, in the world. points, out: (.., 3) */
static void support_put(const support_place *place, int64_t n, const int64_t *which,
                        const float *points, double *out) {
    for (int64_t k = 0; k < n; k++) {
        const float *seen = points + 3 * which[k];
        double right = (double)seen[0], ahead = (double)seen[2], *at = out + 3 * which[k];
        at[0] = place->x + place->cosine * right + place->sine * ahead;
        at[1] = (double)seen[1];
        at[2] = place->z + place->cosine * ahead - place->sine * right;
    }
}

/* Captured rows as frames of a series, moved so that row `meets` is at a heading and over a point of
   the ground. Headings from frame `from` to `to` only; places over the ground there and around, as far
   as slopes reach; elsewhere heights alone. joints: (n_joints, 3) scratch memory */
static void support_rows(const ml_table *table, int64_t first, int64_t n, int64_t meets,
                         double heading, const double *root, double *joints, int64_t from,
                         int64_t to, const ml_check_series *out, int64_t t) {
    static const int64_t soles[4] = {0, 1, 2, 3};
    const ml_rows *rows = table->rows;
    const ml_check_rig *rig = table->check_rig;
    const double *there = rows->ground + 2 * meets;
    double turn = heading - rows->heading[meets], c, s;
    int64_t far = ml_check_frames(SUPPORT_SLOPES_S, table->fps, 1);
    ml_sincos(turn, &s, &c);
    for (int64_t row = first; row < first + n; row++, t++) {
        support_place place = {0.0, 0.0, 0.0, 1.0};
        int moves = from - far <= t && t < to + far;
        if (moves) {
            double dx = rows->ground[2 * row] - there[0], dz = rows->ground[2 * row + 1] - there[1];
            place.x = root[0] + c * dx + s * dz, place.z = root[2] + c * dz - s * dx;
            ml_sincos(rows->heading[row] + turn, &place.sine, &place.cosine);
        }
        const float *body = rows->body + 3 * rows->n_joints * row;
        support_put(&place, 4, soles, rows->points + 12 * row, out->soles + 12 * t);
        if (!out->mass && !moves) continue;
        support_put(&place, 1, rig->checked, body, joints);
        support_put(&place, 6, rig->legs, body, joints);
        support_put(&place, 2 * rig->n_across, rig->across, body, joints);
        ml_check_body(rig, t, joints, out);
        if (t < from || t >= to) continue;
        if (t == from && t > 0) out->heading[t - 1] = rows->heading[row] + turn;
        ml_check_heading(rig, t, joints, out);
    }
}

/* Length of thigh and shank, metres, from positions of joints. */
static double support_leg(const ml_check_rig *rig, const double *joints) {
    double thigh[3], shank[3];
    ml_between(joints + 3 * rig->legs[0], joints + 3 * rig->legs[1], thigh);
    ml_between(joints + 3 * rig->legs[1], joints + 3 * rig->legs[2], shank);
    return ml_length(thigh) + ml_length(shank);
}

/* Rows of clips before and after some rows, at most n. */
static void support_span(const ml_table *table, int64_t most, int64_t first, int64_t last,
                         int64_t *ahead, int64_t *after) {
    int64_t clips[2] = {ml_table_clip_at(table, first), ml_table_clip_at(table, last)};
    *ahead = first - table->starts[clips[0]];
    *after = table->starts[clips[1] + 1] - 1 - last;
    *ahead = *ahead < most ? *ahead : most;
    *after = *after < most ? *after : most;
}

void ml_table_copy_series(const ml_check_series *from, int64_t first, int64_t n,
                          const ml_check_series *to, int64_t t) {
    size_t size = sizeof(double) * (size_t)n;
    memmove(to->heading + t, from->heading + first, size);
    memmove(to->soles + 12 * t, from->soles + 12 * first, 12 * size);
    memmove(to->pelvis + 3 * t, from->pelvis + 3 * first, 3 * size);
    memmove(to->mass + 3 * t, from->mass + 3 * first, 3 * size);
}

ml_status ml_table_measure(const ml_table *table, const ml_frames *frames, int64_t frame,
                           double *positions, double *world, const ml_check_series *out,
                           int64_t t) {
    const ml_leg_rig *rig = table->rig;
    int64_t joints = frames->n_joints;
    ml_status status =
        ml_chain_pose(1, joints, rig->parents, rig->offsets, joints, NULL, frames->root + 3 * frame,
                      frames->quats + 4 * joints * frame, positions, world);
    if (!status)
        status =
            ml_chain_soles(1, joints, rig->legs, rig->soles, positions, world, out->soles + 12 * t);
    if (status || table->check_rig->n_legs != 2) return status;
    ml_check_body(table->check_rig, t, positions, out);
    ml_check_heading(table->check_rig, t, positions, out);
    return ML_OK;
}

/* Frames before made ones that were shown or planned, as a series. */
static ml_status support_planned(const ml_table *table, ml_table_pieces *work,
                                 const ml_table_planned *planned) {
    const ml_check_series *out = &work->support.planned;
    int64_t most = support_back(table) + support_around(table), end = planned->first;
    int64_t first = end > most ? end - most : 0, shown = planned->shown->n_frames;
    if (end < 0 || end > planned->frames->n_frames) return ML_BAD_SIZE;
    shown = shown < end ? shown : end;
    if (shown > first) ml_table_copy_series(planned->shown, first, shown - first, out, 0);
    for (int64_t t = shown > first ? shown : first; t < end; t++) {
        ml_status status = ml_table_measure(table, planned->frames, t, work->positions, work->world,
                                            out, t - first);
        if (status) return status;
    }
    work->support.planned.n_frames = end - first;
    return ML_OK;
}

/* Made frames, which are `before` and on in the pieces' series, with what goes before them and the clip
   after them. Where they begin in the result, and how many frames before them slips may begin in. */
static ml_status support_own(const ml_table *table, ml_table_pieces *work, int is_planned,
                             int64_t first, int64_t last, const ml_frames *made, int64_t before,
                             double leg, int64_t *begin, int64_t *back) {
    ml_table_support *at = &work->support;
    int64_t n = made->n_frames, end = n - 1, ahead, after;
    support_span(table, support_around(table), is_planned ? last : first, last, &ahead, &after);
    if (is_planned) {
        ahead = at->planned.n_frames;
        ml_table_copy_series(&at->planned, 0, ahead, &at->own, 0);
    } else {
        support_rows(table, first - ahead, ahead, first, made->heading[0], made->root,
                     work->measuring, ahead, ahead + n, &at->own, 0);
    }
    ml_table_copy_series(&work->series, before, n, &at->own, ahead);
    support_rows(table, last + 1, after, last, made->heading[end], made->root + 3 * end,
                 work->measuring, ahead, ahead + n, &at->own, ahead + n);
    at->own.n_frames = at->own_support.n_frames = ahead + n + after;
    *begin = ahead;
    *back = is_planned ? support_back(table) : 0;
    *back = *back < ahead ? *back : ahead;
    return ml_support_measure(&at->own, table->fps, leg, ahead - *back, ahead + n, at->levels,
                              &at->own_support);
}

/* What the clip of a window tells of the frames of a result, `first` to `first + n - 1`, in which it
   plays: row `window + t` in frame `first + t`. */
static ml_status support_window(const ml_table *table, ml_table_support *at, double *joints,
                                int64_t way, int64_t window, int64_t first, int64_t n,
                                const uint8_t *plays) {
    int64_t near = ml_check_frames(SUPPORT_MOMENTS_S, table->fps, 1);
    int64_t lows = ml_check_frames(SUPPORT_LOWS_S, table->fps, 1);
    int64_t from = 0, to = n, ahead, after;
    while (from < to && !plays[from]) from++;
    while (to > from && !plays[to - 1]) to--;
    if (from == to) return ML_BAD_SIZE;
    int64_t begin = window + from, end = window + to;
    support_span(table, 2 * lows, begin, end - 1, &ahead, &after);
    int64_t before = ahead < lows ? ahead : lows, behind = after < lows ? after : lows;
    ahead = ahead < 2 * lows - behind ? ahead : 2 * lows - behind;
    after = after < 2 * lows - before ? after : 2 * lows - before;
    int64_t rows = ahead + end - begin + after;
    int64_t start = ahead > near ? ahead - near : 0;
    int64_t stop = after > near ? rows - after + near : rows;
    double root[3] = {table->rows->ground[2 * begin], 0.0, table->rows->ground[2 * begin + 1]};
    at->clip.n_frames = at->clip_support.n_frames = rows;
    support_rows(table, begin - ahead, rows, begin, table->rows->heading[begin], root, joints,
                 start, stop, &at->clip, 0);
    ml_support_moves(&at->clip, table->fps, start, stop, &at->clip_support);
    memcpy(at->clip_support.slowest + 2 * start, table->slowest + 2 * (begin - ahead + start),
           (size_t)(2 * (stop - start)));
    for (int64_t t = 0; t < n; t++)
        at->at[first + t] = plays[t] ? (double)(ahead + t - from) : (double)NAN;
    return ml_support_told(&at->clip_support, table->fps, &at->own_support, table->fps, first,
                           first + n, at->at, at->feet + 36 * n * way, at->travel + 18 * n * way,
                           at->rates + n * way, at->lows + 4 * n * way);
}

/* A row that plays in frame t, and the rows after it in those after it, where made frames begin with
   frame 0. */
static const int64_t *support_rows_of(const ml_table_planned *planned, int64_t t) {
    if (t >= 0) return planned->made + ML_MOST_SHARES * t;
    return planned->rows + ML_MOST_SHARES * (planned->first + t);
}

/* A clip that plays, and the row that it has, or would have, in frame 0. */
typedef struct {
    int64_t clip, row;
} support_track;

/* Clips that play in made frames and in `back` before them, the last ones first; how many.
   tracks: (SUPPORT_TRACKS) */
static int64_t support_tracks(const ml_table *table, const ml_table_planned *planned, int64_t back,
                              support_track *tracks) {
    int64_t n = 0;
    for (int64_t t = table->length - 1; t >= -back; t--)
        for (int64_t k = 0; k < ML_MOST_SHARES; k++) {
            int64_t row = support_rows_of(planned, t)[k], i = 0;
            if (row < 0) break;
            int64_t clip = ml_table_clip_at(table, row);
            while (i < n && (tracks[i].row != row - t || tracks[i].clip != clip)) i++;
            if (i == n && n < SUPPORT_TRACKS) tracks[n++] = (support_track){clip, row - t};
        }
    return n;
}

/* Whether a clip plays in frame t. */
static uint8_t support_has(const ml_table *table, const ml_table_planned *planned, int64_t t,
                           const support_track *track) {
    const int64_t *rows = support_rows_of(planned, t);
    int64_t row = track->row + t;
    if (row < table->starts[track->clip] || row >= table->starts[track->clip + 1]) return 0;
    for (int64_t k = 0; k < ML_MOST_SHARES && rows[k] >= 0; k++)
        if (rows[k] == row) return 1;
    return 0;
}

/* What the clips tell that play in made frames and in `back` before them; how many. Slips that begin
   there count if they go on. */
static ml_status support_tell(const ml_table *table, ml_table_pieces *work,
                              const ml_table_planned *planned, int64_t begin, int64_t back,
                              int64_t *n_told) {
    ml_table_support *at = &work->support;
    support_track tracks[SUPPORT_TRACKS];
    int64_t n = back + table->length;
    *n_told = support_tracks(table, planned, back, tracks);
    for (int64_t i = 0; i < *n_told; i++) {
        for (int64_t t = 0; t < n; t++)
            at->judged[t] = support_has(table, planned, t - back, tracks + i);
        ml_status status = support_window(table, at, work->measuring, i, tracks[i].row - back,
                                          begin - back, n, at->judged);
        if (status) return status;
    }
    for (int64_t t = -back; t < 0; t++)
        at->judged[begin + t] = planned->changed[planned->first + t] ? ML_SUPPORT_SEEN : 0;
    memset(at->judged + begin, 1, (size_t)table->length);
    return ML_OK;
}

/* Frames in which window i of a recipe plays: those between two pinned windows are gone along, and these
   are the first and the last frame. plays: (length) */
static void support_plays(const ml_table *table, int64_t n_ways, int64_t i, int pinned,
                          uint8_t *plays) {
    int64_t length = table->length, end = length - 1;
    const double *weights = table->weights + length * (ML_MOST_WAYS * (n_ways - 1) + i);
    for (int64_t t = 0; t < length; t++) {
        int between = t > 0 && t < end;
        if (pinned) {
            plays[t] = (uint8_t)(i == 0 ? t == 0 : i == n_ways - 1 ? t == end : between);
        } else {
            plays[t] = weights[t] != 0.0;
        }
    }
}

/* Whether no low point of a foot is slow in frame t. */
static int support_is_off(const ml_support *own, int64_t t) {
    for (int f = 0; f < 2; f++) {
        int8_t k = own->slowest[2 * t + f];
        const double *v = own->velocity + 3 * (CHECK_SOLE_POINTS * (2 * t + f) + k);
        if (k >= 0 && ml_square(v[0]) + ml_square(v[2]) < ml_square(SUPPORT_HOLDS)) return 0;
    }
    return 1;
}

/* A row of a failure where the body neither stands on a slow foot nor falls freely, longer than in the
   sources; how many: the worst. `begin`: the first made frame.
   hovers: (length), how far off free fall the body is in the sources */
static int64_t support_flights(const ml_table *table, const ml_table_support *at,
                               const double *hovers, int64_t begin, double *row) {
    double worst = 0.0;
    for (int64_t t = begin, stop; t < begin + table->length; t = stop + 1) {
        double most = CHECK_HOVER_FREE;
        for (stop = t; stop < begin + table->length && support_is_off(&at->own_support, stop);
             stop++)
            most = ml_max(most, SUPPORT_HOVERS * hovers[stop - begin]);
        double gap =
            stop > t ? ml_check_gap(at->own.n_frames, at->own.mass, t, stop, table->fps, 0.0) : 0.0;
        if (gap <= most || gap - most <= worst) continue;
        worst = gap - most;
        row[0] = (double)ML_CHECK_GLIDE, row[1] = -1.0, row[2] = (double)((t + stop) / 2);
        row[3] = gap, row[4] = most;
    }
    return worst > 0.0;
}

/* Whether a point is planted in frame t of a series that has made frames from `begin` on, and the frame is
   more than a captured one, or next to such. */
static int support_is_planted(const ml_table_planned *planned, const ml_frames *made, int64_t begin,
                              int64_t t, int sole) {
    int64_t shown = planned->first - begin + t;
    if (t >= begin) return t < begin + made->n_frames && made->planted[4 * (t - begin) + sole];
    int counts = planned->changed[shown] || (shown > 0 && planned->changed[shown - 1]) ||
                 t + 1 == begin || planned->changed[shown + 1];
    return counts && planned->frames->planted[4 * shown + sole];
}

/* A row of a failure for each contact that goes on from what was shown into made frames and slides, in
   all, farther than those of the clips; how many. `begin`: the first made frame. */
static int64_t support_contacts(const ml_table *table, const ml_table_pieces *work,
                                const ml_table_planned *planned, const ml_frames *made,
                                int64_t begin, double *rows) {
    const double *slides = work->limits + ml_table_slides_at(table);
    int64_t now = planned->shown->n_frames - 1 - planned->first + begin, n_found = 0;
    for (int k = 0; k < CHECK_POINTS; k++) {
        check_contact contact = planned->contacts[k];
        int sole = ml_check_sole(k);
        int64_t t = contact.n_frames ? now + 1 : now;
        double pad[3], *row = rows + 5 * n_found;
        if (now < 0) t = contact.n_frames = 0; /* too long ago */
        check_contact was = contact;           /* before made frames */
        for (; t <= begin + made->n_frames; t++) {
            if (support_is_planted(planned, made, begin, t, sole)) {
                ml_check_touch(&contact, ml_check_point(work->support.own.soles, t, k, pad));
            } else if (t > begin) {
                break;
            } else {
                contact.n_frames = 0;
            }
            if (t <= begin) was = contact;
        }
        double before = was.n_frames ? ml_check_moved(&was) : 0.0;
        int64_t span = ml_check_span(contact.n_frames, table->fps);
        double most = ml_max(slides[ml_check_row(k) * ML_CHECK_SPANS + span], CHECK_SLIDE_FREE);
        double way = contact.n_frames >= ML_CHECK_SHORTEST_CONTACT ? ml_check_moved(&contact) : 0.0;
        if (way <= ml_max(most, before)) continue; /* or no farther than it had slid */
        row[0] = (double)ML_CHECK_CONTACT, row[1] = (double)sole, row[2] = (double)begin;
        row[3] = way, row[4] = most;
        n_found++;
    }
    return n_found;
}

ml_status ml_table_check_support(const ml_table *table, ml_table_pieces *work,
                                 const ml_table_planned *planned, int64_t n_ways,
                                 const int64_t *windows, int pinned, const ml_frames *made,
                                 int64_t before, double *found, int64_t *n_found) {
    ml_table_support *at = &work->support;
    double rows[5 * (SUPPORT_FOUND + SUPPORT_CONTACTS)];
    int64_t length = table->length, last = windows[n_ways - 1] + length - 1;
    int64_t begin = 0, back = 0, n_told = n_ways, n_rows = 0;
    if (made->n_frames != length || table->check_rig->n_legs != 2) return ML_OK;
    double leg = support_leg(table->check_rig, work->positions);
    ml_status status = planned ? support_planned(table, work, planned) : ML_OK;
    if (!status)
        status = support_own(table, work, planned != NULL, windows[0], last, made, before, leg,
                             &begin, &back);
    if (!status && planned) status = support_tell(table, work, planned, begin, back, &n_told);
    for (int64_t i = 0; i < n_ways && !planned && !status; i++) {
        support_plays(table, n_ways, i, pinned, at->judged);
        status =
            support_window(table, at, work->measuring, i, windows[i], begin, length, at->judged);
    }
    if (!planned) memset(at->judged, 1, (size_t)at->own.n_frames);
    if (!status)
        status =
            ml_support_judge(&at->own_support, table->fps, begin - back, begin + length, n_told,
                             at->feet, at->travel, at->rates, at->lows, at->judged,
                             planned ? SUPPORT_LIVE : 1.0, at->ways, SUPPORT_FOUND, rows, &n_rows);
    if (!status)
        n_rows += support_flights(table, at, work->hovers + before, begin, rows + 5 * n_rows);
    if (!status && planned)
        n_rows += support_contacts(table, work, planned, made, begin, rows + 5 * n_rows);
    for (int64_t n = 0, known = *n_found; n < n_rows && *n_found < ML_CHECK_FOUND; n++) {
        int is_new = 1;
        for (int64_t k = 0; k < known; k++)
            is_new &= found[5 * k] != rows[5 * n] || found[5 * k + 1] != rows[5 * n + 1];
        rows[5 * n + 2] = ml_max(rows[5 * n + 2] - (double)begin, 0.0);
        if (is_new) memcpy(found + 5 * (*n_found)++, rows + 5 * n, 5 * sizeof *rows);
    }
    return status;
}
