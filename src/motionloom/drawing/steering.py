"""A steered blend as a picture, and the colours of frames by where they came from."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.blending.blend import Blend
from motionloom.blending.transition import Transition
from motionloom.drawing.canvas import (
    AMBER,
    BLUE,
    LIGHT,
    Rgb,
    blank_canvas,
    example_colour,
    example_names,
    hex_of,
    mix,
    quiet_axes,
    title_canvas,
)
from motionloom.errors import ArrayError
from motionloom.motion.motion import Motion
from motionloom.registration.curve import RegistrationCurve
from motionloom.rotation.quat import ease

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

LEGEND_COLUMNS = 6
"""Names in a row of the legend."""
LEGEND_ROW = 20
"""Height of a row of the legend, pixels."""
LONG_S = 20.0
"""A motion longer than this has a mark every two seconds."""
LABEL_POINTS = 14.0
"""Distance from the path to the label of a mark, points."""


def draw_steering(
    curve: RegistrationCurve,
    steered: Blend | Motion,
    *,
    weights: FloatArray | None = None,
    size: tuple[int, int] = (1100, 760),
    title: str | None = None,
) -> Canvas:
    """A picture of where a blend with changing weights goes, coloured by what it is made of.

    Above, the root's path from above with a mark every second, or every two seconds of a long
    motion; below, the weights over time.

    Parameters
    ----------
    curve
        The examples.
    steered
        A blend of them, or what :func:`motionloom.control` played, as a motion.
    weights
        The weights of each frame, (F, K); those of the blend if not given.
    size
        Pixels, width and height.
    title
        Over the picture.
    """
    if isinstance(steered, Blend):
        motion = steered.motion
        used_weights = steered.provenance.body.weight if weights is None else weights
    elif weights is None:
        raise ArrayError("`weights` is required with a motion. Pass one row per frame, (F, K).")
    else:
        motion, used_weights = steered, weights
    seconds = np.arange(len(used_weights)) / motion.fps
    shares = np.clip(used_weights, 0.0, None).T
    used = [k for k in range(len(shares)) if shares[k].max() > 0.0]
    columns = min(len(used), LEGEND_COLUMNS)
    legend_high = LEGEND_ROW * -(-len(used) // columns) / size[1]
    canvas = blank_canvas(size)
    low = 150 / size[1]
    ground = canvas.add_axes((0.06, low + 0.12 + legend_high, 0.92, 0.81 - low - legend_high))
    parts = canvas.add_axes((0.06, 60 / size[1], 0.92, low))
    for axes in (ground, parts):
        quiet_axes(axes)
    _draw_way(ground, motion, used_weights)
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
        loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns, frameon=False, fontsize=8,
        labelcolor=label,
    )  # fmt: skip
    for text in legend.get_texts():
        text.set_parse_math(False)
    title_canvas(
        canvas,
        "A steered blend" if title is None else title,
        f"{len(names)} examples, {motion.duration_s:.1f} s",
    )
    return canvas


def _draw_way(axes: Axes, motion: Motion, weights: FloatArray) -> None:
    from matplotlib.collections import LineCollection

    flat = _laid_out(motion.root_positions[:, [0, 2]])
    tint = tint_by_weights(weights)
    colours = [hex_of(tint(frame)) for frame in range(len(flat))]
    pieces = np.stack([flat[:-1], flat[1:]], axis=1)
    axes.add_collection(
        LineCollection(list(pieces), colors=colours, linewidths=4.0, capstyle="round")
    )
    every = 1 if motion.duration_s <= LONG_S else 2
    for frame in range(0, len(flat), max(1, round(every * motion.fps))):
        axes.plot(*flat[frame], "o", ms=6, mfc=hex_of(LIGHT.paper), mec=colours[frame], mew=2)
        axes.annotate(
            f"{frame / motion.fps:.0f} s", flat[frame], xytext=_beside(flat, frame, motion.fps),
            ha="center", va="center", size=8, textcoords="offset points",
            color=hex_of(LIGHT.label),
        )  # fmt: skip
    axes.set_aspect("equal", adjustable="datalim")
    axes.autoscale_view()
    axes.set_xlabel("metres", color=hex_of(LIGHT.label), size=9)


def _beside(flat: FloatArray, frame: int, fps: float) -> tuple[float, float]:
    """Points from the path to a label on its left side, or above a path that stands still."""
    around = max(1, round(0.5 * fps))
    way = flat[min(frame + around, len(flat) - 1)] - flat[max(frame - around, 0)]
    length = float(np.hypot(*way))
    if length < 1e-6:
        return 0.0, LABEL_POINTS
    return -LABEL_POINTS * float(way[1]) / length, LABEL_POINTS * float(way[0]) / length


def _laid_out(ground: FloatArray) -> FloatArray:
    """Turn world (x, z) so that the path goes along the picture, left staying left. (N, 2)."""
    centred = ground - ground.mean(axis=0)
    along = np.linalg.svd(centred, full_matrices=False)[2][0]
    if along @ (ground[-1] - ground[0]) < 0.0:
        along = -along
    left = np.array([along[1], -along[0]])
    return np.asarray((ground - ground[0]) @ np.stack([along, left], axis=-1))


def tint_transition(joined: Transition, *, first: int = 0) -> Callable[[int], Rgb]:
    """The colour of every frame of a transition, or of a part of it that starts at ``first``.

    Examples
    --------
    >>> from motionloom import synthetic, transition
    >>> joined = transition(*(synthetic.clip(kind).motion for kind in ("walk", "jog")))
    >>> tint = tint_transition(joined)
    >>> tint(0) == AMBER, tint(joined.motion.n_frames - 1) == BLUE
    (True, True)
    """
    begin, end = joined.span

    def tint(frame: int) -> Rgb:
        of_a = float(ease((frame + first - begin) / max(end - begin, 1)))
        return mix(BLUE, AMBER, of_a)

    return tint


def tint_by_weights(weights: FloatArray) -> Callable[[int], Rgb]:
    """The colours of the examples mixed by the weights (F, K) of each frame."""
    colours = np.array([example_colour(k) for k in range(weights.shape[1])])

    def tint(frame: int) -> Rgb:
        parts = np.clip(weights[min(frame, len(weights) - 1)], 0.0, None)
        red, green, blue = (round(c) for c in (parts / parts.sum()) @ colours)
        return int(red), int(green), int(blue)

    return tint
