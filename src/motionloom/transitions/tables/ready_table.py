"""ReadyTable: a table with everything at hand that a transition looks up."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import wraps
from itertools import product
from threading import RLock
from typing import Concatenate, NamedTuple, ParamSpec, TypeVar

import numpy as np

from motionloom._arrays import IntArray
from motionloom.errors import TableError
from motionloom.transitions.collecting.frames_check import check_frames
from motionloom.transitions.collecting.pace import SLOWEST
from motionloom.transitions.likeness.captured import CapturedBetween
from motionloom.transitions.likeness.lookup import NOWHERE
from motionloom.transitions.likeness.windows import window_from
from motionloom.transitions.making.recipe import MOST_WAYS
from motionloom.transitions.making.rig import rig_of, rows_of
from motionloom.transitions.making.synthesis import Synthesis, make_frames
from motionloom.transitions.scoring.columns import COLUMNS
from motionloom.transitions.scoring.reference import Reference
from motionloom.transitions.scoring.weights import weights_of
from motionloom.transitions.searching.refine import refine_recipe
from motionloom.transitions.searching.search import NONE, search_pair
from motionloom.transitions.tables.label_targets import TARGETS, LabelTargets
from motionloom.transitions.tables.met_windows import Choice, MetWindows
from motionloom.transitions.tables.runtime_table import RuntimeTable, fill_rows
from motionloom.transitions.tables.table_check import Checked, TableCheck

__all__ = ["Best", "Choice", "ReadyTable", "ready"]

CAPTURED = 2
"""Captured windows whose ends are most alike that are tried as intermediaries."""
TRIES = 4
"""Recipes that are made, best first, before their feet are left as the blend has them."""
CHECKED_WHOLE = 1 << 28
"""Collections with up to so many bytes of rotations are checked whole when a table is made ready;
in larger ones each clip is checked when it is first used."""
FAR = 1e9
"""Cost of the plain blend where no recipe was judged: it comes last."""


class Best(NamedTuple):
    """The recipe that was taken and made."""

    made: Synthesis
    choice: Choice
    """What was chosen among, in order as far as it had to be."""
    number: int
    """Of the recipe taken, in ``choice``."""
    feet: bool
    """Whether its feet are held."""
    checked: Checked


P = ParamSpec("P")
T = TypeVar("T")


def _one_at_a_time(
    method: Callable[Concatenate[ReadyTable, P], T],
) -> Callable[Concatenate[ReadyTable, P], T]:
    """Threads that share a table take turns: what it has met lies in places of its own."""

    @wraps(method)
    def locked(self: ReadyTable, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self.lock:
            return method(self, *args, **kwargs)

    return locked


class ReadyTable:
    """A table made ready: terms of its medoids, the rig, paces of clips.

    Parameters
    ----------
    table
        With recipes between representatives.
    """

    def __init__(self, table: RuntimeTable) -> None:
        frames = table.frames
        if frames.quats.nbytes <= CHECKED_WHOLE:
            check_frames(frames)
        self.table, self.frames, self.length = table, frames, table.length
        self.family, self.index = table.family, table.neighbours
        self.rows, self.rig = rows_of(frames), rig_of(frames)
        self.ranking = table.ranking
        self._medoids = np.asarray(table.medoids, dtype=np.int64)
        self._between = np.ascontiguousarray(table.between)
        self._costs = np.asarray(table.costs)
        self._ends = np.asarray(table.lookup.fine)
        self._weights = [weights_of(self.family, n, self.length) for n in range(1, MOST_WAYS + 1)]
        self._steps = np.arange(self.length)[:, None]
        self._paces: list[list[float]] = self.index.paces.tolist()
        self._members: dict[int, IntArray] = {}
        self._clips = {name: k for k, name in enumerate(frames.ids)}
        self._starts = np.asarray(frames.starts)
        self._first_rows: list[int] = self._starts.tolist()
        self._labels = LabelTargets(table)
        self._captured = CapturedBetween(frames, self.index)
        self.check = TableCheck(frames, self.rows, self.rig)
        self.lock = RLock()
        self._met = self._room_for(self._medoids)
        self._all: MetWindows | None = None

    def _room_for(self, windows: IntArray) -> MetWindows:
        return MetWindows(
            self.frames,
            windows,
            self.length,
            ranking=self.ranking,
            family=self.family,
            most=TARGETS * (self._between.shape[2] + CAPTURED + 1),
        )

    def __reduce__(self) -> tuple[object, ...]:
        # Large, quick to make, and with a lock: only the table is pickled and copied.
        return ReadyTable, (self.table,)

    def row_of(self, place: tuple[str, int]) -> int:
        """Row of a clip's frame."""
        try:
            name, frame = place
            clip = self._clips[name]
        except (KeyError, TypeError, ValueError):
            return self.frames.row_at(place)  # says what is wrong with it
        first = self._first_rows[clip]
        if type(frame) is not int or not 0 <= frame < self._first_rows[clip + 1] - first:
            return self.frames.row_at((name, frame))
        return first + frame

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
        n = fill_rows(self._between[a, b, :count], self._medoids, source, target, rows)
        costs = np.full(n, FAR)
        told = self._costs[a, b, : n - 1]
        costs[: len(told)] = told
        return Choice(rows[:n], costs, np.full((n, len(COLUMNS)), np.nan, dtype=np.float32), n)

    @_one_at_a_time
    def choose(self, source: int, targets: IntArray, *, rescore: int) -> Choice:
        """The best of the table's recipes, judged with the real windows, and of some others.

        Only the first is known to be the best; :meth:`judge` puts the rest in order.

        Parameters
        ----------
        source
            First row of the source window.
        targets
            First rows of target windows to choose among.
        rescore
            Recipes of the table to judge, shared by the targets.
        """
        captured = self._captured_between(source, targets)
        ends = np.array([self.end_of(source), *map(self.end_of, targets.tolist())])
        share = max(1, rescore // len(targets))
        return self._met.best(self._between, source, targets, ends, captured, share)

    @_one_at_a_time
    def search(self, source: int, targets: IntArray) -> Choice:
        """The best of all recipes over the medoids, judged with the real windows."""
        met, k = self._met, self._met.first
        found = []
        for target in targets.tolist():
            met.put(k, source)
            met.put(k + 1, target)
            chunk = search_pair(met.terms, k, k + 1, np.arange(k), ranking=self.ranking)
            recipes = chunk.recipes[0][np.isfinite(chunk.costs[0])]
            captured = self._captured_between(source, np.array([target])).tolist()
            for m, row in enumerate(captured):
                met.put(k + 2 + m, row)
            ids = [[-1 if i == NONE else int(i) for i in recipe] for recipe in recipes]
            ids += [[k, k + 2 + m, k + 1, -1] for m in range(len(captured))]
            found.append(met.judge_slots(np.array([*ids, [k, k + 1, -1, -1]], dtype=np.int32)))
        return merged(found)

    @_one_at_a_time
    def refine(self, choice: Choice) -> Choice:
        """A better recipe than the best, if exchanging its intermediaries finds one; then the rest.

        Medoids and representatives are tried; see :func:`refine_recipe`.
        """
        if self._all is None:
            ends = np.asarray(self.table.ends)
            self._all = self._room_for(np.unique(np.concatenate([self._medoids, ends])))
        met, windows = self._all, choice.windows(0)
        for i, row in enumerate(windows):
            met.put(met.first + i, row)
        ids = met.first + np.arange(len(windows))
        refined = refine_recipe(met.terms, ids, np.arange(met.first), ranking=self.ranking)
        better = tuple(met.slots[refined.ids[refined.ids >= 0]].tolist())
        known = dict.fromkeys([better, *(choice.windows(n) for n in range(len(choice.rows)))])
        return self.judge(list(known))

    @_one_at_a_time
    def judge(self, recipes: Sequence[tuple[int, ...]]) -> Choice:
        """Any recipes by the first rows of their windows, best first.

        At most 32 different windows beside the medoids.
        """
        return self._met.judge(recipes)

    @_one_at_a_time
    def reference(self, windows: Sequence[int]) -> Reference:
        """How the source and the target of a recipe move, by the first rows of its windows."""
        return self._met.reference(windows)

    def check_label(self, label: str) -> None:
        """Say which labels there are, where this one is not."""
        self._labels.check(label)

    @_one_at_a_time
    def targets_of(self, label: str, source: int) -> IntArray:
        """First rows of the windows of a label that are most easily reached from a window. (n,)."""
        return self._labels.of(label, self.end_of(source))

    @_one_at_a_time
    def members_of(self, row: int) -> IntArray:
        """First rows of the nearer half of the windows of a window's cluster. (n,)."""
        lookup = self.table.lookup
        cluster = int(lookup.coarse[row])
        members = self._members.get(cluster)
        if members is None:  # looked for once: the lookup of a large collection is long
            rows = np.flatnonzero(np.asarray(lookup.coarse) == cluster)
            clips = np.searchsorted(self._starts, rows, side="right")
            rows = rows[rows + self.length <= self._starts[clips]]
            rows = self.frames.sound(rows, self.length)
            far = np.asarray(lookup.coarse_distance)[rows].astype(np.float32)
            members = self._members[cluster] = np.asarray(rows[far <= np.median(far)])
        return members

    def _captured_between(self, source: int, targets: IntArray) -> IntArray:
        """Captured windows that start as the source does and end as the only target does. (n,)."""
        if len(targets) > 1:
            return np.zeros(0, dtype=np.int64)
        return self._captured.nearest(
            source, int(targets[0]), count=CAPTURED, apart=self.length // 4
        )

    @_one_at_a_time
    def make(self, windows: tuple[int, ...], *, feet: bool = True) -> Synthesis:
        """Frames of a recipe."""
        speed = max(SLOWEST, *(self.pace_at(row)[0] for row in windows))
        at = np.array(windows, dtype=np.int64) + self._steps
        weights = self._weights[len(windows) - 1]
        return make_frames(self.rows, self.rig, at, weights, self.frames.fps, speed, feet=feet)

    def pace_at(self, row: int) -> list[float]:
        """How fast the clip that a row belongs to goes at most."""
        return self._paces[self.clip_at(row)]

    def clips_of(self, windows: Sequence[int]) -> list[int]:
        """Clips of windows, in their order."""
        return [self.clip_at(row) for row in windows]

    @_one_at_a_time
    def make_best(self, choice: Choice) -> Best:
        """Frames of the best recipe that passes the quality check.

        Where none of the first few recipes passes, their feet are left as the blend has them;
        where that does not help, the other recipes are tried in the same way. If none passes, the
        one that fails least is returned.
        """
        least, best = np.inf, None
        few, all_of_them = min(TRIES, len(choice.rows)), len(choice.rows)
        for first, last in ((0, few), (few, all_of_them)):
            for feet, number in product((True, False), range(first, last)):
                if number >= choice.ranked:
                    choice = self.judge([choice.windows(n) for n in range(len(choice.rows))])
                windows = choice.windows(number)
                made = self.make(windows, feet=feet)
                checked = self.check.transition(made, windows, self.clips_of(windows))
                if checked.passed:
                    return Best(made, choice, number, feet, checked)
                if checked.badness < least:
                    least, best = checked.badness, Best(made, choice, number, feet, checked)
        assert best is not None
        return best._replace(choice=choice)


def merged(choices: Sequence[Choice]) -> Choice:
    """Choices in order, as one in order."""
    rows = np.concatenate([each.rows for each in choices])
    costs = np.concatenate([each.costs for each in choices])
    columns = np.concatenate([each.columns for each in choices])
    order = np.argsort(costs, kind="stable")
    return Choice(rows[order], costs[order], columns[order], len(rows))


def ready(table: RuntimeTable) -> ReadyTable:
    """The table made ready; done once for each table, on its first transition.

    It lies in the table itself, which it needs: in a dictionary with weak keys both would stay for
    ever, with all files of the table open.
    """
    kept = vars(table)
    if "_ready" not in kept:
        kept.setdefault("_ready", ReadyTable(table))  # of two threads, the first one's
    found: ReadyTable = kept["_ready"]
    return found
