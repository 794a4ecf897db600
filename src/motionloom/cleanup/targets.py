"""Targets: where each held point is to stand."""

from __future__ import annotations

import numpy as np
from numba import njit

from motionloom._arrays import FloatArray, IntArray
from motionloom.cleanup.holds import Hold

__all__ = ["fit_targets"]

STILL = 0.05
"""A point at this speed counts half as much as one at rest, m/s."""
NEAR_S = 0.12
"""Holds of one foot closer in time than this are placed together."""
SWEEPS = 20


def fit_targets(
    holds: tuple[Hold, ...],
    points: FloatArray,
    velocities: FloatArray,
    fps: float,
) -> tuple[FloatArray, FloatArray]:
    """One place per hold (N, 3), and how far its point strays from it (N,), metres.

    A place is the mean of the point over the whole hold, height included, where frames at rest
    count most: what stands already stays where it is. Heel and ball that are held together get
    places exactly as far apart as they are in the foot. Holds of one foot that follow each other
    within a short time are drawn towards the step between them that the motion has, so that the
    foot need not jump in the gap.

    Parameters
    ----------
    holds
        N of them, of both feet.
    points, velocities : (F, 4, 3)
        Heels and balls in the world, metres and metres a second.
    fps
        Frames per second.
    """
    if not holds:
        return np.zeros((0, 3)), np.zeros(0)
    spans = np.array([(hold.kind, *hold.span) for hold in holds], dtype=np.int64)
    points = np.ascontiguousarray(points)
    places = _means(points, np.ascontiguousarray(velocities), spans, STILL)
    for foot in (0, 2):
        mine = np.flatnonzero((spans[:, 0] == foot) | (spans[:, 0] == foot + 1))
        mine = mine[np.lexsort((spans[mine, 2], spans[mine, 1]))]
        sole = points[:, foot + 1] - points[:, foot]
        length = float(np.median(np.sqrt(np.sum(sole * sole, axis=-1))))
        _settle(places, mine, spans, points, length, NEAR_S * fps)
    return places, _strays(places, points, spans)


@njit(cache=True, error_model="numpy")
def _means(points: FloatArray, velocities: FloatArray, spans: IntArray, still: float) -> FloatArray:
    """Mean places over the spans (kind, first, last), frames weighted by stillness. (N, 3)."""
    places = np.zeros((len(spans), 3))
    for i in range(len(spans)):
        kind, total = spans[i, 0], 0.0
        origin = points[spans[i, 1], kind]
        for f in range(spans[i, 1], spans[i, 2] + 1):
            v = velocities[f, kind]
            weight = 1.0 / (1.0 + (v[0] ** 2 + v[1] ** 2 + v[2] ** 2) / still**2)
            total += weight
            for c in range(3):
                places[i, c] += weight * (points[f, kind, c] - origin[c])
        for c in range(3):
            places[i, c] = origin[c] + places[i, c] / total
    return places


@njit(cache=True, error_model="numpy")
def _strays(places: FloatArray, points: FloatArray, spans: IntArray) -> FloatArray:
    """Greatest distance of a point from its place within its span, metres. Shape (N,)."""
    strays = np.zeros(len(spans))
    for i in range(len(spans)):
        for f in range(spans[i, 1], spans[i, 2] + 1):
            square = 0.0
            for c in range(3):
                square += (points[f, spans[i, 0], c] - places[i, c]) ** 2
            strays[i] = max(strays[i], square)
    return np.sqrt(strays)


@njit(cache=True, error_model="numpy")
def _share(
    places: FloatArray, spans: IntArray, i: int, j: int, excess: FloatArray, part: float
) -> None:
    """Take ``part`` of ``excess`` out of the way from i to j; the shorter hold moves more."""
    a, b = spans[i, 2] - spans[i, 1] + 1, spans[j, 2] - spans[j, 1] + 1
    for c in range(3):
        places[i, c] += part * excess[c] * b / (a + b)
        places[j, c] -= part * excess[c] * a / (a + b)


@njit(cache=True, error_model="numpy")
def _settle(
    places: FloatArray,
    mine: IntArray,
    spans: IntArray,
    points: FloatArray,
    length: float,
    near: float,
) -> None:
    """Move the places of one foot until those held together fit the rigid foot, in place.

    ``mine`` are its holds in time order. Each sweep pulls neighbours towards their distance; the
    last one goes from hold to hold and makes every distance exact.
    """
    for sweep in range(SWEEPS + 1):
        for a in range(len(mine)):
            i = mine[a]
            for b in range(a + 1, len(mine)):
                j = mine[b]
                gap = spans[j, 1] - spans[i, 2]
                if gap > near:
                    if spans[j, 0] == spans[i, 0]:
                        break
                    continue
                way = places[j] - places[i]
                if gap <= 0:
                    if spans[i, 0] == spans[j, 0]:
                        continue
                    now = max(np.sqrt(way[0] ** 2 + way[1] ** 2 + way[2] ** 2), 1e-12)
                    if sweep < SWEEPS:
                        _share(places, spans, i, j, way, 1.0 - length / now)
                    else:
                        for c in range(3):
                            places[j, c] = places[i, c] + way[c] * (length / now)
                elif 2 * sweep < SWEEPS:
                    step = points[spans[j, 1], spans[j, 0]] - points[spans[i, 2], spans[i, 0]]
                    _share(places, spans, i, j, way - step, 1.0 - (gap - 1.0) / near)
