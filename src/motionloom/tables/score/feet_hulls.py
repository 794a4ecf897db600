"""Hulls of feet: what both soles cover of the ground, and how far points lie outside it."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom._core import kernel
from motionloom.tables.collection.clip_frames import FloatArray32

MOST_CORNERS = 10
"""Places for the corners of two soles' hull."""

_of_feet = kernel("ml_hull_of_feet")
_misses = kernel("ml_hull_misses")


def hulls_of_feet(soles: FloatArray32, stands: BoolArray) -> tuple[FloatArray32, IntArray]:
    """Hull corners (n, 10, 2) of soles (n, 2, 4, 2) where they stand (n, 2); their numbers (n,)."""
    corners = np.zeros((len(soles), MOST_CORNERS, 2), dtype=np.float32)
    counts = np.zeros(len(soles), dtype=np.int64)
    _of_feet(len(soles), soles, np.ascontiguousarray(stands), corners, counts)
    return corners, counts


def misses_of_hulls(points: FloatArray32, corners: FloatArray32, counts: IntArray) -> FloatArray:
    """Distances (n,) of points (n, 2) from hulls, one each."""
    out = np.zeros(len(points))
    _misses(len(points), points, corners, counts, out)
    return out
