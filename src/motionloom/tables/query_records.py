"""Records of a query: the recipes that it chooses among and the frames that the core fills."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray, IntArray
from motionloom._core import Record, kernel, record
from motionloom.tables.collection.clip_frames import FloatArray32
from motionloom.tables.index.neighbours import CAPTURED
from motionloom.tables.label_targets import TARGETS
from motionloom.tables.score.columns import COLUMNS
from motionloom.tables.score.recipe import MOST_WAYS
from motionloom.tables.synthesis.synthesis import Synthesis

__all__ = [
    "Choice",
    "choice_of",
    "fill_rows",
    "merged",
    "most_recipes",
    "new_choice",
    "new_frames",
    "record_of",
    "synthesis_of",
]

_rows = kernel("ml_table_rows")

MORE = 8
"""Recipes that may be scored together with those of a query; as in core/src/table.h."""


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

    def windows(self, number: int) -> tuple[int, ...]:
        """First rows of one recipe's windows."""
        return tuple(row for row in self.rows[number].tolist() if row >= 0)

    def all_windows(self) -> list[tuple[int, ...]]:
        """First rows of every recipe's windows."""
        return [self.windows(number) for number in range(len(self.rows))]


def most_recipes(per_pair: int) -> int:
    """Recipes of one query at most, of a table with so many recipes per pair."""
    return TARGETS * (per_pair + CAPTURED + 1) + MORE


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
    filled = new_choice(max(most, n))
    filled.rows[:n], filled.costs[:n], filled.columns[:n] = (
        choice.rows,
        choice.costs,
        choice.columns,
    )
    filled.struct.count, filled.struct.ranked = n, choice.ranked
    return filled


def choice_of(filled: Record) -> Choice:
    """The choice that the core has filled."""
    n = filled.struct.count
    return Choice(filled.rows[:n], filled.costs[:n], filled.columns[:n], filled.struct.ranked)


def merged(choices: Sequence[Choice]) -> Choice:
    """Choices in order, as one in order."""
    rows = np.concatenate([each.rows for each in choices])
    costs = np.concatenate([each.costs for each in choices])
    columns = np.concatenate([each.columns for each in choices])
    order = np.argsort(costs, kind="stable")
    return Choice(rows[order], costs[order], columns[order], len(rows))


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


def new_frames(most: int, n_joints: int) -> Record:
    """Up to so many frames, for the core to fill."""
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


def synthesis_of(filled: Record, errors: FloatArray) -> Synthesis:
    """What the core has filled, with its foot error and how far a held ankle missed. (2,)."""
    return Synthesis(
        filled.heading,
        filled.root,
        filled.quats,
        filled.planted,
        float(errors[0]),
        float(errors[1]),
    )
