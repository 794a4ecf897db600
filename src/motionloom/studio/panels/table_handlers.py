"""Requests of the table tab and their handlers, and the live characters of a page."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import msgspec

from motionloom.errors import TableError
from motionloom.studio.clips.point_rig import BOUND_FRAMES, bind_points
from motionloom.studio.messages import table_messages as m
from motionloom.studio.messages.answers import Answer, Done
from motionloom.studio.messages.bounds import fresh_number
from motionloom.studio.messages.result_messages import Place
from motionloom.studio.messages.table_messages import StreamStarted
from motionloom.studio.messages.wire import encode_pose
from motionloom.studio.panels.labelling import Labelling
from motionloom.studio.panels.library_tables import OpenTable, Tables
from motionloom.studio.panels.table_panel import TablePanel
from motionloom.studio.results.exports import PageExports
from motionloom.studio.results.result import Result

MOST_LIVE = 4
_steps = msgspec.json.Decoder(m.StreamStep)
Store = Callable[[Result, Any], Answer]
MOST_FRAMES = 30
"""Of one step."""


class TableHandlers:
    """What one page does with the tables."""

    def __init__(self, tables: Tables, exports: PageExports, store: Store) -> None:
        self.tables, self.exports, self._store = tables, exports, store
        self.panel = TablePanel(tables)
        self.labelling = Labelling(self.panel)
        self._live: OrderedDict[int, LiveStream] = OrderedDict()

    def handlers(self) -> dict[type, Callable[[Any], Answer | bytes]]:
        """The function that answers each request."""
        tables, labelling = self.tables, self.labelling
        return {
            m.TableState: lambda request: tables.state(),
            m.TableBuild: tables.build,
            m.TableCancel: lambda request: tables.cancel(),
            m.TableOpen: lambda request: tables.open(request.table),
            m.TableMatrix: lambda request: tables.matrix(),
            m.TableQuery: lambda request: self._store(self.panel.make(request), request),
            m.StreamStart: self._start,
            m.StreamGo: lambda request: self._stream(request.live).go(request.goal),
            m.StreamStep: lambda request: self._stream(request.live).step(request.frames),
            m.StreamStop: self._stop,
            m.LabelNext: lambda request: self._store(labelling.next(request), request),
            m.LabelSave: labelling.save,
            m.LabelFile: lambda request: Answer(
                self.exports.store(labelling.text(), "verdicts.csv")
            ),
        }

    def must_plan(self, text: str | bytes) -> bool:
        """Whether a step begins a transition, which takes a few milliseconds."""
        try:
            live = self._live.get(_steps.decode(text).live)
        except (msgspec.MsgspecError, RecursionError):
            return False
        return live is not None and live.must_plan

    def _start(self, request: m.StreamStart) -> Answer:
        live = LiveStream(fresh_number(), self.tables.current(), request.source)
        self._live[live.number] = live
        while len(self._live) > MOST_LIVE:
            self._live.popitem(last=False)
        return live.answer()

    def _stream(self, number: int) -> LiveStream:
        live = self._live.get(number)
        if live is None:
            raise TableError("This live character has ended. Start another.")
        return live

    def _stop(self, request: m.StreamStop) -> Answer:
        self._live.pop(request.live, None)
        return Answer(Done())

    def close(self) -> None:
        """Forget the live characters."""
        self._live.clear()


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
        """Let it hold a label, or go to the middle of a clip where nothing is labelled.

        It goes to a label whose pieces are too short to stay in.
        """
        if goal not in self.opened.goals:
            raise TableError(f"A goal must be one of {', '.join(self.opened.goals)}, got {goal!r}.")
        if self.opened.table.collection.labels:
            try:
                self.stream.hold(goal)
            except TableError:
                self.stream.go(label=goal)
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
