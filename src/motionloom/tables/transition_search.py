"""transition(): the search of a table for a motion from a frame to a frame, or to a label.

The story of ``table.transition``: windows at both places, candidates of rising duration until one
is natural and passes the quality check, a variation of it where one is wanted, and the result with
its notes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, product
from typing import Literal

import numpy as np

from motionloom._arrays import IntArray, flag, not_negative, positive, whole
from motionloom._core import integer, kernel
from motionloom.errors import ArrayError
from motionloom.motion.motion import Footplants, Motion
from motionloom.tables.choice import Choice, frames_of, new_frames, synthesis_of
from motionloom.tables.query_engine import RANKED, Best, QueryEngine
from motionloom.tables.score.columns import COLUMNS
from motionloom.tables.score.recipe import MOST_WAYS
from motionloom.tables.synthesis.synthesis import Synthesis
from motionloom.tables.table_places import Place
from motionloom.tables.table_transition import Candidates, TableTransition, recipe_of

MOST_LENGTHS = integer("ML_TABLE_JOINED")
"""The longest transition, in lengths of a window."""
LONGEST_TRANSITION_S = 2.0
"""Seconds of the longest transition, unless windows of the table are longer."""
JOINS = 2
"""Searches for a natural candidate that also passes the quality check, at most."""
MOST_RESCORED = 1_000_000
"""More recipes than any two frames have in a table; a greater number given means all of them."""
UNVARIED = (
    "not varied: no drawn recipe passes the quality check, costs at most a little more and is "
    "natural where this one is"
)
_play = kernel("ml_table_played")
DRAWS = 12
"""Recipes that a variation is chosen among."""
NEAREST = 12
"""Captured windows that start like the source and end like the target, to draw from."""
WORSE = 0.5
"""A variation may cost this much more than the first transition, as a part of that cost or of one
inch, whichever is more."""
Key = tuple[int, ...]
"""First rows of a recipe's windows, -1 where there are fewer, and 1 if pinned."""


@dataclass(frozen=True, slots=True)
class TransitionRequest:
    """A transition as it is asked for; see :meth:`TransitionTable.transition`."""

    source: Place
    target: Place | None
    label: str | None
    lead_s: float
    follow_s: float
    longest_s: float | None
    tolerance_s: float
    rescore: int
    variation: int | None
    search: bool | Literal["refine"]
    still_feet: bool

    def __post_init__(self) -> None:
        if self.longest_s is not None:
            positive(self.longest_s, "longest_s")
        not_negative(self.tolerance_s, "tolerance_s")
        if (self.target is None) == (self.label is None):
            raise ArrayError("Give `target` or `label` to say where to go, and not both.")
        not_negative(self.lead_s, "lead_s")
        not_negative(self.follow_s, "follow_s")
        whole(self.rescore, "rescore", least=0)
        flag(self.still_feet, "still_feet")
        if self.variation is not None:
            whole(self.variation, "variation", least=0)
        is_name = isinstance(self.search, str) and self.search == "refine"
        if not isinstance(self.search, bool) and not is_name:
            raise ArrayError(f'`search` must be True, False or "refine", got {self.search!r}.')

    @property
    def is_default(self) -> bool:
        """Whether candidates of any duration are looked at."""
        return not self.search and self.rescore > 0


