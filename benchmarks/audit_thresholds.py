"""How often a check is wrong: false alarms on captured clips, misses on damaged copies of them.

    ./bench audit-thresholds [--checker independent|motionloom] [--every N] [--damaged N]

A captured clip, cut into parts of two seconds, is a "result" that must pass against its whole clip
(``itself``), against the other half of it (``halves``) and against the rest of it with other clips
of its subject (``subject``). ``alone`` is the check of a clip without sources. Damaged copies have
one defect at a random place. The independent check is the default; ``motionloom`` measures the
product's own.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import sys
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

import audit_signals as signals
import motionloom as ml
from audit_check import Copied, Failure, Result, Sources, check
from audit_clips import FOLDERS, contacts, load, mocap, subject
from audit_damage import DAMAGES, Damaged
from audit_feet import SOLES, runs
from audit_own import Own
from audit_points import points_of
from motionloom.features.verify import Copied as CopiedFrames
from motionloom.features.verify import QualityCheck, Verification
from report import Figure, write_report

PART_S = 2.0
NEAR_S = 0.25
BACKWARDS_DEG = -5.0
SPIN_DEG_S = 1500.0
PELVIS_DEG_S = 900.0
SINK_M = 0.025
SLIDE_M = 0.055
OTHERS = 40
Checker = Callable[[ml.Motion, Sequence[Any], ml.Footplants | None], list[Failure]]
"""Judges a motion against its sources, with the contacts that it claims."""


def names_of(every: int) -> list[str]:
    """All readable clips, or each so many."""
    found = []
    for folder in FOLDERS:
        paths = sorted((mocap() / folder).iterdir())
        found += [p.stem for p in paths if p.suffix in (".bvh", ".glb", ".txt", ".amc")]
    return found[::every]


def clip_failures(motion: ml.Motion) -> list[Failure]:
    """The independent check of a clip on its own: defects that no person moves with."""
    own = Own(points_of(motion, ml.detect_footplants(motion)))
    points, fps = own.points, motion.fps
    turns = signals.bone_turns(points)
    glitches = signals.glitch_frames(points)
    found = []
    for n, key in enumerate(points.keys):
        for first, stop in runs(glitches[:, n]):
            value = float(turns[max(0, first - 1) : stop, n].max())
            found.append(Failure("glitch", key, first, value, signals.GLITCH_DEG))
        fast = turns[:, n] * fps > SPIN_DEG_S
        for first, stop in runs(fast):
            value = float(turns[first:stop, n].max() * fps)
            found.append(Failure("turn", key, first, value, SPIN_DEG_S))
    for n, side in enumerate(signals.SIDES):
        flexion = signals.knee_flexion(points)[:, n]
        for first, stop in runs(flexion < BACKWARDS_DEG):
            value = float(flexion[first:stop].min())
            found.append(Failure("knee backwards", f"{side}_knee", first, value, BACKWARDS_DEG))
    pelvis = signals.pelvis_turn(points) * fps
    for first, _ in runs(pelvis > PELVIS_DEG_S):
        found.append(Failure("pelvis turn", "pelvis", first, float(pelvis[first]), PELVIS_DEG_S))
    heights = own.feet.soles[..., 1]
    for k, sole in enumerate(SOLES):
        limit = float(own.feet.floors[k]) - SINK_M
        for first, stop in runs(heights[:, k] < limit):
            found.append(
                Failure("sinking", sole, first, float(heights[first:stop, k].min()), limit)
            )
    for slide, k, frame in own.feet.contact_slides():
        if slide > SLIDE_M:
            found.append(Failure("contact slide", SOLES[k], frame, slide, SLIDE_M))
    return found


def independent(
    motion: ml.Motion, sources: Sequence[Any], labels: ml.Footplants | None = None
) -> list[Failure]:
    """The audit's check: of a clip on its own, or of a result against ``Own`` of its sources."""
    if not sources:
        return clip_failures(motion)
    return check(Result(points_of(motion, labels)), Sources(sources))


