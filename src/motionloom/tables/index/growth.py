"""Growth: where the clips of a collection were before others were added, and an index grown so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from motionloom._arrays import BoolArray, IntArray
from motionloom.tables.collection.frames import FloatArray32, Frames
from motionloom.tables.collection.joint_speeds import paces_of
from motionloom.tables.index.contexts import Side, contexts, encoded
from motionloom.tables.index.kmeans import extend_partition
from motionloom.tables.index.neighbours import (
    BLOCK,
    WindowIndex,
    listed_by,
    ways_of,
)
from motionloom.tables.index.windows import windows_of

__all__ = ["Growth", "extend_index", "growth_of"]

LOST_M, BEYOND = 0.01, 0.05
"""So much may be lost of a context that goes beyond what an index can write down, in all but this
part of the new rows."""


@dataclass(frozen=True, slots=True, eq=False)
class Growth:
    """Rows and clips of a collection that has grown, and where they were before."""

    clips: IntArray
    """Number that each clip had, -1 for new ones. (C,)"""
    rows: IntArray
    """Row that each row was, -1 for those of new clips. (R,)"""
    now: IntArray
    """Row that each of the rows before is now. (R before,)"""

    @property
    def is_new(self) -> BoolArray:
        """Which clips are new. (C,)."""
        return np.asarray(self.clips < 0)


def growth_of(frames: Frames, before: Sequence[str]) -> Growth:
    """How a collection has grown that had the clips ``before``, all of them as they are now."""
    number: Mapping[str, int] = {name: k for k, name in enumerate(frames.ids)}
    lengths = np.diff(frames.starts)
    clips = np.full(frames.n_clips, -1, dtype=np.int64)
    rows = np.full(frames.n_rows, -1, dtype=np.int64)
    now, first = [np.zeros(0, dtype=np.int64)], 0
    for k, name in enumerate(before):
        clip = number[name]
        start, length = int(frames.starts[clip]), int(lengths[clip])
        clips[clip] = k
        rows[start : start + length] = np.arange(first, first + length)
        now.append(np.arange(start, start + length))
        first += length
    return Growth(clips, rows, np.concatenate(now))


def extend_index(index: WindowIndex, frames: Frames, growth: Growth) -> WindowIndex | None:
    """The index of a collection that has grown: only windows of new clips are looked at.

    Books and centres of lists stay as they are, made for the old clips. None where more than
    :data:`BEYOND` of the new rows go beyond what the books can write down: build the index anew.
    """
    old = growth.rows >= 0
    starts, far = _grown_codes(index.starts, "start", index.books[:3], frames, growth)
    ends, farther = _grown_codes(index.ends, "end", index.books[3:6], frames, growth)
    if np.mean(np.maximum(far, farther) > LOST_M) > BEYOND:
        return None
    windows = frames.sound(windows_of(frames, index.length), index.length)
    windows = windows[~old[windows]]
    ways = np.zeros((frames.n_rows, 3), dtype=np.int16)
    ways[old] = index.ways[growth.rows[old]]
    ways[windows] = ways_of(frames, windows, index.length)
    paces = np.zeros((frames.n_clips, 3))
    paces[~growth.is_new] = index.paces[growth.clips[~growth.is_new]]
    paces[growth.is_new] = paces_of(frames, np.flatnonzero(growth.is_new).tolist())
    lists = []
    for part, sides in (
        (index.by_start, (True, False)),
        (index.by_end, (False, True)),
        (index.by_both, (True, True)),
    ):
        codes = (starts, ends, ways)
        points, heads = listed_by(windows, index.length, index.books, codes, sides)
        names = growth.now[part.members.astype(np.int64)]
        lists.append(extend_partition(part, names, points, windows, heads))
    return WindowIndex.from_arrays(
        WindowIndex(index.length, index.books, starts, ends, ways, paces, *lists).arrays()
    )


def _grown_codes(
    known: npt.NDArray[np.int8],
    side: Side,
    book: tuple[FloatArray32, ...],
    frames: Frames,
    growth: Growth,
) -> tuple[npt.NDArray[np.int8], FloatArray32]:
    """Codes of all rows, those of old ones as they are known (R, C); metres that new ones lose."""
    old = growth.rows >= 0
    codes = np.zeros((frames.n_rows, known.shape[1]), dtype=np.int8)
    codes[old] = known[growth.rows[old]]
    rows = np.flatnonzero(~old)
    mean, axes, steps = book
    lost = np.zeros(len(rows), dtype=np.float32)
    for first in range(0, len(rows), BLOCK):
        some = rows[first : first + BLOCK]
        moments = contexts(frames, some, side=side)
        codes[some] = encoded(moments, mean, axes, steps)
        missing = (moments - mean) @ axes.T - codes[some] * steps
        lost[first : first + BLOCK] = np.linalg.norm(missing, axis=1)
    return codes, lost
