"""Leg kernel: legs that follow their feet.

Each leg is solved in closed form. Where a held foot would be out of reach, the body is lowered a
little, then the heel comes up about the ball; knees ease into full stretch instead of meeting it.
"""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom._core import kernel

__all__ = ["follow_feet", "lower_root"]

_lower = kernel("ml_reach_lower")
_follow = kernel("ml_reach_follow")


def lower_root(
    positions: FloatArray, legs: IntArray, held: IntArray, shifts: FloatArray, drops: FloatArray
) -> None:
    """How far the body comes down in every frame so that held feet are in reach, metres (L,).

    Parameters
    ----------
    positions : (L, J, 3)
        The blend's joints.
    legs : (2, 3)
        Hips, knees, ankles.
    held : (2, L)
        Below 0 where a foot is free.
    shifts : (2, L, 3)
        Of the ankles.
    drops : (L,)
        Filled.
    """
    n_frames, n_joints = positions.shape[:2]
    _lower(n_frames, n_joints, legs, positions, held, shifts, np.zeros(n_frames), drops)


def follow_feet(
    parents: IntArray,
    leg: IntArray,
    sole: FloatArray,
    pole: FloatArray,
    held: IntArray,
    shifts: FloatArray,
    tilts: FloatArray,
    drops: FloatArray,
    positions: FloatArray,
    world: FloatArray,
    quats: FloatArray,
) -> float:
    """Local rotations of one leg whose foot is shifted; the farthest that a held ankle missed.

    Parameters
    ----------
    parents, leg, sole, pole
        Of the rig: hip, knee, ankle; heel and ball in the ankle's frame; side of the knee.
    held, shifts, tilts : (L,), (L, 3), (L,)
        Of this foot: its hold, how far it is moved, and how far its heel comes up about the ball.
    drops : (L,)
        How far the body comes down.
    positions, world
        The blend's joints, before.
    quats : (L, J, 4)
        Local rotations, changed in place.
    """
    n_frames, n_joints = positions.shape[:2]
    missed = np.zeros(1)
    _follow(
        n_frames, n_joints, parents, leg, sole, pole, held, shifts, tilts, drops, positions, world,
        quats, missed,
    )  # fmt: skip
    return float(missed[0])
