"""The index of a collection's windows on disk: made once, kept with the collection, mapped."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np

from motionloom._arrays import IntArray
from motionloom.errors import TableError
from motionloom.tables.collection.collection import Collection
from motionloom.tables.index.growth import Growth, extend_index
from motionloom.tables.index.neighbours import WindowIndex, build_index
from motionloom.tables.index.windows import compared_joints
from motionloom.tables.index_arrays import check_index
from motionloom.tables.table_file import open_table_file, write_table_file

__all__ = ["grown_index", "window_index"]


def window_index(collection: Collection, length: int) -> WindowIndex:
    """The index of all windows of ``length`` frames, from disk, or made and put there.

    It depends on nothing but the collection, so that tables share it and stay small.
    """
    found = _opened(collection, length, collection.digest, collection.frames.starts)
    if found is not None:
        return found
    made = build_index(collection.frames, length=length)
    _keep(collection, made)
    return made


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
    found = _opened(collection, length, before, starts)
    if found is None:
        return window_index(collection, length)
    made = extend_index(found, collection.frames, growth)
    if made is None:
        return window_index(collection, length)
    _keep(collection, made)
    return made


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
