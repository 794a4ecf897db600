"""Choice: the recipes compared for a transition, in order, as Python and the core hold them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom._core import Record, integer, kernel, record
from motionloom.features.checks.verification import MOST_FOUND
from motionloom.tables.collection.frames import FloatArray32, Frames
from motionloom.tables.index.neighbours import CAPTURED
from motionloom.tables.score.columns import COLUMNS, Ranking, score_into, scratch_of, terms_record
from motionloom.tables.score.natural import Reference, reference_of
from motionloom.tables.score.recipe import MOST_WAYS
from motionloom.tables.score.terms import IntArray32, build_terms, term_source
from motionloom.tables.search.pair_search import NONE, refine_recipe, weighing_of
from motionloom.tables.search.search import search_pair
from motionloom.tables.synthesis.synthesis import Synthesis
from motionloom.tables.table_places import TARGETS

PINNED = integer("ML_TABLE_PINNED")
"""Pinned windows that are tried for one source and target."""
MORE = integer("ML_TABLE_SPARE")
"""Recipes that may be scored together with those of a query."""


class Choice(NamedTuple):
    """Recipes that were looked at, the best first."""

    rows: IntArray
    """First rows of their windows, source first, then -1 where there are fewer. (n, 4)"""
    costs: FloatArray
    """By the table's ranking; nan where a recipe was found not to be the best before all was
    known. (n,)"""
    columns: FloatArray32
    """What was measured of each, see :data:`~motionloom.tables.score.columns.COLUMNS`; nan
    where a recipe was not scored in full. (n, C)"""
    ranked: int
    """How many of the first are in order."""
    pinned: BoolArray | None = None
    """Whether each goes along captured windows that are pinned at both ends; None where none does.
    (n,)"""

    def windows(self, number: int) -> tuple[int, ...]:
        """First rows of one recipe's windows."""
        return tuple(row for row in self.rows[number].tolist() if row >= 0)

    def key(self, number: int) -> tuple[int, ...]:
        """First rows of one recipe's windows, -1 where there are fewer, and 1 if pinned."""
        return (*self.rows[number].tolist(), int(self.is_pinned(number)))

    def is_pinned(self, number: int) -> bool:
        """Whether a recipe goes along captured windows that are pinned at both ends."""
        return self.pinned is not None and bool(self.pinned[number])

    def all_windows(self) -> list[tuple[int, ...]]:
        """First rows of every blend's windows; pinned recipes are no blends."""
        return [self.windows(n) for n in range(len(self.rows)) if not self.is_pinned(n)]

    def only(self, number: int) -> Choice:
        """The choice of one recipe alone."""
        at = slice(number, number + 1)
        pinned = None if self.pinned is None else self.pinned[at]
        return Choice(self.rows[at], self.costs[at], self.columns[at], 1, pinned)

    def find(self, key: tuple[int, ...]) -> int:
        """Number of a recipe by its :meth:`key`."""
        return next(n for n in range(len(self.rows)) if self.key(n) == key)

    def without(self, keys: Collection[tuple[int, ...]]) -> Choice:
        """The recipes whose :meth:`key` is none of ``keys``; all of them are in order."""
        numbers = [n for n in range(len(self.rows)) if self.key(n) not in keys]
        pinned = None if self.pinned is None else self.pinned[numbers]
        parts = (self.rows[numbers], self.costs[numbers], self.columns[numbers])
        return Choice(*parts, len(numbers), pinned)

    def only_pinned(self) -> Choice:
        """The recipes that go along captured windows."""
        numbers = [n for n in range(len(self.rows)) if self.is_pinned(n)]
        parts = (self.rows[numbers], self.costs[numbers], self.columns[numbers])
        return Choice(*parts, len(numbers), np.ones(len(numbers), dtype=np.bool_))


def merged(choices: Sequence[Choice]) -> Choice:
    """Several choices as one, in order of cost."""
    rows = np.concatenate([each.rows for each in choices])
    costs = np.concatenate([each.costs for each in choices])
    columns = np.concatenate([each.columns for each in choices])
    pinned = np.concatenate(
        [np.zeros(len(c.rows), np.bool_) if c.pinned is None else c.pinned for c in choices]
    )
    order = np.argsort(costs, kind="stable")
    return Choice(rows[order], costs[order], columns[order], len(rows), pinned[order])


def most_recipes(per_pair: int) -> int:
    """Recipes of one query at most, in a table with ``per_pair`` recipes of each pair."""
    return TARGETS * (per_pair + CAPTURED + PINNED + 1) + MORE


