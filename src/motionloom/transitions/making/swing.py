"""Swing: how far a foot is moved in every frame, held or between two holds."""

from __future__ import annotations

import numpy as np
from numba import njit

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom.transitions.compiled import inner, variable
from motionloom.transitions.making.footing import NOT_HELD
from motionloom.transitions.making.rig import Rows

__all__ = ["clear_ground", "drop_labels", "run_offsets"]

FADE = 15
"""Frames in which an offset runs out where nothing else asks for the foot."""
SLOPE = 20
"""Frames in which a foot that is let go takes up the blend's own speed."""
LIFTED_FROM = 0.03
"""A foot that steps less far than this is not lifted, metres."""
LIFT_PART, LIFT_MOST = 0.15, 0.05
"""Least height of a step: this part of its way, and no more than the second, metres."""
LIFT_HURRY = 1.2e-4
"""A step of n frames is lifted by no more than this times n², metres: quick ones stay low."""
CLEAR = 0.03
FROM_SPEED, TO_SPEED = 0.25, 1.0
"""A free ball is this high over where it stands, metres, when it goes at the second speed, m/s;
less below, nothing below the first."""
RISE = 9
"""Frames in which it gets there."""
STANDS = 0.3
"""A point that goes faster than this is not told to stand, m/s."""


@inner(error_model="numpy")
def _smooth(u: float) -> float:
    if u <= 0.0:
        return 0.0
    return 1.0 if u >= 1.0 else u * u * (3.0 - 2.0 * u)


@inner(error_model="numpy")
def _ebb(frames: int, length: int) -> float:
    """``frames`` at first, 0 with slope 0 from ``length`` on: a slope that runs out."""
    if frames >= length:
        return 0.0
    left = 1.0 - frames / length
    return frames * left * left


@njit(cache=True, error_model="numpy")
def run_offsets(held: IntArray, places: FloatArray, foot: FloatArray, offsets: FloatArray) -> None:
    """Shift of one foot's points in every frame, metres (L, 3).

    In frames held it takes the foot to its place. Between, it goes over from hold to hold with the
    slope that it has there, so that feet do not start at once; it is zero at both seams. A step
    from hold to hold is lifted off the ground where the blend would drag it.

    Parameters
    ----------
    held : (L,)
        Number of the plant, or ``NOT_HELD``.
    places : (L, 3)
        Where the foot is to be in frames held.
    foot : (L, 3)
        Where the blend has it.
    offsets : (L, 3)
        Filled.
    """
    n = len(held)
    for t in range(n):
        for c in range(3):
            offsets[t, c] = places[t, c] - foot[t, c] if held[t] != NOT_HELD else 0.0
    t = variable(0)
    while t < n - 1:
        if held[t] != NOT_HELD and held[t + 1] == held[t]:
            t += 1
            continue
        low = t
        t += 1
        while t < n - 1 and held[t] == NOT_HELD:
            t += 1
        _bridge(held, foot, offsets, low, t)


@inner(error_model="numpy")
def _bridge(held: IntArray, foot: FloatArray, offsets: FloatArray, low: int, high: int) -> None:
    """Offsets strictly between two frames whose offsets are known."""
    wide = high - low
    if wide < 2:
        return
    ebbs = min(wide, SLOPE)
    lift = _lift(held, foot, offsets, low, high)
    leaves = low > 0 and held[low] != NOT_HELD and held[low - 1] == held[low]
    meets = high < len(held) - 1 and held[high] != NOT_HELD and held[high + 1] == held[high]
    for t in range(low + 1, high):
        gone, left = t - low, high - t
        if wide > 2 * FADE:
            a, b = 1.0 - _smooth(gone / FADE), 1.0 - _smooth(left / FADE)
        else:
            b = _smooth(gone / wide)
            a = 1.0 - b
        for c in range(3):
            offsets[t, c] = a * offsets[low, c] + b * offsets[high, c]
            if leaves:
                offsets[t, c] += _ebb(gone, ebbs) * (offsets[low, c] - offsets[low - 1, c])
            if meets:
                offsets[t, c] -= _ebb(left, ebbs) * (offsets[high + 1, c] - offsets[high, c])
        u = gone / wide
        offsets[t, 1] += lift * 16.0 * u * u * (1.0 - u) * (1.0 - u)


