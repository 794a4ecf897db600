"""The result of a transition made from a table, and the recipes that were looked at for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, overload

import numpy as np

from motionloom._records import record
from motionloom.features.checks.verification import Verification
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.tables.collection.clip_frames import FloatArray32
from motionloom.tables.collection.frames import Frames
from motionloom.tables.query_engine import QueryEngine
from motionloom.tables.query_records import Choice
from motionloom.tables.score.columns import COLUMNS, PAPER
from motionloom.tables.score.natural import THRESHOLD, Reference, naturalness
from motionloom.tables.score.recipe import Recipe
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


@dataclass(frozen=True, slots=True, eq=False)
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
        The recipes that were scored, best first; with ``rescore=0`` those of the table.
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
    passed_over : int
        Candidates that cost less and fail the quality check.
    still_feet : bool
        Whether planted feet of captured windows are held still instead of drifting as captured.
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
    passed_over: int = 0
    still_feet: bool = False

    @property
    def cleanup(self) -> None:
        """No report: the table holds feet while it blends; ``foot_error`` is what that moved."""
        return None

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
        """Why this candidate was taken, in a sentence."""
        recipe, fps = self.recipe, self.frames.fps
        between = [self.frames.place_of(row) for row in dict.fromkeys(recipe.rows[1:-1])]
        names = " and ".join(f"{name} from frame {frame}" for name, frame in between)
        if recipe.pinned:
            what = f"captured motion of {names}, bent to meet both ends,"
        elif between:
            what = f"a blend over {names}"
        else:
            what = "a plain blend of source and target"
        if self.candidates.form == "paper":
            says = f"{what} is the cached recipe of the two clusters"
            if not self.verification.passed:
                says += "; it fails the quality check, and the papers' table has no other"
            return f"{says[0].upper()}{says[1:]}."
        is_cheapest = self.taken.cost <= self.candidates[self.passed_over].cost
        how = "costs least" if is_cheapest else "is the most natural"
        if recipe.pinned and not is_cheapest and self.score.natural:
            how = "is natural and comes before blends,"
        says = f"{what} {how} of {len(self.candidates)} candidates"
        if not self.verification.passed:
            says = f"{what} fails the quality check least of {len(self.candidates)} candidates"
        elif self.passed_over:
            cheaper = f"{self.passed_over} cheaper ones fail it or are not natural"
            says += f" that pass the quality check ({cheaper})"
        if any(self.plays):
            before, after = (f"{frames / fps:.2f} s" for frames in self.plays)
            moved = [f"the source's clip plays on for {before}"] * (self.plays[0] > 0)
            moved += [f"the target's clip is entered {after} sooner"] * (self.plays[1] > 0)
            says += (
                f"; nothing of {recipe.length / fps:g} s was natural between the frames asked for, "
                f"so {' and '.join(moved)}"
            )
        says += "; its held feet stand still" if self.still_feet else ""
        return f"{says[0].upper()}{says[1:]}."

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
