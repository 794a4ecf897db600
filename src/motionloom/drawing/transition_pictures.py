"""Pictures of transitions by a table: what one is made of, and several ways next to each other.

Columns are moments at equal distances; each figure is seen from the same side of its own hips, so
that postures compare where the way turns. Amber is the source, blue the target, as everywhere;
windows between them have other colours. Green feet stand, red ones are labelled as planted and
slide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.drawing.camera import View
from motionloom.drawing.canvas import (
    AMBER,
    BLUE,
    INK,
    LIGHT,
    PLANTED,
    Rgb,
    blank_canvas,
    example_colour,
    hex_of,
    mix,
    quiet_axes,
    title_canvas,
)
from motionloom.drawing.figure import build_figure
from motionloom.drawing.figure_columns import Row, calm_heading, side_view, spread_moments
from motionloom.drawing.footprints import track_feet
from motionloom.drawing.strip import draw_pose
from motionloom.errors import ArrayError
from motionloom.motion.motion import Footplants, Motion
from motionloom.tables.graph.graph_walk import GraphWalk
from motionloom.tables.table_transition import TableTransition

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

HEAD_PX, TEXT_PX = 34, 20
"""Height of a picture's title, and of the space for times below a strip."""
BALLS = (1, 3)
"""Columns of plants that belong to the balls of the left and the right foot."""


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """One of several motions from the same frame to the same frame."""

    name: str
    motion: Motion
    remark: str = ""
    """At the right of its row."""
    footplants: Footplants | None = None
    colour: Callable[[int], Rgb] | None = None
    """Of every frame; ink where there is none."""


def way_of_table(transition: TableTransition, name: str, *, remark: str | None = None) -> Way:
    """A transition by a table as a row of :func:`draw_ways`.

    ``remark`` is by default what it is made of and what it scores.
    """
    remark = _remark(transition) if remark is None else remark
    tint = _tint(_shares(transition))
    return Way(name, transition.motion, remark, transition.footplants, tint)


def way_on_graph(walk: GraphWalk, name: str, *, remark: str | None = None) -> Way:
    """A walk through a motion graph as a row of :func:`draw_ways`."""
    n = len(walk.spans)
    changes = f"{n} {'change' if n == 1 else 'changes'} of clip, {walk.motion.duration_s:.2f} s"

    def tint(frame: int) -> Rgb:
        if not walk.spans or frame <= walk.spans[0][0]:
            return AMBER
        return BLUE if frame >= walk.spans[-1][1] else example_colour(2)

    return Way(name, walk.motion, changes if remark is None else remark, walk.footplants, tint)


def draw_ways(
    ways: Sequence[Way],
    *,
    moments: int = 12,
    view: View = "side",
    size: tuple[int, int] = (1200, 190),
    title: str = "",
    body: BodyMap | None = None,
    still: bool = False,
) -> Canvas:
    """A picture of several motions below one another.

    Parameters
    ----------
    ways
        Motions from the same frame to the same frame.
    moments
        How many times a figure is drawn in a row, its first and last frame included.
    view
        ``"side"``, ``"front"``, ``"top"`` or ``"three-quarter"``, as seen from the hips.
    size
        Pixels of a row, width and height.
    title
        Over the picture.
    body
        Which joint is which; guessed by default.
    still
        See every figure of a row from where the first is seen from, so that turns show.
    """
    if not ways:
        raise ArrayError("`ways` must hold at least one motion, got none.")
    if moments < 2:
        raise ArrayError(f"`moments` must be at least 2, got {moments}.")
    head = HEAD_PX if title else 0
    each = TEXT_PX + size[1]
    height = head + len(ways) * each
    canvas = blank_canvas((size[0], height))
    for k, way in enumerate(ways):
        top = height - head - k * each
        axes = canvas.add_axes((0.0, (top - each) / height, 1.0, size[1] / height))
        _draw_row(axes, way, moments, view, body, still=still)
        at = (top - 6) / height
        canvas.text(
            14 / size[0], at, way.name, va="top", ha="left", size=9.5, weight="bold",
            color=hex_of(INK), parse_math=False,
        )  # fmt: skip
        canvas.text(
            1 - 14 / size[0], at, way.remark, va="top", ha="right", size=8.5,
            color=hex_of(LIGHT.label), parse_math=False,
        )  # fmt: skip
    title_canvas(canvas, title)
    return canvas


def draw_transition(
    transition: TableTransition,
    *,
    moments: int = 12,
    view: View = "side",
    size: tuple[int, int] = (1200, 350),
    title: str | None = None,
) -> Canvas:
    """A picture of a transition, and below it how much of which window is in it when.

    Parameters
    ----------
    transition
        From ``table.transition``; ``lead_s`` and ``follow_s`` show where it comes from and goes.
    moments, view
        As for :func:`draw_ways`.
    size
        Pixels, width and height.
    title
        Over the picture; the clips' names by default.
    """
    canvas = blank_canvas(size)
    low = 112 / size[1]
    row = canvas.add_axes((0.0, low, 1.0, 1.0 - low - HEAD_PX / size[1]))
    _draw_row(row, way_of_table(transition, ""), moments, view, transition.frames.body_map)
    # From the middle of the first figure to that of the last: time runs in step with them.
    left = 0.5 / moments
    axes = canvas.add_axes((left, 24 / size[1], 1.0 - 2.0 * left, low - 28 / size[1]))
    _draw_shares(axes, transition, _shares(transition))
    title_canvas(canvas, transition.motion.name if title is None else title, _remark(transition))
    return canvas


