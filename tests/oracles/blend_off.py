"""How offsets run out, and how they are smoothed."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.rotation.quat import ease


def blend_off(values: FloatArray, held: BoolArray, *, length: float, stop: float) -> FloatArray:
    """The plain form of :func:`blend_off`: frame by frame, from the nearest holds."""
    out, at = np.zeros(values.shape), np.flatnonzero(held)
    for f in range(len(values)):
        if held[f]:
            out[f] = values[f]
            continue
        before, after = at[at < f].max(initial=-1), at[at > f].min(initial=len(held))
        joined = before >= 0 and after < len(held) and after - before <= 2.0 * length
        span = after - before if joined else length
        brake = min(stop, span)
        for edge, inwards in ((before, -1), (after, 1)):
            if 0 <= edge < len(held):
                away, rate = abs(f - edge), _rate(values, held, edge, inwards)
                out[f] += _fall(away / span) * values[edge]
                out[f] -= inwards * brake * _coast(away / brake) * rate
    return out


def _rate(values: FloatArray, held: BoolArray, edge: int, inwards: int) -> FloatArray:
    """Change per frame over the last three steps of a hold, or as many as it has. Shape (C,)."""
    steps = 0
    for k in range(1, 4):
        inside = 0 <= edge + k * inwards < len(held) and held[edge + k * inwards]
        steps = k if inside and steps == k - 1 else steps
    if not steps:
        return np.zeros(values.shape[1])
    return np.asarray((values[edge + steps * inwards] - values[edge]) / (steps * inwards))


def _fall(t: float) -> float:
    t = min(max(t, 0.0), 1.0)
    return 1.0 - 10.0 * t**3 + 15.0 * t**4 - 6.0 * t**5


def _coast(t: float) -> float:
    t = min(t, 1.0)
    return t - 6.0 * t**3 + 8.0 * t**4 - 3.0 * t**5


def nearness(held: BoolArray, length: float) -> FloatArray:
    """The plain form of :func:`nearness`."""
    at = np.flatnonzero(held)
    if not at.size:
        return np.zeros(len(held))
    return ease(np.abs(np.arange(len(held))[:, None] - at).min(axis=1) / length, nested=True)


def spread_smoothly(values: FloatArray, half: int) -> FloatArray:
    """The plain form of :func:`spread_smoothly`."""
    weights = ease(np.abs(np.arange(-half, half + 1)) / (half + 1.0), nested=True)
    frames = np.arange(len(values))[:, None] + np.arange(-half, half + 1)
    around = values[np.clip(frames, 0, len(values) - 1)]
    return np.asarray(np.einsum("fk...,k->f...", around, weights / weights.sum()))


def highest_nearby(values: FloatArray, half: int) -> FloatArray:
    """The plain form of :func:`highest_nearby`."""
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(values, half), 2 * half + 1)
    return np.asarray(windows.max(axis=1))
