"""Minima of a grid."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import BoolArray, FloatArray


def strict_minima(cost: FloatArray, limit: float) -> BoolArray:
    """The plain form of :func:`strict_minima`."""
    n, m = cost.shape
    padded = np.pad(cost, 1, constant_values=np.inf)
    lowest = np.asarray(cost <= limit)
    for di in range(3):
        for dj in range(3):
            if (di, dj) != (1, 1):
                lowest &= padded[di : di + n, dj : dj + m] > cost
    return lowest
