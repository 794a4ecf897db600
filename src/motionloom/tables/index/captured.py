"""Captured windows that start as one window does and end as another: one question to the core."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import IntArray
from motionloom._core import kernel, record
from motionloom.tables.collection.frames import Frames
from motionloom.tables.index.contexts import VELOCITY_S, context_offsets
from motionloom.tables.index.neighbour_search import scratch_size
from motionloom.tables.index.neighbours import WindowIndex
from motionloom.tables.index.windows import compared_joints

__all__ = ["CAPTURED", "CapturedBetween"]

CAPTURED = 2
"""Captured windows whose ends are most alike that are tried as intermediaries; as in
core/src/table.h."""
EFFORT = (8, 24, 800)
"""Nearest groups and lists that are looked into, until so many windows were seen. Of 4.3 million
windows it takes 0.22 ms in place of the 0.39 that an index takes (12, 48, 2000), and the best
recipes with what is found cost 0.01 % more; with (6, 16, 600) 0.19 ms and 0.06 %."""

_between = kernel("ml_neighbour_between")


class CapturedBetween:
    """An index made ready to be asked for windows between two.

    ``index.nearest(start, end)`` looks farther; this one makes contexts and question in one call.
    Where a transition takes its body to is nobody's wish: its way is not asked for.
    """

    def __init__(self, frames: Frames, index: WindowIndex) -> None:
        self._windows, self._lists = index.windows_record(), index.lists_record("by_both")
        n_rows, n_joints, _ = frames.body.shape
        joints = compared_joints(frames.skeleton, frames.body_map)
        self.seen = record(
            "ml_context_frames",
            n_clips=len(frames.starts) - 1,
            n_rows=n_rows,
            n_joints=n_joints,
            n_compared=len(joints),
            reach=VELOCITY_S * frames.fps,
            starts=np.ascontiguousarray(frames.starts, dtype=np.int64),
            heading=frames.heading,
            ground=frames.ground,
            body=frames.body,
            joints=joints,
            before=context_offsets(frames.fps, "start"),
            after=context_offsets(frames.fps, "end"),
        )
        self._scratch = scratch_size(self._windows, self._lists, EFFORT)
        self._moments = 2 * len(index.books.start_mean)
        self._length = index.length

    def nearest(self, source: int, target: int, *, count: int, apart: int) -> IntArray:
        """First rows of windows like the start of one window and the end of the other. (n,)."""
        rows, found = np.zeros(count, dtype=np.int64), np.zeros(1, dtype=np.int64)
        _between(
            self._windows,
            self._lists,
            self.seen,
            source,
            target + self._length - 1,
            apart,
            *EFFORT,
            np.zeros(self._moments, dtype=np.float32),
            np.zeros(EFFORT[0] + EFFORT[1], dtype=np.int64),
            np.zeros(self._scratch, dtype=np.float32),
            count,
            rows,
            np.zeros(count, dtype=np.float32),
            found,
        )
        return rows[: found[0]]
