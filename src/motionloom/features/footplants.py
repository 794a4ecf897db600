"""Footplants: when heel and ball of each foot stand."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, positive
from motionloom.features.foot_signals import FootSignals, measure_foot_signals
from motionloom.features.plant_edges import refine_edges
from motionloom.motion.body import BodyMap
from motionloom.motion.contacts import KINDS, Footplants, runs_of
from motionloom.motion.feet import ball_height
from motionloom.motion.motion import Motion

__all__ = ["detect_footplants"]

BODY_PART = 0.2
"""A standing point moves at no more than this part of the body's speed."""
FASTEST = 1.5
"""Never above this speed, m/s, however fast the body is."""
LEAVING = 1.5
"""A plant goes on until its point is this many times faster than what began it."""
SAME_SPOT_M = 0.04
"""Two plants nearer than this, with a short gap, are one."""


def detect_footplants(
    motion: Motion,
    *,
    body: BodyMap | None = None,
    speed: float = 0.25,
    shortest_s: float = 0.06,
) -> Footplants:
    """When each heel and each ball (toe) of a foot stands.

    A point stands while it is slow in three dimensions: slower than ``speed``, or than a fifth of
    the body's own speed where that is more, for the feet of a runner are never quite still in
    captures. Height over the floor is not asked, so stairs and drifting floors are no obstacle.

    Parameters
    ----------
    motion
        Any rate from 20 Hz up.
    body
        Roles of its joints; guessed by default.
    speed
        Below this speed a point can stand, m/s.
    shortest_s
        Plants shorter than this are dropped, seconds.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> plants = detect_footplants(synthetic.clip("walk").motion)
    >>> len(plants.intervals()["left_toe"]) > 1
    True
    """
    speed, shortest_s = positive(speed, "speed"), positive(shortest_s, "shortest_s")
    body = BodyMap.guess(motion.skeleton) if body is None else body
    signals = measure_foot_signals(motion, body)
    begins = np.clip(BODY_PART * signals.body_speed, speed, max(FASTEST, speed))
    planted = np.zeros(signals.speeds.shape, dtype=bool)
    for k in range(len(KINDS)):
        slow = _hysteresis(signals.speeds[:, k], begins)
        slow = _join(slow, signals.points[:, k], 0.1 * motion.fps)
        planted[:, k] = _drop_short(slow, shortest_s * motion.fps)
    planted &= ~_tilted(signals, ball_height(motion.skeleton, body))
    planted = refine_edges(
        planted, signals.points, signals.noise, motion.fps, shortest=shortest_s * motion.fps
    )
    for k in range(len(KINDS)):
        planted[:, k] = _drop_short(planted[:, k], shortest_s * motion.fps)
    return Footplants(planted)


def _hysteresis(speeds: FloatArray, begins: FloatArray) -> BoolArray:
    """Runs below ``LEAVING * begins`` that somewhere are below ``begins``."""
    kept = np.zeros(len(speeds), dtype=bool)
    for first, last in runs_of(speeds < LEAVING * begins):
        kept[first : last + 1] = bool(np.any((speeds < begins)[first : last + 1]))
    return kept


def _join(planted: BoolArray, points: FloatArray, longest_gap: float) -> BoolArray:
    """Plants on one spot joined across gaps that are too short for a step."""
    joined = planted.copy()
    runs = runs_of(planted)
    for (a, b), (c, d) in pairwise(runs):
        apart = np.linalg.norm(
            np.median(points[c : d + 1], axis=0) - np.median(points[a : b + 1], axis=0)
        )
        if c - b - 1 <= longest_gap and apart < SAME_SPOT_M:
            joined[b + 1 : c] = True
    return joined


def _tilted(signals: FootSignals, height: float) -> BoolArray:
    """Points that hang in the air because the foot stands on its other end.

    On tiptoe a heel can be quite still without standing on anything.
    """
    over = signals.points[:, 0::2, 1] - signals.points[:, 1::2, 1]  # (F, 2) heel over ball
    tilted = np.zeros(signals.speeds.shape, dtype=bool)
    tilted[:, 0::2] = over > 1.5 * height
    tilted[:, 1::2] = over < -2.5 * height
    return tilted


def _drop_short(planted: BoolArray, shortest: float) -> BoolArray:
    kept = np.zeros_like(planted)
    for first, last in runs_of(planted):
        kept[first : last + 1] = last - first + 1 >= shortest
    return kept
