"""The strip: a clip as one picture, its figure drawn several times along the way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom._progress import report_step
from motionloom.body.body_map import BodyMap
from motionloom.drawing.camera import Camera, View, camera_for, travel_heading
from motionloom.drawing.canvas import (
    INK,
    LIGHT,
    PLANTED,
    SLIDING,
    Rgb,
    blank_canvas,
    hex_of,
    mix,
    save_canvas,
)
from motionloom.drawing.figure import Figure, Part, ball_hull, build_figure
from motionloom.drawing.footprints import FootTrack, foot_colour, track_feet
from motionloom.motion.motion import Footplants, Motion

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GHOST_SPACING = 0.46
"""Least distance between two ghosts, as a fraction of the figure's height."""
LONGEST = 1.15
"""Longest row of ghosts, as a fraction of the width of a picture that is one figure high."""
FOLDED = 1.35
"""A path this many times longer than its reach turns back on itself; its ghosts are spread out."""


def save_strip(
    motion: Motion,
    target: Path | BinaryIO,
    *,
    size: tuple[int, int] = (1600, 520),
    title: str | None = None,
    kind: str = "png",
    footplants: Footplants | None = None,
    body: BodyMap | None = None,
    view: View = "side",
    ghosts: int = 9,
    colour: Rgb | Callable[[int], Rgb] = INK,
) -> None:
    """Write a strip of the clip as a picture.

    Parameters
    ----------
    motion
        The clip.
    target
        File or binary stream.
    size
        Pixels, width and height.
    title
        Text over the strip; the clip's name by default.
    kind
        ``"png"``, ``"svg"`` or ``"pdf"``.
    footplants
        Plants to mark; detected where not given.
    body
        Which joint is which; guessed by default.
    view
        ``"side"``, ``"front"``, ``"top"`` or ``"three-quarter"``, as seen along the travel.
    ghosts
        How many times the figure is drawn.
    colour
        Of the figure; or a function that gives one for each frame.
    """
    canvas = blank_canvas(size)
    axes = canvas.add_axes((0.0, 0.0, 1.0, 1.0))
    draw_strip(
        axes, motion, footplants=footplants, body=body, view=view, ghosts=ghosts, colour=colour
    )
    name = motion.name if title is None else title
    canvas.text(
        14 / size[0], 1 - 14 / size[1], name, va="top", ha="left", size=12, weight="bold",
        color=hex_of(INK), parse_math=False,
    )  # fmt: skip
    canvas.text(
        1 - 14 / size[0], 1 - 14 / size[1],
        f"{motion.n_frames} frames · {motion.fps:g} fps · {motion.duration_s:.2f} s · {view}",
        va="top", ha="right", size=9, color=hex_of(LIGHT.label),
    )  # fmt: skip
    save_canvas(canvas, target, kind)


def draw_strip(
    axes: Axes,
    motion: Motion,
    *,
    footplants: Footplants | None = None,
    body: BodyMap | None = None,
    view: View = "side",
    ghosts: int = 9,
    colour: Rgb | Callable[[int], Rgb] = INK,
    labels: bool = True,
) -> None:
    """Draw a strip of the clip into matplotlib axes (see :func:`save_strip`).

    ``colour`` may be a function of the frame.
    """
    tint = colour if callable(colour) else lambda _: colour
    figure = build_figure(motion, body=body)
    track = track_feet(motion, footplants, body=body)
    camera = camera_for(travel_heading(motion), view)
    box = axes.get_window_extent()
    frames, shift = _ghost_frames(motion, figure, camera, ghosts, box.width / box.height)
    floor = figure.floor()
    ground = float(camera.project(np.array([0.0, floor, 0.0]))[0][1]) if view != "top" else None

    axes.set_axis_off()
    spread = bool(np.any(shift))
    if not spread:
        _draw_root_path(axes, motion, camera, floor, INK if callable(colour) else colour)
    _draw_prints(axes, track, camera, floor, figure.height, frames, shift if spread else None)
    for n, frame in enumerate(frames):
        report_step("drawing poses", n, len(frames))
        paleness = 0.45 * (1.0 - n / max(len(frames) - 1, 1))
        at, sideways = int(frame), float(shift[n])
        draw_pose(axes, figure, track, at, camera, sideways, tint(at), paleness)
    _frame_axes(axes, figure, camera, frames, shift, ground)
    if labels:
        _label_ghosts(axes, motion, figure, camera, frames, shift, ground)


