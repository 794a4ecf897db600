"""Results as every room makes them: clips brought together, feet cleaned, held against sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from motionloom.cleanup.footskate import clean_footskate
from motionloom.cleanup.report import CleanupReport
from motionloom.features.footplants import detect_footplants
from motionloom.features.quality import Quality, measure_quality
from motionloom.features.verify import Verification, verify
from motionloom.motion.body import BodyMap
from motionloom.motion.contacts import Footplants
from motionloom.motion.edit import resample
from motionloom.motion.motion import Motion
from motionloom.motion.root_motion import travel_on_root
from motionloom.retargeting.retarget import retarget
from motionloom.studio.answers import Verdict, WhyRow
from motionloom.studio.library import Clip
from motionloom.studio.limits import (
    BALANCE_CM,
    CLEANUP_CM,
    SPEED,
    Limits,
    balance_limits_cm,
    grade,
    moment_m,
    slide_limits_cm,
)
from motionloom.studio.messages import PlantSpans

__all__ = [
    "Finished",
    "Matched",
    "finish",
    "gate_warnings",
    "graded_row",
    "match_clips",
    "plants_from",
    "quality_rows",
    "worst",
]

SAME_M = 1e-3
"""Bones that differ by less are the same: files round, and captures are fitted anew each take."""


@dataclass(frozen=True, eq=False)
class Matched:
    """Clips on the first one's skeleton and at its rate."""

    motions: tuple[Motion, ...]
    footplants: tuple[Footplants, ...]
    body: BodyMap
    notes: tuple[str, ...]
    """What was done to bring them there."""
    number: int = 0
    """Tells matched clips apart, so that a page is sent each of them once."""

    @cached_property
    def qualities(self) -> tuple[Quality, ...]:
        """What the clips are like; every result of them is judged against it."""
        return tuple(
            measure_quality(motion, plants, body=self.body)
            for motion, plants in zip(self.motions, self.footplants, strict=True)
        )

    @cached_property
    def moment_m(self) -> Limits:
        """How far these bodies get from themselves in a moment: the scale of a match."""
        return moment_m(self.motions, self.body)

    def key(self, k: int) -> str:
        """Name of the clip's motion as it was sent to a page."""
        return f"{self.number}.{k}"


@dataclass(frozen=True, slots=True, eq=False)
class Finished:
    """A result with what the gate says, before and after clean-up."""

    motion: Motion
    footplants: Footplants
    feet: CleanupReport | None
    """None where clean-up was left out."""
    gate: Verification
    before: Verification
    quality: Quality
    source_qualities: tuple[Quality, ...]
    """What a result is judged against: a run leaves its support, and so may a blend of it."""

    @property
    def acceptable(self) -> bool:
        """Sound, and within its sources but for the little speed that holding a foot takes."""
        speeds = ("joint step", "joint turn", "root speed")
        sound = all(finding.where in speeds for finding in self.gate.findings)
        return self.gate.passed or (self.before.passed and sound)


def match_clips(
    clips: Sequence[Clip], plants: dict[str, PlantSpans], *, number: int = 0
) -> Matched:
    """Clips as the command line brings them together: rate, skeleton, root bone.

    Parameters
    ----------
    clips
        One or more.
    plants
        Plants set by hand, by clip id; they count in the clip's own frames.
    number
        Tells these matched clips from others.
    """
    first, body = clips[0].motion, clips[0].body
    motions, feet, notes = [], [], []
    for clip in clips:
        motion, own, stands = clip.motion, clip.body, plants_from(clip, plants.get(clip.id))
        if abs(motion.fps - first.fps) > 1e-3 * first.fps:
            notes.append(f"{clip.id}: resampled from {motion.fps:g} to {first.fps:g} fps")
            slower = motion
            motion = resample(motion, fps=first.fps)
            rows = np.clip(np.arange(motion.n_frames) * slower.fps / first.fps, 0, None)
            rows = np.minimum(np.round(rows).astype(int), slower.n_frames - 1)
            if clip.id in plants and stands is not None:
                stands = Footplants(stands.planted[rows])
            else:
                stands = detect_footplants(motion, body=own)
        stands = detect_footplants(motion, body=own) if stands is None else stands
        same = motion.skeleton.same_joints(first.skeleton)
        if not (same and _as_long(motion, first)):
            what = "bones of other lengths" if same else "another skeleton"
            notes.append(f"{clip.id}: {what}, retargeted onto that of {clips[0].id}")
            motion = retarget(motion, first, body=own, target_body=body, footplants=stands)
            own = body
        motions.append(travel_on_root(motion, body=own))
        feet.append(stands)
    return Matched(tuple(motions), tuple(feet), body, tuple(notes), number)


