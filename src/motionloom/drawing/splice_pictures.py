"""Pictures of a splice: its timing, its posture, and the result next to both sources.

Figures 3, 4 and 5 of [HKG06]_. Amber is the action, blue the locomotion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.anatomy import stature
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.drawing.camera import View
from motionloom.drawing.canvas import (
    AMBER,
    BLUE,
    INK,
    LIGHT,
    Rgb,
    blank_canvas,
    hex_of,
    quiet_axes,
    title_canvas,
)
from motionloom.drawing.figure import Part, build_figure
from motionloom.drawing.figure_columns import (
    Row,
    calm_heading,
    mean_lean,
    side_view,
    spread_moments,
)
from motionloom.drawing.footprints import track_feet
from motionloom.drawing.strip import draw_pose
from motionloom.errors import ArrayError
from motionloom.motion.edit import sample
from motionloom.motion.motion import Footplants, Motion
from motionloom.splicing.body_parts import Where, parts_of
from motionloom.splicing.splice import Splice

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

PATH = "#5fd0ff"
"""Colour of the path through the grid, seen on all of its colours."""
Paint = Rgb | Callable[[Part], Rgb]


def draw_splice_times(
    spliced: Splice,
    *,
    names: tuple[str, str] = ("the action", "the legs"),
    size: tuple[int, int] = (900, 640),
    title: str | None = None,
) -> Canvas:
    """A picture of which frame of the action goes with which frame of the legs, as in figure 3.

    Dark is alike. The fine line is the path through the grid, the broad one the times that were
    used. Where the action kept its own time nothing was compared, and there is only the line.

    Parameters
    ----------
    spliced
        From :func:`motionloom.splice`.
    names
        Of the upper and the lower clip.
    size
        Pixels, width and height.
    title
        Over the picture.
    """
    times, fps = spliced.timewarp, spliced.motion.fps
    canvas = blank_canvas(size)
    axes = canvas.add_axes((0.08, 0.10, 0.78, 0.79))
    quiet_axes(axes, grid=times.cost.size == 0)
    if times.cost.size:
        n, m = times.cost.shape
        step, first = times.stride / fps, times.first / fps
        apart_cm = 100.0 * np.sqrt(np.maximum(times.cost, 0.0))
        shown = axes.imshow(
            apart_cm.T, origin="lower", aspect="auto", cmap="magma", interpolation="nearest",
            extent=(-0.5 * step, (n - 0.5) * step, first - 0.5 * step, first + (m - 0.5) * step),
            vmin=0.0, vmax=float(np.percentile(apart_cm, 98)),
        )  # fmt: skip
        axes.set_xlim(-0.5 * step, (n - 0.5) * step)
        axes.set_ylim(-0.5 * step, first + (m - 0.5) * step)
        bar = canvas.colorbar(shown, cax=canvas.add_axes((0.90, 0.10, 0.018, 0.79)), extend="max")
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize=8, colors=hex_of(LIGHT.label), length=2)
        bar.set_label("distance of hips and knees, cm", color=hex_of(LIGHT.label), size=9)
    x, y = np.arange(len(times.frames)) / fps, times.frames / fps
    axes.plot(x, y, color=hex_of(INK), lw=4.2, solid_capstyle="round")
    axes.plot(x, y, color="white", lw=2.0, solid_capstyle="round", label="times")
    if times.cost.size:
        axes.plot(*(times.path * times.stride / fps).T, color=PATH, lw=1.0, label="path")
    axes.set_xlabel(f"seconds of {names[1]}", color=hex_of(BLUE), size=9, parse_math=False)
    axes.set_ylabel(f"seconds of {names[0]}", color=hex_of(AMBER), size=9, parse_math=False)
    rate = np.diff(times.frames)
    remark = (
        "the action keeps its own time"
        if times.kept_own_time
        else f"playback rate of the action {rate.min():.2f} to {rate.max():.2f}"
    )
    title_canvas(canvas, f"{names[0]} on {names[1]}" if title is None else title, remark)
    return canvas


def draw_postures(
    full: Splice,
    without: Splice,
    *,
    moments: int = 7,
    size: tuple[int, int] = (1200, 300),
    title: str = "With and without posture transfer",
    labels: tuple[str, str] = ("with", "without"),
    body: BodyMap | None = None,
) -> Canvas:
    """A picture of two splices over the same legs as stick figures, as in figure 4.

    Dark is the first, blue the second; each moment is seen from the side of the hips.

    Parameters
    ----------
    full, without
        From :func:`motionloom.splice`, usually by ``"full"`` and by ``"time+space"``.
    moments
        How many figures are drawn.
    size
        Pixels, width and height.
    title, labels
        Over the picture, and what to call the two.
    body
        Which joint is which; guessed by default.
    """
    legs = full.motion
    roles = roles_for(legs.skeleton, body)
    n = min(legs.n_frames, without.motion.n_frames)
    canvas = blank_canvas(size)
    axes = canvas.add_axes((0.0, 0.0, 1.0, 0.9))
    row = Row(axes, stature(legs.skeleton, roles), moments)
    heading = calm_heading(legs, roles)
    floor = float(np.percentile(legs.world_positions()[..., 1].min(axis=1), 5.0))
    bones = _bones(legs, roles)
    for column, frame in enumerate(spread_moments(n, moments)):
        camera = side_view(legs, int(frame), float(heading[frame]), "side", floor)
        for spliced, colour, width in ((without, BLUE, 2.0), (full, INK, 2.4)):
            flat = camera.project(spliced.motion.world_positions()[frame])[0]
            flat[:, 0] += row.centres[column]
            for a, b in bones:
                axes.plot(*flat[[a, b]].T, color=hex_of(colour), lw=width, solid_capstyle="round")
        row.label(column, f"{frame / legs.fps:.2f} s")
    row.close()
    lean = [np.degrees(mean_lean(each.motion[:n], roles)) for each in (full, without)]
    title_canvas(
        canvas,
        title,
        f"dark: {labels[0]}, leans {lean[0]:+.1f}° forward on average; "
        f"blue: {labels[1]}, {lean[1]:+.1f}°",
    )
    return canvas


def _bones(motion: Motion, body: BodyMap) -> list[tuple[int, int]]:
    """Joint and parent of every bone worth a stick: no fingers."""
    parents = motion.skeleton.parents
    ends = {body.left_wrist, body.right_wrist, body.head}
    return [
        (int(parents[j]), j)
        for j in range(1, motion.skeleton.n_joints)
        if not any(k in ends for k in motion.skeleton.chain(j)[:-1])
    ]


def draw_splice(
    upper: Motion,
    lower: Motion,
    spliced: Splice,
    *,
    where: Where = "torso",
    looped: bool = False,
    others: Mapping[str, Motion] | None = None,
    title: str | None = None,
    moments: int = 8,
    view: View = "three-quarter",
    size: tuple[int, int] = (1200, 220),
    body: BodyMap | None = None,
) -> Canvas:
    """A picture of a splice below its two sources, moment by moment.

    A column is one moment of the legs: above, what the action does in the frame that was matched
    to it. Every figure is seen from the same side of its own hips, so that postures compare even
    where the way turns.

    Parameters
    ----------
    upper, lower
        The clips as they were given to :func:`motionloom.splice`.
    spliced
        What it made of them.
    where
        What was taken from the action; it is drawn in amber.
    looped
        Whether the action was looped; its laps count on from its first, so it is then drawn evenly
        over its own length.
    others
        Further motions over the same legs to draw below, by title.
    title
        Over the picture.
    moments
        How many columns.
    view
        ``"side"``, ``"front"``, ``"top"`` or ``"three-quarter"``.
    size
        Pixels of one row, width and height.
    body
        Which joint of the lower clip is which; guessed by default.
    """
    if moments < 1:
        raise ArrayError(f"`moments` must be at least 1, got {moments}.")
    roles = roles_for(lower.skeleton, body)
    clip = spliced.motion
    if looped:
        times = np.linspace(0.0, upper.n_frames - 1.0, clip.n_frames)
    else:  # the action may have been resampled to the rate of the legs
        times = np.asarray(spliced.timewarp.action_frames * (upper.fps / clip.fps))
    played = sample(upper, np.clip(times, 0.0, upper.n_frames - 1.0))
    paint = _two_colours(lower, roles, where)
    plants = spliced.footplants
    seconds = np.arange(clip.n_frames) / clip.fps
    rows = [
        _Row(f"action: {upper.name}", played, AMBER, None, times / upper.fps),
        _Row(f"legs: {lower.name}", lower[: clip.n_frames], BLUE, plants, seconds),
        _Row("splice", clip, paint, plants, seconds),
    ]
    for name, whole in (others or {}).items():
        motion = whole[: clip.n_frames]
        rows.append(_Row(name, motion, paint, plants[: motion.n_frames], seconds))
    head = 34
    height = len(rows) * size[1] + head
    canvas = blank_canvas((size[0], height))
    for k, row in enumerate(rows):
        axes = canvas.add_axes((0.0, (len(rows) - 1 - k) * size[1] / height, 1.0, size[1] / height))
        frames = spread_moments(clip.n_frames, moments)
        shown = [f for f in frames if f < row.motion.n_frames]
        own = BodyMap.guess(row.motion.skeleton) if k == 0 else roles
        row.draw(axes, frames, shown, view, own)
        axes.text(
            12 / size[0], 0.97, row.name, transform=axes.transAxes, va="top", ha="left", size=9,
            color=hex_of(LIGHT.label), parse_math=False,
        )  # fmt: skip
    title_canvas(canvas, clip.name if title is None else title)
    return canvas


@dataclass(frozen=True, slots=True, eq=False)
class _Row:
    """One motion of a picture of a splice."""

    name: str
    motion: Motion
    colour: Paint
    footplants: Footplants | None
    seconds: FloatArray
    """What to write below each frame."""

    def draw(
        self, axes: Axes, frames: list[int], shown: list[int], view: View, body: BodyMap
    ) -> None:
        """A figure for each of the frames that are shown, in the column of that frame."""
        figure = build_figure(self.motion, body=body)
        plants = self.footplants
        track = None if plants is None else track_feet(self.motion, plants, body=body)
        heading, floor = calm_heading(self.motion, body), figure.floor()
        row = Row(axes, figure.height, len(frames))
        climbed = 0.0
        for column, frame in enumerate(frames):
            if frame not in shown:
                continue
            camera = side_view(self.motion, frame, float(heading[frame]), view, floor)
            at = float(row.centres[column])
            draw_pose(axes, figure, track, frame, camera, at, self.colour, 0.0)
            row.label(column, f"{self.seconds[frame]:.2f} s")
            top = float(camera.project(figure.points[frame])[0][:, 1].max())
            climbed = max(climbed, top - 0.99 * figure.height)
        row.close(top=climbed)


def _two_colours(lower: Motion, body: BodyMap, where: Where) -> Paint:
    """Amber for body parts that come from the action, blue for the others."""
    taken = {j for part in parts_of(lower.skeleton, body, where) for j in part.joints}
    n_joints = lower.skeleton.n_joints

    def paint(part: Part) -> Rgb:
        if part.name == "seat":
            return BLUE
        names = {"chest", "neck", "head"} if where in ("torso", "chest") else set()
        joints = [p for p in part.points if p < n_joints]
        from_action = part.name in names or bool(joints and all(j in taken for j in joints))
        return AMBER if from_action or (where == "head" and part.name in ("head", "neck")) else BLUE

    return paint
