"""Results judged: figures of feet, balance and speed, held against what their clips are like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from motionloom._progress import report_step
from motionloom.cleanup.cleanup_report import CleanupReport
from motionloom.cleanup.finalize import Finalized
from motionloom.features.checks.verification import Verification
from motionloom.features.quality import Quality, measure_quality
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.studio.clips.matches import Matched
from motionloom.studio.clips.verdict_limits import (
    BALANCE_CM,
    CLEANUP_CM,
    SPEED,
    Limits,
    balance_limits_cm,
    grade,
    slide_limits_cm,
)
from motionloom.studio.messages.answers import Verdict, WhyRow

__all__ = [
    "Judged",
    "check_warnings",
    "graded_row",
    "judge",
    "quality_rows",
    "worst",
]

FAILED_SHOWN = 6
"""Failed checks that have a row of their own."""


@dataclass(frozen=True, slots=True, eq=False)
class Judged(Finalized):
    """A result with its figures."""

    quality: Quality
    source_qualities: tuple[Quality, ...]
    """What a result is judged against: a run leaves its support, and so may a blend of it."""
    speed_ratio: float
    """Part of its limit that the fastest joint uses."""


class Made(Protocol):
    """What every operation returns."""

    @property
    def motion(self) -> Motion:
        """The result."""

    @property
    def footplants(self) -> Footplants:
        """Its contacts."""

    @property
    def verification(self) -> Verification:
        """Its quality check."""

    @property
    def cleanup(self) -> CleanupReport | None:
        """What holding its feet changed."""


def judge(made: Made, matched: Matched) -> Judged:
    """The result with its figures, and those of its clips."""
    report_step("measuring the result")
    return Judged(
        made.motion,
        made.footplants,
        made.cleanup,
        made.verification,
        measure_quality(made.motion, made.footplants, body=matched.body),
        matched.qualities,
        matched.check.speed_ratio(made.motion),
    )


def quality_rows(judged: Judged) -> list[WhyRow]:
    """The figures that every result has: failed checks, feet, balance, speed, clean-up."""
    quality, report = judged.quality, judged.cleanup
    outside = None if quality.zmp_outside is None else 100.0 * quality.zmp_outside
    balance = balance_limits_cm(judged.source_qualities)
    farthest = quality.slide_max_m if report is None else report.slide_after
    slide = None if farthest is None else 100.0 * farthest
    fastest = quality.contact_speed_worst
    rows = [
        WhyRow(
            each.check, _number(each.value), each.unit, "bad", None, f"{each}",
            (each.limit, each.limit), each.frame,
        )
        for each in judged.verification.failed[:FAILED_SHOWN]
    ]  # fmt: skip
    rows += [
        graded_row(
            "feet slide", slide, "cm", slide_limits_cm(judged.source_qualities),
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
            "joint speed", judged.speed_ratio, "x", SPEED,
            "part of its limit that the fastest joint uses; each joint has its own limit from the "
            "sources",
            frame=_fastest_frame(judged.motion),
        ),
    ]  # fmt: skip
    if report is not None:
        moved = 100.0 * report.joint_change_max
        about = "farthest that holding the feet moved any joint"
        rows.append(graded_row("clean-up moved", moved, "cm", CLEANUP_CM, about))
    return rows


def graded_row(
    label: str,
    value: float | None,
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


def check_warnings(judged: Judged) -> list[str]:
    """What the quality check and clean-up found wrong, in words."""
    texts = [str(each) for each in (*judged.verification.unsound, *judged.verification.failed)]
    if judged.cleanup is not None and judged.cleanup.let_go:
        texts.append(f"{len(judged.cleanup.let_go)} plants could not be held and were let go.")
    spikes = len(judged.quality.joint_speed_spikes)
    captured = sum(len(quality.joint_speed_spikes) for quality in judged.source_qualities)
    if spikes:
        texts.append(
            f"{spikes} single frames in which a joint turns far faster than around them; "
            f"the sources have {captured}."
        )
    return texts


def worst(rows: Sequence[WhyRow], passed: bool) -> Verdict:
    """The verdict of a whole result."""
    if not passed or any(row.verdict == "bad" for row in rows):
        return "bad"
    return "fair" if any(row.verdict == "fair" for row in rows) else "good"


def _number(value: float | None) -> float | None:
    """JSON has no nan."""
    return None if value is None or not np.isfinite(value) else float(value)
