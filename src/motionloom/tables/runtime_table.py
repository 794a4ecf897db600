"""RuntimeTable: what a table must have to be asked for transitions; how its recipes are read."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from motionloom._arrays import IntArray
from motionloom._core import kernel
from motionloom.tables.collection.frames import Frames
from motionloom.tables.collection.labels import Label
from motionloom.tables.index.lookup import Lookup
from motionloom.tables.index.neighbours import WindowIndex
from motionloom.tables.score.columns import Ranking

__all__ = ["NO_RECIPE", "NO_WINDOW", "Labelled", "RuntimeTable", "fill_rows"]

NO_WINDOW, NO_RECIPE = 255, 254
"""As in a table's ``between``: a recipe has fewer intermediaries; there is no recipe."""

IntArray32 = npt.NDArray[np.int32]

_rows = kernel("ml_table_rows")


class Labelled(Protocol):
    """A collection as far as labels go."""

    @property
    def labels(self) -> tuple[Label, ...]:
        """What was annotated."""

    def label_rows(self, label: str) -> IntArray:
        """Rows of every frame that carries a label."""


class RuntimeTable(Protocol):
    """What a table must have to be asked for transitions; ``TransitionTable`` has it."""

    @property
    def length(self) -> int:
        """Frames of a window."""

    @property
    def family(self) -> str:
        """Weights of the blends that it was searched with."""

    @property
    def medoids(self) -> IntArray:
        """First rows of the intermediaries. (K,)."""

    @property
    def ends(self) -> IntArray:
        """First rows of the representatives. (E,)."""

    @property
    def between(self) -> npt.NDArray[np.uint8]:
        """Intermediaries of the recipes between representatives, best first. (E, E, R, 2)."""

    @property
    def costs(self) -> npt.NDArray[np.float16]:
        """Costs of the first of them. (E, E, C)."""

    @property
    def lookup(self) -> Lookup:
        """The representative that every window is nearest to."""

    @property
    def collection(self) -> Labelled:
        """Where labels come from."""

    @property
    def frames(self) -> Frames:
        """Every frame of the collection."""

    @property
    def neighbours(self) -> WindowIndex:
        """The index of captured windows."""

    @property
    def ranking(self) -> Ranking:
        """What is best."""


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
