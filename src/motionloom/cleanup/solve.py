"""Solve: root and legs follow the placed feet, and legs stay smooth.

A hold that begins while its foot still moves, or a twitch of the hips over a planted foot, would
need a kick of the leg. There the correction is smoothed in time: where it is constant the leg
turns exactly as captured. The foot leaves its place for these frames, and they are not held.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray, running_maximum
from motionloom._core import kernel
from motionloom.cleanup.legs import (
    FREE_M_S2,
    AnkleTarget,
    Foot,
    LegSolution,
    Placed,
    Pose,
    bounded,
    highest_nearby,
    leg_record,
    nearness,
    solve_leg,
    spread_smoothly,
    weights_of,
)
from motionloom.features.glitches.glitch_frames import sudden_turn_places
from motionloom.motion.motion import (
    LimbSolution,
    Motion,
    Skeleton,
    check_rows,
    forward_into,
    forward_kinematics,
    replace_valid,
    runs_of,
    valid_quats,
)
from motionloom.rotation.quat import smoothstep

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


# --- Smooth legs: no joint turns faster than in the clip, and no knee jerks over a held foot

_find = kernel("ml_calm_find")
_largest = kernel("ml_calm_largest")
_share = kernel("ml_calm_share")
_smooth = kernel("ml_calm_smooth")

FREE_DEG_S = 300.0
"""Any joint may turn this fast, degrees per second."""
AROUND_S = 0.1
"""A step that stands out from the steps within this time around it is a flip, seconds."""
JERK_OVER_OWN = 1.5
"""A knee may accelerate this many times as much as its most in the clip, or ``FREE_M_S2``."""
WIDTHS_S = (0.008, 0.012, 0.017, 0.025, 0.04, 0.06, 0.09, 0.13, 0.18)
"""Time to either side over which a correction is smoothed, in one try after another, seconds."""
SuddenTurns = tuple[tuple[int, str], ...]
"""Frames after capture glitches, and the joints that have them."""


class Leg(NamedTuple):
    """A leg to keep calm."""

    joints: Sequence[int | None]
    """Hip, knee, ankle, and the toe joint where there is one."""
    knee: FloatArray
    """Where its knee was, metres. Shape (F, 3)."""


class LegLimits:
    """Limits of one leg: a little more than it does in the clip itself.

    Parameters
    ----------
    captured
        The clip as it came.
    before
        The clip with knees repaired.
    leg
        The leg before it was cleaned.
    turns
        Capture glitches, whose steps are left alone.
    """

    def __init__(self, captured: Motion, before: Motion, leg: Leg, turns: SuddenTurns) -> None:
        joints = [joint for joint in leg.joints if joint is not None]
        self.joints: IntArray = np.array(joints, dtype=np.int64)
        self._clips, self._fps = (captured.local_quats, before.local_quats), captured.fps
        self._glitched = _glitched(captured, turns, joints[-1])
        self._own = np.zeros(len(joints))
        quats = captured.local_quats
        _largest(*quats.shape[:2], quats, len(joints), self.joints, self._glitched, self._own)
        jerks = np.where(
            self._glitched[1:] | self._glitched[:-1], 0.0, second_differences(leg.knee)
        )
        most = max(JERK_OVER_OWN * float(jerks.max()), FREE_M_S2 / captured.fps**2)
        self._jerk = np.maximum(most, jerks + 1e-12)

    def broken(self, local: FloatArray, knee: FloatArray) -> BoolArray:
        """Steps (F - 1,) beyond what the leg may do.

        Parameters
        ----------
        local : (F, J, 4)
            Local rotations of all joints.
        knee : (F, 3)
            Track of the leg's knee, metres.
        """
        fast = np.zeros(len(local) - 1, dtype=bool)
        _find(
            *local.shape[:2],
            local,
            *self._clips,
            len(self.joints),
            self.joints,
            self._own,
            float(np.radians(FREE_DEG_S)) / self._fps,
            max(3, round(AROUND_S * self._fps)),
            knee,
            self._jerk,
            self._glitched,
            np.zeros(len(local) + len(self.joints)),
            fast,
        )
        return fast


def limits_of(captured: Motion, before: Motion, legs: Sequence[Leg]) -> tuple[LegLimits, ...]:
    """What legs may do. See :class:`LegLimits`; none where a clip is too short to say."""
    if captured.n_frames < 4:
        return ()
    turns = sudden_turn_places(captured)
    return tuple(LegLimits(captured, before, leg, turns) for leg in legs)


def calm_legs(
    before: Motion, after: Motion, pose: tuple[FloatArray, FloatArray], limits: Sequence[LegLimits]
) -> tuple[Motion, BoolArray]:
    """The cleaned motion without steps that are too fast, and where its legs were changed (F, L).

    Parameters
    ----------
    before, after
        The clip with knees repaired, and cleaned.
    pose
        World positions and rotations of the cleaned one.
    limits
        Of L legs.
    """
    local = np.array(after.local_quats)
    changed = calm_rotations(before, local, pose, limits)
    if not changed.any():
        return after, changed
    local.flags.writeable = False  # else it would be copied once more
    return after.replace(local_quats=local), changed


def calm_rotations(
    before: Motion,
    local: FloatArray,
    pose: tuple[FloatArray, FloatArray],
    limits: Sequence[LegLimits],
) -> BoolArray:
    """Calm legs in place, and tell where they were changed (F, L).

    Parameters
    ----------
    before
        The clip with knees repaired.
    local : (F, J, 4)
        Local rotations of the cleaned one, which are written to.
    pose
        World positions and rotations of the cleaned one, as it comes in.
    limits
        Of L legs.
    """
    changed = np.zeros((len(local), len(limits)), dtype=bool)
    for k, leg in enumerate(limits):
        knee = np.ascontiguousarray(pose[0][:, leg.joints[1]])
        fast = leg.broken(local, knee)
        if fast.any():
            changed[:, k] = _calm_leg(before, local, pose, leg, fast, knee)
    return changed


def _calm_leg(
    before: Motion,
    local: FloatArray,
    pose: tuple[FloatArray, FloatArray],
    limits: LegLimits,
    fast: BoolArray,
    knee: FloatArray,
) -> BoolArray:
    """Smooth one leg in ``local`` (F, J, 4) and its ``knee`` (F, 3), in place.

    Returns where it was changed (F,).
    """
    n, joints = len(local), limits.joints
    changed, scratch = np.zeros(n, dtype=bool), np.zeros((n, len(joints), 3))
    part, hips = np.zeros(n), np.array(local[:, joints[0]])
    clips = (before.local_quats, hips, *pose)
    for width in WIDTHS_S:
        half = bounded(max(1, round(width * before.fps)), n)
        _share(n, fast, half + 1, part, changed)
        window = (part, half, weights_of(half))
        _smooth(*local.shape[:2], *clips, len(joints), joints, *window, scratch, local, knee)
        fast = limits.broken(local, knee)
        if not fast.any():
            break
    return changed


def _glitched(motion: Motion, turns: SuddenTurns, end: int) -> BoolArray:
    """Steps near capture glitches of the joints from the root to ``end``. Shape (F - 1,)."""
    chain = {motion.skeleton.names[joint] for joint in motion.skeleton.chain(end)}
    flags = np.zeros(motion.n_frames - 1, dtype=bool)
    for frame, joint in turns:
        if joint in chain:
            flags[max(0, frame - 3) : frame + 3] = True
    return flags


def second_differences(track: FloatArray) -> FloatArray:
    """Size of the second difference of a track (F, 3), metres. Shape (F - 2,)."""
    second = track[2:] - 2.0 * track[1:-1] + track[:-2]
    return np.asarray(np.sqrt(np.sum(second * second, axis=-1)))


# --- Quiet knees: where a knee over a held foot jerks, the hips take up the jerk instead
#
# A captured foot trembles by a millimetre or two, and its hip with it. Once the foot stands, only
# the hip trembles, and the knee between them is thrown by several times as much: in its angle where
# the leg is nearly straight, in its direction where the leg is folded. There the quick part of the
# change that holding made between hip and ankle is given to the root.

_jerk_sizes = kernel("ml_knee_jerks")

NEARBY_S = 0.25
"""A knee is compared with the clip within this time before and after, seconds."""
KNEE_WIDTHS_S = (0.008, 0.017, 0.033, 0.067)
"""Time to either side over which the change is smoothed, in one try after another, seconds."""
MOST_M, MOST_M_S2 = 0.005, 0.5 * FREE_M_S2
"""The root moves by no more than the first for it, and accelerates by no more than the second: what
is larger is no tremble, and would shake the whole body."""
EDGE = 2
"""Frames before and after a change of the root in which knees show what it does."""
WHOLE = 0.5
"""Where more than this part of the frames has to be solved again, all are."""
Solve = Callable[[FloatArray, slice], tuple[LegSolution, ...]]
"""Solutions of both legs in some frames, under a shift of the root (F, 3) of all."""


def quiet_knees(
    feet: tuple[Foot, Foot],
    reach: FloatArray,
    shift: FloatArray,
    solve: Solve,
    fps: float,
    *,
    apart: int,
) -> tuple[FloatArray, tuple[LegSolution, ...]]:
    """A shift of the root (F, 3) under which knees over held feet jerk less, and both legs.

    Parameters
    ----------
    feet
        Left and right, with their holds.
    reach : (F, 2)
        How far held ankles may be from their hips, metres.
    shift : (F, 3)
        Of the root so far, metres.
    solve
        Solves both legs under a shift.
    fps
        Frames per second.
    apart
        Frames from one to another beyond which the shift of one does not matter to the other.
    """
    legs = solve(shift, slice(None))
    if len(shift) < 2 * EDGE:
        return shift, legs
    most = _allowed(feet, fps)
    inside = np.stack([_inside(foot.standing) for foot in feet], axis=1)
    jerks = _jerks(legs) / most
    for width in KNEE_WIDTHS_S:
        half = max(1, round(width * fps))
        for k, foot in enumerate(feet):
            jerky = (jerks[:, k] > 1.0) & inside[:, k]
            if not jerky.any():
                continue
            way = legs[k].limb.end - (foot.hip + shift)
            more = _quick_part(foot, way, np.maximum(reach[:, k], _lengths(way)), jerky, half)
            moved = np.asarray(more.any(axis=1))
            tried = _again(solve, legs, shift + more, moved, apart)
            better = _better(more, _jerks(tried) / most, jerks, fps)
            if better.any():
                shift = shift + np.where(better[:, None], more, 0.0)
                whole = np.array_equal(better, moved)
                legs = tried if whole else _again(solve, legs, shift, better, apart)
                jerks = _jerks(legs) / most
    return shift, legs


def _again(
    solve: Solve, legs: tuple[LegSolution, ...], shift: FloatArray, moved: BoolArray, apart: int
) -> tuple[LegSolution, ...]:
    """Legs under a shift (F, 3) that is another one in ``moved`` (F,), solved near those only."""
    near = highest_nearby(moved.astype(np.float64), apart) > 0.0
    if near.mean() > WHOLE:
        return solve(shift, slice(None))
    limbs = [LimbSolution(*(np.array(part) for part in _parts(leg.limb))) for leg in legs]
    for first, last in runs_of(near):
        start = max(first - apart, 0)
        solved = solve(shift, slice(start, last + 1 + apart))
        for limb, leg in zip(limbs, solved, strict=True):
            for part, new in zip(_parts(limb), _parts(leg.limb), strict=True):
                part[first : last + 1] = new[first - start : last + 1 - start]
    return tuple(LegSolution(limb, None) for limb in limbs)


def _parts(limb: LimbSolution) -> tuple[FloatArray, ...]:
    """The arrays of a solution."""
    return limb.q_upper, limb.q_lower, limb.middle, limb.end, limb.miss


def _allowed(feet: tuple[Foot, Foot], fps: float) -> FloatArray:
    """Second differences of the knees' tracks that are no jerk, metres. (F, 2)."""
    own = _second(*(foot.knee for foot in feet))
    nearby = running_maximum(own, min(round(NEARBY_S * fps), len(own)))
    return np.maximum(JERK_OVER_OWN * nearby, FREE_M_S2 / fps**2)


