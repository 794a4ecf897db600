"""Limits: how fast, how low and how far the sources of a result go, each joint by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit

from motionloom._arrays import BoolArray, FloatArray
from motionloom.features.checks.rig import CheckRig
from motionloom.features.checks.series import Series

__all__ = [
    "BRAKE_S",
    "DRAG_HEIGHT_M",
    "DRAG_SPEED",
    "FALL",
    "HOVER_M",
    "Limits",
    "contact_slide",
    "drag_length",
    "floor_heights",
    "hover_time",
    "is_off",
    "measure_limits",
    "merged",
    "no_limits",
]

BRAKE_S = 0.15
"""Decelerations are measured over this long."""
DRAG_HEIGHT_M, DRAG_SPEED = 0.015, 0.25
"""A foot lower than the first over the floor and faster than the second, m/s, is dragged."""
HOVER_M = 0.06
"""A body all of whose points are higher than this over the floor touches nothing."""
FALL = -4.0
"""A body in flight falls; one whose pelvis accelerates less than this downwards hovers, m/s2."""
EDGE_S, LONG_S = 0.06, 1.0
"""The first and last so many seconds of a clip longer than the second set no limits."""
SHORTEST_CONTACT = 3
"""Frames that a contact must have for its slide to be measured."""


class Limits(NamedTuple):
    """Largest values of the sources, captured glitches excluded."""

    turn: FloatArray
    """Rotation speed of judged joints, rad/s. (N,)"""
    speed: FloatArray
    """Relative to their parents, m/s. (N,)"""
    bend: FloatArray
    """Second difference of world positions, m/s2. (N,)"""
    carried: FloatArray
    """Rotation speed of joints above the pelvis, rad/s. (A,)"""
    least_flexion: FloatArray
    """Of both knees, radians. (2,)"""
    most_flexion: FloatArray
    """(2,)"""
    sole: FloatArray
    """Lowest heel and ball of each foot, metres. (4,)"""
    floor: FloatArray
    """Height at which each of them stands in the source with the lowest floor, metres. (4,)"""
    highest: FloatArray
    """The same in the source with the highest floor. (4,)"""
    body: FloatArray
    """See ``BODY``. (6,)"""


BODY = ("head", "travel", "brake", "slide", "drag", "hover")
"""95th percentile of the head's rotation speed, rad/s; ground speed of the pelvis, m/s;
deceleration, m/s2; farthest slide of a contact, metres; farthest drag of a low foot, metres;
longest hover, seconds."""
HEAD, TRAVEL, BRAKE, SLIDE, DRAG, HOVER = range(len(BODY))
LOWS = frozenset({"least_flexion", "sole", "floor"})
"""Fields of which the lower value is the wider limit."""


def no_limits(rig: CheckRig) -> Limits:
    """Limits of no source: nothing moves, soles may be anywhere."""
    n = len(rig.judged)
    return Limits(
        np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(len(rig.carriers)),
        np.full(2, np.inf), np.full(2, -np.inf), np.full(4, np.inf), np.full(4, np.inf),
        np.full(4, -np.inf), np.zeros(len(BODY)),
    )  # fmt: skip


def merged(limits: Sequence[Limits]) -> Limits:
    """Limits of several sources together."""
    out = {}
    for name in Limits._fields:
        values = np.stack([getattr(each, name) for each in limits])
        out[name] = values.min(axis=0) if name in LOWS else values.max(axis=0)
    return Limits(**out)


def measure_limits(
    rig: CheckRig, series: Series, planted: BoolArray, fps: float, glitched: BoolArray
) -> Limits:
    """Limits of one clip.

    Parameters
    ----------
    rig, series
        The body, and what was measured of the clip.
    planted : (F, 4)
        Its contacts.
    fps
        Frames per second.
    glitched : (F,)
        Frames to leave out: capture glitches and their neighbours.
    """
    good = ~glitched
    edge = round(EDGE_S * fps)
    if len(good) > LONG_S * fps:  # takes often begin and end in the middle of a correction
        good[:edge] = good[len(good) - edge :] = False
    if not good.any():
        good = np.ones_like(good)

    def most(values: FloatArray) -> FloatArray:
        return np.asarray(values[good].max(axis=0))

    floor = floor_heights(series, planted)
    body = np.array(
        [
            float(np.quantile(series.head[good], 0.95)),
            float(ground_speed(series.pelvis, fps)[good].max()),
            float(decelerations(series.pelvis, fps)[good].max()),
            max((contact_slide(series.soles[:, k], planted[:, k]) for k in range(4)), default=0.0),
            max(drag_length(series.soles[:, k : k + 2], floor[k : k + 2], fps) for k in (0, 2)),
            hover_time(series, floor, fps),
        ]
    )
    has_legs = len(rig.legs) > 0
    return Limits(
        most(series.turn),
        most(series.speed),
        most(series.bend),
        most(series.carried) if series.carried.shape[1] else np.zeros(0),
        series.flexion[good].min(axis=0) if has_legs else np.full(2, np.inf),
        most(series.flexion) if has_legs else np.full(2, -np.inf),
        series.soles[good][..., 1].min(axis=0) if has_legs else np.full(4, np.inf),
        floor,
        floor,
        body,
    )


def floor_heights(series: Series, planted: BoolArray) -> FloatArray:
    """Height at which each sole point stands, metres (4,); the lowest of all where it does not.

    Each has its own: rigs draw heels and balls at different heights over the same floor.
    """
    out = np.full(4, np.nan)
    for k in range(4):
        heights = series.soles[planted[:, k], k, 1]
        if len(heights) >= SHORTEST_CONTACT:
            out[k] = np.quantile(heights, 0.25)
    known = np.isfinite(out)
    lowest = float(np.quantile(series.soles[..., 1].min(axis=1), 0.05))
    return np.where(known, out, np.min(out[known]) if known.any() else lowest)


def ground_speed(pelvis: FloatArray, fps: float) -> FloatArray:
    """Speed over the ground, m/s, of the step into each frame. (F,)."""
    speed = np.zeros(len(pelvis))
    if len(pelvis) > 1:
        speed[1:] = fps * np.linalg.norm(np.diff(pelvis[:, [0, 2]], axis=0), axis=-1)
    return speed


@njit(cache=True, error_model="numpy")
def decelerations(pelvis: FloatArray, fps: float) -> FloatArray:
    """Loss of ground speed over ``BRAKE_S`` before each frame, m/s2, smoothed over it. (F,)."""
    n = len(pelvis)
    width = max(2, round(BRAKE_S * fps))
    out = np.zeros(n)
    half = max(1, width // 2)
    for t in range(width + half, n):
        now = _mean_speed(pelvis, t - half, t, fps)
        before = _mean_speed(pelvis, t - width - half, t - width, fps)
        out[t] = (before - now) * fps / width
    return out


@njit(cache=True, error_model="numpy", inline="always")
def _mean_speed(pelvis: FloatArray, first: int, last: int, fps: float) -> float:
    x, z = pelvis[last, 0] - pelvis[first, 0], pelvis[last, 2] - pelvis[first, 2]
    return float(fps * np.sqrt(x * x + z * z) / (last - first))


@njit(cache=True, error_model="numpy")
def contact_slide(point: FloatArray, planted: BoolArray) -> float:
    """Farthest that a point (F, 3) gets over the ground within one contact, metres."""
    worst, t = 0.0, 0
    while t < len(planted):
        if not planted[t]:
            t += 1
            continue
        first = t
        low_x = high_x = point[t, 0]
        low_z = high_z = point[t, 2]
        while t < len(planted) and planted[t]:
            low_x, high_x = min(low_x, point[t, 0]), max(high_x, point[t, 0])
            low_z, high_z = min(low_z, point[t, 2]), max(high_z, point[t, 2])
            t += 1
        if t - first >= SHORTEST_CONTACT:
            worst = max(worst, np.sqrt((high_x - low_x) ** 2 + (high_z - low_z) ** 2))
    return worst


@njit(cache=True, error_model="numpy")
def drag_length(foot: FloatArray, floor: FloatArray, fps: float) -> float:
    """Longest way of a foot (F, 2, 3) low over its floor (2,) and not standing, metres."""
    worst, way = 0.0, 0.0
    for t in range(1, len(foot)):
        low = 0 if foot[t, 0, 1] - floor[0] < foot[t, 1, 1] - floor[1] else 1
        x, z = foot[t, low, 0] - foot[t - 1, low, 0], foot[t, low, 2] - foot[t - 1, low, 2]
        step = np.sqrt(x * x + z * z)
        if foot[t, low, 1] < floor[low] + DRAG_HEIGHT_M and step * fps > DRAG_SPEED:
            way += step
            worst = max(worst, way)
        else:
            way = 0.0
    return worst


@njit(cache=True, error_model="numpy", inline="always")
def is_off(soles: FloatArray, lowest: FloatArray, t: int, floor: FloatArray) -> bool:
    """Whether everything is off the floor in a frame."""
    for k in range(4):
        if soles[t, k, 1] <= floor[k] + HOVER_M:
            return False
    return bool(lowest[t] > min(floor[0], floor[1], floor[2], floor[3]) + HOVER_M)


@njit(cache=True, error_model="numpy")
def hover_time(series: Series, floor: FloatArray, fps: float) -> float:
    """Longest time that a body touches nothing and does not fall, seconds."""
    worst, t = 0.0, 0
    soles, lowest, pelvis = series.soles, series.lowest, series.pelvis
    n = len(lowest)
    while t < n:
        if not is_off(soles, lowest, t, floor):
            t += 1
            continue
        first = t
        while t < n and is_off(soles, lowest, t, floor):
            t += 1
        wide = t - first
        if wide >= 3:
            # Mean acceleration over the run: from the slopes at its two ends.
            up = (pelvis[first + 1, 1] - pelvis[first, 1]) * fps
            down = (pelvis[t - 1, 1] - pelvis[t - 2, 1]) * fps
            if (down - up) * fps / (wide - 2) > FALL:
                worst = max(worst, wide / fps)
    return worst
