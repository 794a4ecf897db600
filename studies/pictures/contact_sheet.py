"""The contact sheet: many clips on one page, a small strip and a verdict each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from motionloom.drawing.camera import View
from motionloom.drawing.canvas import INK, LIGHT, Rgb, blank_canvas, hex_of, save_canvas
from motionloom.drawing.strip import draw_strip
from motionloom.motion.motion import Footplants, Motion

__all__ = ["SheetEntry", "save_sheet"]


@dataclass(frozen=True, slots=True, eq=False)
class SheetEntry:
    """One clip of a sheet."""

    motion: Motion
    title: str
    verdict: str = ""
    footplants: Footplants | None = None
    view: View = "side"
    colour: Rgb | Callable[[int], Rgb] = INK
    """Of the figure, or of each of its frames."""


def save_sheet(
    entries: Sequence[SheetEntry],
    target: Path | BinaryIO,
    *,
    columns: int = 2,
    cell: tuple[int, int] = (760, 250),
    ghosts: int = 8,
) -> None:
    """Write a PNG with a strip of every clip, its title and its verdict, row by row."""
    rows = -(-len(entries) // columns)
    text_high = 44
    width, height = columns * cell[0], rows * (cell[1] + text_high)
    canvas = blank_canvas((width, height))
    for n, entry in enumerate(entries):
        left = (n % columns) * cell[0] / width
        top = 1.0 - (n // columns) * (cell[1] + text_high) / height
        bottom = top - (cell[1] + text_high) / height
        box = (left + 8 / width, bottom, (cell[0] - 16) / width, cell[1] / height)
        axes = canvas.add_axes(box)
        draw_strip(
            axes,
            entry.motion,
            footplants=entry.footplants,
            view=entry.view,
            ghosts=ghosts,
            colour=entry.colour,
            labels=False,
        )
        canvas.text(
            left + 14 / width, top - 8 / height, entry.title, va="top", ha="left", size=10,
            weight="bold", color=hex_of(INK), parse_math=False,
        )  # fmt: skip
        canvas.text(
            left + 14 / width, top - 25 / height, entry.verdict, va="top", ha="left", size=8.5,
            color=hex_of(LIGHT.label), parse_math=False,
        )  # fmt: skip
    save_canvas(canvas, target, "png")
