"""The arrays of a window index on disk, checked before a search follows an index in them."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import IntArray
from motionloom.tables.index.neighbour_search import HEAD, LEADING
from motionloom.tables.index.neighbours import COMPONENTS
from motionloom.tables.table_file import TableFile

__all__ = ["check_index"]

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
