"""Neighbours: the captured windows whose start, end and way are most like those asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray, IntArray
from motionloom._core import Record
from motionloom.errors import ArrayError, TableError
from motionloom.tables.collection.frames import FloatArray32, Frames
from motionloom.tables.collection.joint_speeds import paces_of
from motionloom.tables.collection.pages import RELEASED_BYTES, release_frames
from motionloom.tables.index.contexts import Side, contexts, displacements, encoded
from motionloom.tables.index.kmeans import Partition, find_partition
from motionloom.tables.index.matrices import add_squares, eigen, product
from motionloom.tables.index.neighbour_search import (
    HEAD,
    LEADING,
    Books,
    Codes,
    Given,
    Question,
    ask,
    lists_record,
    search_lists,
    windows_record,
)
from motionloom.tables.index.windows import windows_of

__all__ = [
    "Neighbours",
    "WindowIndex",
    "build_index",
    "listed_by",
    "ways_of",
]

VERSION = 2
"""Goes up whenever contexts, displacements or codes mean something else than before."""
COMPONENTS = 40
"""Principal components kept of a context, a byte each."""
FITTED = 40_000
"""Principal components are fitted to at most this many rows."""
BLOCK = 8192
"""Rows whose contexts are held at a time."""
LEAST_M = 1e-6
"""A component that reaches no farther than this is nothing but rounding."""
STEP_M = 2e-4
"""Displacements, weighed as they are, are kept in steps of this."""
GROUPS, LISTS, LOOKED_AT = 12, 48, 2000
"""A search looks into the nearest so many groups and lists, until it has seen so many windows."""
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
    """Root of the summed squares of what was asked for (start, end, displacement), metres. (n,)"""


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
    paces: FloatArray
    """Largest speeds of each clip; see :mod:`~motionloom.tables.collection.joint_speeds`. (C, 3)"""
    by_start: Partition
    by_end: Partition
    by_both: Partition
    _records: dict[str, Record] = field(default_factory=dict, init=False, repr=False)
    """What the core is given, made when it is first asked."""

    def __reduce__(self) -> tuple[object, ...]:
        # Addresses mean nothing elsewhere: only the arrays are pickled and copied.
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
            From :func:`displacements`: metres aside and ahead, and the turn. (3,)
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

    def question(
        self,
        start: FloatArray32 | None = None,
        end: FloatArray32 | None = None,
        displacement: npt.ArrayLike | None = None,
    ) -> Question:
        """What is asked for, in the units of the index."""
        return ask(self.windows_record(), self._given(start, end, displacement))

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
        for name in _PLAIN:
            arrays[name] = getattr(self, name)
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
        parts: dict[str, Any] = {name: _sealed(arrays[name]) for name in _PLAIN}
        for name, kind in _NESTED.items():
            parts[name] = kind(*(_sealed(arrays[f"{name}.{key}"]) for key in _fields(kind)))
        return cls(length=length, **parts)

    @property
    def bytes_per_row(self) -> float:
        """What is kept of a row, the centres' share included."""
        return sum(array.nbytes for array in self.arrays().values()) / max(1, len(self.starts))


_PLAIN = ("starts", "ends", "ways", "paces")
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


def build_index(frames: Frames, *, length: int, seed: int = 0) -> WindowIndex:
    """An index of every window of a collection.

    Parameters
    ----------
    frames
        The collection.
    length
        Frames in a window.
    seed
        Of what is drawn at random.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> from motionloom.tables.collection.frames import frames_of
    >>> frames = frames_of([synthetic.clip("walk").motion, synthetic.clip("run").motion])
    >>> start = contexts(frames, np.array([300]), side="start")[0]
    >>> found = build_index(frames, length=60).nearest(start, count=3, exclude=[(295, 400)])
    >>> [frames.place_of(int(row))[0] for row in found.rows]
    ['run', 'run', 'run']
    """
    rows = frames.sound(windows_of(frames, length), length)
    books = Books(
        *_fit_book(frames, "start"),
        *_fit_book(frames, "end"),
        np.array([STEP_M], dtype=np.float32),
    )
    starts = _encode(frames, "start", *books[:3])
    ends = _encode(frames, "end", *books[3:6])
    ways = np.zeros((frames.n_rows, 3), dtype=np.int16)
    ways[rows] = ways_of(frames, rows, length)
    partitions = []
    for sides in ((True, False), (False, True), (True, True)):
        # One after the other: what they are made from is the most that a build holds.
        points, heads = listed_by(rows, length, books, (starts, ends, ways), sides)
        partitions.append(find_partition(points, rows, heads, seed=seed))
    paces = paces_of(frames, range(frames.n_clips))
    return WindowIndex.from_arrays(
        WindowIndex(length, books, starts, ends, ways, paces, *partitions).arrays()
    )


