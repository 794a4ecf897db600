"""Legs: joints and soles in the world, steps between holds, and knees that follow held feet."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom._core import kernel
from motionloom.tables.synthesis.synthesis import Rows

__all__ = [
    "NOT_HELD",
    "chain_pose",
    "clear_ground",
    "follow_feet",
    "keep_true_labels",
    "lower_root",
    "run_offsets",
    "sole_points",
]

_pose = kernel("ml_chain_pose")
_soles = kernel("ml_chain_soles")


def chain_pose(
    parents: IntArray,
    offsets: FloatArray,
    chain: IntArray,
    root: FloatArray,
    quats: FloatArray,
    positions: FloatArray,
    world: FloatArray,
) -> None:
    """World positions (L, J, 3) and rotations (L, J, 4) of the joints in ``chain``."""
    root, quats = np.ascontiguousarray(root), np.ascontiguousarray(quats)
    n_frames, n_joints, n_chain = len(root), len(parents), len(chain)
    _pose(n_frames, n_joints, parents, offsets, n_chain, chain, root, quats, positions, world)


def sole_points(
    legs: IntArray, soles: FloatArray, positions: FloatArray, world: FloatArray, points: FloatArray
) -> None:
    """Left heel, left ball, right heel and right ball in the world, (L, 4, 3)."""
    _soles(*positions.shape[:2], legs, soles, positions, world, points)


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


_keep = kernel("ml_label_keep")


def keep_true_labels(points: FloatArray, fps: float, planted: BoolArray) -> None:
    """Remove labels (L, P) of foot points (L, P, 3) in frames in which they move.

    Legs do not always reach where a foot should be held, a foot held by its ball turns about it,
    and clips move points that they label as planted.
    """
    _keep(*planted.shape, points, fps, planted)
