"""What the server sends: the heads of its answers. Each request names its answer's class.

``scripts/generate_messages.py`` writes the same types to ``client/src/messages.ts``.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, field

from motionloom.studio.messages.looks import Looks

Verdict = Literal["good", "fair", "bad", "plain"]
Method = Literal["naive", "time", "time+space", "full"]
Picture = Literal["png", "svg", "gif", "mp4"]
Span = tuple[int, int]
Placement = tuple[float, float, float]
"""Turn and shift on the ground (theta, x0, z0)."""


class Body(Struct, frozen=True, tag_field="type"):
    """Base of every answer's head."""


class Item(Struct, frozen=True):
    """A line of the library; the file was not read for it."""

    id: str
    name: str
    group: str
    """Its folder, or ``embedded``, or ``added``."""


class Facts(Struct, frozen=True):
    """What a clip is, once it was read."""

    clip: str
    frames: int
    fps: float
    joints: int
    skeleton: str
    """The same for clips with the same joints: clips are grouped by it."""
    label: str
    verdict: Verdict
    badge: str
    """Quality in a few words."""


class Print(Struct, frozen=True):
    """A footprint: one contact of a heel or ball with the ground."""

    kind: str
    first: int
    last: int
    place: tuple[float, float, float]
    heading: float
    slides: bool


class Shown(Struct, frozen=True):
    """A motion to draw.

    Its arrays have one row per frame, ``nan`` where there is no value: ``points`` (F, P, 3) float32
    world, ``planted`` (F, 4) uint8, ``speeds`` (F, 4) float32 of heels and balls, ``com`` (F, 3),
    ``zmp`` (F, 2) on the ground, ``support`` (F, 16, 2) corners of the soles on the ground.
    """

    name: str
    frames: int
    fps: float
    looks: Looks
    prints: list[Print]


class LibraryListed(Body, frozen=True, tag="library"):
    """Name and clips of the library, and the command that starts the server again."""

    name: str
    items: list[Item]
    command: str


class LibraryChanged(Body, frozen=True, tag="library.changed"):
    """Not requested: files of the folder were added, changed or removed."""

    name: str
    items: list[Item]
    added: list[str]
    changed: list[str]
    removed: list[str]


class Preview(Body, frozen=True, tag="preview"):
    """What a clip is, and a few frames of it. Arrays: ``points`` (N, P, 3) float32."""

    facts: Facts
    looks: Looks


class ClipFinding(Struct, frozen=True):
    """A fault of a file, and what to do about it."""

    level: Literal["note", "warning", "error"]
    where: str
    problem: str
    fix: str


class ClipOpened(Body, frozen=True, tag="clip"):
    """A whole clip; arrays as :class:`Shown` lists them."""

    clip: str
    shown: Shown
    findings: list[ClipFinding]
    facts: Facts


class Space(Body, frozen=True, tag="space"):
    """What clips can be steered by: names, ranges, and the values of each clip."""

    names: list[str]
    ranges: list[tuple[float, float]]
    values: list[list[float]]


class LiveStarted(Body, frozen=True, tag="control"):
    """A live blend: its number, rate and body."""

    live: int
    fps: float
    looks: Looks


class Recorded(Body, frozen=True, tag="done"):
    """Weights of every recorded frame."""

    recorded: list[list[float]]


class Export(Body, frozen=True, tag="export"):
    """A file to download, its address relative to the page."""

    url: str
    name: str
    bytes: int


class Format(Struct, frozen=True):
    """A format that can be written."""

    name: str
    title: str
    suffix: str


class PresetListed(Struct, frozen=True):
    """A format as a program needs it."""

    name: str
    title: str
    format: str
    verified: bool
    about: str


class PictureSupport(Struct, frozen=True):
    """A kind of picture, and what to install where it is not available."""

    kind: Picture
    available: bool
    reason: str
    install: str


class Formats(Body, frozen=True, tag="formats"):
    """Everything that a result can be exported as."""

    formats: list[Format]
    presets: list[PresetListed]
    pictures: list[PictureSupport]


class ProjectLoaded(Body, frozen=True, tag="project"):
    """The stored state, or why the file cannot be used."""

    project: dict[str, Any] | None
    problem: str | None


class Done(Body, frozen=True, tag="done"):
    """Nothing to report."""


class Stopped(Body, frozen=True, tag="done"):
    """Whether there was a request to stop."""

    stopped: bool


class Answer(Struct, frozen=True):
    """An answer: its head, and its arrays by name."""

    body: Body
    arrays: dict[str, Any] = field(default_factory=dict)