def plants_from(clip: Clip, spans: PlantSpans | None) -> Footplants | None:
    """The clip's plants, or those set by hand instead."""
    if spans is None:
        return clip.footplants
    return Footplants.from_intervals(
        {kind: tuple(listed) for kind, listed in spans.items()}, clip.motion.n_frames
    )


def finish(motion: Motion, footplants: Footplants, matched: Matched, *, clean: bool) -> Finished:
    """The motion with its feet cleaned where wanted, and what the gate says about it."""
    sources, body = list(matched.motions), matched.body
    before = verify(motion, sources=sources)
    known = matched.qualities
    if not clean:
        quality = measure_quality(motion, footplants, body=body)
        return Finished(motion, footplants, None, before, before, quality, known)
    cleanup = clean_footskate(motion, footplants, body=body)
    gate = verify(cleanup.motion, sources=sources)
    quality = measure_quality(cleanup.motion, cleanup.footplants, body=body)
    feet = cleanup.report
    return Finished(cleanup.motion, cleanup.footplants, feet, gate, before, quality, known)


def quality_rows(finished: Finished) -> list[WhyRow]:
    """The figures that every result has: feet, balance, speeds, what clean-up moved."""
    quality, report, gate = finished.quality, finished.feet, finished.gate
    outside = 100.0 * quality.zmp_outside
    balance = balance_limits_cm(finished.source_qualities)
    slide = 100.0 * (quality.slide_max_m if report is None else report.slide_after)
    fastest = quality.contact_speed_worst
    rows = [
        graded_row(
            "feet slide", slide, "cm", slide_limits_cm(finished.source_qualities),
            "farthest that a planted point moves over the ground",
            before=None if report is None else 100.0 * report.slide_before,
            frame=None if fastest is None else fastest[0],
        ),
        graded_row(
            "balance", outside, "cm", balance,
            "zero moment point outside the support, 95th percentile; the sources have up to "
            f"{balance[0] - BALANCE_CM[0]:.1f} cm",
        ),
        graded_row(
            "joint step", gate.step_ratio, "x", SPEED,
            "largest joint step per frame against the sources' largest",
            before=None if report is None else finished.before.step_ratio,
            frame=_fastest_frame(finished.motion),
        ),
        graded_row(
            "root speed", gate.root_speed_ratio, "x", SPEED,
            "largest ground speed of the pelvis against the sources' largest",
        ),
    ]  # fmt: skip
    if report is not None:
        moved = 100.0 * report.joint_change_max
        about = "farthest that holding the feet moved any joint"
        rows.append(graded_row("clean-up moved", moved, "cm", CLEANUP_CM, about))
    return rows


def graded_row(
    label: str,
    value: float,
    unit: str,
    limits: Limits,
    about: str,
    *,
    before: float | None = None,
    frame: int | None = None,
) -> WhyRow:
    """A figure of which less is better, with its verdict."""
    was = None if before is None else _number(before)
    return WhyRow(
        label, _number(value), unit, grade(value, limits), was, about, limits, frame
    )  # fmt: skip


def _fastest_frame(motion: Motion) -> int:
    """Frame into which some joint takes the largest step."""
    steps = np.linalg.norm(np.diff(motion.world_positions(), axis=0), axis=-1).max(axis=-1)
    return int(np.argmax(steps)) + 1 if len(steps) else 0


def gate_warnings(finished: Finished) -> list[str]:
    """What the gate and clean-up found wrong, in words."""
    said = [f"{finding.problem} {finding.fix}".strip() for finding in finished.gate.findings]
    if finished.feet is not None and finished.feet.let_go:
        said.append(f"{len(finished.feet.let_go)} plants could not be held and were let go.")
    spikes = len(finished.quality.joint_speed_spikes)
    captured = sum(len(quality.joint_speed_spikes) for quality in finished.source_qualities)
    if spikes:
        said.append(
            f"{spikes} single frames in which a joint turns far faster than around them; "
            f"the sources have {captured}."
        )
    return said


def worst(rows: Sequence[WhyRow], acceptable: bool) -> Verdict:
    """The verdict of a whole result."""
    if not acceptable or any(row.verdict == "bad" for row in rows):
        return "bad"
    return "fair" if any(row.verdict == "fair" for row in rows) else "good"


def _number(value: float) -> float | None:
    """JSON has no nan."""
    return float(value) if np.isfinite(value) else None


def _as_long(a: Motion, b: Motion) -> bool:
    """Whether all bones of two clips with the same joints have one length; sliding ones aside."""
    slides = np.zeros(a.skeleton.n_joints, dtype=bool)
    for motion in (a, b):
        if motion.joint_translations is not None:
            slides |= np.ptp(motion.joint_translations, axis=0).max(axis=-1) > SAME_M
    apart = np.abs(a.skeleton.offsets - b.skeleton.offsets).max(axis=-1)
    return bool((apart[~slides] <= SAME_M).all())
