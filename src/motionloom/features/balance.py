"""Balance: the centre of mass, the zero moment point, and how far it leaves the feet that stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom._core import constant
from motionloom._records import record
from motionloom.body.anatomy import ball_height, stature, tip_points
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.body.masses import mass_segments
from motionloom.motion.motion import Motion

GRAVITY = constant("ML_GRAVITY")
SMOOTH_S = 0.25
"""Window of the cubic fits behind accelerations: shorter leave noise, longer cut peaks."""
FLIGHT_LOAD = constant("ML_FLIGHT_LOAD")
"""Below this part of body weight on the ground there is no zero moment point."""


@dataclass(frozen=True, slots=True, eq=False)
@record
class ZeroMoment:
    """Where the ground would have to push, and how hard."""

    points: FloatArray
    """Zero moment point (x, z) on the floor, nan in flight and near the ends. Shape (F, 2)."""
    load: FloatArray
    """Vertical push in body weights: 1 standing, 0 in flight. Shape (F,)."""


def centre_of_mass(motion: Motion, *, body: BodyMap | None = None) -> FloatArray:
    """Centre of mass of the body in every frame, metres. Shape (F, 3)."""
    body = roles_for(motion.skeleton, body)
    return mass_segments(motion.skeleton.n_joints, body).centre(motion.world_positions())


def zero_moment_point(
    motion: Motion, *, body: BodyMap | None = None, floor: float = 0.0
) -> ZeroMoment:
    """Point on the floor about which gravity and inertia of all segments balance.

    Point masses at the segments' centres, positions and accelerations from cubic fits over a
    quarter of a second; the first and last eighth of a second therefore have none.

    Parameters
    ----------
    motion
        F frames.
    body
        Roles of its joints; guessed by default.
    floor
        Height of the ground, metres.
    """
    body = roles_for(motion.skeleton, body)
    segments = mass_segments(motion.skeleton.n_joints, body)
    centres, accelerations = _cubic_fits(segments.centres(motion.world_positions()), motion.fps)
    mass = segments.masses
    push = accelerations[..., 1] + GRAVITY  # (F, S)
    load = push @ mass / GRAVITY
    height = centres[..., 1] - floor
    points = np.stack(
        [(centres[..., c] * push - height * accelerations[..., c]) @ mass for c in (0, 2)], axis=-1
    )
    stands = np.nan_to_num(load) >= FLIGHT_LOAD
    points = np.where(
        stands[:, None], points / np.where(stands, load * GRAVITY, 1.0)[:, None], np.nan
    )
    return ZeroMoment(points, load)


def _cubic_fits(values: FloatArray, fps: float) -> tuple[FloatArray, FloatArray]:
    """Value and second derivative of local cubics, nan where the window leaves the clip."""
    half = max(2, round(0.5 * SMOOTH_S * fps))
    smooth, second = np.full(values.shape, np.nan), np.full(values.shape, np.nan)
    if len(values) < 2 * half + 1:
        return smooth, second
    time = np.arange(-half, half + 1) / fps
    fit = np.linalg.pinv(np.vander(time, 4, increasing=True))  # (4, window)
    windows = np.lib.stride_tricks.sliding_window_view(values, 2 * half + 1, axis=0)
    smooth[half:-half] = windows @ fit[0]
    second[half:-half] = 2.0 * (windows @ fit[2])
    return smooth, second


# --- Support: the soles that may carry the zero moment point

HALF_WIDTH = 0.0275
"""Half the breadth of a foot as a part of stature (Winter, after Drillis and Contini)."""
ROLL_S = 0.1
"""A foot carries this long before and after its points stand: it rolls on the edges of its sole.
Without it captured walks are without support at every change of foot."""


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


def _lengthened(planted: BoolArray, frames: int) -> BoolArray:
    longer = planted.copy()
    for shift in range(1, min(frames, len(planted) - 1) + 1):
        longer[shift:] |= planted[:-shift]
        longer[:-shift] |= planted[shift:]
    return longer


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


# --- Distance from a point to the soles


def support_distance(points: FloatArray, corners: FloatArray, used: BoolArray) -> FloatArray:
    """How far each point lies outside the convex hull of its corners; negative inside. Shape (F,).

    Parameters
    ----------
    points : (F, 2)
        On the ground.
    corners : (F, C, 2)
        Corners of what stands on the ground.
    used : (F, C)
        Which of them count in each frame. Frames without any, or with a nan point, give nan.

    Notes
    -----
    The distance is the largest gap in any of 360 directions: off by less than half a degree, so for
    a point that faces an edge by at most 0.0088 of that edge, 2 mm for a sole. Inside, it is minus
    the distance to the nearest edge, to the same precision.
    """
    return _gaps(points, corners, used)[0]


def way_to_support(points: FloatArray, corners: FloatArray, used: BoolArray) -> FloatArray:
    """From each point straight to the hull of its corners, metres; zero inside. Shape (F, 2).

    Parameters and precision are those of :func:`support_distance`; frames without any give nan.
    """
    distance, direction = _gaps(points, corners, used)
    return np.asarray(-np.maximum(distance, 0.0)[:, None] * direction)


def _gaps(
    points: FloatArray, corners: FloatArray, used: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Distance (F,) outside the hull, and the direction (F, 2) from the hull to the point."""
    angles = np.arange(360) * (np.pi / 180.0)
    directions = np.stack([np.cos(angles), np.sin(angles)])  # (2, 360)
    out, way = np.full(len(points), np.nan), np.zeros((len(points), 2))
    for first in range(0, len(points), 32):  # a megabyte at a time, which the caches hold
        part = slice(first, first + 32)
        # Measured from the point itself, so that far from the origin no digits are lost.
        reach = (corners[part] - points[part, None]) @ directions  # (F, C, 360)
        reach[~used[part]] = -np.inf
        gap = reach.max(axis=1)
        nearest = gap.argmin(axis=-1)
        out[part] = -np.take_along_axis(gap, nearest[:, None], axis=-1)[:, 0]
        way[part] = directions[:, nearest].T
    stands = used.any(axis=-1) & np.isfinite(points).all(axis=-1)
    return np.where(stands, out, np.nan), way
