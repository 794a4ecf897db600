"""Handlers of the table tab's requests."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import msgspec

from motionloom.errors import TableError
from motionloom.studio.messages import table_messages as m
from motionloom.studio.messages.answers import Answer, Done
from motionloom.studio.messages.bounds import fresh_number
from motionloom.studio.panels.labelling import Labelling
from motionloom.studio.panels.library_tables import Tables
from motionloom.studio.panels.live_stream import LiveStream
from motionloom.studio.panels.table_panel import TablePanel
from motionloom.studio.results.exports import PageExports
from motionloom.studio.results.result import Result

MOST_LIVE = 4

_steps = msgspec.json.Decoder(m.StreamStep)

Store = Callable[[Result, Any], Answer]


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
