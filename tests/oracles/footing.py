"""Where and when the feet of a transition stand."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom.motion.motion import runs_of
from motionloom.tables.synthesis.synthesis import NOT_HELD
from tests.oracles.seams import (
    Foot,
    far,
    frames_for,
    left_behind,
    lowest_ball,
    out_of_reach,
    part_seams,
    roll_on,
    stand_at_seams,
)

FARTHEST, SHORTEST, ARRIVES, MAJORITY = 0.1524, 4, 0.10, 0.5
MOST = 48


def choose_plants(
    feet: tuple[Foot, Foot],
    weights: FloatArray,
    psi: FloatArray,
    root: FloatArray,
    *,
    agree: bool = True,
) -> tuple[IntArray, FloatArray, BoolArray, float]:
    """Holds (2, L), places (2, L, 3) and labels (L, 4) of both feet; the blend's mean distance.

    Without ``agree`` feet are held only by single windows, wherever these have them.
    """
    n, n_ways = feet[0].at.shape
    stands = [stand_at_seams(foot) for foot in feet]
    last, first = (np.array([stand[k] for stand in stands]) for k in range(2))
    source, target = (np.stack([stand[k] for stand in stands]) for k in (2, 3))
    soles = np.stack([[foot.heel, foot.ball] for foot in feet])
    part_seams(last, first, soles, source, target, feet[0].fps, feet[0].speed)
    held, places = np.full((2, n), NOT_HELD), np.zeros((2, n, 3))
    planted, total, count = np.zeros((n, 4), dtype=bool), 0.0, 0
    for side, foot in enumerate(feet):
        for t in range(n):
            if last[side] < t < first[side]:
                continue
            leaves = t <= last[side]
            held[side, t] = 0 if leaves or first[side] == last[side] + 1 else 1
            places[side, t] = source[side, t] if leaves else target[side, t]
            row, columns = foot.at[t, 0 if leaves else n_ways - 1], [2 * side, 2 * side + 1]
            planted[t, columns] = foot.rows.planted[row, columns]
            total += far(foot.ball[t], places[side, t])
            count += 1
        own = held[side], places[side], planted
        if agree:
            more, frames = hold_agreed(foot, weights, *own)
            total, count = total + more, count + frames
        more, frames = fill(foot, psi, root, *own)
        total, count = total + more, count + frames
    return held, places, planted, total / max(count, 1)


def hold_agreed(
    foot: Foot, weights: FloatArray, held: IntArray, places: FloatArray, planted: BoolArray
) -> tuple[float, int]:
    """Hold a foot where most windows stand, at the blend's mean place; distances and frames."""
    ball, heel = 2 * foot.side + 1, 2 * foot.side
    stands = foot.rows.planted[foot.at]
    heaviest = np.argmax(np.where(stands[..., ball], weights.T, -1.0), axis=1)
    votes, heels = (np.sum(weights.T * stands[..., k], axis=1) for k in (ball, heel))
    high = foot.rows.points[foot.at[np.arange(len(held)), heaviest], ball, 1].astype(np.float64)
    low = min(lowest_ball(foot, i) for i in range(foot.at.shape[1]))
    total, count = 0.0, 0
    runs = [run for run in runs_of(votes > MAJORITY) if run[1] - run[0] + 1 >= SHORTEST]
    for number, (a, b) in enumerate(runs, start=MOST + 2):
        off, place = 0.0, np.zeros(3)
        for _ in range(2):
            if b - a + 1 >= SHORTEST:
                span = slice(a, b + 1)
                place = foot.ball[span].mean(axis=0)
                place[1] = max(min(place[1], high[span].mean()), low)
                off = float(np.mean(np.linalg.norm(foot.ball[span] - place, axis=-1)))
                a, b = cut(foot, held, places, a, b, place)
        if b - a + 1 < SHORTEST or off > FARTHEST:
            continue
        total, count = total + off * (b - a + 1), count + b - a + 1
        span = slice(a, b + 1)
        held[span], places[span], planted[span, ball] = number, place, True
        planted[span, heel] = heels[span] > MAJORITY
        add_heels(foot, int(heaviest[(a + b) // 2]), a, b, held, places, planted)
    return total, count


def fill(
    foot: Foot,
    psi: FloatArray,
    root: FloatArray,
    held: IntArray,
    places: FloatArray,
    planted: BoolArray,
) -> tuple[float, int]:
    """Hold a foot by the plants of its windows, the best agreed first; distances and frames."""
    column, total, count = 2 * foot.side + 1, 0.0, 0
    ways = range(foot.at.shape[1])
    low = min(lowest_ball(foot, i) for i in ways)
    found = []
    for i in ways:
        for a, b in runs_of(foot.rows.planted[foot.at[:, i], column]):
            if b - a + 1 >= SHORTEST:
                found.append((_fit(foot, i, psi, root, a, b, low)[1], len(found), i, a, b))
    for number, (_, _, i, a, b) in enumerate(sorted(found)):
        off, place = 0.0, np.zeros(3)
        for _ in range(2):
            if b - a + 1 >= SHORTEST:
                place, off = _fit(foot, i, psi, root, a, b, low)
                a, b = cut(foot, held, places, a, b, place)
        if b - a + 1 < SHORTEST or off > FARTHEST:
            continue
        total, count = total + off * (b - a + 1), count + b - a + 1
        span = slice(a, b + 1)
        held[span], places[span], planted[span, column] = number + 2, place, True
        planted[span, column - 1] = foot.rows.planted[foot.at[span, i], column - 1]
        add_heels(foot, i, a, b, held, places, planted)
    return total, count


def _fit(
    foot: Foot, way: int, psi: FloatArray, root: FloatArray, first: int, last: int, low: float
) -> tuple[FloatArray, float]:
    """Mean place of a window's planted ball in the blend, and the blend's mean distance."""
    span = slice(first, last + 1)
    x, y, z = foot.rows.points[foot.at[span, way], 2 * foot.side + 1].astype(np.float64).T
    c, s = np.cos(psi[span]), np.sin(psi[span])
    ball = foot.ball[span]
    place = np.array(
        [
            np.mean(root[span, 0] + c * x + s * z),
            max(min(np.mean(y), np.mean(ball[:, 1])), low),
            np.mean(root[span, 2] + c * z - s * x),
        ]
    )
    return place, float(np.mean(np.linalg.norm(ball - place, axis=-1)))


def _neighbours(held: IntArray, t: int) -> tuple[int, int]:
    """Frames around a free one that are held, or the seams."""
    known = np.flatnonzero((held != NOT_HELD) | np.isin(np.arange(len(held)), [0, len(held) - 1]))
    return int(known[known <= t][-1]), int(known[known >= t][0])


def cut(
    foot: Foot, held: IntArray, places: FloatArray, first: int, last: int, place: FloatArray
) -> tuple[int, int]:
    """The part of a plant that fits between those that are held already, and in reach."""
    n, ball, pace = len(held), foot.ball, (foot.fps, foot.speed)
    middle = (first + last) // 2
    order = [*range(middle, first - 1, -1), *range(middle, last + 1)]
    free = [t for t in order if held[t] == NOT_HELD]
    if not free:
        return first, first - 1
    low, high = _neighbours(held, free[0])
    start, end = (places[t] if held[t] != NOT_HELD else ball[t] for t in (low, high))
    a, b = max(first, low + 1), min(last, high - 1)
    while a <= b and (
        a - low < frames_for(ball, low, start, a, place, *pace)
        or left_behind(foot, a, max(a - 1, 0), place) > ARRIVES
        or out_of_reach(foot, a, place)
    ):
        a += 1
    while b >= a and (
        high - b < frames_for(ball, b, place, high, end, *pace)
        or left_behind(foot, b, min(b + 1, n - 1), place) > ARRIVES
        or out_of_reach(foot, b, place)
    ):
        b -= 1
    if any(out_of_reach(foot, t, place) for t in range(a, b + 1)):
        return a, a - 1
    return a, b


def add_heels(
    foot: Foot,
    way: int,
    first: int,
    last: int,
    held: IntArray,
    places: FloatArray,
    planted: BoolArray,
) -> None:
    """Hold on by the heel where it stands before its ball does, or after."""
    low, ball, column = lowest_ball(foot, way), foot.ball, 2 * foot.side
    for step, start in ((-1, first), (1, last)):
        t = start + step
        while 0 < t < len(held) - 1 and held[t] == NOT_HELD:
            end = _neighbours(held, t)[0 if step < 0 else 1]
            there = places[end] if held[end] != NOT_HELD else ball[end]
            if not foot.rows.planted[foot.at[t, way], column]:
                break
            if not roll_on(foot, way, t - step, t, places) or places[t, 1] < low:
                break
            if left_behind(foot, t, t + step, places[t]) > ARRIVES:
                break
            need = frames_for(ball, end, there, t, places[t], foot.fps, foot.speed)
            if abs(t - end) < need or out_of_reach(foot, t, places[t]):
                break
            held[t] = held[t - step]
            planted[t, column] = True
            t += step
