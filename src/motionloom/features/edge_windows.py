"""Windows of a track about the edges of plants, as the evidence for an edge is asked of them."""

from __future__ import annotations

import numpy as np
from numba import njit

from motionloom._arrays import FloatArray, IntArray

__all__ = ["edge_windows", "edge_windows_numpy"]


@njit(cache=True, error_model="numpy", nogil=True)
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
    width = before + after
    ground, height = np.zeros((width, len(edges), 2)), np.zeros((width, len(edges), 1))
    window = np.zeros((width, 3))
    for m in range(len(edges)):
        start = edges[m] - before * block
        for i in range(width):
            for axis in range(3):
                total = 0.0
                for b in range(block):
                    total += points[start + (width - 1 - i) * block + b, axis]
                window[i, axis] = total / block
        for axis in range(3):
            origin = window[0, axis]
            for i in range(width):
                window[i, axis] -= origin
        near, far = min(3, width), min(2, width)
        x, z = 0.0, 0.0
        for i in range(width - far, width):
            x += window[i, 0] / far
            z += window[i, 2] / far
        for i in range(near):
            x -= window[i, 0] / near
            z -= window[i, 2] / near
        length = np.sqrt(x * x + z * z)
        cos, sin = (x / length, z / length) if length > 1e-9 else (1.0, 0.0)
        for i in range(width):
            ground[i, m, 0] = window[i, 0] * cos + window[i, 2] * sin
            ground[i, m, 1] = window[i, 2] * cos - window[i, 0] * sin
            height[i, m, 0] = window[i, 1]
    return ground, height


def edge_windows_numpy(
    points: FloatArray, edges: IntArray, before: int, after: int, block: int
) -> tuple[FloatArray, FloatArray]:
    """The plain form of :func:`edge_windows`."""
    windows = np.stack([points[e - before * block : e + after * block] for e in edges])
    windows = windows.reshape(len(edges), before + after, block, 3).mean(axis=2)
    windows = windows[:, ::-1] - windows[:, -1:]
    leave = windows[:, -2:, [0, 2]].mean(axis=1) - windows[:, :3, [0, 2]].mean(axis=1)
    length = np.linalg.norm(leave, axis=-1, keepdims=True)
    along = np.where(length > 1e-9, leave / np.where(length > 1e-9, length, 1.0), [1.0, 0.0])
    x, y, z = np.moveaxis(windows, -1, 0)
    cos, sin = along[:, :1], along[:, 1:]
    ground = np.stack([x * cos + z * sin, z * cos - x * sin], axis=-1)
    return np.ascontiguousarray(ground.transpose(1, 0, 2)), np.ascontiguousarray(y.T[..., None])
