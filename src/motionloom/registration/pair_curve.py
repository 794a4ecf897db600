"""Registration of two clips: a path through their grid, and the curve along the path.

The alignment curve says where a motion must be moved to stand with the reference, over time. Turn
and place are not splined as the transform's own three numbers: far from the world's origin a small
error of the turn would throw the place by metres. Splined instead are the turn and how far from the
reference's root the motion's own root comes to lie: small numbers that change slowly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom._records import record
from motionloom.errors import RegistrationError
from motionloom.registration.curve import Spline, adjust_increasing, fit_spline
from motionloom.registration.timewarp import (
    MOST_CELLS,
    Aligned,
    Grids,
    TimePath,
    find_corner_path,
    find_long_path,
    find_open_path,
    find_path_through,
    fit_planar_alignment,
)
from motionloom.rotation.quat import PlanarTransform

PIN_WEIGHT = 1e4
"""Weight of a pair of frames given by hand, against 1 for a detected pair."""
TRUSTED, DISTRUSTED = np.radians(30.0), np.radians(60.0)
"""A turn up to the first angle from the one between the bodies' headings is kept; a turn beyond the
second is not."""


@dataclass(frozen=True, slots=True)
class CurveRules:
    """How the times of a curve may bend; :func:`motionloom.register` describes every rule."""

    closed: bool
    """Whether first frames are forced together, and last frames."""
    slope_limit: int
    epsilon: float
    knot_s: float
    cover: float
    least_s: float
    refine: bool


@dataclass(frozen=True, slots=True, eq=False)
@record
class PairCurve:
    """Times and alignment of a motion against a reference, in frames of the grid."""

    times: Spline
    """Frame of the reference, frame of the motion. (n, 2)"""
    alignment: Spline
    """Turn, and offset from the reference's root. (n, 3)"""
    path: TimePath


