"""Hands held in place: wrists pinned over intervals, by the arms alone.

What clean-up does for feet, for a hand on a rail, a box or another body: the wrist stays where it
is on average over the interval, the arm follows with rigid bones, the hand keeps its rotation in
the world, and the offset runs out smoothly in the frames around.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, of_kind, positive
from motionloom._records import record
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.cleanup.cleanup_report import CleanupReport
from motionloom.cleanup.legs import blend_off, damped_span, nearness, soft_span, spread_smoothly
from motionloom.errors import ArrayError
from motionloom.features.checks.quality_check import (
    QualityCheck,
    contacts_of,
    mended_notes,
    merged_verdict,
    verify,
)
from motionloom.features.checks.source_limits import check_rig
from motionloom.features.checks.verification import Verification, warn_flawed
from motionloom.motion.edit import Spans, frames_of
from motionloom.motion.motion import Footplants, Motion, Skeleton, solve_limb
from motionloom.motion.provenance import Provenance
from motionloom.rotation import quat

WRISTS = ("left_wrist", "right_wrist")
"""Roles of the joints that can be held."""
BLENDS_S = (0.2, 0.35, 0.5)
"""Seconds over which a hand leaves its place that are tried until a result passes its check."""
SHIFT_S = 0.06
"""Seconds to either side over which a shift of the body for its hands is smoothed."""
Runs = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
@record
class HandHold:
    """One interval in which a hand is held. Lengths in metres, speeds in metres a second.

    Attributes
    ----------
    role : str
        ``left_wrist`` or ``right_wrist``.
    first : int
        First frame.
    last : int
        Last frame.
    moved_m : float
        Largest distance that the wrist was moved.
    missed_m : float
        Largest distance of the wrist from its place, because the arm is too short.
    speed_before, speed_after : float
        Highest speed of the wrist from one held frame to the next.
    """

    role: str
    first: int
    last: int
    moved_m: float
    missed_m: float
    speed_before: float
    speed_after: float


@dataclass(frozen=True, slots=True, eq=False)
@record
class HeldHands:
    """A motion whose hands are held, and how far they were moved.

    Attributes
    ----------
    motion : Motion
        The motion with hands held.
    holds : tuple of HandHold
        One per interval, hand by hand, in time order.
    footplants : Footplants
        Contacts of the motion; its feet are left as they are.
    verification : Verification
        Quality check of the motion alone, and against the one that was given.
    notes : tuple of str
        Holds that the arm is too short for, failed checks, and those that the given motion fails
        and this one passes.
    """

    motion: Motion
    holds: tuple[HandHold, ...]
    footplants: Footplants
    verification: Verification
    notes: tuple[str, ...]

    @property
    def span(self) -> tuple[int, int]:
        """First and last frame of the motion."""
        return 0, self.motion.n_frames - 1

    @property
    def cleanup(self) -> CleanupReport | None:
        """None: feet are left as they are."""
        return None


def hold_hands(
    motion: Motion,
    intervals: Mapping[str, Spans],
    *,
    body: BodyMap | None = None,
    blend_s: float = 0.2,
) -> HeldHands:
    """The motion with its hands held in place over intervals.

    The wrist stays where it is on average over the interval, or as near to that as the arm
    reaches; shoulder and elbow turn for it, the body does not move, and the hand keeps its rotation
    in the world. Frames farther than ``blend_s`` from every interval stay as they are.

    Parameters
    ----------
    motion
        The motion.
    intervals
        By ``"left_wrist"`` or ``"right_wrist"``, or the name of that joint, intervals (start, end)
        in seconds. Those of one hand must not overlap.
    body
        Roles of its joints; guessed where not given.
    blend_s
        Time over which a hand comes to its place and leaves it, seconds.

    Returns
    -------
    HeldHands
        The motion, how far each hold moved it, and its quality check: a hand that the body carries
        on cannot be held, and the arm that is drawn to it fails. A motion that fails
        :func:`motionloom.verify` as it is given, such as one with a capture glitch, fails with its
        hands held, too. A failed check gives a warning.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> wave = synthetic.clip("wave").motion
    >>> held = hold_hands(wave, {"left_wrist": [(0.5, 1.0)]})
    >>> held.holds[0].speed_after < 1e-6, held.verification.passed
    (True, True)
    """
    of_kind(motion, Motion, "motion")
    if not isinstance(intervals, Mapping):
        raise ArrayError(
            "`intervals` must be a dictionary such as {'right_wrist': [(0.4, 1.2)]}, got "
            f"{type(intervals).__name__}."
        )
    body, blend_s = roles_for(motion.skeleton, body), positive(blend_s, "blend_s")
    runs = _runs_of(motion, intervals, body)
    result, holds = hands_held(motion, runs, body, blend_s)
    footplants, verification = _checked(result, motion, body)
    warn_flawed(verification, "hold")
    failed = [f"failed check: {each}" for each in (*verification.unsound, *verification.failed)]
    mended = mended_notes(motion, footplants, body, verification)
    notes = (*reach_notes(holds), *failed, *mended)
    return HeldHands(result, holds, footplants, verification, notes)


def _runs_of(
    motion: Motion, intervals: Mapping[str, Spans], body: BodyMap
) -> dict[str, list[tuple[int, int]]]:
    """First and last frames of holds, by role; intervals of one hand must not overlap."""
    spans: dict[str, list[tuple[float, float]]] = {}
    for name, given in intervals.items():
        role = hand_role(name, motion.skeleton, body)
        if role is None:
            raise ArrayError(
                f"Names in `intervals` must be {' or '.join(WRISTS)}, or the joint of one, got "
                f"{name!r}."
            )
        spans.setdefault(role, []).extend(frames_of(given, motion, f"intervals[{name!r}]"))
    for role, each in spans.items():
        each.sort()
        for (_, end), (start, _) in pairwise(each):
            if start <= end:
                joint = motion.skeleton.names[getattr(body, role)]
                raise ArrayError(
                    f"`intervals` must hold intervals of {role} ({joint}) one after the other, got "
                    f"one that starts at {start / motion.fps:g} s, not after another ends at "
                    f"{end / motion.fps:g} s. Merge them."
                )
    return {
        role: [(int(np.ceil(low - 1e-9)), int(np.floor(high + 1e-9))) for low, high in each]
        for role, each in spans.items()
    }


def _checked(result: Motion, given: Motion, body: BodyMap) -> tuple[Footplants, Verification]:
    """Contacts of a motion whose feet were left as they are, and its check.

    It is checked alone and against the given motion. The contacts of both are the same, and every
    joint may do in each frame what it did there.
    """
    rig = check_rig(given, body=body)
    footplants = contacts_of(given, rig, body)
    check = QualityCheck([given], footplants=[footplants], body=body, rig=rig)
    provenance = Provenance.of_edit(given.name, given.fps, 0, given.n_frames)
    compared = check.verify(result, footplants=footplants, provenance=provenance)
    alone = verify(result, footplants=footplants, body=body)
    return footplants, merged_verdict(compared, alone)


def hand_role(name: object, skeleton: Skeleton, body: BodyMap) -> str | None:
    """The wrist that a name stands for: its role, or the name of its joint."""
    for role in WRISTS:
        joint = getattr(body, role)
        if name == role or (joint is not None and name == skeleton.names[joint]):
            return role
    return None


def hands_held(
    motion: Motion, runs: Mapping[str, Runs], body: BodyMap, blend_s: float
) -> tuple[Motion, tuple[HandHold, ...]]:
    """The motion with wrists, by role, held from first to last frames, and what that took."""
    holds: list[HandHold] = []
    for role, spans in runs.items():
        spans = [(first, last) for first, last in spans if last > first]
        if not spans:
            continue
        pose = motion.world_pose()
        arm = arm_of(role, body, pose)
        offsets, held = _offsets(arm, spans)
        local = led_arm(motion, arm, pose[1], offsets, held, blend_s)
        motion = motion.replace(local_quats=local)
        wrist = motion.world_positions()[:, arm.joints[2]]
        holds += _reports(role, spans, arm.wrist, wrist, offsets, motion.fps)
    return motion, tuple(holds)


def _offsets(arm: Arm, spans: Runs) -> tuple[FloatArray, BoolArray]:
    """Way of the wrist to its place in held frames (F, 3), and which frames these are (F,)."""
    held, offsets = np.zeros(len(arm.wrist), dtype=bool), np.zeros(arm.wrist.shape)
    for first, last in spans:
        frames = slice(first, last + 1)
        held[frames] = True
        offsets[frames] = place_in_reach(arm, first, last) - arm.wrist[frames]
    return offsets, held


def body_shift(motion: Motion, runs: Mapping[str, Runs], body: BodyMap, part: float) -> FloatArray:
    """A shift (F, 3) of the body that does ``part`` of what its held wrists need, metres.

    An arm near full stretch must turn fast for a wrist to stand where the shoulder moves on; a
    body that slows down with its hands spares it that.
    """
    fps, pose = motion.fps, motion.world_pose()
    total, count = np.zeros((motion.n_frames, 3)), np.zeros(motion.n_frames)
    length, stop = max(BLENDS_S[-1] * fps, 1.0), max(STOP_S * fps, 1.0)
    for role, spans in runs.items():
        offsets, held = _offsets(arm_of(role, body, pose), spans)
        total += blend_off(offsets, held, length=length, stop=stop)
        count += held
    shift = part * total / np.maximum(count, 1.0)[:, None]
    return spread_smoothly(shift, max(1, round(SHIFT_S * fps)))


def _reports(
    role: str,
    spans: Runs,
    before: FloatArray,
    after: FloatArray,
    offsets: FloatArray,
    fps: float,
) -> list[HandHold]:
    """What every hold took; ``before`` and ``after`` are places (F, 3) of the wrist."""
    reports = []
    for first, last in spans:
        frames = slice(first, last + 1)
        speeds = [
            float(np.linalg.norm(np.diff(way[frames], axis=0), axis=-1).max()) * fps
            for way in (before, after)
        ]
        moved, missed = (
            float(np.linalg.norm(each, axis=-1).max())
            for each in (
                after[frames] - before[frames],
                before[frames] + offsets[frames] - after[frames],
            )
        )
        reports.append(HandHold(role, first, last, moved, missed, speeds[0], speeds[1]))
    return reports


def held_until_sound(
    motion: Motion,
    runs: Mapping[str, Runs],
    body: BodyMap,
    verified: Callable[[Motion], Verification],
) -> tuple[Motion, tuple[HandHold, ...], Verification]:
    """Hands held with the shortest way to and from their places that passes a check.

    Where none passes, the one with the fewest failed checks.
    """
    best: tuple[Motion, tuple[HandHold, ...], Verification] | None = None
    for blend_s in BLENDS_S:
        tried, holds = hands_held(motion, runs, body, blend_s)
        verification = verified(tried)
        if best is None or len(verification.failed) < len(best[2].failed):
            best = tried, holds, verification
        if verification.passed:
            break
    assert best is not None
    return best


def reach_notes(holds: Sequence[HandHold]) -> tuple[str, ...]:
    """Notes on holds that the arm is too short for."""
    return tuple(
        f"{hold.role} is {100.0 * hold.missed_m:.1f} cm from its place in frames {hold.first} to "
        f"{hold.last}: the arm is too short"
        for hold in holds
        if hold.missed_m > 0.005
    )


# --- Arms: how far they reach, and their rotations when a wrist is led to a target

STOP_S = 0.05
"""A hand that is let go takes up its own speed over this long, seconds."""
SOFT_PART = 0.1
"""Away from a hold, an arm is damped from this part of its reach before full stretch."""
BENT = 0.96
"""A place is chosen so that held arms stay as bent as at this part of their length, or as they
are: near full stretch a centimetre turns an elbow by twenty degrees."""
ROUNDS = 64
"""Times that a place is moved into the reach of every frame in turn."""


@dataclass(frozen=True, slots=True, eq=False)
class Arm:
    """One arm of a motion, as it is. Shapes (F, 3), metres."""

    joints: tuple[int, int, int]
    """Shoulder, elbow, wrist."""
    shoulder: FloatArray
    elbow: FloatArray
    wrist: FloatArray
    hinge: FloatArray
    """World axis that the elbow bends about, for frames in which the arm is straight."""
    span: FloatArray
    """Shoulder to wrist. Shape (F,)."""
    reach: FloatArray
    """Farthest that the wrist may be taken from the shoulder. Shape (F,)."""
    easy_reach: FloatArray
    """As far as it goes with a bent elbow, or as it goes now. Shape (F,)."""


def arm_of(role: str, body: BodyMap, pose: tuple[FloatArray, FloatArray]) -> Arm:
    """The arm of the wrist ``role``; ``pose`` are world positions and rotations."""
    side = role.split("_")[0]
    joints = body.require(f"{side}_shoulder", f"{side}_elbow", role, task=f"holding {role}")
    shoulder, elbow, wrist = (pose[0][:, joint] for joint in joints)
    upper, lower = elbow - shoulder, wrist - elbow
    turn = pose[1][:, joints[0]]
    axis = quat.rotate(quat.conjugate(turn), np.cross(upper, lower)).sum(axis=0)
    size = float(np.linalg.norm(axis))
    if size < 1e-9:  # never bent: any axis across the arm
        axis = np.cross(quat.rotate(quat.conjugate(turn[:1]), upper[:1])[0], (0.3, 0.8, 0.5))
        size = max(float(np.linalg.norm(axis)), 1e-9)
    hinge = quat.rotate(turn, np.broadcast_to(axis / size, upper.shape))
    above, below, span = (
        np.linalg.norm(bone, axis=-1) for bone in (upper, lower, wrist - shoulder)
    )
    # The arm opens as far as a damped knee does: never straight, never less than it has been.
    reach = damped_span(above, below, span, above + below)
    easy = np.maximum(span, BENT * (above + below))
    named = joints[0], joints[1], joints[2]
    return Arm(named, shoulder, elbow, wrist, hinge, span, reach, easy)


def place_in_reach(arm: Arm, first: int, last: int) -> FloatArray:
    """Where (3,) the wrist is held from ``first`` to ``last``: its mean place, if in easy reach.

    The points within reach of every frame's shoulder are an intersection of balls. Projections
    on the ball that is missed most end in it where there is one.
    """
    frames = slice(first, last + 1)
    place = arm.wrist[frames].mean(axis=0)
    for _ in range(ROUNDS):
        way = place - arm.shoulder[frames]
        far = np.linalg.norm(way, axis=-1) - arm.easy_reach[frames]
        worst = int(np.argmax(far))
        if far[worst] <= 1e-6:
            break
        place = place - way[worst] * (far[worst] / np.linalg.norm(way[worst]))
    return np.asarray(place)


def led_arm(
    motion: Motion,
    arm: Arm,
    quats: FloatArray,
    offsets: FloatArray,
    held: BoolArray,
    blend_s: float,
) -> FloatArray:
    """Local rotations of the motion with the wrist moved by ``offsets`` where it is held.

    Parameters
    ----------
    motion, arm
        The motion, and the arm in it.
    quats : (F, J, 4)
        World rotations.
    offsets : (F, 3)
        Of the wrist in held frames, metres.
    held : (F,)
        Frames in which they must be met; they run out around.
    blend_s
        Seconds over which they run out.
    """
    fps, local = motion.fps, np.array(motion.local_quats)
    led = blend_off(offsets, held, length=max(blend_s * fps, 1.0), stop=max(STOP_S * fps, 1.0))
    way = arm.wrist + led - arm.shoulder
    wanted = np.maximum(np.linalg.norm(way, axis=-1), 1e-9)
    part = SOFT_PART * (1.0 - nearness(held, max(blend_s * fps, 1.0)))
    eased = soft_span(arm.span, wanted, arm.reach, np.maximum(part, 1e-6))
    span = np.where(held, np.minimum(wanted, arm.reach), eased)
    target = arm.shoulder + way * (span / wanted)[:, None]
    moved = np.flatnonzero(np.abs(led).max(axis=1) > 0.0)
    if not len(moved):
        return local
    solved = solve_limb(
        *(each[moved] for each in (arm.shoulder, arm.elbow, arm.wrist, target, arm.hinge)),
        straight=0.0,
    )
    parents = motion.skeleton.parents
    turned = (
        (arm.joints[0], None, solved.q_upper),
        (arm.joints[1], solved.q_upper, solved.q_lower),
        (arm.joints[2], solved.q_lower, None),  # the hand keeps its rotation in the world
    )
    for joint, above, own in turned:
        world = quats[moved, joint]
        world = world if own is None else quat.multiply(own, world)
        if parents[joint] >= 0:
            parent = quats[moved, parents[joint]]
            parent = parent if above is None else quat.multiply(above, parent)
            world = quat.multiply(quat.conjugate(parent), world)
        local[moved, joint] = world
    return local
