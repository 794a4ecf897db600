"""What the independent check finds, and what it wrongly finds, on captured clips.

    ./study trust --measure [--count N] [--half 0|1]

Clips are turned, warped in time by 15 %, sampled at 30 fps and given noise of 0.5 mm: an alarm on
such a clip is false. Then faults are put in, one at a time, in three places of each clip.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import motionloom as ml
from studies.audit.audit_clips import load, mocap
from studies.trust.damage import FAULTS, warped
from studies.trust.independent import KINDS, SLIP_M, Body, Origin, judge
from studies.trust.points import points_of

FOLDERS = ("audit", "cmu_bvh", "bandai_bvh", "lafan1")
MIDDLE_S = 12.0
LEAST_S = 1.0
PLACES = 2
"""Faults of each kind that are put into a clip, one at a time."""


def captured_names() -> list[str]:
    """All BVH clips, as ``FOLDER/NAME``."""
    return [
        f"{folder}/{path.stem}"
        for folder in FOLDERS
        for path in sorted((mocap() / folder).glob("*.bvh"))
    ]


def half_of(names: Sequence[str], half: int | None, count: int | None) -> list[str]:
    """The clips of one half of a fixed shuffle, or all; at most so many."""
    order = np.random.default_rng(0).permutation(len(names))
    picked = [names[int(k)] for k in order if half is None or k % 2 == half]
    return picked[:count]


def clips(names: Sequence[str]) -> Iterator[tuple[str, dict[str, Any], float]]:
    """Points of the middle 12 s of every clip that is a body."""
    for name in names:
        try:
            motion = load(name)
            half = round(0.5 * MIDDLE_S * motion.fps)
            middle = motion.n_frames // 2
            motion = motion[max(0, middle - half) : middle + half]
            if motion.n_frames < LEAST_S * motion.fps:
                continue
            yield name, points_of(motion), motion.fps
        except ml.MotionLoomError as error:
            print(f"left out: {name}: {error}", file=sys.stderr)


def measure(names: Sequence[str], seed: int = 0) -> dict[str, Any]:
    """False alarms and found faults."""
    false: dict[str, list[str]] = defaultdict(list)
    found: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    missed: dict[str, list[str]] = defaultdict(list)
    n_clips, seconds, on_copies = 0, 0.0, 0
    for number, (name, points, fps) in enumerate(clips(names)):
        rng = np.random.default_rng([seed, number])
        source = Body(points, fps)
        whole = np.arange(source.n_frames) / fps
        on_copies += len(judge(source, [Origin(source, whole)]))
        played, time = warped(points, fps, rng)
        body, origins = Body(played, 30.0), [Origin(source, time)]
        n_clips, seconds = n_clips + 1, seconds + len(time) / 30.0
        for alarm in judge(body, origins):
            false[alarm.kind].append(f"{name}: {alarm}")
        for fault, (kind, put) in FAULTS.items():
            for _ in range(PLACES):
                made = put(played, body, rng)
                if made is None:
                    break
                tried[fault] += 1
                alarms = judge(Body(made.points, 30.0), origins)
                hit = any(
                    a.kind == kind and a.first <= made.last + 6 and a.last >= made.first - 6
                    for a in alarms
                )
                found[fault] += hit
                if not hit:
                    missed[fault].append(f"{name} {made.first}-{made.last}")
        print(f"\r{n_clips} clips", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    by_clip = {kind: len({line.split(":")[0] for line in false[kind]}) for kind in KINDS}
    any_kind = len({line.split(":")[0] for lines in false.values() for line in lines})
    return {
        "clips": n_clips,
        "seconds": round(seconds),
        "limit of a slip, m": SLIP_M,
        "alarms on copies": on_copies,
        "clips with a false alarm": by_clip | {"any": any_kind},
        "false alarms": dict(false),
        "found": {fault: [found[fault], tried[fault]] for fault in FAULTS},
        "missed": dict(missed),
    }


def text_of(figures: dict[str, Any]) -> str:
    """The figures in lines of text."""
    n = figures["clips"]
    lines = [f"{n} clips, {figures['seconds']} s; alarms on copies: {figures['alarms on copies']}"]
    for kind, count in figures["clips with a false alarm"].items():
        lines.append(f"  false alarm: {kind:10} {count:4} clips  {100.0 * count / n:5.2f} %")
    for fault, (hit, tried) in figures["found"].items():
        lines.append(
            f"  found: {fault:45} {hit:4} of {tried:4}  {100.0 * hit / max(tried, 1):5.1f} %"
        )
    return "\n".join(lines)
