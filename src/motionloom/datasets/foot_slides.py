"""Slides of planted feet, without the roll of the foot at both ends of a plant."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.motion.contacts import KINDS, runs_of

LEAST_FRAMES = 4
"""Shorter plants have no middle."""


class Slides(NamedTuple):
    """How planted points move over the ground in the middle half of their plants."""

    speed: float
    """Median over the plants, m/s."""
    farthest: float
    """Longest way in one plant, metres."""
    frame: int
    kind: str
    """Where the farthest begins, and which point it is."""


def measure_slides(points: FloatArray, planted: BoolArray, fps: float) -> Slides | None:
    """Slides of heel and ball of both feet; None where no plant is long enough.

    Feet roll on and off the floor, and a noisy point moves in every frame without getting
    anywhere. So the way is taken from the end of a plant's first quarter to the begin of its last.

    Parameters
    ----------
    points : (F, 4, 3)
        Left heel, left ball, right heel, right ball in the world.
    planted : (F, 4)
        Contacts.
    fps
        Frames per second.

    Examples
    --------
    >>> points = np.zeros((40, 4, 3))
    >>> points[:, 1, 2] = 0.01 * np.arange(40)
    >>> planted = np.zeros((40, 4), dtype=bool)
    >>> planted[10:30, 1] = True
    >>> round(measure_slides(points, planted, 60.0).speed, 3)
    0.6
    """
    speeds, ways = [], []
    for kind in range(planted.shape[1]):
        for first, last in runs_of(planted[:, kind]):
            length = last - first + 1
            begin, end = first + length // 4, last - length // 4
            if length < LEAST_FRAMES or end <= begin:
                continue
            step = points[end, kind] - points[begin, kind]
            way = float(np.hypot(step[0], step[2]))
            speeds.append(way * fps / (end - begin))
            ways.append((way, begin, kind))
    if not ways:
        return None
    way, frame, kind = max(ways, key=lambda each: (each[0], -each[1]))
    return Slides(float(np.median(speeds)), way, frame, KINDS[kind])
