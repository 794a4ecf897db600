"""Time-matched windows: captured windows that fit a gap when they are played faster or slower."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom.tables.collection.clip_frames import FloatArray32
from motionloom.tables.collection.frames import Frames
from motionloom.tables.index.contexts import (
    Side,
    context_offsets,
    contexts,
    displacements,
)

__all__ = ["Matches", "matching_windows", "rows_in_time"]

RATES = (0.67, 0.73, 0.8, 0.87, 0.93, 1.0, 1.07, 1.15, 1.25, 1.36, 1.5)
"""Lengths of windows that are compared, as parts of the gap's. Two people walk at two cadences:
the steps of one fit between the steps of the other only when they are played at another rate."""
BLOCK = 8192
"""Rows whose contexts are in memory at a time."""


class Matches(NamedTuple):
    """Windows for a gap, the nearest first."""

    rows: IntArray
    """Their first rows. (n,)"""
    lengths: IntArray
    """Their frames, which are played in the gap's time. (n,)"""
    distances: FloatArray
    """Root of the summed squares of start, end and displacement, metres. (n,)"""


class _Terms(NamedTuple):
    """Squared distances of all rows from a context, for any rate: ``posture + s^2 speed - 2 s``."""

    posture: FloatArray
    speed: FloatArray
    along: FloatArray
    asked: float

    def at(self, rows: IntArray, rate: float) -> FloatArray:
        """Squared distances (n,) of rows whose velocities are multiplied by a rate."""
        moving = rate * (rate * self.speed[rows] - 2.0 * self.along[rows])
        return np.asarray(self.posture[rows] + moving + self.asked)


def matching_windows(
    frames: Frames,
    length: int,
    question: tuple[FloatArray32, FloatArray32, FloatArray],
    *,
    count: int,
    spans: IntArray,
) -> Matches:
    """Captured windows of many lengths whose ends and displacement are most like a gap's.

    Parameters
    ----------
    frames
        The collection.
    length
        Frames of the gap, both ends counted.
    question
        Contexts of both sides and the displacement between, weighed as in ``displacements``.
    count
        How many.
    spans : (n, 2)
        First and last rows of clips that are left out.
    """
    start, end, way = question
    starts, ends = _terms_of(frames, start, "start"), _terms_of(frames, end, "end")
    found: list[Matches] = []
    for n in sorted({max(2, round((length - 1) * rate) + 1) for rate in RATES}):
        rows = frames.sound(frames.windows(n), n)
        for first, last in spans:
            rows = rows[(rows > last) | (rows + n - 1 < first)]
        rate, last_rows = (n - 1) / (length - 1), rows + n - 1
        squares = starts.at(rows, rate) + ends.at(last_rows, rate)
        squares += np.square(displacements(frames, rows, last_rows) - way).sum(axis=1)
        best = np.argsort(squares, kind="stable")[:count]
        distances = np.sqrt(np.maximum(squares[best], 0.0))
        found.append(Matches(rows[best], np.full(len(best), n), distances))
    rows, lengths, distances = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.argsort(distances, kind="stable")[:count]
    return Matches(rows[order], lengths[order], distances[order])


def _terms_of(frames: Frames, asked: FloatArray32, side: Side) -> _Terms:
    """Terms of the distances of all rows from a context."""
    offsets = context_offsets(frames.fps, side)
    moves = np.repeat(offsets != 0, len(asked) // len(offsets))
    posture, speed, along = np.zeros((3, frames.n_rows))
    for first in range(0, frames.n_rows, BLOCK):
        block = slice(first, min(first + BLOCK, frames.n_rows))
        seen = contexts(frames, np.arange(block.start, block.stop), side=side)
        posture[block] = np.square(seen[:, ~moves] - asked[~moves]).sum(axis=1)
        speed[block] = np.square(seen[:, moves]).sum(axis=1)
        along[block] = seen[:, moves] @ asked[moves]
    return _Terms(posture, speed, along, float(np.square(asked[moves]).sum()))


def rows_in_time(
    rows: IntArray, lengths: IntArray, length: int
) -> tuple[IntArray, IntArray, FloatArray]:
    """Rows before and after every frame of a gap in windows played in its time, and the share.

    Three of (K, L): a value is ``(1 - share) * values[before] + share * values[after]``.
    """
    when = np.arange(length) * ((lengths - 1) / (length - 1))[:, None]
    last = (lengths - 1)[:, None]
    before = np.minimum(np.floor(when + 1e-9).astype(np.int64), last)
    share = np.clip(when - before, 0.0, 1.0)
    first = rows[:, None]
    return first + before, first + np.minimum(before + 1, last), share
