"""Where two clips of a table join best, for requests that leave the frames open."""

from __future__ import annotations

from math import ceil

import numpy as np

from motionloom._arrays import IntArray
from motionloom._progress import report_step
from motionloom.errors import TableError
from motionloom.studio.messages.result_messages import Place
from motionloom.studio.messages.table_messages import OpenPlace
from motionloom.tables.index.clusters import NOWHERE
from motionloom.tables.index.windows import window_from, window_to
from motionloom.tables.table import TransitionTable

FOLLOW_S = 1.0
"""Seconds of the target clip that follow an arrival at its best frame, at least."""
TRIED = 8
"""Pairs of frames that are tried, those with the lowest expected cost."""


def best_places(
    table: TransitionTable, source: OpenPlace, target: OpenPlace, *, follow_s: float = FOLLOW_S
) -> tuple[Place, Place]:
    """The given places where both have a frame; else the best frames for those without one.

    At least ``follow_s`` seconds of the target's clip follow its best frame, if the clip has them
    after a whole window; if it has less, half of what it has.
    """
    (leave, at), (enter, to) = source, target
    if at is not None and to is not None:
        return (leave, at), (enter, to)
    froms = _rows(table, source, leaving=True, left_s=0.0)
    tos = _rows(table, target, leaving=False, left_s=follow_s)
    pairs = _expected(table, froms, tos)
    costs = []
    for number, pair in enumerate(pairs):
        report_step("trying frames", number, len(pairs))
        costs.append(_cost(table, *pair))
    best = pairs[int(np.argmin(costs))]
    return _places(table, *best)


def _rows(table: TransitionTable, place: OpenPlace, *, leaving: bool, left_s: float) -> IntArray:
    """First rows of the windows that a place allows, with some seconds of the clip left."""
    frames, (clip, frame) = table.frames, place
    first = frames.row_of(clip, 0)
    if frame is not None:
        row = frames.row_of(clip, frame)
        window = window_from if leaving else window_to
        return np.array([window(frames, row, table.length)[0]])
    last = window_from(frames, int(frames.starts[frames.clip_at(first) + 1]) - 1, table.length)[0]
    left = ceil(left_s * frames.fps - 1e-9)
    last -= left if left <= last - first else (last - first) // 2
    rows: IntArray = np.arange(first, last + 1)
    rows = rows[np.asarray(table.nearest[rows]) != NOWHERE]
    if not len(rows):
        raise TableError(f"No window of clip {clip!r} is in the table. Choose another clip.")
    return rows


def _expected(table: TransitionTable, froms: IntArray, tos: IntArray) -> list[tuple[int, int]]:
    """Pairs of rows whose representatives have the cheapest recipes."""
    one, other = _nearest_rows(table, froms), _nearest_rows(table, tos)
    costs = table.costs[np.ix_(list(one), list(other))][..., 0].astype(np.float64)
    order = np.argsort(costs, axis=None, kind="stable")[:TRIED]
    rows, columns = np.unravel_index(order, costs.shape)
    left, right = list(one.values()), list(other.values())
    return [(left[i], right[j]) for i, j in zip(rows, columns, strict=True)]


def _nearest_rows(table: TransitionTable, rows: IntArray) -> dict[int, int]:
    """For each representative of these rows, the row nearest to it."""
    ids, apart = table.nearest[rows], table.lookup.fine_distance[rows]
    order = np.argsort(apart, kind="stable")
    nearest: dict[int, int] = {}
    for k in order:
        nearest.setdefault(int(ids[k]), int(rows[k]))
    return nearest


def _cost(table: TransitionTable, first: int, last: int) -> float:
    return table.transition(*_places(table, first, last)).cost


def _places(table: TransitionTable, first: int, last: int) -> tuple[Place, Place]:
    """The frames of two windows: the first is left at its start, the second reached at its end."""
    place = table.frames.place_of
    return place(first), place(last + table.length - 1)
