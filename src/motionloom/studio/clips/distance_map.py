"""Distance map: how far the bodies of two clips are apart at every pair of frames."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray
from motionloom._progress import report_step
from motionloom.body.body_map import BodyMap
from motionloom.features.pointcloud import point_cloud
from motionloom.motion.motion import Motion
from motionloom.registration.distance import distance_grid

MOST_CELLS = 240
"""Rows or columns of the map."""
RATE_HZ = 30.0
WINDOW_S = 0.17
"""Rate and window of the comparison: those of the search for places."""
BLOCK_CELLS = 2_000_000
"""Pairs of frames that are compared at a time."""
HIGH = 98.0
"""Percentile of the distances at which the map's scale ends."""


@dataclass(frozen=True, slots=True, eq=False)
class DistanceMap:
    """Distances in metres; a cell of several frames has the smallest of them."""

    distances: FloatArray
    """Shape (n, m), float32."""
    best: npt.NDArray[np.int32]
    """Frames of A and B at which each cell has its distance. Shape (n, m, 2)."""
    stride: int
    """Frames of A and of B in a cell."""

    @property
    def range_m(self) -> tuple[float, float]:
        """Ends of the scale: the smallest distance, and one that few cells exceed."""
        return float(self.distances.min()), float(np.percentile(self.distances, HIGH))


def distance_map(a: Motion, b: Motion, *, body: BodyMap) -> DistanceMap:
    """The distance map of two clips on one skeleton at one rate."""
    step = max(1, round(a.fps / RATE_HZ))
    clouds = [point_cloud(motion, body=body) for motion in (a, b)]
    rows, columns = (cloud.points[::step] for cloud in clouds)
    group = -(-max(len(rows), len(columns)) // MOST_CELLS)
    half = max(1, round(0.5 * (WINDOW_S * a.fps / step - 1.0)))
    high = max(1, BLOCK_CELLS // (len(columns) * group)) * group
    parts = []
    for first in range(0, len(rows), high):
        report_step("comparing the clips", first, len(rows))
        low, end = max(0, first - half), min(len(rows), first + high + half)
        cost = distance_grid(rows[low:end], columns, clouds[0].weights, half_window=half).cost
        block = np.sqrt(cost[first - low : first - low + high]).astype(np.float32)
        parts.append(_smallest(block, group, first))
    distances, best = (np.concatenate(each) for each in zip(*parts, strict=True))
    return DistanceMap(distances, best * np.int32(step), step * group)


def _smallest(
    block: npt.NDArray[np.float32], group: int, first: int
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int32]]:
    """Smallest distance of every cell of ``group`` by ``group`` pairs, and where it is."""
    n, m = -(-block.shape[0] // group), -(-block.shape[1] // group)
    padded = np.full((n * group, m * group), np.inf, dtype=np.float32)
    padded[: block.shape[0], : block.shape[1]] = block
    cells = padded.reshape(n, group, m, group).swapaxes(1, 2).reshape(n, m, group * group)
    at = np.argmin(cells, axis=-1)
    row = first + group * np.arange(n)[:, None] + at // group
    column = group * np.arange(m)[None, :] + at % group
    return cells.min(axis=-1), np.stack([row, column], axis=-1).astype(np.int32)
