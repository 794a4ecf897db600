"""Pictures of an evaluation: who can join which frames, and how well scores tell good from bad.

Figures 4 and 5 of [I7]_. The caption states what its labels are and, where they are no independent
witness, for which scores.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from motionloom.drawing.canvas import (
    AMBER,
    BLUE,
    INK,
    LIGHT,
    PLANTED,
    SLIDING,
    blank_canvas,
    example_colour,
    hex_of,
    quiet_axes,
    title_canvas,
)
from motionloom.tables.evaluation.evaluation import PAPER_QUADRANTS, Evaluation, Quadrants

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

__all__ = ["draw_quadrants", "draw_reach", "draw_roc"]

LONGEST_S = 5.0
"""Ways longer than this, and pairs without any, stand at the right edge."""
HIGHEST = 20.0
"""Costs above this stand at the upper edge, inches."""


def draw_quadrants(
    quadrants: Quadrants,
    *,
    remark: str = "",
    size: tuple[int, int] = (900, 640),
    title: str = "Motion graph and transition table",
) -> Canvas:
    """A picture of every pair of frames as a point: the graph's way across, the table's cost up.

    Parameters
    ----------
    quadrants
        From :func:`quadrants_of`.
    remark
        What the points are: collection, threshold, how recipes were found.
    size
        Pixels, width and height.
    title
        Over the picture.
    """
    canvas = blank_canvas(size)
    axes = canvas.add_axes((0.075, 0.17, 0.9, 0.71))
    quiet_axes(axes)
    x = np.minimum(quadrants.graph_s, LONGEST_S)
    y = np.minimum(quadrants.scores, HIGHEST)
    graph, table = quadrants.by_graph, quadrants.by_table
    kinds = (
        (graph & table, INK, "both"),
        (~graph & table, PLANTED, "table alone"),
        (graph & ~table, BLUE, "graph alone"),
        (~graph & ~table, SLIDING, "neither"),
    )
    for chosen, colour, _ in kinds:
        axes.scatter(
            x[chosen], y[chosen], s=11, color=hex_of(colour), alpha=0.6, linewidths=0,
            clip_on=False,
        )  # fmt: skip
    axes.axvline(quadrants.length_s, color=hex_of(INK), lw=1.0)
    axes.axhline(quadrants.limit, color=hex_of(INK), lw=1.0)
    axes.set_xlim(-0.1, LONGEST_S * 1.02)
    axes.set_ylim(0.0, HIGHEST * 1.03)
    shares = zip(kinds, quadrants.counts, PAPER_QUADRANTS, strict=True)
    for k, ((_, colour, name), count, paper) in enumerate(shares):
        canvas.text(
            0.075 + 0.235 * k, 0.915, f"■ {name}: {count} (paper {paper})", size=8.5,
            weight="bold", va="center", color=hex_of(colour),
        )  # fmt: skip
    _name_axes(
        axes,
        f"seconds of the graph's shortest way; at the edge: {LONGEST_S:g} s or more, or none",
        f"cost of the table's transition, inches; {HIGHEST:g} or more on top",
    )
    title_canvas(canvas, title, f"{len(x)} random pairs")
    _foot(canvas, f"{remark} The paper's counts are of another collection.".strip())
    return canvas


def draw_reach(
    counts: Mapping[str, tuple[int, int, int, int]],
    *,
    goal: int = PAPER_QUADRANTS[3],
    remark: str = "",
    size: tuple[int, int] = (900, 420),
    title: str = "Who can join two random frames within a second",
) -> Canvas:
    """A picture of the quadrants of several ways to find recipes, a bar each.

    Parameters
    ----------
    counts
        Both, table alone, graph alone, neither, by the name of the way.
    goal
        Of the last, of 1,000 pairs.
    remark, size, title
        As for :func:`draw_quadrants`.
    """
    canvas = blank_canvas(size)
    axes = canvas.add_axes((0.27, 0.22, 0.7, 0.66))
    quiet_axes(axes, grid=False)
    colours = (INK, PLANTED, BLUE, SLIDING)
    names = ("both", "table alone", "graph alone", "neither")
    for k, four in enumerate(counts.values()):
        left = 0
        for count, colour in zip(four, colours, strict=True):
            axes.barh(k, count, left=left, height=0.66, color=hex_of(colour))
            if count > 0.03 * sum(four):
                axes.text(left + 0.5 * count, k, str(count), ha="center", va="center",
                          size=9, color="white")  # fmt: skip
            left += count
    total = max(sum(four) for four in counts.values())
    axes.axvline(total * (1.0 - goal / 1000.0), color=hex_of(AMBER), lw=1.5)
    axes.set_yticks(range(len(counts)), list(counts), size=9)
    axes.invert_yaxis()
    axes.set_xlim(0, total)
    for k, (name, colour) in enumerate(zip(names, colours, strict=True)):
        canvas.text(0.27 + 0.13 * k, 0.115, f"■ {name}", size=9, color=hex_of(colour))
    canvas.text(0.79, 0.115, f"| goal: {goal} of 1000 neither", size=9, color=hex_of(AMBER))
    title_canvas(canvas, title, f"{total} pairs")
    _foot(canvas, remark)
    return canvas


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
