"""The cluster sheet: every kind of window in a collection on one page, to choose their number by.

A cell is one cluster. The figures are its medoid at four moments, seen from the left of where it
faces in its centre frame; thin lines are other members at the same moments. Below are the plants
of the medoid's left and right foot.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom.drawing.camera import Camera, camera_for
from motionloom.drawing.canvas import (
    INK,
    LIGHT,
    PLANTED,
    blank_canvas,
    example_colour,
    hex_of,
    mix,
    title_canvas,
)
from motionloom.drawing.figure import build_figure
from motionloom.drawing.footprints import track_feet
from motionloom.drawing.strip import draw_pose
from motionloom.motion.edit import move
from motionloom.motion.motion import Motion
from motionloom.tables.collection.frames import Frames
from motionloom.tables.index.clusters import Clusters
from motionloom.tables.index.windows import compared_joints

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


MOMENTS = 4
"""Figures in a cell."""
STEP = 0.62
"""Distance of two of them, in statures."""
NEARER = 0.9
"""Part of the members that lines are drawn of: the farthest few would draw over all others."""
HEAD_PX, TEXT_PX = 40, 40
"""Height of the page's title and of a cell's."""


def draw_clusters(
    frames: Frames,
    clusters: Clusters,
    *,
    members: int = 5,
    columns: int = 5,
    cell: tuple[int, int] = (340, 148),
    title: str = "Clusters",
) -> Canvas:
    """A picture with a cell for every cluster, the largest first.

    Parameters
    ----------
    frames
        The collection.
    clusters
        From :func:`find_clusters`.
    members
        How many members are drawn as thin lines, spread evenly over the nine tenths that are
        nearest to the medoid.
    columns
        Cells in a row.
    cell
        Pixels, width and height, without its text.
    title
        Over the picture.
    """
    rows = -(-clusters.count // columns)
    width = columns * cell[0]
    height = HEAD_PX + rows * (cell[1] + TEXT_PX)
    canvas = blank_canvas((width, height))
    spread = 100.0 * clusters.spread()
    title_canvas(
        canvas,
        title,
        f"{clusters.count} clusters · {len(clusters.rows):,} windows of "
        f"{clusters.length / frames.fps:g} s · {100.0 * clusters.distances.mean():.1f} cm from "
        "their medoids",
    )
    for number in range(clusters.count):
        left = (number % columns) * cell[0]
        top = height - HEAD_PX - (number // columns) * (cell[1] + TEXT_PX)
        box = (left + 4, top - TEXT_PX - cell[1], cell[0] - 8, cell[1])
        axes = canvas.add_axes((box[0] / width, box[1] / height, box[2] / width, box[3] / height))
        _draw_cluster(axes, frames, clusters, number, members)
        name, frame = frames.place_of(int(clusters.medoids[number]))
        size, takes = int(clusters.sizes[number]), int(clusters.takes[number])
        canvas.text(
            (left + 12) / width, (top - 6) / height, f"{number}  {name}, frame {frame}", va="top",
            ha="left", size=8.5, weight="bold", color=hex_of(INK), parse_math=False,
        )  # fmt: skip
        canvas.text(
            (left + 12) / width, (top - 22) / height,
            f"{size} {_plural(size, 'window')} · {takes} {_plural(takes, 'take')} · "
            f"spread {spread[number]:.1f} cm",
            va="top", ha="left", size=7.5, color=hex_of(LIGHT.label),
        )  # fmt: skip
    return canvas


@dataclass(frozen=True, slots=True, eq=False)
class _Setting:
    """Where the figures of a cell stand."""

    camera: Camera
    moments: IntArray
    """Frames of the window that are drawn. (M,)"""
    shifts: FloatArray
    """How far each figure is moved to the right, metres. (M,)"""
    height: float


def _draw_cluster(
    axes: Axes, frames: Frames, clusters: Clusters, number: int, members: int
) -> None:
    length, row = clusters.length, int(clusters.medoids[number])
    motion = _seen_from_centre(frames, row, length)
    figure = build_figure(motion, body=frames.body_map)
    track = track_feet(motion, frames.footplants(row, row + length - 1), body=frames.body_map)
    camera = camera_for(0.0, "side")
    moments = np.round(np.linspace(0, length - 1, MOMENTS)).astype(np.int64)
    across = camera.project(motion.root_positions[moments])[0][:, 0]
    step = STEP * figure.height
    setting = _Setting(camera, moments, step * np.arange(MOMENTS) - across, figure.height)
    axes.set_axis_off()
    for n, frame in enumerate(moments):
        shift = float(setting.shifts[n])
        draw_pose(axes, figure, track, int(frame), camera, shift, INK, 0.35)
    _draw_members(axes, frames, clusters, number, members, setting)
    _frame_cell(axes, frames, row, length, setting, float(figure.floor()))


def _draw_members(
    axes: Axes, frames: Frames, clusters: Clusters, number: int, members: int, setting: _Setting
) -> None:
    """Some members as lines from joint to joint, placed by their own centre frames."""
    from matplotlib.collections import LineCollection

    others = clusters.members(number)[1:]
    last = NEARER * max(len(others) - 1, 0)
    chosen = others[np.unique(np.linspace(0, last, members).astype(np.int64))[: len(others)]]
    joints = set(compared_joints(frames.skeleton, frames.body_map).tolist())
    bones = np.array([(_over(frames, j, joints), j) for j in sorted(joints) if j != min(joints)])
    for n, row in enumerate(chosen):
        points = _seen_from_centre(frames, int(row), clusters.length).world_positions()
        flat = setting.camera.project(points[setting.moments])[0]  # (M, J, 2)
        flat[..., 0] += setting.shifts[:, None]
        lines = flat[:, bones].reshape(-1, 2, 2)
        colour = hex_of(mix(example_colour(n), LIGHT.paper, 0.15))
        axes.add_collection(LineCollection(list(lines), colors=colour, linewidths=0.6, zorder=4))


def _over(frames: Frames, joint: int, joints: set[int]) -> int:
    """The nearest joint above that is drawn."""
    above = int(frames.skeleton.parents[joint])
    while above >= 0 and above not in joints:
        above = int(frames.skeleton.parents[above])
    return max(above, 0)


def _frame_cell(
    axes: Axes, frames: Frames, row: int, length: int, setting: _Setting, floor: float
) -> None:
    """Limits, the floor, and a lane of plants for each foot."""
    height, step = setting.height, STEP * setting.height
    left, right = -0.62 * step, (MOMENTS - 0.38) * step
    box = axes.get_window_extent()
    bottom = floor - 0.24 * height
    top = bottom + (right - left) * box.height / box.width
    if top < floor + 1.12 * height:  # a low cell: figures whole, and space at the sides
        top = floor + 1.12 * height
        extra = 0.5 * ((top - bottom) * box.width / box.height - (right - left))
        left, right = left - extra, right + extra
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, top)
    axes.axhspan(bottom - 5.0, floor, color=hex_of(LIGHT.floor), zorder=0, lw=0)
    planted = frames.planted[row : row + length, [1, 3]]
    at = np.linspace(0.0, (MOMENTS - 1) * step, length)
    for foot, name in enumerate("LR"):
        y = floor - (0.09 + 0.08 * foot) * height
        axes.plot(at[[0, -1]], [y, y], color=hex_of(LIGHT.grid), lw=1.0, zorder=1)
        stands = np.where(planted[:, foot], y, np.nan)
        axes.plot(at, stands, color=hex_of(PLANTED), lw=2.6, solid_capstyle="butt", zorder=2)
        axes.text(
            at[0] - 0.05 * height, y, name, ha="right", va="center", size=6,
            color=hex_of(LIGHT.label),
        )  # fmt: skip


def _seen_from_centre(frames: Frames, row: int, length: int) -> Motion:
    """The window with its centre frame's root over the origin and heading 0."""
    motion = frames.motion(row, row + length - 1)
    turned = move(motion, heading=-float(frames.heading[row + length // 2]))
    x, _, z = turned.root_positions[length // 2]
    return move(turned, x=-float(x), z=-float(z))


def _plural(count: int, noun: str) -> str:
    return noun if count == 1 else f"{noun}s"
