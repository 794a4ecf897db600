"""Neighbours: the captured windows with the nearest start, end and displacement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray, IntArray
from motionloom._core import Record, integer, kernel, record
from motionloom.errors import ArrayError, TableError
from motionloom.tables.collection.frames import FloatArray32, Frames
from motionloom.tables.index.contexts import VELOCITY_S, context_offsets
from motionloom.tables.index.kmeans import Partition
from motionloom.tables.index.windows import compared_joints

LEADING = integer("ML_INDEX_LEADING")
"""Components that the lists are made by."""
HEAD = integer("ML_INDEX_HEAD")
"""Those of them that every window in a list is looked at by."""
Codes = tuple[npt.NDArray[np.int8], npt.NDArray[np.int8], npt.NDArray[np.int16]]
"""Starts and ends (R, C) and ways (R, 3) of all rows."""
Given = tuple[FloatArray32 | None, FloatArray32 | None, FloatArray32 | None]
"""Contexts of start and end (D,), and displacement (3,); None is not asked for."""
Effort = tuple[int, int, int]
"""How many groups and lists are looked into, and after how many windows the search ends."""
_search = kernel("ml_neighbour_search")


class Books(NamedTuple):
    """How contexts become codes: ``code = axes @ (context - mean) / steps``."""

    start_mean: FloatArray32
    start_axes: FloatArray32
    """(C, D)"""
    start_steps: FloatArray32
    """Metres a step, per component. (C,)"""
    end_mean: FloatArray32
    end_axes: FloatArray32
    end_steps: FloatArray32
    way_step: FloatArray32
    """Metres. (1,)"""


VERSION = 2
"""Goes up whenever contexts, displacements or codes mean something else than before."""
COMPONENTS = 40
"""Principal components kept of a context, a byte each."""
GROUPS, LISTS = integer("ML_INDEX_GROUPS"), integer("ML_INDEX_LISTS")
LOOKED_AT = integer("ML_INDEX_SEEN")
"""A search looks into this many groups and lists, the nearest first, until it has seen this many
windows."""
SIDES = {
    "by_start": (True, False, False),
    "by_end": (False, True, False),
    "by_both": (True, True, True),
}
"""Whether each partition is by starts, by ends, and by displacements."""


class Neighbours(NamedTuple):
    """Windows found, the nearest first."""

    rows: IntArray
    """Their first rows. (n,)"""
    distances: FloatArray
    """Root of the summed squares of the distances asked for, metres. (n,)"""


@dataclass(frozen=True, slots=True, eq=False)
class WindowIndex:
    """Every captured window by its context; under 140 bytes a row, in memory or memory-mapped."""

    length: int
    """Frames in a window."""
    books: Books
    starts: npt.NDArray[np.int8]
    """What leads up to each row. (R, C)"""
    ends: npt.NDArray[np.int8]
    """What follows each row. (R, C)"""
    ways: npt.NDArray[np.int16]
    """Displacement and turn of the window that starts at each row, in steps. (R, 3)"""
    speeds: FloatArray
    """Largest speeds of each clip; see :mod:`~motionloom.tables.collection.frames`. (C, 3)"""
    by_start: Partition
    by_end: Partition
    by_both: Partition
    _records: dict[str, Record] = field(default_factory=dict, init=False, repr=False)
    """What the core is given, made when it is first asked."""

    def __reduce__(self) -> tuple[object, ...]:
        # Addresses are of one process: only the arrays are pickled and copied.
        return WindowIndex.from_arrays, (self.arrays(),)

    def nearest(
        self,
        start: FloatArray32 | None = None,
        end: FloatArray32 | None = None,
        displacement: npt.ArrayLike | None = None,
        *,
        count: int = 8,
        apart: int = 1,
        exclude: npt.ArrayLike = (),
    ) -> Neighbours:
        """The windows nearest to what is asked for; what is None is not looked at.

        Parameters
        ----------
        start, end
            Contexts (D,) of the moments to begin and to end at, from :func:`contexts`.
        displacement
            From :func:`displacements`: metres sideways and ahead, and the turn. (3,)
        count
            How many.
        apart
            Rows of two windows differ by at least this much: neighbours of one frame say the same.
        exclude
            First and last rows (n, 2), both in it, that no window may have a frame of.

        Returns
        -------
        Neighbours
            At most ``count``; nearly always the nearest of all (see ``./bench transitions``).
        """
        if start is None and end is None:
            raise ArrayError("Ask for windows by `start`, by `end` or by both; got neither.")
        if count < 1 or apart < 1:
            raise ArrayError(f"`count` and `apart` must be at least 1, got {count} and {apart}.")
        spans = np.array(exclude, dtype=np.int64, order="C")
        if spans.size == 0:
            spans = spans.reshape(0, 2)
        elif spans.ndim != 2 or spans.shape[1] != 2:
            raise ArrayError(f"`exclude` must have shape (any, 2), got {spans.shape}.")
        lists = "by_both"
        if end is None and displacement is None:
            lists = "by_start"
        elif start is None and displacement is None:
            lists = "by_end"
        rows, squared = search_lists(
            self.windows_record(),
            self.lists_record(lists),
            self._given(start, end, displacement),
            count=count,
            apart=apart,
            spans=spans,
            effort=(GROUPS, LISTS, LOOKED_AT),
        )
        return Neighbours(rows, np.sqrt(squared, dtype=np.float64))

    def _given(
        self,
        start: FloatArray32 | None,
        end: FloatArray32 | None,
        displacement: npt.ArrayLike | None,
    ) -> Given:
        width = self.books.start_mean.shape
        return (
            _checked(start, "start", width),
            _checked(end, "end", width),
            _checked(displacement, "displacement", (3,)),
        )

    def windows_record(self) -> Record:
        """Codes and books as the core takes them."""
        if "windows" not in self._records:
            codes = (self.starts, self.ends, self.ways)
            self._records["windows"] = windows_record(self.length, self.books, codes)
        return self._records["windows"]

    def lists_record(self, name: str) -> Record:
        """The partition ``by_start``, ``by_end`` or ``by_both`` as the core takes it."""
        if name not in self._records:
            self._records[name] = lists_record(getattr(self, name), SIDES[name])
        return self._records[name]

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays by name, for a file; :meth:`from_arrays` takes them back."""
        about = np.array([VERSION, self.length], dtype=np.int64)
        arrays: dict[str, npt.NDArray[Any]] = {"about": about}
        for name, stored in _PLAIN.items():
            arrays[stored] = getattr(self, name)
        for name in _NESTED:
            part = getattr(self, name)
            arrays |= {f"{name}.{key}": getattr(part, key) for key in _fields(part)}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> WindowIndex:
        """From what :meth:`arrays` gave; nothing is copied, so they may be memory-mapped."""
        version, length = (int(number) for number in arrays["about"])
        if version != VERSION:
            raise TableError(
                f"A window index must be of version {VERSION}, got {version}. Build it again: "
                "motionloom of another version compares windows by other numbers."
            )
        parts: dict[str, Any] = {name: _sealed(arrays[stored]) for name, stored in _PLAIN.items()}
        for name, kind in _NESTED.items():
            parts[name] = kind(*(_sealed(arrays[f"{name}.{key}"]) for key in _fields(kind)))
        return cls(length=length, **parts)

    @property
    def bytes_per_row(self) -> float:
        """What is kept of a row, the centres' share included."""
        return sum(array.nbytes for array in self.arrays().values()) / max(1, len(self.starts))


