"""The velocity of a ground that slides."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import BoolArray, FloatArray


def follow(moving: FloatArray, high: BoolArray, strange: float, ground: FloatArray, stiff: float):
    """The plain form of one round of :func:`_ground`, with a dense matrix."""
    n = len(moving)
    off = np.where(high, np.inf, np.linalg.norm(moving - ground[:, None], axis=-1))
    slowest = moving[np.arange(n), off.argmin(axis=1)]
    weight = (1.0 + (off.min(axis=1) / strange) ** 2) ** -2.0
    bends = np.diff(np.eye(n), n=2, axis=0)
    matrix = np.diag(weight + 1e-4) + stiff * bends.T @ bends
    return np.linalg.solve(matrix, weight[:, None] * slowest)
