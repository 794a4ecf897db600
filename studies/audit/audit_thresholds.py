"""How often a check is wrong: false alarms on captured clips, misses on damaged copies of them.

    ./study audit-thresholds [--checker independent|motionloom] [--every N] [--damaged N] [--misses]

False alarms: a captured clip, cut into parts of two seconds, is a "result" that must pass. Its
parts are compared with the clip itself, their frames given as copied, which is how transitions and
clean-ups judge what they take over (``copied``; as captured, and after the repairs with which
motion is made), and with the other half of the clip and other clips of the subject (``subject``,
after repairs). ``alone`` is the check of a captured clip without sources.

Misses: copies of repaired clips have one defect at a random place. The part around it is judged as
copied frames and as new frames that were made from the clip. The independent check is the default;
``motionloom`` measures the product's own.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import sys
import time
import warnings
from collections import defaultdict
from functools import cached_property

import numpy as np

import motionloom as ml
from motionloom.features.glitches.repair import repair_capture
from studies.audit.audit_checkers import CHECKERS, Captured, Checker, independent
from studies.audit.audit_clips import load, subject
from studies.audit.audit_damage import DAMAGES, Damaged
from studies.audit.audit_others import real_clips
from studies.report import Figure, write_report

PART_S = 2.0
NEAR_S = 0.25
AROUND_S = 0.5
"""A part or a damaged place is judged with so much of the clip before and after it: checks compare
frames with those around them, and a cut is no result."""
WORSE = 1.2
"""Damage that adds to a failure of the captured clip counts as found above this ratio."""
OTHERS = 6
"""Other clips of the subject that a part is compared with."""
GOAL = 1.0
"""Per cent of captured time, and of damaged copies."""


class Clip:
    """A captured clip, whole and by halves."""

    def __init__(self, name: str, motion: ml.Motion) -> None:
        self.name, self.motion = name, motion
        self.footplants = ml.detect_footplants(motion)
        self.whole = Captured(motion, self.footplants)
        self.middle = motion.n_frames // 2

    @cached_property
    def halves(self) -> tuple[Captured, Captured]:
        first, second = slice(0, self.middle), slice(self.middle, self.motion.n_frames)
        return (
            Captured(self.motion[first], self.footplants[first]),
            Captured(self.motion[second], self.footplants[second]),
        )

    def parts(self) -> list[tuple[int, int]]:
        """Parts of about two seconds that do not cross the middle."""
        length = max(8, round(PART_S * self.motion.fps))
        n, parts = self.motion.n_frames, []
        for start, end in ((0, self.middle), (self.middle, n)):
            count = max(1, round((end - start) / length))
            edges = np.linspace(start, end, count + 1).astype(int)
            parts += list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
        return [(a, b) for a, b in parts if b - a >= 8]


class Alarms:
    """Seconds of captured parts that fail each check, and of all parts, by how they are judged."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.failing: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))

    def add(self, mode: str, seconds: float, checks: set[str]) -> None:
        self.seconds[mode] += seconds
        self.failing[mode]["any"] += seconds if checks else 0.0
        for check in checks:
            self.failing[mode][check] += seconds

    def figures(self) -> list[Figure]:
        return [
            Figure(f"{mode}: {name}", 100.0 * value / self.seconds[mode], "% of captured time",
                   lower_is_better=True,
                   value_goal=GOAL if mode == "copied, repaired" and name != "any" else None)
            for mode, counts in self.failing.items()
            for name, value in sorted(counts.items(), key=lambda item: -item[1])
        ]  # fmt: skip


def failing_checks(
    clip: Clip, part: tuple[int, int], sources: list[Captured], checker: Checker, *, copied: bool
) -> set[str]:
    """Checks that fail in a part of a clip."""
    first, stop = part
    pad = round(AROUND_S * clip.motion.fps)
    start = max(0, first - pad)
    rows = slice(start, stop + pad)
    failures = checker(clip.motion[rows], sources, clip.footplants[rows], start if copied else None)
    return {f.check for f in failures if first <= f.frame + start < stop}


def copied_alarms(alarms: Alarms, mode: str, clip: Clip, checker: Checker) -> None:
    """Every part of a clip compared with the clip, its frames given as copied."""
    for part in clip.parts():
        checks = failing_checks(clip, part, [clip.whole], checker, copied=True)
        alarms.add(mode, (part[1] - part[0]) / clip.motion.fps, checks)


def subject_alarms(alarms: Alarms, clips: dict[str, Clip], checker: Checker) -> None:
    """Every part compared with the other half of its clip and other clips of its subject."""
    related: dict[tuple[str, tuple[str, ...]], list[Clip]] = defaultdict(list)
    for clip in clips.values():
        related[subject(clip.name), clip.motion.skeleton.names].append(clip)
    for group in related.values():
        for k, clip in enumerate(group):
            others = [other.whole for other in (group[k + 1 :] + group[:k])[:OTHERS]]
            for part in clip.parts():
                rest = clip.halves[1 if part[1] <= clip.middle else 0]
                checks = failing_checks(clip, part, [rest, *others], checker, copied=False)
                alarms.add("subject", (part[1] - part[0]) / clip.motion.fps, checks)


