"""The index of a collection's windows on disk: made once, kept with the collection, mapped."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from motionloom.errors import TableError
from motionloom.transitions.collection import Collection
from motionloom.transitions.neighbours import WindowIndex, build_index
from motionloom.transitions.tablefile import open_table_file, write_table_file

__all__ = ["window_index"]


def window_index(collection: Collection, length: int) -> WindowIndex:
    """The index of all windows of ``length`` frames, from disk, or made and put there.

    It depends on nothing but the collection, so that tables share it and stay small.
    """
    path = collection.path / f"windows.{length}.index"
    found = _opened(path, collection.digest)
    if found is not None:
        return found
    made = build_index(collection.frames, length=length)
    with suppress(TableError):  # a place that cannot be written costs time, nothing else
        write_table_file(path, {"inputs": collection.digest}, made.arrays())
    return made


def _opened(path: Path, inputs: str) -> WindowIndex | None:
    try:
        file = open_table_file(path)
        if file.header.get("inputs") != inputs:
            return None
        return WindowIndex.from_arrays(file.arrays)
    except (TableError, KeyError, TypeError, ValueError):
        return None
