"""Curves of keys in plain numpy."""

from __future__ import annotations

import numpy as np

CONSTANT, CUBIC, NEXT = 0x2, 0x8, 0x100


def values_at(
    times: np.ndarray,
    values: np.ndarray,
    flags: np.ndarray,
    tangents: np.ndarray | None,
    at: np.ndarray,
) -> np.ndarray:
    """What ``ml_keyed_values`` gives."""
    n = len(times)
    if n == 1:
        return np.full(len(at), values[0])
    low = np.clip(np.searchsorted(times, at, side="right") - 1, 0, n - 2)
    high = low + 1
    u = np.clip((at - times[low]) / (times[high] - times[low]), 0.0, 1.0)
    sampled = values[low] + u * (values[high] - values[low])
    steps = (flags[low] & CONSTANT) > 0
    later = (flags[low] & NEXT) > 0
    sampled = np.where(steps, np.where(later & (u > 0.0), values[high], values[low]), sampled)
    cubic = ~steps & ((flags[low] & CUBIC) > 0)
    if tangents is not None and cubic.any():
        sampled[cubic] = _cubic(times, values, tangents, low[cubic], u[cubic])
    sampled = np.where(u == 0.0, values[low], sampled)
    return np.where(u == 1.0, values[high], sampled)


def _cubic(
    times: np.ndarray, values: np.ndarray, tangents: np.ndarray, low: np.ndarray, u: np.ndarray
) -> np.ndarray:
    span, first, last = times[low + 1] - times[low], values[low], values[low + 1]
    right, left, out, into = tangents[low].T
    s = _parameter(u, out, into)
    c1, c2, r = first + right * out * span, last - left * into * span, 1.0 - s
    return r * r * r * first + 3.0 * r * s * (r * c1 + s * c2) + s * s * s * last


def _parameter(u: np.ndarray, out: np.ndarray, into: np.ndarray) -> np.ndarray:
    third = 1.0 / 3.0
    low, high = np.zeros(len(u)), np.ones(len(u))
    for _ in range(45):
        s = 0.5 * (low + high)
        r = 1.0 - s
        below = 3.0 * r * s * (r * out + s * (1.0 - into)) + s * s * s < u
        low, high = np.where(below, s, low), np.where(below, high, s)
    odd = (np.abs(out - third) > 1e-9) | (np.abs(into - third) > 1e-9)
    return np.where(odd, 0.5 * (low + high), u)
