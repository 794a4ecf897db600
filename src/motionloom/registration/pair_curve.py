"""Two motions brought together: their grid, the path through it, and the curve along the path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom._records import record
from motionloom.errors import RegistrationError
from motionloom.registration.alignment import alignment_samples, fit_alignment
from motionloom.registration.distance import Aligned, fit_planar_alignment
from motionloom.registration.grids import Sampled
from motionloom.registration.splines import Spline, adjust_increasing, fit_spline
from motionloom.registration.timewarp import TimePath, find_corner_path

PIN_WEIGHT = 1e4
"""Weight of a pair of frames given by hand against one that was detected."""


@dataclass(frozen=True, slots=True, eq=False)
@record
class PairCurve:
    """Times and alignment of a motion against a reference, in frames of the grid."""

    times: Spline
    """Frame of the reference, frame of the motion. (n, 2)"""
    alignment: Spline
    """Turn, and offset from the reference's root. (n, 3)"""
    path: TimePath


def parameters_of(times: FloatArray, frames_per_knot: float) -> tuple[FloatArray, int]:
    """Curve parameter of every matched pair, and how many control points the curve needs.

    The parameter follows the mean of the two frames: it increases strictly and does not care
    which motion comes first. The paper leaves it open.
    """
    along = times.mean(axis=1)
    along = along - along[0]
    length = float(along[-1])
    n_points = 2 + max(1, int(np.ceil(length / frames_per_knot)))
    scale = (n_points - 2) / length if length > 0.0 else 0.0
    return along * scale, n_points


def fit_pair(
    grid: Aligned,
    path: TimePath,
    other: Sampled,
    reference: Sampled,
    *,
    frames_per_knot: float,
    epsilon: float,
    clouds: tuple[FloatArray, FloatArray, FloatArray] | None = None,
    pins: Sequence[tuple[float, float]] = (),
) -> PairCurve:
    """Strictly increasing times and an alignment curve along a path.

    Parameters
    ----------
    grid
        Reference against motion.
    path
        Matched frames.
    other, reference
        The motion and the reference at the grid's frames.
    frames_per_knot
        Frames of the grid between control points.
    epsilon
        Smallest ratio of the two rates.
    clouds
        Points of the reference, of the motion, and weights, if the times are to be refined below
        the frame.
    pins
        Pairs of frames of the grid, fractional, that the times should go through.
    """
    if len(path.cells) < 2:
        raise RegistrationError(
            "The motions share a single frame, too little for a curve. Choose longer clips."
        )
    cells = path.cells.astype(np.float64)
    weights = np.ones(len(cells))
    for pin in pins:
        nearest = int(np.argmin(np.sum((cells - pin) ** 2, axis=1)))
        cells[nearest], weights[nearest] = pin, PIN_WEIGHT
    u, n_points = parameters_of(cells, frames_per_knot)
    ends = cells[[0, -1]]
    fitted = fit_spline(u, cells, n_points, weights=weights, ends=ends)
    times = adjust_increasing(fitted, epsilon=epsilon, ends=ends)
    if clouds is not None:
        times = refine_times(times, u, *clouds, epsilon=epsilon)
    samples = alignment_samples(
        grid,
        path.cells,
        other.roots,
        reference.roots,
        headings=(other.headings, reference.headings),
    )
    return PairCurve(times, fit_alignment(u, samples, n_points), path)


def refine_times(
    times: Spline,
    u: FloatArray,
    points_a: FloatArray,
    points_b: FloatArray,
    weights: FloatArray,
    *,
    epsilon: float,
    rounds: int = 6,
) -> Spline:
    """Times moved to where single frames fit best, to a small part of a frame.

    A window compares frames before and after as if both motions ran at one rate, which biases the
    path where they do not. Here single frames are compared, between samples too: at every sample
    the distance is read a little to either side across the path, its parabola gives the place of
    the minimum, and its curvature says how much that place is worth.
    """
    last = np.array([len(points_a) - 1.0, len(points_b) - 1.0])
    dense = np.linspace(0.0, times.u_end, 2 * len(u))
    across = np.array([0.5, -0.5])
    for k in range(rounds):
        reach = max(1.0 * 0.6**k, 0.25)
        centre = times(dense)
        costs = []
        for side in (-reach, 0.0, reach):
            at = np.clip(centre + side * across, 0.0, last)
            a, b = _points_at(points_a, at[:, 0]), _points_at(points_b, at[:, 1])
            costs.append(fit_planar_alignment(a, b, weights)[2])
        low, middle, high = costs
        bend = low - 2.0 * middle + high
        slope = 0.5 * (high - low)
        safe = np.maximum(bend, 1e-12 + 0.05 * float(np.median(np.abs(bend))))
        step = np.clip(-slope / safe, -1.0, 1.0) * reach
        wanted = centre + step[:, None] * across
        worth = np.maximum(bend, 0.0) + 1e-3 * float(np.mean(np.abs(bend))) + 1e-15
        ends = times(np.array([0.0, times.u_end]))
        fitted = fit_spline(
            dense, wanted, len(times.points), weights=worth / worth.mean(), ends=ends
        )
        times = adjust_increasing(fitted, epsilon=epsilon, ends=ends)
    return times


def _points_at(points: FloatArray, frames: FloatArray) -> FloatArray:
    low = np.minimum(np.floor(frames).astype(np.int64), len(points) - 1)
    high = np.minimum(low + 1, len(points) - 1)
    t = (frames - low)[:, None, None]
    return np.asarray(points[low] + t * (points[high] - points[low]))


def path_between_pins(
    cost: FloatArray, pins: Sequence[tuple[int, int]], *, slope_limit: int
) -> TimePath:
    """The cheapest path through every pinned pair of frames, from the first pin to the last."""
    parts: list[IntArray] = []
    total = 0.0
    for (i, j), (k, m) in pairwise(pins):
        if k <= i or m <= j:
            raise RegistrationError(
                f"Pinned pairs must go forward in both motions, got ({i}, {j}) before ({k}, {m})."
            )
        part = find_corner_path(cost[i : k + 1, j : m + 1], slope_limit=slope_limit)
        first = 1 if parts else 0
        parts.append(part.cells[first:] + np.array([i, j]))
        total += part.cost - (float(cost[i, j]) if first else 0.0)
    return TimePath(np.concatenate(parts), total)
