"""verify(): whether an animator would accept a motion, each joint judged against itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from motionloom._arrays import Block, BoolArray, FloatArray, flag, of_kind
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.errors import ArrayError, SkeletonMismatchError
from motionloom.features.checks.check_rig import CheckRig, check_rig
from motionloom.features.checks.compare import (
    BEND_FREE,
    BEND_MORE,
    CHECKS,
    MOST_FOUND,
    SPEED_MORE,
    TURN_FREE,
    TURN_MORE,
    judge,
)
from motionloom.features.checks.copied import COPIED_MORE, copied_grounds, copied_joints
from motionloom.features.checks.failed_check import FailedCheck, failed_checks
from motionloom.features.checks.series import Series, measure_series, new_series
from motionloom.features.checks.source_limits import HEAD, Limits, measure_limits, merged, no_limits
from motionloom.features.checks.verification import Copied, Verification
from motionloom.features.footplants.detect import detect_footplants
from motionloom.features.glitches.glitch_frames import FASTEST, Jump, jumping_joints, jumps_in
from motionloom.features.smoothness import Turns, spikes_of
from motionloom.findings import Finding
from motionloom.motion.contacts import Footplants, contacts_for
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton

__all__ = [
    "COPIED_MORE",
    "Copied",
    "QualityCheck",
    "Verification",
    "glitch_mask",
    "series_of",
    "verify",
]

Pose = tuple[FloatArray, FloatArray]
"""World positions and rotations of all joints."""

HEAD_MORE = 1.3
"""The 95th percentile of the head's rotation speed may exceed the larger source's by this."""
HEAD_FREE = np.radians(40.0)
"""A head that turns slower than this is steady, rad/s."""
NEIGHBOURS_S = 1.5 / 60.0
"""Frames so close to a capture glitch are as unreliable as the glitch itself, seconds."""


def verify(
    motion: Motion,
    *,
    sources: Sequence[Motion] = (),
    footplants: Footplants | None = None,
    body: BodyMap | None = None,
    held: bool = True,
) -> Verification:
    """Whether a motion is sound and moves as its sources do, every joint judged against itself.

    Parameters
    ----------
    motion
        What is about to be written.
    sources
        The clips it was made from, on its skeleton and in its root layout. Without them only the
        data itself is checked, and what no body does: knees bent backwards, glitches.
    footplants
        Contacts of the motion; detected by default.
    body
        Roles of the joints; guessed by default.
    held
        Off for motion whose feet are still to be held (a raw blend): soles, contacts and drags
        are not judged.

    Returns
    -------
    Verification
        ``passed``, and ``failed`` with check, joint, frame, value and limit of each failure.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> walk = synthetic.clip("walk").motion
    >>> bool(verify(walk, sources=[walk]))
    True
    """
    of_kind(motion, Motion, "motion")
    held = flag(held, "held")
    if not isinstance(sources, list | tuple):
        raise ArrayError(f"`sources` must be a list of motions, got {type(sources).__name__}.")
    for k, source in enumerate(sources):
        of_kind(source, Motion, f"sources[{k}]")
    body = None if body is None else roles_for(motion.skeleton, body)
    if footplants is not None:
        contacts_for(footplants, motion.n_frames)
    return QualityCheck(sources, body=body).verify(motion, footplants=footplants, held=held)


@dataclass(slots=True)
class _Kept:
    """What one verification leaves to the next."""

    block: Block
    series: Series | None = None
    allowed: FloatArray | None = None
    """What joints may do in copied frames."""
    copied: tuple[object, ...] = ()
    """Frames of the result, and which of them are copied."""


class QualityCheck:
    """The check of everything that is made from the same sources, which are measured once.

    Parameters
    ----------
    sources
        The clips that results are compared with; on one skeleton.
    footplants
        Contacts of the sources; detected where not given.
    body
        Roles of the joints; guessed by default.
    together
        Whether results do what all sources do at once, as splices: a hand that waves on a body
        that turns is as fast as both together.
    slack
        How much more than usual joints may exceed the sources: holding feet that skated takes a
        little speed of every leg.
    rig
        What is judged of the sources' body, where the caller knows it already.
    poses
        Joints of the sources in the world, where the caller knows them.
    """

    def __init__(
        self,
        sources: Sequence[Motion] = (),
        *,
        footplants: Sequence[Footplants] | None = None,
        body: BodyMap | None = None,
        together: bool = False,
        slack: float = 1.0,
        rig: CheckRig | None = None,
        poses: Sequence[Pose | None] | None = None,
    ) -> None:
        if not isinstance(sources, list | tuple):
            raise ArrayError(f"`sources` must be a list of motions, got {type(sources).__name__}.")
        for k, source in enumerate(sources):
            of_kind(source, Motion, f"sources[{k}]")
        self.sources = tuple(sources)
        self._plants = [None] * len(sources) if footplants is None else list(footplants)
        self._body, self._together, self._slack = body, together, slack
        self._rig = rig
        self._poses: list[Pose | None] = [None] * len(sources) if poses is None else list(poses)
        self._limits: Limits | None = None
        self._jumps: list[list[int]] = []
        self._series: list[Series] = []
        self._joints: tuple[Skeleton, tuple[list[int], set[int]]] | None = None
        self._kept: _Kept | None = None

    def __repr__(self) -> str:
        return f"QualityCheck({len(self.sources)} sources)"

    def rig_for(self, motion: Motion) -> CheckRig:
        """Rig of the sources' body; of the motion's where there are no sources."""
        if self._rig is None:
            model = max(self.sources, key=lambda each: each.n_frames, default=motion)
            self._rig = check_rig(model, body=self._body)
        return self._rig

    def limits_for(self, motion: Motion) -> Limits:
        """What the sources reach at most."""
        if self._limits is None:
            rig = self.rig_for(motion)
            measured = [self._measure(rig, k) for k in range(len(self.sources))]
            each_limits = [limits for limits, _, _ in measured]
            limits = merged(each_limits) if each_limits else no_limits(rig)
            if self._slack != 1.0:
                limits = _with_slack(limits, self._slack)
            if self._together:
                limits = limits._replace(
                    speed=np.sum([each.speed for each in each_limits], axis=0),
                    bend=np.sum([each.bend for each in each_limits], axis=0),
                )
            # Threads that share a check may measure at once: each of these is put there whole.
            self._jumps = [jumps for _, jumps, _ in measured]
            self._series = [series for _, _, series in measured]
            self._limits = limits
        return self._limits

    def _jumping(self, motion: Motion) -> tuple[list[int], set[int]]:
        """Joints that may jump; the last ones are kept, for most motions have one skeleton."""
        entry = self._joints
        if entry is None or entry[0] is not motion.skeleton:
            body = roles_for(motion.skeleton, self._body)
            entry = self._joints = motion.skeleton, jumping_joints(motion.skeleton, body)
        return entry[1]

    def _measure(self, rig: CheckRig, k: int) -> tuple[Limits, list[int], Series]:
        """Limits of a source, frames after its jumps, and what was measured."""
        source = self.sources[k]
        given, self._poses[k] = self._poses[k], None  # not kept: as large as the source itself
        pose = source.world_pose() if given is None else given
        turns = spikes_of(source, FASTEST)
        jumps = jumps_in(source, turns, pose[0], self._jumping(source))
        frames = [jump.frame for jump in jumps]
        plants = self._plants[k]
        if plants is None:
            plants = contacts_of(source, rig, self._body)
        series = series_of(rig, source, pose)
        glitched = glitch_mask(source, frames)
        return measure_limits(rig, series, plants.planted, source.fps, glitched), frames, series

    def verify(
        self,
        motion: Motion,
        *,
        footplants: Footplants | None = None,
        span: tuple[int, int] | None = None,
        copied: Sequence[Copied] = (),
        plan: FloatArray | None = None,
        held: bool = True,
        steady_head: bool = False,
        pose: Pose | None = None,
    ) -> Verification:
        """Whether a motion made from the sources passes.

        Parameters
        ----------
        motion
            On the sources' skeleton.
        footplants
            Its contacts; detected by default.
        span
            First and last frame to judge; all by default.
        copied
            Frames of the motion that were taken over from a source: there each joint may do what
            it does in the source, glitches included, and contacts are compared with these very
            frames, not with the worst of the clip.
        plan : (F,)
            Headings that the body should have, radians.
        held
            Off for motion whose feet are still to be held: soles, contacts and drags are left out.
        steady_head
            Also compare the head's rotation speed (95th percentile): for splices.
        pose
            The motion's joints in the world, where the caller knows them: ``world_pose()``.
        """
        of_kind(motion, Motion, "motion")
        for source in self.sources:
            if not source.skeleton.same_joints(motion.skeleton):
                raise SkeletonMismatchError(
                    f"`sources` must share the motion's skeleton; {source!r} does not. "
                    "Use ml.retarget first."
                )
        pose = motion.world_pose() if pose is None else pose
        turns = spikes_of(motion, FASTEST)
        unsound = tuple(_unsound(turns, pose[0]))
        jumps = jumps_in(motion, turns, pose[0], self._jumping(motion))
        first, last = (0, motion.n_frames - 1) if span is None else span
        rig, limits = self.rig_for(motion), self.limits_for(motion)
        series = self._series_of(rig, motion, pose)
        if footplants is None:
            footplants = contacts_of(motion, rig, self._body)
        skipped = self._passed_on(motion, copied)
        allowed = self._allowed_in(rig, motion.n_frames, copied)
        grounds = copied_grounds(self._series, copied, footplants.planted, motion.fps)
        if not self.sources:
            limits = limits_without_sources(rig, series)
        rows = np.zeros((MOST_FOUND, 5))
        heading = np.zeros(0) if plan is None else np.asarray(plan, dtype=np.float64)
        n = judge(
            series, limits, footplants.planted, motion.fps, first, last, skipped, heading,
            held and bool(self.sources), allowed, grounds, rows,
        )  # fmt: skip
        failed = failed_checks(rig, motion.skeleton.names, rows[:n])
        failed += _new_glitches(jumps, skipped, first, last)
        if steady_head and self.sources:
            failed += _restless_head(rig, motion, series, limits, skipped)
        return Verification(
            not failed and not unsound, tuple(failed), unsound, jumps, bool(self.sources)
        )

    @contextmanager
    def tries(self, block: Block) -> Iterator[None]:
        """While this is entered, memory of a verification is the block's, and the next ones' too.

        For one after the other of tries of as many frames that copy the same frames.
        """
        self._kept = _Kept(block)
        try:
            yield
        finally:
            self._kept = None
            self._poses = [None] * len(self.sources)

    def _series_of(self, rig: CheckRig, motion: Motion, pose: Pose) -> Series:
        """What is measured of a motion that is verified."""
        spare = self._kept
        if spare is None:
            return series_of(rig, motion, pose)
        if spare.series is None or len(spare.series.turn) != motion.n_frames:
            spare.series = new_series(rig, motion.n_frames, spare.block)
        measure_series(rig, motion.fps, *pose, motion.local_quats, spare.series)
        return spare.series

    def _allowed_in(self, rig: CheckRig, n_frames: int, copied: Sequence[Copied]) -> FloatArray:
        """What joints may do in copied frames."""
        spare = self._kept
        if spare is None:
            return copied_joints(self._series, copied, n_frames, len(rig.judged))
        wanted = (n_frames, *copied)
        if spare.allowed is None or spare.copied != wanted:
            n_judged = len(rig.judged)
            spare.allowed = copied_joints(self._series, copied, n_frames, n_judged, spare.block)
            spare.copied = wanted
        return spare.allowed

    def _passed_on(self, motion: Motion, copied: Sequence[Copied]) -> BoolArray:
        """Frames of a motion that show a source's own glitches. (F,)."""
        frames: list[int] = []
        for part in copied:
            offset = part.first - part.start
            frames += [frame + offset for frame in self._jumps[part.source]]
        return glitch_mask(motion, [frame for frame in frames if 0 <= frame < motion.n_frames])

    def speed_ratio(self, motion: Motion) -> float:
        """Largest part of its limit that the speed or rotation speed of any joint uses."""
        if not self.sources:
            raise ArrayError("`sources` must hold the clips that set the limits, got none.")
        rig, limits = self.rig_for(motion), self.limits_for(motion)
        series = series_of(rig, motion)
        turn = np.maximum(TURN_MORE * limits.turn, TURN_FREE)
        speed = np.maximum(SPEED_MORE * limits.speed, limits.quick)
        return float(max((series.turn / turn).max(), (series.speed[:, 1:] / speed[1:]).max()))


