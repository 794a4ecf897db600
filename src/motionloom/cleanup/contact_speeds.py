"""Speeds of planted points, from one planted frame to the next."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom._core import kernel
from motionloom.motion.contacts import KINDS


def contact_speeds(points: FloatArray, planted: BoolArray, fps: float) -> FloatArray:
    """Speed to the next frame of points planted in both, m/s, else -1. Shape (F, 4)."""
    speeds = np.zeros(planted.shape)
    points = np.ascontiguousarray(points, dtype=np.float64)
    _speeds(len(points), points, np.ascontiguousarray(planted), float(fps), speeds)
    return speeds


def fastest_contact(
    points: FloatArray, planted: BoolArray, fps: float
) -> tuple[float | None, tuple[int, str] | None]:
    """Highest speed from one planted frame to the next, and its frame and kind."""
    speeds = contact_speeds(points, planted, fps)
    frame, kind = np.unravel_index(int(np.argmax(speeds)), speeds.shape)
    if speeds[frame, kind] < 0.0:
        return None, None
    return float(speeds[frame, kind]), (int(frame), KINDS[int(kind)])


_speeds = kernel("ml_contact_speeds")
