"""WindowSlots: terms of a table's medoids, and of the windows that queries bring with them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from motionloom._arrays import IntArray
from motionloom._core import Record
from motionloom.tables.collection.frames import Frames
from motionloom.tables.query_records import Choice
from motionloom.tables.score.columns import COLUMNS, Ranking, score_into, scratch_of, terms_record
from motionloom.tables.score.natural import Reference, reference_of
from motionloom.tables.score.recipe import MOST_WAYS
from motionloom.tables.score.terms import IntArray32, build_terms, term_source
from motionloom.tables.search.refine import refine_recipe, weighing_of
from motionloom.tables.search.search import NONE, search_pair

__all__ = ["WIDE", "WindowSlots"]

WIDE = 32
"""Slots for windows of queries, after those of the medoids."""


class WindowSlots:
    """Windows by slots: a table's medoids first, then those of queries.

    Parameters
    ----------
    frames, medoids, length
        The collection, and first rows of the windows that keep their slots.
    ranking, family
        What is best, and the weights of the blends.
    """

    def __init__(
        self,
        frames: Frames,
        medoids: IntArray,
        length: int,
        *,
        ranking: Ranking,
        family: str,
    ) -> None:
        self.first = len(medoids)
        self.ranking = ranking
        self.terms = build_terms(frames, self.first + WIDE, length, family=family)
        self._source = term_source(frames)
        self.slots = np.concatenate([medoids, np.full(WIDE, -1)])
        for slot, row in enumerate(medoids):
            self.terms.put(self._source, slot, int(row))
        self._record, self._scratch = terms_record(self.terms), scratch_of(self.terms)

    def records(self) -> dict[str, Record]:
        """Terms, and memory to score blends in, as the core takes them."""
        terms = self.terms
        return {
            "term_source": self._source.record,
            "term_slots": self._source.slots(terms.length, terms.pad, terms.fps, terms.arrays),
            "terms": self._record,
            "scratch": self._scratch,
            "weighing": weighing_of(self.ranking, terms),
        }

    def put(self, slot: int, row: int) -> None:
        """Make the window from ``row`` the one in a slot, if it is not."""
        if self.slots[slot] != row:
            self.terms.put(self._source, slot, row)
            self.slots[slot] = row

    def score(self, recipes: Sequence[tuple[int, ...]]) -> Choice:
        """Any recipes by the first rows of their windows, best first.

        At most 32 different windows that are no medoids.
        """
        slots = {row: n for n, row in enumerate(self.slots[: self.first].tolist())}
        ids = np.full((len(recipes), MOST_WAYS), -1, dtype=np.int32)
        used = self.first
        for n, recipe in enumerate(recipes):
            for i, row in enumerate(recipe):
                if row not in slots:
                    slots[row] = used
                    self.put(used, row)
                    used += 1
                ids[n, i] = slots[row]
        return self.score_slots(ids)

    def search(self, source: int, target: int, captured: IntArray) -> Choice:
        """The best of all recipes over the medoids, and of those over captured windows."""
        k = self.first
        for slot, row in enumerate([source, target, *captured.tolist()], start=k):
            self.put(slot, row)
        chunk = search_pair(self.terms, k, k + 1, np.arange(k), ranking=self.ranking)
        recipes = chunk.recipes[0][np.isfinite(chunk.costs[0])]
        ids = [[-1 if i == NONE else int(i) for i in recipe] for recipe in recipes]
        ids += [[k, k + 2 + m, k + 1, -1] for m in range(len(captured))]
        return self.score_slots(np.array([*ids, [k, k + 1, -1, -1]], dtype=np.int32))

    def refine(self, windows: tuple[int, ...]) -> tuple[int, ...]:
        """A recipe with its intermediaries exchanged as long as that makes it cheaper."""
        for slot, row in enumerate(windows, start=self.first):
            self.put(slot, row)
        ids, others = self.first + np.arange(len(windows)), np.arange(self.first)
        refined = refine_recipe(self.terms, ids, others, ranking=self.ranking)
        return tuple(self.slots[refined.ids[refined.ids >= 0]].tolist())

    def reference(self, windows: Sequence[int]) -> Reference:
        """How the first and the last window of a recipe move, by first rows."""
        self.put(self.first, windows[0])
        self.put(self.first + 1, windows[-1])
        return reference_of(self.terms, [[self.first, self.first + 1]])

    def score_slots(self, ids: IntArray32) -> Choice:
        """Recipes as slots (n, 4), then -1, scored in full; best first."""
        columns = np.zeros((len(ids), len(COLUMNS)), dtype=np.float32)
        score_into(self._record, self._scratch, ids, columns)
        costs = np.asarray(self.ranking.cost(columns), dtype=np.float64)
        costs[np.isnan(costs)] = np.inf
        order = np.argsort(costs, kind="stable")
        rows = self.slots[ids]
        rows[ids < 0] = -1
        return Choice(rows[order], costs[order], columns[order], len(ids))
