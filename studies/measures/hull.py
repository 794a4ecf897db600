"""Hulls: what soles cover of the ground, and how far a point lies outside it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom._core import kernel
from motionloom.tables.collection.clip_frames import FloatArray32

__all__ = ["hull_distances", "hull_of", "hulls_of_feet", "misses_of_hulls", "sole_corners"]

MOST_CORNERS = 10
"""Places for the corners of two soles' hull."""

_corners = kernel("ml_sole_corners")
_find = kernel("ml_hull_find")
_distance = kernel("ml_hull_distance")
_of_feet = kernel("ml_hull_of_feet")
_misses = kernel("ml_hull_misses")


def sole_corners(plants: npt.ArrayLike, sole: FloatArray32) -> FloatArray32:
    """Corners (n, 4, 2) of soles.

    Parameters
    ----------
    plants : (n, 4)
        Ball (x, z) and direction (x, z) of each.
    sole : (4,)
        Heel behind the ball, tip before it, half the foot's breadth, stature; metres.
    """
    given = np.ascontiguousarray(plants, dtype=np.float32)
    out = np.zeros((len(given), 4, 2), dtype=np.float32)
    _corners(len(given), given, sole, out)
    return out


def hull_of(points: npt.ArrayLike) -> FloatArray32:
    """Corners (m, 2) of the convex hull of points (n, 2), anticlockwise from the lowest x.

    Points in one line give its two ends, equal points one.
    """
    given = np.array(points, dtype=np.float32).reshape(-1, 2)
    out = np.zeros((len(given) + 1, 2), dtype=np.float32)
    return out[: _find(len(given), given, out)]


def hull_distances(corners: FloatArray32, points: npt.ArrayLike) -> FloatArray32:
    """Distances (n,) of points (n, 2) from a convex polygon with corners (m, 2), 0 inside.

    One corner is a point, two are a segment.
    """
    given = np.asarray(points, dtype=np.float32).reshape(-1, 2)
    x, z = (np.ascontiguousarray(given[:, c]) for c in (0, 1))
    out = np.zeros_like(x)
    _distance(len(corners), np.ascontiguousarray(corners), len(x), x, z, out)
    return out


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
