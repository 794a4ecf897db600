"""Choice: recipes that were looked at, the best first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom._core import Record, record
from motionloom.tables.collection.frames import FloatArray32
from motionloom.tables.index.captured import CAPTURED
from motionloom.tables.label_targets import TARGETS
from motionloom.tables.score.columns import COLUMNS
from motionloom.tables.score.recipe import MOST_WAYS

__all__ = ["Choice", "choice_of", "most_recipes", "new_choice", "record_of"]

MORE = 8
"""Recipes that may be judged together with those of a question; as in core/src/table.h."""


class Choice(NamedTuple):
    """Recipes that were looked at, the best first."""

    rows: IntArray
    """First rows of their windows, source first, then -1 where there are fewer. (n, 4)"""
    costs: FloatArray
    """By the table's ranking; nan where a recipe was found not to be the best before all was
    known. (n,)"""
    columns: FloatArray32
    """What was measured of each, see :data:`~motionloom.tables.score.columns.COLUMNS`; nan
    where a recipe was not judged in full. (n, C)"""
    ranked: int
    """How many of the first are in order."""

    def windows(self, number: int) -> tuple[int, ...]:
        """First rows of one recipe's windows."""
        return tuple(row for row in self.rows[number].tolist() if row >= 0)


def most_recipes(kept: int) -> int:
    """Recipes of one question at most, of a table that keeps so many of a pair."""
    return TARGETS * (kept + CAPTURED + 1) + MORE


def new_choice(most: int) -> Record:
    """An empty choice of up to so many recipes, for the core to fill."""
    return record(
        "ml_choice",
        most=most,
        count=0,
        ranked=0,
        rows=np.full((most, MOST_WAYS), -1, dtype=np.int64),
        costs=np.zeros(most),
        columns=np.zeros((most, len(COLUMNS)), dtype=np.float32),
    )


def record_of(choice: Choice, most: int) -> Record:
    """A choice as the core takes it; ``most`` recipes fit into it, or as many as it has."""
    n = len(choice.rows)
    made = new_choice(max(most, n))
    made.rows[:n], made.costs[:n], made.columns[:n] = choice.rows, choice.costs, choice.columns
    made.struct.count, made.struct.ranked = n, choice.ranked
    return made


def choice_of(filled: Record) -> Choice:
    """What the core has filled."""
    n = filled.struct.count
    return Choice(filled.rows[:n], filled.costs[:n], filled.columns[:n], filled.struct.ranked)
