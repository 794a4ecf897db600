"""Recipe times: the time alignment of every cached recipe, as a table's file holds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom._arrays import IntArray
from motionloom.errors import ArrayError
from motionloom.tables.paper.time_alignment import LONGEST
from motionloom.tables.paper.warped_terms import FAMILY_NUMBERS
from motionloom.tables.score.recipe import MOST_WAYS
from motionloom.tables.table_file import TableFile

PAPER_ARRAYS = ("paper.firsts", "paper.times", "paper.families")
_FAMILIES = tuple(FAMILY_NUMBERS)


class RecipeTimes(NamedTuple):
    """Frames of the windows of every recipe that go together, and how the windows are weighed."""

    firsts: npt.NDArray[np.uint32]
    """First of the frames of each pair of representatives, and their number. (E * E + 1,)"""
    times: npt.NDArray[np.uint16]
    """Frame of every window at every frame of the blend, pair by pair. (F, 4)"""
    families: npt.NDArray[np.uint8]
    """Family of the weights. (E, E)"""

    @classmethod
    def of_file(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> RecipeTimes:
        """From the named arrays of a table file."""
        return cls(*(arrays[name] for name in PAPER_ARRAYS))

    @classmethod
    def of_entries(cls, entries: Sequence[IntArray], families: npt.ArrayLike) -> RecipeTimes:
        """From the times (L, N) of every pair, and the numbers of their families (E, E)."""
        firsts = np.cumsum([0, *map(len, entries)])
        times = np.zeros((int(firsts[-1]), MOST_WAYS), dtype=np.uint16)
        for first, entry in zip(firsts[:-1].tolist(), entries, strict=True):
            if entry.max(initial=0) > np.iinfo(np.uint16).max:
                raise ArrayError(
                    "A window of the papers' table must have fewer than 65,536 frames."
                )
            times[first : first + len(entry), : entry.shape[1]] = entry
        return cls(firsts.astype(np.uint32), times, np.asarray(families, dtype=np.uint8))

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays by name, for a file."""
        return dict(zip(PAPER_ARRAYS, self, strict=True))

    def entry(self, source: int, target: int, n_ways: int) -> tuple[IntArray, str]:
        """Times (L, N) of the recipe between two representatives, and the family of its weights."""
        pair = source * len(self.families) + target
        first, last = (int(k) for k in self.firsts[pair : pair + 2])
        times = np.asarray(self.times[first:last, :n_ways], dtype=np.int64)
        return times, _FAMILIES[int(self.families[source, target])]

    def lengths(self) -> IntArray:
        """Frames of the blend of every pair. (E, E)."""
        firsts = self.firsts.astype(np.int64)
        return np.asarray(firsts[1:] - firsts[:-1]).reshape(self.families.shape)


def check_recipe_times(file: TableFile, length: int, n_ends: int) -> None:
    """Check kind, shape and every value of the arrays of the papers' table.

    Parameters
    ----------
    file
        The table.
    length, n_ends
        Frames of a window, and representatives.

    Raises
    ------
    TableError
        An array is missing or of another kind or shape, or a value is out of its range.
    """
    firsts = file.array("paper.firsts", "<u4", (n_ends * n_ends + 1,)).astype(np.int64)
    times = file.array("paper.times", "<u2", (None, MOST_WAYS))
    families = file.array("paper.families", "|u1", (n_ends, n_ends))
    counts = np.diff(firsts)
    if firsts[0] != 0 or firsts[-1] != len(times) or (counts < 2).any():
        raise file.damaged("the times of its recipes must follow one another")
    if (counts > LONGEST * length).any() or (len(times) and int(times.max()) >= length):
        raise file.damaged(f"the times of its recipes must be frames of windows of {length} frames")
    steps = np.diff(times.astype(np.int32), axis=0)
    inside = np.ones(len(steps), dtype=bool)
    inside[firsts[1:-1] - 1] = False
    if ((steps < 0) | (steps > 1))[inside].any():
        raise file.damaged("the times of a recipe must go on by no frame or one")
    if (families >= len(_FAMILIES)).any():
        raise file.damaged("a recipe has weights of an unknown family")
