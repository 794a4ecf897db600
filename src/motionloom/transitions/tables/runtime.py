"""transition(): from any frame of a collection to any other, or to a label, by a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, overload

import numpy as np

from motionloom._arrays import FloatArray, IntArray, not_negative, whole
from motionloom._records import record
from motionloom.errors import ArrayError
from motionloom.features.verify import Verification
from motionloom.motion.contacts import Footplants
from motionloom.motion.feet import foot_points
from motionloom.motion.motion import Motion
from motionloom.rotation import quat
from motionloom.transitions.collecting.frames import FloatArray32, Frames
from motionloom.transitions.making.labels import keep_true_labels
from motionloom.transitions.making.recipe import Recipe
from motionloom.transitions.making.synthesis import Synthesis
from motionloom.transitions.scoring.columns import COLUMNS, PAPER
from motionloom.transitions.scoring.natural import THRESHOLD, naturalness
from motionloom.transitions.scoring.reference import Reference
from motionloom.transitions.scoring.score import Score
from motionloom.transitions.tables.met_windows import Choice
from motionloom.transitions.tables.ready_table import Best, ReadyTable
from motionloom.transitions.tables.runtime_table import RuntimeTable
from motionloom.transitions.tables.table_check import Checked

__all__ = [
    "Candidate",
    "Candidates",
    "Place",
    "TableTransition",
    "assembled",
    "captured_rows",
    "ready",
    "transition",
]

Place = tuple[str, int]
"""A clip's id and a frame of it."""

UP = np.array([0.0, 1.0, 0.0])
DRAWS = 12
"""Recipes with other members of the same clusters that a variation is chosen among."""
WORSE = 1.5
"""A variation may cost this much more than the best, as part of the best's cost and at least of
one inch."""


@record
class Candidate(NamedTuple):
    """One recipe that was looked at."""

    recipe: Recipe
    cost: float
    """By the table's ranking; lower is better."""
    columns: dict[str, float]
    """What was measured; see :data:`motionloom.transitions.scoring.columns.COLUMNS`."""

    @property
    def paper_inches(self) -> float:
        """The papers' sum."""
        return float(PAPER.cost(np.array([list(self.columns.values())], dtype=np.float32))[0])


class Candidates(Sequence[Candidate]):
    """Recipes that were looked at, best first.

    Of most no more was found out than that they are not the best: they are judged in full, and put
    in order, when one is asked for.
    """

    def __init__(self, choice: Choice, table: ReadyTable) -> None:
        self._choice, self._table = choice, table

    def __len__(self) -> int:
        return len(self._choice.costs)

    def __reduce__(self) -> tuple[object, ...]:
        # A ready table is large and quick to make: only what it is made from is pickled.
        return _candidates_of, (self._choice, self._table.table)

    def __repr__(self) -> str:
        return f"Candidates({len(self)} recipes)"

    def reference(self, recipe: Recipe) -> Reference:
        """How the source and the target of a recipe move: the scale of naturalness."""
        return self._table.reference(recipe.rows)

    @overload
    def __getitem__(self, at: int) -> Candidate: ...

    @overload
    def __getitem__(self, at: slice) -> list[Candidate]: ...

    def __getitem__(self, at: int | slice) -> Candidate | list[Candidate]:
        if isinstance(at, slice):
            return [self[k] for k in range(*at.indices(len(self)))]
        if np.isnan(self._choice.columns[-1, 0]):
            known = [self._choice.windows(n) for n in range(len(self))]
            self._choice = self._table.judge(known)
        rows = self._choice.windows(at)
        measured = dict(zip(COLUMNS, self._choice.columns[at].tolist(), strict=True))
        recipe = Recipe(rows, self._table.length, self._table.family)
        return Candidate(recipe, float(self._choice.costs[at]), measured)


def _candidates_of(choice: Choice, table: RuntimeTable) -> Candidates:
    return Candidates(choice, ready(table))


