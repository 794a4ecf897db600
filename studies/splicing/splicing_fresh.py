"""The same figures on pairs that no setting was chosen on.

Settings of splicing (how dear lingering is, how alike walks must be, how fast an arm may get) were
chosen while looking at the pairs of the other two protocols, so those figures flatter a little.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from studies.captured_clips import bounds, interval_text
from studies.report import Figure
from studies.splicing.splicing_captured import ARM_GOAL, PACE_GOAL, taken
from studies.splicing.splicing_truth import (
    ARMS_GOAL,
    LAG_GOAL,
    TORSO_GOAL,
    protocol,
    ratio,
    spliced,
)


def fresh_figures(folder: Path) -> list[Figure]:
    plan = protocol("fresh")
    return [*_walk_figures(folder, plan["walks"]), *_captured_figures(folder, plan["captured"])]


def _walk_figures(folder: Path, pairs: list[list[str]]) -> list[Figure]:
    full, naive = ([spliced(folder, *pair, m) for pair in pairs] for m in ("full", "naive"))
    figures = []
    for name, goal, upper in (("torso", TORSO_GOAL, True), ("arms", ARMS_GOAL, False)):
        both = np.array(
            [(getattr(f, name), getattr(n, name)) for f, n in zip(full, naive, strict=True)]
        )
        low_high = bounds(both, ratio)
        figures.append(
            Figure(
                f"fresh pairs, {name}: error against naive's" + (", upper bound" * upper),
                low_high[1] if upper else ratio(both),
                "x",
                lower_is_better=True,
                value_goal=goal,
                note=f"{ratio(both):.3g} {interval_text(low_high)}; {len(pairs)} pairs",
            )
        )
    lags = np.array([row.lag for row in full])
    figures.append(
        Figure(
            "fresh pairs, phase of arms against legs: off the lower clip's own, mean",
            float(lags.mean()),
            "frames",
            lower_is_better=True,
            value_goal=LAG_GOAL,
            note=f"{interval_text(bounds(lags, lambda v: float(v.mean())))}; "
            f"{np.mean(lags <= LAG_GOAL):.0%} within {LAG_GOAL:g}, worst {lags.max():.1f}",
        )
    )
    return figures


def _captured_figures(folder: Path, pairs: list[list[str]]) -> list[Figure]:
    rows = [taken(folder, *pair, "full") for pair in pairs]
    in_step = [row for row in rows if not row.own_time]
    arms = np.array([row.arms for row in in_step])
    worst = in_step[int(np.argmax(arms))]
    return [
        Figure(
            "fresh clips: frames at 0.5 to 2 times the action's pace, worst pair",
            min(row.paced for row in rows),
            "%",
            value_goal=PACE_GOAL,
            note=f"{len(rows)} pairs, {len(in_step)} kept in step",
        ),
        Figure(
            "fresh clips: fastest arm against the action's own, worst pair",
            float(arms.max()),
            "x",
            lower_is_better=True,
            value_goal=ARM_GOAL,
            note=f"{worst.names}; {np.mean(arms <= ARM_GOAL):.0%} of pairs in step within "
            f"{ARM_GOAL:g}",
        ),
    ]
