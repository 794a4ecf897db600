"""The colours, each with one meaning, and how a figure's tones are mixed from them."""

from __future__ import annotations

from dataclasses import dataclass

Rgb = tuple[int, int, int]
"""Red, green, blue, 0 to 255."""

INK: Rgb = (38, 43, 54)
"""A result, or a clip on its own."""
AMBER: Rgb = (214, 132, 18)
"""Clip A."""
BLUE: Rgb = (37, 105, 196)
"""Clip B."""
PLANTED: Rgb = (22, 155, 98)
"""A foot that stands still on the ground."""
SLIDING: Rgb = (208, 48, 48)
"""A foot that is labelled as planted and moves."""


@dataclass(frozen=True, slots=True)
class Theme:
    """What a picture is drawn on."""

    paper: Rgb
    floor: Rgb
    """The ground below the floor line."""
    grid: Rgb
    label: Rgb


LIGHT = Theme(
    paper=(250, 250, 248), floor=(240, 240, 236), grid=(219, 220, 216), label=(98, 104, 114)
)


def mix(colour: Rgb, other: Rgb, amount: float) -> Rgb:
    """``colour`` with ``amount`` (0 to 1) of ``other`` in it."""
    r, g, b = (round(c + (o - c) * amount) for c, o in zip(colour, other, strict=True))
    return r, g, b


def hex_of(colour: Rgb) -> str:
    """``#rrggbb`` of a colour."""
    return "#{:02x}{:02x}{:02x}".format(*colour)
