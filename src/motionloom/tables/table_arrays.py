"""The arrays of a table: checked before anything follows an index in them; targets of labels."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray, IntArray, of_kind
from motionloom.errors import TableError
from motionloom.tables.collection.collection import Collection
from motionloom.tables.collection.labels import Label, label_pieces
from motionloom.tables.index.lookup import NOWHERE, Lookup
from motionloom.tables.paper.recipe_times import PAPER_ARRAYS, check_recipe_times
from motionloom.tables.score.recipe import Recipe
from motionloom.tables.table_file import TableFile

NO_WINDOW, NO_RECIPE = 255, 254
"""In ``between``: the recipe has fewer intermediaries; there is no recipe."""

ARRAYS = (
    *("medoids", "fine_medoids", "between", "costs"),
    *("lookup.coarse", "lookup.fine", "lookup.coarse_distance", "lookup.fine_distance"),
)
BLOCK = 1 << 18
RecipeForm = tuple[int, str]
"""Frames of a recipe, and the family of its weights."""
HALF_EXPONENT = 0x7C00
"""Bits of a half-precision number that are all set where it is infinite or no number."""
HALF_SIGN = 0x8000


class Entry(NamedTuple):
    """The best recipes between two windows, the best first.

    Attributes
    ----------
    source : int
        Number of the representative that the source window is nearest to.
    target : int
        The same of the target window.
    recipes : tuple of Recipe
        The recipes, best first.
    costs : array
        Costs of the first few of them, between the representatives. (C,)
    """

    source: int
    target: int
    recipes: tuple[Recipe, ...]
    costs: FloatArray

    def __repr__(self) -> str:
        return f"Entry({self.source} to {self.target}: {len(self.recipes)} recipes)"


class TableArrays(NamedTuple):
    """Representatives, and the recipes between them."""

    medoids: IntArray
    """First rows of the clusters' medoids, the intermediaries of recipes. (K,)"""
    ends: IntArray
    """First rows of the representatives that sources and targets are looked up among. (E,)"""
    between: npt.NDArray[np.uint8]
    """Clusters between source and target of every recipe, the best recipe first; ``NO_WINDOW``
    where there are fewer, ``NO_RECIPE`` where there is none. (E, E, R, 2)"""
    costs: npt.NDArray[np.float16]
    """Costs of the first few recipes. (E, E, C)"""
    lookup: Lookup
    """The cluster and the representative of the window that starts at every row."""

    @classmethod
    def of_file(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> TableArrays:
        """From the named arrays of a table file; large ones stay mapped."""
        names = ("coarse", "fine", "coarse_distance", "fine_distance")
        return cls(
            arrays["medoids"].astype(np.int64),
            arrays["fine_medoids"].astype(np.int64),
            arrays["between"],
            arrays["costs"],
            Lookup(*(arrays[f"lookup.{name}"] for name in names)),
        )

    def info(self) -> dict[str, Any]:
        """Counts and costs, in values that JSON can hold."""
        best = self.costs[..., 0]
        off = best[~np.eye(len(best), dtype=bool)] if len(best) > 1 else best.ravel()
        n_between = np.count_nonzero(self.between[..., 0, :] != NO_WINDOW, axis=-1)
        return {
            "clusters": len(self.medoids),
            "representatives": len(self.ends),
            "recipes_per_entry": int(self.between.shape[2]),
            "best_cost_median": float(np.median(off)),
            "best_by_ways": {str(n + 2): int(np.sum(n_between == n)) for n in range(3)},
        }

    def entry(self, pair: tuple[int, int], windows: tuple[int, int], form: RecipeForm) -> Entry:
        """The recipes between two representatives, with given windows as source and target."""
        (source, target), (first, last) = pair, windows
        recipes = []
        for between in self.between[source, target]:
            if between[0] != NO_RECIPE:
                rows = (int(self.medoids[k]) for k in between if k != NO_WINDOW)
                recipes.append(Recipe((first, *rows, last), *form))
        costs = self.costs[source, target, : len(recipes)].astype(np.float64)
        return Entry(source, target, tuple(recipes), costs)


def check_arrays(
    file: TableFile, length: int, starts: IntArray, *, method: str = "default"
) -> None:
    """Check kind, shape and every value of the arrays of a table.

    Parameters
    ----------
    file
        The table.
    length
        Frames of a transition.
    starts
        First row of every clip of its collection, and the number of rows. (C + 1,)
    method
        How the table makes its transitions.

    Raises
    ------
    TableError
        An array is missing, unknown, or of another kind or shape, or a value is out of its range.
    """
    names = (*ARRAYS, *PAPER_ARRAYS) if method == "paper" else ARRAYS
    more = [name for name in file.arrays if name not in names]
    if more:
        raise file.damaged(f"it holds an array {more[0][:80]!r}, which no table has")
    check_length(file, length, starts)
    n_coarse, n_fine = check_representatives(file, length, starts)
    between = file.array("between", "|u1", (n_fine, n_fine, None, 2))
    if not 1 <= between.shape[2] <= NOWHERE:
        raise file.damaged(f"it must keep 1 to {NOWHERE} recipes of a pair, got {between.shape[2]}")
    if not _names_clusters(between, n_coarse):
        raise file.damaged("a recipe names a cluster that is not there")
    costs = file.array("costs", "<f2", (n_fine, n_fine, None))
    if not 1 <= costs.shape[2] <= between.shape[2]:
        raise file.damaged("it must have costs for one recipe of a pair, and for no more than all")
    if (~costs.view(np.uint16) & HALF_EXPONENT == 0).any():
        raise file.damaged("a recipe must have a finite cost")
    if method == "paper":
        check_recipe_times(file, length, n_fine)


def check_length(file: TableFile, length: int, starts: IntArray) -> None:
    """Check that some clip has a window of the length."""
    longest = int(np.diff(starts).max(initial=0))
    if length > longest:
        raise file.damaged(f"its transitions have {length} frames, but the longest clip {longest}")


def check_representatives(file: TableFile, length: int, starts: IntArray) -> tuple[int, int]:
    """Check medoids, representatives and lookup; returns how many medoids and representatives."""
    counts = []
    for name, most in (("medoids", NO_RECIPE), ("fine_medoids", NOWHERE - 1)):
        rows = file.array(name, "<u4", (None,)).astype(np.int64)
        if not 1 <= len(rows) <= most:
            raise file.damaged(f"it must have 1 to {most} {name!r}, got {len(rows)}")
        if not window_starts(rows, length, starts):
            raise file.damaged(f"{name!r} must be first rows of windows of {length} frames")
        counts.append(len(rows))
    lengths = np.diff(starts)
    has_window = np.repeat(lengths >= length, lengths)
    for name, count in zip(("coarse", "fine"), counts, strict=True):
        ids = file.array(f"lookup.{name}", "<u2", (len(has_window),))
        if not np.array_equal(ids < count, has_window) or (ids[~has_window] != NOWHERE).any():
            raise file.damaged(f"the lookup names a {name} representative that is not there")
        far = file.array(f"lookup.{name}_distance", "<f2", (len(has_window),))
        if not _is_distance(far):
            raise file.damaged(f"distances to {name} representatives must be numbers from 0")
    return counts[0], counts[1]


def window_starts(rows: IntArray, length: int, starts: IntArray) -> bool:
    """Whether every row is in the collection and starts a window that stays inside its clip."""
    if not len(rows):
        return True
    if int(rows.min()) < 0 or int(rows.max()) >= int(starts[-1]):
        return False
    ends = starts[np.searchsorted(starts, rows, side="right")]
    return bool((rows + length <= ends).all())


def _names_clusters(between: npt.NDArray[np.uint8], count: int) -> bool:
    """Whether recipes name clusters below ``count``, or both of their bytes say that none is there.

    Block by block: what fits into the cache of a processor is read four times as quickly.
    """
    flat = between.reshape(-1)
    shifted = np.zeros(min(BLOCK, flat.size), dtype=np.uint8)
    for first in range(0, flat.size, BLOCK):
        part = flat[first : first + BLOCK]
        # Bytes wrap round: NO_RECIPE and NO_WINDOW become 0 and 1, clusters follow from 2 on.
        clusters = np.add(part, np.uint8(256 - NO_RECIPE), out=shifted[: len(part)])
        if int(clusters.max()) >= count + 256 - NO_RECIPE:
            return False
        if int(clusters.min()) == 0:
            none = (clusters == 0).view(np.uint16)
            if (none >> 8 != none & 0xFF).any():
                return False
    return True


def _is_distance(values: npt.NDArray[Any]) -> bool:
    """Whether half-precision numbers are zero, positive or infinite."""
    bits = values.view(np.uint16)
    return bool(((bits <= HALF_EXPONENT) | (bits == HALF_SIGN)).all())


TARGETS = 4
"""Windows of a label that are tried as targets, at most."""


class LabelReached(NamedTuple):
    """Windows of one label."""

    pieces: IntArray
    """First and last row of every piece of a clip with the label, sorted. (n, 2)"""
    nearest: IntArray
    """For every representative the nearest window that ends in the label, or -1. (E,)"""
    targets: dict[int, IntArray]
    """First rows of the windows most easily reached, by the representative they are reached from;
    those that were asked for."""


class LabelTargets:
    """The nearest window of each label to each representative, found once for each label.

    Parameters
    ----------
    arrays
        Representatives of the table, and the lookup of every row.
    collection
        Whose labels; they may change.
    length
        Frames of a window.
    """

    def __init__(self, arrays: TableArrays, collection: Collection, length: int) -> None:
        self._lookup, self._costs = arrays.lookup, np.asarray(arrays.costs)
        self._collection, self._length = collection, length
        self._reached: dict[str, LabelReached] = {}
        self._labels: tuple[Label, ...] = ()
        self._lock = Lock()

    def check(self, label: str) -> None:
        """Raise an error that lists the labels if this one does not exist or cannot be reached."""
        self.of(label, 0)

    def of(self, label: str, end: int) -> IntArray:
        """First rows of the windows most easily reached from a representative. (n,)."""
        _, nearest, targets = self._reached_of(label)
        rows = targets.get(end)
        if rows is None:
            reachable = np.flatnonzero(nearest >= 0)
            order = np.argsort(self._costs[end, reachable, 0], kind="stable")
            rows = nearest[reachable[order[:TARGETS]]]
            rows.flags.writeable = False  # others get the same
            targets[end] = rows
        return rows

    def nearest(self, label: str) -> IntArray:
        """For every representative the nearest window that ends in the label, or -1. (E,)."""
        return self._reached_of(label).nearest

    def pieces(self, label: str) -> IntArray:
        """First and last row of every piece of a clip with the label, sorted. (n, 2)."""
        return self._reached_of(label).pieces

    def _reached_of(self, label: str) -> LabelReached:
        """What was found for a label, for as long as no label changes."""
        of_kind(label, str, "label")
        with self._lock:
            labels = self._collection.labels
            if labels != self._labels:
                self._labels, self._reached = labels, {}
            reached = self._reached.get(label)
            if reached is None:
                rows = self._collection.label_rows(label)
                pieces = label_pieces(labels, label, self._collection.frames)
                reached = LabelReached(pieces, self._nearest_ending_at(rows), {})
                self._reached[label] = reached
            return reached

    def _nearest_ending_at(self, rows: IntArray) -> IntArray:
        """For every representative the nearest window that ends at one of the rows. (E,)."""
        frames, length = self._collection.frames, self._length
        starts, ids = np.asarray(frames.starts), np.asarray(self._lookup.fine)
        first = np.asarray(rows) - length + 1
        clips = np.searchsorted(starts, rows, side="right") - 1
        first = np.unique(first[first >= starts[clips]])
        first = frames.sound(first[ids[first] != NOWHERE], length)
        if not len(first):
            raise TableError(
                f"No frame of the label has {length} frames of its clip before it. Label "
                "later frames, or build a table of shorter transitions."
            )
        nearest = np.full(len(self._costs), -1, dtype=np.int64)
        distances = np.asarray(self._lookup.fine_distance)[first].astype(np.float32)
        order = np.lexsort((-first, -distances))  # the last one written stays: the nearest
        nearest[ids[first[order]]] = first[order]
        return nearest