def _inside(standing: BoolArray) -> BoolArray:
    """Frames (F,) that are held with those before and after them."""
    inside = np.zeros_like(standing)
    inside[1:-1] = standing[:-2] & standing[1:-1] & standing[2:]
    return inside


def _quick_part(
    foot: Foot, way: FloatArray, reach: FloatArray, jerky: BoolArray, half: int
) -> FloatArray:
    """Shift (F, 3) that takes the quick part out of the change from hip to ankle.

    Parameters
    ----------
    foot
        As it was captured.
    way : (F, 3)
        From hip to ankle, metres.
    reach : (F,)
        How long the way may be, metres.
    jerky : (F,)
        Where; it runs out over ``half`` frames around.
    half
        Frames to either side that tell quick from slow.
    """
    change = way - (foot.ankle - foot.hip)
    around = np.array(jerky)
    around[1:] |= jerky[:-1]
    around[:-1] |= jerky[1:]
    part = nearness(around, half + 1.0)[:, None]
    calm = way - part * (change - spread_smoothly(change, half))
    within = np.minimum(1.0, reach / np.maximum(_lengths(calm), 1e-9))
    return np.where(part > 0.0, way - calm * within[:, None], 0.0)


def _better(more: FloatArray, tried: FloatArray, jerks: FloatArray, fps: float) -> BoolArray:
    """Frames (F,) of changes of the root ``more`` (F, 3) that are small and make knees quieter."""
    moved = np.asarray(more.any(axis=1))
    better, bends = np.zeros_like(moved), _second(more)[:, 0] * fps**2
    for first, last in runs_of(moved):
        rows = slice(max(first - EDGE, 0), last + 1 + EDGE)
        small = _lengths(more[rows]).max() <= MOST_M and bends[rows].max() <= MOST_M_S2
        better[first : last + 1] = small and tried[rows].max() < jerks[rows].max()
    return better


def _jerks(legs: tuple[LegSolution, ...]) -> FloatArray:
    """Second differences of both knees, metres. (F, 2)."""
    return _second(*(leg.limb.middle for leg in legs))


def _second(*tracks: FloatArray) -> FloatArray:
    """Size of the second difference of T tracks (F, 3), 0 in the first and last frame. (F, T)."""
    n, out = len(tracks[0]), np.zeros((len(tracks[0]), len(tracks)))
    for k, track in enumerate(tracks):
        _jerk_sizes(n, np.ascontiguousarray(track), len(tracks), k, out)
    return out


def _lengths(vectors: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(np.sum(vectors * vectors, axis=-1)))
