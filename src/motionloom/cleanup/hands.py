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
from motionloom.cleanup.arm_reach import STOP_S, Arm, arm_of, led_arm, place_in_reach
from motionloom.cleanup.blend_off import blend_off, spread_smoothly
from motionloom.cleanup.cleanup_report import CleanupReport
from motionloom.errors import ArrayError
from motionloom.features.checks.check_rig import check_rig
from motionloom.features.checks.flawed_warning import warn_flawed
from motionloom.features.checks.quality_check import QualityCheck, contacts_of
from motionloom.features.checks.verification import Verification
from motionloom.features.checks.verify import verify
from motionloom.features.checks.without_sources import checked_alone_too, mended_notes
from motionloom.motion.contacts import Footplants
from motionloom.motion.intervals import Spans, frames_of
from motionloom.motion.motion import Motion
from motionloom.motion.provenance import Provenance
from motionloom.motion.skeleton import Skeleton

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
    return footplants, checked_alone_too(compared, alone)


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
