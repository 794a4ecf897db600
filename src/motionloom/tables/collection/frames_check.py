"""All frames of a collection, checked before they are searched."""

from __future__ import annotations

import numpy as np

from motionloom.errors import TableError
from motionloom.tables.collection.frames import ClipFrames, Frames
from motionloom.tables.collection.pages import RELEASED_BYTES, release_frames
from motionloom.tables.collection.row_check import fault_of_rows

__all__ = ["check_frames"]


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
