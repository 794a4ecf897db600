"""Solve the body: root and legs follow the placed feet, and legs are calmed."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom._core import kernel
from motionloom.cleanup.blend_off import bounded, highest_nearby, spread_smoothly, weights_of
from motionloom.cleanup.holds import AnkleTarget, Placed
from motionloom.cleanup.legs import Foot, LegSolution, Pose, leg_record, solve_leg
from motionloom.cleanup.smooth_legs import FREE_M_S2, LegLimits, calm_rotations, quiet_knees
from motionloom.motion.contacts import runs_of
from motionloom.motion.kinematics import forward_kinematics
from motionloom.motion.motion import Motion, check_rows, replace_valid, valid_quats
from motionloom.motion.skeleton import Skeleton, forward_into
from motionloom.rotation.easing import smoothstep

_rewrite_leg = kernel("ml_rewrite_leg")
_follow = kernel("ml_foot_follow")
_loose = kernel("ml_calm_loose")
_least = kernel("ml_root_least_shift")
_drop = kernel("ml_root_drop")
_still = kernel("ml_root_still_legs")

SMOOTH_S = 0.12
"""The root's shift is smoothed over this long to either side."""
JITTER_S = 0.05
"""What a leg's length changes by within this time is jitter, and is given to the root."""
DAMP_S = 0.06
"""A free leg is damped in full from this long before and after a hold."""
MISSED_M = 5e-4
"""A held point farther than this from its place is not held."""
LOWEST_PART = 0.12
"""The root is lowered by no more than this part of a leg."""
STILL_FROM = (0.5, 0.8)
"""The root takes up the tremble of legs that are open by more than the second part of their reach,
and none of legs folded to less than the first: their knees hardly turn when their length changes,
and the root would tremble for nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """A motion that keeps its holds, and what was done to get it."""

    parts: Rewritten
    pose: Pose
    points: FloatArray
    """Heels and balls, metres. Shape (F, 4, 3)."""
    shift: FloatArray
    """Of the root. Shape (F, 3)."""
    legs: tuple[LegSolution, ...]


def solve_body(
    motion: Motion,
    pose: Pose,
    placed: Placed,
    *,
    stretch: bool,
    spare: Pose | None = None,
    wanted: FloatArray | None = None,
) -> Solved:
    """The motion whose root and legs follow the placed feet.

    Parameters
    ----------
    motion, pose
        The clip with knees repaired.
    placed
        Where its feet are to be.
    stretch
        Whether legs may change their lengths.
    spare
        Arrays that the new pose is written to.
    wanted : (F, 3)
        A shift of the root that feet are to stay behind in, metres; none by default.
    """
    fps, feet, targets = motion.fps, placed.feet, placed.targets
    hips = np.stack([foot.hip for foot in feet], axis=1)
    if wanted is not None:
        hips += wanted[:, None]
    shift = shift_root(
        hips,
        targets,
        np.stack([foot.bones[2] for foot in feet], axis=1),
        placed.held_reach,
        placed.pull,
        half=max(1, round(SMOOTH_S * fps)),
        jitter=round(JITTER_S * fps),
        most=None if stretch else LOWEST_PART * float(np.median(placed.reach)),
    )
    if wanted is not None:
        shift = shift + wanted
    length, free_change = max(DAMP_S * fps, 1.0), FREE_M_S2 / fps**2
    goals = [np.ascontiguousarray(targets[:, k]) for k in range(2)]

    def solve(moved: FloatArray, rows: slice) -> tuple[LegSolution, ...]:
        some = rows != slice(None)
        return tuple(
            solve_leg(
                foot[rows] if some else foot,
                leg_record(foot[rows], reach[rows]) if some else leg,
                moved[rows],
                goal[rows],
                length=length,
                free_change=free_change,
                stretch=stretch,
            )
            for foot, leg, reach, goal in zip(feet, placed.legs, placed.reach, goals, strict=True)
        )

    if stretch:
        legs = solve(shift, slice(None))
    else:  # a brake goes on for `length` frames after the hold before it
        apart = math.ceil(length) + 2
        shift, legs = quiet_knees(feet, placed.held_reach, shift, solve, fps, apart=apart)
    parts = to_local(motion, pose, feet, placed.ankles, goals, shift, legs, stretch=stretch)
    if spare is None:
        after = forward_kinematics(
            motion.skeleton, parts.root, parts.local, joint_translations=parts.moving
        )
    else:
        after = forward_into(motion.skeleton, parts.root, parts.local, parts.moving, spare)
    points = np.zeros_like(placed.points)
    for side, (foot, ankle) in enumerate(zip(feet, placed.ankles, strict=True)):
        _follow(*after[0].shape[:2], after[0], foot.joints[2], side, ankle.levers, points)
    return Solved(parts, after, points, shift, legs)


def calm_body(
    motion: Motion, pose: Pose, placed: Placed, solved: Solved, limits: tuple[LegLimits, ...]
) -> tuple[Placed, Solved, Motion, int]:
    """Calm the legs; the feet, the body, its motion, and the number of held frames let loose.

    Parameters
    ----------
    motion, pose
        The clip that was cleaned, with knees repaired.
    placed, solved
        Where its feet were to be, and what came out, which is written to.
    limits
        What its legs may do.
    """
    parts, skeleton = solved.parts, motion.skeleton
    changed = calm_rotations(motion, parts.local, solved.pose, limits)
    either = np.asarray(changed.any(axis=1))
    if not either.any():
        return placed, solved, replace_valid(motion, *parts), 0
    spans, error, flips = runs_of(either), 0.0, False
    for first, last in spans:  # and one frame to either side
        faults = check_rows(parts.local[max(first - 1, 0) : last + 2])
        error, flips = max(error, faults[0]), flips or faults[1]
    local = valid_quats(parts.local, skeleton, error, flips)
    calmed, moving = replace_valid(motion, parts.root, local, parts.moving), parts.moving
    positions, quats = solved.pose  # of this try alone: written to, as its points are
    for first, last in spans:
        rows = slice(first, last + 1)
        forward_into(
            skeleton,
            parts.root[rows],
            local[rows],
            None if moving is None else moving[rows],
            (positions[rows], quats[rows]),
        )
    feet, loose = [], 0
    for k, foot in enumerate(placed.feet):
        held, own = np.array(foot.held), np.ascontiguousarray(changed[:, k])
        _loose(
            *quats.shape[:2], k, placed.legs[k], foot.joints[2], positions, quats, pose[1],
            foot.places, either, own, MISSED_M, solved.points, held,
        )  # fmt: skip
        loose += int(np.count_nonzero(foot.held)) - int(np.count_nonzero(held))
        feet.append(dataclasses.replace(foot, held=held))
    return dataclasses.replace(placed, feet=(feet[0], feet[1])), solved, calmed, loose


# --- The root: shifted as little as needed for every held ankle to be within reach


def shift_root(
    hips: FloatArray,
    targets: FloatArray,
    spans: FloatArray,
    reach: FloatArray,
    pull: FloatArray,
    *,
    half: int,
    jitter: int,
    most: float | None,
) -> FloatArray:
    """Smooth shift of the root, metres. Shape (F, 3).

    The least shifts are smoothed in time, which leaves some ankles out of reach. Legs that may
    stretch absorb that. Rigid ones cannot: the root is then lowered by the missing amount, taken
    as the most that any frame nearby needs, so that smoothing cannot undo it. On top comes what
    :func:`still_legs` finds.

    Parameters
    ----------
    hips, targets : (F, 2, 3)
        Left and right hips, and where ankles are to be, metres.
    spans : (F, 2)
        From hip to ankle before, metres.
    reach : (F, 2)
        How far an ankle may be from its hip.
    pull : (F, 2)
        1 where the foot is held, less around, 0 where it does not matter.
    half, jitter
        Frames to either side over which shifts are smoothed, and jitter is separated from motion.
    most
        Greatest lowering, metres; None for legs that may stretch.
    """
    held = pull >= 1.0
    folded, open_ = STILL_FROM
    part = np.clip((spans / np.maximum(reach, 1e-9) - folded) / (open_ - folded), 0.0, 1.0)
    still = still_legs(hips, targets, spans, pull * smoothstep(part), jitter)
    hips = hips + still[:, None]
    shifts = spread_smoothly(least_shift(hips, targets, reach, held), half)
    if most is not None:
        drop = np.zeros(len(hips))
        _drop(len(hips), hips, targets, reach, held, shifts, most, drop)
        if drop.any():
            shifts[:, 1] -= spread_smoothly(highest_nearby(drop, half), half)
    return np.asarray(shifts + still)


def least_shift(
    hips: FloatArray, ankles: FloatArray, reach: FloatArray, held: BoolArray
) -> FloatArray:
    """Smallest shift of the root, frame by frame, that puts held ankles within reach.

    Where two balls of reach do not meet, both ankles miss theirs by the same amount.

    Parameters
    ----------
    hips, ankles : (F, 2, 3)
        Left and right, metres.
    reach : (F, 2)
        How far an ankle may be from its hip.
    held : (F, 2)
        Which feet count.
    """
    out = np.zeros((len(hips), 3))
    _least(len(hips), hips, ankles, reach, held, out)
    return out


def still_legs(
    hips: FloatArray, targets: FloatArray, spans: FloatArray, pull: FloatArray, half: int
) -> FloatArray:
    """Shift of the root that keeps knees quiet when their feet are held. Shape (F, 3).

    Captured bodies tremble as a whole by a millimetre or so: the foot trembles with the hip, and
    the leg between them keeps its length. Once the foot stands still, all of it would go into the
    knee, several times enlarged where the leg is nearly straight. So the quick part of every
    leg's change of length is taken up by the root, along the leg.

    Parameters
    ----------
    hips, targets : (F, 2, 3)
        Hips, and where ankles are to be, metres.
    spans : (F, 2)
        From hip to ankle before, metres.
    pull : (F, 2)
        1 where the foot is held, 0 where it does not matter.
    half
        Frames to either side that tell jitter from motion.
    """
    half = bounded(half, len(hips))
    scratch, out = np.zeros((2, len(hips), 2)), np.zeros((len(hips), 3))
    _still(len(hips), hips, targets, spans, pull, half, weights_of(half), scratch, out)
    return out


# --- World turns of the legs back into local rotations


class Rewritten(NamedTuple):
    """What of a motion was rewritten, in arrays that may be written to: the parts of another."""

    root: FloatArray
    """Root in the world, metres. Shape (F, 3)."""
    local: FloatArray
    """Local rotations. Shape (F, J, 4)."""
    moving: FloatArray | None
    """Where joints slide in their parents. Shape (F, J, 3)."""


def to_local(
    motion: Motion,
    pose: Pose,
    feet: tuple[Foot, Foot],
    ankles: tuple[AnkleTarget, ...],
    targets: Sequence[FloatArray],
    shift: FloatArray,
    legs: tuple[LegSolution, ...],
    *,
    stretch: bool,
) -> Rewritten:
    """The motion with new root and legs where they change; every other number is untouched."""
    local, off = np.array(motion.local_quats), np.zeros(2)
    moving = motion.joint_translations
    if stretch:
        offsets = motion.skeleton.offsets if moving is None else moving
        moving = np.array(np.broadcast_to(offsets, (*local.shape[:2], 3)))
    for k, (foot, ankle, leg) in enumerate(zip(feet, ankles, legs, strict=True)):
        joints = [-1 if joint is None else joint for joint in foot.joints]
        _rewrite_leg(
            *local.shape[:2],
            np.array(joints, dtype=np.int64),
            motion.skeleton.parents[joints],
            pose[1],
            shift,
            foot.ankle,
            targets[k],
            leg.limb.q_upper,
            leg.limb.q_lower,
            ankle.q_foot,
            ankle.q_toes,
            local,
            off,
        )
        if leg.scale is not None and moving is not None:
            _stretch(motion.skeleton, moving, joints[0], joints[2], leg.scale)
    # The other joints are those of a motion.
    local = valid_quats(local, motion.skeleton, 0.5 * float(off[0]), bool(off[1] > 0.0))
    return Rewritten(motion.root_positions + shift, local, moving)


def _stretch(
    skeleton: Skeleton, moving: FloatArray, hip: int, ankle: int, scale: FloatArray
) -> None:
    """Scale, in place, the offsets of the joints below the hip down to the ankle."""
    chain = skeleton.chain(ankle)
    for joint in chain[chain.index(hip) + 1 :]:
        moving[:, joint] *= scale[:, None]
