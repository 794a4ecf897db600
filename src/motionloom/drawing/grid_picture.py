"""The distance grid of two motions with the way through it, as in figure 4 of [KG03]_."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.body_map import BodyMap
from motionloom.drawing.canvas import blank_canvas
from motionloom.drawing.charts import example_colour, example_names, quiet_axes, title_canvas
from motionloom.drawing.theme import INK, LIGHT, hex_of
from motionloom.errors import ArrayError
from motionloom.features.pointcloud import point_cloud
from motionloom.registration.curve import RegistrationCurve
from motionloom.registration.distance import distance_grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

GRID_RATE = 30.0
"""Frames per second that are compared, as registration does."""


def draw_grid(
    curve: RegistrationCurve,
    a: int = 0,
    b: int = 1,
    *,
    size: tuple[int, int] = (900, 760),
    window_s: float = 0.17,
    title: str | None = None,
    body: BodyMap | None = None,
) -> Canvas:
    """A picture of how far apart all frames of two motions are, with the curve through it.

    Dark is alike, bright is far apart. What lies outside the part that the curve covers is pale:
    it was cropped.

    Parameters
    ----------
    curve
        From :func:`motionloom.register`.
    a, b
        Which of its motions go to the right and upwards.
    size
        Pixels, width and height.
    window_s
        Seconds over which frames are compared.
    title
        Over the picture; the names of the motions by default.
    body
        Which joint is which; guessed by default.
    """
    n_motions = len(curve.motions)
    if not (0 <= a < n_motions and 0 <= b < n_motions):
        raise ArrayError(f"`a` and `b` must be motions of the curve, 0 to {n_motions - 1}.")
    first, second = curve.motions[a], curve.motions[b]
    stride = max(1, round(first.fps / GRID_RATE))
    half = max(0, round(0.5 * (window_s * first.fps / stride - 1.0)))
    cloud_a, cloud_b = point_cloud(first, body=body), point_cloud(second, body=body)
    grid = distance_grid(
        cloud_a.points[::stride], cloud_b.points[::stride], cloud_a.weights, half_window=half
    )
    apart_cm = 100.0 * np.sqrt(grid.cost)  # (n, m)
    along = curve.frames(np.linspace(*curve.u_range, 400))[:, [a, b]]  # (N, 2)

    canvas = blank_canvas(size)
    axes = canvas.add_axes((0.09, 0.09, 0.76, 0.78))
    n, m = apart_cm.shape
    edges = (-0.5 * stride, (n - 0.5) * stride, -0.5 * stride, (m - 0.5) * stride)
    shown = axes.imshow(
        apart_cm.T, origin="lower", extent=edges, aspect="auto", cmap="magma",
        vmin=0.0, vmax=float(np.percentile(apart_cm, 98)), interpolation="nearest",
    )  # fmt: skip
    quiet_axes(axes, grid=False)
    _pale_outside(axes, along[0], along[-1], edges)
    axes.plot(along[:, 0], along[:, 1], color=hex_of(INK), lw=4.4, solid_capstyle="round")
    axes.plot(along[:, 0], along[:, 1], color="white", lw=2.2, solid_capstyle="round")
    axes.plot(*along[[0, -1]].T, "o", ms=7, mfc="white", mec=hex_of(INK), mew=1.2)
    axes.set_xlim(edges[:2])
    axes.set_ylim(edges[2:])
    names = example_names(curve.motions)
    axes.set_xlabel(
        f"frame of {names[a]}", color=hex_of(example_colour(a)), size=9, parse_math=False
    )
    axes.set_ylabel(
        f"frame of {names[b]}", color=hex_of(example_colour(b)), size=9, parse_math=False
    )
    _add_seconds(axes, first.fps)
    bar = canvas.colorbar(shown, cax=canvas.add_axes((0.915, 0.09, 0.018, 0.78)), extend="max")
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=8, colors=hex_of(LIGHT.label), length=2)
    bar.set_label("distance of bodies, cm rms", color=hex_of(LIGHT.label), size=9)
    mean = 100.0 * max(curve.costs[a], curve.costs[b])
    remark = f"{mean:.1f} cm apart along the curve" if curve.reference in (a, b) else ""
    title_canvas(canvas, f"{names[a]} and {names[b]}" if title is None else title, remark)
    return canvas


def _pale_outside(
    axes: Axes, low: FloatArray, high: FloatArray, edges: tuple[float, float, float, float]
) -> None:
    """Veil what the curve does not cover."""
    from matplotlib.patches import Rectangle

    left, right, bottom, top = edges
    veil: dict[str, Any] = {"facecolor": hex_of(LIGHT.paper), "alpha": 0.62, "lw": 0}
    axes.add_patch(Rectangle((left, bottom), right - left, low[1] - bottom, **veil))
    axes.add_patch(Rectangle((left, high[1]), right - left, top - high[1], **veil))
    axes.add_patch(Rectangle((left, low[1]), low[0] - left, high[1] - low[1], **veil))
    axes.add_patch(Rectangle((high[0], low[1]), right - high[0], high[1] - low[1], **veil))
    axes.add_patch(
        Rectangle(
            (low[0], low[1]), high[0] - low[0], high[1] - low[1], fill=False,
            edgecolor="white", lw=1.0, ls=(0, (5, 4)),
        )
    )  # fmt: skip


def _add_seconds(axes: Axes, fps: float) -> None:
    """The same axes in seconds, at the top and at the right."""
    label = hex_of(LIGHT.label)
    both = (lambda frame: frame / fps, lambda second: second * fps)
    above = axes.secondary_xaxis("top", functions=both)
    above.set_xlabel("seconds", color=label, size=8)
    for each in (above, axes.secondary_yaxis("right", functions=both)):
        each.tick_params(labelsize=8, colors=label, length=2)
        for spine in each.spines.values():
            spine.set_visible(False)
