/* A table for several threads: what is only read is shared, what is worked in is each thread's. */

#include <string.h>

#include "../tables/table.h"

void ml_table_lay_out_terms(ml_memory *m, int64_t windows, int64_t padded, int64_t plants,
                            int64_t length, table_terms *out) {
    int64_t most = ML_MOST_WAYS * plants;
    ml_term_slots *slots = out->slots = ML_TAKE(m, ml_term_slots, 1);
    ml_scratch *scratch = out->scratch = ML_TAKE(m, ml_scratch, 1);
    ml_weighing *weighing = out->weighing = ML_TAKE(m, ml_weighing, 1);
    ml_term_slots s = {
        .n_windows = windows, .n_padded = padded, .n_plants = plants, .length = length};
    s.rows = ML_TAKE(m, float, 17 * padded * windows);
    s.posture = ML_TAKE(m, float, 48 * padded * windows);
    s.anchors = ML_TAKE(m, float, 4 * padded * windows);
    s.spans = ML_TAKE(m, int32_t, 4 * plants * windows);
    s.ahead = ML_TAKE(m, float, 4 * plants * windows);
    s.counts = ML_TAKE(m, int32_t, 2 * windows);
    s.reach = ML_TAKE(m, int32_t, 2 * windows);
    s.turns = ML_TAKE(m, double, 2 * padded);
    ml_scratch w = {.n_padded = padded, .n_plants = plants, .length = length};
    w.rows = ML_TAKE(m, float, 17 * padded);
    w.posture = ML_TAKE(m, float, 48 * padded);
    w.path = ML_TAKE(m, float, 35 * padded);
    w.plants = ML_TAKE(m, float, 5 * most);
    w.spans = ML_TAKE(m, int32_t, 3 * most);
    w.order = ML_TAKE(m, int32_t, most);
    w.chosen = ML_TAKE(m, float, 8 * most);
    w.labels = ML_TAKE(m, int16_t, 2 * length);
    ml_weighing v = {.n_padded = padded};
    v.rows = ML_TAKE(m, float, 2 * 17 * padded);
    v.posture = ML_TAKE(m, float, 2 * 48 * padded);
    v.best = ML_TAKE(m, float, ML_TABLE_COLUMNS);
    if (!m->block) return;
    *slots = s;
    *scratch = w;
    *weighing = v;
}

/* What a thread works in. */
typedef struct {
    table_terms terms;
    ml_terms *read;
    int64_t *met, *missing;
    uint8_t *work;
} share_pieces;

static int64_t share_lay_out(const ml_table *table, uint8_t *block, share_pieces *own) {
    const ml_term_slots *slots = table->term_slots;
    ml_memory memory = {block, 0};
    ml_table_lay_out_terms(&memory, slots->n_windows, slots->n_padded, slots->n_plants,
                           slots->length, &own->terms);
    own->read = ML_TAKE(&memory, ml_terms, 1);
    own->met = ML_TAKE(&memory, int64_t, slots->n_windows);
    own->missing = ML_TAKE(&memory, int64_t, 1);
    own->work = ML_TAKE(&memory, uint8_t, ml_table_work(table));
    return memory.used;
}

int64_t ml_table_share_memory(const ml_table *table) {
    share_pieces own;
    return share_lay_out(table, NULL, &own);
}

/* Terms of the medoids, which stay; those of other windows are found anew. */
static void share_terms(const ml_table *table, const ml_term_slots *to) {
    const ml_term_slots *from = table->term_slots;
    size_t n = (size_t)table->n_medoids, padded = n * (size_t)to->n_padded;
    size_t plants = 4 * n * (size_t)to->n_plants;
    memcpy(to->rows, from->rows, sizeof(float) * 17 * padded);
    memcpy(to->posture, from->posture, sizeof(float) * 48 * padded);
    memcpy(to->anchors, from->anchors, sizeof(float) * 4 * padded);
    memcpy(to->spans, from->spans, sizeof(int32_t) * plants);
    memcpy(to->ahead, from->ahead, sizeof(float) * plants);
    memcpy(to->counts, from->counts, sizeof(int32_t) * 2 * n);
    memcpy(to->reach, from->reach, sizeof(int32_t) * 2 * n);
}

ml_status ml_table_share(const ml_table *table, int64_t n_memory, uint8_t *memory, ml_table *out) {
    const ml_term_slots *slots = table->term_slots;
    share_pieces own;
    if ((uintptr_t)memory % ML_ALIGNED) return ML_UNALIGNED;
    if (n_memory < ml_table_share_memory(table)) return ML_BAD_SIZE;
    share_lay_out(table, memory, &own);
    ml_term_slots *s = own.terms.slots;
    s->pad = slots->pad;
    s->fps = slots->fps;
    share_terms(table, s);
    ml_weighing *weighing = own.terms.weighing;
    weighing->prunes = table->weighing->prunes;
    weighing->bounded = table->weighing->bounded;
    weighing->linear = table->weighing->linear;
    weighing->log = table->weighing->log;
    *own.read = *table->terms;
    own.read->rows = s->rows;
    own.read->posture = s->posture;
    own.read->anchors = s->anchors;
    own.read->spans = s->spans;
    own.read->ahead = s->ahead;
    own.read->counts = s->counts;
    own.read->reach = s->reach;
    for (int64_t k = 0; k < slots->n_windows; k++)
        own.met[k] = k < table->n_medoids ? table->medoids[k] : -1;
    *out = *table;
    out->term_slots = s;
    out->terms = own.read;
    out->scratch = own.terms.scratch;
    out->weighing = weighing;
    out->met = own.met;
    out->missing = own.missing;
    out->n_work = ml_table_work(table);
    out->work = own.work;
    return ML_OK;
}