def transition(engine: QueryEngine, request: TransitionRequest) -> TableTransition:
    """A motion from the source's frame to the target's, with feet on the ground.

    Near a clip's end (source) or start (target) the clip's last or first window is taken, and a
    note reports it.

    Raises
    ------
    TableError
        If a place is not in the collection or its clip is shorter than a window.
    """
    _refuse_times(request)
    notes: list[str] = []
    source = window_of(engine, request.source, notes, leaving=True)
    moved: list[str] = []
    if request.target is None:
        assert request.label is not None
        targets = engine.labels.of(request.label, engine.end_of(source))
    else:
        targets = np.array([window_of(engine, request.target, moved, leaving=False)])
    notes += _times_changed(engine, request)
    if request.is_default:
        best = find_transition(engine, source, targets, request)
    else:
        chosen = _chosen(engine, source, targets, request)
        best = engine.synthesize_best(chosen, still=request.still_feet)
    variation, varied = request.variation, None
    if variation is not None:
        varied = vary(engine, best, int(variation), still=request.still_feet)
        if varied is None:
            notes.append(UNVARIED)
    passed_over = 0 if varied else best.number
    if passed_over:
        notes.append(_left_out(engine, best))
    best = best if varied is None else varied
    windows = best.choice.windows(best.number)
    plays = windows[0] - source, _sooner(targets, windows[-1])
    earliest, late = late_frames(engine, request, targets, windows[-1])
    notes += _plays_of(engine, plays)
    notes += _late_of(engine, earliest, late) if late > earliest else moved
    if not best.feet:
        notes.append("feet are left as the blend has them: held, they would fail the check")
    around = float(request.lead_s), float(request.follow_s)
    result = assembled(engine, best, around, tuple(notes), plays=plays)
    return replace(
        result,
        late=late,
        earliest=earliest,
        passed_over=passed_over,
        still_feet=request.still_feet and best.feet and result.recipe.pinned,
        variation=None if varied is None else variation,
    )


def _refuse_times(request: TransitionRequest) -> None:
    """Refuse times to play on with options that only try the frames asked for."""
    if request.is_default:
        return
    given = f"search={request.search!r}" if request.search else "rescore=0"
    for name, value in (("longest_s", request.longest_s), ("tolerance_s", request.tolerance_s)):
        if value:
            raise ArrayError(
                f"`{name}` must be left out with `{given}`, which makes transitions of the table's "
                f"length between exactly the frames asked for; got {value:g}. Leave out one of the "
                "two."
            )


def window_of(engine: QueryEngine, place: Place, notes: list[str], *, leaving: bool) -> int:
    """First row of the window that starts, or ends, at a place, or as near as the clip has one."""
    row = engine.places.row_of(place, "source" if leaving else "target")
    first, moved = engine.places.window_at(row, leaving=leaving)
    if moved:
        verb, side = ("starts", "before") if leaving else ("ends", "after")
        notes.append(
            f"the transition {verb} {in_frames(moved)} {side} frame {place[1]} of {place[0]}: "
            "the clip has no whole window there"
        )
    return first


def _times_changed(engine: QueryEngine, request: TransitionRequest) -> list[str]:
    """Notes about given times that are shorter or longer than the table can make."""
    window_s, notes = engine.length / engine.frames.fps, []
    longest_s, most_s = request.longest_s, MOST_LENGTHS * window_s
    if longest_s is not None and round(longest_s * engine.frames.fps) < engine.length:
        notes.append(f"takes {window_s:g} s, the table's length: `longest_s` is {longest_s:g} s")
    if longest_s is not None and longest_s > most_s:
        notes.append(f"takes at most {most_s:g} s, {MOST_LENGTHS} times the table's length")
    if request.tolerance_s > window_s:
        notes.append(f"arrives at most {window_s:g} s late, the table's length")
    return notes


class Attempt:
    """A synthesized candidate, and the figures that decide between several."""

    def __init__(self, engine: QueryEngine, best: Best) -> None:
        self._engine, self.best = engine, best
        self.is_passed = best.checked.passed

    @cached_property
    def margin(self) -> float:
        """How far it is above the threshold of naturalness; see :meth:`QueryEngine.margin`."""
        return self._engine.margin(self.best.choice, self.best.number)

    @property
    def is_good(self) -> bool:
        """Whether it passes the quality check and is natural."""
        return self.is_passed and self.margin >= 0.0

    def is_better(self, other: Attempt) -> bool:
        """Whether it passes the quality check and the other does not, or is less natural."""
        return self.is_passed and (not other.is_passed or self.margin > other.margin)


