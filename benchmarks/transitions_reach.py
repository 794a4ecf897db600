"""Who can join two random frames within a second: motion graph, table, search; figure 4 of [I7].

    python benchmarks/transitions_reach.py [--pairs N] [--pictures DIR] [--draw]

CMU subject 143, 42 takes at 60 Hz. The pairs stand in ``protocols/transitions_reach.json``: a
source frame with a second after it, a target frame with a second before it. The graph may take a
second (8 cm rms); a transition may cost 6 inches by the paper's sum of foot error and distance of
the zero moment point. Nothing here says that a joined pair looks natural: the sum is what is
minimised. Times are of one process, without making the motion.
"""

from __future__ import annotations

import argparse
import json
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np

import motionloom as ml
from motionloom.drawing.canvas import save_canvas
from motionloom.drawing.evaluation_pictures import draw_quadrants, draw_reach
from motionloom.transitions.clusters import find_clusters
from motionloom.transitions.columns import PAPER
from motionloom.transitions.evaluation import Quadrants, quadrants_of
from motionloom.transitions.frames import Frames, frames_of
from motionloom.transitions.graph import MotionGraph
from motionloom.transitions.kernel import score_recipes
from motionloom.transitions.lookup import Lookup, find_lookup
from motionloom.transitions.search import NONE, search_pair
from motionloom.transitions.terms import Terms, TermSource, term_source, terms_of
from registration_clips import PROTOCOLS, bounds, mocap, said
from report import Figure, write_report

PLAN = PROTOCOLS / "transitions_reach.json"
LENGTH = 60
LIMIT_IN = 6.0
THRESHOLDS_CM = (3.0, 5.0, 8.0, 12.0)
THRESHOLD_CM = 8.0
COARSE, FINE = 50, 200
KEPT = 32


