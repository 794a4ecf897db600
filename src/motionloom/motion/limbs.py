"""Analytic two-bone inverse kinematics: put an ankle (or wrist) on a target.

The limb's plane is kept: the knee opens or closes about the axis it bends about now, then the
whole limb swings the shortest way so that its end meets the target. Rigid bones; a target out of
reach is approached as far as the bones go. A leg also has a pole, the direction in which its knee
points: the knee then stays on that side, also where the leg is straight or bent backwards.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from motionloom._arrays import FloatArray
from motionloom.errors import ArrayError
from motionloom.motion.knee_place import (
    knee_place,
    knee_place_numpy,
    knee_span,
    knee_span_numpy,
)
from motionloom.motion.vector_kernels import arc, cross, dot, times, turn
from motionloom.rotation import quat

__all__ = [
    "LimbSolution",
    "knee_place",
    "knee_span",
    "solve_leg_numpy",
    "solve_limb",
    "solve_limb_numpy",
]

STRAIGHT = 1e-4
"""Metres kept between a limb and full stretch: a fully straight one has no plane to bend in."""
SOFT = 0.005
"""Part of its length over which a leg eases into full stretch."""

SHORTEST_M = 1e-9
"""Shorter bones have no direction, metres."""


@dataclass(frozen=True, slots=True, eq=False)
class LimbSolution:
    """World turns to apply, and what the bones could not reach."""

    q_upper: FloatArray
    """Turn of the upper bone in the world: ``q_upper * q_world_hip``. (F, 4)"""
    q_lower: FloatArray
    """Turn of the lower bone in the world: ``q_lower * q_world_knee``. (F, 4)"""
    middle: FloatArray
    """Where the knee comes to lie, metres. (F, 3)"""
    end: FloatArray
    """Where the ankle comes to lie, metres. (F, 3)"""
    miss: FloatArray
    """Distance from the ankle to the target, metres; 0 where it was reached. (F,)"""


def solve_leg_numpy(
    top: FloatArray,
    middle: FloatArray,
    end: FloatArray,
    target: FloatArray,
    pole: FloatArray,
    soft: float,
) -> LimbSolution:
    """The plain form of :func:`solve_limb` with a pole."""
    upper, lower, leg, aim = middle - top, end - middle, end - top, target - top
    a, b = np.linalg.norm(upper, axis=-1), np.linalg.norm(lower, axis=-1)
    wanted = np.linalg.norm(aim, axis=-1)
    span = knee_span_numpy(np.linalg.norm(leg, axis=-1), wanted, a, b, soft)
    aim = aim * (span / wanted)[:, None]
    knee = knee_place_numpy(aim, leg, upper, pole, a, b)
    q_swing = quat.between_vectors(leg, aim)
    q_upper, q_lower = (
        quat.multiply_numpy(quat.between_vectors(quat.rotate_numpy(q_swing, old), new), q_swing)
        for old, new in ((upper, knee), (lower, aim - knee))
    )
    miss = np.linalg.norm(top + aim - target, axis=-1)
    return LimbSolution(q_upper, q_lower, top + knee, top + aim, miss)


def solve_limb_numpy(
    top: FloatArray, middle: FloatArray, end: FloatArray, target: FloatArray, hinge: FloatArray
) -> LimbSolution:
    """The plain form of :func:`solve_limb` without a pole."""
    upper, lower = middle - top, end - middle
    a, b = np.linalg.norm(upper, axis=-1), np.linalg.norm(lower, axis=-1)
    reach = np.linalg.norm(target - top, axis=-1)
    distance = np.clip(reach, np.abs(a - b) + STRAIGHT, np.maximum(a + b - STRAIGHT, STRAIGHT))
    normal = np.cross(upper, lower)
    size = np.linalg.norm(normal, axis=-1)
    # Where the limb is straight to a thousandth its own plane is noise: bend about the hinge.
    bent = size > 1e-3 * a * b
    length = np.linalg.norm(hinge, axis=-1)
    axis = np.where(
        bent[:, None],
        normal / np.where(size > 0, size, 1.0)[:, None],
        hinge / np.where(length > 0, length, 1.0)[:, None],
    )
    now = np.arctan2(np.sum(np.cross(upper, lower) * axis, axis=-1), np.sum(upper * lower, axis=-1))
    cos = (distance**2 - a**2 - b**2) / np.where(a * b > 0, 2.0 * a * b, 1.0)
    wanted = np.arccos(np.clip(cos, -1.0, 1.0))
    q_bend = quat.from_axis_angle(axis, wanted - now)
    straight_end = middle + quat.rotate_numpy(q_bend, lower)
    q_swing = quat.between_vectors(straight_end - top, target - top)
    new_middle = top + quat.rotate_numpy(q_swing, upper)
    new_end = top + quat.rotate_numpy(q_swing, straight_end - top)
    return LimbSolution(
        q_swing,
        quat.multiply_numpy(q_swing, q_bend),
        new_middle,
        new_end,
        np.linalg.norm(new_end - target, axis=-1),
    )


@njit(cache=True, error_model="numpy")
def _solve_frames(
    top: FloatArray,
    middle: FloatArray,
    end: FloatArray,
    target: FloatArray,
    hinge: FloatArray,
    straight: float,
    q_upper: FloatArray,
    q_lower: FloatArray,
    new_middle: FloatArray,
    new_end: FloatArray,
    miss: FloatArray,
) -> None:
    normal, axis, leg, bend, gap = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(4), np.zeros(3)
    upper, lower, aim = np.zeros(3), np.zeros(3), np.zeros(3)
    for f in range(len(top)):
        for c in range(3):
            upper[c] = middle[f, c] - top[f, c]
            lower[c] = end[f, c] - middle[f, c]
            aim[c] = target[f, c] - top[f, c]
        a, b = np.sqrt(dot(upper, upper)), np.sqrt(dot(lower, lower))
        distance = max(np.sqrt(dot(aim, aim)), abs(a - b) + straight)
        distance = min(distance, max(a + b - straight, straight))
        cross(upper, lower, normal)
        size = np.sqrt(dot(normal, normal))
        if size > 1e-3 * a * b:
            for c in range(3):
                axis[c] = normal[c] / size
        else:
            length = np.sqrt(dot(hinge[f], hinge[f]))
            for c in range(3):
                axis[c] = hinge[f, c] / (length if length > 0.0 else 1.0)
        now = np.arctan2(dot(normal, axis), dot(upper, lower))
        cos = (distance**2 - a**2 - b**2) / (2.0 * a * b if a * b > 0.0 else 1.0)
        half = 0.5 * (np.arccos(min(1.0, max(-1.0, cos))) - now)
        bend[0] = np.cos(half)
        for c in range(3):
            bend[1 + c] = np.sin(half) * axis[c]
        turn(bend, lower, leg)
        for c in range(3):
            leg[c] += upper[c]
        q = q_upper[f]
        arc(leg, aim, q)
        turn(q, upper, new_middle[f])
        turn(q, leg, new_end[f])
        for c in range(3):
            new_middle[f, c] += top[f, c]
            new_end[f, c] += top[f, c]
            gap[c] = new_end[f, c] - target[f, c]
        times(q, bend, q_lower[f])
        miss[f] = np.sqrt(dot(gap, gap))


@njit(cache=True, error_model="numpy")
def _arc_after(first: FloatArray, old: FloatArray, new: FloatArray, out: FloatArray) -> None:
    """``first``, then the shortest rotation from the turned ``old`` to ``new``."""
    moved, shortest = np.zeros(3), np.zeros(4)
    turn(first, old, moved)
    arc(moved, new, shortest)
    times(shortest, first, out)


@njit(cache=True, error_model="numpy")
def _solve_poled(
    top: FloatArray,
    middle: FloatArray,
    end: FloatArray,
    target: FloatArray,
    pole: FloatArray,
    soft: float,
    q_upper: FloatArray,
    q_lower: FloatArray,
    new_middle: FloatArray,
    new_end: FloatArray,
    miss: FloatArray,
) -> None:
    upper, lower, leg, aim = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3)
    knee, shank, gap, swing = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(4)
    for f in range(len(top)):
        for c in range(3):
            upper[c] = middle[f, c] - top[f, c]
            lower[c] = end[f, c] - middle[f, c]
            leg[c] = end[f, c] - top[f, c]
            aim[c] = target[f, c] - top[f, c]
        a, b = np.sqrt(dot(upper, upper)), np.sqrt(dot(lower, lower))
        wanted = np.sqrt(dot(aim, aim))
        if min(a, b) < SHORTEST_M:  # a bone without length has no direction: nothing turns
            q_upper[f, 0] = q_lower[f, 0] = 1.0
            new_middle[f], new_end[f] = middle[f], end[f]
            gap[:] = end[f] - target[f]
            miss[f] = np.sqrt(dot(gap, gap))
            continue
        if wanted < 1e-9:  # the ankle is to be in the hip: fold along the leg as it is
            wanted = max(np.sqrt(dot(leg, leg)), 1e-9)
            aim[:] = leg
            span = knee_span(wanted, 0.0, a, b, soft)
        else:
            span = knee_span(np.sqrt(dot(leg, leg)), wanted, a, b, soft)
        for c in range(3):
            aim[c] *= span / wanted
        p = pole[f]
        knee[0], knee[1], knee[2] = knee_place(
            aim[0], aim[1], aim[2], leg[0], leg[1], leg[2], upper[0], upper[1], upper[2],
            p[0], p[1], p[2], a, b,
        )  # fmt: skip
        for c in range(3):
            shank[c] = aim[c] - knee[c]
            new_middle[f, c] = top[f, c] + knee[c]
            new_end[f, c] = top[f, c] + aim[c]
            gap[c] = new_end[f, c] - target[f, c]
        arc(leg, aim, swing)
        _arc_after(swing, upper, knee, q_upper[f])
        _arc_after(swing, lower, shank, q_lower[f])
        miss[f] = np.sqrt(dot(gap, gap))


def solve_limb(
    top: FloatArray,
    middle: FloatArray,
    end: FloatArray,
    target: FloatArray,
    hinge: FloatArray | None = None,
    *,
    pole: FloatArray | None = None,
    straight: float = STRAIGHT,
    soft: float = SOFT,
) -> LimbSolution:
    """World turns of the two bones of a limb that bring its end to the target.

    Parameters
    ----------
    top, middle, end : (F, 3)
        Hip, knee and ankle (or shoulder, elbow, wrist) in the world now, metres.
    target : (F, 3)
        Where the end should be.
    hinge : (F, 3)
        World axis to bend about where the limb is straight; need not be unit. For limbs without
        a pole.
    pole : (F, 3)
        World direction in which the knee points, square to the thigh: ``Knee.pole`` turned by the
        hip. The knee stays on this side and depends continuously on all inputs; flexion stays
        within 0 and 160 degrees.
    straight
        Metres kept between a limb without a pole and full stretch.
    soft
        Part of a leg's length over which a leg with a pole eases into full stretch; 0 stops hard.

    Examples
    --------
    >>> hip, knee, ankle = np.zeros((1, 3)), np.array([[0, -0.4, 0.1]]), np.array([[0, -0.8, 0.0]])
    >>> s = solve_limb(hip, knee, ankle, np.array([[0.1, -0.6, 0.2]]), np.array([[1.0, 0, 0]]))
    >>> s.end.round(6).tolist(), float(s.miss[0]) < 1e-9
    ([[0.1, -0.6, 0.2]], True)
    """
    guide = hinge if pole is None else pole
    if guide is None:
        raise ArrayError("`hinge` or `pole` must be given. Pass `pole` for legs, `hinge` for arms.")
    top = np.ascontiguousarray(top, dtype=np.float64)
    middle, end, target, guide = (
        np.ascontiguousarray(np.broadcast_to(np.asarray(v, dtype=np.float64), top.shape))
        for v in (middle, end, target, guide)
    )
    n = len(top)
    q_upper, q_lower = np.zeros((n, 4)), np.zeros((n, 4))
    out = (q_upper, q_lower, np.zeros((n, 3)), np.zeros((n, 3)), np.zeros(n))
    if pole is None:
        _solve_frames(top, middle, end, target, guide, float(straight), *out)
    else:
        _solve_poled(top, middle, end, target, guide, float(soft), *out)
    return LimbSolution(*out)
