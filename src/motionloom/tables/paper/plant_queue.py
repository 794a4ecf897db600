"""Plant queue: when and where the feet of a blend stand, by the papers' rule, and legs that follow.

All plants of all windows are put into a queue by how far the blend's foot is from them, and taken
while their frames are free ([I6]_ section 4.1, [I7]_ section 7.1).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom.rotation.quat import smoothstep
from motionloom.tables.collection.frames import Frames
from motionloom.tables.score.stance import BALLS, CHOSEN_LEAST, Plants
from motionloom.tables.synthesis.synthesis import (
    NOT_HELD,
    Foot,
    Rig,
    Rows,
    chain_pose,
    clear_ground,
    follow_feet,
    keep_true_labels,
    lower_root,
    run_offsets,
    sole_points,
)

FARTHEST = {2006: 0.1524, 2007: 0.3048}
"""A foot is moved only to plants that it is nearer to on average, metres: 6 inches in [I6]_, 6 to
12 in [I7]_."""
SMOOTH_S = 0.1
"""Moves of a foot are smoothed over this time on either side, and begin and end in it at the seams
with captured frames: both papers smooth "over neighboring frames"."""


class Track(NamedTuple):
    """Where a blended body is and faces."""

    heading: FloatArray
    """Radians. (L,)"""
    root: FloatArray
    """Metres. (L, 3)"""


class Plant(NamedTuple):
    """A plant of one window, as a blend would have it."""

    error: float
    """Mean distance of the blend's ball from it over the ground, metres."""
    first: int
    last: int
    place: FloatArray
    """Of the ball, metres. (3,)"""


def choose_plants(
    frames: Frames, plants: Plants, at: IntArray, track: Track, balls: FloatArray, foot: int
) -> list[Plant]:
    """Plants of one foot that a blend keeps, by rising error, none overlapping another.

    Parameters
    ----------
    frames, plants
        The collection, and where its feet stand.
    at : (L, N)
        Row of every window at every frame.
    track
        Of the blend.
    balls : (L, 3)
        Where the blend has the ball.
    foot
        0 left, 1 right.
    """
    queue = []
    for rows in at.T:
        ids = plants.ids[rows, foot]
        edges = np.flatnonzero(np.diff(ids)) + 1
        for span in np.split(np.arange(len(ids)), edges):
            if ids[span[0]] >= 0 and rows[span[-1]] - rows[span[0]] + 1 >= CHOSEN_LEAST:
                place = _place(frames, plants.places[ids[span[0]]], rows[span], track, span, foot)
                off = np.linalg.norm((balls[span] - place)[:, [0, 2]], axis=1)
                queue.append(Plant(float(off.mean()), int(span[0]), int(span[-1]), place))
    chosen: list[Plant] = []
    for plant in sorted(queue, key=lambda each: (each.error, each.first)):
        if all(plant.last < other.first or plant.first > other.last for other in chosen):
            chosen.append(plant)
    return chosen


def _place(
    frames: Frames, captured: FloatArray, rows: IntArray, track: Track, span: IntArray, foot: int
) -> FloatArray:
    """A captured plant as its torso sees it, before the blend's torso; the mean of its frames."""
    turn = track.heading[span] - frames.heading[rows]
    x, z = (captured - frames.ground[rows]).T
    cos, sin = np.cos(turn), np.sin(turn)
    placed = np.stack(
        [
            track.root[span, 0] + cos * x + sin * z,
            frames.points[rows, BALLS[foot], 1],
            track.root[span, 2] + cos * z - sin * x,
        ],
        axis=1,
    )
    return np.asarray(placed.mean(axis=0))


class HeldFeet(NamedTuple):
    """A blend with its feet where they stand."""

    root: FloatArray
    """Metres. (L, 3)"""
    quats: FloatArray
    """(L, J, 4)"""
    planted: BoolArray
    """(L, 4)"""
    error: float
    """Mean distance of feet from where they are held, metres."""
    missed: float
    """Farthest that a held ankle could not reach, metres."""


def hold_plants(
    frames: Frames,
    collection: tuple[Rows, Rig, Plants],
    at: IntArray,
    weights: FloatArray,
    track: Track,
    quats: FloatArray,
    *,
    farthest: float,
) -> HeldFeet:
    """A blend with feet moved to the plants that they keep.

    Parameters
    ----------
    frames, collection
        The collection: its rows, rig and plants.
    at, weights
        Row (L, N) and weight (N, L) of every window at every frame.
    track, quats
        Of the blend: local rotations (L, J, 4).
    farthest
        Plants that are farther on average are left, metres.
    """
    rows, rig, plants = collection
    root, quats = np.array(track.root, order="C"), np.array(quats, order="C")
    length = len(root)
    pose = chain_pose(rig, root, quats)
    soles = sole_points(rig, *pose)
    planted = np.zeros((length, 4), dtype=np.bool_)
    held = np.full((2, length), NOT_HELD, dtype=np.int64)
    shifts, tilts = np.zeros((2, length, 3)), np.zeros((2, length))
    off: list[FloatArray] = []
    feet = []
    for side in range(2):
        heel, ball = (np.ascontiguousarray(soles[:, 2 * side + k]) for k in range(2))
        places = np.zeros((length, 3))
        chosen = choose_plants(frames, plants, at, track, ball, side)
        for number, plant in enumerate(each for each in chosen if each.error < farthest):
            span = slice(plant.first, plant.last + 1)
            held[side, span], places[span] = number, plant.place
            off.append(np.linalg.norm((ball - places)[span, ::2], axis=1))
        feet.append(Foot(side, held[side], heel, ball))
        shifts[side] = _smoothed(run_offsets(held[side], places, ball), frames.fps)
        at_frames = np.ascontiguousarray(at)
        tilts[side] = clear_ground(rows, at_frames, weights, feet[side], frames.fps, shifts[side])
        planted[:, 2 * side + 1] = held[side] != NOT_HELD
    drops = lower_root(rig, pose[0], held, shifts)
    missed = [
        follow_feet(rig, foot, shifts[foot.side], tilts[foot.side], drops, pose, quats)
        for foot in feet
    ]
    root[:, 1] -= drops
    keep_true_labels(sole_points(rig, *chain_pose(rig, root, quats)), frames.fps, planted)
    error = float(np.concatenate(off).mean()) if off else 0.0
    return HeldFeet(root, quats, planted, error, max(missed))


def _smoothed(shifts: FloatArray, fps: float) -> FloatArray:
    """Moves (L, 3) without jumps, none at both ends, where captured frames go on."""
    length, half = len(shifts), max(1, round(SMOOTH_S * fps))
    taps = half + 1.0 - np.abs(np.arange(-half, half + 1))
    padded = np.pad(shifts, ((half, half), (0, 0)), mode="edge")
    smooth = sum(tap / taps.sum() * padded[k : k + length] for k, tap in enumerate(taps.tolist()))
    near = np.minimum(np.arange(length), np.arange(length)[::-1])
    return np.asarray(smooth * smoothstep(np.minimum(near / half, 1.0))[:, None])
