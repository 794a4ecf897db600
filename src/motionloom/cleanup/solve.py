"""One pass of clean-up: from holds to a motion that keeps them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.cleanup.ankles import AnkleTarget, place_ankle
from motionloom.cleanup.blend_off import nearness
from motionloom.cleanup.foot import Foot, read_feet
from motionloom.cleanup.ground import ground_under, lift_out
from motionloom.cleanup.holds import Hold
from motionloom.cleanup.legs import LegSolution, reach_of, solve_leg
from motionloom.cleanup.rewrite import Pose, foot_points_after, rewrite
from motionloom.cleanup.root import shift_root
from motionloom.motion.body import BodyMap
from motionloom.motion.motion import Motion
from motionloom.rotation import quat

__all__ = ["Solved", "solve_holds"]

STOP_S = 0.05
"""A foot that is let go takes up its own speed over this long, seconds."""
SMOOTH_S = 0.12
"""The root's shift is smoothed over this long to either side."""
JITTER_S = 0.05
"""What a leg's length changes by within this time is jitter, and is given to the root."""
DAMP_S = 0.12
"""A free leg is damped in full from this long before and after a hold."""
LOWEST_PART = 0.12
"""The root is lowered by no more than this part of a leg."""


@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """A motion that keeps its holds, and what was done to get it."""

    motion: Motion
    pose: Pose
    points: FloatArray
    """Heels and balls, metres. Shape (F, 4, 3)."""
    ground: FloatArray
    """Height of the ground under each of them, metres. Shape (F, 4)."""
    shift: FloatArray
    """Of the root. Shape (F, 3)."""
    ankles: tuple[AnkleTarget, ...]
    legs: tuple[LegSolution, ...]


def solve_holds(
    motion: Motion,
    body: BodyMap,
    pose: Pose,
    points: FloatArray,
    holds: tuple[Hold, ...],
    places: FloatArray,
    *,
    blend_s: float,
    stretch: bool,
) -> Solved:
    """The motion with every held point on its place. See :func:`clean_footskate`."""
    fps = motion.fps
    length, stop = max(blend_s * fps, 1.0), max(STOP_S * fps, 1.0)
    feet = read_feet(body, pose, points, holds, places)
    reach = np.stack([reach_of(foot) for foot in feet], axis=1)
    pulls = [nearness(foot.standing, stop) for foot in feet]
    ankles = tuple(
        place_ankle(foot, reach[:, k], length=length, stop=stop, roll=not stretch)
        for k, foot in enumerate(feet)
    )
    grounds = [ground_under(foot) for foot in feet]
    targets = tuple(_goal(*parts) for parts in zip(feet, ankles, grounds, pulls, strict=True))
    shift = shift_root(
        np.stack([foot.hip for foot in feet], axis=1),
        np.stack([foot.ankle for foot in feet], axis=1),
        np.stack(targets, axis=1),
        reach,
        np.stack(pulls, axis=1),
        half=max(1, round(SMOOTH_S * fps)),
        jitter=round(JITTER_S * fps),
        rigid=not stretch,
        most=LOWEST_PART * float(np.median(reach)),
    )
    legs = tuple(
        solve_leg(foot, shift, target, length=max(DAMP_S * fps, 1.0), stretch=stretch)
        for foot, target in zip(feet, targets, strict=True)
    )
    cleaned = rewrite(motion, pose, feet, ankles, targets, shift, legs, stretch=stretch)
    after = cleaned.world_pose()
    return Solved(
        cleaned,
        after,
        foot_points_after(feet, pose, after, points),
        np.concatenate(grounds, axis=1),
        shift,
        ankles,
        legs,
    )


def _goal(foot: Foot, ankle: AnkleTarget, ground: FloatArray, pull: FloatArray) -> FloatArray:
    """Where the ankle is to be: shifted, and raised where the foot would sink in. Shape (F, 3)."""
    goal = foot.ankle + ankle.shift
    before = np.stack([foot.heel[:, 1], foot.ball[:, 1]], axis=1)
    levers = np.stack([foot.heel - foot.ankle, foot.ball - foot.ankle], axis=1)
    after = goal[:, None, 1] + quat.rotate(ankle.q_foot[:, None], levers)[..., 1]
    goal[:, 1] += lift_out(before, after, ground, pull)
    return np.asarray(goal)
