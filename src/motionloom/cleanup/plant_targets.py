"""Targets: where each held point is to stand."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._core import kernel
from motionloom.cleanup.holds import Hold

_place = kernel("ml_hold_place")

NEAR_S = 0.12
"""Holds of one foot closer in time than this are placed together."""


def fit_targets(
    holds: tuple[Hold, ...], points: FloatArray, velocities: FloatArray, fps: float
) -> tuple[FloatArray, FloatArray]:
    """One place per hold (N, 3), and how far its point strays from it (N,), metres.

    A place is the mean of the point over the whole hold, height included, where frames at rest
    count most: what stands already stays where it is. Heel and ball that are held together get
    places exactly as far apart as they are in the foot. Holds of one foot that follow each other
    within a short time are drawn towards the step between them that the motion has, so that the
    foot need not jump in the gap.

    Parameters
    ----------
    holds
        N of them, of both feet.
    points, velocities : (F, 4, 3)
        Heels and balls in the world, metres and metres a second.
    fps
        Frames per second.
    """
    if not holds:
        return np.zeros((0, 3)), np.zeros(0)
    spans = np.array([(hold.kind, *hold.span) for hold in holds], dtype=np.int64)
    foot = spans[:, 0] // 2
    order = np.lexsort((spans[:, 2], spans[:, 1], foot))  # by foot, then in time
    places, strays = np.zeros((len(holds), 3)), np.zeros(len(holds))
    _place(
        len(points),
        np.ascontiguousarray(points, dtype=np.float64),
        np.ascontiguousarray(velocities, dtype=np.float64),
        len(holds),
        spans,
        order,
        int(np.sum(foot == 0)),
        NEAR_S * fps,
        np.zeros(len(points)),
        places,
        strays,
    )
    return places, strays
