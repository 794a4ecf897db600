"""Cycles of a gait: from the middle of a stance to the middle of the next one of the same foot."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, of_kind
from motionloom._records import record
from motionloom.body.body_map import BodyMap, facing, roles_for
from motionloom.errors import RegistrationError
from motionloom.features.footplants.detect import detect_footplants
from motionloom.motion.motion import Footplants, Motion, contacts_for, runs_of
from motionloom.registration.timewarp import PointCloud, fit_planar_alignment, point_cloud

SHORTEST_S, LONGEST_S = 0.4, 3.0
"""Seconds that a cycle may take, from a sprint to a slow creep."""
GAP_S = 0.08
"""A shorter lift between two contacts of a foot does not end its stance."""
STANCE_S = 0.04
"""A shorter contact is no stance."""
WINDOW_S = 0.13
"""Seconds around the ends of a cycle that are compared."""
SHIFT_S = 0.12
"""The end of a cycle is moved by up to this to where it closes best."""


@dataclass(frozen=True, slots=True)
@record
class GaitCycle:
    """A cycle of a clip: from the middle of a left stance to the middle of the next.

    Attributes
    ----------
    first : int
        First frame.
    last : int
        Last frame: the pose of the first, one cycle on.
    gap : float
        How far the last pose is from the first, metres rms.
    turn : float
        How far the body turns, radians; positive to its left.
    speed : float
        Metres per second of the pelvis along the ground.
    """

    first: int
    last: int
    gap: float
    turn: float
    speed: float

    @property
    def frames(self) -> slice:
        """The frames of the cycle: ``motion[cycle.frames]``."""
        return slice(self.first, self.last + 1)


@dataclass(frozen=True, slots=True, eq=False)
@record
class UncutClips:
    """The clips that the motions of a curve were cut from.

    Attributes
    ----------
    motions : tuple of Motion
        One for each motion of the curve.
    footplants : tuple of Footplants
        Contacts of every clip.
    first_frames : tuple of int
        Frame of every clip with which the motion cut from it begins.
    """

    motions: tuple[Motion, ...]
    footplants: tuple[Footplants, ...]
    first_frames: tuple[int, ...]


def find_cycles(
    motion: Motion, *, footplants: Footplants | None = None, body: BodyMap | None = None
) -> tuple[GaitCycle, ...]:
    """Whole cycles of a walk, run or other gait, in the order of their closing gaps.

    Every cycle begins in the middle of a left stance, so cycles of different gaits begin in the
    same phase.

    Parameters
    ----------
    motion
        A clip with at least two stances of the left foot, both of them whole.
    footplants
        Its contacts; detected where not given.
    body
        Roles of its joints; guessed where not given.

    Returns
    -------
    tuple of GaitCycle
        With frames, closing gap, turn and speed; the one that closes best comes first.

    Raises
    ------
    RegistrationError
        The clip has no whole cycle.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> walk = synthetic.clip("walk", speed=1.3).motion
    >>> best = find_cycles(walk)[0]
    >>> round(best.speed, 1), best.gap < 0.03
    (1.3, True)
    """
    of_kind(motion, Motion, "motion")
    body = roles_for(motion.skeleton, body)
    if footplants is None:
        footplants = detect_footplants(motion, body=body)
    planted = contacts_for(footplants, motion.n_frames, "footplants").planted
    stances = [_stances(planted[:, side : side + 2], motion.fps) for side in (0, 2)]
    cloud, headings = point_cloud(motion, body=body), facing(motion, body=body)
    pelvis, cycles = motion.world_positions()[:, body.pelvis or 0], []
    for one, following in zip(stances[0], stances[0][1:], strict=False):
        first, last = (round(0.5 * (a + b)) for a, b in (one, following))
        seconds = (last - first) / motion.fps
        steps = [first < 0.5 * (a + b) < last for a, b in stances[1]]
        if not SHORTEST_S <= seconds <= LONGEST_S or sum(steps) != 1:
            continue
        last, gap = _closing(cloud, first, last, motion.fps)
        path = pelvis[first : last + 1, ::2]
        length = float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())
        turn = float(headings[last] - headings[first])
        cycles.append(GaitCycle(first, last, gap, turn, length * motion.fps / (last - first)))
    if not cycles:
        raise RegistrationError(
            "A clip must have a whole gait cycle: two whole stances of the left foot with one of "
            f"the right between them, {SHORTEST_S:g} to {LONGEST_S:g} s apart; it has "
            f"{len(stances[0])} left and {len(stances[1])} right stances. Use a longer clip, or "
            "pass `footplants`."
        )
    return tuple(sorted(cycles, key=lambda cycle: (cycle.gap, cycle.first)))


def _stances(planted: BoolArray, fps: float) -> list[tuple[int, int]]:
    """First and last frame of every whole stance of a foot from its heel and toe (F, 2)."""
    stands = np.array(planted.any(axis=1))
    for first, last in runs_of(~stands):
        inner = first > 0 and last < len(stands) - 1
        if inner and last - first + 1 < GAP_S * fps:
            stands[first : last + 1] = True
    return [
        (first, last)
        for first, last in runs_of(stands)
        if last - first + 1 >= STANCE_S * fps and first > 0 and last < len(stands) - 1
    ]


def _closing(cloud: PointCloud, first: int, last: int, fps: float) -> tuple[int, float]:
    """The last frame, moved to where the cycle closes best, and the gap left there, metres."""
    reach, shift = (max(1, round(seconds * fps)) for seconds in (0.5 * WINDOW_S, SHIFT_S))
    around = np.linspace(-reach, reach, 5).round().astype(np.int64)
    ends = np.arange(max(first + 2, last - shift), min(last + shift, len(cloud.points) - 1) + 1)
    gaps = []
    for end in ends:
        a, b = (_window(cloud.points, at + around) for at in (first, int(end)))
        weights = np.tile(cloud.weights, len(around))
        gaps.append(float(fit_planar_alignment(a, b, weights)[2]))
    best = int(np.argmin(gaps))
    return int(ends[best]), float(np.sqrt(gaps[best]))


def _window(points: FloatArray, frames: np.ndarray) -> FloatArray:
    """The points of several frames as one cloud; frames beyond the ends are the end frames."""
    return np.asarray(points[np.clip(frames, 0, len(points) - 1)].reshape(-1, 3))
