"""Ways to find recipes between two windows: cached, re-scored, refined, searched, or by a table."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

import motionloom as ml
from motionloom.tables.collection.frames import Frames
from motionloom.tables.index.clusters import Lookup, find_clusters, find_lookup
from motionloom.tables.score.columns import PAPER, score_recipes
from motionloom.tables.score.terms import Terms, TermSource, term_source, terms_of
from motionloom.tables.search.pair_search import NONE, refine_recipe
from motionloom.tables.search.search import search_pair

LENGTH = 60
LIMIT_IN = 6.0
COARSE, FINE = 50, 200
KEPT = 32


@dataclass
class Reached:
    """One way to find recipes: cost and time of every pair."""

    scores: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    natural: list[bool] = field(default_factory=list)
    """The table's score, where it was computed."""

    def take(self, ask: Callable[[], float]) -> None:
        """Ask for one more pair."""
        started = time.perf_counter()
        cost = ask()
        self.seconds.append(time.perf_counter() - started)
        self.scores.append(cost)


class Searcher:
    """Costs of transitions between rows by each way of finding recipes."""

    def __init__(self, frames: Frames, family: str) -> None:
        self.coarse = find_clusters(frames, length=LENGTH, clusters=COARSE).medoids
        self.fine = find_clusters(frames, length=LENGTH, clusters=FINE, method="means").medoids
        self.lookup: Lookup = find_lookup(frames, self.coarse, self.fine, length=LENGTH)
        # Two more places at the end take the windows of the pair that is asked for.
        rows = np.concatenate([self.coarse, self.fine, self.coarse[:2]])
        self.terms: Terms = terms_of(frames, rows, LENGTH, family=family)
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
            entries = search_pair(self.terms, i, j, self.between, keep=KEPT)
            self.entries[i, j] = entries.recipes[0][np.isfinite(entries.costs[0])]
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
        """Cached recipes; where none is good, the best one's intermediaries exchanged in turn."""
        best, _ = self.best(self.asked(recipes, two_way=True))
        return refine_recipe(self.terms, best, self.anything, good=LIMIT_IN).cost

    def where_needed(self, recipes: np.ndarray) -> float:
        """Cached recipes; where none is good, the search of all."""
        cost = self.rescored(recipes, two_way=True)
        return cost if cost < LIMIT_IN else min(cost, self.searched((2, 3, 4)))

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
            "finer, 32 re-scored, else refined": lambda: self.refined(finer),
            "32 re-scored, else search": lambda: self.where_needed(table),
            "search, up to 3 ways": lambda: self.searched((2, 3)),
            "search, up to 4 ways": lambda: self.searched((2, 3, 4)),
        }


def reached(frames: Frames, pairs: np.ndarray, *, family: str) -> dict[str, Reached]:
    """Costs and times of every pair by every way."""
    searcher = Searcher(frames, family)
    by_way: dict[str, Reached] = {}
    for source, last in pairs:
        target = int(last) - LENGTH + 1
        searcher.place(int(source), target)
        for name, ask in searcher.ways(int(source), target).items():
            by_way.setdefault(name, Reached()).take(ask)
    return by_way


def reached_by_table(table: ml.TransitionTable, asked: list[list]) -> dict[str, Reached]:
    """Costs and times, making the motion included, of a table's own transitions."""
    name = f"a table by {table.settings['score']}"
    ways = {
        f"{name}, not re-scored": {"rescore": 0},
        f"{name}, re-scored": {},
        f"{name}, refined": {"search": "refine"},
        f"{name}, search": {"search": True},
    }
    by_way = {name: Reached() for name in ways}
    for a, s, b, t in asked:
        for name, options in ways.items():

            def ask(options: dict = options) -> float:
                score = table.transition((a, s), (b, t), **options).score  # noqa: B023
                by_way[name].natural.append(score.natural)  # noqa: B023
                return score.total

            by_way[name].take(ask)
    return by_way
