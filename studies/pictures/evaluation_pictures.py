"""Picture of an evaluation: how well scores tell good from bad, figure 5 of [I7]_.

The caption states what its labels are and, where they are no independent witness, for which scores.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from motionloom.drawing.canvas import (
    INK,
    LIGHT,
    SLIDING,
    blank_canvas,
    example_colour,
    hex_of,
    quiet_axes,
    title_canvas,
)
from motionloom.tables.evaluation.evaluation import Evaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


def draw_roc(
    evaluation: Evaluation,
    *,
    size: tuple[int, int] = (760, 700),
    title: str | None = None,
) -> Canvas:
    """A picture of the curves of every score under one protocol.

    Parameters
    ----------
    evaluation
        From :func:`evaluate`.
    size
        Pixels, width and height.
    title
        Over the picture; the protocol's name by default.
    """
    canvas = blank_canvas(size)
    axes = canvas.add_axes((0.09, 0.19, 0.87, 0.72))
    quiet_axes(axes)
    axes.plot([0, 1], [0, 1], color=hex_of(LIGHT.label), lw=1.0, ls=(0, (4, 4)))
    for k, (name, roc) in enumerate(evaluation.curves.items()):
        axes.plot(
            roc.false_positive, roc.true_positive, color=hex_of(example_colour(k)),
            lw=2.2 if k == 0 else 1.4, label=f"{name}  {evaluation.areas[name]}",
        )  # fmt: skip
    _legend(axes)
    _name_axes(axes, "bad ones called natural", "good ones called natural")
    axes.set_xlim(-0.01, 1.01)
    axes.set_ylim(-0.01, 1.01)
    protocol = evaluation.protocol
    title_canvas(
        canvas,
        protocol.name if title is None else title,
        f"{evaluation.n_good} good, {evaluation.n_bad} bad",
    )
    _foot(canvas, protocol.caption, warn=bool(protocol.circular))
    return canvas


def _name_axes(axes: Axes, across: str, up: str) -> None:
    axes.set_xlabel(across, size=9, color=hex_of(LIGHT.label))
    axes.set_ylabel(up, size=9, color=hex_of(LIGHT.label))


def _legend(axes: Axes) -> None:
    """Names with areas, and 95 % bounds in brackets."""
    legend = axes.legend(
        loc="lower right", fontsize=8, frameon=True, title="area under the curve [95 %]",
        title_fontsize=8,
    )  # fmt: skip
    legend.get_frame().set(facecolor=hex_of(LIGHT.paper), edgecolor="none", alpha=0.9)
    for text in legend.get_texts():
        text.set_color(hex_of(INK))
        text.set_parse_math(False)


def _foot(canvas: Canvas, text: str, *, warn: bool = False) -> None:
    """What the figure's data are, below it, on as many lines as it takes."""
    width, height = canvas.get_size_inches() * canvas.dpi
    lines = "\n".join(textwrap.wrap(text, int(width / 6.4)))
    canvas.text(
        14 / width, 10 / height, lines, va="bottom", ha="left", size=8,
        color=hex_of(SLIDING if warn else LIGHT.label), parse_math=False,
    )  # fmt: skip
