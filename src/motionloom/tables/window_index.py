"""The index of a collection's windows on disk: built once, checked when it is opened, mapped."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np

from motionloom._arrays import IntArray
from motionloom.errors import TableError
from motionloom.tables.collection.collection import Collection
from motionloom.tables.index.index_build import Growth, build_index, extend_index
from motionloom.tables.index.neighbour_search import HEAD, LEADING
from motionloom.tables.index.neighbours import COMPONENTS, WindowIndex
from motionloom.tables.index.windows import compared_joints
from motionloom.tables.table_file import TableFile, open_table_file, write_table_file


def window_index(collection: Collection, length: int) -> WindowIndex:
    """The index of all windows of ``length`` frames, from disk, or made and put there.

    It depends on nothing but the collection, so that tables share it and stay small.
    """
    stored = _opened(collection, length, collection.digest, collection.frames.starts)
    if stored is not None:
        return stored
    built = build_index(collection.frames, length=length)
    _keep(collection, built)
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
    stored = _opened(collection, length, before, starts)
    if stored is None:
        return window_index(collection, length)
    grown = extend_index(stored, collection.frames, growth)
    if grown is None:
        return window_index(collection, length)
    _keep(collection, grown)
    return grown


def _place(collection: Collection, length: int) -> Path:
    return collection.path / f"windows.{length}.index"


def _keep(collection: Collection, index: WindowIndex) -> None:
    with suppress(TableError):  # a place that cannot be written costs time, nothing else
        write_table_file(
            _place(collection, index.length), {"inputs": collection.digest}, index.arrays()
        )


def _opened(
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
