"""Plain forms of what a source does in the frames that were copied from it."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from motionloom._arrays import BoolArray, FloatArray
from tests.oracles.soles import SOLES, tested_points
from tests.oracles.soles import drags as soles_drags

__all__ = ["drags", "grounds", "joints"]


def joints(values: FloatArray, first: int, stop: int) -> FloatArray:
    """Rows ``first`` to ``stop`` of values (F, ...), each the largest of it and its neighbours."""
    at = np.arange(first, stop)
    around = [values[np.clip(at + step, 0, len(values) - 1)] for step in (-1, 0, 1)]
    return np.asarray(np.maximum.reduce(around))


def grounds(
    soles: FloatArray,
    planted: BoolArray,
    first: int,
    start: int,
    n: int,
    *,
    near: int,
    sink: float,
    more: float,
) -> FloatArray:
    """How low sole points may be, and how far contacts may slide. (F, 6, 5)."""
    out, points = np.full((len(planted), 6, 5), np.inf), tested_points(soles)
    out[..., 0] = -np.inf
    for point in range(6):
        column = planted[:, SOLES[point]]
        for begun, ended in _runs(column[first : first + n]):
            low, high = start + begun, start + ended
            around = np.full(ended - begun + 2 * near, np.inf)
            heights = points[max(low - near, 0) : high + near, point, 1]
            skipped = max(near - low, 0)
            around[skipped : skipped + len(heights)] = heights
            here, there = first + begun, first + ended
            lowest = sliding_window_view(around, 2 * near + 1).min(axis=1)
            if point < 4:
                out[here:there, point, 0] = lowest - sink
            goes_on = (here > 0 and column[here - 1]) or (there < len(column) and column[there])
            if not goes_on:
                box = np.ptp(points[low:high, point][:, [0, 2]], axis=0)
                out[here, point, 1] = more * float(np.hypot(*box))
    return out


def drags(
    soles: FloatArray,
    floor: FloatArray,
    fps: float,
    first: int,
    start: int,
    n: int,
    *,
    near: int,
    more: float,
) -> FloatArray:
    """How far tested points may be dragged in the copied frames at each height. (n, 6, 3)."""
    dragged = soles_drags(soles, floor, fps)
    ways = np.linalg.norm(np.diff(tested_points(soles)[..., [0, 2]], axis=0), axis=-1)
    out = np.zeros((n, *dragged.shape[1:]))
    for point, height in np.ndindex(out.shape[1:]):
        for begun, ended in _runs(dragged[:, point, height]):  # steps into the frames after these
            for t in range(n):
                if begun + 1 - near <= start + t < ended + 1 + near:
                    way = more * ways[begun:ended, point].sum()
                    out[t, point, height] = max(out[t, point, height], way)
    return out


def _runs(flags: BoolArray) -> list[tuple[int, int]]:
    """First frame of every run of true flags, and the one after its last."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return [(int(first), int(stop)) for first, stop in zip(edges[::2], edges[1::2], strict=True)]