_PLAIN = {"starts": "starts", "ends": "ends", "ways": "ways", "speeds": "paces"}
"""Arrays, and their names in files of every version."""
_NESTED: dict[str, type[Books] | type[Partition]] = {
    "books": Books,
    "by_start": Partition,
    "by_end": Partition,
    "by_both": Partition,
}


def _sealed(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array, not to be written to, as from a file."""
    sealed = np.asarray(array).view()
    sealed.flags.writeable = False
    return sealed


def _fields(kind: object) -> tuple[str, ...]:
    names: tuple[str, ...] = getattr(kind, "_fields", ()) or getattr(kind, "__slots__", ())
    return names


def _checked(
    values: npt.ArrayLike | None, name: str, shape: tuple[int, ...]
) -> FloatArray32 | None:
    if values is None:
        return None
    array = np.array(values, dtype=np.float32, order="C")
    if array.shape != shape or not isfinite(array.dot(array)):  # quicker than asking each number
        wanted = ", ".join(str(n) for n in shape)
        raise ArrayError(f"`{name}` must be finite, of shape ({wanted}), got {array.shape}.")
    return array


CAPTURED = integer("ML_TABLE_CAPTURED")
"""Captured windows with the most similar ends that are tried as intermediaries."""
EFFORT = integer("ML_TABLE_GROUPS"), integer("ML_TABLE_LISTS"), integer("ML_TABLE_SEEN")
"""Nearest groups and lists that are looked into, until so many windows were seen. Of 4.3 million
windows it takes 0.22 ms in place of the 0.39 that an index takes (12, 48, 2000), and the best
recipes with what is found cost 0.01 % more; with (6, 16, 600) 0.19 ms and 0.06 %."""
_between = kernel("ml_neighbour_between")


class CapturedBetween:
    """An index prepared for queries of windows between two others.

    ``index.nearest(start, end)`` looks farther; this one makes contexts and question in one call.
    The displacement of a transition is free, so it is not part of the query.
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
        rows, n_rows = np.zeros(count, dtype=np.int64), np.zeros(1, dtype=np.int64)
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
            n_rows,
        )
        return rows[: n_rows[0]]


