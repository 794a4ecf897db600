"""Skated clips: which feet stand on a floor that slides, and for how much of the time it slides.

In a clip whose root drifts and whose legs tremble no foot is ever slow, and yet an eye sees which
foot stands: the low one, next to which everything else moves. So the velocity of the ground is
estimated as a smooth function of time that the slowest low point of a foot follows best, foot after
foot. On a copy without that velocity, and smoothed, a point stands while it is low and slow. The
copy serves to find contacts, and to measure how much of a clip slides without knowing its contacts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, running_mean, running_minimum
from motionloom._core import kernel
from motionloom.features.footplants.plant_edges import FootTracks, line_slopes
from motionloom.motion.motion import runs_of, velocities

_follow = kernel("ml_ground_follow")

SMOOTH_S = 0.035
"""The copy is smoothed twice over this long to either side."""
LEVEL_S, LOW_M = 1.0, 0.05
"""A point is low at most 0.05 m over the lowest point of both feet within 1 s before and after."""
GROUND_S = 0.03
"""The ground takes this long to change its velocity."""
STRANGE_M_S, WIDER, NARROWS = 0.25, 4.0, 0.6
"""A point that moves this fast over the ground counts a quarter; at first it may move faster by the
second, and by this part of it in each round."""
ROUNDS = 8
SPEED_PART, SPEEDS = 0.35, (0.25, 0.6)
"""On the copy a point stands while it is slower than this part of its 95th percentile, m/s, ..."""
BODY_PART = 0.25
"""... or than this part of the body's speed, ..."""
HIGH_M, LIFT_PART = 0.035, 0.35
"""... and less than this, or this part of its lift, over its lowest place near by."""
GAP_S, BRIEF_S = 0.08, 0.06
"""Shorter gaps are filled, then shorter stances dropped, seconds."""
BODY_S = 0.15
"""The body's speed is taken over this long to either side."""
FAST_M_S, FAST_PART = 0.15, 0.08
"""A foot on the floor that is faster than this, m/s, and than this part of the body's speed,
slides: feet of captured runners are never quite still."""
MIDDLE = 0.25
"""Frames on the floor are those of a stance without this part of it at either end: there feet come
down and leave."""
LEAST = 0.3
"""Who is on the floor for less than this part of a clip flies, turns over or lies: nothing is known
of the ground."""
PLACE_S, IN_PLACE = 1.0, 2.0
"""A ground that goes this many times as fast as the body, over so long, is a treadmill."""


class Floor(NamedTuple):
    """Points that stand on a ground that may slide."""

    planted: BoolArray
    """Heels and balls that stand on the copy. Shape (F, 4)."""
    slide: float | None
    """Part of the frames on the floor in which no foot on it stands in the clip itself; None
    where feet are hardly on a floor, and for clips in place."""


def find_floor(tracks: FootTracks, fps: float) -> Floor:
    """Find the points on the floor, and for how much of that time they slide.

    Parameters
    ----------
    tracks
        Of a clip of F frames.
    fps
        Frames per second.
    """
    points, pelvis = tracks.points, tracks.pelvis
    if len(points) < 4:
        return Floor(np.zeros(points.shape[:2], dtype=bool), None)
    half = max(1, round(SMOOTH_S * fps))
    calm = running_mean(running_mean(points, half), half)
    level = running_minimum(calm[..., 1].min(axis=1), round(LEVEL_S * fps))
    high = calm[..., 1] - level[:, None] > LOW_M
    ground = _ground(calm, high, fps)
    calm[..., [0, 2]] -= np.cumsum(ground, axis=0)[:, None] / fps
    travel = velocities(pelvis[:, [0, 2]], fps)
    body = _sizes(running_mean(travel - ground, max(1, round(BODY_S * fps))))
    planted = _standing(calm, body, fps)
    if planted.any(axis=1).mean() < LEAST or _in_place(ground, travel, fps):
        return Floor(planted, None)
    return Floor(planted, _slide(points, planted, _sizes(travel), fps))


def _ground(points: FloatArray, high: BoolArray, fps: float) -> FloatArray:
    """Velocity (F, 2) of the ground, m/s, by least squares whose weights are found again."""
    n = len(points)
    moving = np.ascontiguousarray(velocities(points, fps)[..., [0, 2]])
    stiff = np.zeros((4, n))  # upper bands of squared second differences: ml_spline_solve
    for i, a in enumerate((1.0, -2.0, 1.0)):
        for j, b in enumerate((1.0, -2.0, 1.0)[i:]):
            stiff[3 - j, i + j : n - 2 + i + j] += a * b
    stiff *= (GROUND_S * fps) ** 4
    ground, bands = np.zeros((n, 2)), np.zeros((4, n))
    for k in range(ROUNDS):
        strange = STRANGE_M_S * (1.0 + WIDER * NARROWS**k)
        _follow(n, high.shape[1], moving, high, strange, stiff, bands, ground)
    return ground


def _standing(points: FloatArray, body: FloatArray, fps: float) -> BoolArray:
    """Points (F, 4) of a calm copy that are low and slow; ``body`` (F,) is its speed."""
    heights, speeds = points[..., 1], _sizes(velocities(points, fps))
    over = heights - running_minimum(heights, round(LEVEL_S * fps))
    lift = np.subtract(*np.quantile(heights, (0.95, 0.05), axis=0))
    slow = np.clip(SPEED_PART * np.quantile(speeds, 0.95, axis=0), *SPEEDS)
    stands = speeds < np.maximum(slow, BODY_PART * body[:, None])
    stands &= over < np.maximum(HIGH_M, LIFT_PART * lift)
    n = len(stands)
    for k in range(stands.shape[1]):
        for fill, longest in ((True, GAP_S * fps), (False, BRIEF_S * fps)):
            for first, last in runs_of(stands[:, k] != fill):
                if first > 0 and last < n - 1 and last - first + 1 < longest:
                    stands[first : last + 1, k] = fill
    return np.asarray(stands)


def _in_place(ground: FloatArray, travel: FloatArray, fps: float) -> bool:
    """Whether the ground (F, 2) runs below a body that goes nowhere, as in clips in place."""
    half = max(1, round(0.5 * PLACE_S * fps))
    under, over = (float(np.median(_sizes(running_mean(v, half)))) for v in (ground, travel))
    return under > FAST_M_S and under > IN_PLACE * over


def _slide(points: FloatArray, planted: BoolArray, body: FloatArray, fps: float) -> float | None:
    """Part of the frames on the floor in which the slowest point there is fast."""
    inside = np.zeros_like(planted)
    for side in (slice(0, 2), slice(2, 4)):
        for first, last in runs_of(np.asarray(planted[:, side].any(axis=1))):
            edge = round(MIDDLE * (last - first + 1))
            rows = slice(first + edge, last + 1 - edge)
            inside[rows, side] = planted[rows, side]
    speeds = _sizes(line_slopes(points[..., [0, 2]], 2 * max(1, round(0.025 * fps)) + 1, fps))
    slowest = np.where(inside, speeds, np.inf).min(axis=1)
    on = np.isfinite(slowest)
    fast = slowest > np.maximum(FAST_M_S, FAST_PART * body)
    return float(np.mean(fast[on])) if on.any() else None


def _sizes(vectors: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(np.einsum("...c,...c->...", vectors, vectors)))
