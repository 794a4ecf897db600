"""Strips: of every alarm, and of forty results for verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from motionloom.drawing.strip import save_strip
from studies.trust.draw import Case
from studies.trust.independent import Alarm
from studies.trust.made import MAKERS, Made

AROUND_S = 0.6
"""Time drawn before and after an alarm."""
RANDOM = WORST = 20
WIDEST = 150
"""Characters of a title."""


def save_alarm(made: Made, name: str, alarms: Sequence[Alarm], folder: Path) -> Path:
    """Draw a result where its worst alarm is."""
    worst = alarms[0]
    return save_part(made, name, worst.first, worst.last, "; ".join(map(str, alarms[:3])), folder)


def save_part(made: Made, name: str, first: int, last: int, text: str, folder: Path) -> Path:
    """Draw a result around some frames, which are darker."""
    folder.mkdir(parents=True, exist_ok=True)
    motion, around = made.motion, round(AROUND_S * made.motion.fps)
    n = motion.n_frames
    first, last = first % n, last % n  # frames of a second lap are drawn in the first
    if last < first:
        first, last = 0, n - 1
    begin, stop = max(0, first - around), min(n, last + 1 + around)
    path = folder / f"{name}.png"
    title = f"{name} frames {begin}-{stop - 1}: {text}"[:WIDEST]
    save_strip(motion[begin:stop], path, title=title, ghosts=13, view="three-quarter")
    return path


def write_sheet(cases: Sequence[Case], folder: Path, seed: int = 0) -> Path:
    """Twenty random and the twenty worst results as strips, and a page for the verdicts."""
    shown = [c for c in cases if c["kind"] in MAKERS and c["passed"]]
    rng = np.random.default_rng(seed)
    some = [shown[int(k)] for k in rng.permutation(len(shown))[:RANDOM]]
    rest = [case for case in shown if case not in some]
    worst = sorted(rest, key=_badness, reverse=True)[:WORST]
    lines = ["# Forty results", ""]
    for title, group in (("Random", some), ("Worst by the independent check", worst)):
        lines += [f"## {title}", "", "| result | clips | alarms | verdict |", "|---|---|---|---|"]
        for case in group:
            made = MAKERS[case["kind"]](case["case"])
            name = f"{case['kind']}_{case['number']:03d}"
            alarms = [Alarm(**alarm) for alarm in case["alarms"]]
            first, last = made.span or (0, made.motion.n_frames - 1)
            if case["kind"] == "loops":
                first, last = 0, made.motion.n_frames - 1
            if alarms:
                first, last = alarms[0].first, alarms[0].last
            text = "; ".join(map(str, alarms[:2])) or "no alarm"
            path = save_part(made, name, first, last, text, folder)
            what = " ".join(str(value) for value in case["case"].values())
            lines.append(f"| [{name}]({path.name}) | {what} | {text} |  |")
        lines.append("")
    page = folder / "verdicts.md"
    page.write_text("\n".join(lines))
    print(f"page: {page}")
    return page


def _badness(case: Case) -> float:
    """How far the worst alarm is over its limit; without alarms, how much of a clip is lost."""
    if case["alarms"]:
        return 10.0 + max(float(a["value"] / a["limit"]) for a in case["alarms"])
    return 1.0 - float(min(case["kept"] or [1.0]))
