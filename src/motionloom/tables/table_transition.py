"""TableTransition: the result of ``table.transition``, its candidates, and why it was taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, overload

import numpy as np

from motionloom._records import record
from motionloom.features.checks.verification import Verification
from motionloom.motion.motion import Footplants, Motion
from motionloom.motion.provenance import Provenance
from motionloom.tables.choice import Choice
from motionloom.tables.collection.frames import FloatArray32, Frames
from motionloom.tables.query_engine import QueryEngine
from motionloom.tables.score.columns import COLUMNS, PAPER
from motionloom.tables.score.natural import THRESHOLD, Reference, naturalness
from motionloom.tables.score.recipe import Recipe, rows_at
from motionloom.tables.score.score import THRESHOLD_IN, Score
from motionloom.tables.synthesis.table_check import Checked


@record
class Candidate(NamedTuple):
    """One recipe that was scored.

    Attributes
    ----------
    recipe : Recipe
        Windows and weights.
    cost : float
        By the table's ranking; lower is better.
    columns : dict
        What was measured; see :data:`motionloom.tables.score.columns.COLUMNS`.
    """

    recipe: Recipe
    cost: float
    columns: dict[str, float]

    @property
    def paper_inches(self) -> float:
        """The papers' sum."""
        return float(PAPER.cost(np.array([list(self.columns.values())], dtype=np.float32))[0])


def recipe_of(engine: QueryEngine, choice: Choice, number: int) -> Recipe:
    """One candidate of a choice as a recipe."""
    rows, pinned = choice.windows(number), choice.is_pinned(number)
    return Recipe(rows, engine.length, engine.family, pinned=pinned)


class Candidates(Sequence[Candidate]):
    """Recipes that were scored, best first.

    Most of them are scored in full, and sorted, only when one of them is read.
    """

    form = "natural"
    """What calls a transition natural, see :meth:`Score.of_columns`."""

    def __init__(self, choice: Choice, engine: QueryEngine) -> None:
        self._choice, self._engine = choice, engine

    def __len__(self) -> int:
        return len(self._choice.costs)

    def __reduce__(self) -> tuple[object, ...]:
        return Candidates, (self._choice, self._engine)

    def __repr__(self) -> str:
        return f"Candidates({len(self)} recipes)"

    @property
    def where(self) -> str:
        """Words for the frames that all of them join; empty if these differ."""
        rows = self._choice.rows
        last = rows[np.arange(len(rows)), np.sum(rows >= 0, axis=1) - 1]
        shared = (rows[:, 0] == rows[0, 0]).all() and (last == last[0]).all()
        return " between the frames it joins" if shared else ""

    def reference(self, recipe: Recipe) -> Reference:
        """How the source and the target of a recipe move: the scale of naturalness.

        Returns
        -------
        Reference
            Speeds and sizes of the two windows.
        """
        return self._engine.reference(recipe.rows)

    @overload
    def __getitem__(self, at: int) -> Candidate: ...

    @overload
    def __getitem__(self, at: slice) -> list[Candidate]: ...

    def __getitem__(self, at: int | slice) -> Candidate | list[Candidate]:
        if isinstance(at, slice):
            return [self[k] for k in range(*at.indices(len(self)))]
        if np.isnan(self._choice.columns[-1, 0]):
            self._choice = self._engine.ranked(self._choice)
        measured = dict(zip(COLUMNS, self._choice.columns[at].tolist(), strict=True))
        recipe = recipe_of(self._engine, self._choice, at)
        return Candidate(recipe, float(self._choice.costs[at]), measured)


