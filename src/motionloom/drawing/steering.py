"""A steered blend: its way over the ground and the weights that led it, as in figure 9."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.blending.blend import Blend
from motionloom.drawing.canvas import blank_canvas
from motionloom.drawing.charts import example_colour, example_names, quiet_axes, title_canvas
from motionloom.drawing.origins import tint_by_weights
from motionloom.drawing.theme import LIGHT, hex_of
from motionloom.registration.curve import RegistrationCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


def draw_steering(
    curve: RegistrationCurve,
    steered: Blend,
    *,
    size: tuple[int, int] = (1100, 760),
    title: str | None = None,
) -> Canvas:
    """A picture of where a blend with changing weights goes, coloured by what it is made of.

    Above, the root's path from above with a mark every second; below, the weights over time.

    Parameters
    ----------
    curve
        The examples.
    steered
        A blend of them.
    size
        Pixels, width and height.
    title
        Over the picture.
    """
    canvas = blank_canvas(size)
    ground = canvas.add_axes((0.06, 0.36, 0.92, 0.56))
    parts = canvas.add_axes((0.06, 0.08, 0.92, 0.20))
    for axes in (ground, parts):
        quiet_axes(axes)
    _draw_way(ground, steered)
    seconds = np.arange(len(steered.weights)) / steered.motion.fps
    shares = np.clip(steered.weights, 0.0, None).T
    used = [k for k in range(len(shares)) if shares[k].max() > 0.0]
    names = example_names(curve.motions)
    parts.stackplot(
        seconds,
        shares[used],
        colors=[hex_of(example_colour(k)) for k in used],
        labels=[names[k] for k in used],
        lw=0,
    )
    parts.set_xlim(0.0, seconds[-1])
    parts.set_ylim(0.0, 1.0)
    label = hex_of(LIGHT.label)
    parts.set_xlabel("seconds", color=label, size=9)
    parts.set_ylabel("weights", color=label, size=9)
    legend = parts.legend(
        loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=len(used), frameon=False, fontsize=8,
        labelcolor=label,
    )  # fmt: skip
    for text in legend.get_texts():
        text.set_parse_math(False)
    title_canvas(
        canvas,
        "A steered blend" if title is None else title,
        f"{len(names)} examples, {steered.motion.duration_s:.1f} s",
    )
    return canvas


def _draw_way(axes: Axes, steered: Blend) -> None:
    from matplotlib.collections import LineCollection

    flat = _laid_out(steered.motion.root_positions[:, [0, 2]])
    tint = tint_by_weights(steered.weights)
    colours = [hex_of(tint(frame)) for frame in range(len(flat))]
    pieces = np.stack([flat[:-1], flat[1:]], axis=1)
    axes.add_collection(
        LineCollection(list(pieces), colors=colours, linewidths=4.0, capstyle="round")
    )
    for frame in range(0, len(flat), max(1, round(steered.motion.fps))):
        axes.plot(*flat[frame], "o", ms=6, mfc=hex_of(LIGHT.paper), mec=colours[frame], mew=2)
        axes.annotate(
            f"{frame / steered.motion.fps:.0f} s", flat[frame], xytext=(0, 8), ha="center", size=8,
            textcoords="offset points", color=hex_of(LIGHT.label),
        )  # fmt: skip
    axes.set_aspect("equal", adjustable="datalim")
    axes.autoscale_view()
    axes.set_xlabel("metres", color=hex_of(LIGHT.label), size=9)


def _laid_out(ground: FloatArray) -> FloatArray:
    """World (x, z) turned so that the way goes along the picture, left staying left. (N, 2)."""
    centred = ground - ground.mean(axis=0)
    along = np.linalg.svd(centred, full_matrices=False)[2][0]
    if along @ (ground[-1] - ground[0]) < 0.0:
        along = -along
    left = np.array([along[1], -along[0]])
    return np.asarray((ground - ground[0]) @ np.stack([along, left], axis=-1))
