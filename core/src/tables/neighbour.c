/* Neighbours: the captured windows whose start, end and displacement are most like those asked for. */

#include <stdlib.h>

#include "../math/simd4.h"
#include "../math/simd8.h"
#include "context.h"

/* Offsets that a context looks at. */
#define NEIGHBOUR_LOOKS 3
/* Codes whose distances are made together. */
#define NEIGHBOUR_CODES 16

/* Members whose codes are fetched together: memory is what a search waits for. */
#define NEIGHBOUR_BLOCK 16

/* One side of a question: steps of codes, and what a squared step of each weighs. Sums go by
   sixteen codes; the last sixteen count only those that were not counted yet. */
typedef struct {
    int counts;
    const float *steps, *weight;
    float last_weight[NEIGHBOUR_CODES];
} neighbour_side;

typedef struct {
    neighbour_side start, end;
    int way_counts;
    const float *way, *way_weight;
} neighbour_question;

/* The nearest found so far, sorted, and the largest of their distances. */
typedef struct {
    int64_t count;
    int64_t *rows;
    float *squared;
} neighbour_found;

/* `weight` (code - asked)^2 of eight codes. */
static inline ml_lanes neighbour_terms(const int8_t *codes, const float *asked,
                                       const float *weight) {
    ml_lanes step = ml_lanes_subtract(ml_lanes_load_codes(codes), ml_lanes_load(asked));
    return ml_lanes_multiply(ml_lanes_multiply(ml_lanes_load(weight), step), step);
}

/* The same of sixteen codes, summed in four parts. */
static inline ml_four neighbour_quarters(const int8_t *codes, const float *asked,
                                         const float *weight) {
    return ml_lanes_fold(
        ml_lanes_add(neighbour_terms(codes, asked, weight),
                     neighbour_terms(codes + ML_LANES, asked + ML_LANES, weight + ML_LANES)));
}

/* Squared distance of codes, sixteen or more, from what is asked for. */
static inline float neighbour_apart(int64_t n, const int8_t *codes, const neighbour_side *asked) {
    ml_four sum = {0.0f};
    for (int64_t c = 0; c + NEIGHBOUR_CODES <= n; c += NEIGHBOUR_CODES)
        sum += neighbour_quarters(codes + c, asked->steps + c, asked->weight + c);
    if (n % NEIGHBOUR_CODES) {
        int64_t c = n - NEIGHBOUR_CODES;
        sum += neighbour_quarters(codes + c, asked->steps + c, asked->last_weight);
    }
    return ml_quad_sum(sum);
}

/* The same of a head, of one side or of both. */
static inline float neighbour_head_apart(int64_t n, const int8_t *codes, const float *head,
                                         const float *weight) {
    if (n == NEIGHBOUR_CODES) return ml_quad_sum(neighbour_quarters(codes, head, weight));
    return ml_quad_sum(ml_lanes_fold(neighbour_terms(codes, head, weight)));
}

/* Squared distance of a centre from a point, along the columns that count. */
static inline float neighbour_from_centre(int64_t n, const float *centre, const float *point,
                                          const float *weight) {
    ml_quad low = {0.0f}, high = {0.0f};
    int64_t d = 0;
    for (; d + 8 <= n; d += 8) {
        ml_quad step = ml_quad_load(centre + d) - ml_quad_load(point + d);
        ml_quad other = ml_quad_load(centre + d + 4) - ml_quad_load(point + d + 4);
        low += ml_quad_load(weight + d) * step * step;
        high += ml_quad_load(weight + d + 4) * other * other;
    }
    float rest = 0.0f;
    for (; d < n; d++) {
        float step = centre[d] - point[d];
        rest += weight[d] * step * step;
    }
    return ml_quad_sum(low + high) + rest;
}

/* A context in steps of its components, and what a squared step weighs; 0 where there is none. */
static void neighbour_place(int64_t n_codes, int64_t n_columns, const float *context,
                            const float *mean, const float *axes, const float *steps, float *code,
                            float *weight) {
    for (int64_t c = 0; c < n_codes; c++) {
        code[c] = weight[c] = 0.0f;
        if (!context) continue;
        const float *axis = axes + n_columns * c;
        ml_quad low = {0.0f}, high = {0.0f};
        int64_t d = 0;
        for (; d + 8 <= n_columns; d += 8) {
            ml_quad away = ml_quad_load(context + d) - ml_quad_load(mean + d);
            ml_quad other = ml_quad_load(context + d + 4) - ml_quad_load(mean + d + 4);
            low += ml_quad_load(axis + d) * away;
            high += ml_quad_load(axis + d + 4) * other;
        }
        float rest = 0.0f;
        for (; d < n_columns; d++) rest += axis[d] * (context[d] - mean[d]);
        code[c] = (ml_quad_sum(low + high) + rest) / steps[c];
        weight[c] = steps[c] * steps[c];
    }
}

