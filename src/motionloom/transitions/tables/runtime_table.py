"""RuntimeTable: what a table must have to be asked for transitions; how its recipes are read."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt
from numba import njit

from motionloom._arrays import IntArray
from motionloom.transitions.collecting.frames import Frames
from motionloom.transitions.collecting.labels import Label
from motionloom.transitions.likeness.lookup import Lookup
from motionloom.transitions.likeness.neighbours import WindowIndex
from motionloom.transitions.scoring.columns import Ranking

__all__ = ["NO_RECIPE", "NO_WINDOW", "Labelled", "RuntimeTable", "fill_rows", "fill_slots"]

NO_WINDOW, NO_RECIPE = 255, 254
"""As in a table's ``between``: a recipe has fewer intermediaries; there is no recipe."""

IntArray32 = npt.NDArray[np.int32]


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


@njit(cache=True, error_model="numpy")
def fill_slots(
    between: npt.NDArray[np.uint8], k: int, target: int, captured: int, ids: IntArray32, first: int
) -> int:
    """Recipes as slots in the terms: over captured windows, the plain blend, and the table's.

    Slot ``k`` is the source's; those after ``target`` are the captured windows'. Returns how many
    rows of ``ids`` are filled.
    """
    n = first
    for m in range(captured):
        ids[n, 0], ids[n, 1], ids[n, 2], ids[n, 3] = k, target + 1 + m, target, -1
        n += 1
    ids[n, 0], ids[n, 1], ids[n, 2], ids[n, 3] = k, target, -1, -1
    n += 1
    for r in range(len(between)):
        if between[r, 0] == NO_RECIPE:
            break
        ids[n, 0], at = k, 1
        for m in range(2):
            if between[r, m] != NO_WINDOW:
                ids[n, at] = between[r, m]
                at += 1
        ids[n, at] = target
        for rest in range(at + 1, 4):
            ids[n, rest] = -1
        if at > 1:  # the plain blend is there already
            n += 1
    return n


@njit(cache=True, error_model="numpy")
def fill_rows(
    between: npt.NDArray[np.uint8], medoids: IntArray, source: int, target: int, rows: IntArray
) -> int:
    """Recipes as first rows of their windows, and last the plain blend; returns how many."""
    n = 0
    for r in range(len(between)):
        if between[r, 0] == NO_RECIPE:
            break
        at = 1
        for m in range(2):
            if between[r, m] != NO_WINDOW:
                rows[n, at] = medoids[between[r, m]]
                at += 1
        rows[n, 0], rows[n, at] = source, target
        n += 1
    rows[n, 0], rows[n, 1] = source, target
    return n + 1
