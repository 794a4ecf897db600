"""The two stages of clean-up: feet are placed, then root and legs follow them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.cleanup.ankles import AnkleTarget, place_ankle
from motionloom.cleanup.blend_off import nearness
from motionloom.cleanup.calm import LegLimits, calm_legs
from motionloom.cleanup.foot import Foot
from motionloom.cleanup.ground import ground_under, lift_out
from motionloom.cleanup.legs import LegSolution, held_reach_of, solve_leg
from motionloom.cleanup.rewrite import Pose, rewrite
from motionloom.cleanup.root import shift_root
from motionloom.motion.kinematics import forward_kinematics
from motionloom.motion.motion import Motion
from motionloom.rotation import quat

__all__ = ["Placed", "Solved", "calm_body", "place_feet", "solve_body"]

STOP_S = 0.05
"""A foot that is let go takes up its own speed over this long, seconds."""
SMOOTH_S = 0.12
"""The root's shift is smoothed over this long to either side."""
JITTER_S = 0.05
"""What a leg's length changes by within this time is jitter, and is given to the root."""
LIFT_S = 0.04
"""What lifts a foot out of the ground is smoothed over this long to either side."""
DAMP_S = 0.06
"""A free leg is damped in full from this long before and after a hold."""
MISSED_M = 5e-4
"""A held point farther than this from its place is not held."""
LOWEST_PART = 0.12
"""The root is lowered by no more than this part of a leg."""


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """Where both feet are to be, before the body is made to follow."""

    feet: tuple[Foot, Foot]
    reach: FloatArray
    held_reach: FloatArray
    """How far ankles may be from their hips, metres: free ones, and held ones. Shapes (F, 2)."""
    pull: FloatArray
    """1 where a foot is held, falling to 0 around. Shape (F, 2)."""
    ankles: tuple[AnkleTarget, ...]
    ground: FloatArray
    """Height of the ground under heels and balls, metres. Shape (F, 4)."""
    targets: FloatArray
    """Of the ankles. Shape (F, 2, 3)."""
    points: FloatArray
    """Heels and balls as they will be where ankles meet their targets. Shape (F, 4, 3)."""


@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """A motion that keeps its holds, and what was done to get it."""

    motion: Motion
    pose: Pose
    points: FloatArray
    """Heels and balls, metres. Shape (F, 4, 3)."""
    shift: FloatArray
    """Of the root. Shape (F, 3)."""
    legs: tuple[LegSolution, ...]


def place_feet(
    feet: tuple[Foot, Foot],
    reach: tuple[FloatArray, FloatArray],
    *,
    fps: float,
    blend_s: float,
    roll: bool,
    lifts: FloatArray | None = None,
) -> Placed:
    """Both feet with their held points in place. See :class:`Placed`.

    Parameters
    ----------
    feet
        Left and right, with their holds.
    reach : (F,) each
        As of :func:`reach_of`.
    fps
        Frames per second.
    blend_s
        Time over which a foot leaves the place where it was held, seconds.
    roll
        Whether feet may roll over their balls.
    lifts : (F, 2)
        How much higher each foot passes, metres.
    """
    length, stop = max(blend_s * fps, 1.0), max(STOP_S * fps, 1.0)
    ankles, nears, grounds, targets, after, pulls = [], [], [], [], [], []
    for side, (foot, far) in enumerate(zip(feet, reach, strict=True)):
        near = held_reach_of(foot, far)
        ground, pull = ground_under(foot), nearness(foot.standing, stop)
        ankle = place_ankle(foot, near, ground, length=length, stop=stop, roll=roll)
        target = foot.ankle + ankle.shift
        before = np.stack([foot.heel[:, 1], foot.ball[:, 1]], axis=1)
        now = target[:, None, 1] + ankle.levers[..., 1]
        target[:, 1] += lift_out(before, now, ground, pull, half=round(LIFT_S * fps))
        if lifts is not None:
            target[:, 1] += lifts[:, side]
        ankles.append(ankle)
        nears.append(near)
        grounds.append(ground)
        targets.append(target)
        after.append(target[:, None] + ankle.levers)
        pulls.append(pull)
    return Placed(
        feet,
        np.stack(reach, axis=1),
        np.stack(nears, axis=1),
        np.stack(pulls, axis=1),
        tuple(ankles),
        np.concatenate(grounds, axis=1),
        np.stack(targets, axis=1),
        np.concatenate(after, axis=1),
    )


def solve_body(motion: Motion, pose: Pose, placed: Placed, *, stretch: bool) -> Solved:
    """The motion whose root and legs follow the placed feet."""
    fps, feet, targets = motion.fps, placed.feet, placed.targets
    shift = shift_root(
        np.stack([foot.hip for foot in feet], axis=1),
        targets,
        np.stack([foot.bones[2] for foot in feet], axis=1),
        placed.held_reach,
        placed.pull,
        half=max(1, round(SMOOTH_S * fps)),
        jitter=round(JITTER_S * fps),
        rigid=not stretch,
        most=LOWEST_PART * float(np.median(placed.reach)),
    )
    length = max(DAMP_S * fps, 1.0)
    legs = tuple(
        solve_leg(foot, shift, targets[:, k], placed.reach[:, k], length=length, stretch=stretch)
        for k, foot in enumerate(feet)
    )
    cleaned = rewrite(motion, pose, feet, placed.ankles, targets, shift, legs, stretch=stretch)
    after = cleaned.world_pose()
    ends = np.stack([after[0][:, foot.joints[2]] for foot in feet], axis=1)
    levers = np.stack([ankle.levers for ankle in placed.ankles], axis=1)
    points = (ends[:, :, None] + levers).reshape(len(ends), 4, 3)
    return Solved(cleaned, after, points, shift, legs)


def calm_body(
    motion: Motion, pose: Pose, placed: Placed, solved: Solved, limits: tuple[LegLimits, ...]
) -> tuple[Placed, Solved, int]:
    """What was solved with calm legs, and how many held frames that let loose.

    Parameters
    ----------
    motion, pose
        The clip that was cleaned, with knees repaired.
    placed, solved
        Where its feet were to be, and what came out.
    limits
        What its legs may do.
    """
    calmed, changed = calm_legs(motion, solved.motion, solved.pose, limits)
    rows = np.flatnonzero(changed.any(axis=1))
    if not rows.size:
        return placed, solved, 0
    positions, quats = solved.pose  # of this try alone: written to, for copies take longer
    moving = calmed.joint_translations
    positions[rows], quats[rows] = forward_kinematics(
        calmed.skeleton,
        calmed.root_positions[rows],
        calmed.local_quats[rows],
        joint_translations=None if moving is None else moving[rows],
    )
    points, feet, loose = np.array(solved.points), [], 0
    for k, foot in enumerate(placed.feet):
        ankle = foot.joints[2]
        turn = quat.multiply(quats[rows, ankle], quat.conjugate(pose[1][rows, ankle]))
        levers = np.stack([foot.heel - foot.ankle, foot.ball - foot.ankle], axis=1)[rows]
        own = positions[rows, None, ankle] + quat.rotate(turn[:, None], levers)
        points[rows, 2 * k : 2 * k + 2] = own
        miss = np.sqrt(np.sum((own - foot.places[rows]) ** 2, axis=-1))
        held = np.array(foot.held)
        held[rows] &= ~(changed[rows, k, None] & (miss > MISSED_M))
        loose += int(foot.held.sum() - held.sum())
        feet.append(dataclasses.replace(foot, held=held))
    return (
        dataclasses.replace(placed, feet=(feet[0], feet[1])),
        dataclasses.replace(solved, motion=calmed, points=points),
        loose,
    )
