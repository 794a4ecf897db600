"""Footplants: when heel and ball of each foot stand."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, positive
from motionloom.features.foot_signals import FootSignals, measure_foot_signals
from motionloom.features.plant_edges import refine_edges
from motionloom.features.plant_ends import draw_out
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
LONGEST_GAP_S = 0.1
RISE_M = 0.02
"""A point this far over the level of its plant has left it."""
HEEL_UP, TOES_UP = 1.5, 2.5
"""A heel this many ball heights over its ball is in the air, and so is a ball over its heel. More
is allowed to balls, for rigs differ in how flat their rest pose has the foot."""
HELD_M = 0.08
"""A still foot this far over the one that stands may be held in the air."""
PAUSE_M, PAUSE_S = 0.012, 0.2
"""Least height and most duration of a pause within a step."""
BRIEF_S = 0.1
"""No weight is taken over in less than this from a foot that stands."""


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
    Feet that slide along with the body are seen through; feet of a clip in place, which slide
    against a body at rest, stand nowhere and have no plants.

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
    # A clip of a few still frames stands, though it is shorter than any plant.
    shortest = min(shortest_s * motion.fps, max(motion.n_frames, 2))
    planted = np.zeros(signals.speeds.shape, dtype=bool)
    for k in range(len(KINDS)):
        slow = _hysteresis(signals.speeds[:, k], begins)
        slow = _join(slow, signals.points[:, k], LONGEST_GAP_S * motion.fps)
        planted[:, k] = slow & ~_risen(slow, signals.points[:, k, 1], signals.noise[k, 1])
    planted &= ~_tilted(signals, ball_height(motion.skeleton, body))
    planted = _long_enough(planted, shortest)
    planted = _carrying(planted, signals.points[..., 1], signals.noise[:, 1], motion.fps)
    planted = _to_the_ends(planted, shortest)
    planted = refine_edges(planted, signals.points, signals.noise, motion.fps, shortest=shortest)
    planted = draw_out(planted, signals, motion.fps)
    return Footplants(_long_enough(planted, shortest))


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


def _risen(planted: BoolArray, heights: FloatArray, noise: float) -> BoolArray:
    """Frames of a plant in which the point has left its level, however slowly."""
    risen = np.zeros_like(planted)
    for first, last in runs_of(planted):
        track = heights[first : last + 1]
        risen[first : last + 1] = track > np.median(track) + RISE_M + 3.0 * noise
    return risen


def _tilted(signals: FootSignals, height: float) -> BoolArray:
    """Points that hang in the air because the foot stands on its other end.

    On tiptoe a heel can be quite still without standing on anything.
    """
    over = signals.points[:, 0::2, 1] - signals.points[:, 1::2, 1]  # (F, 2) heel over ball
    tilted = np.zeros(signals.speeds.shape, dtype=bool)
    tilted[:, 0::2] = over > HEEL_UP * height
    tilted[:, 1::2] = -over > TOES_UP * height
    return tilted


def _carrying(planted: BoolArray, heights: FloatArray, noise: FloatArray, fps: float) -> BoolArray:
    """Plants without those of a foot that only pauses, or is held, in the air.

    All the while the other foot stands. A foot that is held is well above that one; a foot on a
    stair is so too, but then the other leaves and it carries. A foot that pauses within a step does
    so above the places where it stands before and after, or for a moment only.
    """
    kept = planted.copy()
    for k in range(planted.shape[1]):
        others = slice(2, 4) if k < 2 else slice(0, 2)
        ground = np.where(planted[:, others], heights[:, others], np.inf).min(axis=1)
        runs = runs_of(planted[:, k])
        levels = [float(np.median(heights[first : last + 1, k])) for first, last in runs]
        for i, (first, last) in enumerate(runs):
            if np.mean(np.isfinite(ground[first : last + 1])) < 0.95:
                continue
            cut = first == 0 or last == len(planted) - 1
            above = heights[first : last + 1, k] - ground[first : last + 1]
            held = not cut and np.mean(above > HELD_M) > 0.95
            neighbours = levels[max(i - 1, 0) : i] + levels[i + 1 : i + 2]
            rise = levels[i] - max(neighbours, default=levels[i])
            # Only one neighbour tells little: it may be the next step of a stair.
            highest = HELD_M if len(neighbours) < 2 else np.inf
            pauses = last - first + 1 < PAUSE_S * fps and PAUSE_M + 2.0 * noise[k] < rise < highest
            brief = not cut and last - first + 1 < BRIEF_S * fps
            if held or pauses or brief:
                kept[first : last + 1, k] = False
    return kept


def _to_the_ends(planted: BoolArray, nearly: float) -> BoolArray:
    """Plants that nearly reach an end of the clip drawn out to it.

    No step fits in between, and speeds are the least certain there.
    """
    drawn = planted.copy()
    n_frames = len(planted)
    for k in range(planted.shape[1]):
        for first, last in runs_of(planted[:, k]):
            if first < nearly:
                drawn[:first, k] = True
            if n_frames - 1 - last < nearly:
                drawn[last:, k] = True
    return drawn


def _long_enough(planted: BoolArray, shortest: float) -> BoolArray:
    """Plants of at least ``shortest`` frames. Shape (F, P)."""
    kept = np.zeros_like(planted)
    for k in range(planted.shape[1]):
        for first, last in runs_of(planted[:, k]):
            kept[first : last + 1, k] = last - first + 1 >= shortest
    return kept
