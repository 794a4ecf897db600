"""The alignment curve: where each motion must be moved to stand with the reference, over time.

Turn and place are not splined as the transform's own three numbers: far from the world's origin a
small error of the turn would throw the place by metres. Splined instead are the turn and the
ground position to which the motion's own root is carried.
"""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom.registration.distance import DistanceGrid
from motionloom.registration.splines import Spline, fit_spline
from motionloom.rotation.planar import PlanarTransform

__all__ = ["alignment_samples", "fit_alignment", "median_filter", "transform_at"]


def alignment_samples(
    grid: DistanceGrid, cells: IntArray, roots: FloatArray, *, width: int = 5
) -> FloatArray:
    """Turn and carried root along a path, unwrapped and freed of outliers. (N, 3)

    Parameters
    ----------
    grid
        Reference against motion.
    cells : (N, 2)
        Matched frames of the two.
    roots : (m, 3)
        The motion's root positions at the grid's frames, metres.
    width
        Frames of the median filter, odd.
    """
    i, j = cells.T
    theta, offset = grid.alignment(i, j)
    theta = np.unwrap(theta)
    carried = PlanarTransform(theta, offset[:, 0], offset[:, 1]).apply(roots[j])
    samples = np.stack([theta, carried[:, 0], carried[:, 2]], axis=-1)
    return median_filter(samples, width)


def fit_alignment(u: FloatArray, samples: FloatArray, n_points: int) -> Spline:
    """Spline (turn, x, z of the carried root) through samples at ``u``."""
    return fit_spline(u, samples, n_points)


def transform_at(values: FloatArray, roots: FloatArray) -> PlanarTransform:
    """The transform that turns by ``values[..., 0]`` and carries ``roots`` to the place splined.

    Parameters
    ----------
    values : (..., 3)
        From the alignment spline: turn, x, z.
    roots : (..., 3)
        The motion's own root positions there, metres.
    """
    theta = values[..., 0]
    turned = PlanarTransform(theta, 0.0, 0.0).apply(roots)
    return PlanarTransform(theta, values[..., 1] - turned[..., 0], values[..., 2] - turned[..., 2])


def median_filter(values: FloatArray, width: int) -> FloatArray:
    """Running median along the first axis; towards the ends the window shrinks. (N, K)"""
    n, half = len(values), width // 2
    out = np.array(values)
    if n > 2 * half:
        windows = np.lib.stride_tricks.sliding_window_view(values, 2 * half + 1, axis=0)
        out[half : n - half] = np.median(windows, axis=-1)
    for i in [*range(min(half, n)), *range(max(n - half, 0), n)]:
        reach = min(half, i, n - 1 - i)
        out[i] = np.median(values[i - reach : i + reach + 1], axis=0)
    return out
