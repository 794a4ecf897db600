"""transition(): from any frame of a collection to any other, or to a label, by a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from motionloom._arrays import IntArray
from motionloom._core import kernel
from motionloom.errors import ArrayError
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.tables.join_search import MOST_LENGTHS, MOST_RESCORED, joined
from motionloom.tables.query_engine import Best, QueryEngine
from motionloom.tables.query_records import Choice, frames_of, new_frames, synthesis_of
from motionloom.tables.synthesis.synthesis import Synthesis
from motionloom.tables.table_transition import Candidates, TableTransition, recipe_of
from motionloom.tables.transition_request import Place, TransitionRequest
from motionloom.tables.variation import vary

_play = kernel("ml_table_played")

UNVARIED = (
    "not varied: no drawn recipe passes the quality check, costs at most a little more and is "
    "natural where this one is"
)


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
        best = joined(engine, source, targets, request)
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


def _times_changed(engine: QueryEngine, request: TransitionRequest) -> list[str]:
    """Notes about times that a table cannot keep to."""
    window_s, notes = engine.length / engine.frames.fps, []
    longest_s, most_s = request.longest_s, MOST_LENGTHS * window_s
    if longest_s is not None and round(longest_s * engine.frames.fps) < engine.length:
        notes.append(f"takes {window_s:g} s, the table's length: `longest_s` is {longest_s:g} s")
    if longest_s is not None and longest_s > most_s:
        notes.append(f"takes at most {most_s:g} s, {MOST_LENGTHS} times the table's length")
    if request.tolerance_s > window_s:
        notes.append(f"arrives at most {window_s:g} s late, the table's length")
    return notes


def _plays_of(engine: QueryEngine, plays: tuple[int, int]) -> list[str]:
    """A note about captured frames around the blend."""
    if not any(plays):
        return []
    before, after = (frames / engine.frames.fps for frames in plays)
    return [f"clips play {before:.2f} s before and {after:.2f} s after the blend"]


def late_frames(
    engine: QueryEngine, request: TransitionRequest, targets: IntArray, window: int
) -> tuple[int, int]:
    """Frames from the one asked for to the first a window can end at, and to the arrival."""
    if request.target is None:
        return 0, 0
    asked = engine.places.row_of(request.target, "target") - engine.length + 1
    return int(targets[0]) - asked, max(window, int(targets[0])) - asked


def _late_of(engine: QueryEngine, earliest: int, late: int) -> list[str]:
    """A note about an arrival that a tolerance allows."""
    after = f"{in_frames(late)} ({late / engine.frames.fps:.2f} s) after the frame asked for"
    if not earliest:
        return [f"arrives {after}"]
    return [f"arrives {after}: its clip has no whole window until {in_frames(earliest)} after it"]


def in_frames(count: int) -> str:
    """A number of frames in words."""
    return f"{count} frame{'s' * (count != 1)}"


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


def _sooner(targets: IntArray, window: int) -> int:
    """Frames that a target's clip plays on from the window that was entered."""
    return min((row - window for row in targets.tolist() if row >= window), default=0)


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
    """Blended frames with up to so many frames of the clips before and after; how many go before.

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
