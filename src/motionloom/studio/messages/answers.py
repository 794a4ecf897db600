"""What the server says: the heads of its answers. See ``messages.py`` for which answers what."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, field

from motionloom._arrays import FloatArray

__all__ = [
    "Answer",
    "Candidate",
    "Facts",
    "Item",
    "Looks",
    "Part",
    "Print",
    "Shown",
    "Why",
    "WhyRow",
]

Verdict = Literal["good", "fair", "bad", "plain"]


class Item(Struct, frozen=True):
    """A line of the library, known without reading the file."""

    id: str
    name: str
    group: str
    """Folder that it lies in, or ``embedded``, or ``added``."""


class Facts(Struct, frozen=True):
    """What a clip is, known once it was read."""

    clip: str
    frames: int
    fps: float
    joints: int
    skeleton: str
    """The same for clips on the same joints: clips are grouped by it."""
    label: str
    verdict: Verdict
    badge: str
    """Quality in a few words."""


class Part(Struct, frozen=True):
    """A part of the body: balls at some of the points, hulled pair by pair."""

    name: str
    side: str
    points: list[int]
    radii: list[float]


class Looks(Struct, frozen=True):
    """How to draw a body: its parts and the ground under it."""

    points: int
    """Points P of every frame."""
    root: int
    """The point that is the root."""
    parts: list[Part]
    height: float
    floor: float
    heading: float
    """Way of travel, radians: the views front and side follow it."""
    joints: list[str]


class Print(Struct, frozen=True):
    """A plant of a heel or ball on the ground."""

    kind: str
    first: int
    last: int
    place: tuple[float, float, float]
    heading: float
    slides: bool


class Shown(Struct, frozen=True):
    """A motion to show.

    Its arrays, one row a frame, ``nan`` where there is nothing: ``points`` (F, P, 3) float32
    world, ``planted`` (F, 4) uint8, ``speeds`` (F, 4) float32 of heels and balls, ``com`` (F, 3),
    ``zmp`` (F, 2) on the ground, ``support`` (F, 16, 2) corners of the soles that carry.
    """

    name: str
    frames: int
    fps: float
    looks: Looks
    prints: list[Print]


class WhyRow(Struct, frozen=True):
    """One figure: a number with its unit, what it was before, and what to think of it."""

    label: str
    value: float | None
    unit: str
    verdict: Verdict = "plain"
    before: float | None = None
    about: str = ""
    limits: tuple[float, float] | None = None
    """Where good ends and where fair ends, where there is a verdict."""
    frame: int | None = None
    """Where in the result it is worst."""


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


class Answer(Struct, frozen=True):
    """An answer: its type, its words and numbers, its arrays by name."""

    type: str
    body: dict[str, Any]
    arrays: dict[str, FloatArray | Any] = field(default_factory=dict)
