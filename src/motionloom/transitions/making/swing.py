"""Swing: how far a foot is moved in every frame, held or between two holds."""

from __future__ import annotations

import numpy as np
from numba import njit

from motionloom._arrays import FloatArray, IntArray
from motionloom.transitions.compiled import inner, variable
from motionloom.transitions.making.footing import NOT_HELD
from motionloom.transitions.making.rig import Rows

__all__ = ["clear_ground", "run_offsets"]

FADE = 15
"""Frames in which an offset runs out where nothing else asks for the foot."""
SLOPE, QUICKEST = 20, 6
"""Frames in which a foot that is let go takes up the blend's own speed, and the fewest."""
UPRIGHT = 8
"""The most for its speed up and down: feet leave and meet the ground abruptly."""
GROWTH = 0.05
"""How far it may get behind the blend meanwhile, metres; a faster one takes it up sooner."""
LIFTED_FROM = 0.03
"""A foot that steps less far than this is not lifted, metres."""
LIFT_PART, LIFT_MOST = 0.15, 0.05
"""Least height of a step: this part of its way, and no more than the second, metres."""
LIFT_HURRY = 1.2e-4
"""A step of n frames is lifted by no more than this times n², metres: quick ones stay low."""
CLEAR, HEEL_CLEAR = 0.03, 0.02
FROM_SPEED, TO_SPEED = 0.25, 1.0
"""A free ball, and a free heel, are this high over where they stand, metres, when they go at the
second speed, m/s; less below, nothing below the first."""
RISE = 9
"""Frames in which it gets there."""
TILT = 9
"""Frames in which a heel comes up that would be in the ground, and goes down again."""


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
    lift = _lift(held, foot, offsets, low, high)
    leaves = low > 0 and held[low] != NOT_HELD and held[low - 1] == held[low]
    meets = high < len(held) - 1 and held[high] != NOT_HELD and held[high + 1] == held[high]
    leaving, meeting = min(wide, SLOPE), min(wide, SLOPE)
    if leaves:
        leaving = min(leaving, _frames_to_follow(offsets[low - 1], offsets[low]))
    if meets:
        meeting = min(meeting, _frames_to_follow(offsets[high], offsets[high + 1]))
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
                frames = min(leaving, UPRIGHT) if c == 1 else leaving
                offsets[t, c] += _ebb(gone, frames) * (offsets[low, c] - offsets[low - 1, c])
            if meets:
                frames = min(meeting, UPRIGHT) if c == 1 else meeting
                offsets[t, c] -= _ebb(left, frames) * (offsets[high + 1, c] - offsets[high, c])
        u = gone / wide
        offsets[t, 1] += lift * 16.0 * u * u * (1.0 - u) * (1.0 - u)


@inner(error_model="numpy")
def _frames_to_follow(before: FloatArray, after: FloatArray) -> int:
    """Frames in which an offset that changes so much a frame may go on until it stops.

    ``t (1 - t / n)^2`` is ``4 n / 27`` at most.
    """
    x, y, z = after[0] - before[0], after[1] - before[1], after[2] - before[2]
    step = np.sqrt(x * x + y * y + z * z)
    if step * SLOPE * 4.0 <= GROWTH * 27.0:
        return SLOPE
    return max(QUICKEST, int(GROWTH * 27.0 / (4.0 * step)))


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
    side: int,
    at: IntArray,
    weights: FloatArray,
    held: IntArray,
    heel: FloatArray,
    ball: FloatArray,
    fps: float,
    offsets: FloatArray,
    tilts: FloatArray,
) -> None:
    """Lift a free foot that would be dragged along the ground; keep heel and ball above it.

    Blends of a standing foot and a swinging one go along at the height of neither, and blends of
    feet that point up and down stand with the heel in the ground.

    Parameters
    ----------
    rows, side, at, weights
        The windows, and which foot it is.
    held, heel, ball : (L,), (L, 3), (L, 3)
        Number of the hold or ``NOT_HELD``, and where the blend has the foot.
    fps
        Frames per second.
    offsets : (L, 3)
        Changed: free feet are lifted.
    tilts : (L,)
        Filled: by how much the heel comes up about the ball, radians.
    """
    n, n_ways = at.shape
    lows, levels, floor = np.zeros(n_ways), np.zeros(n), np.inf
    for i in range(n_ways):
        lows[i] = np.inf
        for t in range(n):
            lows[i] = min(lows[i], rows.points[at[t, i], 2 * side + 1, 1])
            floor = min(floor, rows.points[at[t, i], 2 * side, 1])
        floor = min(floor, lows[i])
    for t in range(n):
        for i in range(n_ways):
            levels[t] += weights[i, t] * lows[i]
        if held[t] != NOT_HELD or t == 0 or t == n - 1:
            floor = min(floor, ball[t, 1] + offsets[t, 1])
    floor = min(floor, min(heel[0, 1], heel[n - 1, 1]))
    for t in range(n):  # a foot that stands nowhere in a window says nothing about the ground
        levels[t] = min(levels[t], floor + CLEAR)
    _lift_free(held, heel, ball, levels, floor, fps, offsets)
    _raise_heels(heel, ball, floor, offsets, tilts)


