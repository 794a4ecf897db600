"""ReadyTable: a table with everything at hand that a transition looks up."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import wraps
from threading import RLock
from typing import Concatenate, NamedTuple, ParamSpec, TypeVar

import numpy as np

from motionloom._arrays import IntArray
from motionloom._core import MISSING, CoreError, Record, kernel, record
from motionloom.errors import TableError
from motionloom.features.checks.check_rig import rig_record
from motionloom.features.checks.compare import MOST_FOUND
from motionloom.tables.collection.frames_check import check_frames
from motionloom.tables.index.captured import CAPTURED, CapturedBetween
from motionloom.tables.index.lookup import NOWHERE
from motionloom.tables.index.windows import window_from
from motionloom.tables.label_targets import LabelTargets
from motionloom.tables.recipe_choice import (
    Choice,
    choice_of,
    most_recipes,
    new_choice,
    record_of,
)
from motionloom.tables.runtime_table import RuntimeTable, fill_rows
from motionloom.tables.score.columns import COLUMNS
from motionloom.tables.score.natural import Reference
from motionloom.tables.score.recipe import MOST_WAYS, weights_of
from motionloom.tables.search.refine import refine_recipe
from motionloom.tables.search.search import NONE, search_pair
from motionloom.tables.synthesis.synthesis import (
    Synthesis,
    new_frames,
    record_of_frames,
    rig_of,
    rows_of,
    synthesis_of,
)
from motionloom.tables.table_check import Checked, TableCheck
from motionloom.tables.window_slots import MetWindows

__all__ = ["Best", "Choice", "ReadyTable", "ready"]

TRIES = 4
"""Recipes that are made, best first, before their feet are left as the blend has them; as in
core/src/transition.c."""
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


_work = kernel("ml_table_work")
_choose = kernel("ml_table_choose")
_make = kernel("ml_table_make")
_check = kernel("ml_table_check")
_best = kernel("ml_table_best")

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
        self._members: dict[int, IntArray] = {}
        self._clips = {name: k for k, name in enumerate(frames.ids)}
        self._starts = np.asarray(frames.starts)
        self._first_rows: list[int] = self._starts.tolist()
        self._labels = LabelTargets(table)
        self._captured = CapturedBetween(frames, self.index)
        self.check = TableCheck(frames, self.rig)
        self.lock = RLock()
        self._met = self._room_for(self._medoids)
        self._all: MetWindows | None = None
        self._chosen: tuple[Choice, Record] | None = None
        self.record = self._record()

    def _room_for(self, windows: IntArray) -> MetWindows:
        return MetWindows(
            self.frames,
            windows,
            self.length,
            ranking=self.ranking,
            family=self.family,
        )

    def _record(self) -> Record:
        """The table as the core takes it."""
        weights = np.zeros((MOST_WAYS, MOST_WAYS, self.length))
        for n in range(MOST_WAYS):
            weights[n, : n + 1] = weights_of(self.family, n + 1, self.length)
        fields = {
            "n_clips": len(self.frames.starts) - 1,
            "n_jumps": len(self.frames.jumps),
            "n_medoids": len(self._medoids),
            "n_ends": len(self._between),
            "n_recipes": self._between.shape[2],
            "n_limits": self.check.limits.shape[1],
            "n_labels": 0,
            "length": self.length,
            "fps": self.frames.fps,
            "rows": self.rows.record,
            "rig": self.rig.record,
            "check_rig": rig_record(self.check.check_rig),
            **self._met.records(),
            "index": self.index.windows_record(),
            "by_start": self.index.lists_record("by_start"),
            "by_both": self.index.lists_record("by_both"),
            "seen": self._captured.seen,
            "starts": np.ascontiguousarray(self._starts, dtype=np.int64),
            "jumps": np.ascontiguousarray(self.frames.jumps, dtype=np.int64),
            "medoids": self._medoids,
            "nearest": np.ascontiguousarray(self._ends, dtype=np.uint16),
            "between": self._between,
            "costs": np.ascontiguousarray(self._costs[:, :, 0], dtype=np.float32),
            "spokes": np.zeros(0, dtype=np.int64),
            "paces": np.ascontiguousarray(self.index.paces[:, 0], dtype=np.float64),
            "weights": weights,
            "limits": self.check.limits,
            "measured": self.check.measured,
            "met": self._met.slots,
            "missing": np.zeros(1, dtype=np.int64),
            "n_characters": 0,
            "n_names": 0,
            "names": np.zeros(0, dtype=np.uint8),
            "name_at": np.zeros(0, dtype=np.int64),
        }
        nothing = np.zeros(0, dtype=np.uint8)
        n_work = _work(record("ml_table", **fields, n_work=0, work=nothing))
        return record("ml_table", **fields, n_work=n_work, work=np.zeros(n_work, dtype=np.uint8))

    def measuring(self, ask: Callable[[], None]) -> None:
        """Call the core, and measure the limits of clips whenever it misses some."""
        while True:
            try:
                return ask()
            except CoreError as error:
                if error.status != MISSING:
                    raise
                self.check.measure(int(self.record.missing[0]))

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
        for row in (source, *targets.tolist()):
            self.end_of(row)
        into = new_choice(most_recipes(self._between.shape[2]))
        given = np.ascontiguousarray(targets, dtype=np.int64)
        _choose(self.record, source, len(given), given, rescore, into)
        choice = choice_of(into)
        self._chosen = choice, into  # which is made next, as a rule
        return choice

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
    def windows_of(self, label: str) -> IntArray:
        """For every representative the nearest window that ends in a label, or -1. (E,)."""
        return self._labels.nearest(label)

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
        made, errors = new_frames(self.length, self.rows.record.n_joints), np.zeros(2)
        given = np.array(windows, dtype=np.int64)
        _make(self.record, len(given), given, feet, made, errors)
        return synthesis_of(made, errors)

    def pace_at(self, row: int) -> list[float]:
        """How fast the clip that a row belongs to goes at most."""
        pace: list[float] = self.index.paces[self.clip_at(row)].tolist()
        return pace

    def clips_of(self, windows: Sequence[int]) -> list[int]:
        """Clips of windows, in their order."""
        return [self.clip_at(row) for row in windows]

    @_one_at_a_time
    def checked(self, made: Synthesis, windows: Sequence[int]) -> Checked:
        """The check of frames made of a recipe, with captured ones before and after them."""
        found, n_found = np.zeros((MOST_FOUND, 5)), np.zeros(1, dtype=np.int64)
        given, frames = np.array(windows, dtype=np.int64), record_of_frames(made)
        self.measuring(lambda: _check(self.record, len(given), given, frames, found, n_found))
        return Checked(found[: n_found[0]], self.check.check_rig, self.frames.skeleton.names)

    @_one_at_a_time
    def make_best(self, choice: Choice) -> Best:
        """Frames of the best recipe that passes the quality check.

        Where none of the first few recipes passes, their feet are left as the blend has them;
        where that does not help, the other recipes are tried in the same way. If none passes, the
        one that fails least is returned.
        """
        chosen, self._chosen = self._chosen, None
        if chosen is not None and chosen[0] is choice:
            into = chosen[1]
        else:
            into = record_of(choice, most_recipes(self._between.shape[2]))
        made, errors = new_frames(self.length, self.rows.record.n_joints), np.zeros(2)
        number, feet = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.bool_)
        found, n_found = np.zeros((MOST_FOUND, 5)), np.zeros(1, dtype=np.int64)
        self.measuring(lambda: _best(self.record, into, made, number, feet, errors, found, n_found))
        checked = Checked(found[: n_found[0]], self.check.check_rig, self.frames.skeleton.names)
        return Best(
            synthesis_of(made, errors), choice_of(into), int(number[0]), bool(feet[0]), checked
        )


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