def series_of(rig: CheckRig, motion: Motion, pose: Pose | None = None) -> Series:
    """What the checks measure of a motion; ``pose`` where it is known in the world."""
    positions, world = motion.world_pose() if pose is None else pose
    out = new_series(rig, motion.n_frames)
    measure_series(rig, motion.fps, positions, world, motion.local_quats, out)
    return out


def _with_slack(limits: Limits, slack: float) -> Limits:
    """Limits of joints so much wider, what is always allowed included."""
    return limits._replace(
        turn=np.maximum(slack * limits.turn, slack * TURN_FREE / TURN_MORE),
        speed=slack * limits.speed,
        bend=np.maximum(slack * limits.bend, slack * BEND_FREE / BEND_MORE),
        quick=slack * limits.quick,
    )


def contacts_of(motion: Motion, rig: CheckRig, body: BodyMap | None) -> Footplants:
    """Detected contacts; none for bodies without legs."""
    if not len(rig.legs):
        return Footplants(np.zeros((motion.n_frames, 4), dtype=bool))
    return detect_footplants(motion, body=body)


def glitch_mask(motion: Motion, frames: Sequence[int]) -> BoolArray:
    """Frames that are glitched or next to one. (F,)."""
    mask = np.zeros(motion.n_frames, dtype=bool)
    near = int(np.ceil(NEIGHBOURS_S * motion.fps))
    for frame in frames:
        mask[max(frame - near, 0) : frame + near + 1] = True
    return mask


