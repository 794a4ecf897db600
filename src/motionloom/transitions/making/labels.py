"""Labels: which foot points are labelled as planted, by where they are in the end."""

from __future__ import annotations

from numba import njit

from motionloom._arrays import BoolArray, FloatArray
from motionloom.transitions.compiled import inner, variable

__all__ = ["keep_true_labels"]

STANDS = 0.3
"""A point that goes faster than this is not planted, m/s."""
EXTENT = 0.019
"""A planted point stays this close to where it is in the middle of its label, metres."""


@njit(cache=True, error_model="numpy")
def keep_true_labels(points: FloatArray, fps: float, planted: BoolArray) -> None:
    """Remove labels (L, P) of foot points (L, P, 3) in frames in which they move.

    Legs do not always reach where a foot should be held, a foot held by its ball turns about it,
    and clips move points that they label as planted.
    """
    n = len(planted)
    for p in range(planted.shape[1]):
        before = planted[0, p]
        for t in range(1, n):
            now = planted[t, p]
            if before and now and _apart(points, p, t, t - 1) > STANDS / fps:
                planted[t - 1, p] = planted[t, p] = False
            before = now
        t = variable(0)
        while t < n:
            if not planted[t, p]:
                t += 1
                continue
            first = t
            while t < n and planted[t, p]:
                t += 1
            _keep_around(points, p, first, t - 1, planted)


@inner(error_model="numpy")
def _keep_around(points: FloatArray, p: int, first: int, last: int, planted: BoolArray) -> None:
    """Remove labels from the first frame on, either way, that is too far from the middle one."""
    middle = (first + last) // 2
    near = True
    for t in range(middle, last + 1):
        near = near and _apart(points, p, t, middle) <= EXTENT
        planted[t, p] = near
    near = True
    for t in range(middle, first - 1, -1):
        near = near and _apart(points, p, t, middle) <= EXTENT
        planted[t, p] = near


@inner(error_model="numpy")
def _apart(points: FloatArray, p: int, a: int, b: int) -> float:
    """Distance of a point between two frames, metres."""
    x = points[a, p, 0] - points[b, p, 0]
    y = points[a, p, 1] - points[b, p, 1]
    z = points[a, p, 2] - points[b, p, 2]
    return float((x * x + y * y + z * z) ** 0.5)
