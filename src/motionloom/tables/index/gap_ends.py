"""Ends: the moments that a gap starts from and ends in, and the straight way between them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom.rotation import quat
from motionloom.tables.collection.frames import Frames
from motionloom.tables.index.contexts import Side

__all__ = ["Line", "Moments", "moments_at", "turned"]

REACH_S = 4 / 60
"""Velocities are differences over this long, away from the gap: what is inside is not known."""


class Line(NamedTuple):
    """Straight ways from moments to others: what is left when they are taken off is the motion.

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
    def of_windows(cls, frames: Frames, rows: IntArray, length: int) -> Line:
        """From the first to the last row of windows."""
        last = rows + length - 1
        return cls(
            np.asarray(frames.heading[rows]),
            np.asarray(frames.ground[rows]),
            (frames.heading[last] - frames.heading[rows]) / (length - 1),
            (frames.ground[last] - frames.ground[rows]) / (length - 1),
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
    reach = max(1, round(REACH_S * frames.fps))
    clip = np.searchsorted(frames.starts, rows, side="right") - 1
    low, high = frames.starts[clip], frames.starts[clip + 1] - 1
    there = np.clip(rows + away * reach, low, high)
    there = np.where(there == rows, np.clip(rows - away, low, high), there)
    gone = np.where(there == rows, 1.0, there - rows)  # a clip of one frame stands still
    seen = [
        line.seen(frames.heading[at, None], frames.ground[at, None], t + ahead[:, None])
        for at, ahead in ((rows, 0.0 * gone), (there, np.asarray(there - rows, dtype=np.float64)))
    ]
    now, then = (quat.normalize(frames.quats[at].astype(np.float64)) for at in (rows, there))
    height = frames.body[rows, 0, 1].astype(np.float64)
    return Moments(
        height,
        now,
        (seen[1][0] - seen[0][0])[:, 0] / gone,
        (seen[1][1] - seen[0][1])[:, 0] / gone[:, None],
        (frames.body[there, 0, 1] - height) / gone,
        quat.log(quat.multiply(quat.conjugate(now), then)) / gone[:, None, None],
    )


def turned(ground: FloatArray, angle: FloatArray) -> FloatArray:
    """(x, z) turned about +Y: positive angles carry +Z towards +X."""
    cos, sin = np.cos(angle), np.sin(angle)
    x, z = ground[..., 0], ground[..., 1]
    return np.stack([cos * x + sin * z, cos * z - sin * x], axis=-1)
