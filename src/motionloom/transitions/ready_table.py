"""ReadyTable: a table with everything at hand that a transition looks up."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from numba import njit

from motionloom._arrays import FloatArray, IntArray
from motionloom.errors import TableError
from motionloom.features.verify import STEP_ALLOWANCE
from motionloom.transitions.columns import COLUMNS, Ranking
from motionloom.transitions.contexts import contexts
from motionloom.transitions.frames import FloatArray32, Frames
from motionloom.transitions.kernel import judge_of, score_into, scratch_of
from motionloom.transitions.labels import Label
from motionloom.transitions.lookup import NOWHERE, Lookup
from motionloom.transitions.neighbours import WindowIndex
from motionloom.transitions.pace import SLOWEST, pace_of
from motionloom.transitions.recipe import MOST_WAYS
from motionloom.transitions.rig import rig_of, rows_of
from motionloom.transitions.search import NONE, search_pair
from motionloom.transitions.synthesis import Synthesis, make_frames
from motionloom.transitions.terms import build_terms, term_source
from motionloom.transitions.weights import weights_of
from motionloom.transitions.windows import window_from

__all__ = ["Choice", "Labelled", "ReadyTable", "RuntimeTable"]

NO_WINDOW, NO_RECIPE = 255, 254
"""As in a table's ``between``: a recipe has fewer intermediaries; there is no recipe."""
CAPTURED = 2
"""Captured windows whose ends are most alike that are tried as intermediaries."""
TARGETS = 4
"""Windows of a label that are tried as targets, at most."""
TRIES = 4
"""Recipes that are made, best first, until one goes no faster than its clips."""
FAR = 1e9
"""Cost of the plain blend where no recipe was judged: it comes last."""
WIDE = 32
"""Slots beside the medoids for windows met at run time."""

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

    length: int
    """Frames of a window."""
    medoids: IntArray
    """First rows of the intermediaries. (K,)"""
    between: npt.NDArray[np.uint8]
    """Intermediaries of the recipes between representatives, best first. (E, E, R, 2)"""
    costs: npt.NDArray[np.float16]
    """Costs of the first of them. (E, E, C)"""
    lookup: Lookup

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


class Choice(NamedTuple):
    """Recipes that were looked at, the best first."""

    rows: IntArray
    """First rows of their windows, source first, then -1 where there are fewer. (n, 4)"""
    costs: FloatArray
    """By the table's ranking. (n,)"""
    columns: FloatArray32
    """What was measured of each, see :data:`motionloom.transitions.columns.COLUMNS`; nan where a
    recipe was not judged. (n, C)"""


