"""Met windows: terms of a table's medoids, and of the windows that questions bring with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray, IntArray
from motionloom._core import kernel
from motionloom.transitions.collecting.frames import FloatArray32, Frames
from motionloom.transitions.making.recipe import MOST_WAYS
from motionloom.transitions.scoring.columns import COLUMNS, Ranking
from motionloom.transitions.scoring.kernel import judge_of, score_into, scratch_of
from motionloom.transitions.scoring.reference import Reference, reference_of
from motionloom.transitions.scoring.terms import build_terms, term_source
from motionloom.transitions.searching.best_blend import best_blend, weighing_of
from motionloom.transitions.tables.runtime_table import IntArray32

__all__ = ["WIDE", "Choice", "MetWindows"]

WIDE = 32
"""Slots beside the medoids for windows met at run time."""

_slots = kernel("ml_table_slots")


class Choice(NamedTuple):
    """Recipes that were looked at, the best first."""

    rows: IntArray
    """First rows of their windows, source first, then -1 where there are fewer. (n, 4)"""
    costs: FloatArray
    """By the table's ranking; nan where a recipe was found not to be the best before all was
    known. (n,)"""
    columns: FloatArray32
    """What was measured of each, see :data:`~motionloom.transitions.scoring.columns.COLUMNS`; nan
    where a recipe was not judged in full. (n, C)"""
    ranked: int
    """How many of the first are in order."""

    def windows(self, number: int) -> tuple[int, ...]:
        """First rows of one recipe's windows."""
        return tuple(row for row in self.rows[number].tolist() if row >= 0)


class MetWindows:
    """Windows by slots: a table's medoids first, then those met at run time.

    Parameters
    ----------
    frames, medoids, length
        The collection, and first rows of the windows that are always there.
    ranking, family
        What is best, and the weights of the blends.
    most
        Recipes that are looked at in one question, at most.
    """

    def __init__(
        self,
        frames: Frames,
        medoids: IntArray,
        length: int,
        *,
        ranking: Ranking,
        family: str,
        most: int,
    ) -> None:
        self.first = len(medoids)
        self.ranking = ranking
        self.terms = build_terms(frames, self.first + WIDE, length, family=family)
        self._source = term_source(frames)
        self.slots = np.concatenate([medoids, np.full(WIDE, -1)])
        for slot, row in enumerate(medoids):
            self.terms.put(self._source, slot, int(row))
        self._judge, self._scratch = judge_of(self.terms), scratch_of(self.terms)
        self._weighing = weighing_of(ranking, self.terms)
        self._ids = np.full((most, MOST_WAYS), -1, dtype=np.int32)
        self._count = np.zeros(1, dtype=np.int64)
        self._unknown = np.full((most, len(COLUMNS)), np.nan, dtype=np.float32)

    def put(self, slot: int, row: int) -> None:
        """Make the window from ``row`` the one in a slot, if it is not."""
        if self.slots[slot] != row:
            self.terms.put(self._source, slot, row)
            self.slots[slot] = row

    def best(
        self,
        between: npt.NDArray[np.uint8],
        source: int,
        targets: IntArray,
        ends: IntArray,
        captured: IntArray,
        share: int,
    ) -> Choice:
        """The best of the table's recipes and of those that are always tried; others after it.

        Parameters
        ----------
        between
            Recipes between representatives. (E, E, R, 2)
        source, targets
            First rows of the windows; of one source, and of targets (n,).
        ends
            Representatives of the source and of the targets. (1 + n,)
        captured
            First rows of windows to try as intermediaries, where there is one target. (m,)
        share
            Recipes of the table for each target.
        """
        n_ends, _, n_recipes, _ = between.shape
        _slots(
            n_ends, n_recipes, between, self.first, len(targets), ends, len(captured), share,
            len(self._ids), self._ids, self._count,
        )  # fmt: skip
        count = int(self._count[0])
        others = captured.tolist()
        self.put(self.first, source)
        for n, target in enumerate(targets.tolist()):
            slot = self.first + 1 + n * (1 + len(others))
            self.put(slot, target)
            for m, row in enumerate(others):
                self.put(slot + 1 + m, row)
        ids = self._ids[:count]
        best, cost = best_blend(self._judge, self._scratch, self._weighing, ids)
        best = max(best, 0)
        ids = np.concatenate([ids[best : best + 1], ids[:best], ids[best + 1 :]])
        rows = np.where(ids >= 0, self.slots[ids], -1)
        costs, columns = np.full(count, np.nan), self._unknown[:count].copy()
        costs[0], columns[0] = cost, self._weighing.best
        return Choice(rows, costs, columns, 1)

    def judge(self, recipes: Sequence[tuple[int, ...]]) -> Choice:
        """Any recipes by the first rows of their windows, best first.

        At most 32 different windows beside the medoids.
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
        return self.judge_slots(ids)

    def reference(self, windows: Sequence[int]) -> Reference:
        """How the first and the last window of a recipe move, by first rows."""
        self.put(self.first, windows[0])
        self.put(self.first + 1, windows[-1])
        return reference_of(self.terms, [[self.first, self.first + 1]])

    def judge_slots(self, ids: IntArray32) -> Choice:
        """Recipes as slots (n, 4), then -1, judged in full; best first."""
        columns = np.zeros((len(ids), len(COLUMNS)), dtype=np.float32)
        score_into(self._judge, self._scratch, ids, columns)
        costs = np.asarray(self.ranking.cost(columns), dtype=np.float64)
        costs[np.isnan(costs)] = np.inf
        order = np.argsort(costs, kind="stable")
        rows = self.slots[ids]
        rows[ids < 0] = -1
        return Choice(rows[order], costs[order], columns[order], len(ids))
