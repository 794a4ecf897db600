"""The quality check: whether an animator would accept a motion, each joint judged against itself.

:func:`verify` is the verb, :class:`QualityCheck` the same for many results of the same sources.
Both measure series of every frame and compare them with the limits of the sources
(:mod:`motionloom.features.checks.source_limits`). Where the provenance of a result is known, its
feet and travel are compared with the clips at the times that they play. No contact labels are
needed: a foot carries the body if its sole is as low as the body stands, if the body does not fall
and its weight is over that foot. Its slip is how far it gets over the ground beyond what the clips'
feet do at the mapped times. See core/src/checks/check_support.c.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from motionloom import _core
from motionloom._arrays import Block, BoolArray, FloatArray, flag, items, of_kind
from motionloom._records import record
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.errors import ArrayError, SkeletonMismatchError
from motionloom.features.checks.source_limits import (
    HEAD,
    SPEED_MORE,
    TURN_FREE,
    TURN_MORE,
    CheckedMotion,
    CheckedSources,
    CheckRig,
    Limits,
    Pose,
    Series,
    check_rig,
    copied_joints,
    free_fall_gap,
    judge_with,
    limits_without_sources,
    measure_limits,
    measure_series,
    merged,
    new_series,
    no_limits,
    series_of,
    with_slack,
)
from motionloom.features.checks.verification import (
    CHECKS,
    MOST_FOUND,
    FailedCheck,
    Verification,
    failed_checks,
)
from motionloom.features.footplants.detect import detect_footplants
from motionloom.features.glitches.glitch_frames import (
    Glitch,
    Turns,
    glitch_joints,
    glitch_mask,
    turns_and_glitches,
)
from motionloom.findings import Finding
from motionloom.motion.motion import Footplants, Motion, Skeleton, contacts_for
from motionloom.motion.provenance import Copy, Provenance
from motionloom.rotation import quat


def verify(
    motion: Motion,
    *,
    sources: Sequence[Motion] = (),
    footplants: Footplants | None = None,
    body: BodyMap | None = None,
    held: bool = True,
    provenance: Provenance | None = None,
) -> Verification:
    """Check a motion: every joint is compared with the same joint in the sources.

    Parameters
    ----------
    motion
        The motion to check.
    sources
        The clips it was made from, on its skeleton and in its root layout. Without them the
        check covers only the data itself and motion that no body makes: knees bent backwards,
        glitches.
    footplants
        Contacts of the motion; detected by default.
    body
        Roles of the joints; guessed by default.
    held
        Pass False for motion whose feet are not held yet (a raw blend): soles, contacts and drags
        are not checked.
    provenance
        Which of the sources, at which times, its frames come from, as results give it:
        ``result.provenance``. Copied frames are then not judged, where they are their clip's own,
        moved rigidly over the ground, and all others are compared with
        the sources at these times: feet that carry the body, speed and direction of travel, soles.

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
    if provenance is not None:
        of_kind(provenance, Provenance, "provenance")
    body = None if body is None else roles_for(motion.skeleton, body)
    if footplants is not None:
        contacts_for(footplants, motion.n_frames)
    if provenance is not None:
        provenance = confirmed(provenance, motion, sources)
    return QualityCheck(sources, body=body).verify(
        motion, footplants=footplants, held=held, provenance=provenance
    )


T = TypeVar("T")