@lru_cache(maxsize=1)
def frames_143(folder: Path) -> Frames:
    """All takes of subject 143 at the rate they were captured at."""
    files = sorted((folder / "cmu_bvh").glob("143_*.bvh"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return frames_of([ml.load(f, fps=60.0).replace(name=f.stem) for f in files])


def draw_pairs(frames: Frames, count: int, seed: int) -> list[list[object]]:
    """Sources and targets, each frame as likely as any other."""
    rng = np.random.Generator(np.random.PCG64(seed))
    windows = frames.windows(LENGTH)
    pairs = rng.choice(windows, (count, 2)) + np.array([0, LENGTH - 1])
    return [[*frames.place_of(int(s)), *frames.place_of(int(t))] for s, t in pairs]


@dataclass
class Reached:
    """One way to find recipes: cost and time of every pair."""

    scores: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


class Searcher:
    """Costs of transitions between rows by each way of finding recipes."""

    def __init__(self, frames: Frames) -> None:
        self.coarse = find_clusters(frames, length=LENGTH, clusters=COARSE).medoids
        self.fine = find_clusters(frames, length=LENGTH, clusters=FINE, method="means").medoids
        self.lookup: Lookup = find_lookup(frames, self.coarse, self.fine, length=LENGTH)
        # Two more places at the end take the windows of the pair that is asked for.
        rows = np.concatenate([self.coarse, self.fine, self.coarse[:2]])
        self.terms: Terms = terms_of(frames, rows, LENGTH)
        self.source: TermSource = term_source(frames)
        self.between = np.arange(COARSE)
        self.anything = np.arange(COARSE + FINE)
        self.pair = (len(rows) - 2, len(rows) - 1)
        self.entries: dict[tuple[int, int], np.ndarray] = {}

    def place(self, source: int, target: int) -> None:
        """Put the windows of a pair into their places."""
        for slot, row in zip(self.pair, (source, target), strict=True):
            self.terms.put(self.source, slot, row)

    def entry(self, i: int, j: int) -> np.ndarray:
        """The table's recipes from one representative to another, best first. (KEPT, 4)."""
        if (i, j) not in self.entries:
            found = search_pair(self.terms, i, j, self.between, keep=KEPT)
            self.entries[i, j] = found.recipes[0][np.isfinite(found.costs[0])]
        return self.entries[i, j]

    def rescored(self, recipes: np.ndarray, *, two_way: bool) -> float:
        """The least cost of cached recipes with the pair's own windows as source and target."""
        return self.best(self.asked(recipes, two_way=two_way))[1]

    def asked(self, recipes: np.ndarray, *, two_way: bool) -> np.ndarray:
        """Cached recipes with the pair's own windows as source and target. (n, 4)."""
        asked = np.full((len(recipes), 4), -1, dtype=np.int32)
        for k, recipe in enumerate(recipes):
            middle = [int(r) for r in recipe[recipe != NONE]][1:-1]
            asked[k, : len(middle) + 2] = [self.pair[0], *middle, self.pair[1]]
        if two_way:
            asked = np.concatenate([asked, [[*self.pair, -1, -1]]]).astype(np.int32)
        return asked

    def searched(self, ways: tuple[int, ...]) -> float:
        """The least cost of all recipes of the pair itself."""
        return float(
            search_pair(self.terms, *self.pair, self.between, ways=ways, keep=1).costs[0, 0]
        )

    def refined(self, recipes: np.ndarray) -> float:
        """Cached recipes; where none is good, the best one's intermediaries changed in turn."""
        best, cost = self.best(self.asked(recipes, two_way=True))
        while cost >= LIMIT_IN:
            tried = np.tile(self.four(best), (2, len(self.anything), 1))
            for slot in (1, 2):
                tried[slot - 1, :, slot] = self.anything
            following, less = self.best(tried.reshape(-1, 4))
            if less >= cost:
                break
            best, cost = following, less
        return cost

    def where_needed(self, recipes: np.ndarray) -> float:
        """Cached recipes; where none is good, the search of all."""
        cost = self.rescored(recipes, two_way=True)
        return cost if cost < LIMIT_IN else min(cost, self.searched((2, 3, 4)))

    def four(self, recipe: np.ndarray) -> np.ndarray:
        """A recipe as one of four ways: a missing intermediary is the one there is, or any."""
        middle = [int(k) for k in recipe if k >= 0][1:-1] or [0]
        return np.array([self.pair[0], middle[0], middle[-1], self.pair[1]], dtype=np.int32)

    def best(self, asked: np.ndarray) -> tuple[np.ndarray, float]:
        costs = PAPER.cost(score_recipes(self.terms, asked))
        return asked[int(np.argmin(costs))], float(costs.min())

    def ways(self, source: int, target: int) -> dict[str, Callable[[], float]]:
        """Every way to find recipes for a pair whose windows are in place."""
        table = self.entry(int(self.lookup.coarse[source]), int(self.lookup.coarse[target]))
        finer = self.entry(
            COARSE + int(self.lookup.fine[source]), COARSE + int(self.lookup.fine[target])
        )
        return {
            "2-way": lambda: self.searched((2,)),
            "1 cached": lambda: self.rescored(table[:1], two_way=False),
            "8 re-scored": lambda: self.rescored(table[:8], two_way=True),
            "32 re-scored": lambda: self.rescored(table, two_way=True),
            "finer, 1 cached": lambda: self.rescored(finer[:1], two_way=False),
            "finer, 8 re-scored": lambda: self.rescored(finer[:8], two_way=True),
            "finer, 32 re-scored": lambda: self.rescored(finer, two_way=True),
            "32 re-scored, else refined": lambda: self.refined(table),
            "32 re-scored, else search": lambda: self.where_needed(table),
            "finer, 32 re-scored, else search": lambda: self.where_needed(finer),
            "search, up to 3 ways": lambda: self.searched((2, 3)),
            "search, up to 4 ways": lambda: self.searched((2, 3, 4)),
        }


def reached(frames: Frames, pairs: np.ndarray) -> dict[str, Reached]:
    """Costs and times of every pair by every way."""
    searcher = Searcher(frames)
    found: dict[str, Reached] = {}
    for source, last in pairs:
        target = int(last) - LENGTH + 1
        searcher.place(int(source), target)
        for name, ask in searcher.ways(int(source), target).items():
            started = time.perf_counter()
            cost = ask()
            mine = found.setdefault(name, Reached())
            mine.seconds.append(time.perf_counter() - started)
            mine.scores.append(cost)
    return found


def graph_figures(frames: Frames, pairs: np.ndarray) -> tuple[list[Figure], np.ndarray]:
    """The graph at several thresholds, and the seconds of its ways at the one that is used."""
    figures, at = [], np.zeros(len(pairs))
    for threshold in THRESHOLDS_CM:
        started = time.perf_counter()
        graph = MotionGraph.build(frames, threshold_cm=threshold)
        built = time.perf_counter() - started
        started = time.perf_counter()
        paths = graph.paths(pairs[:, 0], pairs[:, 1])
        each = (time.perf_counter() - started) / len(pairs)
        seconds = np.array([np.inf if p is None else p.duration_s for p in paths])
        quick = float(np.mean(seconds <= 1.0))
        note = (
            f"{len(graph.transitions):,} transitions, {100 * graph.kept_share:.0f} % in the "
            f"largest part, {100 * np.isinf(seconds).mean():.1f} % without a way, "
            f"{100 * np.mean(seconds <= 2.0):.0f} % within 2 s, median way "
            f"{np.median(seconds):.2f} s; built in {built:.1f} s, {1e3 * each:.1f} ms a query"
        )
        figures.append(
            Figure(f"graph at {threshold:g} cm: pairs within 1 s", 100 * quick, "%", note=note)
        )
        if threshold == THRESHOLD_CM:
            at = seconds
    return figures, at


def figure_of(name: str, mine: Reached, graph_s: np.ndarray, takes: np.ndarray) -> Figure:
    made = quadrants_of(graph_s, mine.scores, limit=LIMIT_IN)
    alone = ~made.by_graph & ~made.by_table
    share = [alone[takes == take] for take in np.unique(takes)]
    drawn = bounds(
        np.arange(len(share)), lambda k: 1000 * np.concatenate([share[i] for i in k]).mean()
    )
    goal = 57.0 if "32" in name or "4 ways" in name else None
    return Figure(
        f"pairs that neither graph nor {name} joins",
        1000.0 * made.neither / len(graph_s),
        "of 1000",
        "paper",
        57.0,
        lower_is_better=True,
        value_goal=goal,
        note=f"{said(drawn)} over source takes; both {made.both}, table alone {made.table_only}, "
        f"graph alone {made.graph_only}; under {LIMIT_IN:g} in: "
        f"{100 * made.by_table.mean():.1f} %; {1e3 * np.median(mine.seconds):.2f} ms a query, mean "
        f"{1e3 * np.mean(mine.seconds):.1f}",
    )


def run(
    *, count: int | None = None, pictures: Path | None = None
) -> tuple[list[Figure], dict[str, object]]:
    """All figures, and what to say about them."""
    folder = mocap()
    if folder is None:
        return [], {"reach": "real clips not found (set MOTIONLOOM_MOCAP)"}
    plan = json.loads(PLAN.read_text())
    frames = frames_143(folder)
    asked = plan["pairs"][:count]
    pairs = np.array([[frames.row_of(a, s), frames.row_of(b, t)] for a, s, b, t in asked])
    takes = np.array([frames.clip_at(int(row)) for row in pairs[:, 0]])
    figures, graph_s = graph_figures(frames, pairs)
    found = reached(frames, pairs)
    figures += [figure_of(name, mine, graph_s, takes) for name, mine in found.items()]
    two, three, four = (
        np.array(found[name].scores)
        for name in ("2-way", "search, up to 3 ways", "search, up to 4 ways")
    )
    figures.append(
        Figure(
            "pairs that more ways score worse",
            float(np.sum((three > two) | (four > three))),
            f"of {len(pairs)}",
            lower_is_better=True,
            value_goal=0.0,
            note=f"median cost {np.median(two):.2f}, {np.median(three):.2f}, "
            f"{np.median(four):.2f} in with up to 2, 3, 4 ways",
        )
    )
    if pictures is not None:
        draw(pictures, found, graph_s)
    about: dict[str, object] = {
        "reach: labels": "none; the score that is minimised decides what counts as joined",
        "reach: pairs": f"{len(pairs)} of {PLAN.name}, seed {plan['seed']}",
    }
    return figures, about


def draw(folder: Path, found: dict[str, Reached], graph_s: np.ndarray) -> None:
    """Figure 4 for two ways of finding recipes, and bars of all."""
    folder.mkdir(parents=True, exist_ok=True)
    remark = (
        "CMU subject 143, 42 takes; graph at 8 cm rms; cost: the paper's sum of foot error and "
        "zero moment point. No labels: what is minimised decides what counts as joined."
    )
    made: dict[str, Quadrants] = {
        name: quadrants_of(graph_s, mine.scores, limit=LIMIT_IN) for name, mine in found.items()
    }
    for name in ("1 cached", "32 re-scored", "finer, 32 re-scored", "search, up to 4 ways"):
        canvas = draw_quadrants(made[name], remark=remark, title=f"Motion graph and table: {name}")
        file = "reach_" + name.replace(",", "").replace(" ", "_").replace("-", "_")
        save_canvas(canvas, folder / f"{file}.png", "png")
    bars = draw_reach({name: q.counts for name, q in made.items()}, remark=remark)
    save_canvas(bars, folder / "reach_ways.png", "png")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=None, help="only the first so many")
    parser.add_argument("--pictures", type=Path, default=None, help="folder to draw into")
    parser.add_argument("--draw", action="store_true", help="draw the pairs again and stop")
    options = parser.parse_args()
    folder = mocap()
    if options.draw and folder is not None:
        pairs = draw_pairs(frames_143(folder), 1000, 0)
        lines = ",\n  ".join(json.dumps(pair) for pair in pairs)
        about = "Source clip and frame, target clip and frame, of CMU 143 as loaded at 60 Hz."
        PLAN.write_text(
            f'{{\n "about": {json.dumps(about)},\n "seed": 0,\n "pairs": [\n  {lines}\n ]\n}}\n'
        )
        return 0
    figures, about = run(count=options.pairs, pictures=options.pictures)
    if options.pairs is None:
        write_report("transitions_reach", figures, about=about)
    else:
        from report import table

        print(table(figures))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
