"""How knees are damped near full stretch."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.rotation.quat import ease

DAMPED_FROM = 2.8
"""Knee angle from which opening is damped, radians; pi is a straight leg (Kovar et al. 2002)."""


def _saturated(t: FloatArray) -> FloatArray:
    """``t`` below 0, one half from 1 on: the integral of 1 - 3t² + 2t³."""
    inside = np.clip(t, 0.0, 1.0)
    return np.asarray(np.minimum(t, 0.0) + inside - inside**3 + 0.5 * inside**4)


def damped_angle(now: FloatArray, wanted: FloatArray) -> FloatArray:
    """The plain form of :func:`damped_angle`."""
    width = np.pi - DAMPED_FROM
    a, b = (now - DAMPED_FROM) / width, (wanted - DAMPED_FROM) / width
    return np.asarray(now + width * (_saturated(b) - _saturated(a)))


def soft_span(
    before: FloatArray, wanted: FloatArray, reach: FloatArray, part: FloatArray
) -> FloatArray:
    """The plain form of :func:`soft_span`."""
    width = 2.0 * part * np.maximum(reach, 1e-9)
    a, b = (before - reach) / width + 0.5, (wanted - reach) / width + 0.5
    change = width * (_saturated(b) - _saturated(a))
    left = np.maximum(width * (0.5 - _saturated(a)), 1e-300)
    late = (change > 0.0) & (a > 0.0)
    return before + change * np.where(late, np.maximum(reach - before, 0.0) / left, 1.0)


def damped_span(
    upper: FloatArray, lower: FloatArray, before: FloatArray, wanted: FloatArray
) -> FloatArray:
    """The plain form of :func:`damped_span`."""
    product, square = np.maximum(2.0 * upper * lower, 1e-12), upper**2 + lower**2
    now, then = (
        np.arccos(np.clip((square - span**2) / product, -1.0, 1.0)) for span in (before, wanted)
    )
    return np.sqrt(np.maximum(square - product * np.cos(damped_angle(now, then)), 0.0))


def free_from(held: BoolArray, edge: int, on: int, length: float) -> list[int]:
    """Free frames right after the edge of a hold, within ``length`` of it; ``on`` is 1 or -1."""
    free, frame = [], edge + on
    while 0 <= frame < len(held) and not held[frame] and len(free) + 1 < length:
        free.append(frame)
        frame += on
    return free


def brake_knee(
    bones: FloatArray,
    span: FloatArray,
    reach: FloatArray,
    edge: int,
    on: int,
    n_free: int,
    free_change: float,
    length: float,
) -> FloatArray:
    """Spans (F,) of a leg whose knee is braked in the free frames after the edge of a hold."""
    upper, lower, _ = bones
    product, square = 2.0 * upper * lower, upper**2 + lower**2
    open_, straight = (
        np.arccos(np.clip((square - each**2) / product, -1.0, 1.0)) for each in (span, reach)
    )
    braked, angle, step = np.array(span), open_[edge], open_[edge] - open_[edge - on]
    for away in range(1, n_free + 1):
        f = edge + on * away
        left, most = straight[f] - angle, max(step, 0.0) + 2.0 * free_change / upper[f]
        if left > 0.0:
            most = left * (1.0 - np.exp(-most / left))
        step = min(open_[f] - angle, most)
        angle += step
        if open_[f] > angle:
            slower = open_[f] - ease(away / min(n_free + 1.0, length)) * (open_[f] - angle)
            braked[f] = np.sqrt(square[f] - product[f] * np.cos(slower))
    return braked
