"""Footing: where and when the feet of a transition stand.

What stands at a seam comes first; then the plants of all windows are taken in the order of how well
the blend agrees with them ([I7]_ section 4). Unlike there, a plant is cut where it would hurry the
foot or where the leg does not reach it: what is left of it is still better held than not.
"""

from __future__ import annotations

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom.transitions.compiled import inner, variable
from motionloom.transitions.making.rig import Rows
from motionloom.transitions.making.seams import (
    far,
    frames_for,
    left_behind,
    lowest_ball,
    out_of_reach,
    part_seams,
    roll_on,
    stand_at_seams,
)

__all__ = ["NOT_HELD", "choose_plants"]

NOT_HELD = -1
MOST_PLANTS = 48
"""Candidates of one foot that are looked at; a second of dancing has fewer than ten a window."""
FARTHEST = 0.1524
"""A plant is left where the blend's foot would be farther from it in the mean, metres (6 in)."""
SHORTEST = 4
"""Frames that a plant must have left."""
ARRIVES = 0.10
"""A plant begins and ends this close to the blend's foot, with what its speed adds, metres."""


@inner(error_model="numpy")
def choose_plants(
    rows: Rows,
    at: IntArray,
    psi: FloatArray,
    root: FloatArray,
    soles: FloatArray,
    legs: FloatArray,
    reaches: FloatArray,
    fps: float,
    speed: float,
    held: IntArray,
    places: FloatArray,
    planted: BoolArray,
) -> float:
    """Which plant each foot is held by, and where; the mean distance of the blend from them.

    Parameters
    ----------
    rows
        Of the collection.
    at : (L, N)
        Rows of the windows.
    psi, root
        The blend's track.
    soles : (2, 2, L, 3)
        Heels and balls of the blend's left and right foot, metres.
    legs : (2, L, 3)
        Ways from its hips to its ankles, metres.
    reaches : (2,)
        Full lengths of the legs, metres.
    fps, speed
        Frames per second; fastest joint of the clips, m/s.
    held : (2, L)
        Filled: number of the plant, or ``NOT_HELD``.
    places : (2, L, 3)
        Filled: where the ball is to be in frames held.
    planted : (L, 4)
        Filled: heels and balls that stand.
    """
    n_frames, n_ways = at.shape
    last, first = np.zeros(2, np.int64), np.zeros(2, np.int64)
    source, target = np.zeros((2, n_frames, 3)), np.zeros((2, n_frames, 3))
    for side in range(2):
        last[side], first[side] = stand_at_seams(
            rows, at, side, soles[side, 0], soles[side, 1], legs[side], reaches[side],
            fps, speed, source[side], target[side],
        )  # fmt: skip
    part_seams(last, first, soles, source, target, fps, speed)
    total, count = 0.0, 0
    for side in range(2):
        for t in range(n_frames):
            held[side, t] = NOT_HELD
            if last[side] < t < first[side]:
                continue
            way = 0 if t <= last[side] else n_ways - 1
            held[side, t] = 0 if t <= last[side] or first[side] == last[side] + 1 else 1
            for c in range(3):
                places[side, t, c] = source[side, t, c] if way == 0 else target[side, t, c]
            planted[t, 2 * side] = rows.planted[at[t, way], 2 * side]
            planted[t, 2 * side + 1] = rows.planted[at[t, way], 2 * side + 1]
            total += far(soles[side, 1], t, places[side, t])
            count += 1
        more, frames_held = _fill(
            rows, at, side, psi, root, soles[side, 0], soles[side, 1], legs[side],
            reaches[side], fps, speed, held[side], places[side], planted,
        )  # fmt: skip
        total += more
        count += frames_held
    return total / max(count, 1)


@inner(error_model="numpy")
def _fill(
    rows: Rows,
    at: IntArray,
    side: int,
    psi: FloatArray,
    root: FloatArray,
    heel: FloatArray,
    ball: FloatArray,
    legs: FloatArray,
    reach: float,
    fps: float,
    speed: float,
    held: IntArray,
    places: FloatArray,
    planted: BoolArray,
) -> tuple[float, int]:
    """Plants between those of the seams, the best agreed first; their distances and frames."""
    n_frames, n_ways = at.shape
    column = 2 * side + 1
    spans, errors = np.zeros((MOST_PLANTS, 3), np.int64), np.zeros(MOST_PLANTS)
    place = np.zeros(3)
    low = lowest_ball(rows, at, 0, side)
    for i in range(1, n_ways):
        low = min(low, lowest_ball(rows, at, i, side))
    n = 0
    for i in range(n_ways):
        t = variable(0)
        while t < n_frames:
            if not rows.planted[at[t, i], column]:
                t += 1
                continue
            a = t
            while t < n_frames and rows.planted[at[t, i], column]:
                t += 1
            if t - a >= SHORTEST and n < MOST_PLANTS:
                spans[n, 0], spans[n, 1], spans[n, 2] = i, a, t - 1
                errors[n] = _fit(rows, at, i, column, psi, root, ball, a, t - 1, low, place)
                n += 1
    total, count = 0.0, 0
    for number in range(n):
        k = 0
        for m in range(1, n):
            if errors[m] < errors[k]:
                k = m
        i, a, b = spans[k, 0], spans[k, 1], spans[k, 2]
        errors[k] = np.inf
        off = 0.0
        for _ in range(2):  # its place is the mean of what is left of it
            if b - a + 1 >= SHORTEST:
                off = _fit(rows, at, i, column, psi, root, ball, a, b, low, place)
                a, b = _cut(ball, legs, reach, fps, speed, held, places, a, b, place)
        if b - a + 1 < SHORTEST or off > FARTHEST:
            continue
        total += off * (b - a + 1)
        count += b - a + 1
        for t in range(a, b + 1):
            held[t] = number + 2
            for c in range(3):
                places[t, c] = place[c]
            planted[t, column] = True
            planted[t, column - 1] = rows.planted[at[t, i], column - 1]
        _add_heels(
            rows, at, i, side, heel, ball, legs, reach, fps, speed, held, places, planted, a, b
        )
    return total, count