def find_transition(
    engine: QueryEngine, source: int, targets: IntArray, request: TransitionRequest
) -> Best:
    """The best candidate of any duration up to the longest one that is natural and passes.

    A natural candidate that fails the quality check is left out, and the search goes on. If no
    natural candidate passes, the search is repeated without the tolerance and with the usual time,
    where these are less. If no candidate passes at all, the search is repeated between the frames
    asked for alone, and recipes of the table are tried. The most natural candidate that passes is
    taken, or the one that fails least. So a tolerance, or more time than usual, never makes a
    natural result unnatural.
    """
    result: Attempt | None = None
    for attempt in _attempts(engine, request):
        for found in _searched(engine, source, targets, attempt):
            result = _better(result, found)
            if result.is_good:
                return result.best
    assert result is not None
    if result.is_passed:
        return result.best
    window_s = engine.length / engine.frames.fps
    for found in _searched(engine, source, targets, replace(request, longest_s=window_s)):
        result = _better(result, found)
    if result.is_passed:
        return result.best
    rescore = min(int(request.rescore), MOST_RESCORED)
    recipes = engine.choose(source, targets, rescore=rescore)
    found = Attempt(engine, engine.synthesize_best(recipes, still=request.still_feet))
    return _better(result, found).best


def _attempts(engine: QueryEngine, request: TransitionRequest) -> Iterator[TransitionRequest]:
    """The request; then with the usual time and without its tolerance, where these are less."""
    yield request
    times = {_longest(engine, request.longest_s): request.longest_s}
    usual = _longest(engine, None)
    if usual < min(times):
        times[usual] = None
    others = product(dict.fromkeys((request.tolerance_s, 0.0)), times.values())
    for tolerance_s, longest_s in islice(others, 1, None):  # the first is the request
        yield replace(request, longest_s=longest_s, tolerance_s=tolerance_s)


def _searched(
    engine: QueryEngine, source: int, targets: IntArray, request: TransitionRequest
) -> Iterator[Attempt]:
    """Candidates one after the other, until no natural one is left; the caller stops at a good one.

    If none passes, the other blends at the places that were found come last, the cheapest first.
    """
    rescore = min(int(request.rescore), MOST_RESCORED)
    longest, later = _longest(engine, request.longest_s), _later(engine, targets, request)
    banned: set[tuple[int, ...]] = set()
    looked_at: list[Choice] = []
    is_passed = False
    for _ in range(JOINS):
        choice = engine.join(
            source, targets, rescore=rescore, longest=longest, later=later, banned=[*banned]
        )
        if not len(choice.rows):
            break
        looked_at.append(choice)
        is_natural = engine.is_natural(choice, 0)
        best = engine.synthesize_best(choice, still=request.still_feet, ranked=is_natural)
        yield (found := Attempt(engine, best))
        is_passed |= found.is_passed
        if not is_natural:
            break
        banned |= {choice.key(n) for n in range(min(RANKED, choice.ranked))}
    for choice in looked_at if banned else ():
        others = engine.ranked(choice).without(banned)
        if is_passed or not len(others.rows):
            continue
        yield (found := Attempt(engine, engine.synthesize_best(others, still=request.still_feet)))
        is_passed = found.is_passed


def _better(first: Attempt | None, other: Attempt) -> Attempt:
    """The better of two candidates; the first where they are equal."""
    return other if first is None or other.is_better(first) else first


def _later(engine: QueryEngine, targets: IntArray, request: TransitionRequest) -> IntArray:
    """Frames that may follow each target: of the tolerance, and of the label asked for. (n,)."""
    most = round(min(request.tolerance_s * engine.frames.fps, engine.length))
    later = np.full(len(targets), most, dtype=np.int64)
    if request.label is None or most == 0:
        return later
    labelled = np.zeros(engine.frames.n_rows + 1, dtype=np.bool_)
    labelled[engine.collection.label_rows(request.label)] = True
    for n, last in enumerate((targets + engine.length - 1).tolist()):
        after = labelled[last + 1 : last + 1 + most]
        later[n] = len(after) if after.all() else int(np.argmin(after))
    return later


def _longest(engine: QueryEngine, longest_s: float | None) -> int:
    """Frames that a transition may take: one to four windows."""
    longest_s = LONGEST_TRANSITION_S if longest_s is None else longest_s
    most = MOST_LENGTHS * engine.length
    return max(engine.length, round(min(longest_s * engine.frames.fps, most)))


