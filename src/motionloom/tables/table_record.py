"""The record of a table: all that the core looks up for a transition."""

from __future__ import annotations

import numpy as np

from motionloom._core import Record, kernel, record
from motionloom.features.checks.series import rig_record
from motionloom.tables.index.neighbours import CapturedBetween, WindowIndex
from motionloom.tables.query_records import WindowSlots
from motionloom.tables.score.recipe import MOST_WAYS, weights_of
from motionloom.tables.synthesis.synthesis import Rows
from motionloom.tables.synthesis.table_check import TableCheck
from motionloom.tables.table_arrays import TableArrays

_work = kernel("ml_table_work")


def table_record(
    arrays: TableArrays,
    family: str,
    rows: Rows,
    slots: WindowSlots,
    index: WindowIndex,
    captured: CapturedBetween,
    check: TableCheck,
) -> Record:
    """A table as the core takes it.

    Parameters
    ----------
    arrays, family
        Recipes between representatives, and the weights of their blends.
    rows
        Of the collection.
    slots
        The table's medoids, and windows of queries.
    index, captured
        All captured windows, and how those between two others are looked for.
    check
        Of the collection: its limits are measured later.
    """
    frames, length = check.frames, slots.terms.length
    between = np.ascontiguousarray(arrays.between)
    weights = np.zeros((MOST_WAYS, MOST_WAYS, length))
    for n in range(MOST_WAYS):
        weights[n, : n + 1] = weights_of(family, n + 1, length)
    fields = {
        "n_clips": len(frames.starts) - 1,
        "n_jumps": len(frames.glitch_rows),
        "n_medoids": len(arrays.medoids),
        "n_ends": len(between),
        "n_recipes": between.shape[2],
        "n_limits": check.limits.shape[1],
        "n_labels": 0,
        "n_pieces": 0,
        "length": length,
        "fps": frames.fps,
        "rows": rows.record,
        "rig": check.rig.record,
        "check_rig": rig_record(check.check_rig),
        **slots.records(),
        "index": index.windows_record(),
        "by_start": index.lists_record("by_start"),
        "by_both": index.lists_record("by_both"),
        "seen": captured.seen,
        "starts": np.ascontiguousarray(frames.starts, dtype=np.int64),
        "jumps": np.ascontiguousarray(frames.glitch_rows, dtype=np.int64),
        "medoids": np.ascontiguousarray(arrays.medoids, dtype=np.int64),
        "nearest": np.ascontiguousarray(arrays.lookup.fine, dtype=np.uint16),
        "between": between,
        "costs": np.ascontiguousarray(np.asarray(arrays.costs)[:, :, 0], dtype=np.float32),
        "spokes": np.zeros(0, dtype=np.int64),
        "first_piece": np.zeros(1, dtype=np.int64),
        "pieces": np.zeros((0, 2), dtype=np.int64),
        "speeds": np.ascontiguousarray(index.speeds[:, 0], dtype=np.float64),
        "weights": weights,
        "limits": check.limits,
        "hovers": check.hovers,
        "slowest": check.slowest,
        "measured": check.measured,
        "met": slots.slots,
        "missing": np.zeros(1, dtype=np.int64),
        "n_characters": 0,
        "n_names": 0,
        "names": np.zeros(0, dtype=np.uint8),
        "name_at": np.zeros(0, dtype=np.int64),
    }
    nothing = np.zeros(0, dtype=np.uint8)
    n_work = _work(record("ml_table", **fields, n_work=0, work=nothing))
    return record("ml_table", **fields, n_work=n_work, work=np.zeros(n_work, dtype=np.uint8))