@inner(error_model="numpy")
def _fit(
    rows: Rows,
    at: IntArray,
    way: int,
    column: int,
    psi: FloatArray,
    root: FloatArray,
    foot: FloatArray,
    first: int,
    last: int,
    low: float,
    place: FloatArray,
) -> float:
    """Mean place (3,) of a window's planted point in the blend, and the blend's mean distance.

    It is no higher than the blend's foot, for clips differ in the height of their ground, and not
    below ``low``.
    """
    height = 0.0
    for c in range(3):
        place[c] = 0.0
    for t in range(first, last + 1):
        p = rows.points[at[t, way], column]
        cos, sin = np.cos(psi[t]), np.sin(psi[t])
        place[0] += root[t, 0] + cos * p[0] + sin * p[2]
        place[1] += p[1]
        place[2] += root[t, 2] + cos * p[2] - sin * p[0]
        height += foot[t, 1]
    n = last - first + 1
    for c in range(3):
        place[c] /= n
    place[1] = max(min(place[1], height / n), low)
    off = 0.0
    for t in range(first, last + 1):
        off += far(foot, t, place)
    return off / n


@inner(error_model="numpy")
def _neighbours(held: IntArray, t: int) -> tuple[int, int]:
    """Frames around a free one that are held, or the seams."""
    low, high = t, t
    while low > 0 and held[low] == NOT_HELD:
        low -= 1
    while high < len(held) - 1 and held[high] == NOT_HELD:
        high += 1
    return low, high


@inner(error_model="numpy")
def _cut(
    foot: FloatArray,
    legs: FloatArray,
    reach: float,
    fps: float,
    speed: float,
    held: IntArray,
    places: FloatArray,
    first: int,
    last: int,
    place: FloatArray,
) -> tuple[int, int]:
    """The part of a plant that fits between those that are held already, and in reach."""
    middle = (first + last) // 2
    while middle > first and held[middle] != NOT_HELD:
        middle -= 1
    if held[middle] != NOT_HELD:
        middle = (first + last) // 2
        while middle < last and held[middle] != NOT_HELD:
            middle += 1
    if held[middle] != NOT_HELD:
        return first, first - 1
    low, high = _neighbours(held, middle)
    # At a seam where nothing stands the foot must be where the blend has it.
    from_place = places[low] if held[low] != NOT_HELD else foot[low]
    to_place = places[high] if held[high] != NOT_HELD else foot[high]
    a, b = max(first, low + 1), min(last, high - 1)
    while a <= b and (
        a - low < frames_for(foot, low, from_place, a, place, fps, speed)
        or left_behind(foot, a, max(a - 1, 0), place) > ARRIVES
        or out_of_reach(foot, legs, reach, a, place)
    ):
        a += 1
    while b >= a and (
        high - b < frames_for(foot, b, place, high, to_place, fps, speed)
        or left_behind(foot, b, min(b + 1, len(foot) - 1), place) > ARRIVES
        or out_of_reach(foot, legs, reach, b, place)
    ):
        b -= 1
    for t in range(a, b + 1):
        if out_of_reach(foot, legs, reach, t, place):
            return a, a - 1
    return a, b


@inner(error_model="numpy")
def _add_heels(
    rows: Rows,
    at: IntArray,
    way: int,
    side: int,
    heel: FloatArray,
    ball: FloatArray,
    legs: FloatArray,
    reach: float,
    fps: float,
    speed: float,
    held: IntArray,
    places: FloatArray,
    planted: BoolArray,
    first: int,
    last: int,
) -> None:
    """Hold on by the heel where it stands before its ball does, or after."""
    low = lowest_ball(rows, at, way, side)
    for step in (-1, 1):
        t = first if step < 0 else last
        while 0 < t + step < len(held) - 1 and held[t + step] == NOT_HELD:
            before, after = _neighbours(held, t + step)
            end = before if step < 0 else after
            t += step
            if not rows.planted[at[t, way], 2 * side]:
                break
            if not roll_on(rows, heel, ball, at, way, side, fps, t - step, t, places):
                break
            if places[t, 1] < low or left_behind(ball, t, t + step, places[t]) > ARRIVES:
                break
            there = places[end] if held[end] != NOT_HELD else ball[end]
            if abs(t - end) < frames_for(ball, end, there, t, places[t], fps, speed):
                break
            if out_of_reach(ball, legs, reach, t, places[t]):
                break
            held[t] = held[t - step]
            planted[t, 2 * side] = True
