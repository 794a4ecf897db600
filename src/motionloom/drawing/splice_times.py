"""Picture of a splice's timing: which frame of the action goes with which of the legs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from motionloom.drawing.canvas import blank_canvas
from motionloom.drawing.charts import quiet_axes, title_canvas
from motionloom.drawing.theme import AMBER, BLUE, INK, LIGHT, hex_of
from motionloom.splicing.splice import Splice

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

PATH = "#5fd0ff"
"""Colour of the path through the grid: seen on all of it, and on the line of the times."""


def draw_splice_times(
    spliced: Splice,
    *,
    names: tuple[str, str] = ("the action", "the legs"),
    size: tuple[int, int] = (900, 640),
    title: str | None = None,
) -> Canvas:
    """A picture of which frame of the action goes with which frame of the legs, as in figure 3.

    Dark is alike. The fine line is the path through the grid, the broad one the times that were
    used. Where the action kept its own time nothing was compared, and there is only the line.

    Parameters
    ----------
    spliced
        From :func:`motionloom.splice`.
    names
        Of the upper and the lower clip.
    size
        Pixels, width and height.
    title
        Over the picture.
    """
    times, fps = spliced.timewarp, spliced.motion.fps
    canvas = blank_canvas(size)
    axes = canvas.add_axes((0.08, 0.10, 0.78, 0.79))
    quiet_axes(axes, grid=times.cost.size == 0)
    if times.cost.size:
        n, m = times.cost.shape
        step, first = times.stride / fps, times.first / fps
        apart_cm = 100.0 * np.sqrt(np.maximum(times.cost, 0.0))
        shown = axes.imshow(
            apart_cm.T, origin="lower", aspect="auto", cmap="magma", interpolation="nearest",
            extent=(-0.5 * step, (n - 0.5) * step, first - 0.5 * step, first + (m - 0.5) * step),
            vmin=0.0, vmax=float(np.percentile(apart_cm, 98)),
        )  # fmt: skip
        axes.set_xlim(-0.5 * step, (n - 0.5) * step)
        axes.set_ylim(-0.5 * step, first + (m - 0.5) * step)
        bar = canvas.colorbar(shown, cax=canvas.add_axes((0.90, 0.10, 0.018, 0.79)), extend="max")
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize=8, colors=hex_of(LIGHT.label), length=2)
        bar.set_label("distance of hips and knees, cm", color=hex_of(LIGHT.label), size=9)
    x, y = np.arange(len(times.frames)) / fps, times.frames / fps
    axes.plot(x, y, color=hex_of(INK), lw=4.2, solid_capstyle="round")
    axes.plot(x, y, color="white", lw=2.0, solid_capstyle="round", label="times")
    if times.cost.size:
        axes.plot(*(times.path * times.stride / fps).T, color=PATH, lw=1.0, label="path")
    axes.set_xlabel(f"seconds of {names[1]}", color=hex_of(BLUE), size=9, parse_math=False)
    axes.set_ylabel(f"seconds of {names[0]}", color=hex_of(AMBER), size=9, parse_math=False)
    rate = np.diff(times.frames)
    remark = (
        "the action keeps its own time"
        if times.kept_own_time
        else f"playback rate of the action {rate.min():.2f} to {rate.max():.2f}"
    )
    title_canvas(canvas, f"{names[0]} on {names[1]}" if title is None else title, remark)
    return canvas
