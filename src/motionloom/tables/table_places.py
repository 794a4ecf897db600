"""Places of a table: frames by clip and number, windows that start or end there, and of labels."""

from __future__ import annotations

from bisect import bisect_right
from threading import Lock
from typing import NamedTuple

import numpy as np

from motionloom._arrays import IntArray, of_kind
from motionloom._core import integer
from motionloom.errors import TableError
from motionloom.tables.collection.collection import Collection
from motionloom.tables.collection.frames import Frames
from motionloom.tables.collection.labels import Label, label_pieces
from motionloom.tables.index.clusters import NOWHERE
from motionloom.tables.index.windows import window_from
from motionloom.tables.table_contents import TableArrays

Place = tuple[str, int]
"""A clip's id and a frame of it."""


class WindowPlaces:
    """Clips, rows and windows of a collection, looked up without arrays.

    Parameters
    ----------
    frames
        Of the collection.
    length
        Frames of a window.
    """

    def __init__(self, frames: Frames, length: int) -> None:
        self._frames, self._length = frames, length
        self._clips = {name: k for k, name in enumerate(frames.ids)}
        self._first_rows: list[int] = frames.starts.tolist()

    def row_of(self, place: tuple[str, int], argument: str = "place") -> int:
        """Row of a clip's frame; ``argument`` is the caller's, for the error text."""
        try:
            name, frame = place
            clip = self._clips[name]
        except (KeyError, TypeError, ValueError):
            return self._frames.row_at(place, argument)  # says what is wrong with it
        first = self._first_rows[clip]
        if type(frame) is not int or not 0 <= frame < self._first_rows[clip + 1] - first:
            return self._frames.row_at((name, frame), argument)
        return first + frame

    def clip_at(self, row: int) -> int:
        """Which clip a row belongs to; as ``frames.clip_at``, quicker."""
        return bisect_right(self._first_rows, row) - 1

    def window_at(self, row: int, *, leaving: bool) -> tuple[int, int]:
        """First row of the window that starts at a row, or ends there, and by how much it is off.

        Near a clip's end (or start) there is no such window: the clip's last (first) one is taken.
        """
        clip = self.clip_at(row)
        first, last = self._first_rows[clip], self._first_rows[clip + 1] - self._length
        if last < first:
            window_from(self._frames, row, self._length)  # says that the clip is too short
        if leaving:
            return min(row, last), max(0, row - last)
        wanted = row - self._length + 1
        return max(wanted, first), max(0, first - wanted)

    def frames_before(self, row: int) -> int:
        """Frames that a row's clip has before it."""
        return row - self._first_rows[self.clip_at(row)]

    def frames_after(self, row: int) -> int:
        """Frames that a row's clip has after it."""
        return self._first_rows[self.clip_at(row) + 1] - 1 - row


RESCORED = integer("ML_RESCORED")
"""Recipes of the table that a transition scores with the real windows, unless asked for others."""
TARGETS = integer("ML_TABLE_TARGETS")
"""Windows of a label that are tried as targets, at most."""


class LabelReached(NamedTuple):
    """Windows of one label."""

    pieces: IntArray
    """First and last row of every piece of a clip with the label, sorted. (n, 2)"""
    nearest: IntArray
    """For every representative the nearest window that ends in the label, or -1. (E,)"""
    targets: dict[int, IntArray]
    """First rows of the windows most easily reached, by the representative they are reached from;
    those that were asked for."""


class LabelTargets:
    """The nearest window of each label to each representative, found once for each label.

    Parameters
    ----------
    arrays
        Representatives of the table, and the lookup of every row.
    collection
        Whose labels; they may change.
    length
        Frames of a window.
    """

    def __init__(self, arrays: TableArrays, collection: Collection, length: int) -> None:
        self._lookup, self._costs = arrays.lookup, np.asarray(arrays.costs)
        self._collection, self._length = collection, length
        self._reached: dict[str, LabelReached] = {}
        self._labels: tuple[Label, ...] = ()
        self._lock = Lock()

    def check(self, label: str) -> None:
        """Raise an error that lists the labels if this one does not exist or cannot be reached."""
        self.of(label, 0)

    def of(self, label: str, end: int) -> IntArray:
        """First rows of the windows most easily reached from a representative. (n,)."""
        _, nearest, targets = self._reached_of(label)
        rows = targets.get(end)
        if rows is None:
            reachable = np.flatnonzero(nearest >= 0)
            order = np.argsort(self._costs[end, reachable, 0], kind="stable")
            rows = nearest[reachable[order[:TARGETS]]]
            rows.flags.writeable = False  # others get the same
            targets[end] = rows
        return rows

    def nearest(self, label: str) -> IntArray:
        """For every representative the nearest window that ends in the label, or -1. (E,)."""
        return self._reached_of(label).nearest

    def pieces(self, label: str) -> IntArray:
        """First and last row of every piece of a clip with the label, sorted. (n, 2)."""
        return self._reached_of(label).pieces

    def _reached_of(self, label: str) -> LabelReached:
        """What was found for a label, for as long as no label changes."""
        of_kind(label, str, "label")
        with self._lock:
            labels = self._collection.labels
            if labels != self._labels:
                self._labels, self._reached = labels, {}
            reached = self._reached.get(label)
            if reached is None:
                rows = self._collection.label_rows(label)
                pieces = label_pieces(labels, label, self._collection.frames)
                reached = LabelReached(pieces, self._nearest_ending_at(rows), {})
                self._reached[label] = reached
            return reached

    def _nearest_ending_at(self, rows: IntArray) -> IntArray:
        """For every representative the nearest window that ends at one of the rows. (E,)."""
        frames, length = self._collection.frames, self._length
        starts, ids = np.asarray(frames.starts), np.asarray(self._lookup.fine)
        first = np.asarray(rows) - length + 1
        clips = np.searchsorted(starts, rows, side="right") - 1
        first = np.unique(first[first >= starts[clips]])
        first = frames.sound(first[ids[first] != NOWHERE], length)
        if not len(first):
            raise TableError(
                f"No frame of the label has {length} frames of its clip before it. Label "
                "later frames, or build a table of shorter transitions."
            )
        nearest = np.full(len(self._costs), -1, dtype=np.int64)
        distances = np.asarray(self._lookup.fine_distance)[first].astype(np.float32)
        order = np.lexsort((-first, -distances))  # the last one written stays: the nearest
        nearest[ids[first[order]]] = first[order]
        return nearest