@dataclass(slots=True)
class _Kept:
    """Memory and limits that one verification leaves to the next."""

    block: Block
    series: Series | None = None
    allowed: FloatArray | None = None
    """What joints may do in frames that show a source's."""
    shown: tuple[object, ...] = ()
    """Number of frames of the result, and which of them these are."""


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
        self._plants = _per_source(footplants, len(sources), "footplants")
        self._body, self._together, self._slack = body, together, slack
        self._rig = rig
        self._poses = _per_source(poses, len(sources), "poses")
        self._limits: Limits | None = None
        self._each_limits: list[Limits] = []
        self._glitches: list[list[int]] = []
        self._series: list[Series] = []
        self._gaps: dict[int, npt.NDArray[np.float32]] = {}
        self._supports = SourceSupports((), ())
        self._joints: tuple[Skeleton, tuple[list[int], set[int]]] | None = None
        self._last_played: tuple[Provenance, int, Played] | None = None
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
                limits = with_slack(limits, self._slack)
            if self._together:
                limits = limits._replace(
                    speed=np.sum([each.speed for each in each_limits], axis=0),
                    bend=np.sum([each.bend for each in each_limits], axis=0),
                )
            # Threads that share a check may measure at once: each of these is put there whole.
            self._each_limits = each_limits
            self._glitches = [glitches for _, glitches, _ in measured]
            self._series = [series for _, _, series in measured]
            self._supports = SourceSupports(self.sources, self._series)
            self._limits = limits
        return self._limits

    def _glitch_joints(self, motion: Motion) -> tuple[list[int], set[int]]:
        """Joints that may glitch, of a skeleton that is compared with those of the sources.

        The last ones stay here, for most motions have one skeleton.
        """
        entry = self._joints
        if entry is None or entry[0] is not motion.skeleton:
            for source in self.sources:
                if not source.skeleton.same_joints(motion.skeleton):
                    raise SkeletonMismatchError(
                        f"`sources` must share the motion's skeleton; {source!r} does not. "
                        "Use ml.retarget first."
                    )
            body = roles_for(motion.skeleton, self._body)
            entry = self._joints = motion.skeleton, glitch_joints(motion.skeleton, body)
        return entry[1]

    def _played_in(self, motion: Motion, provenance: Provenance) -> Played:
        """What plays in a motion; the last is kept, for tries have one provenance."""
        entry = self._last_played
        if entry is None or entry[0] is not provenance or entry[1] != motion.n_frames:
            played = Played.of(provenance, motion, self.sources)
            entry = self._last_played = provenance, motion.n_frames, played
        return entry[2]

    def _measure(self, rig: CheckRig, k: int) -> tuple[Limits, list[int], Series]:
        """Limits of a source, frames of its glitches, and what was measured."""
        source = self.sources[k]
        given, self._poses[k] = self._poses[k], None  # not kept: as large as the source itself
        pose = source.world_pose() if given is None else given
        _, glitches = turns_and_glitches(source, pose[0], self._glitch_joints(source))
        frames = [glitch.frame for glitch in glitches]
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
        provenance: Provenance | None = None,
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
        provenance
            Which clips, at which times, its frames come from; its sources are those of the check,
            in their order. Copies are not judged, and taken as given: :func:`verify` looks whether
            they are copies. All other frames are compared with their clips at the times that play:
            feet that carry the body, speed and direction of travel, soles.
            Where a frame shows one frame of a clip, changed or not, each joint may do what it does
            there, glitches included, and contacts are compared with these very frames, not with
            the worst of the clip. Without it nothing is known of these times, and this part of
            the check is left out.
        held
            Off for motion whose feet are still to be held: soles, contacts and drags are left out.
        steady_head
            Also compare the head's rotation speed (95th percentile): for splices.
        pose
            The motion's joints in the world, where the caller knows them: ``world_pose()``.
        """
        if type(motion) is not Motion:
            of_kind(motion, Motion, "motion")
        looked_at = self._glitch_joints(motion)
        played = Played() if provenance is None else self._played_in(motion, provenance)
        pose = motion.world_pose() if pose is None else pose
        turns, glitches = turns_and_glitches(motion, pose[0], looked_at)
        unsound = tuple(_unsound(turns, pose[0]))
        first, last = (0, motion.n_frames - 1) if span is None else span
        rig, limits = self.rig_for(motion), self.limits_for(motion)
        series = self._series_of(rig, motion, pose)
        if footplants is None:
            footplants = contacts_of(motion, rig, self._body)
        skipped = self._passed_on(motion, played)
        checked = CheckedMotion(
            series, footplants.planted, motion.fps, first, last, skipped,
            held=held and bool(self.sources), judged=played.judged,
        )  # fmt: skip
        compared = limits if self.sources else limits_without_sources(rig)
        rows = self._rows(rig, checked, compared, played)
        if played.judged is not None:
            judged = np.zeros(motion.n_frames, dtype=bool)
            judged[first : last + 1] = played.judged[first : last + 1]
            skipped = skipped | ~judged
            if self.sources and len(rig.legs) and judged.any():
                leg = leg_length(rig, pose[0])
                rows = self._with_support(rows, series, motion.fps, leg, played, judged)
        failed = failed_checks(rig, motion.skeleton.names, rows) if len(rows) else []
        failed += new_glitches(glitches, skipped, first, last)
        if steady_head and self.sources:
            failed += restless_head(rig, motion, series, limits, skipped)
        return Verification(
            not failed and not unsound, tuple(failed), unsound, glitches, bool(self.sources)
        )

    def _rows(
        self,
        rig: CheckRig,
        checked: CheckedMotion,
        limits: Limits,
        played: Played,
    ) -> FloatArray:
        """Failures against the limits of the sources, and against what plays in each frame."""
        planted, weights = checked.planted, played.weights
        allowed = self._allowed_in(rig, len(planted), played)
        gaps = self._gaps_in(played, len(planted)) if played.clips else None
        sources = CheckedSources(self._series, self._each_limits, played.shown, weights)
        return judge_with(sources, checked, limits, allowed, MOST_FOUND, gaps)

    def _with_support(
        self,
        rows: FloatArray,
        series: Series,
        fps: float,
        leg: float,
        played: Played,
        judged: BoolArray,
    ) -> FloatArray:
        """Failures, and those of support and travel, each check and joint once."""
        more = self._supports.failures(series, fps, leg, played, judged)
        known = {(check, joint) for check, joint in rows[:, :2]}
        new = [(check, joint) not in known for check, joint in more[:, :2]]
        return np.concatenate([rows, more[new]])

    def _gaps_in(self, played: Played, n_frames: int) -> FloatArray:
        """How far the clips are off free fall where they play and nothing supports them. (F,)."""
        gaps = np.zeros(n_frames)
        for source, at in played.clips:
            own = self._gaps.get(source)
            if own is None:
                series, floor = self._series[source], self._each_limits[source].highest
                own = np.zeros(len(series.lowest), dtype=np.float32)
                fps = self.sources[source].fps
                free_fall_gap(series.soles, series.lowest, series.mass, floor, fps, own)
                self._gaps[source] = own
            here = np.isfinite(at)
            frames = np.clip(np.round(at[here]).astype(np.int64), 0, len(own) - 1)
            gaps[here] = np.maximum(gaps[here], own[frames])
        return gaps

    @contextmanager
    def tries(self, block: Block) -> Iterator[None]:
        """While this is entered, verifications share the memory of a block.

        For tries, one after the other, that have the same number of frames and show the same frames
        of the sources.
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

    def _allowed_in(self, rig: CheckRig, n_frames: int, played: Played) -> FloatArray:
        """What joints may do in frames that show a source's."""
        spare = self._kept
        if spare is None:
            return copied_joints(self._series, played.shown, n_frames, len(rig.checked))
        wanted = (n_frames, *played.shown)
        if spare.allowed is None or spare.shown != wanted:
            spare.allowed = copied_joints(
                self._series, played.shown, n_frames, len(rig.checked), spare.block
            )
            spare.shown = wanted
        return spare.allowed

    def _passed_on(self, motion: Motion, played: Played) -> BoolArray:
        """Frames of a motion that show a source's own glitches. (F,)."""
        frames: list[int] = []
        for part in played.shown:
            offset = part.first - part.start
            frames += [frame + offset for frame in self._glitches[part.source]]
        if not frames:
            return np.zeros(motion.n_frames, dtype=bool)
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