@dataclass(frozen=True, slots=True, eq=False)
@record
class TableTransition:
    """A transition made from a table, and how it came about."""

    motion: Motion
    footplants: Footplants
    span: tuple[int, int]
    """First and last blended frame of ``motion``."""
    recipe: Recipe
    candidates: Candidates
    """The recipes that were looked at, best first; without re-scoring those of the table."""
    decided: tuple[str, ...]
    """Windows shifted at a clip's end, recipes passed over, feet left alone."""
    measured: FloatArray32 = field(repr=False)
    """What was measured of the recipe, as :data:`~motionloom.transitions.scoring.columns.COLUMNS`;
    nan where it was taken as it is. (C,)"""
    foot_error: float
    """Mean distance by which feet were moved to where they stand, metres."""
    clips: tuple[str, ...]
    """Clips that the windows come from, and the lead and what follows."""
    frames: Frames = field(repr=False)
    checked: Checked = field(repr=False)

    @property
    def verification(self) -> Verification:
        """Quality check of the blended frames against the clips that they were made from."""
        return self.checked.verification(self.span[0])

    @property
    def failed(self) -> tuple[str, ...]:
        """Names of the quality checks that the motion fails; it is not natural then."""
        return tuple(each.check for each in self.verification.failed)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was decided, failed checks, and that it is not natural where it is not."""
        decided = self.decided
        if not self.checked.passed:
            decided += tuple(f"failed check: {each}" for each in self.verification.failed)
        if not np.isfinite(self.measured[0]):
            return decided
        reference = self.candidates.reference(self.recipe)
        likely = float(naturalness(self.measured, reference, failed=self.failed)[0])
        if likely >= THRESHOLD:
            return decided
        said = f"not natural: a naturalness of {likely:.2f}, natural from {THRESHOLD:g}"
        return (*decided, said)

    @property
    def taken(self) -> Candidate:
        """The candidate that was made."""
        rows = self.recipe.rows
        return next(each for each in self.candidates if each.recipe.rows == rows)

    @property
    def score(self) -> Score:
        """How good the recipe taken is before its feet are held; known before it is made."""
        columns = np.array(list(self.taken.columns.values()), dtype=np.float32)
        reference = self.candidates.reference(self.recipe)
        return Score.of_columns(columns, reference, failed=self.failed)

    @property
    def cost(self) -> float:
        """What the recipe taken costs by the table's ranking; lower is better."""
        return self.taken.cost

    def sources(self) -> list[Motion]:
        """The clips that it was made from, whole: what ``verify`` holds it against."""
        starts = self.frames.starts
        at = [self.frames.ids.index(name) for name in self.clips]
        return [self.frames.motion(int(starts[k]), int(starts[k + 1]) - 1) for k in at]


def ready(table: RuntimeTable) -> ReadyTable:
    """The table made ready; done once for each table, on its first transition.

    It lies in the table itself, which it needs: in a dictionary with weak keys both would stay for
    ever, with all files of the table open.
    """
    kept = vars(table)
    if "_ready" not in kept:
        kept["_ready"] = ReadyTable(table)
    found: ReadyTable = kept["_ready"]
    return found


def transition(
    table: RuntimeTable,
    src: Place,
    dst: Place | None = None,
    *,
    label: str | None = None,
    lead_s: float = 0.0,
    follow_s: float = 0.0,
    rescore: int = 32,
    variation: int | None = None,
    search: bool | Literal["refine"] = False,
) -> TableTransition:
    """A motion that leaves the source's frame and arrives at the target's, feet on the ground.

    Parameters
    ----------
    table
        With recipes between representatives of a collection.
    src, dst
        Clip and frame to leave from and to arrive at. Near a clip's end (source) or start (target)
        the clip's last or first window is taken, and a note says so.
    label
        In place of ``dst``: arrive at any frame with this label.
    lead_s, follow_s
        Seconds of the source's clip before, and of the target's clip after.
    rescore
        Recipes of the table to judge with the real windows; 0 takes the first as it is.
    variation
        A number: another transition of the same kind for each, little worse at most.
    search
        ``"refine"`` exchanges the intermediaries of the best recipe, one at a time, for any medoid
        or representative as long as that makes it better. True judges all recipes over the medoids
        first, and refines the best of them. They take ten and thirty milliseconds.

    Raises
    ------
    TableError
        If a place is not in the collection or its clip is shorter than a window.
    """
    if (dst is None) == (label is None):
        raise ArrayError("Say where to go by `dst` or by `label`, and not by both.")
    lead_s, follow_s = not_negative(lead_s, "lead_s"), not_negative(follow_s, "follow_s")
    rescore = whole(rescore, "rescore", least=0)
    if variation is not None:
        variation = whole(variation, "variation", least=0)
    if not isinstance(search, bool) and not (isinstance(search, str) and search == "refine"):
        raise ArrayError(f'`search` must be True, False or "refine", got {search!r}.')
    at = ready(table)
    notes: list[str] = []
    source = _window(at, src, notes, leaving=True)
    if label is not None:
        targets = at.targets_of(label, source)
    else:
        assert dst is not None
        targets = np.array([_window(at, dst, notes, leaving=False)])
    if search is True:
        choice = at.search(source, targets)
    elif rescore or search:
        choice = at.choose(source, targets, rescore=max(rescore, 1))
    else:
        choice = at.cached(source, int(targets[0]))
    if search:
        choice = at.refine(choice)
    if variation is not None:
        choice = _varied(at, choice, variation)
    best = at.make_best(choice)
    if best.number > 0:
        notes.append(f"{best.number} better recipes were left: they fail the quality check")
    if not best.feet:
        notes.append("feet are left as the blend has them: held, they would fail the check")
    return assembled(at, best, lead_s, follow_s, tuple(notes))


def _window(at: ReadyTable, place: Place, notes: list[str], *, leaving: bool) -> int:
    """First row of the window that starts, or ends, at a place, or as near as the clip has one."""
    row = at.row_of(place)
    first, moved = at.window_at(row, leaving=leaving)
    if moved:
        said = ("starts", "before") if leaving else ("ends", "after")
        notes.append(
            f"the transition {said[0]} {moved} frames {said[1]} frame {place[1]} of {place[0]}: "
            "the clip has no whole window there"
        )
    return first


