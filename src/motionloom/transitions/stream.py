"""stream(): a character that plays on, and goes to a label or a frame when it is told to."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom.blending.control import Pose
from motionloom.errors import ArrayError
from motionloom.features.verify import STEP_ALLOWANCE
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.rotation import quat
from motionloom.transitions.contexts import contexts
from motionloom.transitions.frames import FloatArray32, clip_frames
from motionloom.transitions.inertialize import decayed
from motionloom.transitions.met_windows import Choice
from motionloom.transitions.ready_table import ReadyTable
from motionloom.transitions.runtime import Place, captured_rows, ready
from motionloom.transitions.runtime_table import RuntimeTable
from motionloom.transitions.synthesis import Synthesis

__all__ = ["Stream", "stream"]

REMEMBERED = 10
"""Frames kept of what was played: pose and velocity are found by them."""
SETTLE_S = 0.4
"""Seconds in which an interrupted pose settles into the motion that takes over."""
LOOKED_AT = 12
"""Captured windows that are tried where a clip is over."""
UP = np.array([0.0, 1.0, 0.0])


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


class Segment(NamedTuple):
    """Frames that wait to be played, and where the clip goes on after them."""

    root: FloatArray
    quats: FloatArray
    heading: FloatArray
    planted: BoolArray
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
    return Stream(ready(table), src)


class Stream:
    """The state of a live character; made by :func:`stream`. One call of ``step`` a frame."""

    def __init__(self, table: ReadyTable, src: Place) -> None:
        self._table = table
        self._row = table.row_of(src)
        self._placement = Placement(0.0, 0.0, 0.0)
        self._segment: Segment | None = None
        self._at = 0
        self._goal: tuple[str | None, Place | None] | None = None
        self._heading = 0.0
        self._played: deque[tuple[FloatArray, FloatArray]] = deque(maxlen=REMEMBERED)
        self.done = False

    @property
    def place(self) -> Place:
        """Clip and frame that is played, or that the present transition arrives at."""
        return self._table.frames.place_of(
            self._row if self._segment is None else self._segment.then
        )

    @property
    def in_transition(self) -> bool:
        """Whether a transition is being played."""
        return self._segment is not None

    def go(self, *, label: str | None = None, frame: Place | None = None) -> None:
        """Go to any frame with a label, or to a clip's frame, from the next step on.

        A transition that is being played is left at once: the pose settles into a captured motion
        that is most like it, and goes on from there.
        """
        if (label is None) == (frame is None):
            raise ArrayError("Say where to go by `label` or by `frame`, and not by both.")
        if frame is not None:
            self._table.row_of(frame)
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
            return self._from_segment()
        frames, row = self._table.frames, self._row
        root, quats = captured_rows(frames, np.array([row]))
        root, quats = self._placement.apply(root, quats)
        self._heading = float(frames.heading[row]) + self._placement.turn
        last = int(frames.starts[frames.clip_at(row) + 1]) - 1
        self.done = row == last
        self._row = min(row + 1, last)
        return self._shown(root[0], quats[0], frames.planted[row])

    def _from_segment(self) -> Pose:
        segment, at = self._segment, self._at
        assert segment is not None
        self._at += 1
        self._heading = float(segment.heading[at])
        pose = self._shown(segment.root[at], segment.quats[at], segment.planted[at])
        if self._at == len(segment.root):
            frames, row = self._table.frames, segment.then
            self._placement = _meeting(
                self._heading, pose.root_position, float(frames.heading[row]), frames.ground[row]
            )
            last = int(frames.starts[frames.clip_at(row) + 1]) - 1
            self._row, self._segment = min(row + 1, last), None
        return pose

    def _shown(self, root: FloatArray, quats: FloatArray, planted: BoolArray) -> Pose:
        if self._played:
            flip = np.sum(quats * self._played[-1][1], axis=-1, keepdims=True) < 0.0
            quats = np.where(flip, -quats, quats)
        self._played.append((root, quats))
        return Pose(root, quats, np.array(planted))

    def _window_at(self) -> int | None:
        """First row of the window that starts at the frame shown last, None where there is none."""
        frames, row = self._table.frames, max(self._row - 1, 0)
        end = int(frames.starts[frames.clip_at(self._row) + 1])
        whole = row + self._table.length <= end and frames.clip_at(row) == frames.clip_at(self._row)
        return row if whole and not self.done else None

    def _leave(self, goal: tuple[str | None, Place | None]) -> None:
        """Begin the transition to a goal from the frame shown last."""
        source = self._window_at() if self._segment is None else None
        if source is not None:
            self._play(*self._made(source, goal), settle=False)
            return
        source = self._alike(1)[0]
        self._placement = self._meeting_at(source)
        self._play(*self._made(source, goal), settle=True)

    def _made(
        self, source: int, goal: tuple[str | None, Place | None]
    ) -> tuple[Synthesis, Choice, int]:
        label, place = goal
        table = self._table
        if label is not None:
            targets = table.targets_of(label, source)
        else:
            assert place is not None
            row = table.row_of(place)
            targets = np.array([table.window_at(row, leaving=False)[0]])
        choice = table.choose(source, targets, rescore=32)
        made, choice, taken, _ = table.make_best(choice)
        return made, choice, taken

    def _play(self, made: Synthesis, choice: Choice, taken: int, *, settle: bool) -> None:
        windows = [int(row) for row in choice.rows[taken] if row >= 0]
        self._queue(made, windows[0], windows[-1] + self._table.length - 1, settle=settle)

    def _queue(self, made: Synthesis, source: int, then: int, *, settle: bool) -> None:
        """Play made frames from the second on: the first is what is shown now."""
        root, quats = self._placement.apply(made.root_positions, made.local_quats)
        if settle:
            quats = self._settled(root, quats, source)
        heading = made.heading + self._placement.turn
        self._segment = Segment(root, quats, heading, made.planted, then)
        self._at, self.done = 1, False

    def _settled(self, root: FloatArray, quats: FloatArray, source: int) -> FloatArray:
        """Rotations that start with the pose and the speed shown, and settle; heights in place."""
        frames = self._table.frames
        before = max(source - 1, int(frames.starts[frames.clip_at(source)]))
        rows = captured_rows(frames, np.array([before, source]))
        roots, poses = self._placement.apply(*rows)
        shown = [self._played[-2] if len(self._played) > 1 else self._played[-1], self._played[-1]]
        offsets = np.stack(
            [
                quat.log(quat.multiply(q, quat.conjugate(p)))
                for (_, q), p in zip(shown, poses, strict=True)
            ]
        )  # (2, J, 3), in the parents' frames
        lifts = np.array([[r[1] - p[1]] for (r, _), p in zip(shown, roots, strict=True)])  # (2, 1)
        times = np.arange(len(root)) / frames.fps
        fps = frames.fps
        turns = decayed(offsets[1], (offsets[1] - offsets[0]) * fps, times, blend_s=SETTLE_S)
        lift = decayed(lifts[1], (lifts[1] - lifts[0]) * fps, times, blend_s=SETTLE_S)
        root[:, 1] += lift[:, 0]
        return quat.multiply(quat.exp(turns), quats)

    def _ends_here(self) -> bool:
        """Whether the frame shown last starts the last whole window of its clip, or a later one."""
        frames = self._table.frames
        end = int(frames.starts[frames.clip_at(self._row) + 1])
        return bool(self._played) and self._row - 1 + self._table.length >= end and not self.done

    def _go_on(self) -> None:
        """At a clip's end: go over into a captured motion that is most like it and goes on."""
        table = self._table
        source = self._window_at()
        settle = source is None
        for row in self._alike(LOOKED_AT, lasting=2 * table.length):
            if source is None:
                self._placement = self._meeting_at(row)
                made, ratio = table.make((row,))
                first = row
            else:
                made, ratio = table.make((source, row))
                first = source
            if ratio <= STEP_ALLOWANCE:
                self._queue(made, first, row + table.length - 1, settle=settle)
                return

    def _alike(self, count: int, *, lasting: int = 0) -> list[int]:
        """First rows of captured windows that are most like what was just played.

        ``lasting`` frames of their clips must be left; those of the clip's own end never are.
        """
        table, frames = self._table, self._table.frames
        some = max(count, LOOKED_AT) if lasting else count
        found = table.index.nearest(start=self._context(), count=some, apart=table.length // 4)
        ends = frames.starts[np.searchsorted(frames.starts, found.rows, side="right")]
        rows: IntArray = found.rows[found.rows + lasting <= ends]
        return [int(row) for row in rows[:count]]

    def _context(self) -> FloatArray32:
        """Pose and velocity of what was just played, as the index takes them. (D,)."""
        frames = self._table.frames
        roots, quats = (np.stack(part) for part in zip(*self._played, strict=True))
        motion = Motion(frames.skeleton, roots, quats, frames.fps)
        stands = Footplants(np.zeros((len(roots), 4), dtype=bool))
        seen = clip_frames(motion, body=frames.body_map, footplants=stands)
        short = replace(frames, ids=("played",), starts=np.array([0, len(roots)]), **seen._asdict())
        return np.asarray(contexts(short, np.array([len(roots) - 1]), side="start")[0])

    def _meeting_at(self, row: int) -> Placement:
        frames = self._table.frames
        return _meeting(
            self._heading, self._played[-1][0], float(frames.heading[row]), frames.ground[row]
        )


def _meeting(
    heading: float, root: FloatArray, clip_heading: float, clip_ground: FloatArray
) -> Placement:
    """Placement that carries a clip's heading and ground to where a body is."""
    turn = heading - clip_heading
    c, s = np.cos(turn), np.sin(turn)
    x, z = float(clip_ground[0]), float(clip_ground[1])
    return Placement(turn, float(root[0]) - c * x - s * z, float(root[2]) - c * z + s * x)
