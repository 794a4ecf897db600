"""Legs and arms."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.motion.motion import STRAIGHT, LimbSolution
from motionloom.rotation import quat
from tests.oracles.quat import multiply, rotate

LATERAL = 0.05
CLOSEST = np.cos(np.radians(160.0))


def solve_leg(
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
    span = knee_span(np.linalg.norm(leg, axis=-1), wanted, a, b, soft)
    aim = aim * (span / wanted)[:, None]
    knee = knee_place(aim, leg, upper, pole, a, b)
    q_swing = quat.between_vectors(leg, aim)
    q_upper, q_lower = (
        multiply(quat.between_vectors(rotate(q_swing, old), new), q_swing)
        for old, new in ((upper, knee), (lower, aim - knee))
    )
    miss = np.linalg.norm(top + aim - target, axis=-1)
    return LimbSolution(q_upper, q_lower, top + knee, top + aim, miss)


def solve_limb(
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
    straight_end = middle + rotate(q_bend, lower)
    q_swing = quat.between_vectors(straight_end - top, target - top)
    new_middle = top + rotate(q_swing, upper)
    new_end = top + rotate(q_swing, straight_end - top)
    return LimbSolution(
        q_swing,
        multiply(q_swing, q_bend),
        new_middle,
        new_end,
        np.linalg.norm(new_end - target, axis=-1),
    )


def knee_span(
    before: FloatArray, wanted: FloatArray, thigh: FloatArray, shank: FloatArray, soft: float
) -> FloatArray:
    """The plain form of :func:`knee_span`. Shapes (F,)."""
    full, width = thigh + shank, soft * (thigh + shank)
    closest = np.sqrt(np.maximum(thigh**2 + shank**2 + 2.0 * thigh * shank * CLOSEST, 0.0))
    high, low = np.maximum(before, full - width), np.minimum(before, closest + width)
    over, under = np.maximum(full - high, 1e-12), np.maximum(low - closest, 1e-12)
    stretched = high + over * (1.0 - np.exp(-np.maximum(wanted - high, 0.0) / over))
    folded = low - under * (1.0 - np.exp(-np.maximum(low - wanted, 0.0) / under))
    return np.where(wanted > high, stretched, np.where(wanted < low, folded, wanted))


def knee_place(
    target: FloatArray,
    ankle: FloatArray,
    knee: FloatArray,
    pole: FloatArray,
    thigh: FloatArray,
    shank: FloatArray,
) -> FloatArray:
    """The plain form of :func:`knee_place`, for poles that are not along the thigh. (F, 3)."""
    span, before = np.linalg.norm(target, axis=-1), np.linalg.norm(ankle, axis=-1)
    a, e = ankle / before[:, None], target / span[:, None]
    forward = np.cross(a, np.cross(pole, knee))
    forward /= np.linalg.norm(forward, axis=-1, keepdims=True)
    lateral = np.sum(knee * np.cross(a, forward), axis=-1)
    along = np.sum(knee * a, axis=-1)
    now = np.sqrt(np.maximum(thigh**2 - along**2, lateral**2))
    down = (thigh**2 - shank**2 + span**2) / (2.0 * span)
    out = np.sqrt(np.maximum(thigh**2 - down**2, 0.0))
    rest = LATERAL * thigh
    lateral *= np.where(out < now, out / np.maximum(now, 1e-12), (out + rest) / (now + rest))
    ahead = np.sqrt(np.maximum(out**2 - lateral**2, 0.0))
    forward = rotate(quat.between_vectors(a, e), forward)
    sideways = np.cross(e, forward)
    return np.asarray(down[:, None] * e + ahead[:, None] * forward + lateral[:, None] * sideways)