def _chosen(
    engine: QueryEngine, source: int, targets: IntArray, request: TransitionRequest
) -> Choice:
    """Recipes of the table's length, by any search but the default one."""
    rescore = min(int(request.rescore), MOST_RESCORED)
    if request.search is True:
        choice = engine.search(source, targets)
    elif request.search:
        choice = engine.choose_all(source, targets, rescore=max(rescore, 1))
    else:
        choice = engine.cached(source, int(targets[0]))
    if request.search:
        choice = engine.refine(choice)
    return choice


def vary(engine: QueryEngine, first: Best, variation: int, *, still: bool) -> Best | None:
    """The first drawn recipe that passes the check and costs little more; None if there is none.

    It is natural if the first transition is, and costs at most :data:`WORSE` more.

    Parameters
    ----------
    engine
        Of the table.
    first
        The transition to vary; a variation leaves and arrives at the same frames.
    variation
        The same number gives the same answer.
    still
        If True, planted feet of captured windows are held still.
    """
    own = first.choice.key(first.number)
    drawn = list(dict.fromkeys(_draws(engine, own, variation)))
    choice = engine.ranked(_unscored([own, *drawn]))
    at = choice.find(own)
    cost, natural = float(choice.costs[at]), engine.is_natural(choice, at)
    limit = cost + WORSE * max(abs(cost), 1.0)
    for key in drawn:
        at = choice.find(key)
        if choice.costs[at] > limit or (natural and not engine.is_natural(choice, at)):
            continue
        best = engine.synthesize_best(choice.only(at), still=still)
        if best.checked.passed:
            return best._replace(choice=choice, number=at)
    return None


def _draws(engine: QueryEngine, own: Key, variation: int) -> Iterator[Key]:
    """Recipes between the same windows as one, in the order in which they were drawn.

    In a blend over two windows, each becomes another member of its cluster. Captured windows that
    are pinned become other captured windows. A blend over one window, and a plain blend, become a
    blend over a captured window, over a member of that one's cluster, or pinned captured windows.
    """
    rows, pinned = [row for row in own[:-1] if row >= 0], own[-1]
    source, target, between = rows[0], rows[-1], rows[1:-1]
    draw = np.random.Generator(np.random.PCG64([variation, source, target]))
    near = engine.captured(source, target, count=NEAREST)
    members = [engine.members_of(row) for row in between]
    for _ in range(DRAWS):
        if len(between) == 2 and not pinned:
            chosen, pin = [int(draw.choice(some)) for some in members if len(some)], 0
        else:
            kind = 2 if pinned else int(draw.integers(3))
            over_members = kind == 1 and members and len(members[0])
            pool, pin = (members[0] if over_members else near), int(kind == 2)
            count = min(1 + pin, len(pool))
            chosen = sorted(draw.choice(pool, count, replace=False).tolist())
        if chosen and sorted(chosen) != sorted(between):
            windows = (source, *chosen, target)
            yield (*windows, *[-1] * (MOST_WAYS - len(windows)), pin)


def _unscored(keys: list[Key]) -> Choice:
    """A choice of recipes with nothing measured yet."""
    rows = np.array([key[:-1] for key in keys], dtype=np.int64)
    columns = np.full((len(keys), len(COLUMNS)), np.nan, dtype=np.float32)
    pinned = np.array([bool(key[-1]) for key in keys])
    return Choice(rows, np.full(len(keys), np.nan), columns, 0, pinned)


def _left_out(engine: QueryEngine, best: Best) -> str:
    """A note about recipes that come before the one taken."""
    count, choice = best.number, best.choice
    recipes, they = ("recipes were", "they fail") if count > 1 else ("recipe was", "it fails")
    if np.isnan(choice.columns[count, 0]):
        return f"{count} stored {recipes} left out: {they} the quality check"
    if choice.ranked < len(choice.rows) or (np.diff(choice.costs[: count + 1]) < 0.0).any():
        return f"{count} more natural {recipes} left out: {they} the quality check"
    if choice.is_pinned(count) and engine.is_natural(choice, count):
        return f"{count} cheaper {recipes} left out: captured motion that is natural comes first"
    are = "are" if count > 1 else "is"
    check = "the quality check with held feet" if best.feet else "the quality check"
    return f"{count} cheaper {recipes} left out: {they} {check} or {are} less natural"


