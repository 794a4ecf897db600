"""Curves that a body moves along: keyed splines, quiet noise, composed turns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.rotation.euler import euler_to_quat
from motionloom.rotation.quat import smoothstep

PEEL_LATE = 0.5
"""Part of a heel's rise that comes late."""


def peel(u: FloatArray, start: float) -> FloatArray:
    """0 to 1 as a heel leaves the ground: clearly moving soon, fastest at the end.

    The rate grows without a jump during the first part ``start``, then steadily.
    """
    u = np.clip(u, 0.0, 1.0)
    ramp = np.where(u < start, u * u / (2.0 * start), u - 0.5 * start)
    return np.asarray((1.0 - PEEL_LATE) * ramp / (1.0 - 0.5 * start) + PEEL_LATE * u**3)


def peel_end_rate(start: float) -> float:
    """Rate of :func:`peel` at its end."""
    return (1.0 - PEEL_LATE) / (1.0 - 0.5 * start) + 3.0 * PEEL_LATE


def hermite(
    u: FloatArray, start: FloatArray, start_rate: FloatArray, end: FloatArray, end_rate: FloatArray
) -> FloatArray:
    """Cubic (N, C) from ``start`` to ``end`` over ``u`` (N,) in [0, 1]; rates per unit of ``u``."""
    u = u[:, None]
    step = smoothstep(u)
    leave, arrive = u * (1.0 - u) ** 2, u * u * (u - 1.0)
    return start + (end - start) * step + leave * start_rate + arrive * end_rate


def keyed(
    u: FloatArray,
    at: Sequence[float],
    values: FloatArray,
    start_rate: FloatArray | float = 0.0,
    end_rate: FloatArray | float = 0.0,
) -> FloatArray:
    """Smooth curve (twice differentiable) through keys ``values`` (K, ...) at ``at`` (K,).

    The clamped cubic spline: rates at both ends are given, those between follow. Held outside.
    """
    values = np.asarray(values, dtype=np.float64)
    flat = values.reshape(len(values), -1)
    x = np.asarray(at, dtype=np.float64)
    from_values, from_ends = _spline_rates(tuple(float(key) for key in at))
    ends = np.stack([np.broadcast_to(rate, values.shape[1:]) for rate in (start_rate, end_rate)])
    rates = from_values @ flat + from_ends @ ends.reshape(2, -1)
    u = np.clip(u, x[0], x[-1])
    i = np.clip(np.searchsorted(x, u, side="right") - 1, 0, len(x) - 2)
    width = (x[i + 1] - x[i])[:, None]
    t = (u - x[i])[:, None] / width
    curve = flat[i] + (flat[i + 1] - flat[i]) * smoothstep(t)
    curve += width * t * (1.0 - t) * ((1.0 - t) * rates[i] - t * rates[i + 1])
    return curve.reshape(len(u), *values.shape[1:])


@lru_cache(maxsize=64)
def _spline_rates(at: tuple[float, ...]) -> tuple[FloatArray, FloatArray]:
    """Matrices (K, K) and (K, 2) that give a spline's rates at its keys.

    They depend on the keys' places only, and the same places come back step after step.
    """
    n = len(at)
    gap = np.diff(at)
    left, right = np.eye(n), np.zeros((n, n))
    for i in range(1, n - 1):
        before, after = gap[i - 1], gap[i]
        left[i, i - 1 : i + 2] = after, 2.0 * (before + after), before
        right[i, i - 1] = -3.0 * after / before
        right[i, i + 1] = 3.0 * before / after
        right[i, i] = -right[i, i - 1] - right[i, i + 1]
    inverse: FloatArray = np.asarray(np.linalg.inv(left), dtype=np.float64)
    return inverse @ right, inverse[:, [0, -1]]


def smooth_noise(
    rng: np.random.Generator, times: FloatArray, channels: int, *, slow: float = 0.15
) -> FloatArray:
    """Quiet wandering of about unit size, with nothing in it faster than 3 Hz.

    A sum of sines with random phases: it is exact at any frame rate, unlike filtered samples.
    Shape (F, channels).
    """
    rates = np.geomspace(slow, 2.5, 7)[:, None] * rng.uniform(0.85, 1.15, (7, channels))
    sizes = rates**-0.5
    sizes = sizes / np.sqrt(0.5 * np.sum(sizes**2, axis=0))
    phases = rng.uniform(0.0, 2.0 * np.pi, (7, channels))
    waves = np.sin(2.0 * np.pi * times[:, None, None] * rates + phases)
    return np.asarray(np.sum(sizes * waves, axis=1))


def soft_minimum(width: float, *values: FloatArray) -> FloatArray:
    """A smooth curve just under the lowest of several; at a crossing it is ``width ln 2`` under."""
    lowest = np.minimum.reduce(values)
    excess = sum(np.exp(-(value - lowest) / width) for value in values)
    return np.asarray(lowest - width * np.log(excess))


def turned(order: str, *angles: FloatArray | float) -> FloatArray:
    """Quaternions (F, 4) of turns about the axes of ``order``, one array of radians for each."""
    return euler_to_quat(np.stack(np.broadcast_arrays(*map(np.asarray, angles)), axis=-1), order)
