"""transition(): from any frame of a collection to any other, or to a label, by a table."""

from __future__ import annotations

from typing import Literal

import numpy as np

from motionloom._arrays import FloatArray, IntArray, not_negative, whole
from motionloom.body.feet import foot_points
from motionloom.errors import ArrayError
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.rotation import quat
from motionloom.tables.collection.frames import Frames
from motionloom.tables.query_engine import Best, ReadyTable, ready
from motionloom.tables.recipe_choice import Choice
from motionloom.tables.runtime_table import RuntimeTable
from motionloom.tables.score.recipe import Recipe
from motionloom.tables.synthesis.leg_kernels import keep_true_labels
from motionloom.tables.synthesis.synthesis import Synthesis
from motionloom.tables.table_transition import Candidates, TableTransition

__all__ = ["Place", "assembled", "captured_rows", "transition"]

Place = tuple[str, int]
"""A clip's id and a frame of it."""

UP = np.array([0.0, 1.0, 0.0])
DRAWS = 12
"""Recipes with other members of the same clusters that a variation is chosen among."""
WORSE = 1.5
"""A variation may cost this much more than the best, as part of the best's cost and at least of
one inch."""

MOST_RESCORED = 1_000_000
"""More recipes than any two frames have in a table: a greater number means all of them."""


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
    rescore = min(whole(rescore, "rescore", least=0), MOST_RESCORED)
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
        verb, side = ("starts", "before") if leaving else ("ends", "after")
        notes.append(
            f"the transition {verb} {moved} frames {side} frame {place[1]} of {place[0]}: "
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
    planted.flags.writeable = False
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
