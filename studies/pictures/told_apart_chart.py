"""Told-apart chart: how well captured and synthesized motion are distinguished, by method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from motionloom.drawing.canvas import (
    AMBER,
    BLUE,
    INK,
    LIGHT,
    blank_canvas,
    hex_of,
    quiet_axes,
    title_canvas,
)
from motionloom.errors import ArrayError

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

    from studies.measures.told_apart import Area

__all__ = ["draw_areas"]

GAP = 0.09
"""Of the picture's height, for the title and the numbers of a view."""


def draw_areas(
    areas: Mapping[tuple[str, str], Mapping[str, Area]],
    *,
    marked: tuple[str, ...] = ("our table", "fill"),
    goal: float = 0.75,
    size: tuple[int, int] = (1200, 900),
    title: str = "Told-apart test: captured or synthesized?",
) -> Canvas:
    """A picture of areas under the curve: a panel for each view and part, a line for each method.

    Parameters
    ----------
    areas
        By method and view; each has an area with its bounds for every part of the subjects.
    marked
        Methods drawn in the second colour.
    goal
        Where a line is drawn.
    size
        Pixels, width and height.
    title
        Over the picture.
    """
    if not areas:
        raise ArrayError("`areas` must hold at least one method, got none.")
    methods: dict[str, list[str]] = {}
    for name, view in areas:
        methods.setdefault(view, []).append(name)
    parts = list(dict.fromkeys(part for some in areas.values() for part in some))
    canvas = blank_canvas(size)
    left, wide = 0.22, 0.77 / len(parts)
    line = (0.90 - GAP * len(methods)) / sum(len(names) for names in methods.values())
    bottom = 0.93
    for view, names in methods.items():
        bottom -= line * len(names) + GAP
        for column, part in enumerate(parts):
            place = left + column * wide, bottom + 0.05, wide - 0.012, line * len(names)
            axes = canvas.add_axes(place)
            quiet_axes(axes)
            for x, style in ((0.5, "-"), (goal, ":")):
                axes.axvline(x, color=hex_of(LIGHT.label), lw=1.0, ls=style)
            for k, name in enumerate(names):
                area = areas.get((name, view), {}).get(part)
                if area is None:
                    continue
                colour = hex_of(AMBER if name in marked else BLUE)
                axes.plot([area.low, area.high], [k, k], color=colour, lw=2.0)
                axes.plot(area.auc, k, "o", color=colour, ms=6)
                axes.text(0.36, k - 0.22, f"{area.auc:.2f}", size=8, color=hex_of(INK))
            axes.set_ylim(len(names) - 0.5, -0.5)
            axes.set_xlim(0.35, 1.03)
            axes.set_xticks([0.5, 0.75, 1.0], ["0.5", "0.75", "1"], size=8)
            axes.set_yticks(range(len(names)), names if column == 0 else [], size=9)
            axes.set_title(f"{part}\n{view}", size=9, color=hex_of(INK))
    title_canvas(canvas, title, "AUC, larger of two classifiers; 0.5 is chance; 95 % over takes")
    return canvas