def register_two(
    grids: Grids,
    rules: CurveRules,
    at: tuple[int, int] | None,
    pins: Sequence[tuple[int, int]],
) -> PairCurve:
    """The curve of two clips, the first of which is the reference."""
    n, m = (len(clip.points) for clip in grids.clips)
    stride = grids.stride
    if n * m > MOST_CELLS and at is None and not pins:
        long = grids.long(0, 1)
        path = find_long_path(
            long,
            lambda cost: find_path(cost, rules, []),
            slope_limit=rules.slope_limit,
            to_corner=rules.closed,
        )
        return fit_clips(grids, long, path, (0, 1), rules)
    grid = grids(0, 1)
    marks = [(min(i // stride, n - 1), min(j // stride, m - 1)) for i, j in pins]
    if at is not None:
        marks = sorted({*marks, (min(at[0] // stride, n - 1), min(at[1] // stride, m - 1))})
    path = find_path(grid.cost, rules, marks, int(np.ceil(rules.least_s * grids.rate)) + 1)
    given = [*pins, *([at] if at is not None else [])]
    exact = [(i / stride, j / stride) for i, j in given]
    return fit_clips(grids, grid, path, (0, 1), rules, exact)


def find_path(
    cost: FloatArray,
    rules: CurveRules,
    marks: list[tuple[int, int]],
    at_least: int = 1,
) -> TimePath:
    """The time path through a grid (n, m) that goes through the given cells."""
    limit = rules.slope_limit
    n, m = cost.shape
    if rules.closed:
        corners = [(0, 0), *marks, (n - 1, m - 1)]
        pins = [p for k, p in enumerate(corners) if k == 0 or p != corners[k - 1]]
        if len(pins) == 2:
            return find_corner_path(cost, slope_limit=limit)
        return path_between_pins(cost, pins, slope_limit=limit)
    if not marks:
        return find_open_path(cost, slope_limit=limit, cover=rules.cover)
    first = find_path_through(cost, *marks[0], slope_limit=limit, at_least=at_least)
    if len(marks) == 1:
        return first
    before = first.cells[: int(np.flatnonzero((first.cells == marks[0]).all(axis=1))[0])]
    middle = path_between_pins(cost, marks, slope_limit=limit)
    last = find_path_through(cost, *marks[-1], slope_limit=limit, at_least=at_least)
    after = last.cells[int(np.flatnonzero((last.cells == marks[-1]).all(axis=1))[0]) + 1 :]
    cells = np.concatenate([before, middle.cells, after])
    return TimePath(cells, float(cost[tuple(cells.T)].sum()))


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


def fit_clips(
    grids: Grids,
    grid: Aligned,
    path: TimePath,
    pair: tuple[int, int],
    rules: CurveRules,
    pins: Sequence[tuple[float, float]] = (),
) -> PairCurve:
    """Fit strictly increasing times and an alignment along a path through a grid.

    Parameters
    ----------
    grids
        All clips.
    grid
        Reference against motion.
    path
        Matched frames.
    pair
        Numbers of the reference and of the motion.
    rules
        How times may bend.
    pins
        Pairs of frames of the grid, fractional, that the times should go through.
    """
    if len(path.cells) < 2:
        raise RegistrationError(
            "The motions share a single frame, too little for a curve. Choose longer clips."
        )
    reference, other = (grids.clips[k] for k in pair)
    cells = path.cells.astype(np.float64)
    weights = np.ones(len(cells))
    for pin in pins:
        nearest = int(np.argmin(np.sum((cells - pin) ** 2, axis=1)))
        cells[nearest], weights[nearest] = pin, PIN_WEIGHT
    u, n_points = parameters_of(cells, max(rules.knot_s * grids.rate, 1.0))
    ends = cells[[0, -1]]
    fitted = fit_spline(u, cells, n_points, weights=weights, ends=ends)
    times = adjust_increasing(fitted, epsilon=rules.epsilon, ends=ends)
    if rules.refine:
        clouds = reference.points, other.points, grids.weights
        times = refine_times(times, u, *clouds, epsilon=rules.epsilon)
    samples = alignment_samples(
        grid,
        path.cells,
        other.roots,
        reference.roots,
        headings=(other.headings, reference.headings),
    )
    return PairCurve(times, fit_alignment(u, samples, n_points), path)


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
    """Move times to where single frames fit best, to a small part of a frame.

    A window compares frames before and after as if both motions ran at one rate, which biases the
    path where they do not. Here single frames are compared, between samples too: at every sample
    the distance is read a little to either side across the path, its parabola gives the place of
    the minimum, and its curvature the weight of that place.
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


def alignment_samples(
    grid: Aligned,
    cells: IntArray,
    roots: FloatArray,
    reference_roots: FloatArray,
    *,
    width: int = 5,
    headings: tuple[FloatArray, FloatArray] | None = None,
) -> FloatArray:
    """Turn and root offset along a path, unwrapped and freed of outliers. (N, 3).

    Parameters
    ----------
    grid
        Reference against motion.
    cells : (N, 2)
        Matched frames of the two.
    roots : (m, 3)
        The motion's root positions at the grid's frames, metres.
    reference_roots : (n, 3)
        The reference's.
    width
        Frames of the median filter, odd.
    headings : (m,), (n,)
        Where the motion's body and the reference's face at the grid's frames, radians; where given,
        they guard the turn.
    """
    i, j = cells.T
    theta, offset = grid.alignment(i, j)
    carried = PlanarTransform(theta, offset[:, 0], offset[:, 1]).apply(roots[j])
    if headings is not None and np.isfinite(headings[0]).all() and np.isfinite(headings[1]).all():
        theta = guarded_turns(theta, headings[1][i] - headings[0][j])
    theta = np.unwrap(theta)
    apart = carried - reference_roots[i]
    # A median of coordinates depends on the axes: it is taken along and across the reference's
    # path, so that turning the world changes nothing.
    path = reference_roots[i[-1]] - reference_roots[i[0]]
    along = PlanarTransform(-np.arctan2(path[0], path[2]), 0.0, 0.0)
    local = along.apply(apart)
    filtered = median_filter(np.stack([theta, local[:, 0], local[:, 2]], axis=-1), width)
    back = along.inverse().apply(
        np.stack([filtered[:, 1], np.zeros_like(theta), filtered[:, 2]], axis=-1)
    )
    return np.stack([filtered[:, 0], back[:, 0], back[:, 2]], axis=-1)


def guarded_turns(theta: FloatArray, faced: FloatArray) -> FloatArray:
    """Turns of clouds, (N,), as far as they agree with how much the bodies face apart, ``faced``.

    Two bodies in opposite phases of a step fit best when one is turned until its legs and arms lie
    over the other's: a turn of the cloud that the body does not have. A turn within 30 degrees of
    the bodies' own is kept; beyond 60 degrees the bodies' own is used, and between the two it goes
    over from one to the other.
    """
    apart = np.remainder(theta - faced + np.pi, 2.0 * np.pi) - np.pi
    part = np.clip((np.abs(apart) - TRUSTED) / (DISTRUSTED - TRUSTED), 0.0, 1.0)
    share = 1.0 - part * part * (3.0 - 2.0 * part)
    return np.asarray(np.where(share == 1.0, theta, faced + share * apart))


def median_filter(values: FloatArray, width: int) -> FloatArray:
    """Running median along the first axis; towards the ends the window shrinks. (N, K)."""
    n, half = len(values), width // 2
    out = np.array(values)
    if n > 2 * half:
        windows = np.lib.stride_tricks.sliding_window_view(values, 2 * half + 1, axis=0)
        out[half : n - half] = np.median(windows, axis=-1)
    for i in [*range(min(half, n)), *range(max(n - half, 0), n)]:
        reach = min(half, i, n - 1 - i)
        out[i] = np.median(values[i - reach : i + reach + 1], axis=0)
    return out


def fit_alignment(u: FloatArray, samples: FloatArray, n_points: int) -> Spline:
    """Spline of turn and root offset through samples at ``u``."""
    return fit_spline(u, samples, n_points)
