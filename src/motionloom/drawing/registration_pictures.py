"""Pictures of a registration curve: root paths, matched plants, the distance grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.blending.blend import Blend, blend_linearly
from motionloom.body.body_map import BodyMap, facing
from motionloom.drawing.canvas import (
    INK,
    LIGHT,
    SLIDING,
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
from motionloom.motion.edit import transform
from motionloom.motion.motion import KINDS, Motion
from motionloom.registration.curve import RegistrationCurve
from motionloom.registration.timewarp import distance_grid, point_cloud
from motionloom.rotation.quat import PlanarTransform

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

MARK_S = 0.4
"""Seconds between the triangles that show where the body faces."""
FULL_MARKS_M = 2.5
"""Extent of a path from which on its triangles have their full size; below they shrink with it."""
FAMILY = 3
"""Number of blends from which on each has one triangle, at its end."""
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
GRID_RATE = 30.0
"""Frames per second that are compared, as registration does."""


def draw_root_paths(
    curve: RegistrationCurve,
    blends: Blend | Sequence[Blend] = (),
    *,
    linear: Sequence[float] | None = None,
    size: tuple[int, int] = (900, 700),
    title: str | None = None,
) -> Canvas:
    """Draw the paths over the ground, all from one start, as in figure 2 of [KG03]_.

    Examples are coloured, blends are dark, a plain average is red and dashed. Triangles show where
    the body faces; of three blends or more, only at the end of each.

    Parameters
    ----------
    curve
        From :func:`motionloom.register`.
    blends
        Blends of it.
    linear
        Weights of a plain average to compare with.
    size
        Pixels, width and height.
    title
        Over the picture.
    """
    listed = [blends] if isinstance(blends, Blend) else list(blends)
    canvas = blank_canvas(size)
    axes = canvas.add_axes((0.08, 0.09, 0.89, 0.82))
    quiet_axes(axes)
    examples = examples_in_place(curve)
    start = examples[curve.reference].root_positions[0, [0, 2]]
    heading = _first_way(examples)
    for k, (motion, name) in enumerate(zip(examples, example_names(curve.motions), strict=True)):
        _draw_path(
            axes, motion, start, heading, label=name, color=hex_of(example_colour(k)), lw=2.0
        )
    if linear is not None:
        plain = blend_linearly(examples, linear)
        _draw_path(
            axes, plain, start, heading, label="plain average", color=hex_of(SLIDING), lw=1.6,
            ls=(0, (4, 2)),
        )  # fmt: skip
    family = len(listed) >= FAMILY
    for n, each in enumerate(listed):
        label = "blend" if n == 0 else None
        _draw_path(
            axes, each.motion, start, heading, last_only=family, label=label, color=hex_of(INK),
            lw=1.4 if family else 2.4,
        )  # fmt: skip
    axes.set_aspect("equal", adjustable="datalim")
    label = hex_of(LIGHT.label)
    axes.set_xlabel("metres", color=label, size=9)
    axes.set_ylabel("metres", color=label, size=9)
    legend = axes.legend(loc="best", frameon=False, fontsize=9, labelcolor=label)
    for text in legend.get_texts():
        text.set_parse_math(False)
    title_canvas(canvas, "Root paths from above" if title is None else title)
    return canvas


def examples_in_place(curve: RegistrationCurve) -> list[Motion]:
    """The part of every example that the curve covers, brought together at its start."""
    covered = np.round(curve.frames(np.array(curve.u_range))).astype(int)  # (2, K)
    to_reference = curve.alignments(curve.u_range[0])
    theta, x0, z0 = (np.asarray(v) for v in (to_reference.theta, to_reference.x0, to_reference.z0))
    placed = []
    for k, motion in enumerate(curve.motions):
        part = motion[covered[0, k] : covered[1, k] + 1]
        placed.append(transform(part, PlanarTransform(theta[k], x0[k], z0[k])))
    return placed


def _first_way(motions: Sequence[Motion]) -> float:
    """Heading in which they set out on average: to the right in the picture."""
    steps = [m.root_positions[(m.n_frames - 1) // 4] - m.root_positions[0] for m in motions]
    went = np.sum(steps, axis=0)
    return float(np.arctan2(went[0], went[2]))


def _draw_path(
    axes: Axes,
    motion: Motion,
    start: FloatArray,
    heading: float,
    *,
    last_only: bool = False,
    **line: Any,
) -> None:
    ahead, left = _seen(motion.root_positions[:, [0, 2]] - start, heading).T
    axes.plot(ahead, left, solid_capstyle="round", **line)
    step = max(1, round(MARK_S * motion.fps))
    marked = slice(-1, None) if last_only else slice(None, None, step)
    faces = facing(motion)[marked] - heading
    size = min(1.0, float(np.hypot(np.ptp(ahead), np.ptp(left))) / FULL_MARKS_M)
    for x, y, angle in zip(ahead[marked], left[marked], faces, strict=True):
        # A positive heading turns towards +X, which is the walker's left.
        tip = size * np.array([[0.09, 0.0], [-0.05, 0.05], [-0.05, -0.05]])
        cos, sin = np.cos(angle), np.sin(angle)
        corners = tip @ np.array([[cos, sin], [-sin, cos]]) + [x, y]
        axes.fill(*corners.T, color=line["color"], lw=0, alpha=0.9)


def _seen(ground: FloatArray, heading: float) -> FloatArray:
    """World (x, z) as (along the heading, to its left). (N, 2)."""
    cos, sin = np.cos(heading), np.sin(heading)
    x, z = ground[:, 0], ground[:, 1]
    return np.stack([sin * x + cos * z, cos * x - sin * z], axis=-1)


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
    """Veil the frames that the curve does not cover."""
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