@dataclass(frozen=True, eq=False)
@record
class TableTransition:
    """A transition of a table, and how it was chosen.

    Attributes
    ----------
    motion : Motion
        The transition, with the frames before and after it.
    footplants : Footplants
        Contacts that are held.
    span : tuple of two int
        First and last blended frame of ``motion``.
    recipe : Recipe
        Windows and weights of the blend that was taken.
    candidates : Candidates
        The recipes that were scored, best first; with ``rescore=0`` those stored in the table and
        the plain blend.
    decided : tuple of str
        Decisions: windows shifted at a clip's end, recipes passed over, feet that were not held.
    measured : array
        What was measured of the recipe, as :data:`~motionloom.tables.score.columns.COLUMNS`; nan
        where it was taken as it is. (C,)
    foot_error : float
        Mean distance by which planted feet were moved, metres.
    clips : tuple of str
        Clips that the windows come from, and the lead and what follows.
    frames : Frames
        Frames of the table's collection.
    checked : Checked
        What the table's quick check found; :attr:`verification` puts it in words.
    plays : tuple of two int
        Captured frames between the frame asked for and the blend: of the source's clip before it,
        of the target's clip after it.
    late : int
        Frames after the target at which it arrives: within ``tolerance_s`` of ``earliest``. A label
        may be reached at any of its frames, which is not late.
    earliest : int
        Frames after the target at which its clip's first window ends; 0 but near a clip's start.
    passed_over : int
        Candidates that come before it and were left out; a note gives the reason.
    still_feet : bool
        Whether planted feet of captured windows are held still instead of drifting as captured.
    variation : int or None
        The number that it was drawn by; None if it is the first choice.
    """

    motion: Motion
    footplants: Footplants
    span: tuple[int, int]
    recipe: Recipe
    candidates: Candidates
    decided: tuple[str, ...]
    measured: FloatArray32 = field(repr=False)
    foot_error: float
    clips: tuple[str, ...]
    frames: Frames = field(repr=False)
    checked: Checked = field(repr=False)
    plays: tuple[int, int] = (0, 0)
    late: int = 0
    earliest: int = 0
    passed_over: int = 0
    still_feet: bool = False
    variation: int | None = None

    @property
    def cleanup(self) -> None:
        """No report: the table holds feet while it blends; ``foot_error`` is what that moved."""
        return None

    @cached_property
    def provenance(self) -> Provenance:
        """Clips, times and weights of every frame; the clips are :meth:`sources`, in their order.

        Frames before and after the blend are a clip's own. Captured windows that were bent to meet
        both ends have the weights of their slow parts, and the first and the last frame are those
        of source and target.
        """
        at, weights = rows_at(self.frames, self.recipe).astype(np.float64), self.recipe.weights().T
        if self.recipe.pinned:
            weights[[0, -1]] = 0.0
            weights[0, 0] = weights[-1, -1] = 1.0
        before, after = self.span[0], self.motion.n_frames - 1 - self.span[1]
        n_ways = self.recipe.n_ways
        alone = np.zeros((before + after, n_ways))
        alone[:before, 0] = alone[before:, -1] = 1.0
        played = np.zeros((before + after, n_ways))
        played[:before, 0] = at[0, 0] - np.arange(before, 0, -1)
        played[before:, -1] = at[-1, -1] + np.arange(1, after + 1)
        changed = np.ones(self.motion.n_frames, dtype=np.bool_)
        changed[:before] = changed[self.span[1] + 1 :] = False
        return self.frames.provenance(
            np.concatenate([played[:before], at, played[before:]]),
            np.concatenate([alone[:before], weights, alone[before:]]),
            changed,
            names=self.clips,
        )

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
        """What was decided, failed checks, and a note if the transition is not natural."""
        decided = self.decided
        if not self.checked.passed:
            decided += tuple(f"failed check: {each}" for each in self.verification.failed)
        if not np.isfinite(self.measured[0]):
            return decided
        if self.candidates.form == "paper":
            sum_in = float(self.score.total)
            fine = sum_in < THRESHOLD_IN
            return decided if fine else (*decided, f"not natural: a sum of {sum_in:.1f} inches")
        reference = self.candidates.reference(self.recipe)
        likely = float(naturalness(self.measured, reference, failed=self.failed)[0])
        if likely >= THRESHOLD:
            return decided
        return (*decided, f"not natural: a naturalness of {likely:.2f}, natural from {THRESHOLD:g}")

    @property
    def why(self) -> str:
        """Why this candidate was taken, in one or two sentences."""
        sentences = [f"{self._made_of()} {self._reason()}"]
        moved = self._moved()
        if moved:
            sentences.append(
                f"{' and '.join(moved)}: without that, the cheapest of the nearest captured motion "
                "and of blends with and without it are not natural or fail the quality check, and "
                "recipes of the table come last"
            )
        elif self.candidates.form == "paper" and not self.verification.passed:
            other = "" if self.variation is not None else ", and the papers' table has no other"
            sentences.append(f"it fails the quality check{other}")
        return " ".join(f"{each[0].upper()}{each[1:]}." for each in sentences)

    def _moved(self) -> list[str]:
        """How it differs from a blend between the frames asked for, in words."""
        before, after, late = (n / self.frames.fps for n in (*self.plays, self.late))
        moved = [f"the source's clip plays on for {before:.2f} s"] * (before > 0)
        moved += [f"the target's clip is entered {after:.2f} s sooner"] * (after > 0)
        chosen = self.late > self.earliest
        moved += [f"it arrives {late:.2f} s after the frame asked for"] * chosen
        return moved

    def _made_of(self) -> str:
        """What is blended, in words."""
        rows = self.recipe.rows
        between = [self.frames.place_of(row) for row in dict.fromkeys(rows[1:-1])]
        names = " and ".join(f"{name} from frame {frame}" for name, frame in between)
        if self.recipe.pinned:
            return f"captured motion of {names}, bent to meet both ends,"
        return f"a blend over {names}" if between else "a plain blend of source and target"

    def _reason(self) -> str:
        """What distinguishes it from the other candidates, in words."""
        if self.candidates.form == "paper":
            is_one = "is" if self.variation is None else f"is variation {self.variation} of"
            return f"{is_one} the cached recipe of the two clusters"
        still = ", and its held feet stand still" if self.still_feet else ""
        if self.variation is not None:
            return (
                f"is variation {self.variation}: it passes the quality check and costs at most a "
                f"little more than the first choice{still}"
            )
        taken = self.taken.cost
        cheaper = sum(each.cost < taken for each in self.candidates)
        return f"{self._rank(cheaper)}{still}"

    def _rank(self, cheaper: int) -> str:
        """Its place among the candidates, ``cheaper`` of which cost less, in words."""
        left = self.passed_over
        those = f"of {len(self.candidates)} candidates{self.candidates.where}"
        if not self.verification.passed:
            return f"fails the quality check least {those}"
        if not np.isfinite(self.measured[0]):
            stored = "a stored recipe that fails" if left == 1 else f"{left} stored ones that fail"
            return f"follows {stored} the quality check" if left else "is the first stored recipe"
        if cheaper == 0:
            return f"costs least {those}"
        if self.recipe.pinned and self.score.natural:
            return f"is natural and, as captured motion, comes before the {cheaper} cheaper {those}"
        if left:
            one = cheaper == 1
            fail, are = ("fails", "is") if one else ("fail", "are")
            why = f"{fail} the quality check with held feet or {are} less natural"
            if cheaper + 1 == len(self.candidates):
                return f"is left {those}: the {'other' if one else 'others'} {why}"
            return f"costs least {those} except {cheaper}, which {why}"
        return f"is the most natural {those}"

    @property
    def taken(self) -> Candidate:
        """The candidate that was made."""
        rows, pinned = self.recipe.rows, self.recipe.pinned
        return next(
            each
            for each in self.candidates
            if each.recipe.rows == rows and each.recipe.pinned == pinned
        )

    @property
    def score(self) -> Score:
        """How good the recipe taken is before its feet are held; known before it is made."""
        columns = np.array(list(self.taken.columns.values()), dtype=np.float32)
        reference = self.candidates.reference(self.recipe)
        form = self.candidates.form
        return Score.of_columns(columns, reference, form=form, failed=self.failed)

    @property
    def cost(self) -> float:
        """What the recipe taken costs by the table's ranking; lower is better."""
        return self.taken.cost

    def sources(self) -> list[Motion]:
        """The clips that it was made from, whole: what ``verify`` compares it with.

        Returns
        -------
        list of Motion
            Each clip once.
        """
        starts = self.frames.starts
        at = [self.frames.ids.index(name) for name in self.clips]
        return [self.frames.motion(int(starts[k]), int(starts[k + 1]) - 1) for k in at]