void ml_neighbour_ask(const ml_window_index *index, const float *start, const float *end,
                      const float *way, float *question) {
    int64_t n = index->n_codes;
    float *ways = question + 4 * n, step = index->way_step[0];
    neighbour_place(n, index->n_columns, start, index->start_mean, index->start_axes,
                    index->start_steps, question, question + 2 * n);
    neighbour_place(n, index->n_columns, end, index->end_mean, index->end_axes, index->end_steps,
                    question + n, question + 3 * n);
    for (int c = 0; c < 3; c++) {
        ways[c] = way ? way[c] / step : 0.0f;
        ways[3 + c] = way ? step * step : 0.0f;
    }
}

/* One side of a question in scratch memory; it counts where it was given. */
static neighbour_side neighbour_side_of(int64_t n, const float *steps, const float *weight,
                                        int counts) {
    neighbour_side side = {counts, steps, weight, {0.0f}};
    int64_t first = n - NEIGHBOUR_CODES, counted = n / NEIGHBOUR_CODES * NEIGHBOUR_CODES;
    for (int64_t c = counted; c < n; c++) side.last_weight[c - first] = weight[c];
    return side;
}

/* The question among the centres of lists, metres, and which of its numbers count. */
static void neighbour_among_centres(const neighbour_question *asked, const ml_window_lists *lists,
                                    float *point, float *weight) {
    const float *steps[3] = {asked->start.steps, asked->end.steps, asked->way};
    const float *weights[3] = {asked->start.weight, asked->end.weight, asked->way_weight};
    const int wanted[3] = {lists->by_start, lists->by_end, lists->by_way};
    for (int side = 0; side < 3; side++) {
        if (!wanted[side]) continue;
        int n = side < 2 ? ML_INDEX_LEADING : 3;
        for (int c = 0; c < n; c++) {
            int counts = weights[side][c] > 0.0f;
            *point++ = counts ? steps[side][c] * sqrtf(weights[side][c]) : 0.0f;
            *weight++ = counts ? 1.0f : 0.0f;
        }
    }
}

/* The part of the question that heads answer, and what a squared step of each weighs. */
static void neighbour_head(const neighbour_question *asked, const ml_window_lists *lists,
                           float *head, float *weight) {
    for (int side = 0; side < 2; side++) {
        const neighbour_side *of = side == 0 ? &asked->start : &asked->end;
        if (!(side == 0 ? lists->by_start : lists->by_end)) continue;
        for (int c = 0; c < ML_INDEX_HEAD; c++) {
            *head++ = of->steps[c];
            *weight++ = of->weight[c];
        }
    }
}

/* Into the sorted list, whose last one goes. */
static inline void neighbour_insert(int64_t row, float d, int64_t count, int64_t *rows,
                                    float *squared) {
    int64_t at = count - 1;
    for (; at > 0 && squared[at - 1] > d; at--) {
        rows[at] = rows[at - 1];
        squared[at] = squared[at - 1];
    }
    rows[at] = row;
    squared[at] = d;
}

/* Nothing found yet. */
static void neighbour_clear(int64_t count, int64_t *rows, float *squared) {
    for (int64_t n = 0; n < count; n++) {
        rows[n] = -1;
        squared[n] = HUGE_VALF;
    }
}

/* Put those of the centres from `first` to `last` that are near enough into the sorted list. */
static void neighbour_keep(const float *centres, int64_t width, int64_t first, int64_t last,
                           const float *point, const float *weight, int64_t count, int64_t *near,
                           float *far) {
    for (int64_t k = first; k < last; k++) {
        float squared = neighbour_from_centre(width, centres + width * k, point, weight);
        if (squared < far[count - 1]) neighbour_insert(k, squared, count, near, far);
    }
}

