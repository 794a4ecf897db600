"""Naturalness of captured windows that are pinned, by how far they are from what was captured.

    ./study transitions pinned

Naturalness was fitted to blends (``natural_fit.py``). A pinned window is judged by the same four
numbers: squared sizes of what it was bent by count as the spread of windows does. Here the
candidates of ``natural_candidates.py`` are made again as pinned windows: between the query's own
source and target windows, which are of other takes, one or two windows are averaged and bent to
meet both. Labels are those of ``natural_truth.py``: the distance from the captured second in
tolerances. Weights are fitted to 16, 35 with 127, and 69; figures are of 143 and Bandai, which no
fit has seen. "As blends" is naturalness with weights and threshold fitted to blends of the same
three groups.

The last figures are of searching on: where the plain blend between a query's windows is not called
natural, the most natural one of other candidates is taken, as a join does. The longer it searches,
the more of those that pass could be bad ones that the score takes for good.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from motionloom.tables.choice import Choice
from motionloom.tables.evaluation.roc import measure_auc
from motionloom.tables.index.windows import compared_joints
from motionloom.tables.score.columns import COLUMNS
from motionloom.tables.score.natural import NATURAL, RELATIVE, relative_columns
from motionloom.tables.score.recipe import Recipe
from motionloom.tables.synthesis.synthesis import rig_of, synthesize
from studies.captured_clips import mocap
from studies.measures.window_batch import WindowBatch
from studies.memory_table import table_in_memory
from studies.report import Figure, write_report
from studies.tables.inbetween_methods import window_of
from studies.tables.natural_candidates import frames_of_subject, window_length
from studies.tables.natural_fit import PASSED, Fitted, fit, fit_parts
from studies.tables.natural_truth import BAD, Candidates, candidates, seen_joints
from studies.tables.transitions_natural import over_takes

FITTED = ("16", "35_127", "69")
REPORTED = ("143", "bandai")
CLUSTERS = 8
KINDS = {
    "four near": (0, 1, 2, 3),
    "three near": (0, 1, 2),
    "four random": (0, 1, 2, 3),
    "three random": (0, 1, 2),
}
"""Candidates that are made again as pinned windows: source, one or two windows, target."""


class Pinned(NamedTuple):
    """Pinned windows with what is known of them; one row each."""

    query: np.ndarray
    kind: np.ndarray
    take: np.ndarray
    off: np.ndarray
    """Distance from what was captured, in tolerances. (n,)"""
    relative: np.ndarray
    """What naturalness weighs. (n, 4)"""
    labelled: np.ndarray
    good: np.ndarray


@lru_cache(maxsize=5)
def pinned_windows(folder: Path, group: str) -> Pinned:
    """Pinned windows of a group's queries, measured."""
    frames, data = frames_of_subject(folder, group), candidates(folder, group)
    length = window_length(frames)
    chosen = np.flatnonzero(np.isin(data.kind, list(KINDS)))
    rows = data.rows[chosen]
    engine = table_in_memory(
        frames, length=length, clusters=CLUSTERS, keep=2, ways=(2,), ranking=NATURAL
    ).query_engine
    columns = np.stack([_columns(engine, windows) for windows in rows])
    rig = rig_of(frames)
    errors = np.array(
        [
            _error(frames, rig, windows, int(query), length)
            for windows, query in zip(rows, data.query[chosen], strict=True)
        ]
    )
    of_chosen = Candidates(*(part[chosen] for part in data))
    results = of_chosen._replace(error=errors, bends=_bends_of_ends(data)[chosen])
    relative = relative_columns(columns, results.reference)
    return Pinned(
        results.query,
        results.kind,
        results.take,
        results.off,
        relative,
        results.labelled,
        results.good,
    )


def _bends_of_ends(data: Candidates) -> np.ndarray:
    """How far a query's source and target are from its ends: bends of its 2-way blend."""
    two = data.kind == "two"
    by_query = dict(zip(data.query[two].tolist(), data.bends[two], strict=True))
    return np.array([by_query[query] for query in data.query.tolist()])


def _columns(engine, windows: np.ndarray) -> np.ndarray:
    """What the kernel measures of one pinned candidate."""
    nothing = np.full((1, len(COLUMNS)), np.nan, dtype=np.float32)
    asked = Choice(windows[None].astype(np.int64), np.zeros(1), nothing, 0, np.ones(1, np.bool_))
    return np.array(engine.ranked(asked).columns[0])


def _error(frames, rig, windows: np.ndarray, query: int, length: int) -> float:
    """Mean joint error of a pinned candidate, put into the query's gap, cm."""
    recipe = Recipe(tuple(int(row) for row in windows if row >= 0), length, "eased", pinned=True)
    results = synthesize(frames, recipe, rig=rig)
    batch = window_of(frames, results.heading, results.root_positions, results.local_quats)
    joints = compared_joints(frames.skeleton, frames.body_map)
    truth = WindowBatch.of_rows(frames, [query], length)
    apart = seen_joints(batch, joints, truth) - seen_joints(truth, joints, None)
    return 100.0 * float(np.linalg.norm(apart, axis=-1).mean())


