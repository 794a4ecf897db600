"""How well naturalness tells good blends from bad ones, on subjects that it was not fitted to.

    ./study transitions natural [--pictures DIR]

Five groups (CMU 143, 69, 16, 35 with 127, and Bandai at 30 Hz): weights and threshold are fitted to
four, figures are of the fifth; bounds are over its takes. Labels are distances from what was
captured, which no score sees (``natural_truth.py``); but nearness to one captured answer is not all
of naturalness. Every score sees what a table's run time sees: the blend before it is bent to fit
its gap, with the weights that transitions are made with. Baselines with an asterisk are fitted to
the other half of the takes of the very group. The last rows are of blends that are good or bad by
construction (``natural_made.py``), and of the ranking that searches minimise.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from pathlib import Path
from typing import NamedTuple

import numpy as np

from motionloom.drawing.canvas import save_canvas
from motionloom.tables.evaluation.evaluation import Evaluation, Protocol, evaluate
from motionloom.tables.evaluation.roc import measure_auc_difference, measure_within
from motionloom.tables.score.natural import RELATIVE, relative_columns
from studies.captured_clips import mocap, over_takes
from studies.measures.bends import bent_columns
from studies.pictures.evaluation_pictures import draw_roc
from studies.report import Figure, write_report
from studies.tables.natural_baselines import BASELINES, FORMER, HMM, HMM_SEED, baseline_scores
from studies.tables.natural_candidates import GROUPS, frames_of_subject, subject_plan
from studies.tables.natural_fit import Fitted, fit, relative_of
from studies.tables.natural_made import SEED, made_blends
from studies.tables.natural_search import searched_errors
from studies.tables.natural_truth import ALONE, FAST_M_S, Candidates, candidates

OURS = "naturalness"
AUC_GOAL = 0.93
GOOD_GOAL = 90.0
"""Per cent of good blends of a left-out group that are to be called natural."""


class LeftOut(NamedTuple):
    """A group that was left out of the fit."""

    group: str
    fitted: Fitted
    data: Candidates
    scores: dict[str, np.ndarray]
    """Of every candidate by name, high for natural ones. (n,)"""


def leave_out(folder: Path, group: str) -> LeftOut:
    """Naturalness fitted to the other groups, and the baselines, on one group's candidates."""
    fitted = fit(folder, [other for other in GROUPS if other != group])
    data = candidates(folder, group)
    scores = {OURS: fitted.logit(relative_of(data))}
    scores |= baseline_scores(frames_of_subject(folder, group), data)
    return LeftOut(group, fitted, data, scores)


def run(pictures: Path | None = None) -> list[Figure]:
    """All figures; none without the real clips."""
    folder = mocap()
    if folder is None:
        print("No real clips: set MOTIONLOOM_MOCAP.")
        return []
    figures: list[Figure] = []
    every = [leave_out(folder, group) for group in GROUPS]
    evaluations = {}
    for left in every:
        figures_here, evaluations[left.group] = group_figures(left)
        figures += [*figures_here, *called_figures(folder, left), *ranking_figures(folder, left)]
    figures_here, evaluations["all"] = pooled_figures(every)
    figures += figures_here
    if pictures is not None:
        pictures.mkdir(parents=True, exist_ok=True)
        for key, each in evaluations.items():
            name = "roc_p3" if key == "all" else f"roc_p3_{key}"
            save_canvas(draw_roc(each), pictures / f"{name}.png", "png")
    return figures


def group_figures(left: LeftOut) -> tuple[list[Figure], Evaluation]:
    """Areas under the curves of a left-out group, and how far ahead of two baselines."""
    data, mine = left.data, left.data.labelled
    key = f"{left.group} left out"
    evaluation = evaluate(
        Protocol(f"P3, {key}", "distance from what was captured, in tolerances", groups="takes"),
        data.good[mine],
        {name: values[mine] for name, values in left.scores.items()},
        groups=data.take[mine],
    )
    figures = area_figures(key, evaluation)
    for name in (FORMER, HMM):
        ahead = measure_auc_difference(
            data.good[mine], left.scores[OURS][mine], left.scores[name][mine],
            groups=data.take[mine],
        )  # fmt: skip
        note = f"[{ahead.low:+.3f}, {ahead.high:+.3f}] over takes"
        figures.append(Figure(f"{key}: ahead of {name}", ahead.value, "", note=note))
    return figures, evaluation


def area_figures(key: str, evaluation: Evaluation) -> list[Figure]:
    return [
        Figure(
            f"{key}: area, {name}",
            area.value,
            "",
            value_goal=AUC_GOAL if name == OURS else None,
            note=f"[{area.low:.3f}, {area.high:.3f}] over {area.groups} takes; "
            f"{evaluation.n_good} good, {evaluation.n_bad} bad",
        )
        for name, area in evaluation.areas.items()
    ]


