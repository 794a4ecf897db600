"""Labels of foot points that are true."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.motion.motion import runs_of

STANDS, EXTENT = 0.3, 0.019


def keep_true_labels(points: FloatArray, fps: float, planted: BoolArray) -> BoolArray:
    """Labels (L, P) of points (L, P, 3) without those in frames in which they move."""
    kept = np.array(planted)
    fast = np.linalg.norm(np.diff(points, axis=0), axis=-1) > STANDS / fps
    moves = fast & planted[1:] & planted[:-1]
    kept[1:] &= ~moves
    kept[:-1] &= ~moves
    for p in range(planted.shape[1]):
        for first, last in runs_of(kept[:, p].copy()):
            middle = (first + last) // 2
            far = np.linalg.norm(points[:, p] - points[middle, p], axis=-1) > EXTENT
            after, before = far[middle : last + 1], far[first : middle + 1][::-1]
            kept[middle : last + 1, p] = np.cumsum(after) == 0
            kept[first : middle + 1, p] = (np.cumsum(before) == 0)[::-1]
    return kept
