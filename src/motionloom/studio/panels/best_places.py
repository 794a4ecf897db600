"""Where two clips of a table join best: frames that nobody has to look for by hand."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import IntArray
from motionloom._progress import report_step
from motionloom.errors import TableError
from motionloom.studio.messages.table_messages import Place, Somewhere
from motionloom.tables.index.lookup import NOWHERE
from motionloom.tables.index.windows import window_from, window_to
from motionloom.tables.table import TransitionTable

__all__ = ["best_places"]

FOLLOW_S = 1.0
"""Seconds of the target clip that follow an arrival at its best frame."""
TRIED = 8
"""Pairs of frames that are made and judged; the table expects most of them."""


def best_places(
    table: TransitionTable, source: Somewhere, target: Somewhere
) -> tuple[Place, Place]:
    """The places themselves where both name a frame; else the best that go with what they name."""
    (leave, at), (enter, to) = source, target
    if at is not None and to is not None:
        return (leave, at), (enter, to)
    froms, tos = _rows(table, source, leaving=True), _rows(table, target, leaving=False)
    pairs = _expected(table, froms, tos)
    costs = []
    for number, pair in enumerate(pairs):
        report_step("trying frames", number, len(pairs))
        costs.append(_cost(table, *pair))
    best = pairs[int(np.argmin(costs))]
    return _places(table, *best)


def _rows(table: TransitionTable, place: Somewhere, *, leaving: bool) -> IntArray:
    """First rows of the windows that a place allows."""
    frames, (clip, frame) = table.frames, place
    first = frames.row_of(clip, 0)
    if frame is not None:
        row = frames.row_of(clip, frame)
        found = window_from if leaving else window_to
        return np.array([found(frames, row, table.length)[0]])
    last = window_from(frames, int(frames.starts[frames.clip_at(first) + 1]) - 1, table.length)[0]
    if not leaving:
        # B goes on after the arrival, as far as it has the frames for it.
        last -= min(round(FOLLOW_S * frames.fps), (last - first) // 2)
    rows: IntArray = np.arange(first, last + 1)
    rows = rows[np.asarray(table.nearest[rows]) != NOWHERE]
    if not len(rows):
        raise TableError(f"No window of clip {clip!r} is in the table. Choose another clip.")
    return rows


def _expected(table: TransitionTable, froms: IntArray, tos: IntArray) -> list[tuple[int, int]]:
    """Pairs of rows between whose representatives the table's recipes cost least."""
    one, other = _speakers(table, froms), _speakers(table, tos)
    costs = table.costs[np.ix_(list(one), list(other))][..., 0].astype(np.float64)
    order = np.argsort(costs, axis=None, kind="stable")[:TRIED]
    rows, columns = np.unravel_index(order, costs.shape)
    left, right = list(one.values()), list(other.values())
    return [(left[i], right[j]) for i, j in zip(rows, columns, strict=True)]


def _speakers(table: TransitionTable, rows: IntArray) -> dict[int, int]:
    """The row nearest to each representative that these rows are looked up under."""
    ids, apart = table.nearest[rows], table.lookup.fine_distance[rows]
    order = np.argsort(apart, kind="stable")
    found: dict[int, int] = {}
    for k in order:
        found.setdefault(int(ids[k]), int(rows[k]))
    return found


def _cost(table: TransitionTable, first: int, last: int) -> float:
    return table.transition(*_places(table, first, last)).cost


def _places(table: TransitionTable, first: int, last: int) -> tuple[Place, Place]:
    """The frames of two windows: the first is left at its start, the other reached at its end."""
    place = table.frames.place_of
    return place(first), place(last + table.length - 1)