SAME_AS = {
    "one-frame flip": "flip",
    "rotation speed": "turn",
    "acceleration": "accel",
    "capture glitch": "glitch",
    "knee bent backwards": "knee backwards",
    "knee folded": "knee overbent",
    "sole below the floor": "sinking",
    "sliding contact": "contact slide",
    "dragged foot": "low slide",
}
"""Checks of ``ml.verify`` by the names that the audit has for them."""


@lru_cache(maxsize=8)
def _quality_check(sources: tuple[Any, ...]) -> QualityCheck:
    motions = [own.motion for own in sources]
    plants = [ml.detect_footplants(motion) for motion in motions]
    return QualityCheck(motions, footplants=plants)


def motionlooms(
    motion: ml.Motion, sources: Sequence[Any], labels: ml.Footplants | None = None
) -> list[Failure]:
    """The product's own check."""
    if sources:
        found = _quality_check(tuple(sources)).verify(motion, footplants=labels)
    else:
        found = ml.verify(motion)
    return failures_of(found)


def failures_of(found: Verification) -> list[Failure]:
    """Failed checks by the audit's names."""
    return [
        Failure(SAME_AS.get(f.check, f.check), f.joint, f.frame, f.value, f.limit)
        for f in found.failed
    ]


CHECKERS: dict[str, Checker] = {"independent": independent, "motionloom": motionlooms}


class Clip:
    """A captured clip with its own maxima, whole and by halves."""

    def __init__(self, name: str) -> None:
        self.name, self.motion = name, load(name)
        points = points_of(self.motion, contacts(name))
        self.points = points
        self.whole = _own(points, self.motion)
        middle = len(points.positions) // 2
        self.halves = [
            _own(points.part(a, b), self.motion[a:b])
            for a, b in ((0, middle), (middle, len(points.positions)))
        ]
        self.middle = middle

    def parts(self) -> list[tuple[int, int]]:
        """Parts of about two seconds that do not cross the middle."""
        length = max(8, round(PART_S * self.motion.fps))
        n, found = self.motion.n_frames, []
        for start, end in ((0, self.middle), (self.middle, n)):
            count = max(1, round((end - start) / length))
            edges = np.linspace(start, end, count + 1).astype(int)
            found += list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
        return [(a, b) for a, b in found if b - a >= 8]


def _own(points: signals.Points, motion: ml.Motion) -> Own:
    own = Own(points)
    own.motion = motion  # type: ignore[attr-defined]
    return own


def false_alarms(
    clips: dict[str, Clip], checker: Checker
) -> tuple[dict[str, Counter[str]], dict[str, float]]:
    """Seconds of parts that fail each check, by what they are judged against, and of all parts."""
    seconds: dict[str, float] = defaultdict(float)
    failing: dict[str, Counter[str]] = defaultdict(Counter)
    by_skeleton: dict[tuple[str, tuple[str, ...]], list[Clip]] = defaultdict(list)
    for clip in clips.values():
        by_skeleton[subject(clip.name), clip.points.names].append(clip)
    for clip in clips.values():
        total = clip.motion.n_frames / clip.motion.fps
        seconds["alone"] += total
        alarms = {(f.check, int(f.frame / clip.motion.fps)) for f in checker(clip.motion, (), None)}
        for name, _ in alarms:
            failing["alone"][name] += 1.0
        related = by_skeleton[subject(clip.name), clip.points.names]
        others = [other.whole for other in related if other is not clip][:OTHERS]
        for first, stop in clip.parts():
            rest = clip.halves[1 if stop <= clip.middle else 0]
            part, lasts = clip.motion[first:stop], (stop - first) / clip.motion.fps
            modes = {"itself": [clip.whole], "halves": [rest]}
            if others:
                modes["subject"] = [rest, *others]
            for mode, sources in modes.items():
                seconds[mode] += lasts
                if checker is independent:
                    copied = [Copied(0, stop - first, 0, first)] if mode == "itself" else []
                    result = Result(clip.points.part(first, stop), copied)
                    found = check(result, Sources(sources))
                elif mode == "itself":
                    own = _quality_check(tuple(sources))
                    there = [CopiedFrames(0, stop - first, 0, first)]
                    verdict = own.verify(
                        part, footplants=contacts(clip.name)[first:stop], copied=there
                    )
                    found = failures_of(verdict)
                else:
                    found = checker(part, sources, contacts(clip.name)[first:stop])
                failing[mode].update(dict.fromkeys({f.check for f in found}, lasts))
                failing[mode].update({"any": lasts} if found else {})
    return failing, seconds


