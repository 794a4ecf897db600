"""Requests of the table room and of labelling; part of :mod:`motionloom.studio.messages.messages`.

Tables go by the ids that ``table.state`` lists, clips by the ids that the open table has. One table
is open for all pages of a server, and one is built at a time.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from motionloom.studio.messages.bounds import (
    Clusters,
    Frame,
    Given,
    Held,
    LookupSize,
    Rate,
    RequestId,
    Rescored,
    Seconds,
    Seed,
    StreamFrames,
    TableSeconds,
    Text,
)

__all__ = [
    "LabelFile",
    "LabelNext",
    "LabelSave",
    "StreamGo",
    "StreamStart",
    "StreamStep",
    "StreamStop",
    "TableBuild",
    "TableCancel",
    "TableMatrix",
    "TableOpen",
    "TableQuery",
    "TableRequest",
    "TableState",
]

Place = tuple[Text, Frame]
"""A clip of the table, and a frame of it."""
Somewhere = tuple[Text, Frame | None]
"""The same, or wherever in the clip it goes best."""


class _Asked(Struct, tag_field="type", forbid_unknown_fields=True, kw_only=True):
    id: RequestId


class TableState(_Asked, tag="table.state"):
    """What there is -> ``table``: tables, the one that is open, the build under way."""


class TableBuild(_Asked, tag="table.build"):
    """Build a table over the library in a process of its own -> ``table``; ask for its state."""

    clusters: Clusters = 50
    length_s: TableSeconds = 1.0
    fps: Rate = 60.0
    lookup: LookupSize | None = None
    """Windows that frames are looked up among; as many as :func:`build_table` takes."""


class TableCancel(_Asked, tag="table.cancel"):
    """Stop the build -> ``table``. The next build goes on where it was."""


class TableOpen(_Asked, tag="table.open"):
    """Open a table that ``table.state`` lists -> ``table``."""

    table: Text


class TableMatrix(_Asked, tag="table.matrix"):
    """What the table holds -> ``matrix``: the places of its representatives.

    Arrays: ``costs`` (E, E) float32 of the best recipe from each (row) to each (column), nan where
    there is none; ``natural`` (E, E) float32, the same as naturalness where the table is ranked by
    it.
    """


class TableQuery(_Asked, tag="table.query"):
    """From a frame to a frame or a label -> ``result`` with ``detail`` of room ``table``."""

    source: Somewhere
    target: Somewhere | None = None
    label: Text | None = None
    rescore: Rescored = 32
    search: bool = False
    variation: Seed | None = None
    lead_s: Seconds = 0.5
    follow_s: Seconds = 0.5
    by: Literal["table", "graph", "better"] = "table"
    """Who makes it: the table, the motion graph, or whichever is better."""
    have: Held = []
    """Keys of sources that the page holds: they come without ``shown`` and arrays."""


class StreamStart(_Asked, tag="stream.start"):
    """A live character -> ``stream``: its number ``live``, rate and :class:`Looks`."""

    source: Place


class StreamGo(_Asked, tag="stream.go"):
    """Send it to one of the table's goals -> ``done``."""

    live: Given
    goal: Text


class StreamStep(_Asked, tag="stream.step"):
    """Its next frame -> a pose, one binary message; see ``wire.py``."""

    live: Given
    frames: StreamFrames = 1


class StreamStop(_Asked, tag="stream.stop"):
    """End it -> ``done``."""

    live: Given


class LabelNext(_Asked, tag="label.next"):
    """The next transition to judge -> ``result`` with ``detail.judging``, scores left out."""

    rater: Text
    have: Held = []


class LabelSave(_Asked, tag="label.save"):
    """A verdict -> ``labels``: how many there are. A second one replaces the first."""

    transition: Text
    natural: bool
    rater: Text
    table: Text | None = None
    """``detail.judging.table``: another page may have opened or built another meanwhile."""


class LabelFile(_Asked, tag="label.file"):
    """All verdicts as the CSV that ``table evaluate`` reads -> ``export``."""


TableRequest = (
    TableState
    | TableBuild
    | TableCancel
    | TableOpen
    | TableMatrix
    | TableQuery
    | StreamStart
    | StreamGo
    | StreamStep
    | StreamStop
    | LabelNext
    | LabelSave
    | LabelFile
)
