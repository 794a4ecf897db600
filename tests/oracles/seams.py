"""Feet that stand at the first or the last frame of a transition."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom.tables.synthesis.synthesis import Rows

RELEASE, FOLLOWS, GAP, HURRY, PACE, LABELLED = 0.12, 3.0, 6, 7.0, 0.5, 0.45
SAME_PLACE, CREEP, BELOW, SINK, STRETCH = 0.02, 12, 0.005, 0.05, 1.01


class Foot(NamedTuple):
    """One foot of a blend."""

    rows: Rows
    at: IntArray
    """Rows of the windows. (L, N)"""
    side: int
    heel: FloatArray
    """(L, 3)"""
    ball: FloatArray
    """(L, 3)"""
    legs: FloatArray
    """Ankles seen from hips. (L, 3)"""
    reach: float
    fps: float
    speed: float


def far(a: FloatArray, b: FloatArray) -> float:
    return float(np.linalg.norm(a - b))


def left_behind(foot: Foot, t: int, neighbour: int, place: FloatArray) -> float:
    """How far a foot gets from the blend's where it is let go at a place."""
    return far(foot.ball[t], place) + FOLLOWS * far(foot.ball[t], foot.ball[neighbour])


def out_of_reach(foot: Foot, t: int, place: FloatArray) -> bool:
    x, y, z = foot.legs[t] + place - foot.ball[t]
    y = min(y + SINK * foot.reach, 0.0)
    before = np.linalg.norm(foot.legs[t])
    return bool(np.linalg.norm([x, y, z]) > max(before, STRETCH * foot.reach))


def frames_for(
    ball: FloatArray,
    low: int,
    place_low: FloatArray,
    high: int,
    place_high: FloatArray,
    fps: float,
    speed: float,
) -> int:
    """Frames that a ball needs from one place to the next."""
    way = place_high - place_low
    change = np.linalg.norm(way - (ball[high] - ball[low]))
    hurry = np.sqrt(6.0 * fps**2 * change / HURRY)
    return max(GAP, int(np.ceil(max(hurry, fps * np.linalg.norm(way) / (PACE * speed)))))


def stands(rows: Rows, first: int, second: int, column: int, fps: float) -> bool:
    """Whether a foot point of a clip stands in two neighbouring rows."""
    places = []
    for row in (first, second):
        c, s = np.cos(rows.heading[row]), np.sin(rows.heading[row])
        x, _, z = rows.points[row, column].astype(np.float64)
        places.append(rows.ground[row] + [c * x + s * z, c * z - s * x])
    labelled = rows.planted[first, column] and rows.planted[second, column]
    return bool(labelled and far(*places) < LABELLED / fps)


def roll_on(foot: Foot, way: int, before: int, t: int, places: FloatArray) -> bool:
    """The ball's place at ``t`` from the one at ``before``: what stands in both does not move."""
    ball, heel = foot.ball, foot.heel
    rows = int(foot.at[before, way]), int(foot.at[t, way])
    shift = places[before] - ball[before]
    for column, point in ((2 * foot.side + 1, ball), (2 * foot.side, heel)):
        if stands(foot.rows, *rows, column, foot.fps):
            places[t] = ball[t] + (shift + (point[before] - point[t]))
            return True
    places[t] = ball[t] + shift
    return False


def lowest_ball(foot: Foot, way: int) -> float:
    """How low a ball gets in its window, less what it may be below."""
    return float(foot.rows.points[foot.at[:, way], 2 * foot.side + 1, 1].min()) - BELOW


def stand_at_seams(foot: Foot) -> tuple[int, int, FloatArray, FloatArray]:
    """Last frame of the source's stand, first one of the target's, and the ball's places in both.

    ``-1`` and ``L`` where there is none.
    """
    n, n_ways = foot.at.shape
    (source, left), (target, met) = (
        _stand(foot, way, seam, step) for way, seam, step in ((0, 0, 1), (n_ways - 1, n - 1, -1))
    )
    last, first, ball = left - 1, n - met, foot.ball
    pace = foot.fps, foot.speed
    while last > 0 and n - 1 - last < frames_for(
        ball, last, source[last], n - 1, ball[n - 1], *pace
    ):
        last -= 1
    while first < n - 1 and first < frames_for(ball, 0, ball[0], first, target[first], *pace):
        first += 1
    return last, first, source, target


def _stand(foot: Foot, way: int, seam: int, step: int) -> tuple[FloatArray, int]:
    """Places of a stand from a seam on, and how many frames it has."""
    n, side = len(foot.at), foot.side
    places, low = np.zeros((n, 3)), lowest_ball(foot, way)
    places[seam] = foot.ball[seam]
    for count in range(n):
        t = seam + step * count
        before = t - step if count else t
        if not foot.rows.planted[foot.at[t, way], 2 * side : 2 * side + 2].any():
            return places, count
        if count and not roll_on(foot, way, before, t, places):
            return places, count
        gone = left_behind(foot, t, before, places[t]) > RELEASE
        if gone or places[t, 1] < low or out_of_reach(foot, t, places[t]):
            return places, count
    return places, n


def part_seams(
    last: IntArray,
    first: IntArray,
    soles: FloatArray,
    source: FloatArray,
    target: FloatArray,
    fps: float,
    speed: float,
) -> None:
    """Make time for a step where a foot stands at both seams; changes both and ``source``."""
    n = soles.shape[2]
    steps, ways = np.zeros(2, dtype=bool), np.zeros(2)
    for side in range(2):
        a, b = int(first[side]), int(last[side])
        if b < 0 or a >= n or a > b:
            steps[side] = b >= 0 and a < n
            continue
        middle = (a + b) // 2
        ways[side] = far(source[side, middle], target[side, middle])
        if ways[side] <= SAME_PLACE and b - a >= CREEP:
            u = np.linspace(0.0, 1.0, b - a + 1)[:, None]
            creep = target[side, a : b + 1] - source[side, a : b + 1]
            source[side, a : b + 1] += u * u * (3.0 - 2.0 * u) * creep
            first[side] = b + 1
        else:
            steps[side] = True
    stood = first <= last
    for side in range(2):
        other = 1 - side
        if steps[side]:
            early = ways[side] > ways[other] or (ways[side] == ways[other] and side == 0)
            share = None if not (steps[other] and stood[other]) else 0.3 if early else 0.7
            last[side], first[side] = _step(
                soles[side, 1], source[side], target[side], fps, speed, share,
                int(last[side]), int(first[side]),
            )  # fmt: skip


def _step(
    ball: FloatArray,
    source: FloatArray,
    target: FloatArray,
    fps: float,
    speed: float,
    share: float | None,
    low: int,
    high: int,
) -> tuple[int, int]:
    """Let go of frames of one foot's two stands until there is time for its step."""
    n = len(ball)
    if high <= low:
        passed: BoolArray = np.linalg.norm(ball - source, axis=-1) > np.linalg.norm(
            ball - target, axis=-1
        )
        nearer = [t for t in range(high, low + 1) if passed[t]]
        middle = int(share * n) if share is not None else nearer[0] if nearer else n // 2
        low = min(max(middle, high), low)
        high = min(low + 1, n - 1)
    while high - low < frames_for(ball, low, source[low], high, target[high], fps, speed):
        closer = far(ball[low], source[low]) < far(ball[high], target[high])
        if low > 0 and (high == n - 1 or not closer):
            low -= 1
        elif high < n - 1:
            high += 1
        else:
            break
    return low, high
