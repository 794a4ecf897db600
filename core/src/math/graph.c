/* Graphs of captured motion: shortest paths, and parts in which every node reaches every other. */

#include <math.h>

#include "../kernels.h"

/* Whether all steps lead from a node to a node. */
static int graph_is_sound(int64_t n, int64_t n_steps, const int64_t *first, const int64_t *to) {
    if (n < 0 || n_steps < 0 || first[0] != 0 || first[n] != n_steps) return 0;
    for (int64_t i = 0; i < n; i++)
        if (first[i + 1] < first[i]) return 0; /* so that all lie between the ends */
    for (int64_t e = 0; e < n_steps; e++)
        if (to[e] < 0 || to[e] >= n) return 0;
    return 1;
}

/* ---- Shortest paths (Dijkstra 1959) ---------------------------------------------------------*/

/* Nodes to be visited, the nearest first; of equally near ones that of the lower number. */
typedef struct {
    int64_t size;
    int64_t *nodes;
    int64_t *places; /* of each node in `nodes`; -1: it was not met, -2: it was visited */
    const double *distances;
} graph_heap;

static int graph_is_before(const graph_heap *heap, int64_t a, int64_t b) {
    double at_a = heap->distances[a], at_b = heap->distances[b];
    return at_a < at_b || (at_a == at_b && a < b);
}

static void graph_put(graph_heap *heap, int64_t place, int64_t node) {
    heap->nodes[place] = node;
    heap->places[node] = place;
}

/* A node that is nearer than before, or new at the end, moves up. */
static void graph_rise(graph_heap *heap, int64_t node) {
    int64_t at = heap->places[node];
    while (at > 0) {
        int64_t above = (at - 1) / 2, other = heap->nodes[above];
        if (!graph_is_before(heap, node, other)) break;
        graph_put(heap, at, other);
        at = above;
    }
    graph_put(heap, at, node);
}

/* Takes the nearest node out. */
static int64_t graph_take(graph_heap *heap) {
    int64_t taken = heap->nodes[0], last = heap->nodes[--heap->size], at = 0;
    heap->places[taken] = -2;
    if (heap->size == 0) return taken;
    for (;;) {
        int64_t below = 2 * at + 1;
        if (below >= heap->size) break;
        if (below + 1 < heap->size &&
            graph_is_before(heap, heap->nodes[below + 1], heap->nodes[below]))
            below++;
        if (!graph_is_before(heap, heap->nodes[below], last)) break;
        graph_put(heap, at, heap->nodes[below]);
        at = below;
    }
    graph_put(heap, at, last);
    return taken;
}

ml_status ml_graph_shortest(int64_t n, int64_t n_steps, const int64_t *first, const int64_t *to,
                            const double *lengths, int64_t source, int64_t *work, double *distances,
                            int64_t *before) {
    if (!graph_is_sound(n, n_steps, first, to) || source < 0 || source >= n) return ML_BAD_SIZE;
    for (int64_t e = 0; e < n_steps; e++)
        if (!(lengths[e] >= 0.0)) return ML_BAD_SIZE;
    graph_heap heap = {0, work, work + n, distances};
    for (int64_t i = 0; i < n; i++) {
        distances[i] = INFINITY;
        before[i] = heap.places[i] = -1;
    }
    distances[source] = 0.0;
    graph_put(&heap, heap.size++, source);
    while (heap.size > 0) {
        int64_t node = graph_take(&heap);
        for (int64_t e = first[node]; e < first[node + 1]; e++) {
            int64_t next = to[e];
            double way = distances[node] + lengths[e];
            if (heap.places[next] == -2 || !(way < distances[next])) continue;
            distances[next] = way;
            before[next] = node;
            if (heap.places[next] == -1) graph_put(&heap, heap.size++, next);
            graph_rise(&heap, next);
        }
    }
    return ML_OK;
}

/* ---- Parts ----------------------------------------------------------------------------------*/

ml_status ml_graph_parts(int64_t n, int64_t n_steps, const int64_t *first, const int64_t *to,
                         int64_t *work, int64_t *parts) {
    if (!graph_is_sound(n, n_steps, first, to)) return ML_BAD_SIZE;
    int64_t *low = work;      /* earliest node of the stack that is reached; -1: not met yet */
    int64_t *stack = low + n; /* nodes that have no part yet, in the order they were met */
    int64_t *way = stack + n; /* nodes from the start of the search to where it is */
    int64_t *step = way + n;  /* next step of each node to look at */
    int64_t n_stack = 0, n_way = 0, n_parts = 0, n_met = 0;
    for (int64_t i = 0; i < n; i++) {
        low[i] = parts[i] = -1;
        step[i] = first[i];
    }
    for (int64_t start = 0; start < n; start++) {
        if (low[start] >= 0) continue;
        way[n_way++] = start;
        while (n_way > 0) {
            int64_t node = way[n_way - 1];
            if (low[node] < 0) { /* `parts` holds when it was met until its part is known */
                low[node] = parts[node] = n_met++;
                stack[n_stack++] = node;
            }
            int64_t deeper = -1;
            while (step[node] < first[node + 1] && deeper < 0) {
                int64_t next = to[step[node]];
                if (low[next] < 0) {
                    deeper = next; /* looked at again when the search is back */
                } else {
                    if (low[next] < low[node]) low[node] = low[next];
                    step[node]++;
                }
            }
            if (deeper >= 0) {
                way[n_way++] = deeper;
                continue;
            }
            n_way--;
            if (low[node] != parts[node]) continue;
            int64_t member;
            do { /* all that were met since belong to one part */
                member = stack[--n_stack];
                low[member] = n; /* larger than any: it is out of the search */
                parts[member] = n_parts;
            } while (member != node);
            n_parts++;
        }
    }
    return ML_OK;
}
