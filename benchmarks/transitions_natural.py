"""How well scores tell natural blends from others, on labels that no score made.

    python benchmarks/transitions_natural.py [--pictures DIR]

Everything is fitted on the tuning takes of CMU 143 and reported on its other takes and on CMU 69,
to which nothing was fitted; bounds are over takes. P1 and P2 are those of the papers and circular:
a captured or nearly captured window has plants that agree, which is what foot error and
disagreement measure. P3's labels are distances from what was captured, which no score sees; but
nearness to one captured answer is not all of naturalness, and hard queries are mixed with easy
ones, so candidates of one query are compared too.

P3's candidates are bent to meet the two sides of their gap. *naturalness* is that of tables and
transitions, same weights, bias and threshold, and knows how far (``scoring/bends.py``; of the
gap it sees the two sides alone); *bends left out* is the same of the blend before it is bent.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from motionloom.drawing.canvas import save_canvas
from motionloom.drawing.evaluation_pictures import draw_roc
from motionloom.transitions.collecting.frames import Frames
from motionloom.transitions.judging.evaluation import Evaluation, Protocol, evaluate
from motionloom.transitions.judging.roc import measure_auc_difference, measure_within
from motionloom.transitions.likeness.contexts import contexts, displacements
from motionloom.transitions.scoring.natural import NATURAL, THRESHOLD, naturalness
from natural_candidates import GAPS, LENGTH, frames_of_subject, sister_clips
from natural_fit import ALONE, captured
from natural_judges import (
    ALONE_FITTED,
    BARE,
    BASELINES,
    ENDS,
    HMM_BENT,
    HMM_SEED,
    KNOWN,
    OURS,
    Judges,
    fit_hmm,
    fitted_judges,
    likelihoods,
    scores_of,
    scores_of_candidates,
)
from natural_search import searched_errors
from natural_truth import WAYS, Candidates, candidates, measured_columns
from registration_clips import mocap
from report import Figure, write_report

AUC_GOAL = 0.93
FAR_SEED = 13
PICTURED = (
    OURS, BARE, "HMM body", HMM_BENT, "HMM min", ENDS, "acceleration of the CoM", "logistic acc",
    "foot + ZMP", "foot", "disagreement",
)  # fmt: skip


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
    judges = fitted_judges(folder)
    figures: list[Figure] = []
    evaluations: dict[str, Evaluation] = {}
    for subject in ("143", "69"):
        made, evaluation = truth_figures(folder, subject, judges)
        figures += made
        evaluations["P3" if subject == "143" else f"P3_{subject}"] = evaluation
    made, circular = circular_figures(folder, judges)
    figures += made
    if pictures is not None:
        pictures.mkdir(parents=True, exist_ok=True)
        for key, each in (evaluations | circular).items():
            canvas = draw_roc(pictured(each))
            save_canvas(canvas, pictures / f"roc_{key.lower()}.png", "png")
    return figures


def pictured(evaluation: Evaluation) -> Evaluation:
    """The scores that a picture has room for: ours as it is, and the baselines of the papers."""
    names = [name for name in evaluation.areas if name in PICTURED]
    return replace(
        evaluation,
        curves={name: evaluation.curves[name] for name in names},
        areas={name: evaluation.areas[name] for name in names},
        ahead={},
    )


def truth_figures(folder: Path, subject: str, judges: Judges) -> tuple[list[Figure], Evaluation]:
    """P3 of one subject: areas, pairs of one query, choices, captured windows."""
    frames, data = frames_of_subject(folder, subject), candidates(folder, subject).of("report")
    plan = json.loads(GAPS.read_text())[subject]
    scores = scores_of_candidates(judges, frames, data)
    key = "P3"
    if subject != "143":
        key = f"P3, CMU {subject} (nothing fitted to it)"
        scores["HMM body, of the subject's other takes"] = crossed_likelihoods(frames, data)
    mine = data.labelled
    labels = "distance from what was captured: below 6.0 cm or above 9.8"
    evaluation = evaluate(
        Protocol(key, labels, groups="takes"),
        data.good[mine],
        {name: values[mine] for name, values in scores.items()},
        groups=data.take[mine],
    )
    figures = area_figures(evaluation, key, goal=OURS)
    blends = mine & ~np.isin(data.kind, ALONE)
    figures += area_figures(
        evaluate(
            Protocol(f"{key}, blends", "the same, single windows and far targets left out"),
            data.good[blends],
            {name: values[blends] for name, values in scores.items()},
            groups=data.take[blends],
        ),
        f"{key}, blends alone",
    )
    figures += ahead_figures(key, data, scores, mine)
    figures += called_figures(key, data, scores[OURS])
    figures += within_figures(key, data, scores)
    figures += choice_figures(key, data, scores)
    figures += search_figures(key, frames, data, plan["sisters"])
    figures += captured_figures(folder, subject)
    return figures, evaluation


def crossed_likelihoods(frames: Frames, data: Candidates) -> np.ndarray:
    """Body's score by models of the same subject, fitted to every second take but the query's."""
    takes = list(frames.ids)
    out = np.zeros(len(data.rows))
    for k in (0, 1):
        mine = np.isin(data.take, takes[k::2])
        out[mine] = likelihoods(fit_hmm(frames, takes[1 - k :: 2]), frames, data.rows[mine])[:, 0]
    return out


def circular_figures(folder: Path, judges: Judges) -> tuple[list[Figure], dict[str, Evaluation]]:
    """P1 and P2 on the report takes of 143."""
    frames, data = frames_of_subject(folder, "143"), candidates(folder).of("report")
    gaps = json.loads(GAPS.read_text())["143"]
    words = {
        "P1": "captured windows against blends with random others",
        "P2": "blends of near duplicates against blends with random others",
    }
    why = "agreeing plants are what foot error and disagreement measure"
    figures, made = [], {}
    for key, (rows, good, takes) in circular_items(frames, gaps, np.unique(data.query)).items():
        scores = scores_of(judges, frames, rows, measured_columns(frames, rows))
        protocol = Protocol(key, words[key], circular=why, groups="takes")
        made[key] = evaluate(protocol, good, scores, groups=takes)
        figures += area_figures(made[key], f"{key} (circular)")
    return figures, made


def called_figures(key: str, data: Candidates, chance: np.ndarray) -> list[Figure]:
    """How often good and bad candidates are called natural by the threshold."""
    return [
        Figure(
            f"{key}: {word} candidates called natural",
            100.0 * float(np.mean(chance[data.labelled & (data.good == good)] >= THRESHOLD)),
            "%",
            lower_is_better=not good,
            note=f"by the threshold of {THRESHOLD:g} that transitions have",
        )
        for word, good in (("good", True), ("bad", False))
    ]


def ahead_figures(key: str, data: Candidates, scores: dict, mine: np.ndarray) -> list[Figure]:
    """Ours against every single baseline, on the same draws of takes."""
    figures = []
    for name in (*BASELINES, BARE):
        ahead = measure_auc_difference(
            data.good[mine], scores[OURS][mine], scores[name][mine], groups=data.take[mine]
        )
        figures.append(
            Figure(
                f"{key}: {OURS} ahead of {name}",
                ahead.value,
                "",
                value_goal=0.0,
                note=f"[{ahead.low:+.3f}, {ahead.high:+.3f}] over takes",
            )
        )
    return figures


def within_figures(key: str, data: Candidates, scores: dict) -> list[Figure]:
    figures = []
    multi = ~np.isin(data.kind, ALONE)
    for name in (OURS, BARE, KNOWN, ALONE_FITTED, *BASELINES):
        part = measure_within(
            data.error[multi],
            np.asarray(scores[name])[multi],
            data.query[multi],
            groups=data.take[multi],
        )
        figures.append(
            Figure(
                f"{key}, of two blends of one query: the nearer one found, {name}",
                part.value,
                "",
                note=f"[{part.low:.3f}, {part.high:.3f}] over takes",
            )
        )
    return figures


def choice_figures(key: str, data: Candidates, scores: dict) -> list[Figure]:
    figures = []
    for name in (OURS, BARE, KNOWN, "foot + ZMP", "HMM body", "spread"):
        gain, low, high, error = gain_of(data, np.asarray(scores[name]))
        figures.append(
            Figure(
                f"{key}, blend chosen by {name}: error less that of the 2-way blend",
                gain,
                "cm",
                lower_is_better=True,
                value_goal=0.0 if name in (OURS, BARE) else None,
                note=f"[{low:+.2f}, {high:+.2f}] over takes; {error:.2f} cm, "
                f"{len(np.unique(data.query))} queries, seven candidates each",
            )
        )
    return figures


def search_figures(key: str, frames: Frames, data: Candidates, sisters: list) -> list[Figure]:
    """The same of the best of all blends over 50 medoids, about 2,500 a query."""
    two = data.kind == "two"
    figures = []
    for name, errors in searched_errors(frames, data, sisters).items():
        less = errors - data.error[two]
        low, high = over_takes(less, data.take[two])
        figures.append(
            Figure(
                f"{key}, best of all blends by {name}: error less that of the 2-way blend",
                float(less.mean()),
                "cm",
                lower_is_better=True,
                value_goal=0.0 if name != "foot + ZMP" else None,
                note=f"[{low:+.2f}, {high:+.2f}] over takes; {errors.mean():.2f} cm",
            )
        )
    return figures


def captured_figures(folder: Path, subject: str) -> list[Figure]:
    """How much of what was captured is called natural."""
    columns, takes = captured(folder, "report", subject=subject)
    chance = naturalness(columns)
    passes = chance >= THRESHOLD
    low, high = over_takes(passes.astype(float), takes)
    worst = min(np.unique(takes), key=lambda take: passes[takes == take].mean())
    return [
        Figure(
            f"captured windows of CMU {subject} that naturalness calls natural",
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
