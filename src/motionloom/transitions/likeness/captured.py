"""Captured windows that start as one window does and end as another: one compiled question."""

from __future__ import annotations

import numpy as np
from numba import njit

from motionloom._arrays import IntArray
from motionloom.transitions.collecting.frames import Frames
from motionloom.transitions.likeness.contexts import VELOCITY_S, context_offsets, fill_contexts
from motionloom.transitions.likeness.neighbour_search import search_lists
from motionloom.transitions.likeness.neighbours import WindowIndex, arrays_of
from motionloom.transitions.likeness.windows import compared_joints

__all__ = ["CapturedBetween"]

BY_BOTH = (True, True, True)
"""The lists of an index that know starts, ends and ways."""
ENDS_ONLY = (True, True, False)
"""Where a transition takes its body to is nobody's wish: its way is not asked for."""


EFFORT = (8, 24, 800)
"""Nearest groups and lists that are looked into, until so many windows were seen. Of 4.3 million
windows it takes 0.22 ms in place of the 0.39 that an index takes (12, 48, 2000), and the best
recipes with what is found cost 0.01 % more; with (6, 16, 600) 0.19 ms and 0.06 %."""


class CapturedBetween:
    """An index made ready to be asked for windows between two.

    ``index.nearest(start, end)`` looks farther; this one makes no arrays on the way.
    """

    def __init__(self, frames: Frames, index: WindowIndex) -> None:
        self._lists = arrays_of(index.by_both)
        self._codes, self._books = (index.starts, index.ends, index.ways), index.books
        self._frames = tuple(
            np.asarray(each) for each in (frames.starts, frames.heading, frames.ground, frames.body)
        )
        self._sides = (context_offsets(frames.fps, "start"), context_offsets(frames.fps, "end"))
        self._joints = compared_joints(frames.skeleton, frames.body_map)
        self._reach = VELOCITY_S * frames.fps
        self._length = index.length

    def nearest(self, source: int, target: int, *, count: int, apart: int) -> IntArray:
        """First rows of windows like the start of one window and the end of the other. (n,)."""
        rows = np.zeros(count, dtype=np.int64)
        found = _search(
            self._frames, self._sides, self._joints, self._reach, self._lists, self._codes,
            self._books, source, target + self._length - 1, self._length, count, apart,
            BY_BOTH, ENDS_ONLY, EFFORT, rows,
        )  # fmt: skip
        return rows[:found]


@njit(cache=True)
def _search(  # type: ignore[no-untyped-def]
    frames,
    sides,
    joints,
    reach,
    lists,
    codes,
    books,
    first,
    last,
    length,
    count,
    apart,
    by,
    asked,
    effort,
    rows,
):
    """How many windows were found; their first rows are filled."""
    starts, heading, ground, body = frames
    moments = np.zeros((2, 1, 9 * len(joints)), np.float32)
    at = np.array([first])
    fill_contexts(starts, heading, ground, body, at, sides[0], joints, reach, moments[0])
    at[0] = last
    fill_contexts(starts, heading, ground, body, at, sides[1], joints, reach, moments[1])
    given = (moments[0, 0], moments[1, 0], np.zeros(3, np.float32))
    spans = np.zeros((0, 2), np.int64)
    # Choices are arguments, not constants: ``search_lists`` is then compiled once for all.
    found, _ = search_lists(
        lists, by, codes, books, given, asked, length, count, apart, spans, effort
    )
    for n in range(len(found)):
        rows[n] = found[n]
    return len(found)