def called_figures(folder: Path, left: LeftOut) -> list[Figure]:
    """Shares of good and bad blends called natural, by the threshold of the other groups."""
    data, passes = left.data, left.scores[OURS] >= 0.0
    parts = {
        f"{kind} candidates": (passes[mine], data.take[mine])
        for kind, mine in (
            ("good", data.labelled & data.good),
            ("bad", data.labelled & ~data.good),
        )
    }
    for kind, blends in made_blends(folder, left.group).items():
        logit = left.fitted.logit(relative_columns(blends.columns, blends.reference))
        parts[f"{kind} blends"] = (logit >= 0.0, blends.take)
    figures = []
    for kind, (called, takes) in parts.items():
        low, high = over_takes(called.astype(float), takes)
        bad = kind in ("bad candidates", "far blends")
        figures.append(
            Figure(
                f"{left.group} left out: {kind} called natural",
                100.0 * float(called.mean()),
                "%",
                lower_is_better=bad,
                value_goal=GOOD_GOAL if not bad else None,
                note=f"[{100 * low:.0f}, {100 * high:.0f}] over takes; {len(called)} blends",
            )
        )
    return figures


def ranking_figures(folder: Path, left: LeftOut) -> list[Figure]:
    """What searches minimise: pairs of one query put in order, and the best of all blends."""
    data, blends = left.data, ~np.isin(left.data.kind, ALONE)
    figures = []
    for name in (FORMER, OURS, "foot + ZMP [I7]"):
        part = measure_within(
            data.error[blends], left.scores[name][blends], data.query[blends],
            groups=data.take[blends],
        )  # fmt: skip
        note = f"[{part.low:.3f}, {part.high:.3f}] over takes"
        title = f"{left.group}: of two blends of one query the nearer one found, {name}"
        figures.append(Figure(title, part.value, "", note=note))
    frames, sisters = frames_of_subject(folder, left.group), subject_plan(left.group)["sisters"]
    searched = searched_errors(frames, data, sisters)
    two = np.flatnonzero(data.kind == "two")
    for name, errors in searched.items():
        first = two[: len(errors)]
        less = errors - data.error[first]
        low, high = over_takes(less, data.take[first])
        figures.append(
            Figure(
                f"{left.group}: best of all blends by {name}, error less that of the 2-way blend",
                float(less.mean()),
                "cm",
                lower_is_better=True,
                note=f"[{low:+.2f}, {high:+.2f}] over takes; {errors.mean():.2f} cm",
            )
        )
    return figures


def pooled_figures(every: list[LeftOut]) -> tuple[list[Figure], Evaluation]:
    """All left-out groups as one: whether a number means the same for each; and fast queries."""
    figures = []
    evaluations = {}
    for key in ("all groups together", "fast queries of all groups"):
        parts = []
        for left in every:
            mine = left.data.labelled & ((left.data.pace > FAST_M_S) | key.startswith("all"))
            parts.append((left, mine))
        evaluations[key] = evaluate(
            Protocol(f"P3, {key}, each left out", "distance in tolerances", groups="takes"),
            np.concatenate([left.data.good[mine] for left, mine in parts]),
            {
                name: np.concatenate([left.scores[name][mine] for left, mine in parts])
                for name in (OURS, *BASELINES)
            },
            groups=np.concatenate([take_names(x)[mine] for x, mine in parts]),
        )
        figures += area_figures(key, evaluations[key])
    bent = np.concatenate([_bent_scores(left) for left in every])
    good = np.concatenate([left.data.error < 6.0 for left in every])
    clear = np.concatenate([(x.data.error < 6.0) | (x.data.error > 9.8) for x in every])
    takes = np.concatenate([take_names(left) for left in every])
    protocol = Protocol("bent", "6.0 and 9.8 cm, all candidates, bends known", groups="takes")
    evaluation = evaluate(protocol, good[clear], {OURS: bent[clear]}, groups=takes[clear])
    area = evaluation.areas[OURS]
    figures.append(
        Figure(
            "gaps to fill, all candidates, bends known: area, naturalness",
            area.value,
            "",
            note=f"[{area.low:.3f}, {area.high:.3f}] over {area.groups} takes; 6.0 and 9.8 cm",
        )
    )
    return figures, evaluations["all groups together"]


def take_names(left: LeftOut) -> np.ndarray:
    """Takes with the group that they are of. (n,)"""
    return np.char.add(f"{left.group} ", left.data.take)


def _bent_scores(left: LeftOut) -> np.ndarray:
    columns = bent_columns(left.data.columns, left.data.bends)
    return left.fitted.logit(relative_columns(columns, left.data.reference))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pictures", type=Path)
    asked = parser.parse_args()
    about = {
        "seeds": {
            "candidates": {n: g.seeds for n, g in GROUPS.items()},
            "made": SEED,
            "hmm": HMM_SEED,
        },
        "relative columns": list(RELATIVE),
    }
    write_report("transitions_natural", run(asked.pictures), about=about)