def new_choice(most: int) -> Record:
    """An empty choice of up to ``most`` recipes, for the core to fill."""
    return record(
        "ml_choice",
        most=most,
        count=0,
        ranked=0,
        rows=np.full((most, MOST_WAYS), -1, dtype=np.int64),
        costs=np.zeros(most),
        columns=np.zeros((most, len(COLUMNS)), dtype=np.float32),
        pinned=np.zeros(most, dtype=np.bool_),
    )


def fill_choice(filled: Record, choice: Choice) -> None:
    """Write a choice into a record, which is large enough."""
    n = len(choice.rows)
    filled.rows[:n], filled.costs[:n], filled.columns[:n] = (
        choice.rows,
        choice.costs,
        choice.columns,
    )
    filled.pinned[:n] = False if choice.pinned is None else choice.pinned
    filled.count, filled.ranked = n, choice.ranked


def record_of(choice: Choice) -> Record:
    """A choice as the core takes it."""
    filled = new_choice(len(choice.rows))
    fill_choice(filled, choice)
    return filled


def choice_of(filled: Record) -> Choice:
    """A copy of the choice in a record that the core filled."""
    n = filled.count
    return Choice(
        filled.rows[:n].copy(),
        filled.costs[:n].copy(),
        filled.columns[:n].copy(),
        filled.ranked,
        filled.pinned[:n].copy(),
    )


_rows = kernel("ml_table_rows")


def fill_rows(
    between: npt.NDArray[np.uint8], medoids: IntArray, source: int, target: int, rows: IntArray
) -> int:
    """Recipes as first rows of their windows, and last the plain blend; returns how many.

    Parameters
    ----------
    between : (R, 2)
        Intermediaries of recipes, best first.
    medoids : (K,)
        First rows of the intermediaries.
    source, target
        First rows of the windows to go from and to.
    rows : (R + 1, 4)
        Filled; -1 where a recipe has fewer windows.
    """
    count = np.zeros(1, dtype=np.int64)
    _rows(len(between), between, len(medoids), medoids, source, target, rows, count)
    return int(count[0])


WIDE = integer("ML_TABLE_WIDE")
"""Slots for windows of queries, after the slots of the medoids."""


class WindowSlots:
    """Windows by slots: a table's medoids first, then those of queries.

    Parameters
    ----------
    frames, medoids, length
        The collection, and first rows of the windows that keep their slots.
    ranking, family
        What is best, and the weights of the blends.
    masses : (S,)
        Parts of body mass; Winter's by default.
    """

    def __init__(
        self,
        frames: Frames,
        medoids: IntArray,
        length: int,
        *,
        ranking: Ranking,
        family: str,
        masses: FloatArray | None = None,
    ) -> None:
        self.first = len(medoids)
        self.ranking = ranking
        self.terms = build_terms(frames, self.first + WIDE, length, family=family, masses=masses)
        self._source = term_source(frames, masses=masses)
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
        """Put the window from ``row`` into a slot, unless it is there."""
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


def new_frames(most: int, n_joints: int) -> Record:
    """Memory for up to ``most`` frames, for the core to fill."""
    return record(
        "ml_frames",
        most=most,
        n_frames=0,
        n_joints=n_joints,
        heading=np.zeros(most),
        root=np.zeros((most, 3)),
        quats=np.zeros((most, n_joints, 4)),
        planted=np.zeros((most, 4), dtype=np.bool_),
    )


def frames_of(synthesis: Synthesis) -> Record:
    """Frames of a recipe as the core takes them."""
    n_frames, n_joints = synthesis.local_quats.shape[:2]
    return record(
        "ml_frames",
        most=n_frames,
        n_frames=n_frames,
        n_joints=n_joints,
        heading=synthesis.heading,
        root=synthesis.root_positions,
        quats=synthesis.local_quats,
        planted=synthesis.planted,
    )


def synthesis_of(filled: Record, errors: FloatArray) -> Synthesis:
    """The frames that the core filled; ``errors`` (2,) are of feet and of a held ankle, metres."""
    return Synthesis(
        filled.heading,
        filled.root,
        filled.quats,
        filled.planted,
        float(errors[0]),
        float(errors[1]),
    )


def best_outputs() -> tuple[IntArray, BoolArray, FloatArray, FloatArray, IntArray]:
    """Memory for what ``ml_table_best`` returns next to frames.

    The number of the recipe taken, whether its feet are held, its errors, what the check found.
    """
    return (
        np.zeros(1, dtype=np.int64),
        np.zeros(1, dtype=np.bool_),
        np.zeros(2),
        np.zeros((MOST_FOUND, 5)),
        np.zeros(1, dtype=np.int64),
    )