def _sooner(targets: IntArray, window: int) -> int:
    """Frames that a target's clip plays on from the window that was entered."""
    return min((row - window for row in targets.tolist() if row >= window), default=0)


def late_frames(
    engine: QueryEngine, request: TransitionRequest, targets: IntArray, window: int
) -> tuple[int, int]:
    """Frames from the one asked for to the first a window can end at, and to the arrival."""
    if request.target is None:
        return 0, 0
    asked = engine.places.row_of(request.target, "target") - engine.length + 1
    return int(targets[0]) - asked, max(window, int(targets[0])) - asked


def _plays_of(engine: QueryEngine, plays: tuple[int, int]) -> list[str]:
    """A note about captured frames around the blend."""
    if not any(plays):
        return []
    before, after = (frames / engine.frames.fps for frames in plays)
    return [f"clips play {before:.2f} s before and {after:.2f} s after the blend"]


def _late_of(engine: QueryEngine, earliest: int, late: int) -> list[str]:
    """A note about an arrival that a tolerance allows."""
    after = f"{in_frames(late)} ({late / engine.frames.fps:.2f} s) after the frame asked for"
    if not earliest:
        return [f"arrives {after}"]
    return [f"arrives {after}: its clip has no whole window until {in_frames(earliest)} after it"]


def in_frames(count: int) -> str:
    """A number of frames in words."""
    return f"{count} frame{'s' * (count != 1)}"


def assembled(
    engine: QueryEngine,
    best: Best,
    around: tuple[float, float],
    decided: tuple[str, ...],
    *,
    plays: tuple[int, int] = (0, 0),
) -> TableTransition:
    """The result, with the clips before and after it where they are wanted.

    Parameters
    ----------
    engine
        Of the table.
    best
        The recipe taken, its frames and its quality check.
    around
        Seconds of the source's clip before, and of the target's clip after.
    decided
        Notes about the choice.
    plays
        Captured frames between these and the blend.
    """
    frames, choice, taken = engine.frames, best.choice, best.number
    synthesis = best.synthesis
    windows = choice.windows(taken)
    recipe = recipe_of(engine, choice, taken)
    span = (0, engine.length - 1)
    if any(around) or any(plays):
        lead, follow = (
            played + round(min(s * frames.fps, frames.n_rows))
            for played, s in zip(plays, around, strict=True)
        )
        synthesis, before = _played(engine, windows, synthesis, lead, follow)
        span = (before, before + engine.length - 1)
    ids = [frames.ids[engine.places.clip_at(row)] for row in windows]
    name = f"{ids[0]} to {ids[-1]}"
    root, quats, planted = synthesis.root_positions, synthesis.local_quats, synthesis.planted
    for part in (root, quats, planted):
        part.flags.writeable = False  # so that the motion does not copy it
    motion = Motion(frames.skeleton, root, quats, frames.fps, name=name)
    return TableTransition(
        motion,
        Footplants(planted),
        span,
        recipe,
        Candidates(choice, engine),
        decided,
        choice.columns[taken],
        synthesis.foot_error,
        tuple(dict.fromkeys(ids)),
        frames,
        best.checked,
        plays,
    )


def _played(
    engine: QueryEngine, windows: Sequence[int], synthesis: Synthesis, lead: int, follow: int
) -> tuple[Synthesis, int]:
    """Blended frames with up to ``lead`` frames before and ``follow`` after; how many go before.

    Clips move points that they label as planted: those labels are removed.
    """
    length, places = engine.length, engine.places
    first, last = windows[0], windows[-1] + length - 1
    ahead = min(lead, places.frames_before(first))
    after = min(follow, places.frames_after(last))
    n_frames, n_joints = ahead + length + after, synthesis.local_quats.shape[1]
    scratch = np.zeros((n_joints, 7)), np.zeros((n_frames, 4, 3))
    into = new_frames(n_frames, n_joints)
    with engine.lock:
        _play(engine.record, first, ahead, last, after, frames_of(synthesis), *scratch, into)
    errors = np.array([synthesis.foot_error, synthesis.missed])
    return synthesis_of(into, errors), ahead
