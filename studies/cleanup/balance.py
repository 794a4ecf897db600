"""Balance of blends and splices before and after ml.balance, and whether it shows.

    ./study balance            clips that no setting was chosen on
    ./study balance --quick    a few of them, without classifiers

The baseline is the same result as it was blended or spliced, its feet held.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import motionloom as ml
from studies.captured_clips import study_settings
from studies.measures.told_apart import auc_of, windows_of_motion
from studies.report import Figure, write_report

BASELINE = "before"
BELOW_HZ = 6.0
"""Classifiers see motion up to this frequency: blends lose the noise of their sources, which gives
every blend away, balanced or not."""


@dataclass(frozen=True)
class Row:
    """One result, before and after."""

    kind: str
    name: str
    balanced: ml.Balanced
    before: ml.Motion
    sources: tuple[ml.Motion, ...]
    fails: int
    """Failed checks before."""

    @property
    def change(self) -> np.ndarray:
        """Ways of the joints, metres. (F, J)."""
        apart = self.balanced.motion.world_positions() - self.before.world_positions()
        return np.asarray(np.linalg.norm(apart, axis=-1))


def rows_of(kind: str, pairs: list[list[str]], folder: Path, frames: int) -> list[Row]:
    """Every pair that can be blended or spliced, balanced."""
    rows = []
    for first, second in pairs:
        clips = [ml.load(folder / f"{name}.bvh")[:frames] for name in (first, second)]
        result: ml.Blend | ml.Splice
        sources: tuple[ml.Motion, ...]
        try:
            if kind == "blend":
                result, sources = ml.blend(clips, [0.5, 0.5]), ml.match_clips(clips).motions
            else:
                result, sources = ml.splice(upper=clips[0], lower=clips[1]), (clips[1],)
        except ml.MotionLoomError as error:
            print(f"{kind} {first} {second}: {error}")
            continue
        balanced = ml.balance(result.motion, result.footplants, sources=sources)
        row = Row(
            kind, f"{first} {second}", balanced, result.motion, tuple(sources),
            len(result.verification.failed),
        )  # fmt: skip
        print(_line(row), flush=True)
        rows.append(row)
    return rows


def _line(row: Row) -> str:
    before, after, change = row.balanced.before, row.balanced.after, row.change
    return (
        f"{row.kind:6} {row.name:60} allowed {100 * row.balanced.allowed_m:4.1f} cm, outside "
        f"{100 * (before.outside or 0):5.1f} -> {100 * (after.outside or 0):4.1f} %, "
        f"{1000 * (before.distance_m or 0):5.2f} -> {1000 * (after.distance_m or 0):5.2f} mm, "
        f"joints {1000 * change.mean():4.1f} mm, most {100 * change.max():4.1f} cm, "
        f"failed checks {row.fails} -> {len(row.balanced.verification.failed)}"
    )


def figures(kind: str, rows: list[Row]) -> list[Figure]:
    """What is reported of one kind of results."""
    before, after = ([getattr(row.balanced, when) for row in rows] for when in ("before", "after"))
    outside = [
        100.0 * float(np.mean([each.outside or 0.0 for each in all_])) for all_ in (before, after)
    ]
    away = [
        1000.0 * float(np.mean([each.distance_m or 0.0 for each in all_]))
        for all_ in (before, after)
    ]
    worst = max(float(row.change.max()) for row in rows)
    usual = float(np.mean([row.change.mean() for row in rows]))
    return [
        Figure(f"{kind}s: frames outside", outside[1], "%", BASELINE, outside[0],
               lower_is_better=True, note=f"{len(rows)} results"),
        Figure(f"{kind}s: distance outside, mean", away[1], "mm", BASELINE, away[0],
               lower_is_better=True),
        Figure(f"{kind}s: way of a joint, mean", 1000.0 * usual, "mm", lower_is_better=True),
        Figure(f"{kind}s: way of a joint, largest", 100.0 * worst, "cm", lower_is_better=True),
    ]  # fmt: skip


def told_apart(kind: str, rows: list[Row]) -> list[Figure]:
    """How well classifiers tell the results from captured windows, before and after."""
    areas = []
    for when in ("before", "after"):
        captured, results, takes, result_takes = [], [], [], []
        for row in rows:
            result = row.before if when == "before" else row.balanced.motion
            windows = windows_of_motion(ml.resample(result, fps=60.0))
            results += windows
            result_takes += [row.name] * len(windows)
            for source in row.sources:
                cut = windows_of_motion(ml.resample(source, fps=60.0))
                captured += cut
                takes += [row.name] * len(cut)
        areas.append(
            auc_of(captured, results, takes, synthesized_groups=result_takes, below_hz=BELOW_HZ)
        )
    return [
        Figure(f"{kind}s: distinguished from captured windows", areas[1].auc, "AUC", BASELINE,
               areas[0].auc, lower_is_better=True,
               note=f"{areas[0].low:.2f} to {areas[0].high:.2f} before, "
                    f"{areas[1].low:.2f} to {areas[1].high:.2f} after"),
    ]  # fmt: skip


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="four of each, no classifiers")
    chosen = options.parse_args()
    folder, settings = study_settings("balance")
    shown: list[Figure] = []
    for kind in ("blend", "splice"):
        pairs = settings[f"{kind}s"][: 4 if chosen.quick else None]
        rows = rows_of(kind, pairs, folder, settings["frames"])
        shown += figures(kind, rows)
        if not chosen.quick and kind == "blend":
            shown += told_apart(kind, rows)
    about: dict[str, object] = {"protocol": "studies/protocols/balance.json"}
    write_report("balance_quick" if chosen.quick else "balance", shown, about=about)


if __name__ == "__main__":
    main()
