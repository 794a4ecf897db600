"""Windows of a track about the edges of plants."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray, IntArray


def edge_windows(
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
