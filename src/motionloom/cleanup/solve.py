"""Solve: which frames of every labelled plant are held, and the body that follows its held feet.

A label reaches into the frames in which the foot still comes down or already leaves. To stop a
point there would need a jerk of the whole leg, so a hold leaves out such frames at the ends of its
plant, but never more than a stated part of it. Feet are placed for their holds, root and legs
follow the placed feet, and legs are calmed.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom._core import Record, kernel
from motionloom.cleanup.legs import (
    FREE_M_S2,
    Foot,
    LegLimits,
    LegSolution,
    Pose,
    bounded,
    calm_rotations,
    highest_nearby,
    leg_record,
    quiet_knees,
    solve_leg,
    spread_smoothly,
    weights_of,
)
from motionloom.motion.motion import (
    Motion,
    Skeleton,
    check_rows,
    column_runs,
    forward_into,
    forward_kinematics,
    replace_valid,
    runs_of,
    valid_quats,
)
from motionloom.rotation.quat import smoothstep

_trim = kernel("ml_hold_trim")
_place = kernel("ml_hold_place")
_fill = kernel("ml_hold_fill")
_aim = kernel("ml_foot_aim")

KEPT = 0.86
"""At least this part of every plant is held."""
NEAR_S = 0.12
"""Holds of one foot closer in time than this are placed together."""


@dataclass(frozen=True, slots=True)
class Hold:
    """One plant, and the frames of it that are held."""

    kind: int
    """Column in :attr:`Footplants.planted`: left heel, left toe, right heel, right toe."""
    label: tuple[int, int]
    """First and last frame of the plant as it was labelled."""
    span: tuple[int, int]
    """First and last frame held."""
    own_speed: float = 0.0
    """Fastest that the point moves in the label, without the plant's even slide, m/s."""

    @property
    def n_frames(self) -> int:
        """Number of frames held."""
        return self.span[1] - self.span[0] + 1


def find_holds(
    velocities: FloatArray, planted: BoolArray, body_velocity: FloatArray
) -> tuple[Hold, ...]:
    """A hold for every plant of at least two frames, ordered by kind, then in time.

    Speeds count relative to the mean velocity in the middle half of the plant: a clip that skates
    as a whole slides through its plants at an even speed, and that is what clean-up is for.

    Parameters
    ----------
    velocities : (F, 4, 3)
        Of heels and balls, m/s.
    planted : (F, 4)
        The labels.
    body_velocity : (F, 3)
        Of the pelvis over the ground, m/s.
    """
    labels = [
        (kind, first, last)
        for kind, runs in enumerate(column_runs(planted))
        for first, last in runs
        if last > first
    ]
    if not labels:
        return ()
    spans, fastest = np.zeros((len(labels), 2), dtype=np.int64), np.zeros(len(labels))
    _trim(
        len(velocities),
        np.ascontiguousarray(velocities, dtype=np.float64),
        np.ascontiguousarray(body_velocity, dtype=np.float64),
        len(labels),
        np.array(labels, dtype=np.int64),
        KEPT,
        spans,
        fastest,
    )
    return tuple(
        Hold(kind, (first, last), (start, stop), own)
        for (kind, first, last), (start, stop), own in zip(
            labels, spans.tolist(), fastest.tolist(), strict=True
        )
    )


def fit_targets(
    holds: tuple[Hold, ...], points: FloatArray, velocities: FloatArray, fps: float
) -> tuple[FloatArray, FloatArray]:
    """One place per hold (N, 3), and how far its point strays from it (N,), metres.

    A place is the mean of the point over the whole hold, height included, where frames at rest
    count most: what stands already stays where it is. Heel and ball that are held together get
    places exactly as far apart as they are in the foot. Holds of one foot that follow each other
    within a short time are drawn towards the step between them that the motion has, so that the
    foot need not jump in the gap.

    Parameters
    ----------
    holds
        N of them, of both feet.
    points, velocities : (F, 4, 3)
        Heels and balls in the world, metres and metres a second.
    fps
        Frames per second.
    """
    if not holds:
        return np.zeros((0, 3)), np.zeros(0)
    spans = np.array([(hold.kind, *hold.span) for hold in holds], dtype=np.int64)
    foot = spans[:, 0] // 2
    order = np.lexsort((spans[:, 2], spans[:, 1], foot))  # by foot, then in time
    places, strays = np.zeros((len(holds), 3)), np.zeros(len(holds))
    _place(
        len(points),
        np.ascontiguousarray(points, dtype=np.float64),
        np.ascontiguousarray(velocities, dtype=np.float64),
        len(holds),
        spans,
        order,
        int(np.sum(foot == 0)),
        NEAR_S * fps,
        np.zeros(len(points)),
        places,
        strays,
    )
    return places, strays


