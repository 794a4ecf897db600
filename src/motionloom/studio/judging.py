"""Results judged: figures of feet, balance and speed, held against what their clips are like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from motionloom.blending.finish import Finished, finish
from motionloom.features.quality import Quality, measure_quality
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.studio.answers import Verdict, WhyRow
from motionloom.studio.limits import (
    BALANCE_CM,
    CLEANUP_CM,
    SPEED,
    Limits,
    balance_limits_cm,
    grade,
    slide_limits_cm,
)
from motionloom.studio.matches import Matched

__all__ = [
    "Judged",
    "finish_and_judge",
    "gate_warnings",
    "graded_row",
    "judge",
    "quality_rows",
    "worst",
]


@dataclass(frozen=True, slots=True, eq=False)
class Judged(Finished):
    """A finished result with what it is like."""

    quality: Quality
    source_qualities: tuple[Quality, ...]
    """What a result is judged against: a run leaves its support, and so may a blend of it."""


def judge(finished: Finished, matched: Matched) -> Judged:
    """The result with its figures, and those of its clips."""
    quality = measure_quality(finished.motion, finished.footplants, body=matched.body)
    return Judged(
        finished.motion, finished.footplants, finished.feet, finished.gate, finished.before,
        quality, matched.qualities,
    )  # fmt: skip


def finish_and_judge(
    motion: Motion, footplants: Footplants, matched: Matched, *, clean: bool
) -> Judged:
    """The motion with its feet held where wanted, its gate and its figures."""
    done = finish(motion, footplants, matched.gate, body=matched.body, clean=clean)
    return judge(done, matched)


def quality_rows(judged: Judged) -> list[WhyRow]:
    """The figures that every result has: feet, balance, speeds, what clean-up moved."""
    quality, report, gate = judged.quality, judged.feet, judged.gate
    outside = 100.0 * quality.zmp_outside
    balance = balance_limits_cm(judged.source_qualities)
    slide = 100.0 * (quality.slide_max_m if report is None else report.slide_after)
    fastest = quality.contact_speed_worst
    rows = [
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
            "joint step", gate.step_ratio, "x", SPEED,
            "largest joint step per frame against the sources' largest",
            before=None if report is None else judged.before.step_ratio,
            frame=_fastest_frame(judged.motion),
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


def gate_warnings(judged: Judged) -> list[str]:
    """What the gate and clean-up found wrong, in words."""
    said = [f"{finding.problem} {finding.fix}".strip() for finding in judged.gate.findings]
    if judged.feet is not None and judged.feet.let_go:
        said.append(f"{len(judged.feet.let_go)} plants could not be held and were let go.")
    spikes = len(judged.quality.joint_speed_spikes)
    captured = sum(len(quality.joint_speed_spikes) for quality in judged.source_qualities)
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
