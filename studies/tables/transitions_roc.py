"""Scores of the papers and their baselines on labels that are made: two circular protocols.

    ./study transitions roc [--pictures DIR]

P1: captured windows against blends of two and four windows that are far from each other. P2: blends
of four nearly equal windows against blends of four far ones, same source. Both are won by whatever
sees that plants agree, because they agree in captured and nearly equal windows by construction;
they show that the baselines work, not which score is better. Models are fitted to every second take
of CMU 143 and judged on the others; bounds are over takes. Labels from truth are another matter:
``transitions_natural.py``.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from motionloom.drawing.canvas import save_canvas
from motionloom.tables.collection.frames import Frames
from motionloom.tables.evaluation.evaluation import Evaluation, Protocol, evaluate
from motionloom.tables.index.windows import (
    compared_joints,
    distances,
    window_features,
    window_shape,
)
from motionloom.tables.score.columns import PAPER, column, score_recipes
from motionloom.tables.score.terms import terms_of
from studies.baselines.hmm import HmmEnsemble
from studies.baselines.limb_groups import body_parts
from studies.baselines.logistic import (
    PaperLogistic,
    fit_paper_logistic,
    peak_accelerations,
    plant_disagreement,
)
from studies.captured_clips import generator, mocap
from studies.measures.window_batch import WindowBatch
from studies.pictures.evaluation_pictures import draw_roc
from studies.report import Figure, write_report
from studies.tables.reach_ways import LENGTH
from studies.tables.transitions_reach import frames_143

SEED = 143
N_EACH = 200
TRAINED_ON = 600
DRAWN_FROM = 4000
NEAR_M, FAR_M = 0.08, 0.25
"""Windows nearer than the first, root mean square over joints, are nearly equal; those further than
the second are far."""

P1 = Protocol(
    "P1: captured against far blends",
    "good: captured windows of takes not fitted to; bad: 2- and 4-way blends of far ones",
    circular="for foot error and disagreement, which a captured window has none of by construction",
    groups="takes of the source",
)
P2 = Protocol(
    "P2: near-duplicate against far 4-way blends",
    f"good: 4-way blends of windows within {100 * NEAR_M:g} cm of the source; bad: of far ones, "
    "same source",
    circular="for foot error and disagreement: nearly equal windows have the same plants",
    groups="takes of the source",
)


@dataclass
class Items:
    """Recipes with labels; a captured window is a recipe of one."""

    recipes: list[tuple[int, ...]]
    good: list[bool]


def half(frames: Frames, odd: bool) -> np.ndarray:
    """First rows of the windows of every second take."""
    rows = frames.windows(LENGTH)
    clips = np.searchsorted(frames.starts, rows, side="right") - 1
    return rows[(clips % 2 == 1) == odd]


class Drawer:
    """Recipes drawn from the windows of one half of the takes."""

    def __init__(self, frames: Frames, rows: np.ndarray, rng: np.random.Generator) -> None:
        self.rng = rng
        self.rows = np.sort(rng.choice(rows, DRAWN_FROM, replace=False))
        self.features = window_features(frames, self.rows, window_shape(frames, LENGTH))

    def apart(self, k: int) -> np.ndarray:
        """How far window ``k`` is from the others, root mean square over joints, metres."""
        return distances(self.features[[k]], self.features)[0]

    def some(self, rows: np.ndarray, count: int) -> tuple[int, ...]:
        return tuple(int(row) for row in self.rng.choice(rows, count, replace=False))

    def captured_or_far(self) -> Items:
        chosen = self.rng.permutation(DRAWN_FROM)[: 2 * N_EACH]
        recipes: list[tuple[int, ...]] = [(int(self.rows[k]),) for k in chosen[:N_EACH]]
        for n, k in enumerate(chosen[N_EACH:]):
            far = self.rows[self.apart(int(k)) > FAR_M]
            recipes.append((int(self.rows[k]), *self.some(far, 1 + 2 * (n % 2))))
        return Items(recipes, [True] * N_EACH + [False] * N_EACH)

    def near_or_far(self) -> Items:
        items = Items([], [])
        for k in self.rng.permutation(DRAWN_FROM):
            apart = self.apart(int(k))
            # A second away in time at least: the next frame of the same take is no duplicate.
            near = self.rows[(apart < NEAR_M) & (np.abs(self.rows - self.rows[k]) >= LENGTH)]
            if len(near) < 3:
                continue
            source = int(self.rows[k])
            items.recipes.append((source, *self.some(near, 3)))
            items.recipes.append((source, *self.some(self.rows[apart > FAR_M], 3)))
            items.good += [True, False]
            if len(items.good) >= 2 * N_EACH:
                break
        return items


class Judges:
    """Every score of both papers."""

    def __init__(self, frames: Frames) -> None:
        self.frames = frames
        self.joints = compared_joints(frames.skeleton, frames.body_map)
        rng = generator(SEED, 0)
        rows = half(frames, odd=False)
        seen = WindowBatch.of_rows(frames, np.sort(rng.choice(rows, TRAINED_ON, False)), LENGTH)
        self.hmm = HmmEnsemble.fit(
            seen, body_parts(frames.skeleton, frames.body_map), restarts=3, seed=SEED
        )
        self.logistic: PaperLogistic | None = None

    def fit(self, items: Items) -> None:
        """The regressions, on the half that is fitted to."""
        peaks, disagreement = self.looked_at(items)
        self.logistic = fit_paper_logistic(peaks, disagreement, items.good)

    def looked_at(self, items: Items) -> tuple[np.ndarray, np.ndarray]:
        peaks = np.concatenate([peak_accelerations(w, self.joints) for w in self.windows(items)])
        disagreement = [
            plant_disagreement(self.frames, [recipe], LENGTH)[0] for recipe in items.recipes
        ]
        return peaks, np.array(disagreement)

    def windows(self, items: Items) -> list[WindowBatch]:
        return [WindowBatch.of_blends(self.frames, [recipe], LENGTH) for recipe in items.recipes]

    def scores(self, items: Items) -> dict[str, np.ndarray]:
        """High is natural."""
        rows = sorted({row for recipe in items.recipes for row in recipe})
        place = {row: k for k, row in enumerate(rows)}
        ids = np.full((len(items.recipes), 4), -1, dtype=np.int32)
        for k, recipe in enumerate(items.recipes):
            ids[k, : len(recipe)] = [place[row] for row in recipe]
        columns = score_recipes(terms_of(self.frames, rows, LENGTH), ids)
        parts = np.concatenate([self.hmm.part_scores(w) for w in self.windows(items)])
        body = [model.name for model in self.hmm.models].index("body")
        assert self.logistic is not None
        chances = self.logistic.probabilities(*self.looked_at(items))
        return {
            "foot + ZMP (paper)": -PAPER.cost(columns),
            "foot error": -columns[:, column("foot_in")],
            "ZMP, largest": -columns[:, column("zmp_max_in")],
            "ZMP, mean": -columns[:, column("zmp_mean_in")],
            "HMM, least of 11 parts": parts.min(axis=1),
            "HMM, body": parts[:, body],
            "logistic, accelerations": chances[:, 0],
            "logistic, disagreement": chances[:, 1],
            "logistic, lesser of both": chances[:, 2],
        }


def evaluations(frames: Frames) -> list[Evaluation]:
    judges = Judges(frames)
    fitted, held = half(frames, odd=False), half(frames, odd=True)
    done = []
    for k, (protocol, draw) in enumerate(((P1, Drawer.captured_or_far), (P2, Drawer.near_or_far))):
        judges.fit(draw(Drawer(frames, fitted, generator(SEED, 1, k))))
        items = draw(Drawer(frames, held, generator(SEED, 2, k)))
        takes = [frames.clip_at(recipe[0]) for recipe in items.recipes]
        done.append(evaluate(protocol, items.good, judges.scores(items), groups=takes))
    return done


def run(*, pictures: Path | None = None) -> tuple[list[Figure], dict[str, object]]:
    folder = mocap()
    if folder is None:
        return [], {"roc": "real clips not found (set MOTIONLOOM_MOCAP)"}
    figures = []
    for evaluation in evaluations(frames_143(folder)):
        name = evaluation.protocol.name.partition(":")[0]
        figures += [
            Figure(f"{name} (circular), AUC: {score}", area.value, "",
                   note=f"[{area.low:.3f}, {area.high:.3f}] over {area.groups} takes")
            for score, area in evaluation.areas.items()
        ]  # fmt: skip
        if pictures is not None:
            pictures.mkdir(parents=True, exist_ok=True)
            save_canvas(draw_roc(evaluation), pictures / f"roc_{name.lower()}.png", "png")
    return figures, {"labels": f"{P1.caption}. {P2.caption}"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pictures", type=Path, default=None, help="folder to draw into")
    figures, about = run(pictures=parser.parse_args().pictures)
    write_report("transitions_roc", figures, about=about)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
