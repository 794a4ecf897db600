"""QueryEngine: a table with everything at hand that a transition looks up, as the core asks it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from threading import RLock, local
from typing import NamedTuple

import numpy as np

from motionloom._arrays import IntArray
from motionloom._core import CoreError, Record, blank, integer, kernel, record
from motionloom.errors import TableError
from motionloom.tables.choice import (
    Choice,
    WindowSlots,
    best_outputs,
    choice_of,
    fill_choice,
    fill_rows,
    merged,
    most_recipes,
    new_choice,
    new_frames,
    record_of,
    synthesis_of,
)
from motionloom.tables.collection.collection import Collection
from motionloom.tables.collection.frames import check_frames
from motionloom.tables.index.clusters import NOWHERE
from motionloom.tables.index.neighbours import CAPTURED, CapturedBetween, WindowIndex
from motionloom.tables.score.columns import COLUMNS, column
from motionloom.tables.score.natural import Reference
from motionloom.tables.score.recipe import MOST_WAYS, weights_of
from motionloom.tables.synthesis.synthesis import Rows, Synthesis, rig_of, rows_of
from motionloom.tables.synthesis.table_check import Checked, TableCheck
from motionloom.tables.table_contents import TableArrays, TableHeader
from motionloom.tables.table_places import LabelTargets, WindowPlaces

TRIES, RANKED = integer("ML_TABLE_TRIES"), integer("ML_TABLE_RANKED")
"""Recipes that are synthesized at most, and at most where all of them are in order already."""
CHECKED_WHOLE = 1 << 28
"""Bytes of rotations up to which a collection is checked whole when the engine is built; in a
larger one each clip is checked when it is first used."""
NONE_BANNED = np.zeros((0, MOST_WAYS + 1), dtype=np.int64)
ALIGNED = integer("ML_ALIGNED")
"""Memory of the core begins at a multiple of this, bytes."""
FAR = 1e9
"""Cost of the plain blend where no recipe was scored: it comes last."""

_choose = kernel("ml_table_choose")
_join = kernel("ml_table_join")
_judge = kernel("ml_table_judge")
_worth = kernel("ml_table_worth")
_best = kernel("ml_table_best")
_share = kernel("ml_table_share")
_share_memory = kernel("ml_table_share_memory")
_work = kernel("ml_table_work")


class Best(NamedTuple):
    """The recipe that was taken, and its frames."""

    synthesis: Synthesis
    choice: Choice
    """The recipes that were compared, in order as far as needed."""
    number: int
    """Of the recipe taken, in ``choice``."""
    feet: bool
    """Whether its feet are held."""
    checked: Checked


class QueryEngine:
    """A table with everything at hand that a transition looks up; made by its table.

    Parameters
    ----------
    arrays, header
        Recipes between representatives, and how the table was built.
    collection
        What it was built on.
    index
        All captured windows of the table's length.
    owner
        The table: pickling and copying the engine keeps the table and builds a new engine.
    """

    def __init__(
        self,
        arrays: TableArrays,
        header: TableHeader,
        collection: Collection,
        index: WindowIndex,
        *,
        owner: object,
    ) -> None:
        frames = collection.frames
        if frames.quats.nbytes <= CHECKED_WHOLE:
            check_frames(frames)
        self._owner, self.arrays = owner, arrays
        self.frames, self.collection, self.index = frames, collection, index
        self.length, self.family, self.ranking = header.length, header.family, header.ranking
        self.masses = header.masses
        spread = column("spread_m")
        self._by_naturalness = bool(self.ranking.linear[spread] or self.ranking.log[spread])
        self.rows, self.rig = rows_of(frames), rig_of(frames)
        self._medoids = np.asarray(arrays.medoids, dtype=np.int64)
        self._between = np.ascontiguousarray(arrays.between)
        self._costs = np.asarray(arrays.costs)
        self._nearest = np.asarray(arrays.lookup.fine)
        self._members: dict[int, IntArray] = {}
        self.starts = np.asarray(frames.starts)
        self.places = WindowPlaces(frames, self.length)
        self.labels = LabelTargets(arrays, collection, self.length)
        self._captured = CapturedBetween(frames, index)
        self.check = TableCheck(frames, self.rig)
        self.lock = RLock()
        self._own = local()
        self._slots = self._slots_for(self._medoids)
        self._all: WindowSlots | None = None
        self.record = table_record(
            arrays, self.family, self.rows, self._slots, index, self._captured, self.check
        )
        self._choice = new_choice(most_recipes(self._between.shape[2]))
        self._chosen: Choice | None = None
        """What the record of a choice holds, if it is known."""
        self._outputs = best_outputs()

    def _slots_for(self, windows: IntArray) -> WindowSlots:
        return WindowSlots(
            self.frames, windows, self.length, ranking=self.ranking, family=self.family,
            masses=self.masses,
        )  # fmt: skip

    @property
    def low(self) -> float:
        """Balls below this are low, metres; the core has it in single precision."""
        return self._slots.terms.low

    def measuring(self, ask: Callable[[], None], table: Record | None = None) -> None:
        """Call the core; measure the limits of a clip and call again while it misses some.

        ``table`` is the record that the call works with, by default the engine's.
        """
        missing = (self.record if table is None else table).missing
        while True:
            try:
                return ask()
            except CoreError as error:
                if error.status != integer("ML_MISSING"):
                    raise
                with self.lock:
                    self.check.measure(int(missing[0]))

    def measure_all(self, most: int) -> None:
        """Measure the limits of all clips, in collections of up to ``most`` frames."""
        if self.frames.n_rows <= most:
            with self.lock:
                for clip in np.flatnonzero(~self.check.measured).tolist():
                    self.check.measure(clip)

    def of_thread(self) -> Record:
        """The record of the table for this thread: own memory, shared poses, index and recipes."""
        own: Record | None = getattr(self._own, "table", None)
        if own is None:
            size = _share_memory(self.record)
            memory = np.zeros(size + ALIGNED, dtype=np.uint8)
            memory = memory[-memory.ctypes.data % ALIGNED :][:size]
            own = blank("ml_table", lies_in=memory)
            with self.lock:
                _share(self.record, size, memory, own)
            self._own.table = own
        return own

    def __reduce__(self) -> tuple[object, ...]:
        # Large, quick to build, and with a lock: only the table is pickled and copied.
        return attrgetter("query_engine"), (self._owner,)

    def end_of(self, row: int) -> int:
        """Number of the representative that the window from ``row`` is nearest to."""
        number = int(self._nearest[row])
        if number == NOWHERE:
            raise TableError(f"Row {row} starts no window: its clip is shorter than one.")
        return number

    def cached(self, source: int, target: int) -> Choice:
        """The best recipes of the table with these windows as source and target, as they are.

        Their costs are those between the representatives; columns are not measured (nan).
        """
        a, b = self.end_of(source), self.end_of(target)
        count = min(TRIES - 1, self._between.shape[2])
        rows = np.full((count + 1, MOST_WAYS), -1, dtype=np.int64)
        n = fill_rows(self._between[a, b, :count], self._medoids, source, target, rows)
        costs, stored = np.full(n, FAR), self._costs[a, b, : n - 1]
        costs[: len(stored)] = stored
        return Choice(rows[:n], costs, np.full((n, len(COLUMNS)), np.nan, dtype=np.float32), n)

    def choose(self, source: int, targets: IntArray, *, rescore: int) -> Choice:
        """The best of the table's recipes, scored with the real windows, and of some others.

        Only the first is known to be the best; :meth:`score` puts the rest in order.

        Parameters
        ----------
        source
            First row of the source window.
        targets
            First rows of target windows to choose among.
        rescore
            Recipes of the table to score, shared by the targets.
        """
        for row in (source, *targets.tolist()):
            self.end_of(row)
        given = np.ascontiguousarray(targets, dtype=np.int64)
        with self.lock:
            self._chosen = None
            _choose(self.record, source, len(given), given, rescore, self._choice)
            self._chosen = choice_of(self._choice)  # as a rule it is synthesized next
            return self._chosen

    def join(
        self,
        source: int,
        targets: IntArray,
        *,
        rescore: int,
        longest: int,
        later: Sequence[int] | IntArray = (),
        banned: Sequence[tuple[int, ...]] = (),
    ) -> Choice:
        """The best candidate to one of some targets; see ``ml_table_join`` of the core.

        Only the first is known to be the best; :meth:`ranked` puts the rest in order.

        Parameters
        ----------
        source, targets, rescore
            As in :meth:`choose`.
        longest
            Frames of the longest transition.
        later
            Frames by which it may arrive after each target; none by default. (n,)
        banned
            Candidates to leave out, as :meth:`Choice.key` gives them.
        """
        for row in (source, *targets.tolist()):
            self.end_of(row)
        given = np.ascontiguousarray(targets, dtype=np.int64)
        after = np.zeros(len(given), dtype=np.int64)
        after[: len(later)] = later
        out = np.array(banned, dtype=np.int64).reshape(-1, MOST_WAYS + 1) if banned else NONE_BANNED
        with self.lock:
            self._chosen = None
            _join(
                self.record, source, len(given), given, after, rescore, longest, len(out), out,
                self._choice,
            )  # fmt: skip
            self._chosen = choice_of(self._choice)  # as a rule it is synthesized next
            return self._chosen

    def ranked(self, choice: Choice) -> Choice:
        """All candidates of a choice, scored in full and in order."""
        with self.lock:
            into = self._filled(choice)
            _judge(self.record, into)
            return choice_of(into)

    def _filled(self, choice: Choice) -> Record:
        """A choice as the core takes it, for the core to change."""
        chosen, self._chosen = self._chosen, None
        if choice is chosen:
            return self._choice
        if len(choice.rows) > self._choice.most:
            return record_of(choice)
        fill_choice(self._choice, choice)
        return self._choice

    def search(self, source: int, targets: IntArray) -> Choice:
        """The best of all recipes over the medoids, and of captured windows that are pinned."""
        with self.lock:
            choices = [self._pinned(source, targets)]
            for target in targets.tolist():
                captured = self.captured(source, target, count=CAPTURED)
                choices.append(self._slots.search(source, target, captured))
            return merged(choices)

    def choose_all(self, source: int, targets: IntArray, *, rescore: int) -> Choice:
        """As :meth:`choose`, with captured windows that are pinned; all in order."""
        blends = self.choose(source, targets, rescore=rescore)
        return merged([self._pinned(source, targets), self.score(blends.all_windows())])

    def _pinned(self, source: int, targets: IntArray) -> Choice:
        """Captured windows that are pinned between source and target."""
        joined = self.ranked(self.join(source, targets, rescore=0, longest=self.length))
        return joined.only_pinned()

    def refine(self, choice: Choice) -> Choice:
        """A better recipe than the best, if exchanging its intermediaries finds one; then the rest.

        Medoids and representatives are tried; see :func:`refine_recipe`.
        """
        with self.lock:
            if self._all is None:
                ends = np.asarray(self.arrays.ends)
                self._all = self._slots_for(np.unique(np.concatenate([self._medoids, ends])))
            blends = choice.all_windows()
            recipes = dict.fromkeys([self._all.refine(blends[0]), *blends])
            return merged([choice.only_pinned(), self._slots.score(list(recipes))])

    def score(self, recipes: Sequence[tuple[int, ...]]) -> Choice:
        """Any recipes by the first rows of their windows, best first.

        At most 32 different windows that are no medoids.
        """
        with self.lock:
            return self._slots.score(recipes)

    def reference(self, windows: Sequence[int]) -> Reference:
        """How the source and the target of a recipe move, by the first rows of its windows."""
        with self.lock:
            return self._slots.reference(windows)

    def margin(self, choice: Choice, number: int) -> float:
        """How far a candidate with known columns is above the threshold of the table's score.

        By naturalness, as its logit, or by the papers' sum in inches, which falls as blends get
        better.
        """
        windows, worth = choice.windows(number), np.zeros(1)
        with self.lock:
            _worth(self.record, windows[0], windows[-1], choice.columns[number], worth)
        return float(worth[0])

    def is_natural(self, choice: Choice, number: int) -> bool:
        """Whether a candidate with known columns passes the threshold of the table's score."""
        margin = self.margin(choice, number)
        return margin >= 0.0 if self._by_naturalness else margin > 0.0

    def captured(self, source: int, target: int, *, count: int) -> IntArray:
        """First rows of captured windows that start like one window and end like another. (n,)."""
        return self._captured.nearest(source, target, count=count, apart=max(self.length // 4, 1))

    def members_of(self, row: int) -> IntArray:
        """First rows of the nearer half of the windows of a window's cluster. (n,)."""
        lookup = self.arrays.lookup
        cluster = int(lookup.coarse[row])
        members = self._members.get(cluster)
        if members is None:  # searched once: the lookup of a large collection is long
            rows = np.flatnonzero(np.asarray(lookup.coarse) == cluster)
            clips = np.searchsorted(self.starts, rows, side="right")
            rows = rows[rows + self.length <= self.starts[clips]]
            rows = self.frames.sound(rows, self.length)
            distances = np.asarray(lookup.coarse_distance)[rows].astype(np.float32)
            members = np.asarray(rows[distances <= np.median(distances)])
            self._members[cluster] = members
        return members

    def synthesize_best(self, choice: Choice, *, still: bool = False, ranked: bool = False) -> Best:
        """Frames of the best recipe that passes the quality check; with ``still``, on still feet.

        With ``ranked`` only recipes that are in order are tried.

        If none of the first few recipes passes and no foot slips, the feet of the first are left as
        the blend has them. If none passes, the one that fails least is returned.
        """
        frames = new_frames(self.length, self.rows.record.n_joints)
        number, feet, errors, failed, n_failed = self._outputs
        with self.lock:
            into = self._filled(choice)
            if ranked:
                into.count = choice.ranked
            self.measuring(lambda: _best(self.record, into, still, frames, *self._outputs))
            failures, names = failed[: n_failed[0]].copy(), self.frames.skeleton.names
            # It is put in order where its first recipe fails.
            judged = choice if into.ranked == choice.ranked else choice_of(into)
            return Best(
                synthesis_of(frames, errors),
                judged,
                int(number[0]),
                bool(feet[0]),
                Checked(failures, self.check.check_rig, names),
            )


def table_record(
    arrays: TableArrays,
    family: str,
    rows: Rows,
    slots: WindowSlots,
    index: WindowIndex,
    captured: CapturedBetween,
    check: TableCheck,
) -> Record:
    """The record of a table: all that the core looks up for a transition.

    Parameters
    ----------
    arrays, family
        Recipes between representatives, and the weights of their blends.
    rows
        Of the collection.
    slots
        The table's medoids, and windows of queries.
    index, captured
        All captured windows, and the search for those between two others.
    check
        Of the collection: its limits are measured later.
    """
    frames, length = check.frames, slots.terms.length
    between = np.ascontiguousarray(arrays.between)
    weights = np.zeros((MOST_WAYS, MOST_WAYS, length))
    for n in range(MOST_WAYS):
        weights[n, : n + 1] = weights_of(family, n + 1, length)
    fields = {
        "n_clips": len(frames.starts) - 1,
        "n_jumps": len(frames.glitch_rows),
        "n_medoids": len(arrays.medoids),
        "n_ends": len(between),
        "n_recipes": between.shape[2],
        "n_limits": check.limits.shape[1],
        "n_labels": 0,
        "n_pieces": 0,
        "length": length,
        "fps": frames.fps,
        "rows": rows.record,
        "rig": check.rig.record,
        "check_rig": check.check_rig.core,
        **slots.records(),
        "index": index.windows_record(),
        "by_start": index.lists_record("by_start"),
        "by_both": index.lists_record("by_both"),
        "seen": captured.seen,
        "starts": np.ascontiguousarray(frames.starts, dtype=np.int64),
        "jumps": np.ascontiguousarray(frames.glitch_rows, dtype=np.int64),
        "medoids": np.ascontiguousarray(arrays.medoids, dtype=np.int64),
        "nearest": np.ascontiguousarray(arrays.lookup.fine, dtype=np.uint16),
        "between": between,
        "costs": np.ascontiguousarray(np.asarray(arrays.costs)[:, :, 0], dtype=np.float32),
        "spokes": np.zeros(0, dtype=np.int64),
        "first_piece": np.zeros(1, dtype=np.int64),
        "pieces": np.zeros((0, 2), dtype=np.int64),
        "speeds": np.ascontiguousarray(index.speeds[:, 0], dtype=np.float64),
        "weights": weights,
        "limits": check.limits,
        "hovers": check.hovers,
        "slowest": check.slowest,
        "measured": check.measured,
        "met": slots.slots,
        "missing": np.zeros(1, dtype=np.int64),
        "n_characters": 0,
        "n_names": 0,
        "names": np.zeros(0, dtype=np.uint8),
        "name_at": np.zeros(0, dtype=np.int64),
    }
    nothing = np.zeros(0, dtype=np.uint8)
    n_work = _work(record("ml_table", **fields, n_work=0, work=nothing))
    return record("ml_table", **fields, n_work=n_work, work=np.zeros(n_work, dtype=np.uint8))