@inner(error_model="numpy")
def _lift_free(
    held: IntArray,
    heel: FloatArray,
    ball: FloatArray,
    levels: FloatArray,
    floor: float,
    fps: float,
    offsets: FloatArray,
) -> None:
    """Lift free feet over the floor, and balls over where they stand (L,) the faster they go."""
    n = len(held)
    wanted, needed, free = np.zeros(n), np.zeros(n), np.zeros(n)
    _frames_to_holds(held, free)
    for t in range(1, n - 1):
        if held[t] == NOT_HELD:
            # Close to a hold a heel comes up about the ball instead, as it does in the hold.
            low = (floor - heel[t, 1] - offsets[t, 1]) * _smooth(free[t] / RISE)
            needed[t] = max(floor - ball[t, 1] - offsets[t, 1], low)
            over = ball[t, 1] + offsets[t, 1] - levels[t]
            over_heel = heel[t, 1] + offsets[t, 1] - floor
            wanted[t] = max(
                CLEAR * _hurry(ball, offsets, t, fps) - over,
                HEEL_CLEAR * _hurry(heel, offsets, t, fps) - over_heel,
            )
    for t in range(1, n - 1):
        if held[t] != NOT_HELD:
            continue
        lift, least = 0.0, 0.0
        for u in range(max(t - RISE, 1), min(t + RISE, n - 2) + 1):
            if wanted[u] > 0.0:
                left = 1.0 - ((t - u) / (RISE + 1.0)) ** 2
                lift = max(lift, wanted[u] * left * left)
            if needed[u] > 0.0:
                left = 1.0 - ((t - u) / min(RISE + 1.0, free[u])) ** 2
                if left > 0.0:
                    least = max(least, needed[u] * left * left)
        offsets[t, 1] += max(lift * _smooth(free[t] / RISE), least)


@inner(error_model="numpy")
def _hurry(point: FloatArray, offsets: FloatArray, t: int, fps: float) -> float:
    """From 0 for a foot point that stands to 1 for one that goes fast over the ground."""
    x = point[t + 1, 0] + offsets[t + 1, 0] - point[t - 1, 0] - offsets[t - 1, 0]
    z = point[t + 1, 2] + offsets[t + 1, 2] - point[t - 1, 2] - offsets[t - 1, 2]
    speed = 0.5 * fps * np.hypot(x, z)
    return _smooth((speed - FROM_SPEED) / (TO_SPEED - FROM_SPEED))


@inner(error_model="numpy")
def _frames_to_holds(held: IntArray, free: FloatArray) -> None:
    """Frames (L,) from each one to the nearest that is held or at a seam, 0 where it is."""
    n = len(held)
    for t in range(n):
        seam = t == 0 or held[t] != NOT_HELD
        free[t] = 0.0 if seam else free[t - 1] + 1.0
    free[n - 1] = 0.0
    for t in range(n - 2, -1, -1):
        free[t] = min(free[t], free[t + 1] + 1.0)


@inner(error_model="numpy")
def _raise_heels(
    heel: FloatArray, ball: FloatArray, floor: float, offsets: FloatArray, tilts: FloatArray
) -> None:
    """Angles (L,) about the ball at which no heel is below the floor, growing and going slowly."""
    n = len(ball)
    needs = np.zeros(n)
    for t in range(1, n - 1):
        x, z = heel[t, 0] - ball[t, 0], heel[t, 2] - ball[t, 2]
        y = heel[t, 1] - ball[t, 1]
        least = floor - max(ball[t, 1] + offsets[t, 1], floor)
        if y < least:
            length = np.sqrt(x * x + y * y + z * z)
            needs[t] = np.arcsin(max(least / length, -1.0)) - np.arcsin(y / length)
    for t in range(1, n - 1):
        tilt = 0.0
        for u in range(max(t - TILT, 1), min(t + TILT, n - 2) + 1):
            if needs[u] > 0.0:
                left = 1.0 - ((t - u) / min(TILT + 1.0, min(u, n - 1 - u))) ** 2
                if left > 0.0:
                    tilt = max(tilt, needs[u] * left * left)
        tilts[t] = tilt
