"""How far apart two frames are, whatever their place and heading, for all pairs of frames at once.

The distance of [KG03]_ section 4.1: both frames become point clouds over a short window of time,
and the second is turned about the up axis and slid on the ground to fit the first as well as it
can. What is left is the distance; the fit is the alignment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom._core import kernel
from motionloom._records import record

__all__ = [
    "Aligned",
    "DistanceGrid",
    "distance_grid",
    "fit_planar_alignment",
]

_lay_out = kernel("ml_grid_lay_out")
_sum_windows = kernel("ml_grid_sum_windows")

BLOCK = 128
"""Rows of the grid that are made together."""


def fit_planar_alignment(
    points_a: FloatArray, points_b: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Rigid ground-plane transform that best carries cloud B onto cloud A, and what it leaves.

    Minimises ``sum_p w_p |a_p - T_a_b b_p|^2`` over a turn about the up axis and a slide on the
    ground; heights are left alone. Equations 2 to 4 of [KG03]_, with the arc tangent of two
    arguments: the single-argument one picks the wrong branch half of the time.

    Parameters
    ----------
    points_a, points_b : (..., P, 3)
        Matched world points, metres. Leading axes broadcast.
    weights : (P,)
        Non-negative, not all zero; need not sum to one.

    Returns
    -------
    theta : (...)
        Turn about +Y, radians in (-pi, pi]; positive carries +Z towards +X.
    offset : (..., 2)
        Slide ``(x0, z0)`` applied after the turn, metres.
    distance : (...)
        Weighted mean square distance left, square metres.
    """
    w = weights / weights.sum()
    a, b = points_a[..., [0, 2]], points_b[..., [0, 2]]  # (..., P, 2) ground plane
    a_mean, b_mean = w @ a, w @ b  # (..., 2)
    a, b = a - a_mean[..., None, :], b - b_mean[..., None, :]
    # Both sums vanish when a cloud has no extent; arctan2(0, 0) = 0 is then the right answer.
    cross = np.sum(w * (a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]), axis=-1)
    dot = np.sum(w * (a * b).sum(axis=-1), axis=-1)
    theta = np.arctan2(cross, dot)
    cos, sin = np.cos(theta), np.sin(theta)
    bx, bz = b_mean[..., 0], b_mean[..., 1]
    offset = a_mean - np.stack([cos * bx + sin * bz, cos * bz - sin * bx], axis=-1)
    spread = np.sum(w * (a**2 + b**2).sum(axis=-1), axis=-1)
    lift = np.sum(w * (points_a[..., 1] - points_b[..., 1]) ** 2, axis=-1)
    return theta, offset, np.maximum(spread + lift - 2.0 * np.hypot(cross, dot), 0.0)


