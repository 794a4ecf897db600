"""Contexts: how a body stands and moves where a window starts and ends, and the path between."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray, IntArray, cos, items, sin
from motionloom._core import constant, kernel
from motionloom.rotation import quat
from motionloom.tables.collection.frames import FloatArray32, Frames
from motionloom.tables.index.windows import compared_joints

Side = Literal["start", "end"]

REACH_S = 8 / 60
"""How far a context looks back from a start and on from an end; half of it is looked at too."""
VELOCITY_S = 0.2
"""A velocity weighs as much as the way that it covers in this long."""
WAY, TURN_M = constant("ML_CONTEXT_DISPLACEMENT"), constant("ML_CONTEXT_TURN_M")
"""What a metre of displacement, and a radian of turn, weigh compared with a metre of posture.

These and the velocities' weight are chosen by the error of seconds cut out of 15 takes of CMU 143
and made again from the nearest window of others. On the 150 of them that stand in the protocol of
in-betweens it is 4.0 cm; three poses 4/60 s apart and a metre that weighs a metre had 5.0.
"""

_contexts = kernel("ml_window_contexts")


def contexts(frames: Frames, rows: IntArray, *, side: Side) -> FloatArray32:
    """Poses at ``rows`` and velocities before (start) or after (end), seen from the body, (N, D).

    Velocities are means over 4/60 and 8/60 s times :data:`VELOCITY_S`. Distances between contexts
    are root mean squares over joints and these three, in metres. Where the clip is over, a
    velocity is that of the frames it has, and 0 where it has none.

    Parameters
    ----------
    frames
        The collection.
    rows
        The moments. (N,)
    side
        ``"start"`` for moments that a window starts at, ``"end"`` for those that it ends at.
    """
    offsets = context_offsets(frames.fps, side)
    joints = compared_joints(frames.skeleton, frames.body_map)
    out = np.zeros((len(rows), 9 * len(joints)), dtype=np.float32)
    n_rows, n_joints, _ = frames.body.shape
    _contexts(
        len(frames.starts) - 1,
        n_rows,
        n_joints,
        np.ascontiguousarray(frames.starts, dtype=np.int64),
        frames.heading,
        frames.ground,
        frames.body,
        len(joints),
        joints,
        VELOCITY_S * frames.fps,
        len(rows),
        np.ascontiguousarray(rows, dtype=np.int64),
        len(offsets),
        offsets,
        out,
    )
    return out


@lru_cache(maxsize=16)  # asked for with every context
def context_offsets(fps: float, side: Side) -> IntArray:
    """Frames that a context looks at, counted from its moment. (3,)."""
    reach = max(2, round(REACH_S * fps))
    looks = [-reach, -(reach // 2), 0] if side == "start" else [0, reach // 2, reach]
    offsets = np.array(looks, dtype=np.int64)
    offsets.flags.writeable = False
    return offsets


def displacements(frames: Frames, first: IntArray, last: IntArray) -> FloatArray:
    """How the body went from rows ``first`` to rows ``last`` of the same clip, (N, 3).

    Metres to its left (x) and ahead (z) as it faced at the first times :data:`WAY`, and the turn
    times :data:`TURN_M`, so that they are weighted correctly against contexts.
    """
    heading = np.asarray(frames.heading)
    away = frames.ground[last] - frames.ground[first]
    c, s = cos(heading[first]), sin(heading[first])
    return np.stack(
        [
            WAY * (c * away[:, 0] - s * away[:, 1]),
            WAY * (s * away[:, 0] + c * away[:, 1]),
            TURN_M * (heading[last] - heading[first]),
        ],
        axis=-1,
    )


def spans_of(frames: Frames, ids: Collection[str]) -> IntArray:
    """First and last row of each of the clips, (n, 2): what a search leaves out."""
    spans = []
    for name in items(ids, "exclude", "clips' ids"):
        first = frames.row_of(name, 0)
        spans.append((first, int(frames.starts[frames.clip_at(first) + 1]) - 1))
    return np.array(spans, dtype=np.int64).reshape(-1, 2)


_encode = kernel("ml_code_encode")


def encoded(
    moments: FloatArray32, mean: FloatArray32, axes: FloatArray32, steps: FloatArray32
) -> npt.NDArray[np.int8]:
    """Codes of contexts, ``axes @ (context - mean) / steps`` to the nearest whole number.

    Summed in a fixed order: how a matrix product rounds depends on the number of rows, so that a
    row's code would not be the same alone and among others.

    Parameters
    ----------
    moments : (N, D)
        Contexts.
    mean : (D,)
        What is taken from them.
    axes : (C, D)
        Directions, one for each component.
    steps : (C,)
        What one step of a component's code stands for.

    Returns
    -------
    (N, C)
    """
    codes = np.zeros((len(moments), len(axes)), dtype=np.int8)
    _encode(
        len(moments),
        moments.shape[1],
        len(axes),
        np.ascontiguousarray(moments, dtype=np.float32),
        np.ascontiguousarray(mean, dtype=np.float32),
        np.ascontiguousarray(axes.T, dtype=np.float32),
        np.ascontiguousarray(steps, dtype=np.float32),
        codes,
    )
    return codes


END_REACH_S = constant("ML_PASSAGE_REACH_S")
"""Velocities are differences over this long, away from the gap: what is inside is not known."""


class Line(NamedTuple):
    """Straight paths from moments to others; the motion is measured relative to them.

    Windows that turn and travel differently are averaged as seen from their lines.
    """

    heading: FloatArray
    """At the start, radians. (K,)"""
    ground: FloatArray
    """At the start, x and z, metres. (K, 2)"""
    turn: FloatArray
    """Radians a frame. (K,)"""
    step: FloatArray
    """Metres a frame, x and z. (K, 2)"""

    @classmethod
    def of_rows(cls, frames: Frames, first: IntArray, last: IntArray) -> Line:
        """From rows to later rows of the same clips."""
        n_frames = (last - first).astype(np.float64)
        return cls(
            np.asarray(frames.heading[first]),
            np.asarray(frames.ground[first]),
            (frames.heading[last] - frames.heading[first]) / n_frames,
            (frames.ground[last] - frames.ground[first]) / n_frames[:, None],
        )

    def at(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Headings (K, L) and ground (K, L, 2) of the lines at frames ``t`` (L,) or (K, L)."""
        t = np.atleast_2d(t)
        return (
            self.heading[:, None] + self.turn[:, None] * t,
            self.ground[:, None] + self.step[:, None] * t[..., None],
        )

    def seen(
        self, heading: FloatArray, ground: FloatArray, t: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Headings (K, L) and ground (K, L, 2) at frames ``t`` as they look from the lines."""
        line_heading, line_ground = self.at(t)
        return heading - line_heading, turned(ground - line_ground, -line_heading)


class Moments(NamedTuple):
    """Postures at one side of windows and how fast they change, as seen from their lines."""

    height: FloatArray
    """Of the root, metres. (K,)"""
    quats: FloatArray
    """Local rotations, the first joint's without the heading. (K, J, 4)"""
    turn: FloatArray
    """Radians a frame. (K,)"""
    step: FloatArray
    """Metres a frame, x and z. (K, 2)"""
    climb: FloatArray
    """Metres a frame. (K,)"""
    spin: FloatArray
    """Rotation vectors a frame of every joint, in its own frame. (K, J, 3)"""


def moments_at(
    frames: Frames, rows: IntArray, line: Line, t: float | FloatArray, side: Side
) -> Moments:
    """Posture and velocities of rows that their lines reach at frame ``t``.

    Velocities are taken from the frames before a start and after an end, as far as the clip has
    them; at its very border from the frame on the other side.

    Parameters
    ----------
    frames
        The collection, or the clips around a gap.
    rows
        The moments. (K,)
    line
        The straight way of each one's window.
    t
        Where on it the moments are: 0 at a start, ``length - 1`` at an end, (K, 1) where lengths
        differ.
    side
        Which side of a window they are.
    """
    away = -1 if side == "start" else 1
    reach = max(1, round(END_REACH_S * frames.fps))
    clip = np.searchsorted(frames.starts, rows, side="right") - 1
    low, high = frames.starts[clip], frames.starts[clip + 1] - 1
    others = np.clip(rows + away * reach, low, high)
    others = np.where(others == rows, np.clip(rows - away, low, high), others)
    gone = np.where(others == rows, 1.0, others - rows)  # a clip of one frame stands still
    seen = [
        line.seen(frames.heading[at, None], frames.ground[at, None], t + ahead[:, None])
        for at, ahead in ((rows, 0.0 * gone), (others, np.asarray(others - rows, dtype=np.float64)))
    ]
    now, then = (quat.normalize(frames.quats[at].astype(np.float64)) for at in (rows, others))
    height = frames.body[rows, 0, 1].astype(np.float64)
    return Moments(
        height,
        now,
        (seen[1][0] - seen[0][0])[:, 0] / gone,
        (seen[1][1] - seen[0][1])[:, 0] / gone[:, None],
        (frames.body[others, 0, 1] - height) / gone,
        quat.log(quat.multiply(quat.conjugate(now), then)) / gone[:, None, None],
    )


def turned(ground: FloatArray, angle: FloatArray) -> FloatArray:
    """(x, z) turned about +Y: positive angles carry +Z towards +X."""
    cos, sin = np.cos(angle), np.sin(angle)
    x, z = ground[..., 0], ground[..., 1]
    return np.stack([cos * x + sin * z, cos * z - sin * x], axis=-1)
