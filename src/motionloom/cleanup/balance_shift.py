"""The smallest shift of a body that brings its zero moment point over the feet that stand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom._core import kernel
from motionloom.features.balance import GRAVITY, SMOOTH_S, way_to_support
from motionloom.features.support import Support

_solve = kernel("ml_spline_solve")

MOVED = 0.84
"""Part of the body's mass that a shift of the root moves: legs whose feet stand move by half."""
STILL = 0.3
"""Square of what a metre of shift counts, in metres of the point outside the soles."""
SMOOTH = 4e-7
"""The same of the shift's jerk, metres per second cubed."""
FREE_FALL = 1e-2
"""The same of its acceleration while the body flies, metres per second squared."""
ENDS = 1e3
"""The same of the shift at both ends of the clip, which stay where they are."""
FARTHEST_M = 0.25
"""A point farther outside the soles has a foot or a hand under it that is no known contact."""
EDGE_S = 0.25
"""Seconds at both ends of a clip that are not corrected: its first and last contacts are cut."""
ROUNDS = 40
"""Times that the nearest points of the soles are found again."""


class _Operators(NamedTuple):
    """Banded operators on a shift of F frames, as dense rows of their diagonals."""

    move: FloatArray
    """What the zero moment point moves by: rows of (before, at, after). (F, 3)"""
    normal: FloatArray
    """Left side of the normal equations, upper bands as ml_spline_solve takes them. (4, F)"""


def balance_shift(
    support: Support, heights: FloatArray, fps: float, *, allowed: float, flying: BoolArray
) -> FloatArray:
    """Shift (x, z) of the body over the ground, metres. Shape (F, 2).

    A body that is shifted by ``s`` moves its zero moment point by ``s - h / (g load) s''`` (the
    cart on a table). The shift minimises the squared distance from the point to the soles, plus a
    little of itself and of its jerk; distances up to ``allowed`` do not count.

    Parameters
    ----------
    support
        The zero moment point, and the soles.
    heights : (F,)
        Of the centre of mass over the ground, metres.
    fps
        Frames per second.
    allowed
        Distance outside the soles that is left as it is, metres.
    flying : (F,)
        Frames in which nothing touches the ground; the shift does not accelerate there.
    """
    n = len(heights)
    points, load = support.zero_moment.points, support.zero_moment.load
    distance = support.distance()
    counts = (np.nan_to_num(distance, nan=np.inf) <= FARTHEST_M) & ~near(
        flying, round(0.5 * SMOOTH_S * fps)
    )
    edge = round(EDGE_S * fps)
    counts[:edge] = False
    counts[n - edge :] = False
    if n < 8 or not counts.any():
        return np.zeros((n, 2))
    lever = np.where(counts, heights / (GRAVITY * np.maximum(np.nan_to_num(load), 0.2)), 0.0)
    operators = _operators(lever, fps, counts, flying)
    places = np.where(counts[:, None], points, 0.0)
    corners, used = support.corners, support.used & counts[:, None]
    shift = np.zeros((n, 2))
    for _ in range(ROUNDS):
        moved = _applied(operators.move, shift)
        way = way_to_support(places + moved, corners, used)
        far = np.linalg.norm(way, axis=-1)
        part = np.where(counts, 1.0 - allowed / np.maximum(np.nan_to_num(far), 1e-9), 0.0)
        wanted = moved + np.maximum(part, 0.0)[:, None] * np.nan_to_num(way)
        wanted[~counts] = 0.0
        shift = _transposed(operators.move, wanted)
        _solve(n, 2, operators.normal.copy(), shift)
    return shift


def _operators(lever: FloatArray, fps: float, counts: BoolArray, flying: BoolArray) -> _Operators:
    """The operators of a shift; see :class:`_Operators`."""
    n = len(lever)
    move = np.zeros((n, 3))
    move[:, 0] = move[:, 2] = -MOVED * lever * fps**2
    move[:, 1] = MOVED * (1.0 + 2.0 * lever * fps**2)
    move[~counts] = 0.0
    move[[0, -1]] = 0.0
    rows = [(move, -1), (np.full((n, 1), np.sqrt(STILL)), 0)]
    jerk = np.tile(np.sqrt(SMOOTH) * fps**3 * np.array([-1.0, 3.0, -3.0, 1.0]), (n, 1))
    jerk[[0, -1, -2]] = 0.0
    bend = np.outer(flying, np.sqrt(FREE_FALL) * fps**2 * np.array([1.0, -2.0, 1.0]))
    bend[[0, -1]] = 0.0
    ends = np.zeros((n, 1))
    ends[[0, 1, -2, -1]] = np.sqrt(ENDS)
    rows += [(jerk, -1), (bend, -1), (ends, 0)]
    normal = np.zeros((4, n))  # upper bands: normal[3 - k, j] is row j - k, column j
    for values, first in rows:
        width = values.shape[1]
        for i in range(width):
            for j in range(i, width):
                product = values[:, i] * values[:, j]
                columns = np.arange(n) + first + j
                inside = (columns >= 0) & (columns < n) & (columns - (j - i) >= 0)
                np.add.at(normal[3 - (j - i)], columns[inside], product[inside])
    return _Operators(move, normal)


def _applied(move: FloatArray, shift: FloatArray) -> FloatArray:
    """What the zero moment point moves by. (F, 2)."""
    out = move[:, 1, None] * shift
    out[1:-1] += move[1:-1, :1] * shift[:-2] + move[1:-1, 2:] * shift[2:]
    return np.asarray(out)


def _transposed(move: FloatArray, wanted: FloatArray) -> FloatArray:
    """Right side of the normal equations. (F, 2)."""
    out = move[:, 1, None] * wanted
    out[:-1] += move[1:, :1] * wanted[1:]
    out[1:] += move[:-1, 2:] * wanted[:-1]
    return np.asarray(out)


def near(flags: BoolArray, frames: int) -> BoolArray:
    """Frames no farther than so many from a flagged one."""
    near = np.convolve(flags, np.ones(2 * frames + 1), mode="same") if len(flags) else flags
    return np.asarray(near[: len(flags)] > 0.5)
