"""Registration of two clips: a path through their grid, and the curve along it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.registration.distance import Aligned
from motionloom.registration.grids import Grids
from motionloom.registration.long_clips import MOST_CELLS, find_long_path
from motionloom.registration.pair_curve import PairCurve, fit_pair, path_between_pins
from motionloom.registration.registration_settings import RegistrationSettings
from motionloom.registration.timewarp import (
    TimePath,
    find_corner_path,
    find_open_path,
    find_path_through,
)


def register_two(
    grids: Grids,
    settings: RegistrationSettings,
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
            lambda cost: find_path(cost, settings, []),
            slope_limit=settings.slope_limit,
            to_corner=settings.ends == "match",
        )
        return fit_clips(grids, long, path, (0, 1), settings)
    grid = grids(0, 1)
    marks = [(min(i // stride, n - 1), min(j // stride, m - 1)) for i, j in pins]
    if at is not None:
        marks = sorted({*marks, (min(at[0] // stride, n - 1), min(at[1] // stride, m - 1))})
    path = find_path(grid.cost, settings, marks, int(np.ceil(settings.least_s * grids.rate)) + 1)
    given = [*pins, *([at] if at is not None else [])]
    exact = [(i / stride, j / stride) for i, j in given]
    return fit_clips(grids, grid, path, (0, 1), settings, exact)


def find_path(
    cost: FloatArray,
    settings: RegistrationSettings,
    marks: list[tuple[int, int]],
    at_least: int = 1,
) -> TimePath:
    """The time path through a grid (n, m) that goes through the given cells."""
    limit = settings.slope_limit
    n, m = cost.shape
    if settings.ends == "match":
        corners = [(0, 0), *marks, (n - 1, m - 1)]
        pins = [p for k, p in enumerate(corners) if k == 0 or p != corners[k - 1]]
        if len(pins) == 2:
            return find_corner_path(cost, slope_limit=limit)
        return path_between_pins(cost, pins, slope_limit=limit)
    if not marks:
        return find_open_path(cost, slope_limit=limit, cover=settings.cover)
    first = find_path_through(cost, *marks[0], slope_limit=limit, at_least=at_least)
    if len(marks) == 1:
        return first
    before = first.cells[: int(np.flatnonzero((first.cells == marks[0]).all(axis=1))[0])]
    middle = path_between_pins(cost, marks, slope_limit=limit)
    last = find_path_through(cost, *marks[-1], slope_limit=limit, at_least=at_least)
    after = last.cells[int(np.flatnonzero((last.cells == marks[-1]).all(axis=1))[0]) + 1 :]
    cells = np.concatenate([before, middle.cells, after])
    return TimePath(cells, float(cost[tuple(cells.T)].sum()))


def fit_clips(
    grids: Grids,
    grid: Aligned,
    path: TimePath,
    pair: tuple[int, int],
    settings: RegistrationSettings,
    pins: Sequence[tuple[float, float]] = (),
) -> PairCurve:
    """The curve of a reference and another clip, by their numbers, along a path through a grid."""
    reference, other = (grids.clips[k] for k in pair)
    return fit_pair(
        grid,
        path,
        other,
        reference,
        frames_per_knot=max(settings.knot_s * grids.rate, 1.0),
        epsilon=settings.epsilon,
        clouds=(reference.points, other.points, grids.weights) if settings.refine else None,
        pins=pins,
    )