def fit_pinned(folder: Path, groups: tuple[str, ...]) -> Fitted:
    """Weights and threshold of pinned windows alone."""
    parts = []
    for group in groups:
        each = pinned_windows(folder, group)
        mine = each.labelled
        parts.append(
            [
                (each.relative[mine & each.good], True, 1.0),
                (each.relative[mine & ~each.good], False, 1.0),
            ]
        )
    balanced = fit_parts(parts)
    limits = [
        np.quantile(balanced.logit(part[0][0]), 1.0 - PASSED) for part in parts if len(part[0][0])
    ]
    return balanced._replace(bias=balanced.bias - float(np.mean(limits)))


def group_figures(group: str, each: Pinned, scores: dict[str, np.ndarray]) -> list[Figure]:
    """Areas, and shares of good and bad ones that are called natural."""
    figures, mine = [], each.labelled
    for name, logit in scores.items():
        area = measure_auc(each.good[mine], logit[mine], groups=each.take[mine])
        figures.append(
            Figure(
                f"{group}, pinned windows, {name}: area under the curve",
                area.value,
                "",
                note=f"[{area.low:.3f}, {area.high:.3f}] over takes; "
                f"{(mine & each.good).sum()} good, {(mine & ~each.good).sum()} bad",
            )
        )
        for kind, chosen in (("good", mine & each.good), ("bad", mine & ~each.good)):
            called = (logit >= 0.0)[chosen].astype(float)
            low, high = over_takes(called, each.take[chosen])
            figures.append(
                Figure(
                    f"{group}, pinned windows, {name}: {kind} ones called natural",
                    100.0 * float(called.mean()),
                    "%",
                    lower_is_better=kind == "bad",
                    value_goal=90.0 if kind == "good" and name == "as blends" else None,
                    note=f"[{100 * low:.0f}, {100 * high:.0f}] over takes; {len(called)} windows",
                )
            )
    return figures


class Taken(NamedTuple):
    """The most natural candidate of one kind of a query, where it is called natural."""

    off: float
    take: str


SEARCHES = {
    "the plain blend": ("two",),
    "captured windows, blended and pinned": ("three near", "four near"),
    "recipes over medoids": ("three random", "four random", "three by sum", "four by sum"),
}


def taken_by(group: str, data: Candidates, fitted: Fitted, each: Pinned) -> dict[str, list[Taken]]:
    """What each search takes that is natural; the later ones where the plain blend is not."""
    logit = fitted.logit(relative_columns(data.columns, data.reference))
    pinned = fitted.logit(each.relative)
    ends_fit = data.hardly_bent
    taken: dict[str, list[Taken]] = {name: [] for name in SEARCHES}
    for query in np.unique(data.query[ends_fit & (data.kind == "two")]):
        is_plain_natural = False
        for name, kinds in SEARCHES.items():
            mine = np.flatnonzero((data.query == query) & np.isin(data.kind, kinds))
            pins = np.flatnonzero((each.query == query) & np.isin(each.kind, kinds))
            values = np.concatenate([logit[mine], pinned[pins]])
            offs = np.concatenate([data.off[mine], each.off[pins]])
            best = int(np.argmax(values))
            if values[best] >= 0.0 and not is_plain_natural:
                taken[name].append(Taken(float(offs[best]), f"{group} {data.take[mine[0]]}"))
                is_plain_natural = name == "the plain blend"
    return taken


def search_figures(parts: list[dict[str, list[Taken]]]) -> list[Figure]:
    """How near to what was captured those are that each search takes."""
    figures = []
    for name in SEARCHES:
        every = [each for part in parts for each in part[name]]
        off, takes = np.array([each.off for each in every]), np.array([each.take for each in every])
        near = (off < BAD).astype(float)
        low, high = over_takes(near, takes)
        figures.append(
            Figure(
                f"143 and Bandai, {name}, called natural: near to what was captured",
                100.0 * float(near.mean()),
                "%",
                note=f"[{100 * low:.0f}, {100 * high:.0f}] over takes; {len(every)} queries"
                + ("" if name == "the plain blend" else " whose plain blend is not natural")
                + f"; median {np.median(off):.2f} tolerances, near: below {BAD}",
            )
        )
    return figures


def run() -> list[Figure]:
    """All figures; none without the real clips."""
    folder = mocap()
    if folder is None:
        print("No real clips: set MOTIONLOOM_MOCAP.")
        return []
    blends, own = fit(folder, FITTED), fit_pinned(folder, FITTED)
    print("as blends", dict(zip(RELATIVE, blends.weights.round(2), strict=True)), blends.bias)
    print("own", dict(zip(RELATIVE, own.weights.round(2), strict=True)), own.bias)
    figures, parts = [], []
    for group in (*REPORTED, *FITTED):
        each = pinned_windows(folder, group)
        scores = {"as blends": blends.logit(each.relative), "own fit": own.logit(each.relative)}
        name = group if group in REPORTED else f"{group} (fitted to)"
        figures += group_figures(name, each, scores)
        if group in REPORTED:
            parts.append(taken_by(group, candidates(folder, group), blends, each))
    return figures + search_figures(parts)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.parse_args()
    write_report("transitions_pinned", run(), about={"fitted to": FITTED, "reported": REPORTED})
