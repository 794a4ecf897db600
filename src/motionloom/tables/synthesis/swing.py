"""Swing: how far a foot is moved in every frame, held or between two holds."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom._core import kernel
from motionloom.tables.synthesis.synthesis_rig import Rows

__all__ = ["NOT_HELD", "clear_ground", "run_offsets"]

NOT_HELD = -1
"""In place of the number of a hold, where a foot is free."""

_offsets = kernel("ml_swing_offsets")
_clear = kernel("ml_swing_clear")


def run_offsets(held: IntArray, places: FloatArray, foot: FloatArray, offsets: FloatArray) -> None:
    """Shift of one foot's points in every frame, metres (L, 3).

    In frames held it takes the foot to its place. Between, it goes over from hold to hold with the
    slope that it has there, so that feet do not start at once; it is zero at both seams. A step
    from hold to hold is lifted off the ground where the blend would drag it.

    Parameters
    ----------
    held : (L,)
        Number of the plant, or ``NOT_HELD``.
    places : (L, 3)
        Where the foot is to be in frames held.
    foot : (L, 3)
        Where the blend has it.
    offsets : (L, 3)
        Filled.
    """
    _offsets(len(held), held, places, foot, offsets)


def clear_ground(
    rows: Rows,
    side: int,
    at: IntArray,
    weights: FloatArray,
    held: IntArray,
    heel: FloatArray,
    ball: FloatArray,
    fps: float,
    offsets: FloatArray,
    tilts: FloatArray,
) -> None:
    """Lift a free foot that would be dragged along the ground; keep heel and ball above it.

    Blends of a standing foot and a swinging one go along at the height of neither, and blends of
    feet that point up and down stand with the heel in the ground.

    Parameters
    ----------
    rows, side, at, weights
        The windows, and which foot it is.
    held, heel, ball : (L,), (L, 3), (L, 3)
        Number of the hold or ``NOT_HELD``, and where the blend has the foot.
    fps
        Frames per second.
    offsets : (L, 3)
        Changed: free feet are lifted.
    tilts : (L,)
        Filled: by how much the heel comes up about the ball, radians.
    """
    n_frames, n_ways = at.shape
    _clear(
        rows.record, side, n_frames, n_ways, at, weights, held, heel, ball, fps,
        np.zeros((4, n_frames)), offsets, tilts,
    )  # fmt: skip
