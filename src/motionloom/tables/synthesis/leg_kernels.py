"""Legs: joints and soles in the world, steps between holds, and knees that follow held feet.

Each leg is solved in closed form. Where a held foot would be out of reach, the body is lowered a
little, then the heel comes up about the ball; knees ease into full stretch instead of meeting it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom._core import kernel
from motionloom.tables.synthesis.synthesis import Rig, Rows

NOT_HELD = -1
"""In place of the number of a hold, where a foot is free."""

_pose = kernel("ml_chain_pose")
_soles = kernel("ml_chain_soles")
_speeds = kernel("ml_chain_pace")
_offsets = kernel("ml_swing_offsets")
_clear = kernel("ml_swing_clear")
_lower = kernel("ml_reach_lower")
_follow = kernel("ml_reach_follow")
_keep = kernel("ml_label_keep")


class Foot(NamedTuple):
    """One foot of a blend."""

    side: int
    """0 left, 1 right."""
    held: IntArray
    """Number of the hold, or ``NOT_HELD``. (L,)"""
    heel: FloatArray
    """Where the blend has it, metres. (L, 3)"""
    ball: FloatArray
    """(L, 3)"""


def chain_pose(rig: Rig, root: FloatArray, quats: FloatArray) -> tuple[FloatArray, FloatArray]:
    """World positions (L, J, 3) and rotations (L, J, 4) of the legs' chains; 0 for other joints."""
    root, quats = np.ascontiguousarray(root), np.ascontiguousarray(quats)
    n_frames, n_joints = quats.shape[:2]
    positions, world = np.zeros((n_frames, n_joints, 3)), np.zeros((n_frames, n_joints, 4))
    chain = len(rig.chain), rig.chain
    _pose(n_frames, n_joints, rig.parents, rig.offsets, *chain, root, quats, positions, world)
    return positions, world


def sole_points(rig: Rig, positions: FloatArray, world: FloatArray) -> FloatArray:
    """Left heel, left ball, right heel and right ball in the world, (L, 4, 3)."""
    points = np.zeros((len(positions), 4, 3))
    _soles(*positions.shape[:2], rig.legs, rig.soles, positions, world, points)
    return points


def fastest_speeds(rig: Rig, root: FloatArray, quats: FloatArray, fps: float) -> FloatArray:
    """Largest joint speed, joint turn and ground speed, as ``verify`` measures them. (3,)."""
    root, quats = np.ascontiguousarray(root), np.ascontiguousarray(quats)
    n_frames, n_joints = quats.shape[:2]
    fastest = np.zeros(3)
    scratch = np.zeros((n_frames, n_joints, 3)), np.zeros((n_frames, n_joints, 4))
    _speeds(n_frames, n_joints, rig.parents, rig.offsets, root, quats, fps, *scratch, fastest)
    return fastest


def run_offsets(
    held: IntArray, places: FloatArray, foot: FloatArray, *, captured: bool = True
) -> FloatArray:
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
    captured
        Whether it is made of captured windows, whose steps are lifted less than those of blends.
    """
    offsets = np.zeros((len(held), 3))
    _offsets(len(held), held, places, foot, captured, offsets)
    return offsets


def clear_ground(
    rows: Rows,
    at: IntArray,
    weights: FloatArray,
    foot: Foot,
    fps: float,
    offsets: FloatArray,
    *,
    captured: bool = True,
) -> FloatArray:
    """Lift a free foot that would be dragged along the ground; keep heel and ball above it.

    Blends of a standing foot and a swinging one go along at the height of neither, and blends of
    feet that point up and down stand with the heel in the ground.

    Parameters
    ----------
    rows, at, weights
        The windows (L, N), and how much of each is in every frame (N, L).
    foot
        Of the blend.
    fps
        Frames per second.
    offsets : (L, 3)
        From :func:`run_offsets`; changed in place: free feet are lifted.
    captured
        As in :func:`run_offsets`.

    Returns
    -------
    tilts : (L,)
        By how much the heel comes up about the ball, radians.
    """
    n_frames, n_ways = at.shape
    tilts = np.zeros(n_frames)
    _clear(
        rows.record, foot.side, n_frames, n_ways, at, weights, foot.held, foot.heel, foot.ball,
        fps, captured, np.zeros((4, n_frames)), offsets, tilts,
    )  # fmt: skip
    return tilts


def lower_root(rig: Rig, positions: FloatArray, held: IntArray, shifts: FloatArray) -> FloatArray:
    """How far the body comes down in every frame so that held feet are in reach, metres (L,).

    Parameters
    ----------
    rig
        Whose legs.
    positions : (L, J, 3)
        The blend's joints.
    held : (2, L)
        Below 0 where a foot is free.
    shifts : (2, L, 3)
        Of the ankles.
    """
    n_frames, n_joints = positions.shape[:2]
    drops = np.zeros(n_frames)
    _lower(n_frames, n_joints, rig.legs, positions, held, shifts, np.zeros(n_frames), drops)
    return drops


def follow_feet(
    rig: Rig,
    foot: Foot,
    shifts: FloatArray,
    tilts: FloatArray,
    drops: FloatArray,
    pose: tuple[FloatArray, FloatArray],
    quats: FloatArray,
) -> float:
    """Local rotations of one leg whose foot is shifted; the farthest that a held ankle missed.

    Parameters
    ----------
    rig, foot
        Which leg, and when its foot is held.
    shifts, tilts : (L, 3), (L,)
        How far the foot is moved, and how far its heel comes up about the ball.
    drops : (L,)
        How far the body comes down.
    pose
        The blend's joints in the world: positions and rotations, before.
    quats : (L, J, 4)
        Local rotations, changed in place.
    """
    side, missed = foot.side, np.zeros(1)
    _follow(
        *quats.shape[:2], rig.parents, rig.legs[side], rig.soles[side], rig.poles[side], foot.held,
        shifts, tilts, drops, *pose, np.zeros(len(quats)), quats, missed,
    )  # fmt: skip
    return float(missed[0])


def keep_true_labels(points: FloatArray, fps: float, planted: BoolArray) -> None:
    """Remove labels (L, P) of foot points (L, P, 3) in frames in which they move.

    Legs do not always reach where a foot should be held, a foot held by its ball turns about it,
    and clips move points that they label as planted.
    """
    _keep(*planted.shape, points, fps, planted)
