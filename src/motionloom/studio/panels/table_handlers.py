"""Requests of the table room and of labelling, each with what answers it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import msgspec

from motionloom.errors import TableError
from motionloom.studio.messages import table_messages as m
from motionloom.studio.messages.answers import Answer
from motionloom.studio.messages.unique_numbers import fresh_number
from motionloom.studio.panels.labelling import Labelling
from motionloom.studio.panels.live_stream import LiveStream
from motionloom.studio.panels.open_tables import Tables
from motionloom.studio.panels.table_panel import TableRoom
from motionloom.studio.results.exports import PageExports
from motionloom.studio.results.result import Result

__all__ = ["TableDesk"]

MOST_LIVE = 4

_steps = msgspec.json.Decoder(m.StreamStep)

Keep = Callable[[Result, Any], Answer]


class TableDesk:
    """One page's part of the table room.

    Parameters
    ----------
    tables
        What all pages share.
    exports
        The page's files.
    keep
        Keeps a result for export and makes the answer of it.
    """

    def __init__(self, tables: Tables, exports: PageExports, keep: Keep) -> None:
        self.tables, self.exports, self._keep = tables, exports, keep
        self.room = TableRoom(tables)
        self.labelling = Labelling(self.room)
        self._live: OrderedDict[int, LiveStream] = OrderedDict()

    def answers(self) -> dict[type, Callable[[Any], Answer | bytes]]:
        """What answers each request."""
        tables, labelling = self.tables, self.labelling
        return {
            m.TableState: lambda wish: tables.state(),
            m.TableBuild: tables.build,
            m.TableCancel: lambda wish: tables.cancel(),
            m.TableOpen: lambda wish: tables.open(wish.table),
            m.TableMatrix: lambda wish: tables.matrix(),
            m.TableQuery: lambda wish: self._keep(self.room.make(wish), wish),
            m.StreamStart: self._start,
            m.StreamGo: lambda wish: self._stream(wish.live).go(wish.goal),
            m.StreamStep: lambda wish: self._stream(wish.live).step(wish.frames),
            m.StreamStop: self._stop,
            m.LabelNext: lambda wish: self._keep(labelling.next(wish), wish),
            m.LabelSave: labelling.save,
            m.LabelFile: lambda wish: self.exports.keep(labelling.text(), "verdicts.csv"),
        }

    def must_plan(self, text: str | bytes) -> bool:
        """Whether a step begins a transition, which takes some milliseconds."""
        try:
            live = self._live.get(_steps.decode(text).live)
        except (msgspec.MsgspecError, RecursionError):
            return False
        return live is not None and live.must_plan

    def _start(self, wish: m.StreamStart) -> Answer:
        live = LiveStream(fresh_number(), self.tables.current(), wish.source)
        self._live[live.number] = live
        while len(self._live) > MOST_LIVE:
            self._live.popitem(last=False)
        return live.answer()

    def _stream(self, number: int) -> LiveStream:
        live = self._live.get(number)
        if live is None:
            raise TableError("This live character has gone. Start another.")
        return live

    def _stop(self, wish: m.StreamStop) -> Answer:
        self._live.pop(wish.live, None)
        return Answer("done", {})

    def close(self) -> None:
        """Forget the live characters."""
        self._live.clear()
