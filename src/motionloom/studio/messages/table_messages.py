"""Messages of the table tab; part of :mod:`motionloom.studio.messages.messages`.

Tables go by the ids that ``table.state`` lists, clips by the ids of the open table. One table is
open for all pages of a server, and one is built at a time.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from msgspec import Struct

from motionloom.studio.messages.answers import Body, Done, Export
from motionloom.studio.messages.bounds import (
    BaseRequest,
    Clusters,
    Frame,
    Given,
    LookupSize,
    Rate,
    Rescored,
    Seconds,
    Seed,
    StreamFrames,
    TableSeconds,
    Text,
)
from motionloom.studio.messages.looks import Looks
from motionloom.studio.messages.result_messages import MakeRequest, Place, RatingCounts

Maker = Literal["table", "graph", "better"]
OpenPlace = tuple[Text, Frame | None]
"""The same; without a frame the best one of the clip."""


class TableClip(Struct, frozen=True):
    """A clip of a table."""

    id: str
    clip: str | None
    """Its id in the library; None where the library does not list it."""
    frames: int


class TableFacts(Struct, frozen=True):
    """The open table."""

    id: str
    clips: list[TableClip]
    fps: float
    frames: int
    length: int
    length_s: float
    clusters: int
    representatives: int
    score: str
    labels: list[str]
    goals: list[str]
    """Where a live character can go."""
    bytes: int
    build: str
    """Command line that builds the same table; empty where no single command does."""
    evaluate: str
    """Command line that evaluates the verdicts on it."""


class JobState(Struct, frozen=True):
    """How a build stands."""

    state: Literal["running", "built", "stopped", "failed"]
    stage: str
    part: float
    """Of the stage, 0 to 1."""
    elapsed_s: float
    left_s: float | None
    """Of the stage; None before it can be estimated."""
    warnings: list[str]
    error: str


class TableReport(Body, frozen=True, tag="table"):
    """Tables that can be opened, the open one, and the build that is running."""

    tables: list[str]
    table: TableFacts | None
    job: JobState | None


class Matrix(Body, frozen=True, tag="matrix"):
    """What the table has: the places of its representatives.

    Arrays: ``costs`` (E, E) float32 of the best recipe from each (row) to each (column), nan where
    there is none; ``natural`` (E, E) float32, the same as naturalness where the table is ranked by
    it.
    """

    places: list[Place]
    score: str


class StreamStarted(Body, frozen=True, tag="stream"):
    """A live character: its number, rate, body and goals."""

    live: int
    fps: float
    looks: Looks
    goals: list[str]


class TableState(BaseRequest, tag="table.state"):
    """Report the tables and the build."""

    answer: ClassVar = TableReport


class TableBuild(BaseRequest, tag="table.build"):
    """Build a table over the library in another process."""

    answer: ClassVar = TableReport
    clusters: Clusters | None = None
    """Number of clusters; by the length of the clips, as in :func:`build_table`, where None."""
    length_s: TableSeconds = 1.0
    fps: Rate = 60.0
    lookup: LookupSize | None = None
    """Size of the lookup; the default of :func:`build_table` where None."""


class TableCancel(BaseRequest, tag="table.cancel"):
    """Stop the build. The next build continues from there."""

    answer: ClassVar = TableReport


class TableOpen(BaseRequest, tag="table.open"):
    """Open a table that ``table.state`` lists."""

    answer: ClassVar = TableReport
    table: Text


class TableMatrix(BaseRequest, tag="table.matrix"):
    """Read the costs between all representatives."""

    answer: ClassVar = Matrix


class TableQuery(MakeRequest, tag="table.query", kw_only=True):
    """Make a transition from a frame to a frame or a label; its detail is ``TableDetail``."""

    source: OpenPlace
    target: OpenPlace | None = None
    label: Text | None = None
    rescore: Rescored = 32
    search: bool = False
    variation: Seed | None = None
    lead_s: Seconds = 0.5
    follow_s: Seconds = 0.5
    by: Maker = "table"
    """What makes it: the table, the motion graph, or the better of both."""


class StreamStart(BaseRequest, tag="stream.start"):
    """Begin a live character."""

    answer: ClassVar = StreamStarted
    source: Place


class StreamGo(BaseRequest, tag="stream.go"):
    """Send it to one of the table's goals."""

    answer: ClassVar = Done
    live: Given
    goal: Text


class StreamStep(BaseRequest, tag="stream.step"):
    """Its next frame, as a pose: one binary message; see ``wire.py``."""

    live: Given
    frames: StreamFrames = 1


class StreamStop(BaseRequest, tag="stream.stop"):
    """End it."""

    answer: ClassVar = Done
    live: Given


class LabelNext(MakeRequest, tag="label.next", kw_only=True):
    """Make the next transition to rate; ``detail.rating`` is set, scores are left out."""

    rater: Text


class LabelSave(BaseRequest, tag="label.save"):
    """Store a verdict. A second one replaces the first."""

    answer: ClassVar = RatingCounts
    transition: Text
    natural: bool
    rater: Text
    table: Text | None = None
    """``detail.rating.table``: another page may have opened another table since."""


class LabelFile(BaseRequest, tag="label.file"):
    """Write all verdicts as the CSV that ``table evaluate`` reads."""

    answer: ClassVar = Export


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