def alone_alarms(alarms: Alarms, clip: Clip, checker: Checker) -> None:
    """Seconds of a clip in which the check without sources fails."""
    fps = clip.motion.fps
    failures = checker(clip.motion, (), clip.footplants, None)
    for second in range(int(np.ceil(clip.motion.n_frames / fps))):
        checks = {f.check for f in failures if int(f.frame / fps) == second}
        alarms.add("alone", min(1.0, clip.motion.n_frames / fps - second), checks)


COPIED, NEW, ALONE = MODES = ("as copied frames", "as new frames", "without sources")


def misses(clips: dict[str, Clip], checker: Checker, count: int) -> list[Figure]:
    """How many damaged copies are found, in each way to check."""
    figures = []
    for name, damage in DAMAGES.items():
        rng = np.random.default_rng(sum(name.encode()))
        cases: list[tuple[Clip, Damaged]] = []
        for key in rng.permutation(sorted(clips)):
            if len(cases) == count:
                break
            damaged = damage(clips[str(key)].motion, rng)
            if damaged is not None:
                cases.append((clips[str(key)], damaged))
        for mode in MODES:
            missed = [case for case in cases if not _finds(checker, *case, mode)]
            figures.append(_figure(name, mode, len(cases), missed))
    return figures


def _figure(damage: str, mode: str, n: int, missed: list[tuple[Clip, Damaged]]) -> Figure:
    n_caught = n - len(missed)
    note = f"{n_caught} of {n}"
    if mode != ALONE and missed:
        both = [case for case in missed if not _finds(independent, *case, mode)]
        note += f"; missed by the independent check too: {len(both)}"
        note += "; missed: " + ", ".join(f"{c.name} {d.first}-{d.last}" for c, d in missed)
    goal = 100.0 - GOAL if mode == COPIED else None
    return Figure(
        f"{damage}: found {mode}", 100.0 * n_caught / max(1, n), "%", note=note, value_goal=goal
    )


def _finds(checker: Checker, clip: Clip, damaged: Damaged, mode: str) -> bool:
    """Whether the check fails where the damage is, and not or far less before it was done."""
    fps = clip.motion.fps
    low, high = damaged.first - round(NEAR_S * fps), damaged.last + round(NEAR_S * fps)
    alone = mode == ALONE
    pad = clip.motion.n_frames if alone else round(AROUND_S * fps)
    start = max(0, damaged.first - pad)
    rows = slice(start, damaged.last + pad)

    def failures(motion: ml.Motion) -> dict[tuple[str, str], float]:
        failed = checker(
            motion[rows],
            [] if alone else [clip.whole],
            clip.footplants[rows],
            start if mode == COPIED else None,
        )
        return {
            (f.check, f.joint): abs(f.value - f.limit)
            for f in failed
            if low <= f.frame + start <= high and f.check in damaged.checks
        }

    before = failures(clip.motion)
    return any(
        over > WORSE * before.get(key, 0.0) for key, over in failures(damaged.motion).items()
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checker", choices=list(CHECKERS), default="independent")
    parser.add_argument("--every", type=int, default=1, help="only each so many clips")
    parser.add_argument("--damaged", type=int, default=60, help="damaged copies of each kind")
    parser.add_argument("--misses", action="store_true", help="leave out the false alarms")
    options = parser.parse_args()
    checker = CHECKERS[options.checker]
    warnings.simplefilter("ignore")
    started = time.perf_counter()
    clips: dict[str, Clip] = {}
    alarms, skipped = Alarms(), []
    for name in real_clips()[:: options.every]:
        try:
            motion = load(name)
            captured = Clip(name, motion)
            repaired = repair_capture(motion).motion
            clips[name] = captured if repaired is motion else Clip(name, repaired)
        except (ml.MotionLoomError, KeyError, ValueError, IndexError) as error:
            skipped.append(f"{name}: {error}"[:100])
            continue
        if not options.misses:
            alone_alarms(alarms, captured, checker)
            copied_alarms(alarms, "copied, captured", captured, checker)
            copied_alarms(alarms, "copied, repaired", clips[name], checker)
    if not options.misses:
        subject_alarms(alarms, clips, checker)
    figures = alarms.figures() + misses(clips, checker, options.damaged)
    about = {
        "clips": len(clips),
        "captured seconds": round(alarms.seconds["alone"]),
        "skipped": skipped,
        "seconds of this run": round(time.perf_counter() - started),
    }
    suffix = "" if options.checker == "independent" else f"_{options.checker}"
    suffix += "_misses" if options.misses else ""
    write_report(f"audit_thresholds{suffix}", figures, about=about)
    return 0


if __name__ == "__main__":
    sys.exit(main())
