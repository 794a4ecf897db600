"""Hulls: what soles cover of the ground, and how far a point lies outside it."""

from __future__ import annotations

import numpy as np
from numba import njit

from motionloom.transitions.collecting.frames import FloatArray32
from motionloom.transitions.compiled import inner, variable

__all__ = ["beyond_edges", "distance_outside", "hull_into", "soles_into"]

FAST = {"contract", "reassoc", "nsz", "arcp", "nnan"}
"""Sums may be reordered; points are finite."""


@njit(cache=True, error_model="numpy", boundscheck=False, fastmath=FAST)
def soles_into(
    chosen: FloatArray32, left: int, right: int, sole: FloatArray32, out: FloatArray32
) -> int:
    """Corners of the soles of plants ``left`` and ``right`` (-1 for none); how many were written.

    Parameters
    ----------
    chosen : (2, M, 4)
        Ball (x, z) and direction (x, z) of the plants of each foot.
    left, right
        Which of them stand.
    sole : (3 or more,)
        Heel behind the ball, tip before it, half the foot's breadth; metres.
    out : (8 or more, 2)
        Room for the corners.
    """
    n = 0
    for s in range(2):
        k = left if s == 0 else right
        if k < 0:
            continue
        x, z, dx, dz = chosen[s, k, 0], chosen[s, k, 1], chosen[s, k, 2], chosen[s, k, 3]
        for end in range(2):
            along = -sole[0] if end == 0 else sole[1]
            for edge in range(2):
                across = -sole[2] if edge == 0 else sole[2]
                out[n, 0] = x + along * dx - across * dz
                out[n, 1] = z + along * dz + across * dx
                n += 1
    return n


@njit(cache=True, error_model="numpy", boundscheck=False, fastmath=FAST)
def hull_into(points: FloatArray32, n: int, out: FloatArray32) -> int:
    """Corners of the convex hull of the first ``n`` points, anticlockwise from the lowest x.

    Andrew's monotone chain. ``points`` come out sorted; ``out`` needs room for ``n + 1``. Points
    in one line give its two ends, equal points one.
    """
    for i in range(1, n):
        x, z = points[i, 0], points[i, 1]
        j = i
        while j > 0 and (points[j - 1, 0] > x or (points[j - 1, 0] == x and points[j - 1, 1] > z)):
            points[j, 0], points[j, 1] = points[j - 1, 0], points[j - 1, 1]
            j -= 1
        points[j, 0], points[j, 1] = x, z
    k = variable(0)
    for i in range(n):
        while k >= 2 and _turn(out, k, points, i) <= 0.0:
            k -= 1
        out[k, 0], out[k, 1] = points[i, 0], points[i, 1]
        k += 1
    lower = k + 1
    for i in range(n - 2, -1, -1):
        while k >= lower and _turn(out, k, points, i) <= 0.0:
            k -= 1
        out[k, 0], out[k, 1] = points[i, 0], points[i, 1]
        k += 1
    return max(k - 1, min(n, 1))


@inner(error_model="numpy", boundscheck=False, fastmath=FAST)
def _turn(chain: FloatArray32, k: int, points: FloatArray32, i: int) -> float:
    """Above 0 where the way over the chain's last two corners to a point turns left."""
    ax, az = chain[k - 2, 0], chain[k - 2, 1]
    bx, bz = chain[k - 1, 0], chain[k - 1, 1]
    turn: float = (bx - ax) * (points[i, 1] - az) - (bz - az) * (points[i, 0] - ax)
    return turn


@njit(cache=True, error_model="numpy", boundscheck=False, fastmath=FAST)
def beyond_edges(
    corners: FloatArray32,
    n: int,
    x: FloatArray32,
    z: FloatArray32,
    begin: int,
    end: int,
    out: FloatArray32,
) -> None:
    """For points ``begin`` to ``end - 1``, a number above 0 where they lie outside a polygon.

    Cheaper than distances, which few points need.
    """
    # Unsigned, so that numba need not look whether they count from the end.
    first, last = np.uint64(begin), np.uint64(end)
    for t in range(first, last):
        out[t] = np.float32(1.0) if n < 3 else np.float32(-1.0)
    if n < 3:
        return
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        px, pz = corners[i, 0], corners[i, 1]
        ex, ez = corners[j, 0] - px, corners[j, 1] - pz
        for t in range(first, last):
            out[t] = max(out[t], ez * (x[t] - px) - ex * (z[t] - pz))


@njit(cache=True, error_model="numpy", boundscheck=False, fastmath=FAST)
def distance_outside(corners: FloatArray32, n: int, x: np.float32, z: np.float32) -> np.float32:
    """Distance of a point from a convex polygon with ``n`` corners; 0 inside.

    One corner is a point, two are a segment.
    """
    least = np.float32(np.inf)
    inside = n >= 3
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        ex, ez = corners[j, 0] - corners[i, 0], corners[j, 1] - corners[i, 1]
        dx, dz = x - corners[i, 0], z - corners[i, 1]
        if n >= 3 and ex * dz - ez * dx >= np.float32(0.0):
            continue
        inside = False
        size = ex * ex + ez * ez
        u = (ex * dx + ez * dz) / size if size > np.float32(0.0) else np.float32(0.0)
        u = min(np.float32(1.0), max(np.float32(0.0), u))
        square = (dx - u * ex) ** 2 + (dz - u * ez) ** 2
        if square < least:
            least = square
    away: np.float32 = np.float32(0.0) if inside else np.sqrt(least)
    return away
