"""Told-apart chart: how well captured and synthesized motion are distinguished, by method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from motionloom.drawing.canvas import blank_canvas
from motionloom.drawing.charts import quiet_axes, title_canvas
from motionloom.drawing.theme import AMBER, BLUE, INK, LIGHT, hex_of
from motionloom.errors import ArrayError

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

    from studies.measures.told_apart import Area

__all__ = ["draw_areas"]


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
    views = list(dict.fromkeys(view for _, view in areas))
    methods = list(dict.fromkeys(name for name, _ in areas))
    parts = list(dict.fromkeys(part for some in areas.values() for part in some))
    canvas = blank_canvas(size)
    left, wide = 0.19, 0.80 / len(parts)
    tall = 0.80 / len(views)
    for row, view in enumerate(views):
        for column, part in enumerate(parts):
            bottom = 0.06 + (len(views) - 1 - row) * (tall + 0.02)
            axes = canvas.add_axes((left + column * wide, bottom, wide - 0.012, tall - 0.05))
            quiet_axes(axes)
            for x, style in ((0.5, "-"), (goal, ":")):
                axes.axvline(x, color=hex_of(LIGHT.label), lw=1.0, ls=style)
            for k, name in enumerate(methods):
                area = areas.get((name, view), {}).get(part)
                if area is None:
                    continue
                colour = hex_of(AMBER if name in marked else BLUE)
                axes.plot([area.low, area.high], [k, k], color=colour, lw=2.0)
                axes.plot(area.auc, k, "o", color=colour, ms=6)
                axes.text(0.36, k - 0.22, f"{area.auc:.2f}", size=8, color=hex_of(INK))
            axes.set_ylim(len(methods) - 0.5, -0.5)
            axes.set_xlim(0.35, 1.03)
            axes.set_xticks([0.5, 0.75, 1.0], ["0.5", "0.75", "1"], size=8)
            axes.set_yticks(range(len(methods)), methods if column == 0 else [], size=9)
            axes.set_title(f"{part}\n{view}", size=9, color=hex_of(INK))
    title_canvas(canvas, title, "AUC, larger of two classifiers; 0.5 is chance; 95 % over takes")
    return canvas
