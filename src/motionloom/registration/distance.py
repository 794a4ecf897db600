"""How far apart two frames are, whatever their place and heading, for all pairs of frames at once.

The distance of [KG03]_ section 4.1: both frames become point clouds over a short window of time,
and the second is turned about the up axis and slid on the ground to fit the first as well as it
can. What is left is the distance; the fit is the alignment.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from motionloom._arrays import FloatArray, IntArray

__all__ = ["DistanceGrid", "distance_grid", "distance_grid_numpy", "fit_planar_alignment"]


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


@dataclass(frozen=True, slots=True, eq=False)
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
    a, mean_a, centre_a, spread_a = _prepared(points_a, weights, half_window)
    b, mean_b, centre_b, spread_b = _prepared(points_b, weights, half_window)
    n_points = len(weights)
    # Columns of a frame are x, z, y of all points: two thirds of a row are the ground plane.
    ground_a, ground_b = a[:, : 2 * n_points], b[:, : 2 * n_points]
    quarter_turn = np.hstack([b[:, n_points : 2 * n_points], -b[:, :n_points]])
    dots = ground_a @ ground_b.T
    crosses = ground_a @ quarter_turn.T
    heights = a[:, 2 * n_points :] @ b[:, 2 * n_points :].T
    cost, cross, dot = (np.zeros((len(points_a), len(points_b))) for _ in range(3))
    _sum_windows(
        dots, crosses, heights, centre_a, centre_b, spread_a, spread_b, half_window,
        cost, cross, dot,
    )  # fmt: skip
    return DistanceGrid(cost, cross, dot, centre_a + mean_a, centre_b + mean_b)


def _prepared(
    points: FloatArray, weights: FloatArray, half_window: int
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Rows of x, z, y scaled by the root of the weights, end frames repeated; and window sums.

    Far from the origin the sums would cancel; about the clip's own ground centre they do not.
    """
    w = weights / weights.sum()
    mean = points.reshape(-1, 3).mean(axis=0) * np.array([1.0, 0.0, 1.0])
    centred = points - mean
    centre = _windowed(w @ centred[..., [0, 2]], half_window)
    scaled = (centred * np.sqrt(w)[:, None])[..., [0, 2, 1]]
    energy = _windowed(np.sum(scaled**2, axis=(1, 2)), half_window)
    rows = np.ascontiguousarray(scaled.transpose(0, 2, 1)).reshape(len(points), -1)  # (n, 3 P)
    padded = np.pad(rows, ((half_window, half_window), (0, 0)), mode="edge")
    return padded, mean[[0, 2]], centre, energy - np.sum(centre**2, axis=-1)


def _windowed(values: FloatArray, half_window: int) -> FloatArray:
    k, n = half_window, len(values)
    at = np.clip(np.arange(-k, k + 1)[:, None] + np.arange(n), 0, n - 1)
    return np.asarray(values[at].mean(axis=0))


@njit(cache=True, error_model="numpy")
def _sum_windows(
    dots: FloatArray,
    crosses: FloatArray,
    heights: FloatArray,
    centre_a: FloatArray,
    centre_b: FloatArray,
    spread_a: FloatArray,
    spread_b: FloatArray,
    half_window: int,
    cost: FloatArray,
    cross: FloatArray,
    dot: FloatArray,
) -> None:
    n, m = cost.shape
    width = 2 * half_window + 1
    scale = 1.0 / width
    # Sums along a diagonal slide: the next one gains a cell and loses one. The first row and the
    # first column have no neighbour to slide from and are summed anew.
    window_dot, window_cross, window_height = np.zeros(m), np.zeros(m), np.zeros(m)
    next_dot, next_cross, next_height = np.zeros(m), np.zeros(m), np.zeros(m)
    for i in range(n):
        first = m if i == 0 else 1
        for j in range(first):
            c, s, h = 0.0, 0.0, 0.0
            for d in range(width):
                c += dots[i + d, j + d]
                s += crosses[i + d, j + d]
                h += heights[i + d, j + d]
            next_dot[j], next_cross[j], next_height[j] = c, s, h
        if i > 0:
            gain, lose = i + width - 1, i - 1
            for j in range(1, m):
                next_dot[j] = window_dot[j - 1] + (dots[gain, j + width - 1] - dots[lose, j - 1])
            for j in range(1, m):
                next_cross[j] = window_cross[j - 1] + (
                    crosses[gain, j + width - 1] - crosses[lose, j - 1]
                )
            for j in range(1, m):
                next_height[j] = window_height[j - 1] + (
                    heights[gain, j + width - 1] - heights[lose, j - 1]
                )
        x, z, spread = centre_a[i, 0], centre_a[i, 1], spread_a[i]
        for j in range(m):
            bx, bz = centre_b[j, 0], centre_b[j, 1]
            c = scale * next_dot[j] - x * bx - z * bz
            s = scale * next_cross[j] - x * bz + z * bx
            dot[i, j] = c
            cross[i, j] = s
            left = (
                spread + spread_b[j] - 2.0 * scale * next_height[j] - 2.0 * np.sqrt(c * c + s * s)
            )
            cost[i, j] = max(left, 0.0)
        window_dot, next_dot = next_dot, window_dot
        window_cross, next_cross = next_cross, window_cross
        window_height, next_height = next_height, window_height


def distance_grid_numpy(
    points_a: FloatArray, points_b: FloatArray, weights: FloatArray, *, half_window: int = 2
) -> DistanceGrid:
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
    return DistanceGrid(cost, cross, dot, (w @ clouds_a)[:, ground], (w @ clouds_b)[:, ground])