def misses(clips: dict[str, Clip], checker: Checker, count: int) -> dict[str, dict[str, int]]:
    """How many damaged copies each way to check finds, of how many."""
    table = {}
    for name, damage in DAMAGES.items():
        rng = np.random.default_rng(sum(name.encode()))
        found = {"n": 0, "alone": 0, "against the clip": 0}
        for key in rng.permutation(sorted(clips)):
            clip = clips[str(key)]
            damaged = damage(clip.motion, rng)
            if damaged is None:
                continue
            found["n"] += 1
            for mode, sources in (("alone", []), ("against the clip", [clip.whole])):
                found[mode] += _finds(checker, clip.motion, contacts(clip.name), damaged, sources)
            if found["n"] >= count:
                break
        table[name] = found
    return table


def _finds(
    checker: Checker,
    before: ml.Motion,
    labels: ml.Footplants,
    damaged: Damaged,
    sources: list[Own],
) -> bool:
    """Whether the check fails where the damage is and did not before."""
    near = round(NEAR_S * before.fps)
    low, high = damaged.first - near, damaged.last + near
    pad = round(0.5 * before.fps)
    rows = slice(max(0, damaged.first - pad), damaged.last + pad) if sources else slice(None)
    start = rows.start or 0

    def places(motion: ml.Motion) -> set[tuple[str, str]]:
        failures = checker(motion[rows], sources, labels[rows])
        return {
            (f.check, f.joint)
            for f in failures
            if low <= f.frame + start <= high and f.check in damaged.checks
        }

    return bool(places(damaged.motion) - places(before))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checker", choices=list(CHECKERS), default="independent")
    parser.add_argument("--every", type=int, default=1, help="only each so many clips")
    parser.add_argument("--damaged", type=int, default=60, help="damaged copies of each kind")
    options = parser.parse_args()
    checker = CHECKERS[options.checker]
    warnings.simplefilter("ignore")
    started = time.perf_counter()
    clips: dict[str, Clip] = {}
    skipped = []
    for name in names_of(options.every):
        try:
            clips[name] = Clip(name)
        except (ml.MotionLoomError, KeyError, ValueError, IndexError) as error:
            skipped.append(f"{name}: {error}"[:100])
    failing, seconds = false_alarms(clips, checker)
    figures = [
        Figure(f"{mode}: {name}", 100.0 * value / seconds[mode], "% of captured time",
               lower_is_better=True)
        for mode, counts in failing.items()
        for name, value in counts.most_common()
    ]  # fmt: skip
    for name, found in misses(clips, checker, options.damaged).items():
        figures += [
            Figure(
                f"{name}: found {mode}",
                100.0 * found[mode] / max(1, found["n"]),
                "%",
                note=f"{found[mode]} of {found['n']}",
            )
            for mode in ("alone", "against the clip")
        ]
    about = {
        "clips": len(clips),
        "captured seconds": round(seconds["alone"]),
        "skipped": skipped,
        "seconds of this run": round(time.perf_counter() - started),
    }
    suffix = "" if options.checker == "independent" else f"_{options.checker}"
    write_report(f"audit_thresholds{suffix}", figures, about=about)
    return 0


if __name__ == "__main__":
    sys.exit(main())