def _per_source(given: Sequence[T | None] | None, n_sources: int, name: str) -> list[T | None]:
    """One item of ``given`` per source; None for each where nothing is given."""
    if given is None:
        return [None] * n_sources
    values: list[T | None] = [*items(given, name, "one per source")]
    if len(values) != n_sources:
        raise ArrayError(f"`{name}` must have one per source ({n_sources}), got {len(values)}.")
    return values


def contacts_of(motion: Motion, rig: CheckRig, body: BodyMap | None) -> Footplants:
    """Detected contacts; none for bodies without legs."""
    if not len(rig.legs):
        return Footplants(np.zeros((motion.n_frames, 4), dtype=bool))
    return detect_footplants(motion, body=body)


# --- Checks that numpy makes: new glitches, a restless head, broken data

HEAD_MORE = 1.3
"""The 95th percentile of the head's rotation speed may exceed the larger source's by this."""
HEAD_FREE = np.radians(40.0)
"""A head that turns slower than this is steady, rad/s."""


def new_glitches(
    glitches: Sequence[Glitch], skipped: BoolArray, first: int, last: int
) -> list[FailedCheck]:
    """Glitches of the motion that no source passed on; one per joint."""
    failed: dict[str, FailedCheck] = {}
    for frame, joint in glitches:
        if first <= frame <= last and not skipped[frame]:
            failed.setdefault(joint, FailedCheck("capture glitch", joint, frame, 1.0, 0.0, ""))
    return list(failed.values())