def _draw_row(
    axes: Axes, way: Way, moments: int, view: View, body: BodyMap | None, *, still: bool = False
) -> None:
    """A figure for each moment, in its column."""
    motion = way.motion
    roles = roles_for(motion.skeleton, body)
    figure = build_figure(motion, body=roles)
    track = track_feet(motion, way.footplants, body=roles)
    heading, floor = calm_heading(motion, roles), figure.floor()
    row, climbed = Row(axes, figure.height, moments), 0.0
    for column, frame in enumerate(spread_moments(motion.n_frames, moments)):
        seen_from = float(heading[0 if still else frame])
        camera = side_view(motion, frame, seen_from, view, floor)
        colour = INK if way.colour is None else way.colour(frame)
        draw_pose(axes, figure, track, frame, camera, float(row.centres[column]), colour, 0.0)
        row.label(column, f"{frame / motion.fps:.2f} s")
        top = float(camera.project(figure.points[frame])[0][:, 1].max())
        climbed = max(climbed, top - 0.99 * figure.height)
    row.close(top=climbed)
    axes.axhline(0.0, color=hex_of(LIGHT.grid), lw=1.2, zorder=1)


def _draw_shares(axes: Axes, transition: TableTransition, shares: FloatArray) -> None:
    """Shares of the windows as areas over time, and the plants of both feet below them."""
    quiet_axes(axes, grid=False)
    seconds = np.arange(len(shares)) / transition.motion.fps
    colours = _colours(shares.shape[1])
    stack = [hex_of(mix(colour, LIGHT.paper, 0.25)) for colour in colours]
    axes.stackplot(seconds, shares.T, colors=stack, lw=0)
    tops = np.cumsum(shares, axis=1)
    for k, row in enumerate(transition.recipe.rows):
        # A name stands where its window is widest.
        at = int(np.argmax(shares[:, k])) if 0 < k < shares.shape[1] - 1 else (k > 0) * -1
        clip, frame = transition.frames.place_of(row)
        axes.text(
            float(seconds[at]), float(tops[at, k] - 0.5 * shares[at, k]), f" {clip}:{frame} ",
            ha=("left", "center", "right")[(k > 0) + (k == shares.shape[1] - 1)], va="center",
            size=8, color="white", weight="bold", parse_math=False,
        )  # fmt: skip
    for foot, column in enumerate(BALLS):
        y = -0.14 - 0.2 * foot
        stands = np.where(transition.footplants.planted[:, column], y, np.nan)
        axes.plot(seconds, stands, color=hex_of(PLANTED), lw=4, solid_capstyle="butt")
    for frame in transition.span:
        axes.axvline(float(seconds[frame]), color=hex_of(INK), lw=0.9)
    axes.set_xlim(0.0, float(seconds[-1]))
    axes.set_ylim(-0.45, 1.0)
    axes.set_yticks([-0.14, -0.34], ["left", "right"])
    axes.set_xticks(np.arange(0.0, seconds[-1] + 1e-9, 0.5))
    axes.xaxis.set_major_formatter(lambda second, _: f"{second:g} s")


def _shares(transition: TableTransition) -> FloatArray:
    """How much of every window is in every frame, the lead and what follows included. (F, N)."""
    weights = transition.recipe.weights()
    first, last = transition.span
    shares = np.zeros((transition.motion.n_frames, len(weights)))
    shares[:first, 0] = 1.0
    shares[first : last + 1] = weights.T
    shares[last + 1 :, -1] = 1.0
    return shares


def _colours(n_ways: int) -> list[Rgb]:
    """Amber for the source, blue for the target, others between."""
    if n_ways == 1:
        return [AMBER]
    return [AMBER, *(example_colour(k) for k in range(2, n_ways)), BLUE]


def _tint(shares: FloatArray) -> Callable[[int], Rgb]:
    """Colours of the windows mixed by their shares."""
    colours = np.array(_colours(shares.shape[1]), dtype=np.float64)

    def tint(frame: int) -> Rgb:
        red, green, blue = (round(float(c)) for c in shares[frame] @ colours)
        return red, green, blue

    return tint


def _remark(transition: TableTransition) -> str:
    """What a transition is made of and what it scores, in one line."""
    score = transition.score
    over = [f"{clip}:{frame}" for clip, frame in
            (transition.frames.place_of(row) for row in transition.recipe.rows[1:-1])]  # fmt: skip
    via = f"over {', '.join(over)}" if over else "two windows"
    likely = "" if score.naturalness is None else f" · naturalness {score.naturalness:.2f}"
    foot = "" if score.foot_plant is None else f" (foot {score.foot_plant:.1f})"
    return f"{via} · {score.total:.1f} in{foot}{likely}"
