"""Pages of mapped arrays: given back once they are read, so that long streams stay small."""

from __future__ import annotations

import mmap
from typing import Any

import numpy.typing as npt

from motionloom.tables.collection.frames import Frames

__all__ = ["RELEASED_BYTES", "release_arrays", "release_frames"]

RELEASED_BYTES = 1 << 27
"""A stream over mapped rows gives its pages back about as often as it has read so many bytes."""


def release_frames(frames: Frames) -> None:
    """Give back the pages of all columns that are mapped from files; they can be read again."""
    release_arrays(
        frames.heading, frames.ground, frames.quats, frames.body, frames.points, frames.planted
    )


def release_arrays(*arrays: npt.NDArray[Any]) -> None:
    """Give back the pages of arrays that are mapped from files; others are left as they are.

    What was written to a private page is lost with it: rows of collections are never written to.
    """
    for array in arrays:
        base: object = array
        while base is not None and not isinstance(base, mmap.mmap):
            base = getattr(base, "base", None)
        if base is not None and hasattr(base, "madvise"):
            base.madvise(mmap.MADV_DONTNEED)