class Aligned(Protocol):
    """Whatever knows how two clips are best aligned at matched frames."""

    def alignment(self, i: IntArray, j: IntArray) -> tuple[FloatArray, FloatArray]:
        """Turn (...) and slide (..., 2) that carry B's cloud j onto A's cloud i."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
@record
class DistanceGrid:
    """Distances between all frames of A and all frames of B; alignments on demand.

    The turn of a cell is ``arctan2(cross, dot)``. It is asked for along a path only, so the grid
    keeps the two sums and spares a million arc tangents.
    """

    cost: FloatArray
    """Mean square distance of the clouds at their best alignment, square metres. (n, m)"""
    cross: FloatArray
    """Numerator of the turn. (n, m)"""
    dot: FloatArray
    """Denominator of the turn. (n, m)"""
    centre_a: FloatArray
    """Ground centroid (x, z) of every cloud of A, metres. (n, 2)"""
    centre_b: FloatArray
    """Ground centroid (x, z) of every cloud of B, metres. (m, 2)"""

    def alignment(self, i: IntArray, j: IntArray) -> tuple[FloatArray, FloatArray]:
        """Turn (...) and slide (..., 2) that carry B's cloud j onto A's cloud i."""
        theta = np.arctan2(self.cross[i, j], self.dot[i, j])
        cos, sin = np.cos(theta), np.sin(theta)
        bx, bz = self.centre_b[j, 0], self.centre_b[j, 1]
        turned = np.stack([cos * bx + sin * bz, cos * bz - sin * bx], axis=-1)
        return theta, self.centre_a[i] - turned


def distance_grid(
    points_a: FloatArray,
    points_b: FloatArray,
    weights: FloatArray,
    *,
    half_window: int = 2,
) -> DistanceGrid:
    """Every frame of A against every frame of B, over windows of ``2 half_window + 1`` frames.

    Three matrix products give the sums of single frames; a window's sums are then sums along
    diagonals, done in one pass. At the ends of a clip its end frame is repeated.

    Parameters
    ----------
    points_a : (n, P, 3)
        World points of A, metres.
    points_b : (m, P, 3)
        World points of B.
    weights : (P,)
        Non-negative weights of the points.
    half_window
        Frames before and after that count too.
    """
    clip_a = _prepared(points_a, weights, half_window)
    clip_b = _prepared(points_b, weights, half_window)
    n, m, n_points = len(points_a), len(points_b), len(weights)
    # Columns of a frame are x, z, y of all points: two thirds of a row are the ground plane.
    x, z, y = np.split(np.ascontiguousarray(clip_b.rows.T), 3)
    ground, quarter_turn = np.concatenate([x, z]), np.concatenate([z, -x])
    cost, cross, dot = np.zeros((3, n, m))
    # A block's products stay in the cache until their windows are summed.
    sums = np.zeros((3, min(BLOCK, n) + 2 * half_window, m + 2 * half_window))
    work = np.zeros((6, m))
    for first in range(0, n, BLOCK):
        last = min(first + BLOCK, n)
        rows = clip_a.rows[first : last + 2 * half_window]
        dots, crosses, heights = sums[:, : len(rows)]
        np.matmul(rows[:, : 2 * n_points], ground, out=dots)
        np.matmul(rows[:, : 2 * n_points], quarter_turn, out=crosses)
        np.matmul(rows[:, 2 * n_points :], y, out=heights)
        _sum_windows(
            last - first, m, half_window, dots, crosses, heights,
            clip_a.x[first:last], clip_a.z[first:last], clip_a.spread[first:last],
            clip_b.x, clip_b.z, clip_b.spread,
            work, cost[first:last], cross[first:last], dot[first:last],
        )  # fmt: skip
    return DistanceGrid(cost, cross, dot, clip_a.centre, clip_b.centre)


class _Prepared(NamedTuple):
    """A clip laid out for matrix products, about its own ground centre.

    Far from the origin the sums would cancel; about the clip's centre they do not.
    """

    rows: FloatArray
    """x, z, y of all points, scaled by the root of their weights; end frames repeated."""
    x: FloatArray
    """Centroids of the windows. (n,)"""
    z: FloatArray
    spread: FloatArray
    """Mean square distance of a window's points from its centroid's upright line. (n,)"""
    centre: FloatArray
    """Centroids of the windows in the world. (n, 2)"""


def _prepared(points: FloatArray, weights: FloatArray, half_window: int) -> _Prepared:
    n, n_points = points.shape[:2]
    w = np.ascontiguousarray(weights / weights.sum(), dtype=np.float64)
    rows = np.zeros((n + 2 * half_window, 3 * n_points))
    frames = np.zeros((3, n))  # centroid x and z, and energy, of single frames
    means = np.zeros(2)
    points = np.ascontiguousarray(points, dtype=np.float64)
    inner = rows[half_window : half_window + n]
    _lay_out(n, n_points, points, w, np.sqrt(w), inner, frames, means)
    rows[:half_window], rows[half_window + n :] = rows[half_window], rows[half_window + n - 1]
    repeated = np.clip(np.arange(-half_window, n + half_window), 0, n - 1)
    padded = np.take(frames, repeated, axis=1)
    width = 2 * half_window + 1
    x, z, energy = np.lib.stride_tricks.sliding_window_view(padded, width, axis=1).mean(axis=-1)
    centre = np.stack([x + means[0], z + means[1]], axis=-1)
    return _Prepared(rows, x, z, energy - x * x - z * z, centre)