def _ghost_frames(
    motion: Motion, figure: Figure, camera: Camera, ghosts: int, aspect: float
) -> tuple[IntArray, FloatArray]:
    """Frames to draw (N,) and how far each is shifted to the right (N,), metres."""
    across = camera.project(motion.root_positions)[0][:, 0]  # (F,)
    reach = float(np.ptp(across))
    path = float(np.abs(np.diff(across)).sum())
    spacing = GHOST_SPACING * figure.height
    count = max(1, min(ghosts, motion.n_frames))
    along = max(2, min(count, int(reach / spacing) + 1))
    frames = np.unique(np.round(np.linspace(0, motion.n_frames - 1, along)).astype(np.int64))
    # Somebody who waits before walking on would be drawn over himself.
    crowded = np.abs(np.diff(across[frames])).min(initial=np.inf) < 0.45 * spacing
    if path <= FOLDED * reach and reach > 2.5 * spacing and not crowded:
        # A long way is drawn shorter than it is: figures too small to judge are of no use.
        shorter = min(1.0, LONGEST * aspect * figure.height / reach)
        return frames, (shorter - 1.0) * (across[frames] - across[0])
    frames = np.unique(np.round(np.linspace(0, motion.n_frames - 1, count)).astype(np.int64))
    # Each ghost stands clear of the one before it, however wide its arms are.
    low, high = _extents(figure, camera, frames)
    shift = np.zeros(len(frames))
    for n in range(1, len(frames)):
        gap = max(0.06 * figure.height, spacing - (high[n - 1] - low[n]))
        shift[n] = high[n - 1] + shift[n - 1] - low[n] + min(gap, 0.2 * figure.height)
    return frames, shift - (across[frames[0]] if len(frames) else 0.0)


def _extents(figure: Figure, camera: Camera, frames: IntArray) -> tuple[FloatArray, FloatArray]:
    radii = np.array([r for part in figure.parts for r in part.radii])
    across = _flat_points(figure, camera, frames)[..., 0]
    return (across - radii).min(axis=1), (across + radii).max(axis=1)


def _flat_points(figure: Figure, camera: Camera, frames: IntArray) -> FloatArray:
    """Where the balls of a figure lie in the picture. (N, B, 2)."""
    used = np.array([p for part in figure.parts for p in part.points])
    return camera.project(figure.points[np.ix_(frames, used)])[0]


def draw_pose(
    axes: Axes,
    figure: Figure,
    track: FootTrack | None,
    frame: int,
    camera: Camera,
    shift: float,
    colour: Rgb | Callable[[Part], Rgb],
    paleness: float,
) -> None:
    """Draw the body in one frame, so far to the right.

    ``colour`` may be a function of the body part.
    """
    from matplotlib.collections import PolyCollection

    flat, near, _ = camera.project(figure.points[frame])
    order = sorted(figure.parts, key=lambda part: figure.nearness(part, near))
    depth = [figure.nearness(part, near) for part in order]
    far, close = min(depth), max(depth)
    outlines, faces, edges = [], [], []
    sideways = np.array([shift, 0.0])
    paint = colour if callable(colour) else lambda _: colour
    for part, at in zip(order, depth, strict=True):
        outline = ball_hull(flat[list(part.points)], np.array(part.radii))
        outlines.append(outline + sideways)
        back = 0.42 * (close - at) / max(close - far, 0.12 * figure.height)
        tone = mix(foot_colour(part, track, frame, paint(part)), LIGHT.paper, back)
        face = mix(tone, LIGHT.paper, paleness)
        faces.append(hex_of(face))
        # Limbs stand out from what is behind them; the pieces of the trunk run into one another.
        edges.append(hex_of(mix(face, LIGHT.paper, 0.12 if part.side == "middle" else 0.8)))
    axes.add_collection(
        PolyCollection(outlines, facecolors=faces, edgecolors=edges, linewidths=0.7, zorder=3)
    )


