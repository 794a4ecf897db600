"""Uniform quadratic B-splines that increase: the one curve to which times are fitted.

``n`` control points give a curve over ``u`` in [0, n - 2]; on span ``i``, with ``t = u - i``:
``S = ((1-t)^2 p_i + (1 + 2t - 2t^2) p_{i+1} + t^2 p_{i+2}) / 2``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom._core import kernel
from motionloom._records import record

_adjust = kernel("ml_spline_adjust")
_solve = kernel("ml_spline_solve")

SMOOTHING = 1e-6
"""Weight of the third differences: it only decides where a span holds no sample, and it leaves
quadratics alone."""


@dataclass(frozen=True, slots=True, eq=False)
@record
class Spline:
    """A curve in K dimensions over u in [0, n - 2].

    Attributes
    ----------
    points : array
        Control points. (n, K)
    """

    points: FloatArray

    @property
    def u_end(self) -> float:
        """Last parameter; the first is 0."""
        return float(len(self.points) - 2)

    def __call__(self, u: FloatArray | float) -> FloatArray:
        """Values at ``u`` (...), outside the domain those of the nearest end. (..., K)."""
        span, t = self._span(u)
        p, t = self.points, t[..., None]
        return np.asarray(
            0.5
            * (
                (1.0 - t) ** 2 * p[span]
                + (1.0 + 2.0 * t - 2.0 * t * t) * p[span + 1]
                + t * t * p[span + 2]
            )
        )

    def slope(self, u: FloatArray | float) -> FloatArray:
        """Derivatives by u. (..., K).

        Returns
        -------
        (..., K) array
            One slope for each dimension.
        """
        span, t = self._span(u)
        p, t = self.points, t[..., None]
        return np.asarray((1.0 - t) * (p[span + 1] - p[span]) + t * (p[span + 2] - p[span + 1]))

    def inverse(self, k: int, values: FloatArray | float) -> FloatArray:
        """Parameters at which dimension ``k``, which must increase, takes ``values``.

        Beyond the ends the curve is taken to go on straight; where it begins or ends flat, as a
        curve of clips of few frames may, at a slope of 1.

        Returns
        -------
        array
            Shaped like ``values``.
        """
        p = self.points[:, k]
        v = np.asarray(values, dtype=np.float64)
        ends = 0.5 * (p[:-1] + p[1:])  # value at u = 0, 1, .., n - 2
        span = np.clip(np.searchsorted(ends, v, side="right") - 1, 0, len(p) - 3)
        b = p[span + 1] - p[span]
        a = 0.5 * (p[span + 2] - p[span + 1] - b)
        c = v - ends[span]
        # a t^2 + b t = c in the form that does not cancel.
        root = np.sqrt(np.maximum(b * b + 4.0 * a * c, 0.0))
        t = np.where(c == 0.0, 0.0, 2.0 * c / np.where(b + root > 0.0, b + root, 1.0))
        low, high = v < ends[0], v > ends[-1]
        u = span + t
        first, last = (rise if rise > 0.0 else 1.0 for rise in (p[1] - p[0], p[-1] - p[-2]))
        u = np.where(low, (v - ends[0]) / first, u)
        return np.where(high, self.u_end + (v - ends[-1]) / last, u)

    def _span(self, u: FloatArray | float) -> tuple[IntArray, FloatArray]:
        u = np.clip(np.asarray(u, dtype=np.float64), 0.0, self.u_end)
        span = np.minimum(np.floor(u).astype(np.int64), len(self.points) - 3)
        return span, u - span


def fit_spline(
    u: FloatArray,
    values: FloatArray,
    n_points: int,
    *,
    weights: FloatArray | None = None,
    ends: FloatArray | None = None,
) -> Spline:
    """Least-squares spline through samples.

    Parameters
    ----------
    u : (N,)
        Parameters in [0, n_points - 2].
    values : (N, K)
        Values that the curve should take there.
    n_points
        Control points, at least 3.
    weights : (N,), optional
        Of the squared errors.
    ends : (2, K), optional
        Values that the curve must take at both ends, exactly.
    """
    span = np.clip(np.floor(u).astype(np.int64), 0, n_points - 3)
    t = u - span
    basis = 0.5 * np.stack([(1 - t) ** 2, 1 + 2 * t - 2 * t * t, t * t], axis=-1)  # (N, 3)
    w = np.ones(len(u)) if weights is None else weights
    bands = np.zeros((4, n_points))  # upper form: bands[3 - d, j] is element (j - d, j)
    right = np.zeros((n_points, values.shape[1]))
    for a in range(3):
        np.add.at(right, span + a, (w * basis[:, a])[:, None] * values)
        for b in range(a, 3):
            np.add.at(bands[3 - (b - a)], span + b, w * basis[:, a] * basis[:, b])
    smooth = SMOOTHING * float(w.mean())
    third = (1.0, -3.0, 3.0, -1.0) if n_points > 3 else ()
    for a, x in enumerate(third):
        for b in range(a, 4):
            bands[3 - (b - a), b : n_points - 3 + b] += smooth * x * third[b]
    bands[3] += 1e-12 * float(bands[3].max())
    if ends is None:
        _solve(*right.shape, bands, right)
        return Spline(right)
    # Two equality rows, by the Schur complement of the banded system.
    rows = np.zeros((n_points, 2))
    rows[:2, 0] = rows[-2:, 1] = 0.5
    solved = np.hstack([right, rows])
    _solve(*solved.shape, bands, solved)
    free, influence = solved[:, :-2], solved[:, -2:]
    multiplier = np.linalg.solve(rows.T @ influence, rows.T @ free - ends)
    return Spline(free - influence @ multiplier)


def adjust_increasing(
    spline: Spline, *, epsilon: float = 0.33, ends: FloatArray | None = None, smallest: float = 1e-3
) -> Spline:
    """The nearest spline whose dimensions all increase, none faster than another by 1 / epsilon.

    Equation 5 of [KG03]_ for the base motion that needs the least change. The paper projects on
    the violated faces once, with a sign misprinted; with three or more motions that can leave a
    violation, so every step is projected exactly on the cone.

    Parameters
    ----------
    spline
        K dimensions, one per motion.
    epsilon
        Smallest ratio of two motions' rates, in (0, 1).
    ends : (2, K), optional
        Values to keep at both ends.
    smallest
        Least step of the base motion from one control point to the next, frames.
    """
    points = spline.points
    if ends is None:
        return Spline(_least_adjusted(points, epsilon, smallest))
    tighter = epsilon
    for _ in range(10):
        best = _least_adjusted(points, tighter, smallest)
        # Stretching each dimension so that its ends fit again can break a ratio a little.
        low, high = 0.5 * (best[0] + best[1]), 0.5 * (best[-1] + best[-2])
        points = ends[0] + (best - low) * (ends[1] - ends[0]) / (high - low)
        if _keeps_ratios(points, epsilon):
            return Spline(points)
        tighter = min(1.05 * tighter, 0.99)
    straight = (np.arange(len(points)) - 0.5)[:, None] / (len(points) - 2)
    return Spline(ends[0] + straight * (ends[1] - ends[0]))


def _least_adjusted(points: FloatArray, epsilon: float, smallest: float) -> FloatArray:
    """Control points adjusted with the base motion that moves them least."""
    best, least = points, np.inf
    work, moved = np.zeros((3, points.shape[1])), np.zeros(1)
    for base in range(points.shape[1]):
        candidate = np.array(points, dtype=np.float64, order="C")
        _adjust(*candidate.shape, candidate, base, epsilon, smallest, work, moved)
        if moved[0] < least:
            best, least = candidate, float(moved[0])
    return best


def _keeps_ratios(points: FloatArray, epsilon: float) -> bool:
    steps = np.diff(points, axis=0)
    if steps.min() <= 0.0:
        return False
    ratio = steps[:, :, None] / steps[:, None, :]  # (n, K, base)
    within = (ratio >= 0.999 * epsilon) & (ratio <= 1.001 / epsilon)
    return bool(within.all(axis=(0, 1)).any())
