"""stream(): a character that plays on, and goes to a label or a frame when it is told to."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple
from weakref import WeakSet

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom._core import kernel
from motionloom.blending.control import Pose
from motionloom.errors import ArrayError
from motionloom.rotation import quat
from motionloom.transitions.collecting.frames import FloatArray32
from motionloom.transitions.likeness.contexts import context_offsets, contexts
from motionloom.transitions.making.synthesis import Synthesis
from motionloom.transitions.tables.met_windows import Choice
from motionloom.transitions.tables.planned import (
    Planned,
    blend_planned,
    fade_into,
    joined,
    seen_from_body,
)
from motionloom.transitions.tables.ready_table import TRIES, ReadyTable, ready
from motionloom.transitions.tables.runtime import Place, captured_rows
from motionloom.transitions.tables.runtime_table import RuntimeTable
from motionloom.transitions.tables.table_check import MARGIN, Checked

__all__ = ["Stream", "stream"]

REMEMBERED = 10
"""Frames kept of what was played: pose and velocity are found by them."""
AHEAD = 64
"""Captured frames that are moved to the character's place at a time."""
LOOKED_AT = 12
"""Captured windows that are tried where a clip is over."""
UP = np.array([0.0, 1.0, 0.0])

_same_signs = kernel("ml_table_same_signs")


