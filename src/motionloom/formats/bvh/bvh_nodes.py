"""Joints of a BVH file, as its header lists them."""

from __future__ import annotations

from dataclasses import dataclass, field

from motionloom.findings import Finding

CHANNEL_NAMES = (
    *("Xposition", "Yposition", "Zposition"),
    *("Xrotation", "Yrotation", "Zrotation"),
    *("Xscale", "Yscale", "Zscale"),
)
"""By kind: a channel's kind is its index here."""


class NeedMore(Exception):  # noqa: N818 - a signal between two functions, not an error
    """The head goes on beyond the bytes that were given."""


@dataclass(slots=True)
class Node:
    """One joint as the file states it."""

    name: str
    parent: int
    root: int
    """Which ROOT block it belongs to."""
    offset: Vector | None = None
    channels: list[int] = field(default_factory=list)
    """Kinds, in the file's order."""
    ends: list[Vector] = field(default_factory=list)


@dataclass(slots=True)
class Header:
    """All that stands above the first row of numbers."""

    nodes: list[Node]
    frames: int | None
    """Stated frame count, None where it is missing or no count."""
    frame_time: str
    """Stated frame time, as text."""
    stop: int
    """First byte after the head."""
    line: int
    """Line of that byte, from 1."""
    findings: list[Finding]


Vector = tuple[float, float, float]
