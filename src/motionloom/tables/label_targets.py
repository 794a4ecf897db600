"""Label targets: which windows of a label to arrive at, from anywhere."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import IntArray, of_kind
from motionloom.errors import TableError
from motionloom.tables.collection.labels import Label
from motionloom.tables.index.lookup import NOWHERE
from motionloom.tables.runtime_table import RuntimeTable

__all__ = ["TARGETS", "LabelTargets"]

TARGETS = 4
"""Windows of a label that are tried as targets, at most."""


class LabelTargets:
    """The windows that speak for labels; looked for once for each label."""

    def __init__(self, table: RuntimeTable) -> None:
        self._table = table
        self._costs = np.asarray(table.costs)
        self._nearest: dict[str, IntArray] = {}
        self._said: tuple[Label, ...] = ()

    def check(self, label: str) -> None:
        """Say which labels there are, where this one is not."""
        of_kind(label, str, "label")
        if not any(each.label == label for each in self._table.collection.labels):
            self._table.collection.label_rows(label)
        self.of(label, 0)

    def of(self, label: str, end: int) -> IntArray:
        """First rows of the windows most easily reached from a representative. (n,)."""
        nearest = self.nearest(label)
        there = np.flatnonzero(nearest >= 0)
        best = there[np.argsort(self._costs[end, there, 0], kind="stable")[:TARGETS]]
        return nearest[best]

    def nearest(self, label: str) -> IntArray:
        """For every representative the nearest window that ends in the label, or -1. (E,)."""
        of_kind(label, str, "label")
        labels = self._table.collection.labels
        if labels != self._said:
            self._said, self._nearest = labels, {}
        nearest = self._nearest.get(label)
        if nearest is None:
            rows = self._table.collection.label_rows(label)
            nearest = self._nearest[label] = self._spokesmen(rows)
        return nearest

    def _spokesmen(self, rows: IntArray) -> IntArray:
        """For every representative the window that ends at one of the rows and is nearest. (E,)."""
        lookup, length = self._table.lookup, self._table.length
        starts = np.asarray(self._table.frames.starts)
        first = np.asarray(rows) - length + 1
        ids = np.asarray(lookup.fine)
        clips = np.searchsorted(starts, rows, side="right") - 1
        first = np.unique(first[first >= starts[clips]])
        first = self._table.frames.sound(first[ids[first] != NOWHERE], length)
        if not len(first):
            raise TableError(
                f"No frame of the label has {length} frames of its clip before it. Label "
                "later frames, or build a table of shorter transitions."
            )
        nearest = np.full(len(self._costs), -1, dtype=np.int64)
        far = np.asarray(lookup.fine_distance)[first].astype(np.float32)
        order = np.lexsort((-first, -far))  # the last one written stays: the nearest
        nearest[ids[first[order]]] = first[order]
        return nearest
