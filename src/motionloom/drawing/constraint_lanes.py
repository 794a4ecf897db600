"""Matched plants: which stance of one motion is which of the others, over the curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from motionloom.drawing.canvas import blank_canvas
from motionloom.drawing.charts import example_colour, example_names, quiet_axes, title_canvas
from motionloom.drawing.theme import INK, LIGHT, Rgb, hex_of, mix
from motionloom.motion.contacts import KINDS
from motionloom.registration.curve import RegistrationCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_TINTS: tuple[Rgb, ...] = (
    (22, 155, 98),
    (64, 120, 190),
    (150, 110, 190),
    (200, 140, 50),
    (90, 150, 160),
)
"""Plants of one match share a tint; neighbours differ."""
LANE, GAP = 1.0, 0.9
"""Height of a lane and of the space between two kinds of plants."""


def draw_constraints(
    curve: RegistrationCurve,
    *,
    weights: Sequence[float] | None = None,
    size: tuple[int, int] | None = None,
    title: str | None = None,
) -> Canvas:
    """A picture of every motion's plants over the curve, those that belong together tinted alike.

    A plant that nothing matches stays hollow: a blend does not keep it. Where a plant was split to
    serve two of another motion, its gap stays hollow.

    Parameters
    ----------
    curve
        From :func:`motionloom.register`.
    weights
        Of a blend whose plants are shown in another lane.
    size
        Pixels, width and height; as high as there are lanes by default.
    title
        Over the picture.
    """
    n_motions = len(curve.motions)
    n_lanes = n_motions + (weights is not None)
    high = len(KINDS) * (n_lanes * LANE + GAP)
    canvas = blank_canvas(
        (1200, 90 + round(max(13, 24 - n_motions) * high)) if size is None else size
    )
    width, height = canvas.get_size_inches() * canvas.dpi
    left = 210 / width
    axes = canvas.add_axes((left, 44 / height, 1 - left - 16 / width, 1 - 84 / height))
    quiet_axes(axes)
    axes.grid(visible=False, axis="y")
    names = example_names(curve.motions)
    top = high
    ticks: list[tuple[float, str, str]] = []
    for kind in KINDS:
        for k in range(n_motions):
            y = top - (k + 1) * LANE
            _draw_plants(axes, curve, kind, k, y)
            ticks.append((y + 0.5 * LANE, names[k], hex_of(example_colour(k))))
        _draw_matches(axes, curve, kind, top)
        if weights is not None:
            y = top - n_lanes * LANE
            for n, match in enumerate(curve.matches[kind]):
                low, high_u = match.interval(weights)
                if high_u > low:
                    tint = hex_of(mix(_TINTS[n % len(_TINTS)], INK, 0.35))
                    axes.barh(y + 0.5 * LANE, high_u - low, 0.74 * LANE, left=low, color=tint)
            ticks.append((y + 0.5 * LANE, "blend", hex_of(INK)))
        axes.text(
            -0.165, top - 0.5 * n_lanes * LANE, kind.replace("_", " "), rotation=90, size=9,
            color=hex_of(LIGHT.label), va="center", ha="center",
            transform=axes.get_yaxis_transform(),
        )  # fmt: skip
        top -= n_lanes * LANE + GAP
    axes.set_yticks([y for y, _, _ in ticks])
    axes.set_yticklabels([name for _, name, _ in ticks])
    for text, (_, _, colour) in zip(axes.get_yticklabels(), ticks, strict=True):
        text.set_color(colour)
        text.set_parse_math(False)
    axes.set_ylim(0.5 * GAP, high + 0.1)
    axes.set_xlim(*curve.u_range)
    fps = curve.motions[0].fps
    axes.set_xlabel(f"u, average frames at {fps:g} fps", color=hex_of(LIGHT.label), size=9)
    n_matches = sum(len(matches) for matches in curve.matches.values())
    title_canvas(
        canvas,
        "Matched plants" if title is None else title,
        f"{n_matches} matches; hollow: not kept",
    )
    return canvas


def _draw_plants(axes: Axes, curve: RegistrationCurve, kind: str, k: int, y: float) -> None:
    """Outlines of a motion's own plants, as far as the curve covers them."""
    covered = curve.times(np.array([0.0, curve.times.u_end]))[:, k]
    for first, last in curve.footplants[k].intervals()[kind]:
        start, end = max(first, covered[0]), min(last, covered[1])
        if end > start:
            low, high = curve.u_of(k, np.array([start, end]))
            axes.barh(
                y + 0.5 * LANE, high - low, 0.74 * LANE, left=low, facecolor="none",
                edgecolor=hex_of(mix(LIGHT.label, LIGHT.paper, 0.35)), lw=1.0,
            )  # fmt: skip


def _draw_matches(axes: Axes, curve: RegistrationCurve, kind: str, top: float) -> None:
    """Filled parts that belong together, and threads between them."""
    for n, match in enumerate(curve.matches[kind]):
        tint = _TINTS[n % len(_TINTS)]
        for k, (low, high) in enumerate(match.intervals):
            y = top - (k + 0.5) * LANE
            axes.barh(
                y, high - low, 0.74 * LANE, left=low, color=hex_of(mix(tint, LIGHT.paper, 0.35))
            )
            if k:
                before = match.intervals[k - 1]
                for a, b in ((before[0], low), (before[1], high)):
                    axes.plot([a, b], [y + LANE, y], color=hex_of(tint), lw=0.9)
