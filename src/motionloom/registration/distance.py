"""How far apart two frames are, whatever their place and heading, for all pairs of frames at once.

The distance of [KG03]_ section 4.1: both frames become point clouds over a short window of time,
and the second is turned about the up axis and slid on the ground to fit the first as well as it
can. What is left is the distance; the fit is the alignment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numba import njit

from motionloom._arrays import FloatArray, IntArray
from motionloom._records import record

__all__ = [
    "Aligned",
    "DistanceGrid",
    "distance_grid",
    "distance_grid_numpy",
    "fit_planar_alignment",
]

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
    for first in range(0, n, BLOCK):
        last = min(first + BLOCK, n)
        rows = clip_a.rows[first : last + 2 * half_window]
        dots, crosses, heights = sums[:, : len(rows)]
        np.matmul(rows[:, : 2 * n_points], ground, out=dots)
        np.matmul(rows[:, : 2 * n_points], quarter_turn, out=crosses)
        np.matmul(rows[:, 2 * n_points :], y, out=heights)
        _sum_windows(
            dots, crosses, heights, half_window,
            clip_a.x[first:last], clip_a.z[first:last], clip_a.spread[first:last],
            clip_b.x, clip_b.z, clip_b.spread,
            cost[first:last], cross[first:last], dot[first:last],
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
    w = weights / weights.sum()
    rows = np.zeros((n + 2 * half_window, 3 * n_points))
    frames = np.zeros((3, n))  # centroid x and z, and energy, of single frames
    points = np.ascontiguousarray(points)
    mean_x, mean_z = _lay_out(points, w, np.sqrt(w), rows[half_window : half_window + n], frames)
    rows[:half_window], rows[half_window + n :] = rows[half_window], rows[half_window + n - 1]
    padded = np.pad(frames, ((0, 0), (half_window, half_window)), mode="edge")
    width = 2 * half_window + 1
    x, z, energy = np.lib.stride_tricks.sliding_window_view(padded, width, axis=1).mean(axis=-1)
    centre = np.stack([x + mean_x, z + mean_z], axis=-1)
    return _Prepared(rows, x, z, energy - x * x - z * z, centre)


@njit(cache=True, error_model="numpy")
def _lay_out(
    points: FloatArray, w: FloatArray, root_w: FloatArray, rows: FloatArray, frames: FloatArray
) -> tuple[float, float]:
    n, n_points, _ = points.shape
    mean_x, mean_z = 0.0, 0.0
    for i in range(n):
        for p in range(n_points):
            mean_x += points[i, p, 0]
            mean_z += points[i, p, 2]
    mean_x, mean_z = mean_x / (n * n_points), mean_z / (n * n_points)
    for i in range(n):
        cx, cz, energy = 0.0, 0.0, 0.0
        for p in range(n_points):
            x, y, z = points[i, p, 0] - mean_x, points[i, p, 1], points[i, p, 2] - mean_z
            rows[i, p] = root_w[p] * x
            rows[i, n_points + p] = root_w[p] * z
            rows[i, 2 * n_points + p] = root_w[p] * y
            cx += w[p] * x
            cz += w[p] * z
            energy += w[p] * (x * x + y * y + z * z)
        frames[0, i], frames[1, i], frames[2, i] = cx, cz, energy
    return mean_x, mean_z


@njit(cache=True, error_model="numpy")
def _slide(window: FloatArray, gain: FloatArray, lose: FloatArray, out: FloatArray) -> None:
    for k in range(len(out)):
        out[k] = window[k] + (gain[k] - lose[k])


@njit(cache=True, error_model="numpy")
def _distances(
    window: FloatArray, scale: float,
    x: float, z: float, spread: float,
    bx: FloatArray, bz: FloatArray, spread_b: FloatArray,
    cost: FloatArray, cross: FloatArray, dot: FloatArray,
) -> None:  # fmt: skip
    for k in range(len(cost)):
        c = scale * window[0, k] - (x * bx[k] + z * bz[k])
        s = scale * window[1, k] - (x * bz[k] - z * bx[k])
        left = (spread + spread_b[k]) - 2.0 * (scale * window[2, k] + np.sqrt(c * c + s * s))
        dot[k] = c
        cross[k] = s
        cost[k] = left if left > 0.0 else 0.0


@njit(cache=True, error_model="numpy")
def _sum_windows(
    dots: FloatArray, crosses: FloatArray, heights: FloatArray, half_window: int,
    x_a: FloatArray, z_a: FloatArray, spread_a: FloatArray,
    x_b: FloatArray, z_b: FloatArray, spread_b: FloatArray,
    cost: FloatArray, cross: FloatArray, dot: FloatArray,
) -> None:  # fmt: skip
    n, m = cost.shape
    width = 2 * half_window + 1
    products = (dots, crosses, heights)
    # Sums along a diagonal slide: the next one gains a cell and loses one. The first row and the
    # first column have no neighbour to slide from and are summed anew.
    window, following = np.zeros((3, m)), np.zeros((3, m))
    for i in range(n):
        for q in range(3):
            product, sums = products[q], following[q]
            if i == 0:
                sums[:] = 0.0
                for d in range(width):
                    for j in range(m):
                        sums[j] += product[d, j + d]
            else:
                sums[0] = 0.0
                for d in range(width):
                    sums[0] += product[i + d, d]
                gain, lose = product[i + width - 1, width:], product[i - 1, : m - 1]
                _slide(window[q, : m - 1], gain, lose, sums[1:])
        _distances(
            following, 1.0 / width, x_a[i], z_a[i], spread_a[i], x_b, z_b, spread_b,
            cost[i], cross[i], dot[i],
        )  # fmt: skip
        window, following = following, window


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
