"""A live character: it plays, and goes to a goal on a key press."""

from __future__ import annotations

from motionloom.errors import TableError
from motionloom.studio.clips.point_rig import BOUND_FRAMES, bind_points
from motionloom.studio.messages.answers import Answer, Done
from motionloom.studio.messages.result_messages import Place
from motionloom.studio.messages.table_messages import StreamStarted
from motionloom.studio.messages.wire import encode_pose
from motionloom.studio.panels.open_table import OpenTable

MOST_FRAMES = 30
"""Of one step."""


class LiveStream:
    """A stream of a table: one pose per step."""

    def __init__(self, number: int, opened: OpenTable, source: Place) -> None:
        self.number, self.opened, self.frame = number, opened, 0
        self.must_plan = True
        """Whether the next step begins a transition, which takes longer."""
        self.stream = opened.table.stream(source)
        frames = opened.table.frames
        first = frames.row_of(source[0], 0)
        last = int(frames.starts[frames.clip_at(first) + 1]) - 1
        clip = frames.motion(first, min(last, first + BOUND_FRAMES - 1))
        self.looks, self._rig = bind_points(clip, frames.body_map)

    def answer(self) -> Answer:
        """How to draw it, and its goals."""
        fps = self.opened.table.frames.fps
        return Answer(StreamStarted(self.number, fps, self.looks, self.opened.goals))

    def go(self, goal: str) -> Answer:
        """Let it hold a label, or go to the middle of a clip where nothing is labelled."""
        if goal not in self.opened.goals:
            raise TableError(f"A goal must be one of {', '.join(self.opened.goals)}, got {goal!r}.")
        if self.opened.table.collection.labels:
            self.stream.hold(goal)
        else:
            frames = next(clip.frames for clip in self.opened.clips if clip.id == goal)
            self.stream.go(frame=(goal, frames // 2))
        self.must_plan = True
        return Answer(Done())

    def step(self, frames: int) -> bytes:
        """The message with the pose some frames later."""
        if not 1 <= frames <= MOST_FRAMES:
            raise TableError(f"A step must have 1 to {MOST_FRAMES} frames, got {frames}.")
        self.must_plan = False
        for _ in range(frames):
            pose = self.stream.step()
            self.frame += 1
        points = self._rig.points(pose.root_position, pose.local_quats)
        return encode_pose(self.number, self.frame, pose.planted, points)