def _draw_prints(
    axes: Axes,
    track: FootTrack | None,
    camera: Camera,
    floor: float,
    height: float,
    frames: IntArray,
    shift: FloatArray | None,
) -> None:
    """Green bars on the floor where balls and heels stood; red where they slid."""
    from matplotlib.patches import Rectangle

    if track is None:
        return
    for mark in track.prints:
        width = 0.055 if mark.kind.endswith("toe") else 0.035
        along = np.array([np.sin(mark.heading), 0.0, np.cos(mark.heading)]) * width
        place = np.array([mark.place[0], mark.ground(floor, height), mark.place[2]])
        ends = camera.project(np.stack([place - along, place + along]))[0]  # (2, 2)
        if abs(ends[1, 0] - ends[0, 0]) < 0.03:
            ends[:, 0] = ends[:, 0].mean() + np.array([-0.015, 0.015])
        colour = hex_of(SLIDING if mark.slides else PLANTED)
        raised = place[1] > floor and abs(camera.toward[1]) < 0.1
        shifts = [0.0] if shift is None else [
            float(s) for f, s in zip(frames, shift, strict=True) if mark.first <= f <= mark.last
        ]  # fmt: skip
        for by in shifts:
            if raised:  # the stair or box that the foot must be standing on
                middle, top = ends.mean(axis=0)
                block = ((middle + by - 0.15, floor), 0.30, top - floor)
                axes.add_patch(Rectangle(*block, color=hex_of(LIGHT.floor), lw=0, zorder=0.5))
            axes.plot(
                ends[:, 0] + by, ends[:, 1] - 0.022, color=colour, linewidth=3.2,
                solid_capstyle="round", zorder=2,
            )  # fmt: skip


def _draw_root_path(axes: Axes, motion: Motion, camera: Camera, floor: float, colour: Rgb) -> None:
    flat = camera.project(motion.root_positions)[0]
    axes.plot(flat[:, 0], flat[:, 1], color=hex_of(mix(colour, LIGHT.paper, 0.55)), lw=1, zorder=4)
    below = np.array(motion.root_positions)
    below[:, 1] = floor
    trail = camera.project(below)[0]
    axes.plot(
        trail[:, 0], trail[:, 1], color=hex_of(mix(colour, LIGHT.paper, 0.75)), lw=1, zorder=1
    )


def _frame_axes(
    axes: Axes,
    figure: Figure,
    camera: Camera,
    frames: IntArray,
    shift: FloatArray,
    ground: float | None,
) -> None:
    """Limits around all ghosts, and the floor."""
    low, high = _extents(figure, camera, frames)
    heights = _flat_points(figure, camera, frames)[..., 1]
    margin = 0.12 * figure.height
    left, right = float((low + shift).min()) - margin, float((high + shift).max()) + margin
    bottom, top = float(heights.min()) - 1.6 * margin, float(heights.max()) + 1.9 * margin
    # Metres are as long across as they are high: what the picture has left over goes to the sides,
    # or over the heads.
    box = axes.get_window_extent()
    wide, high_enough = right - left, top - bottom
    slack = wide * box.height / box.width - high_enough
    if slack > 0:
        top, bottom = top + 0.65 * slack, bottom - 0.35 * slack
    else:
        extra = 0.5 * (high_enough * box.width / box.height - wide)
        left, right = left - extra, right + extra
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    if ground is not None and abs(camera.toward[1]) < 0.1:
        axes.axhspan(ground - 50.0, ground, color=hex_of(LIGHT.floor), zorder=0, lw=0)
        axes.axhline(ground, color=hex_of(LIGHT.grid), lw=1.2, zorder=1)


def _label_ghosts(
    axes: Axes,
    motion: Motion,
    figure: Figure,
    camera: Camera,
    frames: IntArray,
    shift: FloatArray,
    ground: float | None,
) -> None:
    root = camera.project(motion.root_positions[frames])[0]
    lowest = float(_flat_points(figure, camera, frames)[..., 1].min())
    at = (lowest if ground is None else min(ground, lowest)) - 0.07 * figure.height
    for n, frame in enumerate(frames):
        axes.text(
            float(root[n, 0] + shift[n]), at, f"{frame}\n{frame / motion.fps:.2f} s",
            ha="center", va="top", size=8, color=hex_of(LIGHT.label), linespacing=1.25,
        )  # fmt: skip