class Placement(NamedTuple):
    """Carries a clip's ground into the stream's: turned about +Y, then shifted."""

    turn: float
    x: float
    z: float

    def apply(self, root: FloatArray, quats: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Roots (n, 3) and local rotations (n, J, 4) moved."""
        c, s = np.cos(self.turn), np.sin(self.turn)
        moved = np.stack(
            [
                c * root[:, 0] + s * root[:, 2] + self.x,
                root[:, 1],
                c * root[:, 2] - s * root[:, 0] + self.z,
            ],
            axis=1,
        )
        turned = np.array(quats)
        turned[:, 0] = quat.multiply(quat.from_axis_angle(UP, np.array(self.turn)), quats[:, 0])
        return moved, turned


HERE = Placement(0.0, 0.0, 0.0)
"""Frames that stand where the character is already."""


class Segment(NamedTuple):
    """Frames of a transition that is played, and where its clip goes on after them."""

    frames: Planned
    then: int
    """Row of the last frame in its own clip."""


def stream(table: RuntimeTable, src: Place) -> Stream:
    """A live character that starts at a clip's frame.

    Parameters
    ----------
    table
        With recipes between representatives of a collection.
    src
        Clip and frame.

    Examples
    --------
    ``s = table.stream(("walk", 0)); s.go(label="run"); pose = s.step()``
    """
    at = ready(table)
    live = Stream(at, src)
    if at not in _REHEARSED:
        _rehearse(at)
        _REHEARSED.add(at)
    return live


_REHEARSED: WeakSet[ReadyTable] = WeakSet()


def _rehearse(table: ReadyTable) -> None:
    """Make everything once that a step may need: what is compiled is loaded before it counts."""
    place = table.frames.place_of(int(table.table.medoids[0]) + table.length - 1)
    live = Stream(table, place)
    for _ in range(2):  # out of a clip, then out of a transition
        live.step()
        live.go(frame=place)
    live.step()


class Stream:
    """The state of a live character; made by :func:`stream`. One call of ``step`` a frame."""

    def __init__(self, table: ReadyTable, src: Place) -> None:
        self._table = table
        self._start = table.row_of(src)
        self._row: int | None = None  # shown last, in a clip
        self._placement = HERE
        self._segment: Segment | None = None
        self._at = 0
        self._clips = [table.clip_at(self._start)]
        table.check.limits_of(self._clips)  # which checks the clip's frames
        self._try_again = 0
        self._goal: tuple[str | None, Place | None] | None = None
        self._played: deque[Planned] = deque(maxlen=REMEMBERED)
        self._captured_run = 0  # frames shown last that are rows of a clip, one after the other
        self._ahead = self._start, HERE, self._captured(self._start, self._start + 1, HERE)
        self.done = False

    def __repr__(self) -> str:
        clip, frame = self.place
        return f"Stream(at frame {frame} of {clip})"

    @property
    def place(self) -> Place:
        """Clip and frame that is shown, or that the present transition arrives at."""
        if self._segment is not None:
            return self._table.frames.place_of(self._segment.then)
        return self._table.frames.place_of(self._start if self._row is None else self._row)

    @property
    def in_transition(self) -> bool:
        """Whether a transition is being played."""
        return self._segment is not None

    def go(self, *, label: str | None = None, frame: Place | None = None) -> None:
        """Go to any frame with a label, or to a clip's frame, from the next step on.

        A transition that is being played is left at once. What would have come next is blended
        away like a captured second: the pose and the speed that are shown go on.
        """
        if (label is None) == (frame is None):
            raise ArrayError("Say where to go by `label` or by `frame`, and not by both.")
        # A goal that cannot be reached is refused here: step() must never fail half-way.
        if frame is not None:
            self._table.window_at(self._table.row_of(frame), leaving=False)
        else:
            assert label is not None
            self._table.check_label(label)
        self._goal = (label, frame)

    def step(self) -> Pose:
        """The next frame."""
        if self._goal is not None and self._played:
            goal, self._goal = self._goal, None
            self._leave(goal)
        if self._segment is None and self._ends_here():
            self._go_on()
        if self._segment is not None:
            return self._from_segment(self._segment)
        row = self._start
        if self._row is not None:
            row = min(self._row + 1, self._clip_end(self._row) - 1)
        self._captured_run = 0 if row == self._row else self._captured_run + 1
        self._row = row
        self.done = row == self._clip_end(row) - 1
        return self._shown(self._captured_frame(row))

    def _from_segment(self, segment: Segment) -> Pose:
        pose = self._shown(segment.frames.part(self._at, self._at + 1))
        self._at, self._captured_run = self._at + 1, 0
        if self._at == len(segment.frames.root):
            self._placement = self._meeting_at(segment.then, segment.frames)
            self._row, self._segment = segment.then, None
        return pose

    def _shown(self, frame: Planned) -> Pose:
        if self._played:
            quats = np.zeros(frame.quats.shape)
            _same_signs(frame.quats.shape[1], frame.quats, self._played[-1].quats, quats)
            frame = Planned(frame.root, quats, frame.heading, frame.planted)
        self._played.append(frame)
        # Copies: a game may move what it is shown, and the stream goes on from what it has played.
        return Pose(frame.root[0].copy(), frame.quats[0].copy(), frame.planted[0].copy())

    def _clip_end(self, row: int) -> int:
        """The row after the last one of a row's clip, or of its part before a capture glitch."""
        end = int(self._table.frames.starts[self._table.clip_at(row) + 1])
        jumps = self._table.frames.jumps
        if not len(jumps):
            return end
        ahead = int(np.searchsorted(jumps, row, side="right"))
        if ahead < len(jumps) and jumps[ahead] < end:
            return max(int(jumps[ahead]) - 1, row + 1)
        return end

    def _window_at(self) -> int | None:
        """First row of the window that starts at the frame shown last, None where there is none."""
        row = self._row
        if self._segment is not None or row is None:
            return None
        return row if row + self._table.length <= self._clip_end(row) else None

    def _leave(self, goal: tuple[str | None, Place | None]) -> None:
        """Begin the transition to a goal from the frame shown last."""
        table, source = self._table, self._window_at()
        if source is not None:
            taken = table.make_best(self._choice(source, goal))
            self._queue(taken.made, taken.choice.windows(taken.number), self._placement)
            return
        own = seen_from_body(table.frames, self._planned())
        choice = self._choice(self._alike(self._played[-1], 1)[0], goal)
        least = np.inf
        best: tuple[Synthesis, tuple[int, ...]] | None = None
        for number in range(min(TRIES, len(choice.rows))):
            if number >= choice.ranked:
                choice = table.judge([choice.windows(n) for n in range(len(choice.rows))])
            windows = choice.windows(number)
            made = blend_planned(table, own, windows[1:])
            checked = self._checked(made, windows[1:])
            if checked.passed or checked.badness < least:
                least, best = checked.badness, (made, windows[1:])
            if checked.passed:
                break
        assert best is not None
        self._queue(*best, HERE)

    def _choice(self, source: int, goal: tuple[str | None, Place | None]) -> Choice:
        """Recipes from a captured window to a goal, the best first."""
        label, place = goal
        table = self._table
        if label is not None:
            targets = table.targets_of(label, source)
        else:
            assert place is not None
            targets = np.array([table.window_at(table.row_of(place), leaving=False)[0]])
        return table.choose(source, targets, rescore=32)

    def _checked(self, made: Synthesis, windows: Sequence[int]) -> Checked:
        """The check of made frames that go on from what was played, which is seen before them."""
        planned = Planned(made.root_positions, made.local_quats, made.heading, made.planted)
        past = list(self._played)[-MARGIN - 1 : -1]
        together = joined([*past, planned])
        first = len(together.root) - len(planned.root)
        return self._table.check.motion(
            together.root,
            quat.make_continuous(together.quats),
            together.heading,
            together.planted,
            (first, len(together.root) - 1),
            [*self._clips, *self._table.clips_of(windows)],
        )

    def _queue(self, made: Synthesis, windows: Sequence[int], where: Placement) -> None:
        """Play made frames from the second on: the first is what is shown now."""
        root, quats = where.apply(made.root_positions, made.local_quats)
        frames = Planned(root, quats, made.heading + where.turn, made.planted)
        self._segment = Segment(frames, windows[-1] + self._table.length - 1)
        self._clips = self._table.clips_of(windows)
        self._at, self._try_again, self.done = 1, 0, False

    def _planned(self) -> Planned:
        """The frames of a window that would be played from the one shown last on."""
        fps, length = self._table.frames.fps, self._table.length
        if self._segment is None:
            assert self._row is not None
            row, where, known = self._row, self._placement, self._played[-1]
        else:
            row, known = self._segment.then, self._segment.frames.part(self._at - 1)
            where = self._meeting_at(row, known)
        left = min(length - len(known.root), self._clip_end(row) - row - 1)
        if left > 0:
            known = joined([known, self._captured(row + 1, row + 1 + left, where)])
        left = length - len(known.root)
        if left > 0:
            on = self._alike(known, 1)[0]
            after = self._captured(on, on + left + 1, self._meeting_at(on, known))
            before = joined([*self._played, known.part(1)])
            known = joined([known, fade_into(before, after, fps)])
        return known

    def _captured_frame(self, row: int) -> Planned:
        """A row of the clip that is played. Several are moved at a time: one costs as much."""
        first, where, block = self._ahead
        at = row - first
        if where is not self._placement or not 0 <= at < len(block.root):
            stop = min(row + AHEAD, self._clip_end(row))
            block, at = self._captured(row, max(stop, row + 1), self._placement), 0
            self._ahead = row, self._placement, block
        return block.part(at, at + 1)

    def _captured(self, first: int, stop: int, where: Placement) -> Planned:
        """Rows of a clip, moved to where the character is."""
        frames, rows = self._table.frames, np.arange(first, stop)
        root, quats = where.apply(*captured_rows(frames, rows))
        heading = np.asarray(frames.heading[rows]) + where.turn
        return Planned(root, quats, heading, np.asarray(frames.planted[rows]))

    def _ends_here(self) -> bool:
        """Whether the frame shown last starts the last whole window of its clip, or a later one."""
        if self._row is None or self.done or self._row < self._try_again:
            return False
        return self._row + self._table.length >= self._clip_end(self._row)

    def _go_on(self) -> None:
        """At a clip's end: go over into a captured motion that is most like it and goes on."""
        table, source = self._table, self._window_at()
        own = None if source is not None else seen_from_body(table.frames, self._planned())
        for row in self._alike(self._played[-1], LOOKED_AT, lasting=2 * table.length):
            if source is not None:
                made, where = table.make((source, row)), self._placement
                checked = table.check.transition(made, (source, row), table.clips_of((source, row)))
            else:
                assert own is not None
                made, where = blend_planned(table, own, (row,)), HERE
                checked = self._checked(made, (row,))
            if checked.passed:
                self._queue(made, (row,), where)
                return
        assert self._row is not None
        self._try_again = min(self._row + table.length // 4, self._clip_end(self._row) - 1)

    def _alike(self, after: Planned, count: int, *, lasting: int = 0) -> list[int]:
        """First rows of captured windows that are most like what is played, and then ``after``.

        ``lasting`` frames of their clips must be left; those of the clip's own end never are.
        """
        table, frames = self._table, self._table.frames
        some = max(count, LOOKED_AT) if lasting else count
        found = table.index.nearest(start=self._context(after), count=some, apart=table.length // 4)
        ends = frames.starts[np.searchsorted(frames.starts, found.rows, side="right")]
        rows: IntArray = found.rows[found.rows + lasting <= ends]
        return [int(row) for row in rows[:count]]

    def _context(self, after: Planned) -> FloatArray32:
        """Pose and velocity at the end of some frames, as the index takes them. (D,).

        ``after`` begins with the frame shown last.
        """
        frames = self._table.frames
        reach = -int(context_offsets(frames.fps, "start").min())
        if self._segment is None and len(after.root) == 1 and self._captured_run > reach:
            return np.asarray(contexts(frames, np.array([self._row]), side="start")[0])
        past = joined([*self._played, after.part(1)]).part(-REMEMBERED)
        seen = seen_from_body(frames, past)
        n = len(past.root)
        short = replace(frames, ids=("played",), starts=np.array([0, n]), **seen._asdict())
        return np.asarray(contexts(short, np.array([n - 1]), side="start")[0])

    def _meeting_at(self, row: int, before: Planned) -> Placement:
        """Where a clip stands whose row meets the last of some frames."""
        frames = self._table.frames
        return _meeting(
            float(before.heading[-1]),
            before.root[-1],
            float(frames.heading[row]),
            frames.ground[row],
        )


def _meeting(
    heading: float, root: FloatArray, clip_heading: float, clip_ground: FloatArray
) -> Placement:
    """Placement that carries a clip's heading and ground to where a body is."""
    turn = heading - clip_heading
    c, s = np.cos(turn), np.sin(turn)
    x, z = float(clip_ground[0]), float(clip_ground[1])
    return Placement(turn, float(root[0]) - c * x - s * z, float(root[2]) - c * z + s * x)
