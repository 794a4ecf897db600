"""How a body is drawn, for the studio's messages and for pages without a server.

Dataclasses, which need no extra.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Side = Literal["left", "middle", "right"]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the body: balls at some of the points, each pair joined by its hull."""

    name: str
    side: Side
    points: list[int]
    radii: list[float]


@dataclass(frozen=True, slots=True)
class Looks:
    """How to draw a body: its parts and the ground under it."""

    points: int
    """Points P of every frame."""
    root: int
    """Index of the point that is the root."""
    parts: list[Part]
    height: float
    floor: float
    heading: float
    """Direction of travel, radians: the views front and side follow it."""
    joints: list[str]
