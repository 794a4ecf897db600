"""Hulls: what soles cover of the ground, and how far a point lies outside it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from motionloom._core import kernel
from motionloom.tables.collection.frames import FloatArray32

__all__ = ["hull_distances", "hull_of", "sole_corners"]

_corners = kernel("ml_sole_corners")
_find = kernel("ml_hull_find")
_distance = kernel("ml_hull_distance")


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
