"""How well scores tell natural blends from others, on labels that no score made.

    python benchmarks/transitions_natural.py [--pictures DIR]

Everything is fitted on the tuning takes of CMU 143 and reported on the others; bounds are over
takes. P1 and P2 are those of the papers and circular: a captured or nearly captured window has
plants that agree, which is what foot error and disagreement measure. P3's labels are distances from
what was captured, which no score sees; but nearness to one captured answer is not all of
naturalness, and hard queries are mixed with easy ones, so candidates of one query are compared too.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from motionloom.drawing.canvas import save_canvas
from motionloom.drawing.evaluation_pictures import draw_roc
from motionloom.transitions.body_parts import body_parts
from motionloom.transitions.columns import COLUMNS, PAPER
from motionloom.transitions.contexts import contexts, displacements
from motionloom.transitions.evaluation import Evaluation, Protocol, evaluate
from motionloom.transitions.frames import Frames
from motionloom.transitions.hmm import HmmEnsemble
from motionloom.transitions.hmm_recipes import hmm_terms
from motionloom.transitions.hmm_recipes import score_recipes as score_hmm
from motionloom.transitions.logistic import fit_logistic, peak_accelerations
from motionloom.transitions.natural import NATURAL, THRESHOLD, naturalness, naturalness_between
from motionloom.transitions.roc import measure_auc_difference, measure_within
from motionloom.transitions.seen_windows import SeenWindows
from motionloom.transitions.windows import compared_joints
from natural_candidates import GAPS, LENGTH, frames_of_subject, sister_clips
from natural_fit import ALONE, USED, captured, fit, used_columns
from natural_search import searched_errors
from natural_truth import WAYS, Candidates, by_ways, candidates, measured_columns
from registration_clips import mocap
from report import Figure, write_report

AUC_GOAL = 0.93
OURS, OURS_BETWEEN = "naturalness", "naturalness, ends known"
BASELINES = (
    "foot", "ZMP max", "ZMP p95", "ZMP mean", "foot + ZMP", "HMM body", "HMM min",
    "logistic acc", "disagreement",
)  # fmt: skip
HMM_WINDOWS, HMM_SEED = 600, 0
FAR_SEED = 13


class Judges(NamedTuple):
    """Scores that need fitting, fitted on one half of the takes."""

    hmm: HmmEnsemble
    frames: Frames

    def likelihoods(self, rows: np.ndarray) -> np.ndarray:
        """Body's and the least part's score of blends. (n, 2)."""
        windows = np.unique(rows[rows >= 0])
        out = np.zeros((len(rows), 2))
        columns = []
        for model in self.hmm.models:
            terms = hmm_terms(self.hmm, self.frames, windows, LENGTH, part=model.name)
            values = np.zeros(len(rows))
            for mine, blended in by_ways(rows):
                values[mine] = score_hmm(terms, np.searchsorted(windows, blended))
            columns.append(values)
        names = [model.name for model in self.hmm.models]
        out[:, 0] = columns[names.index("body")]
        out[:, 1] = np.min(columns, axis=0)
        return out


def fit_hmm(frames: Frames, takes: list[str]) -> HmmEnsemble:
    """Models of windows of some takes only."""
    windows = frames.windows(LENGTH)
    names = np.array(frames.ids)[np.searchsorted(frames.starts, windows, side="right") - 1]
    rng = np.random.Generator(np.random.PCG64(HMM_SEED))
    some = np.sort(rng.choice(windows[np.isin(names, takes)], HMM_WINDOWS, replace=False))
    parts = body_parts(frames.skeleton, frames.body_map)
    return HmmEnsemble.fit(SeenWindows.of_rows(frames, some, LENGTH), parts, restarts=2)


def accelerations(frames: Frames, rows: np.ndarray) -> np.ndarray:
    """Largest acceleration of every joint of blends. (n, J)."""
    joints = compared_joints(frames.skeleton, frames.body_map)
    out = np.zeros((len(rows), len(joints)))
    for mine, blended in by_ways(rows):
        for some in np.array_split(np.arange(len(mine)), max(1, len(mine) // 200)):
            made = SeenWindows.of_blends(frames, blended[some], LENGTH)
            out[mine[some]] = peak_accelerations(made, joints)
    return out


def scores_of(columns: np.ndarray, likelihoods: np.ndarray, acc: np.ndarray) -> dict:
    """Every score by name, high for natural ones."""
    plain = {
        "foot": "foot_in",
        "ZMP max": "zmp_max_in",
        "ZMP p95": "zmp_p95_in",
        "ZMP mean": "zmp_mean_in",
        "disagreement": "disagreement",
        "unsupported": "unsupported",
        "spread": "spread_m",
        "acceleration of the CoM": "com_acc",
    }
    scores = {name: -columns[:, COLUMNS.index(c)].astype(float) for name, c in plain.items()}
    scores["foot + ZMP"] = -PAPER.cost(columns)
    scores["HMM body"], scores["HMM min"] = likelihoods[:, 0], likelihoods[:, 1]
    scores["logistic acc"] = acc
    scores[OURS] = naturalness(columns)
    return scores


def circular_items(frames: Frames, gaps: dict, queries: np.ndarray) -> dict[str, tuple]:
    """Rows (n, 4), labels and takes of P1 and P2, from captured windows of the report takes."""
    rng = np.random.Generator(np.random.PCG64(FAR_SEED))
    windows = frames.windows(LENGTH)
    clips = np.searchsorted(frames.starts, windows, side="right") - 1
    ends = windows + LENGTH - 1
    starts, finishes = contexts(frames, windows, side="start"), contexts(frames, ends, side="end")
    ways = displacements(frames, windows, ends)
    one, two = [], []
    for query in queries:
        k = int(np.searchsorted(windows, query))
        take = frames.ids[clips[k]]
        out = np.isin(clips, sister_clips(frames, gaps["sisters"], int(clips[k])))
        far = [int(row) for row in rng.choice(windows[~out], 3, replace=False)]
        near = (
            np.square(starts - starts[k]).sum(axis=1)
            + np.square(finishes - finishes[k]).sum(axis=1)
            + np.square(ways - ways[k]).sum(axis=1)
        )
        like = [int(row) for row in windows[np.argsort(np.where(out, np.inf, near))[[0, 8, 16]]]]
        one += [([query, -1, -1, -1], True, take), ([query, far[0], -1, -1], False, take)]
        one += [([query, *far], False, take)]
        two += [([query, *like], True, take), ([query, *far], False, take)]
    return {
        name: tuple(np.array(part) for part in zip(*items, strict=True))
        for name, items in (("P1", one), ("P2", two))
    }


def gain_of(data: Candidates, score: np.ndarray) -> tuple[float, float, float, float]:
    """Error of the candidates a score picks less that of the 2-way blend, bounds over takes; cm."""
    differences, takes, picked = [], [], []
    multi = ~np.isin(data.kind, ALONE)
    for query in np.unique(data.query):
        mine = np.flatnonzero((data.query == query) & multi)
        best = data.error[mine[np.argmax(score[mine])]]
        two = data.error[mine[data.kind[mine] == "two"][0]]
        differences.append(best - two)
        picked.append(best)
        takes.append(data.take[mine[0]])
    low, high = over_takes(np.array(differences), np.array(takes))
    return float(np.mean(differences)), low, high, float(np.mean(picked))


def over_takes(values: np.ndarray, takes: np.ndarray, *, rounds: int = 1000) -> tuple[float, float]:
    """95 % bounds of a mean, takes drawn with replacement."""
    rng = np.random.Generator(np.random.PCG64(95))
    names, which = np.unique(takes, return_inverse=True)
    total = np.bincount(which, weights=values)
    count = np.bincount(which).astype(float)
    drawn = rng.integers(0, len(names), (rounds, len(names)))
    means = total[drawn].sum(axis=1) / count[drawn].sum(axis=1)
    return float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))


def area_figures(evaluation: Evaluation, key: str, *, goal: str = "") -> list[Figure]:
    figures = []
    for name, area in evaluation.areas.items():
        figures.append(
            Figure(
                f"{key}: area under the curve, {name}",
                area.value,
                "",
                value_goal=AUC_GOAL if name == goal else None,
                note=f"[{area.low:.3f}, {area.high:.3f}] over {area.groups} takes; "
                f"{evaluation.n_good} good, {evaluation.n_bad} bad",
            )
        )
    return figures


def run(pictures: Path | None = None) -> list[Figure]:
    """All figures; none without the real clips."""
    folder = mocap()
    if folder is None:
        print("No real clips: set MOTIONLOOM_MOCAP.")
        return []
    frames = frames_of_subject(folder, "143")
    gaps = json.loads(GAPS.read_text())["143"]
    data = candidates(folder)
    tuning, report = data.of("tuning"), data.of("report")
    judges = Judges(fit_hmm(frames, gaps["tuning_takes"]), frames)
    acc = fit_logistic(
        accelerations(frames, tuning.rows[tuning.labelled]), tuning.good[tuning.labelled]
    )

    def judged(rows: np.ndarray, columns: np.ndarray) -> dict:
        chance = acc.probability(accelerations(frames, rows))
        return scores_of(columns, judges.likelihoods(rows), chance)

    scores = judged(report.rows, report.columns)
    scores[OURS_BETWEEN] = naturalness_between(report.columns, report.misfits)
    p3_only, bias = fit(tuning)
    weights = np.array([p3_only.get(name, 0.0) for name in _feature_names()])
    scores["fitted to P3 alone"] = bias - used_columns(report.columns) @ weights
    ends = fit_logistic(misfit_features(tuning)[tuning.labelled], tuning.good[tuning.labelled])
    scores["misfits of the ends alone"] = ends.probability(misfit_features(report))
    mine = report.labelled
    evaluation = evaluate(
        Protocol(
            "P3", "distance from what was captured: below 6.0 cm or above 9.8", groups="takes"
        ),
        report.good[mine],
        {name: values[mine] for name, values in scores.items()},
        groups=report.take[mine],
    )
    figures = area_figures(evaluation, "P3", goal=OURS_BETWEEN)
    blends = mine & ~np.isin(report.kind, ALONE)
    figures += area_figures(
        evaluate(
            Protocol("P3, blends", "the same, single windows and far targets left out"),
            report.good[blends],
            {name: values[blends] for name, values in scores.items()},
            groups=report.take[blends],
        ),
        "P3, blends alone",
    )
    figures += ahead_figures(report, scores, mine)
    figures += within_figures(report, scores)
    figures += choice_figures(report, scores)
    figures += search_figures(frames, report, gaps["sisters"])
    evaluations = {"P3": evaluation}
    for key, (rows, good, takes) in circular_items(frames, gaps, np.unique(report.query)).items():
        kept = judged(rows, measured_columns(frames, rows))
        words = {
            "P1": "captured windows against blends with random others",
            "P2": "blends of near duplicates against blends with random others",
        }[key]
        why = "agreeing plants are what foot error and disagreement measure"
        evaluations[key] = evaluate(
            Protocol(key, words, circular=why, groups="takes"), good, kept, groups=takes
        )
        figures += area_figures(evaluations[key], f"{key} (circular)")
    figures += captured_figures(folder)
    if pictures is not None:
        pictures.mkdir(parents=True, exist_ok=True)
        for key, made in evaluations.items():
            save_canvas(draw_roc(made), pictures / f"roc_{key.lower()}.png", "png")
    return figures


def misfit_features(data: Candidates) -> np.ndarray:
    return np.concatenate([data.misfits, np.log1p(100.0 * data.misfits)], axis=1)


def _feature_names() -> list[str]:
    return [*USED, *(f"log {name}" for name in USED)]


def ahead_figures(data: Candidates, scores: dict, mine: np.ndarray) -> list[Figure]:
    """Ours against every single baseline, on the same draws of takes."""
    figures = []
    for name in (*BASELINES, "misfits of the ends alone"):
        for ours in (OURS_BETWEEN, OURS):
            ahead = measure_auc_difference(
                data.good[mine], scores[ours][mine], scores[name][mine], groups=data.take[mine]
            )
            figures.append(
                Figure(
                    f"P3: {ours} ahead of {name}",
                    ahead.value,
                    "",
                    value_goal=0.0 if ours == OURS_BETWEEN else None,
                    note=f"[{ahead.low:+.3f}, {ahead.high:+.3f}] over takes",
                )
            )
    return figures


def within_figures(data: Candidates, scores: dict) -> list[Figure]:
    figures = []
    multi = ~np.isin(data.kind, ALONE)
    for name in (OURS_BETWEEN, OURS, "fitted to P3 alone", *BASELINES, "spread"):
        part = measure_within(
            data.error[multi],
            np.asarray(scores[name])[multi],
            data.query[multi],
            groups=data.take[multi],
        )
        figures.append(
            Figure(
                f"P3, of two blends of one query: the nearer one found, {name}",
                part.value,
                "",
                note=f"[{part.low:.3f}, {part.high:.3f}] over takes",
            )
        )
    return figures


def choice_figures(data: Candidates, scores: dict) -> list[Figure]:
    figures = []
    for name in (OURS_BETWEEN, OURS, "foot + ZMP", "HMM body", "spread"):
        gain, low, high, error = gain_of(data, np.asarray(scores[name]))
        figures.append(
            Figure(
                f"blend chosen by {name}: error less that of the 2-way blend",
                gain,
                "cm",
                lower_is_better=True,
                value_goal=0.0 if name in (OURS, OURS_BETWEEN) else None,
                note=f"[{low:+.2f}, {high:+.2f}] over takes; {error:.2f} cm, "
                f"{len(np.unique(data.query))} queries, seven candidates each",
            )
        )
    return figures


def search_figures(frames: Frames, data: Candidates, sisters: list) -> list[Figure]:
    """The same of the best of all blends over 50 medoids, about 2,500 a query."""
    two = data.kind == "two"
    figures = []
    for name, errors in searched_errors(frames, data, sisters).items():
        less = errors - data.error[two]
        low, high = over_takes(less, data.take[two])
        figures.append(
            Figure(
                f"best of all blends by {name}: error less that of the 2-way blend",
                float(less.mean()),
                "cm",
                lower_is_better=True,
                value_goal=0.0 if name != "foot + ZMP" else None,
                note=f"[{low:+.2f}, {high:+.2f}] over takes; {errors.mean():.2f} cm",
            )
        )
    return figures


def captured_figures(folder: Path) -> list[Figure]:
    """How much of what was captured is called natural."""
    columns, takes = captured(folder, "report")
    chance = naturalness(columns)
    passes = chance >= THRESHOLD
    low, high = over_takes(passes.astype(float), takes)
    worst = min(np.unique(takes), key=lambda take: passes[takes == take].mean())
    return [
        Figure(
            "captured windows that naturalness calls natural",
            100.0 * float(passes.mean()),
            "%",
            note=f"[{100 * low:.0f}, {100 * high:.0f}] over takes; least in {worst}: "
            f"{100 * passes[takes == worst].mean():.0f} %; {len(chance)} windows of takes that it "
            f"was not fitted on; weights of {int((NATURAL.linear > 0).sum())} columns and "
            f"{int((NATURAL.log > 0).sum())} logarithms, {WAYS} ways at most",
        )
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pictures", type=Path)
    asked = parser.parse_args()
    write_report("transitions_natural", run(asked.pictures), about={"seeds": [HMM_SEED, FAR_SEED]})
