"""Timing and alignment of a registration curve, drawn over its parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.drawing.canvas import (
    LIGHT,
    blank_canvas,
    example_colour,
    example_names,
    hex_of,
    quiet_axes,
    title_canvas,
)
from motionloom.registration.curve import RegistrationCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

__all__ = ["draw_alignment", "draw_timewarp"]

SAMPLES = 400


def draw_timewarp(
    curve: RegistrationCurve, *, size: tuple[int, int] = (1000, 560), title: str | None = None
) -> Canvas:
    """A picture of which frame of every motion belongs to each point of the curve.

    Above, the frames; below, how fast each motion plays there, 1 being the mean of all.

    Parameters
    ----------
    curve
        From :func:`motionloom.register`.
    size
        Pixels, width and height.
    title
        Over the picture.
    """
    u = np.linspace(*curve.u_range, SAMPLES)
    canvas, (frames, rates) = _two_panels(size)
    for k, name in enumerate(example_names(curve.motions)):
        line: dict[str, Any] = {"color": hex_of(example_colour(k)), "lw": 1.8}
        frames.plot(u, curve.frames(u)[:, k], label=name, **line)
        rates.plot(u, curve.rates(u)[:, k], **line)
    rates.axhline(1.0, color=hex_of(LIGHT.label), lw=0.7, ls=(0, (4, 4)))
    rates.set_yscale("log", base=2)
    rates.yaxis.set_major_formatter("{x:g}")
    rates.yaxis.set_minor_formatter("")
    low, high = curve.rates(u).min(), curve.rates(u).max()
    rates.set_ylim(min(0.5, low) / 1.1, max(2.0, high) * 1.1)
    _label(frames, "frame")
    _label(rates, "frames per u")
    _finish(canvas, frames, rates, "Timewarp" if title is None else title, curve)
    return canvas


def draw_alignment(
    curve: RegistrationCurve, *, size: tuple[int, int] = (1000, 560), title: str | None = None
) -> Canvas:
    """A picture of how every motion is turned and placed to stand with the reference.

    Above, the turn; below, how far its root then lies from the reference's: ahead of it (line) and
    to its left (dotted), as the reference goes.

    Parameters
    ----------
    curve
        From :func:`motionloom.register`.
    size
        Pixels, width and height.
    title
        Over the picture.
    """
    u = np.linspace(*curve.u_range, SAMPLES)
    canvas, (turns, places) = _two_panels(size)
    way = _way(curve, u)
    for k, name in enumerate(example_names(curve.motions)):
        spline = curve.alignment[k]
        values = (
            np.zeros((len(u), 3)) if spline is None else spline(u / curve.frames_per_knot)
        )  # (N, 3)
        line: dict[str, Any] = {"color": hex_of(example_colour(k)), "lw": 1.8}
        label = f"{name}, the reference" if spline is None else name
        turns.plot(u, np.degrees(values[:, 0]), label=label, **line)
        ahead = np.sum(values[:, 1:] * way, axis=1)
        left = values[:, 1] * way[:, 1] - values[:, 2] * way[:, 0]
        places.plot(u, 100.0 * ahead, **line)
        places.plot(u, 100.0 * left, ls=":", **line)
    _label(turns, "turn, degrees")
    _label(places, "root offset, cm")
    _finish(canvas, turns, places, "Alignment" if title is None else title, curve)
    return canvas


def _way(curve: RegistrationCurve, u: FloatArray) -> FloatArray:
    """Direction (x, z) in which the reference goes over the whole curve, per sample. (N, 2)."""
    reference = curve.motions[curve.reference]
    ends = np.round(curve.frames(np.array(curve.u_range))[:, curve.reference]).astype(int)
    went = reference.root_positions[ends[1], [0, 2]] - reference.root_positions[ends[0], [0, 2]]
    length = float(np.hypot(*went))
    ahead = went / length if length > 0.05 else np.array([0.0, 1.0])
    return np.tile(ahead, (len(u), 1))


def _two_panels(size: tuple[int, int]) -> tuple[Canvas, tuple[Axes, Axes]]:
    canvas = blank_canvas(size)
    left, wide = 76 / size[0], 1 - (76 + 20) / size[0]
    below = 46 / size[1]
    free = 1 - below - 60 / size[1]
    lower = canvas.add_axes((left, below, wide, 0.4 * free))
    upper = canvas.add_axes((left, below + 0.46 * free, wide, 0.54 * free), sharex=lower)
    for axes in (upper, lower):
        quiet_axes(axes)
    upper.tick_params(labelbottom=False)
    return canvas, (upper, lower)


def _label(axes: Axes, text: str) -> None:
    axes.set_ylabel(text, color=hex_of(LIGHT.label), size=9)


def _finish(canvas: Canvas, upper: Axes, lower: Axes, title: str, curve: RegistrationCurve) -> None:
    label = hex_of(LIGHT.label)
    lower.set_xlim(*curve.u_range)
    fps = curve.motions[0].fps
    lower.set_xlabel(f"u, average frames at {fps:g} fps", color=label, size=9)
    legend = upper.legend(loc="upper left", frameon=False, fontsize=8, labelcolor=label)
    for text in legend.get_texts():
        text.set_parse_math(False)
    title_canvas(canvas, title, f"{curve.u_range[1] / fps:.2f} s on average")