/* Whether there is no better one closer than `apart`; worse ones that close are taken out. */
static int neighbour_is_clear(int64_t row, float d, int64_t apart, neighbour_found found) {
    int64_t kept = 0;
    for (int64_t n = 0; n < found.count; n++)
        if (found.rows[n] >= 0 && found.squared[n] <= d && llabs(found.rows[n] - row) < apart)
            return 0;
    for (int64_t n = 0; n < found.count; n++)
        if (found.rows[n] >= 0 && llabs(found.rows[n] - row) >= apart) {
            found.rows[kept] = found.rows[n];
            found.squared[kept++] = found.squared[n];
        }
    neighbour_clear(found.count - kept, found.rows + kept, found.squared + kept);
    return 1;
}

/* Have the codes of windows fetched, many at a time: one after the other, each would be waited
   for. Reads are volatile to be made at all. */
static void neighbour_fetch(const ml_window_index *index, const neighbour_question *asked, int n,
                            const int64_t *rows) {
    const volatile int8_t *starts = index->starts, *ends = index->ends;
    const volatile int16_t *ways = index->ways;
    int64_t n_codes = index->n_codes, later = index->length - 1;
    for (int k = 0; k < n; k++) {
        if (asked->way_counts) (void)ways[3 * rows[k]];
        if (asked->start.counts) (void)starts[n_codes * rows[k]];
        if (asked->end.counts) (void)ends[n_codes * (rows[k] + later)];
    }
}

/* Squared distance of the window at a row from what is asked for. */
static inline float neighbour_distance(const ml_window_index *index,
                                       const neighbour_question *asked, int64_t row) {
    int64_t n = index->n_codes;
    float d = 0.0f;
    for (int c = 0; c < 3 && asked->way_counts; c++) {
        float step = (float)index->ways[3 * row + c] - asked->way[c];
        d += asked->way_weight[c] * step * step;
    }
    if (asked->start.counts) d += neighbour_apart(n, index->starts + n * row, &asked->start);
    if (asked->end.counts)
        d += neighbour_apart(n, index->ends + n * (row + index->length - 1), &asked->end);
    return d;
}

/* Try every member from `first` to `stop`; how many of them might be taken is added to `seen`. */
static ml_status neighbour_scan(const ml_window_index *index, const ml_window_lists *lists,
                                const neighbour_question *asked, const float *head,
                                const float *head_weight, int64_t first, int64_t stop,
                                int64_t apart, int64_t n_spans, const int64_t *spans,
                                neighbour_found found, int64_t *seen) {
    float bound = found.squared[found.count - 1], least[NEIGHBOUR_BLOCK];
    int64_t rows[NEIGHBOUR_BLOCK], n_head = lists->n_head;
    while (first < stop) {
        int64_t end = stop - first > NEIGHBOUR_BLOCK ? first + NEIGHBOUR_BLOCK : stop;
        int n_rows = 0;
        for (; first < end; first++) {
            int64_t row = (int64_t)lists->members[first], last = row + index->length - 1;
            int free = 1;
            for (int64_t k = 0; k < n_spans; k++)
                if (row <= spans[2 * k + 1] && last >= spans[2 * k]) free = 0;
            if (!free) continue;
            *seen += 1;
            /* Most are given up here, and the rest of their codes is never fetched. */
            float d =
                neighbour_head_apart(n_head, lists->heads + n_head * first, head, head_weight);
            if (d >= bound) continue;
            if (last >= index->n_rows) return ML_BAD_SIZE;
            least[n_rows] = d;
            rows[n_rows++] = row;
        }
        neighbour_fetch(index, asked, n_rows, rows);
        for (int k = 0; k < n_rows; k++) {
            if (least[k] >= bound) continue;
            float d = neighbour_distance(index, asked, rows[k]);
            if (!(d < bound)) continue;
            if (apart <= 1 || neighbour_is_clear(rows[k], d, apart, found))
                neighbour_insert(rows[k], d, found.count, found.rows, found.squared);
            bound = found.squared[found.count - 1];
        }
    }
    return ML_OK;
}

/* Whether the lists have the columns that their sides say, and follow one another. */
static int neighbour_fits(const ml_window_index *index, const ml_window_lists *lists) {
    int64_t sides = (lists->by_start ? 1 : 0) + (lists->by_end ? 1 : 0);
    return index->length > 0 && index->n_codes >= ML_INDEX_LEADING && lists->n_groups >= 0 &&
           lists->n_lists >= 0 && lists->n_members >= 0 &&
           lists->width == ML_INDEX_LEADING * sides + (lists->by_way ? 3 : 0) &&
           lists->n_head == ML_INDEX_HEAD * sides;
}

static inline int neighbour_is_range(int64_t first, int64_t stop, int64_t end) {
    return 0 <= first && first <= stop && stop <= end;
}

