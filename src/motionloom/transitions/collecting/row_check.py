"""The rows of a collection, checked before a kernel reads them: finite, bounded, unit rotations."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from motionloom.errors import TableError
from motionloom.transitions.collecting.catalogue_check import FARTHEST_M
from motionloom.transitions.collecting.frames import ClipFrames, Frames
from motionloom.transitions.collecting.pages import RELEASED_BYTES, release_frames

__all__ = ["check_frames", "fault_of_rows"]

BLOCK = 1 << 16
"""Values that are checked at a time: so many stay in the cache of a processor."""
SHORTEST, LONGEST = 0.5, 2.0
"""Length of a stored rotation, which is rounded to single precision: nearly 1."""


def check_frames(frames: Frames) -> None:
    """Check every row of a collection, clip by clip.

    Raises
    ------
    TableError
        A clip holds values that no motion can have.
    """
    read = 0
    for clip, name in enumerate(frames.ids):
        rows = slice(int(frames.starts[clip]), int(frames.starts[clip + 1]))
        for column in ClipFrames._fields:
            values = np.asarray(getattr(frames, column))[rows]
            fault = fault_of_rows(column, values)
            if fault:
                raise TableError(
                    f"Clip {name!r} holds {fault} ({column}). The collection is damaged: ingest "
                    "its folder again."
                )
            read += values.nbytes
        if read > RELEASED_BYTES:
            release_frames(frames)
            read = 0


def fault_of_rows(name: str, rows: npt.NDArray[Any]) -> str:
    """What no motion can have among the rows of a column; empty where there is nothing.

    Parameters
    ----------
    name
        Of the column.
    rows
        All of its values.
    """
    if name == "planted":
        is_flag = not rows.size or int(rows.view(np.uint8).max()) <= 1
        return "" if is_flag else "flags that are neither true nor false"
    if name == "quats":
        return "" if _are_rotations(rows.reshape(-1, 4)) else "rotations that have no unit length"
    if _are_bounded(rows.reshape(-1)):
        return ""
    return f"values that are no numbers, or beyond {FARTHEST_M:g}"


def _are_bounded(values: npt.NDArray[Any]) -> bool:
    # Comparisons with what is no number are false.
    return all(
        values[k : k + BLOCK].min() >= -FARTHEST_M and values[k : k + BLOCK].max() <= FARTHEST_M
        for k in range(0, len(values), BLOCK)
    )


def _are_rotations(quats: npt.NDArray[Any]) -> bool:
    for first in range(0, len(quats), BLOCK):
        part = quats[first : first + BLOCK]
        squares = np.einsum("ij,ij->i", part, part)
        if not (squares.min() >= SHORTEST**2 and squares.max() <= LONGEST**2):
            return False
    return True
