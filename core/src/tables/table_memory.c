/* Memory that a table works in, laid out. */

#include "table.h"

/* Series of the checks, for up to `most` frames. */
static ml_check_series table_memory_series(ml_memory *memory, int64_t most, int64_t n_checked,
                                           int64_t n_carriers) {
    ml_check_series series = {.n_frames = most, .n_checked = n_checked, .n_carriers = n_carriers};
    series.turn = ML_TAKE(memory, double, most * n_checked);
    series.speed = ML_TAKE(memory, double, most * n_checked);
    series.bend = ML_TAKE(memory, double, most * n_checked);
    series.kink = ML_TAKE(memory, double, most * n_checked);
    series.carried = ML_TAKE(memory, double, most * n_carriers);
    series.head = ML_TAKE(memory, double, most);
    series.heading = ML_TAKE(memory, double, most);
    series.flexion = ML_TAKE(memory, double, 2 * most);
    series.soles = ML_TAKE(memory, double, 12 * most);
    series.lowest = ML_TAKE(memory, double, most);
    series.pelvis = ML_TAKE(memory, double, 3 * most);
    series.mass = ML_TAKE(memory, double, 3 * most);
    return series;
}

int64_t ml_table_lay_out(const ml_table *table, uint8_t *block, ml_table_pieces *pieces) {
    ml_memory memory = {block, 0};
    const ml_check_rig *rig = table->check_rig;
    int64_t most = ml_table_most(table), joints = table->rows->n_joints, length = table->length;
    int64_t frames = length + 2 * ml_table_past(table);
    int64_t n_near = ML_INDEX_GROUPS + ML_INDEX_LISTS;
    int64_t wide = table->by_start->width > table->by_both->width ? table->by_start->width
                                                                  : table->by_both->width;
    int64_t head = table->by_start->n_head > table->by_both->n_head ? table->by_start->n_head
                                                                    : table->by_both->n_head;
    pieces->moments = ML_TAKE(&memory, float, 2 * table->index->n_columns);
    pieces->search =
        ML_TAKE(&memory, float, 4 * table->index->n_codes + 6 + 2 * wide + 2 * head + n_near);
    pieces->squared = ML_TAKE(&memory, float, n_near);
    pieces->found_rows = ML_TAKE(&memory, int64_t, n_near);
    pieces->near = ML_TAKE(&memory, int64_t, n_near);
    pieces->ids = ML_TAKE(&memory, int32_t, ML_MOST_WAYS * most);
    pieces->rows = ML_TAKE(&memory, int64_t, ML_MOST_WAYS * most);
    pieces->pinned = ML_TAKE(&memory, uint8_t, most);
    pieces->order = ML_TAKE(&memory, int64_t, most);
    pieces->costs = ML_TAKE(&memory, double, most);
    pieces->columns = ML_TAKE(&memory, float, ML_TABLE_COLUMNS * most);
    pieces->at = ML_TAKE(&memory, int64_t, ML_MOST_WAYS * length);
    pieces->held = ML_TAKE(&memory, int64_t, 2 * length);
    pieces->synthesis = ML_TAKE(&memory, double, (7 * joints + ML_TABLE_SYNTHESIS) * length);
    pieces->weights = ML_TAKE(&memory, double, ML_MOST_WAYS * length);
    pieces->steps = ML_TAKE(&memory, double, 10 * ML_TABLE_JOINED * length);
    pieces->stands = ML_TAKE(&memory, uint8_t, ML_TABLE_JOINED * length);
    pieces->heading = ML_TAKE(&memory, double, frames);
    pieces->root = ML_TAKE(&memory, double, 3 * frames);
    pieces->quats = ML_TAKE(&memory, double, 4 * joints * frames);
    pieces->planted = ML_TAKE(&memory, uint8_t, 4 * frames);
    pieces->kept = (ml_frames){.most = length, .n_joints = joints};
    pieces->kept.heading = ML_TAKE(&memory, double, length);
    pieces->kept.root = ML_TAKE(&memory, double, 3 * length);
    pieces->kept.quats = ML_TAKE(&memory, double, 4 * joints * length);
    pieces->kept.planted = ML_TAKE(&memory, uint8_t, 4 * length);
    pieces->positions = ML_TAKE(&memory, double, 3 * joints * frames);
    pieces->world = ML_TAKE(&memory, double, 4 * joints * frames);
    pieces->limits = ML_TAKE(&memory, double, table->n_limits);
    pieces->floors = ML_TAKE(&memory, double, 8 * frames);
    pieces->hovers = ML_TAKE(&memory, double, frames);
    pieces->measuring = ML_TAKE(&memory, double, 6 * joints);
    pieces->judging = ML_TAKE(&memory, double, frames + 6 * rig->n_checked);
    pieces->skipped = ML_TAKE(&memory, uint8_t, frames);
    pieces->series = table_memory_series(&memory, frames, rig->n_checked, rig->n_carriers);
    ml_table_lay_out_support(table, &memory, &pieces->support);
    pieces->choice.most = most;
    pieces->choice.rows = ML_TAKE(&memory, int64_t, ML_MOST_WAYS * most);
    pieces->choice.costs = ML_TAKE(&memory, double, most);
    pieces->choice.columns = ML_TAKE(&memory, float, ML_TABLE_COLUMNS * most);
    pieces->choice.pinned = ML_TAKE(&memory, uint8_t, most);
    pieces->found = ML_TAKE(&memory, double, 5 * ML_CHECK_FOUND);
    return memory.used;
}

int64_t ml_table_work(const ml_table *table) {
    ml_table_pieces pieces;
    return ml_table_lay_out(table, NULL, &pieces);
}