@inner(error_model="numpy")
def _lift(held: IntArray, foot: FloatArray, offsets: FloatArray, low: int, high: int) -> float:
    """How much higher the middle of a step must be, metres."""
    x = foot[high, 0] + offsets[high, 0] - foot[low, 0] - offsets[low, 0]
    z = foot[high, 2] + offsets[high, 2] - foot[low, 2] - offsets[low, 2]
    way = np.hypot(x, z)
    if way < LIFTED_FROM or held[low] == NOT_HELD or held[high] == NOT_HELD:
        return 0.0
    middle = (low + high) // 2
    ends = 0.5 * (foot[low, 1] + offsets[low, 1] + foot[high, 1] + offsets[high, 1])
    now = foot[middle, 1] + 0.5 * (offsets[low, 1] + offsets[high, 1]) - ends
    most = min(LIFT_MOST, LIFT_HURRY * (high - low) ** 2)
    return float(max(min(LIFT_PART * way, most) - now, 0.0))


@njit(cache=True, error_model="numpy")
def clear_ground(
    rows: Rows,
    column: int,
    at: IntArray,
    weights: FloatArray,
    held: IntArray,
    foot: FloatArray,
    fps: float,
    offsets: FloatArray,
) -> None:
    """Lift a free foot that would be dragged along the ground, by adding to its offsets (L, 3).

    Blends of a standing foot and a swinging one go along at the height of neither.

    Parameters
    ----------
    rows, column, at, weights
        The windows, and which foot point it is.
    held, foot : (L,), (L, 3)
        As in :func:`run_offsets`.
    fps
        Frames per second.
    offsets : (L, 3)
        Changed.
    """
    n, n_ways = at.shape
    lows, needs = np.zeros(n_ways), np.zeros(n)
    for i in range(n_ways):
        lows[i] = rows.points[at[0, i], column, 1]
        for t in range(1, n):
            lows[i] = min(lows[i], rows.points[at[t, i], column, 1])
    for t in range(1, n - 1):
        if held[t] != NOT_HELD:
            continue
        x = foot[t + 1, 0] + offsets[t + 1, 0] - foot[t - 1, 0] - offsets[t - 1, 0]
        z = foot[t + 1, 2] + offsets[t + 1, 2] - foot[t - 1, 2] - offsets[t - 1, 2]
        speed = 0.5 * fps * np.hypot(x, z)
        over = foot[t, 1] + offsets[t, 1]
        for i in range(n_ways):
            over -= weights[i, t] * lows[i]
        needs[t] = CLEAR * _smooth((speed - FROM_SPEED) / (TO_SPEED - FROM_SPEED)) - over
    for t in range(1, n - 1):
        if held[t] != NOT_HELD:
            continue
        lift, free = 0.0, min(t, n - 1 - t)
        for u in range(max(t - RISE, 0), min(t + RISE + 1, n)):
            if held[u] != NOT_HELD:
                free = min(free, abs(t - u))
            elif needs[u] > 0.0:
                left = 1.0 - ((t - u) / (RISE + 1.0)) ** 2
                lift = max(lift, needs[u] * left * left)
        offsets[t, 1] += lift * _smooth(free / RISE)


@inner(error_model="numpy")
def drop_labels(point: FloatArray, offsets: FloatArray, fps: float, planted: BoolArray) -> None:
    """Take back labels (L,) of a foot point where it moves all the same.

    A foot held by its ball turns about it, and clips move points that they call planted.
    """
    for t in range(1, len(planted)):
        square = 0.0
        for c in range(3):
            step = point[t, c] + offsets[t, c] - point[t - 1, c] - offsets[t - 1, c]
            square += step * step
        if square > (STANDS / fps) ** 2:
            planted[t] = planted[t - 1] = False
