"""Windows of a track about the edges of plants, as the evidence for an edge is asked of them."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom._core import kernel

_windows = kernel("ml_edge_windows")


def edge_windows(
    points: FloatArray, edges: IntArray, before: int, after: int, block: int
) -> tuple[FloatArray, FloatArray]:
    """The track about each of M edges, over the ground (W, M, 2) and upwards (W, M, 1).

    Parameters
    ----------
    points : (F, 3)
        The track, metres.
    edges : (M,)
        First frames of plants.
    before, after
        Blocks outside and inside the plant; W is their sum.
    block
        Frames that are taken together, as their mean.

    Windows run from inside the plant outwards and begin at 0. Each is turned about the vertical so
    that the point leaves along its first axis.
    """
    n, width = len(edges), before + after
    ground, height = np.zeros((width, n, 2)), np.zeros((width, n, 1))
    points = np.ascontiguousarray(points, dtype=np.float64)
    edges = np.ascontiguousarray(edges, dtype=np.int64)
    _windows(len(points), points, n, edges, before, after, block, ground, height)
    return ground, height