def restless_head(
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
    """Faults of a motion's data, whatever it was made of."""
    findings: list[Finding] = []
    if not np.isfinite(positions.sum()):
        findings.append(Finding("error", "pose", "Joint positions are not finite."))
    if turns.error > 1e-6:
        text = f"Not of unit length, off by {turns.error:.2g}."
        findings.append(Finding("error", "rotations", text))
    if turns.flips:
        findings.append(Finding("error", "rotations", "Signs flip between frames."))
    return findings


# --- The check of a changed motion whose sources are not known
#
# Compared with the given motion alone, a result would pass with all faults of the given motion.


def merged_verdict(compared: Verification, alone: Verification) -> Verification:
    """Merge the comparison with the given motion and the check of the result alone.

    A failure that both report is listed once, the worse of the two.
    """
    failed = {
        (each.check, each.joint, each.frame): each
        for each in sorted((*compared.failed, *alone.failed), key=lambda each: each.ratio)
    }
    order = [(each.check, each.joint, each.frame) for each in (*compared.failed, *alone.failed)]
    return replace(
        compared,
        passed=compared.passed and alone.passed,
        failed=tuple(failed[key] for key in dict.fromkeys(order)),
    )


def mended_notes(
    given: Motion, footplants: Footplants, body: BodyMap, verification: Verification
) -> list[str]:
    """Failed checks of the given motion that the result passes, by the verdict on the result."""
    still = {(each.check, each.joint) for each in verification.failed}
    return [
        f"the given motion fails a check that the result passes: {each}"
        for each in verify(given, footplants=footplants, body=body).failed
        if (each.check, each.joint) not in still
    ]


# --- The clips that play in a result

SAME_TURN = 1e-6
"""Rotations of which the dot product is so near to one are the same: 0.2 degrees apart. Tables keep
single precision."""
SAME_PLACE = 1e-3
"""Metres: places so near to each other are the same."""
OUTSIDE_S = 0.1
"""Times outside a clip by less are those of its ends."""


class Playing(NamedTuple):
    """A clip that plays in a result."""

    source: int
    at: FloatArray
    """Its frame at every frame of the result; nan where it does not play. (F,)"""


class Played(NamedTuple):
    """The clips that play in a result. By default nothing is known of them."""

    shown: tuple[Copy, ...] = ()
    """Runs of frames that each show a frame of one clip, as it is or with changes. A joint may do
    there what it does in the clip's frame."""
    clips: tuple[Playing, ...] = ()
    """Clips whose feet, travel and falls every frame is compared with."""
    weights: FloatArray | None = None
    """Share of every source in every frame; floors are mixed by them. (F, K)"""
    judged: BoolArray | None = None
    """Frames that are judged; all by default. (F,)"""

    @classmethod
    def of(cls, provenance: Provenance, motion: Motion, sources: Sequence[Motion]) -> Played:
        """Read the provenance of a motion; it must fit the motion and the sources."""
        _check_fit(provenance, motion, sources)
        return cls(
            provenance.copies(changed_too=True),
            tuple(playing_clips(provenance, [each.fps for each in sources])),
            provenance.body.shares(len(sources)),
            judged_frames(provenance),
        )


def _check_fit(provenance: Provenance, motion: Motion, sources: Sequence[Motion]) -> None:
    """Refuse a provenance of another motion, of other clips, or of times outside of these."""
    if provenance.n_frames != motion.n_frames:
        raise ArrayError(
            f"`provenance` must have one row per frame of the motion ({motion.n_frames}), got "
            f"{provenance.n_frames}. Cut it as the motion was cut: provenance[first:stop]."
        )
    if len(provenance.sources) != len(sources):
        raise ArrayError(
            f"`provenance` must be about the sources of the check ({len(sources)}), in their "
            f"order; it names {len(provenance.sources)}."
        )
    for track in provenance.tracks:
        for k, clip in enumerate(sources):
            times = track.time[(track.clip == k) & (track.weight != 0.0)]
            if (
                times.size
                and not -OUTSIDE_S <= times.min() <= times.max() <= clip.duration_s + OUTSIDE_S
            ):
                raise ArrayError(
                    f"`provenance` must name times inside the clips; {provenance.sources[k]!r} "
                    f"lasts {clip.duration_s:.3g} s, got {times.min():.6g} to {times.max():.6g} s."
                )


def confirmed(provenance: Provenance, motion: Motion, sources: Sequence[Motion]) -> Provenance:
    """The provenance, with frames counted as changed that are only said to be a clip's own.

    Parameters
    ----------
    provenance
        It must fit the motion and the sources.
    motion
        F frames.
    sources
        Its clips.
    """
    _check_fit(provenance, motion, sources)
    said = np.zeros(motion.n_frames, dtype=bool)
    own = np.zeros(motion.n_frames, dtype=bool)
    for copy in provenance.copies():
        rows = slice(copy.first, copy.last + 1)
        said[rows] = True
        own[rows] = _own_frames(motion, sources[copy.source], copy)
    if (own == said).all():
        return provenance
    return replace(provenance, changed=provenance.changed | (said & ~own))


def _own_frames(motion: Motion, clip: Motion, copy: Copy) -> BoolArray:
    """Frames of a copy that are the clip's own, moved as the first one is. (N,)."""
    here = slice(copy.first, copy.last + 1)
    there = slice(copy.start, copy.start + copy.n_frames)
    if clip.fps != motion.fps or not 0 <= copy.start <= clip.n_frames - copy.n_frames:
        return np.zeros(copy.n_frames, dtype=bool)
    quats, theirs = motion.local_quats[here], clip.local_quats[there]
    own = (1.0 - np.abs(np.einsum("fjc,fjc->fj", quats, theirs)[:, 1:]) < SAME_TURN).all(axis=1)
    turns = quat.multiply(quats[:, 0], quat.conjugate(theirs[:, 0]))
    own &= 1.0 - np.abs(turns @ turns[0]) < SAME_TURN
    own &= np.hypot(turns[0, 1], turns[0, 3]) < SAME_PLACE
    way = motion.root_positions[here] - motion.root_positions[copy.first]
    their_way = clip.root_positions[there] - clip.root_positions[copy.start]
    own &= np.abs(way - quat.rotate(turns[0], their_way)).max(axis=1) < SAME_PLACE
    slides, their_slides = motion.joint_translations, clip.joint_translations
    if slides is not None and their_slides is not None:
        own &= (np.abs(slides[here, 1:] - their_slides[there, 1:]) < SAME_PLACE).all(axis=(1, 2))
    return np.asarray(own)


def playing_clips(provenance: Provenance, rates: Sequence[float]) -> list[Playing]:
    """Clips of the part that carries the body. One that plays at two times at once is there twice.

    Parameters
    ----------
    provenance
        Of the result.
    rates
        Frames per second of each source.
    """
    track = provenance.body
    found = []
    for slot in range(track.clip.shape[1]):
        used = track.weight[:, slot] != 0.0
        for source in np.unique(track.clip[used, slot]):
            here = used & (track.clip[:, slot] == source)
            at = np.where(here, track.time[:, slot] * rates[source], np.nan)
            found.append(Playing(int(source), at))
    return found


def judged_frames(provenance: Provenance) -> BoolArray:
    """Frames that are judged: all but copies. Steps into a copy and out of it are judged. (F,)."""
    judged, n = np.ones(provenance.n_frames, dtype=bool), provenance.n_frames
    for first, last, *_ in provenance.copies():
        judged[first + (first > 0) : last + (last == n - 1)] = False
    return judged


# --- Support of feet, and travel

_measure_support = _core.kernel("ml_support_measure")
_told = _core.kernel("ml_support_told")
_judge_support = _core.kernel("ml_support_judge")
_support_record = _core.maker("ml_support")

MOMENTS = _core.integer("ML_SUPPORT_MOMENTS")
"""Moments of a clip around the mapped time."""
AROUND_S = 0.2
"""Seconds of a clip that are measured before and after the times that are used."""
MOST_ROWS = 16
"""Failures of one call at most: three slips, three of travel, four soles."""


class _Seen(NamedTuple):
    velocity: FloatArray
    """Of five points of each sole: to the left, up, ahead, m/s. (F, 2, 5, 3)"""
    share: FloatArray
    """Part of the weight on each foot. (F, 2)"""
    travel: FloatArray
    """Velocity of the pelvis: to the left, ahead, m/s. (F, 2)"""
    heading: FloatArray
    """Of the series, radians. (F,)"""
    soles: FloatArray
    """Of the series, metres. (F, 4, 3)"""
    slowest: npt.NDArray[np.int8]
    """The slowest low point of each sole, -1 where none is low. (F, 2)"""
    falls: npt.NDArray[np.uint8]
    """Frames in which the body falls. (F,)"""


@record
class Support(_Seen):
    """What feet and body do in every frame, seen from the body's heading."""

    @cached_property
    def core(self) -> _core.Record:
        """The support as the core takes it."""
        made: _core.Record = _support_record(n_frames=len(self.heading), **self._asdict())
        return made

    def __reduce__(self) -> tuple[type[Support], tuple[npt.NDArray[Any], ...]]:
        return Support, tuple(self)


def new_support(series: Series) -> Support:
    """Support of zeros for all frames of a series."""
    n = len(series.heading)
    return Support(
        np.zeros((n, 2, 5, 3)),
        np.zeros((n, 2)),
        np.zeros((n, 2)),
        series.heading,
        series.soles,
        np.full((n, 2), -1, dtype=np.int8),
        np.zeros(n, dtype=np.uint8),
    )


def measure_support(
    series: Series, fps: float, leg: float, first: int, stop: int, out: Support
) -> None:
    """Fill frames ``first`` to ``stop`` - 1; ``leg`` is the length of thigh and shank, metres."""
    levels = np.zeros(len(series.heading))
    _measure_support(series.core, fps, leg, first, stop, levels, out.core)


def leg_length(rig: CheckRig, positions: FloatArray) -> float:
    """Length of thigh and shank of the left leg, metres, from positions (F, J, 3)."""
    hip, knee, ankle = positions[0, rig.legs[0]]
    return float(np.linalg.norm(knee - hip) + np.linalg.norm(ankle - knee))


class Told(NamedTuple):
    """Measures of the playing clips at the frames of a result, one row for each clip."""

    feet: FloatArray
    """(P, F, 2, 9, 2)"""
    travel: FloatArray
    """(P, F, 9, 2)"""
    rates: FloatArray
    """(P, F)"""
    lows: FloatArray
    """(P, F, 4)"""


def told_by(
    playing: Sequence[Playing],
    supports: Sequence[Support],
    rates: Sequence[float],
    result: Support,
    fps: float,
    span: tuple[int, int],
) -> Told:
    """Measure every playing clip at frames ``span`` (first, stop) of a result."""
    first, stop = span
    n, many = stop - first, len(playing)
    told = Told(
        np.zeros((many, n, 2, MOMENTS, 2)),
        np.zeros((many, n, MOMENTS, 2)),
        np.zeros((many, n)),
        np.zeros((many, n, 4)),
    )
    for row, (source, at) in enumerate(playing):
        _told(
            supports[source].core, rates[source], result.core, fps, first, stop, at,
            told.feet[row], told.travel[row], told.rates[row], told.lows[row],
        )  # fmt: skip
    return told


def support_rows(
    result: Support, fps: float, span: tuple[int, int], told: Told, judged: BoolArray
) -> FloatArray:
    """Failures of support and travel: check, joint, frame, value, limit. (N, 5)."""
    first, stop = span
    rows, n_found = np.zeros((MOST_ROWS, 5)), np.zeros(1, dtype=np.int64)
    _judge_support(
        result.core, fps, first, stop, len(told.rates), *told,
        np.ascontiguousarray(judged, dtype=np.bool_), 1.0, np.zeros((stop - first + 1, 10)),
        MOST_ROWS, rows, n_found,
    )  # fmt: skip
    return rows[: int(n_found[0])]


class SourceSupports:
    """Support of the sources of a check: measured where they play, and kept.

    Parameters
    ----------
    sources
        The clips.
    series
        What was measured of them.
    """

    def __init__(self, sources: Sequence[Motion], series: Sequence[Series]) -> None:
        self._clips = [(each.fps, each.n_frames) for each in sources]
        self._series = series
        self._known: dict[int, tuple[int, int, Support]] = {}

    def failures(
        self, series: Series, fps: float, leg: float, played: Played, judged: BoolArray
    ) -> FloatArray:
        """Failures of support and travel of a result: check, joint, frame, value, limit. (N, 5).

        Parameters
        ----------
        series, fps
            What was measured of the result, and its rate.
        leg
            Length of thigh and shank, metres.
        played
            The clips that play in it.
        judged : (F,)
            Frames that are judged; at least one.
        """
        frames = np.flatnonzero(judged)
        span = int(frames[0]), int(frames[-1]) + 1
        supports = [
            self._support_of(source, _used_frames(played.clips, source, slice(*span)), leg)
            for source in range(len(self._clips))
        ]
        result = new_support(series)
        measure_support(series, fps, leg, *span, result)
        rates = [rate for rate, _ in self._clips]
        told = told_by(played.clips, supports, rates, result, fps, span)
        return support_rows(result, fps, span, told, judged)

    def _support_of(self, source: int, ends: FloatArray, leg: float) -> Support:
        """Support of a source, known in the frames around ``ends`` at least."""
        series = self._series[source]
        first, stop, support = self._known.get(source) or (0, 0, new_support(series))
        if len(ends):
            fps, n = self._clips[source]
            around = round(AROUND_S * fps)
            low = min(max(int(ends[0]) - around, 0), n - 1)
            high = min(int(ends[1]) + around + 1, n)
            if low < first or high > stop:
                first, stop = (min(low, first), max(high, stop)) if stop else (low, high)
                measure_support(series, fps, leg, first, stop, support)
                self._known[source] = first, stop, support
        return support


def _used_frames(playing: Sequence[Playing], source: int, span: slice) -> FloatArray:
    """First and last frame of a source that play within a span; an empty array for none."""
    frames = [each.at[span] for each in playing if each.source == source]
    known = np.concatenate([at[np.isfinite(at)] for at in frames]) if frames else np.zeros(0)
    return np.array([known.min(), known.max()]) if len(known) else known
