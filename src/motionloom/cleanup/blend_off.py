"""Blend-off: how an offset that is needed in some frames runs out in the frames around them."""

from __future__ import annotations

import numpy as np
from numba import njit

from motionloom._arrays import BoolArray, FloatArray

__all__ = ["blend_off", "ease", "nearness", "spread_smoothly"]


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
def _fill(
    values: FloatArray,
    slopes: FloatArray,
    held: BoolArray,
    length: float,
    stop: float,
    out: FloatArray,
) -> None:
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
        for g in range(f, after):
            if before >= 0:
                t, s = (g - before) / span, (g - before) / brake
                for c in range(width):
                    out[g, c] += (
                        _fall(t) * values[before, c] + brake * _coast(s) * slopes[before, c]
                    )
            if after < n:
                t, s = (after - g) / span, (after - g) / brake
                for c in range(width):
                    out[g, c] += _fall(t) * values[after, c] - brake * _coast(s) * slopes[after, c]
        f = after


def blend_off(
    values: FloatArray, slopes: FloatArray, held: BoolArray, *, length: float, stop: float
) -> FloatArray:
    """``values`` where they are held, and a smooth way to zero or to the next hold elsewhere.

    Exactly zero from ``length`` frames beyond a hold on. Holds at most twice as far apart are
    joined directly. Values and slopes are met at the edge of a hold, so that a foot comes to rest
    without a kick: the departure from Kovar, Schreiner and Gleicher, whose offsets start flat.

    Parameters
    ----------
    values, slopes : (F, C)
        Used in held frames only; slopes are per frame.
    held : (F,)
        Where ``values`` must be met.
    length
        Frames over which a value runs out.
    stop
        Frames over which a slope runs out: short, or the offset overshoots.
    """
    out = np.zeros_like(values)
    values, slopes = np.ascontiguousarray(values), np.ascontiguousarray(slopes)
    _fill(values, slopes, np.ascontiguousarray(held), float(length), float(stop), out)
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
    weights = ease(np.abs(np.arange(-half, half + 1)) / (half + 1.0))
    weights /= weights.sum()
    flat = values.reshape(len(values), -1)
    padded = np.concatenate([np.repeat(flat[:1], half, 0), flat, np.repeat(flat[-1:], half, 0)])
    out = np.stack(
        [np.convolve(padded[:, c], weights, mode="valid") for c in range(flat.shape[1])], axis=1
    )
    return out.reshape(values.shape)