def _varied(at: ReadyTable, choice: Choice, variation: int) -> Choice:
    """Recipes like the best one over intermediaries, with other members of the same clusters.

    In the order in which they were drawn, less those that cost too much more than it does; it
    comes last, should none be left.
    """
    if choice.ranked < len(choice.rows):
        choice = at.judge([choice.windows(n) for n in range(len(choice.rows))])
    ways = np.sum(choice.rows >= 0, axis=1)
    over = np.flatnonzero(ways > 2)
    best = int(over[0]) if len(over) else 0
    windows = choice.windows(best)
    draw = np.random.Generator(np.random.PCG64([variation, windows[0], windows[-1]]))
    members = [at.members_of(row) for row in windows[1:-1]]
    if not members:
        return choice
    known = at.judge([windows])
    drawn = {
        (windows[0], *(int(draw.choice(some)) for some in members), windows[-1]): None
        for _ in range(DRAWS)
    }
    judged = [at.judge([recipe]) for recipe in drawn if recipe != windows]
    limit = known.costs[0] + WORSE * max(abs(known.costs[0]), 1.0)
    fine = [*(each for each in judged if each.costs[0] <= limit), known]
    return Choice(
        np.concatenate([each.rows for each in fine]),
        np.concatenate([each.costs for each in fine]),
        np.concatenate([each.columns for each in fine]),
        len(fine),
    )


def assembled(
    at: ReadyTable,
    best: Best,
    lead_s: float,
    follow_s: float,
    decided: tuple[str, ...],
) -> TableTransition:
    """The result, with the clips before and after it where they are wanted.

    Parameters
    ----------
    at
        The table made ready.
    best
        The recipe taken, its frames and its quality check.
    lead_s, follow_s
        Seconds of the source's clip before, and of the target's clip after.
    decided
        What to say about it.
    """
    frames, made, choice, taken = at.frames, best.made, best.choice, best.number
    windows = choice.windows(taken)
    recipe = Recipe(windows, at.length, at.family)
    span = (0, at.length - 1)
    root, quats, planted = made.root_positions, made.local_quats, made.planted
    if lead_s or follow_s:
        lead, follow = (round(min(s * frames.fps, frames.n_rows)) for s in (lead_s, follow_s))
        before = _clip_part(frames, windows[0], -lead)
        after = _clip_part(frames, windows[-1] + at.length - 1, follow)
        carried = _carried(frames, after, made)
        first = captured_rows(frames, before)
        root = np.concatenate([first[0], root, carried[0]])
        quats = np.concatenate([first[1], quats, carried[1]])
        planted = np.concatenate([frames.planted[before], planted, frames.planted[after]])
        span = (len(before), len(before) + at.length - 1)
    ids = [frames.ids[at.clip_at(row)] for row in windows]
    name = f"{ids[0]} to {ids[-1]}"
    for part in (root, quats):
        part.flags.writeable = False  # its own: a motion need not copy it
    motion = Motion(frames.skeleton, root, quats, frames.fps, name=name)
    if lead_s or follow_s:  # clips move points that they label as planted
        keep_true_labels(foot_points(motion, body=frames.body_map), frames.fps, planted)
    return TableTransition(
        motion,
        Footplants(planted),
        span,
        recipe,
        Candidates(choice, at),
        decided,
        choice.columns[taken],
        made.foot_error,
        tuple(dict.fromkeys(ids)),
        frames,
        best.checked,
    )


def _clip_part(frames: Frames, row: int, count: int) -> IntArray:
    """Up to ``count`` rows of a clip after a row, or before it where ``count`` is negative."""
    clip = frames.clip_at(row)
    if count < 0:
        return np.arange(max(row + count, int(frames.starts[clip])), row)
    return np.arange(row + 1, min(row + count + 1, int(frames.starts[clip + 1])))


def captured_rows(frames: Frames, rows: IntArray) -> tuple[FloatArray, FloatArray]:
    """Root (n, 3) and local rotations (n, J, 4) of rows, where their clip has them."""
    quats = quat.normalize(frames.quats[rows].astype(np.float64))
    quats[:, 0] = quat.multiply(quat.from_axis_angle(UP, frames.heading[rows]), quats[:, 0])
    ground = frames.ground[rows]
    return np.stack([ground[:, 0], frames.body[rows, 0, 1], ground[:, 1]], axis=1), quats


def _carried(frames: Frames, rows: IntArray, made: Synthesis) -> tuple[FloatArray, FloatArray]:
    """Rows that follow the target window, moved rigidly to go on from where the blend ends."""
    root, quats = captured_rows(frames, rows)
    if not len(rows):
        return root, quats
    last = rows[0] - 1
    turn = float(made.heading[-1] - frames.heading[last])
    cos, sin = np.cos(turn), np.sin(turn)
    x, z = (frames.ground[rows] - frames.ground[last]).T
    root[:, 0] = made.root_positions[-1, 0] + cos * x + sin * z
    root[:, 2] = made.root_positions[-1, 2] + cos * z - sin * x
    quats[:, 0] = quat.multiply(quat.from_axis_angle(UP, np.array(turn)), quats[:, 0])
    return root, quats
