"""The index of a collection's windows: built, extended by new clips, and kept on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from motionloom._arrays import BoolArray, IntArray
from motionloom.errors import TableError
from motionloom.tables.collection.collection import Collection
from motionloom.tables.collection.frames import (
    RELEASED_BYTES,
    FloatArray32,
    Frames,
    release_frames,
    speeds_of_clips,
)
from motionloom.tables.index.contexts import Side, contexts, displacements, encoded
from motionloom.tables.index.kmeans import extend_partition, find_partition
from motionloom.tables.index.matrices import add_squares, eigen, product
from motionloom.tables.index.neighbours import COMPONENTS, HEAD, LEADING, Books, Codes, WindowIndex
from motionloom.tables.index.windows import compared_joints, windows_of
from motionloom.tables.table_file import TableFile, open_table_file, write_table_file


def window_index(collection: Collection, length: int) -> WindowIndex:
    """The index of all windows of ``length`` frames, from disk, or made and put there.

    It depends on nothing but the collection, so that tables share it and stay small.
    """
    stored = _stored(collection, length, collection.digest, collection.frames.starts)
    if stored is not None:
        return stored
    built = build_index(collection.frames, length=length)
    _store(collection, built)
    return built


def grown_index(collection: Collection, length: int, before: str, growth: Growth) -> WindowIndex:
    """The index after clips were added: the one before with their windows in it, where that fits.

    Parameters
    ----------
    collection
        As it is now.
    length
        Frames in a window.
    before
        Digest that the collection had.
    growth
        What was added.
    """
    if not growth.is_new.any():
        return window_index(collection, length)
    lengths = np.diff(collection.frames.starts)
    order = np.argsort(growth.clips, kind="stable")[np.count_nonzero(growth.is_new) :]
    starts = np.cumsum([0, *lengths[order]], dtype=np.int64)
    stored = _stored(collection, length, before, starts)
    if stored is None:
        return window_index(collection, length)
    grown = extend_index(stored, collection.frames, growth)
    if grown is None:
        return window_index(collection, length)
    _store(collection, grown)
    return grown


FITTED = 40_000
"""Principal components are fitted to at most this many rows."""
BLOCK = 8192
"""Rows whose contexts are held at a time."""
LEAST_M = 1e-6
"""A component that reaches no farther than this is nothing but rounding."""
STEP_M = 2e-4
"""Displacements, weighed as they are, are kept in steps of this."""


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
    speeds = speeds_of_clips(frames, range(frames.n_clips))
    return WindowIndex.from_arrays(
        WindowIndex(length, books, starts, ends, ways, speeds, *partitions).arrays()
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
            leading = codes_of[rows[block] + at, :LEADING]
            points[block, LEADING * k : LEADING * (k + 1)] = leading * steps[:LEADING]
            heads[block, HEAD * k : HEAD * (k + 1)] = leading[:, :HEAD]
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
    :data:`BEYOND` of the new rows go beyond what the books can write down: build a new index.
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
    speeds = np.zeros((frames.n_clips, 3))
    speeds[~growth.is_new] = index.speeds[growth.clips[~growth.is_new]]
    speeds[growth.is_new] = speeds_of_clips(frames, np.flatnonzero(growth.is_new).tolist())
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
        WindowIndex(index.length, index.books, starts, ends, ways, speeds, *lists).arrays()
    )


def _grown_codes(
    before: npt.NDArray[np.int8],
    side: Side,
    book: tuple[FloatArray32, ...],
    frames: Frames,
    growth: Growth,
) -> tuple[npt.NDArray[np.int8], FloatArray32]:
    """Codes of all rows, those of old ones as they are known (R, C); metres that new ones lose."""
    old = growth.rows >= 0
    codes = np.zeros((frames.n_rows, before.shape[1]), dtype=np.int8)
    codes[old] = before[growth.rows[old]]
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


def _place(collection: Collection, length: int) -> Path:
    return collection.path / f"windows.{length}.index"


def _store(collection: Collection, index: WindowIndex) -> None:
    with suppress(TableError):  # a place that cannot be written costs time, nothing else
        write_table_file(
            _place(collection, index.length), {"inputs": collection.digest}, index.arrays()
        )


def _stored(
    collection: Collection, length: int, inputs: str, starts: IntArray
) -> WindowIndex | None:
    """The index on disk; None where it is missing, damaged, or made from something else."""
    frames = collection.frames
    width = 9 * len(compared_joints(frames.skeleton, frames.body_map))
    try:
        file = open_table_file(_place(collection, length))
        if file.header.get("inputs") != inputs:
            return None
        check_index(file, length, starts, width)
        return WindowIndex.from_arrays(file.arrays)
    except TableError:
        return None


LARGEST = 1e12
"""Far beyond every length in metres; squares of it stay finite in single precision."""
LISTS = {
    "by_start": (LEADING, HEAD),
    "by_end": (LEADING, HEAD),
    "by_both": (2 * LEADING + 3, 2 * HEAD),
}
"""Numbers that each partition is made by, and numbers of the heads of its members."""


def check_index(file: TableFile, length: int, starts: IntArray, width: int) -> None:
    """Check kind, shape and range of the arrays of a window index.

    Parameters
    ----------
    file
        The index.
    length
        Frames of a window.
    starts
        First row of every clip of the collection, and the number of rows. (C + 1,)
    width
        Numbers of a context.

    Raises
    ------
    TableError
        An array is missing or of another kind or shape, or a value is out of its range.
    """
    n_rows, n_clips = int(starts[-1]), len(starts) - 1
    if int(file.array("about", "<i8", (2,))[1]) != length:
        raise file.damaged(f"it must be of windows of {length} frames")
    for name in ("starts", "ends"):
        file.array(name, "|i1", (n_rows, COMPONENTS))
    file.array("ways", "<i2", (n_rows, 3))
    paces = file.array("paces", "<f8", (n_clips, 3))
    if not (paces >= 0.0).all() or not (paces <= LARGEST).all():
        raise file.damaged("the speeds of its clips must be finite and not negative")
    _check_books(file, width)
    clips = np.diff(starts)
    is_start = np.zeros(n_rows, dtype=bool)
    for first, count in zip(starts[:-1].tolist(), clips.tolist(), strict=True):
        is_start[first : first + max(0, count - length + 1)] = True
    for name, (dimensions, head) in LISTS.items():
        _check_lists(file, name, dimensions, head)
        members = file.array(f"{name}.members", "<u4", (None,))
        if len(members) and (int(members.max()) >= n_rows or not is_start[members].all()):
            raise file.damaged(f"{name!r} lists a row that starts no window")


def _check_books(file: TableFile, width: int) -> None:
    for side in ("start", "end"):
        mean = file.array(f"books.{side}_mean", "<f4", (width,))
        axes = file.array(f"books.{side}_axes", "<f4", (COMPONENTS, width))
        steps = file.array(f"books.{side}_steps", "<f4", (COMPONENTS,))
        if not all((np.abs(values) <= LARGEST).all() for values in (mean, axes, steps)):
            raise file.damaged(f"the codes of the {side} must be made by finite numbers")
        if not (steps > np.finfo(np.float32).tiny).all():
            raise file.damaged(f"the steps of the codes of the {side} must be above 0")
    (step,) = file.array("books.way_step", "<f4", (1,)).tolist()
    if not np.finfo(np.float32).tiny < step <= LARGEST:
        raise file.damaged("the step of displacements must be above 0")


def _check_lists(file: TableFile, name: str, dimensions: int, head: int) -> None:
    """Check that lists and groups of a partition follow one another, and their centres."""
    groups = file.array(f"{name}.groups", "<f4", (None, dimensions))
    centres = file.array(f"{name}.centres", "<f4", (None, dimensions))
    members = file.array(f"{name}.members", "<u4", (None,))
    file.array(f"{name}.heads", "|i1", (len(members), head))
    if not len(groups) or not len(centres) or not len(members):
        raise file.damaged(f"{name!r} must have groups, lists and members")
    for values in (groups, centres):
        if not (np.abs(values) <= LARGEST).all():
            raise file.damaged(f"the centres of {name!r} must be finite")
    for first, count, end in (
        ("group_first", len(groups), len(centres)),
        ("list_first", len(centres), len(members)),
    ):
        places = file.array(f"{name}.{first}", "<i8", (count + 1,))
        if places[0] != 0 or places[-1] != end or (np.diff(places) < 0).any():
            raise file.damaged(f"{first!r} of {name!r} must rise from 0 to {end}")