class ReadyTable:
    """A table made ready: terms of its medoids, the rig, paces of clips.

    Parameters
    ----------
    table
        With recipes between representatives.
    family
        Weights of the blends. The papers' own leave the source at full speed: on CMU's 143 a joint
        is jerked by 82 m/s² at the first frame of a four-way blend (captured 9, ``"eased"`` 12).
    """

    def __init__(self, table: RuntimeTable, *, family: str = "eased") -> None:
        frames = table.frames
        self.table, self.frames, self.length, self.family = table, frames, table.length, family
        self.rows, self.rig = rows_of(frames), rig_of(frames)
        self.ranking = table.ranking
        self._medoids = np.asarray(table.medoids, dtype=np.int64)
        self._between = np.asarray(table.between)
        self._costs = np.asarray(table.costs)
        self._ends = np.asarray(table.lookup.fine)
        self.index = table.neighbours
        self._weights = [weights_of(family, n, self.length) for n in range(1, MOST_WAYS + 1)]
        self._steps = np.arange(self.length)[:, None]
        self._paces: dict[int, list[float]] = {}
        self._clips = {name: k for k, name in enumerate(frames.ids)}
        self._starts = np.asarray(frames.starts)
        self._first_rows = self._starts.tolist()
        self._labels: dict[str, IntArray] = {}
        self._said: tuple[Label, ...] = ()
        k = len(self._medoids)
        self._terms = build_terms(frames, k + WIDE, self.length, family=family)
        self._source = term_source(frames)
        self._slots = np.concatenate([self._medoids, np.full(WIDE, -1)])
        for slot, row in enumerate(self._medoids):
            self._terms.put(self._source, slot, int(row))
        self._judge = judge_of(self._terms)
        self._scratch = scratch_of(self._terms)
        self._ids = np.full((self._between.shape[2] + WIDE, MOST_WAYS), -1, dtype=np.int32)

    def row_of(self, place: tuple[str, int]) -> int:
        """Row of a clip's frame."""
        try:
            name, frame = place
            clip = self._clips[name]
        except (KeyError, TypeError, ValueError):
            if not isinstance(place, tuple | list) or len(place) != 2:
                raise TableError(
                    f"A place must be a clip's id and a frame, as ('walk', 120); got {place!r}."
                ) from None
            return self.frames.row_of(place[0], place[1])  # says which clips there are
        first = int(self._starts[clip])
        if not 0 <= frame < self._starts[clip + 1] - first:
            return self.frames.row_of(name, frame)
        return first + int(frame)

    def clip_at(self, row: int) -> int:
        """Which clip a row belongs to; as ``frames.clip_at``, quicker."""
        return bisect_right(self._first_rows, row) - 1

    def window_at(self, row: int, *, leaving: bool) -> tuple[int, int]:
        """First row of the window that starts at a row, or ends there, and by how much it is off.

        Near a clip's end (or start) there is no such window: the clip's last (first) one is taken.
        """
        clip = self.clip_at(row)
        first, last = self._first_rows[clip], self._first_rows[clip + 1] - self.length
        if last < first:
            window_from(self.frames, row, self.length)  # says that the clip is too short
        if leaving:
            return min(row, last), max(0, row - last)
        wanted = row - self.length + 1
        return max(wanted, first), max(0, first - wanted)

    def end_of(self, row: int) -> int:
        """Number of the representative that the window from ``row`` is nearest to."""
        number = int(self._ends[row])
        if number == NOWHERE:
            raise TableError(f"Row {row} starts no window: its clip is shorter than one.")
        return number

    def cached(self, source: int, target: int) -> Choice:
        """The best recipes of the table with these windows as source and target, as they are.

        Their costs are those between the representatives; columns are not measured (nan).
        """
        a, b = self.end_of(source), self.end_of(target)
        count = min(TRIES, self._between.shape[2])
        rows = np.full((count + 1, MOST_WAYS), -1, dtype=np.int64)
        n = _rows_of(self._between[a, b, :count], self._medoids, source, target, rows)
        costs = np.full(n, FAR)
        told = self._costs[a, b, : n - 1]
        costs[: len(told)] = told
        return Choice(rows[:n], costs, np.full((n, len(COLUMNS)), np.nan, dtype=np.float32))

    def choose(self, source: int, targets: IntArray, *, rescore: int) -> Choice:
        """The table's recipes judged with the real windows, and others that are always tried.

        Parameters
        ----------
        source
            First row of the source window.
        targets
            First rows of target windows to choose among.
        rescore
            Recipes of the table to judge, shared by the targets.
        """
        k = len(self._medoids)
        self._put(k, source)
        count = 0
        share = max(1, rescore // len(targets))
        a = self.end_of(source)
        for n, target in enumerate(targets):
            slot = k + 1 + n * (1 + CAPTURED)
            self._put(slot, int(target))
            found = self._captured(source, int(target)) if len(targets) == 1 else ()
            for m, row in enumerate(found):
                self._put(slot + 1 + m, row)
            recipes = self._between[a, self.end_of(int(target)), :share]
            count = _fill(recipes, k, slot, len(found), self._ids, count)
        return self._judged(self._ids[:count])

    def search(self, source: int, targets: IntArray) -> Choice:
        """The best of all recipes over the medoids, judged with the real windows."""
        k = len(self._medoids)
        found = []
        for target in targets:
            self._put(k, source)
            self._put(k + 1, int(target))
            chunk = search_pair(self._terms, k, k + 1, np.arange(k), ranking=self.ranking)
            recipes = chunk.recipes[0][np.isfinite(chunk.costs[0])]
            captured = self._captured(source, int(target))
            for m, row in enumerate(captured):
                self._put(k + 2 + m, row)
            ids = [[-1 if i == NONE else int(i) for i in recipe] for recipe in recipes]
            ids += [[k, k + 2 + m, k + 1, -1] for m in range(len(captured))]
            found.append(self._judged(np.array([*ids, [k, k + 1, -1, -1]], dtype=np.int32)))
        rows, costs, columns = (np.concatenate(part) for part in zip(*found, strict=True))
        order = np.argsort(costs, kind="stable")
        return Choice(rows[order], costs[order], columns[order])

    def judge(self, recipes: Sequence[tuple[int, ...]]) -> Choice:
        """Any recipes by the first rows of their windows, best first.

        At most 32 different windows beside the medoids.
        """
        k = len(self._medoids)
        slots = {int(row): n for n, row in enumerate(self._medoids)}
        ids = np.full((len(recipes), MOST_WAYS), -1, dtype=np.int32)
        used = 0
        for n, recipe in enumerate(recipes):
            for i, row in enumerate(recipe):
                if row not in slots:
                    slots[row] = k + used
                    self._put(k + used, row)
                    used += 1
                ids[n, i] = slots[row]
        return self._judged(ids)

    def check_label(self, label: str) -> None:
        """Say which labels there are, where this one is not."""
        if not any(each.label == label for each in self.table.collection.labels):
            self.table.collection.label_rows(label)

    def targets_of(self, label: str, source: int) -> IntArray:
        """First rows of the windows of a label that are most easily reached from a window. (n,)."""
        labels = self.table.collection.labels
        if labels != self._said:
            self._said, self._labels = labels, {}
        nearest = self._labels.get(label)
        if nearest is None:
            rows = self.table.collection.label_rows(label)
            nearest = self._labels[label] = self._spokesmen(rows)
        costs = self._costs[self.end_of(source), :, 0]
        there = np.flatnonzero(nearest >= 0)
        best = there[np.argsort(costs[there], kind="stable")[:TARGETS]]
        return nearest[best]

    def _spokesmen(self, rows: IntArray) -> IntArray:
        """For every representative the window that ends at one of the rows and is nearest. (E,)."""
        first = np.asarray(rows) - self.length + 1
        ids = np.asarray(self._ends)
        clips = np.searchsorted(self._starts, rows, side="right") - 1
        first = np.unique(first[first >= self._starts[clips]])
        first = first[ids[first] != NOWHERE]
        if not len(first):
            raise TableError(
                f"No frame of the label has {self.length} frames of its clip before it. Label "
                "later frames, or build a table of shorter transitions."
            )
        nearest = np.full(len(self._between), -1, dtype=np.int64)
        far = np.asarray(self.table.lookup.fine_distance)[first].astype(np.float32)
        order = np.lexsort((-first, -far))  # the last one written stays: the nearest
        nearest[ids[first[order]]] = first[order]
        return nearest

    def members_of(self, row: int) -> IntArray:
        """First rows of the nearer half of the windows of a window's cluster. (n,)."""
        lookup = self.table.lookup
        rows = np.flatnonzero(np.asarray(lookup.coarse) == lookup.coarse[row])
        clips = np.searchsorted(self._starts, rows, side="right")
        rows = rows[rows + self.length <= self._starts[clips]]
        far = np.asarray(lookup.coarse_distance)[rows].astype(np.float32)
        return np.asarray(rows[far <= np.median(far)])

    def _captured(self, source: int, target: int) -> list[int]:
        """Captured windows that start as the source does and end as the target does."""
        last = target + self.length - 1
        start = contexts(self.frames, np.array([source]), side="start")[0]
        end = contexts(self.frames, np.array([last]), side="end")[0]
        found = self.index.nearest(start, end, count=CAPTURED, apart=self.length // 4)
        return [int(row) for row in found.rows]

    def _put(self, slot: int, row: int) -> None:
        if self._slots[slot] != row:
            self._terms.put(self._source, slot, row)
            self._slots[slot] = row

    def _judged(self, ids: IntArray32) -> Choice:
        columns = np.zeros((len(ids), len(COLUMNS)), dtype=np.float32)
        score_into(self._terms.arrays, self._judge, self._scratch, ids, columns)
        costs = np.asarray(self.ranking.cost(columns), dtype=np.float64)
        costs[np.isnan(costs)] = np.inf
        order = np.argsort(costs, kind="stable")
        rows = self._slots[ids]
        rows[ids < 0] = -1
        return Choice(rows[order], costs[order], columns[order])

    def make(self, windows: tuple[int, ...], *, feet: bool = True) -> tuple[Synthesis, float]:
        """Frames of a recipe, and how much faster they go at most than the clips they come from."""
        limits = [self.pace_at(row) for row in windows]
        limit = [max(SLOWEST, *speeds) for speeds in zip(*limits, strict=True)]
        at = np.array(windows, dtype=np.int64) + self._steps
        weights = self._weights[len(windows) - 1]
        made = make_frames(self.rows, self.rig, at, weights, self.frames.fps, limit[0], feet=feet)
        return made, max(a / b for a, b in zip(made.fastest.tolist(), limit, strict=True))

    def pace_at(self, row: int) -> list[float]:
        """How fast the clip that a row belongs to goes at most; see :func:`pace_of`."""
        clip = self.clip_at(row)
        pace = self._paces.get(clip)
        if pace is None:
            pace = self._paces[clip] = pace_of(self.frames, clip).tolist()
        return pace

    def make_best(self, choice: Choice) -> tuple[Synthesis, int, bool]:
        """Frames of the best recipe that goes no faster than its clips, its number, and its feet.

        Where none of the first few does, feet are left as the blend has them, which may slide but
        goes no faster than what it is made of.
        """
        least, best = np.inf, None
        for feet in (True, False):
            for number in range(min(TRIES, len(choice.costs))):
                windows = tuple(int(row) for row in choice.rows[number] if row >= 0)
                made, ratio = self.make(windows, feet=feet)
                if ratio <= STEP_ALLOWANCE:
                    return made, number, feet
                if ratio < least:
                    least, best = ratio, (made, number, feet)
        assert best is not None
        return best


@njit(cache=True, error_model="numpy")
def _fill(
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
def _rows_of(
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
