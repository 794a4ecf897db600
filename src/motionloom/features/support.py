"""Support: whether the zero moment point lies over the feet that stand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.body.body_map import BodyMap
from motionloom.body.feet import ball_height, tip_points
from motionloom.body.stature import stature
from motionloom.features.balance import ZeroMoment, support_distance, zero_moment_point
from motionloom.motion.motion import Motion

HALF_WIDTH = 0.0275
"""Half the breadth of a foot as a part of stature (Winter, after Drillis and Contini)."""
ROLL_S = 0.1
"""A foot carries this long before and after its points stand: it rolls on the edges of its sole.
Without it captured walks are without support at every change of foot."""


def support_corners(
    points: FloatArray, tips: FloatArray, planted: BoolArray, half_width: float
) -> tuple[FloatArray, BoolArray]:
    """Ground corners (F, 12, 2) of both soles, and which of them carry (F, 12).

    A foot carries at its heel, at its ball and toes, or all along. A heel alone carries back to
    under the ankle, a third of the way to the ball.

    Parameters
    ----------
    points : (F, 4, 3)
        Left heel, left ball, right heel, right ball.
    tips : (F, 2, 3)
        Tips of the left and right toes.
    planted : (F, 4)
        Which of the points stand.
    half_width
        Half the breadth of a foot, metres.
    """
    corners, used = [], []
    for side in (0, 1):
        heel, ball = points[:, 2 * side], points[:, 2 * side + 1]
        along = (ball - heel)[:, [0, 2]]
        along = along / np.maximum(np.linalg.norm(along, axis=-1, keepdims=True), 1e-9)
        across = half_width * np.stack([along[:, 1], -along[:, 0]], axis=-1)
        on_heel, on_ball = planted[:, 2 * side], planted[:, 2 * side + 1]
        rows = ((heel, on_heel), (heel + (ball - heel) / 3.0, on_heel), (ball, on_ball))
        for place, carries in (*rows, (tips[:, side], on_ball)):
            for edge in (-across, across):
                corners.append(place[:, [0, 2]] + edge)
                used.append(carries)
    return np.stack(corners, axis=1), np.stack(used, axis=1)


class Support(NamedTuple):
    """The zero moment point of a motion and the soles that may carry it."""

    zero_moment: ZeroMoment
    corners: FloatArray
    """Corners of the soles on the ground. (F, 12, 2)"""
    used: BoolArray
    """Which of them carry. (F, 12)"""
    floor: float
    """Height of the ground, metres."""

    def distance(self) -> FloatArray:
        """How far the point lies outside the soles, metres; negative inside, nan in flight."""
        return support_distance(self.zero_moment.points, self.corners, self.used)


def support_of(motion: Motion, points: FloatArray, planted: BoolArray, body: BodyMap) -> Support:
    """The zero moment point and the soles under it.

    Parameters
    ----------
    motion
        F frames.
    points : (F, 4, 3)
        Left heel, left ball, right heel, right ball.
    planted : (F, 4)
        Which of them stand.
    body
        Roles of the motion's joints.
    """
    on_ground = points[..., 1][planted]
    floor = 0.0
    if on_ground.size:
        floor = float(np.median(on_ground)) - ball_height(motion.skeleton, body)
    zmp = zero_moment_point(motion, body=body, floor=floor)
    tips = tip_points(motion, body=body)
    half_width = HALF_WIDTH * stature(motion.skeleton, body)
    carrying = _lengthened(planted, round(ROLL_S * motion.fps))
    return Support(zmp, *support_corners(points, tips, carrying, half_width), floor)


def measure_support(
    motion: Motion, points: FloatArray, planted: BoolArray, body: BodyMap
) -> tuple[float | None, float | None]:
    """How far the zero moment point leaves the support, metres, and the part without any.

    The first is the 95th percentile over frames that stand on something, 0 inside; None where
    none does. The second counts frames that are neither in flight nor on a foot.
    """
    support = support_of(motion, points, planted, body)
    distance = support.distance()
    standing = np.isfinite(support.zero_moment.points).all(axis=-1)
    if not standing.any():
        return None, None
    carried: BoolArray = np.asarray(support.used.any(axis=-1))
    unsupported = float(np.mean(~carried[standing]))
    distances = distance[np.isfinite(distance)]
    if not distances.size:
        return None, unsupported
    return float(np.quantile(np.maximum(distances, 0.0), 0.95)), unsupported


def _lengthened(planted: BoolArray, frames: int) -> BoolArray:
    longer = planted.copy()
    for shift in range(1, min(frames, len(planted) - 1) + 1):
        longer[shift:] |= planted[:-shift]
        longer[:-shift] |= planted[shift:]
    return longer
