"""What the charts of a curve share: colours of the examples, quiet axes, titles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from motionloom.drawing.theme import AMBER, BLUE, INK, LIGHT, Rgb, hex_of
from motionloom.motion.motion import Motion

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_EXAMPLES: tuple[Rgb, ...] = (
    AMBER,
    BLUE,
    (128, 82, 178),
    (20, 140, 152),
    (158, 84, 40),
    (196, 78, 148),
    (112, 122, 24),
    (88, 98, 116),
    (72, 160, 220),
)
"""Clip A and clip B as everywhere, then colours that are neither planted nor sliding feet."""


def example_colour(k: int) -> Rgb:
    """Colour of the k-th example; after nine they repeat."""
    return _EXAMPLES[k % len(_EXAMPLES)]


def example_names(motions: Sequence[Motion]) -> list[str]:
    """What to call each motion: its name, with a number where two share one."""
    names = [motion.name or f"motion {k}" for k, motion in enumerate(motions)]
    return [name if names.count(name) == 1 else f"{name} ({k})" for k, name in enumerate(names)]


def quiet_axes(axes: Axes, *, grid: bool = True) -> None:
    """Take away frames and ticks that say nothing."""
    label = hex_of(LIGHT.label)
    axes.set_facecolor(hex_of(LIGHT.paper))
    axes.tick_params(labelsize=8, colors=label, length=2)
    for spine in axes.spines.values():
        spine.set_visible(False)
    if grid:
        axes.grid(color=hex_of(LIGHT.grid), lw=0.6)
        axes.set_axisbelow(True)


def title_canvas(canvas: Canvas, title: str, remark: str = "") -> None:
    """Title at the top left of a picture, and a remark at its right."""
    width, height = canvas.get_size_inches() * canvas.dpi
    canvas.text(
        14 / width, 1 - 14 / height, title, va="top", ha="left", size=12, weight="bold",
        color=hex_of(INK), parse_math=False,
    )  # fmt: skip
    canvas.text(
        1 - 14 / width, 1 - 16 / height, remark, va="top", ha="right", size=9,
        color=hex_of(LIGHT.label), parse_math=False,
    )  # fmt: skip