def windows_record(length: int, books: Books, codes: Codes) -> Record:
    """Codes of all windows and how they are written, as the core takes them."""
    starts, ends, ways = codes
    return record(
        "ml_window_index",
        n_rows=len(starts),
        n_codes=starts.shape[1],
        n_columns=len(books.start_mean),
        length=length,
        starts=np.ascontiguousarray(starts, dtype=np.int8),
        ends=np.ascontiguousarray(ends, dtype=np.int8),
        ways=np.ascontiguousarray(ways, dtype=np.int16),
        **{
            name: np.ascontiguousarray(values, dtype=np.float32)
            for name, values in books._asdict().items()
        },
    )


def lists_record(lists: Partition, sides: tuple[bool, bool, bool]) -> Record:
    """A partition by starts, by ends, and by displacements, as the core takes it."""
    return record(
        "ml_window_lists",
        n_groups=len(lists.groups),
        n_lists=len(lists.centres),
        n_members=len(lists.members),
        width=lists.centres.shape[1],
        n_head=lists.heads.shape[1],
        by_start=sides[0],
        by_end=sides[1],
        by_way=sides[2],
        groups=np.ascontiguousarray(lists.groups, dtype=np.float32),
        group_first=np.ascontiguousarray(lists.group_first, dtype=np.int64),
        centres=np.ascontiguousarray(lists.centres, dtype=np.float32),
        list_first=np.ascontiguousarray(lists.list_first, dtype=np.int64),
        members=np.ascontiguousarray(lists.members, dtype=np.uint32),
        heads=np.ascontiguousarray(lists.heads, dtype=np.int8),
    )


def scratch_size(windows: Record, lists: Record, effort: Effort) -> int:
    """Numbers that a search keeps on its way."""
    question = 4 * windows.n_codes + 6 + 2 * lists.width + 2 * lists.n_head
    return int(question + effort[0] + effort[1])


def search_lists(
    windows: Record,
    lists: Record,
    given: Given,
    *,
    count: int,
    apart: int,
    spans: IntArray,
    effort: Effort,
) -> tuple[IntArray, FloatArray32]:
    """Rows and squared distances of the nearest windows, in the lists nearest to the question.

    Parameters
    ----------
    windows
        From :func:`windows_record`.
    lists
        From :func:`lists_record`.
    given
        What is looked for.
    count, apart, spans
        Windows wanted, rows between two of them, rows to leave out.
    effort
        Windows left out do not count. If the lists hold fewer windows than are wanted, all lists
        are searched.
    """
    rows, squared = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.float32)
    n_rows = np.zeros(1, dtype=np.int64)
    _search(
        windows,
        lists,
        *given,
        apart,
        len(spans),
        spans,
        *effort,
        np.zeros(effort[0] + effort[1], dtype=np.int64),
        np.zeros(scratch_size(windows, lists, effort), dtype=np.float32),
        count,
        rows,
        squared,
        n_rows,
    )
    return rows[: n_rows[0]], squared[: n_rows[0]]
