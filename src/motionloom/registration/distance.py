"""How far apart two frames are, whatever their place and heading, for all pairs of frames at once.

The distance of [KG03]_ section 4.1: both frames become point clouds over a short window of time,
and the second is turned about the up axis and slid on the ground to fit the first as well as it
can. The remaining distance is theirs; the fit is the alignment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom._core import kernel
from motionloom._records import record

_lay_out = kernel("ml_grid_lay_out")
_quarter_turn = kernel("ml_grid_turn")
_sum_windows = kernel("ml_grid_sum_windows")
_turns = kernel("ml_grid_turns")
BLOCK = 64
"""Rows of the grid that are made together."""


def fit_planar_alignment(
    points_a: FloatArray, points_b: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Find the ground-plane transform that best carries cloud B onto cloud A, and their distance.

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
        Remaining weighted mean square distance, square metres.
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
    """Grids that know how two clips are best aligned at matched frames."""

    def alignment(self, i: IntArray, j: IntArray) -> tuple[FloatArray, FloatArray]:
        """Turn (...) and slide (..., 2) that carry B's cloud j onto A's cloud i."""
        ...


@record
class Clouds(NamedTuple):
    """A clip's points laid out for products of frames, about its own ground centre.

    Far from the origin the sums would cancel; about the clip's centre they do not.
    """

    ground: FloatArray
    """x and z of all points, scaled by the root of their weights; end frames repeated.
    (n + 2 half_window, 2 P)"""
    heights: FloatArray
    """Their y. (n + 2 half_window, P)"""
    windows: FloatArray
    """Of every window the mean x and z, and the mean square distance from the upright line through
    them. (3, n)"""
    centre: FloatArray
    """Those means in the world, metres (n, 2)."""


@dataclass(frozen=True, slots=True, eq=False)
@record
class DistanceGrid:
    """Distances between all frames of A and all frames of B; alignments on demand.

    Alignments are asked for along a path only: they are made from the clouds of its cells.
    """

    cost: FloatArray
    """Mean square distance of the clouds at their best alignment, square metres. (n, m)"""
    clouds_a: Clouds
    clouds_b: Clouds

    @property
    def centre_a(self) -> FloatArray:
        """Ground centroid (x, z) of every cloud of A, metres (n, 2)."""
        return self.clouds_a.centre

    @property
    def centre_b(self) -> FloatArray:
        """Ground centroid (x, z) of every cloud of B, metres (m, 2)."""
        return self.clouds_b.centre

    def turns(self, i: IntArray, j: IntArray) -> tuple[FloatArray, FloatArray]:
        """Numerator and denominator (...) of the turn that carries B's cloud j onto A's cloud i."""
        rows, columns = (
            np.ascontiguousarray(part, dtype=np.int64) for part in np.broadcast_arrays(i, j)
        )
        (n, m), (a, b) = self.cost.shape, (self.clouds_a, self.clouds_b)
        cross, dot = np.zeros((2, *rows.shape))
        _turns(
            rows.size, rows, columns, n, m, b.heights.shape[1], (len(b.heights) - m) // 2,
            a.ground, b.ground, a.windows, b.windows, cross, dot,
        )  # fmt: skip
        return cross, dot

    def alignment(self, i: IntArray, j: IntArray) -> tuple[FloatArray, FloatArray]:
        """Turn (...) and slide (..., 2) that carry B's cloud j onto A's cloud i."""
        theta = np.arctan2(*self.turns(i, j))
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
    product: Callable[[FloatArray, FloatArray], FloatArray] | None = None,
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
    product
        Of matrices; that of the library by default, whose last bits depend on the machine.
    """
    n, m, ends = len(points_a), len(points_b), 2 * half_window
    # Two products in one: of B as it is, and of B a quarter turn on.
    both = np.zeros((2, m + ends, 2 * len(weights)))
    a = _laid_out(points_a, weights, half_window, np.zeros((n + ends, 2 * len(weights))))
    b = _laid_out(points_b, weights, half_window, both[0])
    _quarter_turn(m + ends, len(weights), *both)
    ground_b, heights_b = both.reshape(-1, 2 * len(weights)).T, b.heights.T
    cost = np.zeros((n, m))
    # Few rows at a time: their products stay in the cache until their windows are summed.
    ground = np.zeros((min(BLOCK, n) + ends, 2 * (m + ends)))
    heights = np.zeros((min(BLOCK, n) + ends, m + ends))
    shared = 0  # rows that windows share with those of the block before
    for first in range(0, n, BLOCK):
        last = min(first + BLOCK, n)
        rows, n_rows = slice(first + shared, last + ends), last - first + ends
        if product is None:
            np.matmul(a.ground[rows], ground_b, out=ground[shared:n_rows])
            np.matmul(a.heights[rows], heights_b, out=heights[shared:n_rows])
        else:
            ground[shared:n_rows] = product(a.ground[rows], ground_b)
            heights[shared:n_rows] = product(a.heights[rows], heights_b)
        _sum_windows(
            last - first, m, half_window, ground[:n_rows], heights[:n_rows],
            *a.windows[:, first:last], b.windows, np.zeros((3, last - first + m)), cost[first:last],
        )  # fmt: skip
        shared = ends
        for sums in (ground, heights):
            sums[:shared] = sums[n_rows - shared : n_rows]
    return DistanceGrid(cost, a, b)


def _laid_out(
    points: FloatArray, weights: FloatArray, half_window: int, ground: FloatArray
) -> Clouds:
    """The clouds of a clip; their points on the ground are put into ``ground``."""
    n, n_points = points.shape[:2]
    w = np.ascontiguousarray(weights / weights.sum(), dtype=np.float64)
    heights = np.zeros((n + 2 * half_window, n_points))
    windows, centre = np.zeros((3, n)), np.zeros((n, 2))
    points = np.ascontiguousarray(points, dtype=np.float64)
    _lay_out(
        n, n_points, half_window, points, w, np.sqrt(w),
        ground, heights, np.zeros((n, 3)), windows, centre,
    )  # fmt: skip
    return Clouds(ground, heights, windows, centre)
