"""Error boxes: how far answers of several methods are from the truth, one box a method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from motionloom._arrays import FloatArray
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

__all__ = ["draw_error_boxes"]


def draw_error_boxes(
    errors: Mapping[str, FloatArray],
    *,
    best: str | None = None,
    unit: str = "cm, mean distance of joints from what was captured",
    size: tuple[int, int] = (900, 460),
    title: str = "Distance from the truth",
) -> Canvas:
    """A picture of errors: box from quarter to quarter, line at the median, dot at the mean.

    Parameters
    ----------
    errors
        One value a question, by method; whiskers reach from 5 to 95 % of them.
    best
        Method to mark; the one with the least mean by default.
    unit
        Under the axis.
    size
        Pixels, width and height.
    title
        Over the picture.
    """
    if not errors or any(len(values) == 0 for values in errors.values()):
        raise ArrayError("`errors` must hold at least one method with at least one value.")
    means = {name: float(np.mean(values)) for name, values in errors.items()}
    best = min(means, key=means.__getitem__) if best is None else best
    canvas = blank_canvas(size)
    axes = canvas.add_axes((0.22, 0.15, 0.72, 0.72))
    quiet_axes(axes)
    for k, (name, values) in enumerate(errors.items()):
        low, first, middle, third, high = np.percentile(values, [5, 25, 50, 75, 95])
        colour = hex_of(AMBER if name == best else BLUE)
        axes.plot([low, high], [k, k], color=hex_of(LIGHT.label), lw=1.0)
        axes.barh(k, third - first, left=first, height=0.56, color=colour, alpha=0.75)
        axes.plot([middle, middle], [k - 0.28, k + 0.28], color=hex_of(INK), lw=1.6)
        axes.plot(means[name], k, "o", color=hex_of(INK), ms=4)
        axes.text(high, k, f"  {means[name]:.1f}", va="center", size=9, color=hex_of(INK))
    axes.set_yticks(range(len(errors)), list(errors), size=9)
    axes.invert_yaxis()
    axes.set_xlim(left=0.0)
    axes.set_xlabel(unit, size=9, color=hex_of(LIGHT.label))
    count = max(len(values) for values in errors.values())
    title_canvas(canvas, title, f"{count} windows; means written")
    return canvas
