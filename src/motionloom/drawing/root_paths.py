"""Paths of the root seen from above: examples, blends, and what plain averaging would do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.blending.blend import Blend, blend_linearly
from motionloom.body.facing import facing
from motionloom.drawing.canvas import blank_canvas
from motionloom.drawing.charts import example_colour, example_names, quiet_axes, title_canvas
from motionloom.drawing.theme import INK, LIGHT, SLIDING, hex_of
from motionloom.motion.edit import transform
from motionloom.motion.motion import Motion
from motionloom.registration.curve import RegistrationCurve
from motionloom.rotation.planar import PlanarTransform

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

MARK_S = 0.4
"""Seconds between the triangles that show where the body faces."""
FULL_MARKS_M = 2.5
"""Extent of a path from which on its triangles have their full size; below they shrink with it."""
FAMILY = 3
"""Number of blends from which on each has one triangle, at its end."""


def draw_root_paths(
    curve: RegistrationCurve,
    blends: Blend | Sequence[Blend] = (),
    *,
    linear: Sequence[float] | None = None,
    size: tuple[int, int] = (900, 700),
    title: str | None = None,
) -> Canvas:
    """A picture of the ways over the ground, all from one start, as in figure 2 of [KG03]_.

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
