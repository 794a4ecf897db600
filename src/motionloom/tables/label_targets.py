"""Label targets: which windows of a label a transition may arrive at."""

from __future__ import annotations

from threading import Lock

import numpy as np

from motionloom._arrays import IntArray, of_kind
from motionloom.errors import TableError
from motionloom.tables.collection.collection import Collection
from motionloom.tables.collection.labels import Label
from motionloom.tables.index.lookup import NOWHERE
from motionloom.tables.table_arrays import TableArrays

__all__ = ["TARGETS", "LabelTargets"]

TARGETS = 4
"""Windows of a label that are tried as targets, at most."""


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
        self._nearest: dict[str, IntArray] = {}
        self._labels: tuple[Label, ...] = ()
        self._lock = Lock()

    def check(self, label: str) -> None:
        """Raise an error that lists the labels if this one does not exist or cannot be reached."""
        self.of(label, 0)

    def of(self, label: str, end: int) -> IntArray:
        """First rows of the windows most easily reached from a representative. (n,)."""
        nearest = self.nearest(label)
        reachable = np.flatnonzero(nearest >= 0)
        order = np.argsort(self._costs[end, reachable, 0], kind="stable")
        return nearest[reachable[order[:TARGETS]]]

    def nearest(self, label: str) -> IntArray:
        """For every representative the nearest window that ends in the label, or -1. (E,)."""
        of_kind(label, str, "label")
        with self._lock:
            labels = self._collection.labels
            if labels != self._labels:
                self._labels, self._nearest = labels, {}
            nearest = self._nearest.get(label)
            if nearest is None:
                rows = self._collection.label_rows(label)
                nearest = self._nearest[label] = self._nearest_ending_at(rows)
            return nearest

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