ml_status ml_neighbour_search(const ml_window_index *index, const ml_window_lists *lists,
                              const float *start, const float *end, const float *way, int64_t apart,
                              int64_t n_spans, const int64_t *spans, int64_t most_groups,
                              int64_t most_lists, int64_t enough, int64_t *near, float *scratch,
                              int64_t count, int64_t *rows, float *squared, int64_t *n_found) {
    int64_t n = index->n_codes, seen = 0;
    if (count < 1 || most_groups < 1 || most_lists < 1 || !neighbour_fits(index, lists))
        return ML_BAD_SIZE;
    ml_neighbour_ask(index, start, end, way, scratch);
    neighbour_question asked = {
        neighbour_side_of(n, scratch, scratch + 2 * n, start != NULL),
        neighbour_side_of(n, scratch + n, scratch + 3 * n, end != NULL),
        way != NULL,
        scratch + 4 * n,
        scratch + 4 * n + 3,
    };
    float *point = scratch + 4 * n + 6, *weight = point + lists->width;
    float *head = weight + lists->width, *head_weight = head + lists->n_head;
    float *far_groups = head_weight + lists->n_head, *far = far_groups + most_groups;
    int64_t *near_groups = near;
    near += most_groups;
    neighbour_among_centres(&asked, lists, point, weight);
    neighbour_head(&asked, lists, head, head_weight);
    if (most_groups > lists->n_groups) most_groups = lists->n_groups;
    if (most_lists > lists->n_lists) most_lists = lists->n_lists;
    neighbour_clear(most_groups, near_groups, far_groups);
    neighbour_clear(most_lists, near, far);
    neighbour_clear(count, rows, squared);
    if (most_groups > 0)
        neighbour_keep(lists->groups, lists->width, 0, lists->n_groups, point, weight, most_groups,
                       near_groups, far_groups);
    for (int64_t g = 0; g < most_groups && near_groups[g] >= 0 && most_lists > 0; g++) {
        const int64_t *range = lists->group_first + near_groups[g];
        if (!neighbour_is_range(range[0], range[1], lists->n_lists)) return ML_BAD_SIZE;
        neighbour_keep(lists->centres, lists->width, range[0], range[1], point, weight, most_lists,
                       near, far);
    }
    neighbour_found found = {count, rows, squared};
    for (int64_t k = 0; k < most_lists && near[k] >= 0; k++) {
        if (seen >= enough && rows[count - 1] >= 0) break;
        const int64_t *range = lists->list_first + near[k];
        if (!neighbour_is_range(range[0], range[1], lists->n_members)) return ML_BAD_SIZE;
        ml_status status = neighbour_scan(index, lists, &asked, head, head_weight, range[0],
                                          range[1], apart, n_spans, spans, found, &seen);
        if (status != ML_OK) return status;
    }
    if (rows[count - 1] < 0) {
        neighbour_clear(count, rows, squared);
        ml_status status = neighbour_scan(index, lists, &asked, head, head_weight, 0,
                                          lists->n_members, apart, n_spans, spans, found, &seen);
        if (status != ML_OK) return status;
    }
    *n_found = 0;
    while (*n_found < count && rows[*n_found] >= 0) *n_found += 1;
    return ML_OK;
}

ml_status ml_neighbour_between(const ml_window_index *index, const ml_window_lists *lists,
                               const ml_context_frames *seen, int64_t first, int64_t last,
                               int64_t apart, int64_t most_groups, int64_t most_lists,
                               int64_t enough, float *moments, int64_t *near, float *scratch,
                               int64_t count, int64_t *rows, float *squared, int64_t *n_found) {
    float *end = moments + index->n_columns;
    if (index->n_columns != 3 * NEIGHBOUR_LOOKS * seen->n_compared ||
        !ml_context_fits(seen, NEIGHBOUR_LOOKS, seen->before) ||
        !ml_context_fits(seen, NEIGHBOUR_LOOKS, seen->after))
        return ML_BAD_SIZE;
    ml_status status = ml_context_of(seen, first, NEIGHBOUR_LOOKS, seen->before, moments);
    if (status == ML_OK) status = ml_context_of(seen, last, NEIGHBOUR_LOOKS, seen->after, end);
    if (status != ML_OK) return status;
    return ml_neighbour_search(index, lists, moments, end, NULL, apart, 0, NULL, most_groups,
                               most_lists, enough, near, scratch, count, rows, squared, n_found);
}
