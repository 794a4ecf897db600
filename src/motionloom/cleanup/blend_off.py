"""Blend-off: how an offset that is needed in some frames runs out in the frames around them."""

from __future__ import annotations

import numpy as np
from numba import njit

from motionloom._arrays import BoolArray, FloatArray

__all__ = ["blend_off", "ease", "highest_nearby", "nearness", "spread_smoothly"]

LONGEST_HALF = 1000
"""Frames of half a window at most, where a clip has fewer."""


def ease(t: FloatArray) -> FloatArray:
    """Smooth fall from 1 at ``t <= 0`` to 0 at ``t >= 1``, flat at both: 2t³ - 3t² + 1."""
    t = np.clip(t, 0.0, 1.0)
    return np.asarray((2.0 * t - 3.0) * t * t + 1.0)


@njit(cache=True, error_model="numpy")
def _fall(t: float) -> float:
    """From 1 at 0 to 0 at 1, first and second derivatives 0 at both."""
    if t <= 0.0:
        return 1.0
    return 0.0 if t >= 1.0 else 1.0 + t * t * t * (-10.0 + t * (15.0 - 6.0 * t))


@njit(cache=True, error_model="numpy")
def _coast(t: float) -> float:
    """From 0 with slope 1 back to 0 at 1, where it is flat; no curvature at either end."""
    return 0.0 if t >= 1.0 else t + t * t * t * (-6.0 + t * (8.0 - 3.0 * t))


@njit(cache=True, error_model="numpy")
def _rate(values: FloatArray, held: BoolArray, edge: int, inwards: int, c: int) -> float:
    """Change per frame, forwards in time, over the last three steps of a hold before its edge."""
    far = edge
    for _ in range(3):
        if 0 <= far + inwards < len(held) and held[far + inwards]:
            far += inwards
    return 0.0 if far == edge else float((values[far, c] - values[edge, c]) / (far - edge))


@njit(cache=True, error_model="numpy")
def _fill(values: FloatArray, held: BoolArray, length: float, stop: float, out: FloatArray) -> None:
    n, width = values.shape
    before, f = -1, 0
    while f < n:
        if held[f]:
            for c in range(width):
                out[f, c] = values[f, c]
            before = f
            f += 1
            continue
        after = f
        while after < n and not held[after]:
            after += 1
        gap = float(after - before)
        joined = before >= 0 and after < n and gap <= 2.0 * length
        span = gap if joined else length
        brake = min(stop, span)
        for c in range(width):
            leaving = _rate(values, held, before, -1, c) if before >= 0 else 0.0
            coming = _rate(values, held, after, 1, c) if after < n else 0.0
            for g in range(f, after):
                if before >= 0:
                    out[g, c] += _fall((g - before) / span) * values[before, c]
                    out[g, c] += brake * _coast((g - before) / brake) * leaving
                if after < n:
                    out[g, c] += _fall((after - g) / span) * values[after, c]
                    out[g, c] -= brake * _coast((after - g) / brake) * coming
        f = after


def blend_off(values: FloatArray, held: BoolArray, *, length: float, stop: float) -> FloatArray:
    """``values`` where they are held, and a smooth way to zero or to the next hold elsewhere.

    Exactly zero from ``length`` frames beyond a hold on. Holds at most twice as far apart are
    joined directly. Value and slope are met at the edge of a hold, so that a foot comes to rest
    without a kick: the departure from Kovar, Schreiner and Gleicher, whose offsets start flat.

    Parameters
    ----------
    values : (F, C)
        Used in held frames only.
    held : (F,)
        Where ``values`` must be met.
    length
        Frames over which a value runs out.
    stop
        Frames over which a slope runs out: short, or the offset overshoots.
    """
    out = np.zeros_like(values)
    _fill(np.ascontiguousarray(values), np.ascontiguousarray(held), float(length), float(stop), out)
    return out


def nearness(held: BoolArray, length: float) -> FloatArray:
    """1 in held frames, falling smoothly to 0 at ``length`` frames from the nearest. Shape (F,)."""
    n = len(held)
    frames = np.arange(n)
    last = np.maximum.accumulate(np.where(held, frames, -n * 10))
    following = np.minimum.accumulate(np.where(held, frames, n * 10)[::-1])[::-1]
    return ease(np.minimum(frames - last, following - frames) / length)


def spread_smoothly(values: FloatArray, half: int) -> FloatArray:
    """Weighted mean over ``half`` frames to either side; beyond the ends the end value."""
    if half < 1:
        return np.array(values)
    half = _bounded(half, len(values))
    weights = ease(np.abs(np.arange(-half, half + 1)) / (half + 1.0))
    weights /= weights.sum()
    flat = values.reshape(len(values), -1)
    padded = np.concatenate([np.repeat(flat[:1], half, 0), flat, np.repeat(flat[-1:], half, 0)])
    out = np.stack(
        [np.convolve(padded[:, c], weights, mode="valid") for c in range(flat.shape[1])], axis=1
    )
    return out.reshape(values.shape)


def highest_nearby(values: FloatArray, half: int) -> FloatArray:
    """Largest value within ``half`` frames to either side. Shape (F,)."""
    half = _bounded(half, len(values))
    padded = np.pad(values, half)
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1)
    return np.asarray(windows.max(axis=1))


def _bounded(half: int, n_frames: int) -> int:
    """A half window that is not much longer than the clip: at a million frames a second it is."""
    return min(half, max(n_frames, LONGEST_HALF))