def limits_without_sources(rig: CheckRig, series: Series) -> Limits:
    """Limits that only what no body does exceeds: nothing is known of how fast this one moves."""
    n = len(rig.judged)
    free = no_limits(rig)
    body = np.full_like(free.body, np.inf)
    return free._replace(
        turn=np.full(n, np.inf),
        speed=np.full(n, np.inf),
        bend=np.full(n, np.inf),
        carried=np.full(len(rig.carriers), np.inf),
        sole=np.full(4, -np.inf),
        floor=np.full(4, -np.inf),
        highest=np.full(4, np.inf),
        body=body,
    )


def _new_glitches(
    jumps: Sequence[Jump], skipped: BoolArray, first: int, last: int
) -> list[FailedCheck]:
    """Glitches of the motion that no source passed on; one per joint."""
    failed: dict[str, FailedCheck] = {}
    for jump in jumps:
        if first <= jump.frame <= last and not skipped[jump.frame]:
            failed.setdefault(
                jump.joint, FailedCheck("capture glitch", jump.joint, jump.frame, 1.0, 0.0, "")
            )
    return list(failed.values())


def _restless_head(
    rig: CheckRig, motion: Motion, series: Series, limits: Limits, skipped: BoolArray
) -> list[FailedCheck]:
    """The head's rotation speed, 95th percentile, against the larger source's."""
    good = ~skipped
    if rig.head < 0 or motion.n_frames < 8 or not good.any():
        return []
    value = float(np.quantile(series.head[good], 0.95))
    limit = max(HEAD_MORE * float(limits.body[HEAD]), HEAD_FREE)
    if value <= limit:
        return []
    row = np.array([[CHECKS.index("head turn"), -1, int(np.argmax(series.head)), value, limit]])
    return failed_checks(rig, motion.skeleton.names, row)


def _unsound(turns: Turns, positions: FloatArray) -> list[Finding]:
    """What is broken in a motion's data, whatever it was made of."""
    findings: list[Finding] = []
    if not np.isfinite(positions.sum()):
        findings.append(Finding("error", "pose", "Joint positions are not finite."))
    if turns.error > 1e-6:
        text = f"Not of unit length, off by {turns.error:.2g}."
        findings.append(Finding("error", "rotations", text))
    if turns.flips:
        findings.append(Finding("error", "rotations", "Signs flip between frames."))
    return findings
