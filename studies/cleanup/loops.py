"""Cycles cut from captured clips: do planted feet stand still, and what does holding them change.

    ./study loops            clips of the audit that nothing was tuned on
    ./study loops --tuned    clips that the largest allowed change was chosen on

The baseline is the same cycle with feet as its seam leaves them (``clean=False``).
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import motionloom as ml
from motionloom.body.anatomy import foot_points
from motionloom.cleanup.footskate import fastest_contact
from studies.captured_clips import study_settings
from studies.report import Figure, write_report

BASELINE = "feet as the seam leaves them"


@dataclass(frozen=True)
class Row:
    """One cycle, without and with its feet held."""

    clip: str
    held: bool
    speeds: tuple[float, float]
    """Fastest contact, m/s."""
    passed: tuple[bool, bool]
    """Quality check."""
    change: float
    """Largest way of a joint from one to the other, parts of the body's height."""
    step: float
    """Largest step of a joint over the seam, times its own largest step in the cycle."""


def row_of(path: Path, frames: int) -> Row | None:
    """The cycle of a clip's first frames, twice; None where it has none."""
    motion = ml.load(path)[:frames]
    try:
        raw, held = ml.loop(motion, clean=False), ml.loop(motion)
    except ml.RegistrationError:
        return None
    apart = np.linalg.norm(raw.motion.world_positions() - held.motion.world_positions(), axis=-1)
    # Contacts that the held cycle claims, in both: the raw one drops those that slide.
    planted = held.footplants.planted
    speeds = [
        fastest_contact(foot_points(each.motion), planted, motion.fps)[0] or 0.0
        for each in (raw, held)
    ]
    return Row(
        path.stem,
        held.cleanup is not None,
        (speeds[0], speeds[1]),
        (raw.verification.passed, held.verification.passed),
        float(apart.max()) / ml.stature(motion.skeleton),
        _seam_step(held),
    )


def _seam_step(cycle: ml.Loop) -> float:
    """The last step of every joint, which leads over the seam, times its largest other one."""
    steps = np.linalg.norm(np.diff(cycle.motion.world_positions(), axis=0), axis=-1)
    return float((steps[-1] / np.maximum(steps[:-1].max(axis=0), 1e-4)).max())


def figures(rows: list[Row]) -> list[Figure]:
    """What is reported."""
    held = [row for row in rows if row.held]
    raw, cleaned = (np.array([row.speeds[k] for row in held]) for k in (0, 1))
    worse = sum(row.passed[0] and not row.passed[1] for row in rows)
    return [
        Figure("cycles held", 100.0 * len(held) / len(rows), "%", note=f"of {len(rows)}"),
        Figure(
            "fastest contact, median", round(100.0 * float(np.median(cleaned)), 3), "cm/s",
            lower_is_better=True, note=f"{100.0 * float(np.median(raw)):.0f} {BASELINE}",
        ),
        Figure(
            "fastest contact, worst", 100.0 * float(cleaned.max()), "cm/s", BASELINE,
            100.0 * float(raw.max()), lower_is_better=True,
            note=held[int(cleaned.argmax())].clip,
        ),
        Figure(
            "largest change of a joint", 100.0 * max(row.change for row in held),
            "% of the height", lower_is_better=True,
            note=max(held, key=lambda row: row.change).clip,
        ),
        Figure("largest step over the seam", max(row.step for row in held),
               "times its own largest", lower_is_better=True),
        Figure("failed checks", float(sum(not row.passed[1] for row in rows)), "cycles",
               BASELINE, float(sum(not row.passed[0] for row in rows)), lower_is_better=True),
        Figure("fail only when held", float(worse), "cycles", lower_is_better=True, value_goal=0.0),
    ]  # fmt: skip


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tuned", action="store_true", help="the clips of the choice")
    chosen = options.parse_args()
    folder, settings = study_settings("loops")
    names = settings["tuned" if chosen.tuned else "fresh"]
    rows = [row for name in names if (row := row_of(folder / name, settings["frames"]))]
    for row in rows:
        print(
            f"{row.clip:12} {'held' if row.held else 'left':5} "
            f"{100 * row.speeds[0]:7.1f} -> {100 * row.speeds[1]:6.2f} cm/s, change "
            f"{100 * row.change:4.1f} %, check {row.passed[0]} -> {row.passed[1]}"
        )
    about = {
        "clips": f"{len(rows)} of {len(names)} have a cycle",
        "frames": settings["frames"],
        "not held": ", ".join(row.clip for row in rows if not row.held),
    }
    write_report("loops_tuned" if chosen.tuned else "loops", figures(rows), about=about)


if __name__ == "__main__":
    main()
