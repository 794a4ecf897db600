"""The index of a collection's windows on disk: made once, kept with the collection, mapped."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from motionloom.errors import TableError
from motionloom.transitions.collecting.collection import Collection
from motionloom.transitions.likeness.growth import Growth, extend_index
from motionloom.transitions.likeness.neighbours import WindowIndex, build_index
from motionloom.transitions.tables.tablefile import open_table_file, write_table_file

__all__ = ["grown_index", "window_index"]


def window_index(collection: Collection, length: int) -> WindowIndex:
    """The index of all windows of ``length`` frames, from disk, or made and put there.

    It depends on nothing but the collection, so that tables share it and stay small.
    """
    found = _opened(_place(collection, length), collection.digest)
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
    found = _opened(_place(collection, length), before)
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


def _opened(path: Path, inputs: str) -> WindowIndex | None:
    try:
        file = open_table_file(path)
        if file.header.get("inputs") != inputs:
            return None
        return WindowIndex.from_arrays(file.arrays)
    except (TableError, KeyError, TypeError, ValueError):
        return None
