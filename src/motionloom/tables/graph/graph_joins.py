"""Places where two stretches of a collection are similar: local minima of the grid of distances.

All pairs of frames of all clips make one grid, looked at in tiles, so that memory does not grow
with the collection. Time does, with the square of its length: 30,000 frames at a quarter of their
rate are 29 million cells and take seconds, ten times as many take minutes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom._core import kernel
from motionloom._records import record
from motionloom.registration.timewarp import distance_grid
from motionloom.tables.collection.frames import FloatArray32, Frames, release_frames
from motionloom.tables.index.windows import compared_joints

TILE = 1024
"""Rows and columns of one tile of the grid: 25 MB."""

_minima = kernel("ml_place_minima")


@dataclass(frozen=True, slots=True, eq=False)
@record
class Nodes:
    """Every n-th frame of every clip, with its joints in the world of the clip.

    Attributes
    ----------
    rows : array of int
        Row of the collection. (N,)
    clips : array of int
        Which clip each belongs to. (N,)
    points : array
        Compared joints, about the clip's own ground centre, metres. (N, P, 3)
    stride : int
        Frames from one node of a clip to the next.
    """

    rows: IntArray
    clips: IntArray
    points: FloatArray32
    stride: int

    def inside(self, margin: int) -> BoolArray:
        """Nodes with ``margin`` nodes of their own clip before and after. (N,).

        Returns
        -------
        (N,) array of bool
            Which nodes are that far from the ends of their clip.
        """
        same = np.ones(len(self.rows), dtype=bool)
        for shift in range(1, margin + 1):
            together = self.clips[shift:] == self.clips[:-shift]
            same[:shift] = False
            same[len(same) - shift :] = False
            same[shift:] &= together
            same[: len(same) - shift] &= together
        return same


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Pairs of nodes around which two stretches are most similar; each pair once, ``a < b``."""

    a: IntArray
    """Node in the middle of the first stretch. (M,)"""
    b: IntArray
    """Node in the middle of the second. (M,)"""
    distance_cm: FloatArray
    """Root mean square distance of their joints at the best alignment. (M,)"""


def nodes_of(frames: Frames, *, stride: int) -> Nodes:
    """Every ``stride``-th frame of every clip, each clip from its first frame on."""
    ends = zip(frames.starts[:-1], frames.starts[1:], strict=True)
    rows = [np.arange(first, end, stride) for first, end in ends]
    clips = np.repeat(np.arange(frames.n_clips), [len(r) for r in rows])
    joined = np.concatenate(rows).astype(np.int64)
    joints = compared_joints(frames.skeleton, frames.body_map)
    points = np.zeros((len(joined), len(joints), 3), dtype=np.float32)
    first = 0
    for r in rows:
        points[first : first + len(r)] = _in_the_world(frames, r, joints)
        first += len(r)
    release_frames(frames)
    return Nodes(joined, clips.astype(np.int64), points, stride)


def _in_the_world(frames: Frames, rows: IntArray, joints: IntArray) -> FloatArray:
    """Joints of one clip's rows as they stood; far from the origin the grid's sums would cancel."""
    body = frames.body[rows][:, joints].astype(np.float64)
    heading, ground = frames.heading[rows], frames.ground[rows]
    ground = ground - ground.mean(axis=0)
    cos, sin = np.cos(heading)[:, None], np.sin(heading)[:, None]
    x = cos * body[..., 0] + sin * body[..., 2] + ground[:, :1]
    z = cos * body[..., 2] - sin * body[..., 0] + ground[:, 1:]
    return np.stack([x, body[..., 1], z], axis=-1)


def find_places(
    nodes: Nodes,
    *,
    half_window: int,
    threshold_cm: float,
    tile: int = TILE,
    progress: Callable[[float], None] | None = None,
) -> Places:
    """Every pair of nodes nearer to each other than all eight neighbours and than a threshold.

    The windows of ``2 half_window + 1`` nodes around both must lie inside their clips. A clip is
    always like itself: pairs nearer in time than one window are left out.

    Parameters
    ----------
    nodes
        From :func:`nodes_of`.
    half_window
        Nodes before and after that count too.
    threshold_cm
        Largest root mean square distance.
    tile
        Rows and columns that are made together; changes memory and nothing else.
    progress
        Gets the part that is done after every tile, 1 in all.
    """
    limit = (0.01 * threshold_cm) ** 2
    usable = nodes.inside(half_window)
    halo = half_window + 1
    n = len(nodes.rows)
    weights = np.ones(nodes.points.shape[1])
    minima: list[tuple[IntArray, IntArray, FloatArray]] = []
    corners = [(i, j) for i in range(0, n, tile) for j in range(i, n, tile)]
    for i, j in corners:
        above, left = max(0, i - halo), max(0, j - halo)
        rows, columns = slice(above, i + tile + halo), slice(left, j + tile + halo)
        a_points, b_points = (nodes.points[part].astype(np.float64) for part in (rows, columns))
        cost = distance_grid(a_points, b_points, weights, half_window=half_window).cost
        cost[~usable[rows]] = np.inf
        cost[:, ~usable[columns]] = np.inf
        a, b = np.nonzero(strict_minima(cost, limit))
        distance = np.sqrt(cost[a, b])
        a, b = a + above, b + left
        mine = (a >= i) & (a < i + tile) & (b >= j) & (b < j + tile) & (a < b)
        mine &= (nodes.clips[a] != nodes.clips[b]) | (b - a > 2 * half_window)
        minima.append((a[mine], b[mine], 100.0 * distance[mine]))
        if progress is not None:
            progress(1.0 / len(corners))
    a, b, distance = (np.concatenate(column) for column in zip(*minima, strict=True))
    order = np.lexsort((b, a))
    return Places(a[order], b[order], distance[order])


def strict_minima(cost: FloatArray, limit: float) -> BoolArray:
    """Cells at most ``limit`` that lie below all eight neighbours; outside the grid is above."""
    lowest = np.zeros(cost.shape, dtype=np.bool_)
    _minima(
        len(cost), cost.shape[1], np.ascontiguousarray(cost, dtype=np.float64), float(limit), lowest
    )
    return lowest