def hold_feet(
    feet: tuple[Foot, Foot], holds: tuple[Hold, ...], places: FloatArray
) -> tuple[Foot, Foot]:
    """The feet with these holds, at ``places`` (N, 3)."""
    n_frames = len(feet[0].hip)
    held, stood = np.zeros((2, n_frames, 2), dtype=bool), np.zeros((2, n_frames, 2, 3))
    spans = np.array([(hold.kind, *hold.span) for hold in holds], dtype=np.int64).reshape(-1, 3)
    _fill(n_frames, len(spans), spans, np.ascontiguousarray(places), held, stood)
    return (
        dataclasses.replace(feet[0], held=held[0], places=stood[0]),
        dataclasses.replace(feet[1], held=held[1], places=stood[1]),
    )


def on_own_paths(feet: tuple[Foot, Foot]) -> tuple[Foot, Foot]:
    """The feet with held points where they are in the motion that came in."""
    left, right = (
        dataclasses.replace(foot, places=np.stack([foot.heel, foot.ball], axis=1)) for foot in feet
    )
    return left, right


# --- Feet placed: turned and shifted so that their held points stand

STOP_S = 0.05
"""A foot that is let go takes up its own speed over this long, seconds."""
LIFT_S = 0.04
"""What lifts a foot out of the ground is smoothed over this long to either side."""


@dataclass(frozen=True, slots=True, eq=False)
class AnkleTarget:
    """What is done to one foot in every frame."""

    q_foot: FloatArray
    """Turn of the whole foot in the world. Shape (F, 4)."""
    q_toes: FloatArray
    """Turn of the toes in the world: that of the foot without its roll about the ball. (F, 4)"""
    shift: FloatArray
    """Way of the ankle, metres. Shape (F, 3)."""
    roll: FloatArray
    """Turn about the ball until the ankle is in reach, heel up, radians. Shape (F,)."""
    levers: FloatArray
    """From the ankle to heel and ball, turned, metres. Shape (F, 2, 3)."""


def no_target(n: int) -> AnkleTarget:
    """Zeros for ``n`` frames."""
    return AnkleTarget(
        np.zeros((n, 4)), np.zeros((n, 4)), np.zeros((n, 3)), np.zeros(n), np.zeros((n, 2, 3))
    )


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """Where both feet are to be, before the body is made to follow."""

    feet: tuple[Foot, Foot]
    legs: tuple[Record, Record]
    """As the core takes them."""
    reach: tuple[FloatArray, FloatArray]
    """How far free ankles may be from their hips, metres. Shapes (F,)."""
    held_reach: FloatArray
    """How far held ankles may be. Shape (F, 2)."""
    pull: FloatArray
    """1 where a foot is held, falling to 0 around. Shape (F, 2)."""
    ankles: tuple[AnkleTarget, ...]
    ground: FloatArray
    """Height of the ground under heels and balls, metres. Shape (F, 4)."""
    targets: FloatArray
    """Of the ankles. Shape (F, 2, 3)."""
    points: FloatArray
    """Heels and balls as they will be where ankles meet their targets. Shape (F, 4, 3)."""


def place_feet(
    feet: tuple[Foot, Foot],
    reach: tuple[FloatArray, FloatArray],
    *,
    fps: float,
    blend_s: float,
    roll: bool,
    lifts: FloatArray | None = None,
    spare: Placed | None = None,
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
    spare
        What is no longer needed of other holds: its arrays are written to.
    """
    length, stop = max(blend_s * fps, 1.0), max(STOP_S * fps, 1.0)
    n, half = len(feet[0].hip), bounded(round(LIFT_S * fps), len(feet[0].hip))
    lifts = np.zeros((n, 2)) if lifts is None else np.ascontiguousarray(lifts)
    placed = (
        dataclasses.replace(spare, feet=feet)
        if spare is not None
        else Placed(
            feet,
            (leg_record(feet[0], reach[0]), leg_record(feet[1], reach[1])),
            reach,
            np.zeros((n, 2)),
            np.zeros((n, 2)),
            (no_target(n), no_target(n)),
            np.zeros((n, 4)),
            np.zeros((n, 2, 3)),
            np.zeros((n, 4, 3)),
        )
    )
    flags, work = np.zeros((2, n), dtype=np.uint8), np.zeros(10 * n + 2 * half)
    for side, (foot, ankle) in enumerate(zip(feet, placed.ankles, strict=True)):
        _aim(
            n, side, placed.legs[side], foot.held, foot.places, lifts, length, stop,
            FREE_M_S2 / fps**2, roll, half, weights_of(half), flags, work,
            ankle.q_foot, ankle.q_toes, ankle.shift, ankle.roll, ankle.levers,
            placed.held_reach, placed.pull, placed.ground, placed.targets, placed.points,
        )  # fmt: skip
    return placed


# --- The body: root and legs follow the placed feet, and legs are calmed

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
