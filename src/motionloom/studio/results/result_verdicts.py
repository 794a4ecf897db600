"""Verdicts on results: figures of feet, balance and speed, compared with those of the clips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from motionloom._progress import report_step
from motionloom.blending.blend import Blend
from motionloom.blending.transition import Transition
from motionloom.cleanup.finalize import Finalized
from motionloom.features.quality import Quality, measure_quality
from motionloom.motion.motion import Motion
from motionloom.splicing.splice import Splice
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
from motionloom.studio.messages.answers import Verdict
from motionloom.studio.messages.result_messages import Why, WhyRow

FAILED_SHOWN = 6
"""Failed checks with a row each."""


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation(Finalized):
    """A result with its figures."""

    quality: Quality
    source_qualities: tuple[Quality, ...]
    """Reference for the verdicts: a run leaves its support, and so may a blend of it."""
    speed_ratio: float
    """Part of its limit that the fastest joint uses."""


Outcome = Transition | Blend | Splice | Finalized
"""What the operations return."""


def evaluate(outcome: Outcome, matched: Matched) -> Evaluation:
    """The result with its figures, and those of its clips."""
    report_step("measuring the result")
    return Evaluation(
        outcome.motion,
        outcome.footplants,
        outcome.cleanup,
        outcome.verification,
        measure_quality(outcome.motion, outcome.footplants, body=matched.body),
        matched.qualities,
        matched.check.speed_ratio(outcome.motion),
    )


def explain(
    evaluation: Evaluation,
    headline: str,
    rows: Sequence[WhyRow],
    notes: Sequence[str],
    command: str,
    python: str,
) -> Why:
    """The explanation of a result: rows of its tab, then those that every result has.

    Parameters
    ----------
    evaluation
        Its figures.
    headline
        One line that describes it.
    rows
        Figures of its tab.
    notes
        What was done to the clips.
    command, python
        The same run outside the studio.
    """
    every = [*rows, *_quality_rows(evaluation)]
    passed = evaluation.verification.passed
    verdict = _worst(every, passed)
    command += "" if passed else " --allow-flawed"  # the studio exports it all the same
    return Why(verdict, headline, every, _warnings(evaluation), list(notes), command, python)


def _quality_rows(evaluation: Evaluation) -> list[WhyRow]:
    """The figures that every result has: failed checks, feet, balance, speed, clean-up."""
    quality, report = evaluation.quality, evaluation.cleanup
    outside = None if quality.zmp_outside is None else 100.0 * quality.zmp_outside
    balance = balance_limits_cm(evaluation.source_qualities)
    farthest = quality.slide_max_m if report is None else report.slide_after
    slide = None if farthest is None else 100.0 * farthest
    fastest = quality.contact_speed_worst
    rows = [
        WhyRow(
            each.check, _number(each.value), each.unit, "bad", None, f"{each}",
            (each.limit, each.limit), each.frame,
        )
        for each in evaluation.verification.failed[:FAILED_SHOWN]
    ]  # fmt: skip
    rows += [
        graded_row(
            "feet slide", slide, "cm", slide_limits_cm(evaluation.source_qualities),
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
            "joint speed", evaluation.speed_ratio, "x", SPEED,
            "part of its limit that the fastest joint uses; each joint has its own limit from the "
            "sources",
            frame=_fastest_frame(evaluation.motion),
        ),
    ]  # fmt: skip
    if report is not None:
        moved = 100.0 * report.joint_change_max
        about = "farthest that cleaning the feet moved any joint"
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
    verdict = grade(value, limits)
    return WhyRow(label, _number(value), unit, verdict, _number(before), about, limits, frame)


def _fastest_frame(motion: Motion) -> int:
    """Frame into which some joint takes the largest step."""
    steps = np.linalg.norm(np.diff(motion.world_positions(), axis=0), axis=-1).max(axis=-1)
    return int(np.argmax(steps)) + 1 if len(steps) else 0


def _warnings(evaluation: Evaluation) -> list[str]:
    """Failures of the quality check and of clean-up, in words."""
    texts = [
        str(each) for each in (*evaluation.verification.unsound, *evaluation.verification.failed)
    ]
    if evaluation.cleanup is not None and evaluation.cleanup.let_go:
        texts.append(
            f"{len(evaluation.cleanup.let_go)} contacts could not be held still and were released."
        )
    spikes = len(evaluation.quality.joint_speed_spikes)
    captured = sum(len(quality.joint_speed_spikes) for quality in evaluation.source_qualities)
    if spikes:
        texts.append(
            f"{spikes} single frames in which a joint turns far faster than around them; "
            f"the sources have {captured}."
        )
    return texts


def _worst(rows: Sequence[WhyRow], passed: bool) -> Verdict:
    """The verdict of a whole result."""
    if not passed or any(row.verdict == "bad" for row in rows):
        return "bad"
    return "fair" if any(row.verdict == "fair" for row in rows) else "good"


def _number(value: float | None) -> float | None:
    """JSON has no nan."""
    return None if value is None or not np.isfinite(value) else float(value)
