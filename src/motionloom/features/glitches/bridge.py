"""Bridges: frames with capture glitches, led from the good frame before to the good one after.

A bridge leaves as fast as the motion comes in and arrives as fast as it goes on. A straight line
would stop and start a limb that swings, which shows more than many of the defects it replaces.
"""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.rotation import quat

LEADING = 1.5
"""Velocities at the ends lead no farther than so many times the way between the ends, or"""
LEAST, LEAST_M = np.radians(12.0), 0.05
"""this far, radians and metres: what comes back to where it was may swing out."""


def bridge_rotations(quats: FloatArray, before: int, after: int) -> FloatArray:
    """Rotations between two good frames. Shapes (F, ..., 4) to (after - before - 1, ..., 4).

    Parameters
    ----------
    quats : (F, ..., 4)
        Unit quaternions in time.
    before, after
        The good frames.
    """
    length, last = after - before, len(quats) - 1
    step = turn_per_frame(quats, before, after)
    most = np.maximum(LEADING * length * _size(step), LEAST)
    leave = turn_per_frame(quats, before - 1, before) if before > 0 else step
    arrive = turn_per_frame(quats, after, after + 1) if after < last else step
    leave, arrive = _shortened(leave, length, most), _shortened(arrive, length, most)
    return np.asarray(
        quat.multiply(quats[before], quat.exp(cubic_way(length * step, leave, arrive, length)))
    )


def bridge_line(values: FloatArray, before: int, after: int) -> FloatArray:
    """Positions between two good frames. Shapes (F, ..., 3) to (after - before - 1, ..., 3)."""
    length, last = after - before, len(values) - 1
    way = values[after] - values[before]
    most = np.maximum(LEADING * _size(way), LEAST_M)
    leave = values[before] - values[before - 1] if before > 0 else way / length
    arrive = values[after + 1] - values[after] if after < last else way / length
    leave, arrive = _shortened(leave, length, most), _shortened(arrive, length, most)
    return np.asarray(values[before] + cubic_way(way, leave, arrive, length))


def cubic_way(way: FloatArray, leave: FloatArray, arrive: FloatArray, length: int) -> FloatArray:
    """Way gone after 1 to ``length - 1`` frames along a cubic. (length - 1, ...).

    Parameters
    ----------
    way : (...)
        From end to end.
    leave, arrive : (...)
        Steps per frame at both ends.
    length
        Frames from end to end.
    """
    u = (np.arange(1, length) / length).reshape(-1, *[1] * way.ndim)
    path = (u**3 - 2.0 * u**2 + u) * length * leave + (3.0 * u**2 - 2.0 * u**3) * way
    return np.asarray(path + (u**3 - u**2) * length * arrive)


def turn_per_frame(quats: FloatArray, first: int, last: int) -> FloatArray:
    """Mean turn per frame from one frame to another, in the joint's own frame. (..., 3)."""
    step = quat.multiply(quat.conjugate(quats[first]), quats[last])
    return np.asarray(quat.log(step) / (last - first))


def _shortened(step: FloatArray, length: int, most: FloatArray) -> FloatArray:
    """A step per frame that leads at most so far in so many frames."""
    far = length * _size(step)
    return np.asarray(step * np.minimum(1.0, most / np.maximum(far, 1e-12)))


def _size(vectors: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.norm(vectors, axis=-1, keepdims=True))
