"""Splines that increase."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray


def adjusted(
    points: FloatArray, base: int, epsilon: float, smallest: float
) -> tuple[FloatArray, float]:
    """Control points (n, K) after one sweep with this base dimension, and how far they moved."""
    points, moved = np.array(points), 0.0
    for i in range(1, len(points)):
        step = points[i] - points[i - 1]
        change = nearest_step(step, base, epsilon, smallest) - step
        if np.abs(change).max() < 1e-13:
            continue
        share = 0.5
        if i > 1:  # what the step before can bear
            before = points[i - 1] - points[i - 2]
            left = [before - epsilon * before[base], before[base] - epsilon * before]
            uses = [change - epsilon * change[base], change[base] - epsilon * change]
            for rest, use in zip(left, uses, strict=True):
                rest[base], use[base] = before[base] - smallest, change[base]
                share = min([share, *(np.maximum(rest, 0.0) / use)[use > 1e-15]])
        points[i] += (1.0 - share) * change
        points[i - 1] -= share * change
        moved += ((1.0 - share) ** 2 + share**2) * float(np.sum(change**2))
    return points, moved


def nearest_step(step: FloatArray, base: int, epsilon: float, smallest: float) -> FloatArray:
    """Nearest step whose parts are within ``epsilon`` and its inverse of the base's. (K,)."""

    def at(s: float) -> FloatArray:
        out = np.clip(step, epsilon * s, s / epsilon)
        out[base] = s
        return out

    def slope(s: float) -> float:
        clipped = at(s)
        rate = np.where(clipped > step, epsilon, 1.0 / epsilon)
        rate[base] = 1.0
        return float(np.sum(rate * (clipped - step)))

    low, high = smallest, float(np.abs(step).max()) / epsilon + smallest
    if slope(low) >= 0.0:
        return at(low)
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if slope(middle) > 0.0 else (middle, high)
    return at(0.5 * (low + high))


def solved(bands: FloatArray, values: FloatArray) -> FloatArray:
    """Solution of a symmetric system of which element (j - d, j) is ``bands[3 - d, j]``."""
    n = bands.shape[1]
    matrix = np.zeros((n, n))
    for d in range(min(4, n)):
        at = np.arange(d, n)
        matrix[at - d, at] = matrix[at, at - d] = bands[3 - d, d:]
    return np.linalg.solve(matrix, values)