def listed_by(
    rows: IntArray,
    length: int,
    books: Books,
    codes: Codes,
    sides: tuple[bool, bool],
) -> tuple[FloatArray32, npt.NDArray[np.int8]]:
    """What windows are put into lists by, metres (N, D), and the heads of their codes (N, H).

    By their starts, their ends, or both and the way between.
    """
    starts, ends, ways = codes
    asked = [
        (codes_of, at, steps)
        for codes_of, at, steps, wanted in (
            (starts, 0, books.start_steps, sides[0]),
            (ends, length - 1, books.end_steps, sides[1]),
        )
        if wanted
    ]
    way = 3 if all(sides) else 0
    points = np.zeros((len(rows), LEADING * len(asked) + way), dtype=np.float32)
    heads = np.zeros((len(rows), HEAD * len(asked)), dtype=np.int8)
    for first in range(0, len(rows), BLOCK):
        block = slice(first, first + BLOCK)
        for k, (codes_of, at, steps) in enumerate(asked):
            found = codes_of[rows[block] + at, :LEADING]
            points[block, LEADING * k : LEADING * (k + 1)] = found * steps[:LEADING]
            heads[block, HEAD * k : HEAD * (k + 1)] = found[:, :HEAD]
        if way:
            points[block, -way:] = ways[rows[block]] * books.way_step
    return points, heads


def ways_of(frames: Frames, rows: IntArray, length: int) -> npt.NDArray[np.int16]:
    """Displacement and turn of the windows that start at ``rows``, in steps. (N, 3)."""
    ways = np.zeros((len(rows), 3), dtype=np.int16)
    for first in range(0, len(rows), BLOCK):
        some = rows[first : first + BLOCK]
        way = displacements(frames, some, some + length - 1)
        ways[first : first + BLOCK] = np.clip(np.rint(way / STEP_M), -32767, 32767)
    return ways


def _fit_book(frames: Frames, side: Side) -> tuple[FloatArray32, FloatArray32, FloatArray32]:
    """Mean, axes and steps that keep most of the collection's contexts in a byte a component."""
    every = -(-frames.n_rows // FITTED)
    some = contexts(frames, np.arange(0, frames.n_rows, every), side=side)
    mean = some.mean(axis=0, dtype=np.float64)
    centred = some - mean
    squares = np.zeros((len(mean), len(mean)))
    add_squares(centred, squares)
    _, vectors = eigen(squares)
    axes = np.zeros((COMPONENTS, len(mean)))  # the rest are zero where a body has few joints
    axes[: len(mean)] = vectors.T[::-1][:COMPONENTS]
    widest = np.abs(product(centred, axes.T)).max(axis=0)
    steps = np.maximum(widest, LEAST_M) / 127.0
    return (
        mean.astype(np.float32),
        np.ascontiguousarray(axes, dtype=np.float32),
        steps.astype(np.float32),
    )


def _encode(
    frames: Frames, side: Side, mean: FloatArray32, axes: FloatArray32, steps: FloatArray32
) -> npt.NDArray[np.int8]:
    """Codes of every row, (R, C)."""
    codes = np.zeros((frames.n_rows, len(axes)), dtype=np.int8)
    for first in range(0, frames.n_rows, BLOCK):
        rows = np.arange(first, min(first + BLOCK, frames.n_rows))
        codes[rows] = encoded(contexts(frames, rows, side=side), mean, axes, steps)
        if first % (RELEASED_BYTES // frames.body[0].nbytes) < BLOCK:
            release_frames(frames)
    return codes
