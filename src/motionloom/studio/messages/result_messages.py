"""Results as messages: what explains them, what only their tab knows, and their sources."""

from __future__ import annotations

from typing import ClassVar, Literal

from msgspec import Struct, field

from motionloom.studio.messages.answers import Body, Method, Placement, Shown, Span, Verdict
from motionloom.studio.messages.bounds import BaseRequest, Frame, Held, Text

Place = tuple[Text, Frame]
"""A clip of the table, and a frame of it."""


class WhyRow(Struct, frozen=True):
    """One figure: a number with its unit, its value before clean-up, and its verdict."""

    label: str
    value: float | None
    unit: str
    verdict: Verdict = "plain"
    before: float | None = None
    about: str = ""
    limits: tuple[float, float] | None = None
    """Upper limits of good and of fair, where there is a verdict."""
    frame: int | None = None
    """Frame of the result where the value is worst."""


class Why(Struct, frozen=True):
    """Why a result is good or bad."""

    verdict: Verdict
    headline: str
    rows: list[WhyRow]
    warnings: list[str]
    notes: list[str]
    command: str
    """The same run as a command line,"""
    python: str
    """and as Python."""


class Candidate(Struct, frozen=True):
    """A place to join two clips, and the parts of its cost in metres."""

    frame_a: int
    frame_b: int
    cost: float
    pose: float
    feet: float
    both_moving: bool


class Detail(Struct, frozen=True, tag_field="tab"):
    """Base of what only one tab knows about its result."""


class TransitionDetail(Detail, frozen=True, tag="transition"):
    """Where a transition joins its clips, and the other places."""

    span: Span
    at: Span
    by_hand: bool
    best: Span | None
    """Place that the automatic search takes; None where it did not run."""
    candidates: list[Candidate]
    length_s: float
    asked_length_s: float
    stride: int
    """Frames in a cell of the distance map."""
    grid_range: tuple[float, float]
    """Ends of the map's colour scale, metres."""


class BlendDetail(Detail, frozen=True, tag="blend"):
    """Weights that a blend used, and the parameters they stand for."""

    weights: list[float]
    parameters: dict[str, float] | None
    recorded: int
    """Frames of the recording; 0 without one."""


class MethodFigures(Struct, frozen=True):
    """What one method of splicing preserves."""

    method: Method
    lean_lost_deg: float
    sway: float
    step: float


class SpliceDetail(Detail, frozen=True, tag="splice"):
    """How a splice was made; figures of all methods where they are compared."""

    method: Method
    where: str
    methods: list[MethodFigures] = []


class Source(Struct, frozen=True):
    """A source of a result; ``shown`` is None where the page has it already."""

    clip: str
    key: str
    placement: Placement
    shown: Shown | None


class ResultFile(Struct, frozen=True):
    """A file that the shown command line reads."""

    name: str
    url: str


class RecipeFigures(Struct, frozen=True):
    """A recipe of a table, and the parts of its cost."""

    windows: list[str]
    cost: float
    natural: float
    inches: float
    feet_cm: float
    balance_cm: float
    spread_cm: float
    taken: bool


class PathChoice(Struct, frozen=True):
    """Whether the motion graph or the table is better, and why."""

    chosen: Literal["graph", "table", "neither"]
    why: str
    graph_s: float | None
    table_in: float


class RatingCounts(Body, frozen=True, tag="labels"):
    """Verdicts of one rater, how many of them are natural, and verdicts of all raters."""

    rated: int
    natural: int
    all: int


class Rating(Struct, frozen=True):
    """A transition to rate."""

    table: str
    transition: str
    number: int
    counts: RatingCounts


class TableDetail(Detail, frozen=True, tag="table"):
    """How a table's transition was made; one to rate has only ``span`` and ``rating``."""

    span: Span
    source: Place | None = None
    target: Place | None = None
    by: Literal["graph", "table"] = "table"
    candidates: list[RecipeFigures] = field(default_factory=list)
    looked_at: int = 0
    path: PathChoice | None = None
    rating: Rating | None = None


class ResultAnswer(Body, frozen=True, tag="result"):
    """A result with its sources; arrays of source 0 are named ``0.points`` and so on."""

    result: int
    shown: Shown
    sources: list[Source]
    why: Why
    detail: TransitionDetail | BlendDetail | SpliceDetail | TableDetail
    files: list[ResultFile] = field(default_factory=list)


class MakeRequest(BaseRequest, kw_only=True):
    """Base of requests that make a result."""

    answer: ClassVar = ResultAnswer
    have: Held = field(default_factory=list)
    """Keys of sources that the page has: they come without ``shown`` and arrays."""
