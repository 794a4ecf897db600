"""Distances between all frames of two clips."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.registration.timewarp import fit_planar_alignment


class PlainGrid(NamedTuple):
    """Every cell's distance, numerator and denominator of its turn; every cloud's centre."""

    cost: FloatArray
    cross: FloatArray
    dot: FloatArray
    centre_a: FloatArray
    centre_b: FloatArray


def distance_grid(
    points_a: FloatArray, points_b: FloatArray, weights: FloatArray, *, half_window: int = 2
) -> PlainGrid:
    """The plain form of :func:`distance_grid`: every cell by :func:`fit_planar_alignment`."""
    k, n, m = half_window, len(points_a), len(points_b)
    cost, cross, dot = (np.zeros((n, m)) for _ in range(3))
    w = np.tile(weights, 2 * k + 1)
    w = w / w.sum()
    window = np.arange(-k, k + 1)
    clouds_a = points_a[np.clip(np.arange(n)[:, None] + window, 0, n - 1)].reshape(n, -1, 3)
    clouds_b = points_b[np.clip(np.arange(m)[:, None] + window, 0, m - 1)].reshape(m, -1, 3)
    for i in range(n):
        a = clouds_a[i] - w @ clouds_a[i] * np.array([1.0, 0.0, 1.0])
        b = clouds_b - (w @ clouds_b * np.array([1.0, 0.0, 1.0]))[:, None]
        cross[i] = np.sum(w * (a[:, 0] * b[..., 2] - a[:, 2] * b[..., 0]), axis=-1)
        dot[i] = np.sum(w * (a[:, 0] * b[..., 0] + a[:, 2] * b[..., 2]), axis=-1)
        cost[i] = fit_planar_alignment(clouds_a[i], clouds_b, w)[2]
    ground = [0, 2]
    return PlainGrid(cost, cross, dot, (w @ clouds_a)[:, ground], (w @ clouds_b)[:, ground])
