"""Ballistic motion: whether a body in the air moves as one that nothing touches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, of_kind
from motionloom.body.anatomy import ball_height, foot_points, stature
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.body.masses import mass_segments
from motionloom.errors import ArrayError
from motionloom.features.balance import GRAVITY
from motionloom.features.footplants.detect import detect_footplants
from motionloom.motion.motion import Footplants, Motion, runs_of

__all__ = ["Flight", "find_flights", "measure_flights"]

SHORTEST_S = 0.12
"""A flight that can be measured: a parabola through fewer frames is unreliable."""
CLEAR_M = 0.05
"""Both feet must be this far over where they stand; lower ones may still push off or land."""
NATURAL = 0.3
"""A flight whose error is below this is natural: 22 captured jumps have 0.01 to 0.16."""

Probability = Callable[[FloatArray], float]
"""Chance that a motion is natural, from the largest acceleration of every joint (J,), m/s2."""


@dataclass(frozen=True, slots=True)
class Flight:
    """A stretch of frames in which nothing stands on the ground."""

    first: int
    """Frames, both in it."""
    last: int
    fall: float
    """Acceleration of the centre of mass, m/s2; -9.81 in free fall."""
    turning: float
    """Largest change of angular momentum about the centre of mass, as a part of what a body of
    this height and mass has when it turns at the pace of its own fall."""
    error: float
    """What is missing from free fall: ``abs(fall + 9.81) / 9.81 + turning``."""
    natural: bool
    """By the error, or by the probability where one was given."""


def find_flights(
    motion: Motion, footplants: Footplants | None = None, *, body: BodyMap | None = None
) -> tuple[tuple[int, int], ...]:
    """First and last frames of every stretch in which no foot is on the ground or near it.

    Parameters
    ----------
    motion
        F frames.
    footplants
        Contacts; detected by default.
    body
        Roles of its joints; guessed by default.
    """
    of_kind(motion, Motion, "motion")
    body = roles_for(motion.skeleton, body)
    footplants = detect_footplants(motion, body=body) if footplants is None else footplants
    if footplants.n_frames != motion.n_frames:
        raise ArrayError(
            f"`footplants` must have one row per frame of the motion ({motion.n_frames}), "
            f"got {footplants.n_frames}."
        )
    clear = ~footplants.planted.any(axis=1) & _feet_are_up(motion, footplants, body)
    least = round(SHORTEST_S * motion.fps)
    return tuple((a, b) for a, b in runs_of(clear) if b - a + 1 >= least)


def measure_flights(
    motion: Motion,
    footplants: Footplants | None = None,
    *,
    body: BodyMap | None = None,
    probability: Probability | None = None,
) -> tuple[Flight, ...]:
    """Every flight of a motion, and how far it is from free fall.

    In the air the centre of mass falls by gravity alone and angular momentum about it is constant
    ([I7]_ asks for the second; the first is ours). The first paper has a regression on the largest
    accelerations instead; one can be given.

    Parameters
    ----------
    motion
        F frames.
    footplants
        Contacts; detected by default.
    body
        Roles of its joints; guessed by default.
    probability
        Judges the largest accelerations of the joints during the flight; 0.5 and more is natural.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> measure_flights(synthetic.clip("walk").motion)
    ()
    """
    body = roles_for(motion.skeleton, body)
    segments = mass_segments(motion.skeleton.n_joints, body)
    tall = max(stature(motion.skeleton, body), 1e-6)
    positions = motion.world_positions()
    flights = []
    for first, last in find_flights(motion, footplants, body=body):
        inside = positions[first : last + 1]
        centres = segments.centres(inside)
        com = np.einsum("s,fsc->fc", segments.masses, centres)
        time = np.arange(len(com)) / motion.fps
        fall = 2.0 * float(np.polyfit(time, com[:, 1], 2)[0])
        about = centres - com[:, None]
        between = motion.fps * np.cross(about[:-1], about[1:])
        momentum = np.einsum("s,fsc->fc", segments.masses, between)
        change = np.linalg.norm(momentum - momentum.mean(axis=0), axis=1).max()
        turning = float(change) / (tall * np.sqrt(GRAVITY * tall))
        error = abs(fall + GRAVITY) / GRAVITY + turning
        natural = error < NATURAL
        if probability is not None:
            natural = probability(_largest_accelerations(inside, motion.fps)) >= 0.5
        flights.append(Flight(first, last, fall, turning, error, bool(natural)))
    return tuple(flights)


def _feet_are_up(motion: Motion, footplants: Footplants, body: BodyMap) -> BoolArray:
    """Frames in which every foot point is well over where such points stand."""
    points = foot_points(motion, body=body)
    planted = footplants.planted
    standing = ball_height(motion.skeleton, body)
    ground = np.array(
        [
            np.median(points[planted[:, k], k, 1]) if planted[:, k].any() else standing
            for k in range(points.shape[1])
        ]
    )
    return np.asarray((points[..., 1] > ground + CLEAR_M).all(axis=1))


def _largest_accelerations(positions: FloatArray, fps: float) -> FloatArray:
    """Largest acceleration (J,) of every joint."""
    bends = np.diff(positions, 2, axis=0) * fps**2
    return np.asarray(np.linalg.norm(bends, axis=-1).max(axis=0))
