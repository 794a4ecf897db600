"""Analytic two-bone inverse kinematics: put an ankle (or wrist) on a target.

The limb's plane is kept: the knee opens or closes about the axis it bends about now, then the
whole limb swings the shortest way so that its end meets the target. Rigid bones; a target out of
reach is approached as far as the bones go.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from motionloom._arrays import FloatArray
from motionloom.rotation import quat

__all__ = ["LimbSolution", "knee_place", "knee_span", "solve_limb", "solve_limb_numpy"]

STRAIGHT = 1e-4
"""Metres kept between a limb and full stretch: a fully straight one has no plane to bend in."""


LATERAL = 0.05
"""Part of the thigh. A knee that is farther off the line from hip to ankle moves sideways in
proportion when the leg bends more; a knee that is nearer stays about as far to the side as it is."""
CLOSEST = float(np.cos(np.radians(160.0)))
"""Cosine of the largest flexion of a knee."""


@njit(cache=True, error_model="numpy", inline="always")
def knee_span(before: float, wanted: float, thigh: float, shank: float, soft: float) -> float:
    """Distance from hip to ankle as wanted, but within what the knee allows, metres.

    The span eases into full stretch, and into the closest fold, over ``soft`` (a part of the
    leg's length). A leg that is stretched or folded further already may stay so.
    """
    full = thigh + shank
    width = soft * full
    closest = np.sqrt(max(thigh * thigh + shank * shank + 2.0 * thigh * shank * CLOSEST, 0.0))
    high = max(before, full - width)
    low = min(before, closest + width)
    span = wanted
    if wanted > high:
        left = full - high
        span = high if left < 1e-9 else high + left * (1.0 - np.exp((high - wanted) / left))
    elif wanted < low:
        left = low - closest
        span = low if left < 1e-9 else low - left * (1.0 - np.exp((wanted - low) / left))
    return span


@njit(cache=True, error_model="numpy", inline="always")
def knee_place(
    tx: float, ty: float, tz: float,
    ax: float, ay: float, az: float,
    kx: float, ky: float, kz: float,
    px: float, py: float, pz: float,
    thigh: float, shank: float,
) -> tuple[float, float, float]:  # fmt: skip
    """Where a knee goes when its ankle goes to another place; always on the side of the pole.

    The knee's offset from the line between hip and ankle has a part to the side and a part along
    the pole. The side part swings with the line and keeps its size (in proportion where the leg
    is bent). The part along the pole takes up the rest and is never negative. So the knee depends
    continuously on every argument, also where the leg is straight or bent backwards, and an ankle
    that stays leaves a healthy knee where it is.

    Parameters
    ----------
    tx, ty, tz
        Ankle wanted, relative to the hip, metres; its distance comes from :func:`knee_span`.
    ax, ay, az, kx, ky, kz
        Ankle and knee now, relative to the hip, metres.
    px, py, pz
        Pole: the direction in which the knee points, square to the thigh (:class:`Knee`).
    thigh, shank
        Lengths, metres.

    Returns
    -------
    nx, ny, nz
        New knee, relative to the hip, metres.
    """
    before = max(np.sqrt(ax * ax + ay * ay + az * az), 1e-12)
    span = max(np.sqrt(tx * tx + ty * ty + tz * tz), 1e-12)
    ax, ay, az = ax / before, ay / before, az / before
    ex, ey, ez = tx / span, ty / span, tz / span
    along = kx * ax + ky * ay + kz * az
    # Forwards: square to the line, in the plane of thigh and pole.
    side = px * ax + py * ay + pz * az
    fx, fy, fz = along * px - side * kx, along * py - side * ky, along * pz - side * kz
    size = np.sqrt(fx * fx + fy * fy + fz * fz)
    if size < 1e-9:  # no pole: the knee's own side
        fx, fy, fz = kx - along * ax, ky - along * ay, kz - along * az
        size = max(np.sqrt(fx * fx + fy * fy + fz * fz), 1e-12)
    fx, fy, fz = fx / size, fy / size, fz / size
    lateral = kx * (ay * fz - az * fy) + ky * (az * fx - ax * fz) + kz * (ax * fy - ay * fx)
    now = np.sqrt(max(thigh * thigh - along * along, lateral * lateral))
    down = (thigh * thigh - shank * shank + span * span) / (2.0 * span)
    out = np.sqrt(max(thigh * thigh - down * down, 0.0))
    rest = LATERAL * thigh
    lateral *= out / max(now, 1e-12) if out < now else (out + rest) / (now + rest)
    forward = np.sqrt(max(out * out - lateral * lateral, 0.0))
    # The shortest turn of the line carries its sides along.
    turned = (fx * ex + fy * ey + fz * ez) / max(1.0 + ax * ex + ay * ey + az * ez, 1e-9)
    fx, fy, fz = fx - turned * (ax + ex), fy - turned * (ay + ey), fz - turned * (az + ez)
    return (
        down * ex + forward * fx + lateral * (ey * fz - ez * fy),
        down * ey + forward * fy + lateral * (ez * fx - ex * fz),
        down * ez + forward * fz + lateral * (ex * fy - ey * fx),
    )


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


def solve_limb_numpy(
    top: FloatArray, middle: FloatArray, end: FloatArray, target: FloatArray, hinge: FloatArray
) -> LimbSolution:
    """The plain form of :func:`solve_limb`."""
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
def _cross(a: FloatArray, b: FloatArray, out: FloatArray) -> None:
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@njit(cache=True, error_model="numpy")
def _dot(a: FloatArray, b: FloatArray) -> float:
    return float(a[0] * b[0] + a[1] * b[1] + a[2] * b[2])


@njit(cache=True, error_model="numpy")
def _turn(q: FloatArray, v: FloatArray, out: FloatArray) -> None:
    tx = 2.0 * (q[2] * v[2] - q[3] * v[1])
    ty = 2.0 * (q[3] * v[0] - q[1] * v[2])
    tz = 2.0 * (q[1] * v[1] - q[2] * v[0])
    out[0] = v[0] + q[0] * tx + q[2] * tz - q[3] * ty
    out[1] = v[1] + q[0] * ty + q[3] * tx - q[1] * tz
    out[2] = v[2] + q[0] * tz + q[1] * ty - q[2] * tx


@njit(cache=True, error_model="numpy")
def _arc(a: FloatArray, b: FloatArray, out: FloatArray) -> None:
    """Shortest rotation from direction a to direction b."""
    norm = np.sqrt(_dot(a, a) * _dot(b, b))
    if norm <= 1e-300:
        out[0], out[1], out[2], out[3] = 1.0, 0.0, 0.0, 0.0
        return
    _cross(a, b, out[1:])
    out[0] = 1.0 + min(1.0, max(-1.0, _dot(a, b) / norm))
    out[1], out[2], out[3] = out[1] / norm, out[2] / norm, out[3] / norm
    size = np.sqrt(out[0] ** 2 + out[1] ** 2 + out[2] ** 2 + out[3] ** 2)
    if size < 1e-7:  # opposite: half a turn about the axis least along a
        k = 0
        for c in range(1, 3):
            if abs(a[c]) < abs(a[k]):
                k = c
        unit = np.zeros(3)
        unit[k] = 1.0
        out[0] = 0.0
        _cross(a, unit, out[1:])
        size = np.sqrt(out[1] ** 2 + out[2] ** 2 + out[3] ** 2)
    for c in range(4):
        out[c] /= size


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
        a, b = np.sqrt(_dot(upper, upper)), np.sqrt(_dot(lower, lower))
        distance = max(np.sqrt(_dot(aim, aim)), abs(a - b) + straight)
        distance = min(distance, max(a + b - straight, straight))
        _cross(upper, lower, normal)
        size = np.sqrt(_dot(normal, normal))
        if size > 1e-3 * a * b:
            for c in range(3):
                axis[c] = normal[c] / size
        else:
            length = np.sqrt(_dot(hinge[f], hinge[f]))
            for c in range(3):
                axis[c] = hinge[f, c] / (length if length > 0.0 else 1.0)
        now = np.arctan2(_dot(normal, axis), _dot(upper, lower))
        cos = (distance**2 - a**2 - b**2) / (2.0 * a * b if a * b > 0.0 else 1.0)
        half = 0.5 * (np.arccos(min(1.0, max(-1.0, cos))) - now)
        bend[0] = np.cos(half)
        for c in range(3):
            bend[1 + c] = np.sin(half) * axis[c]
        _turn(bend, lower, leg)
        for c in range(3):
            leg[c] += upper[c]
        q = q_upper[f]
        _arc(leg, aim, q)
        _turn(q, upper, new_middle[f])
        _turn(q, leg, new_end[f])
        for c in range(3):
            new_middle[f, c] += top[f, c]
            new_end[f, c] += top[f, c]
            gap[c] = new_end[f, c] - target[f, c]
        q_lower[f, 0] = q[0] * bend[0] - q[1] * bend[1] - q[2] * bend[2] - q[3] * bend[3]
        q_lower[f, 1] = q[0] * bend[1] + q[1] * bend[0] + q[2] * bend[3] - q[3] * bend[2]
        q_lower[f, 2] = q[0] * bend[2] - q[1] * bend[3] + q[2] * bend[0] + q[3] * bend[1]
        q_lower[f, 3] = q[0] * bend[3] + q[1] * bend[2] - q[2] * bend[1] + q[3] * bend[0]
        miss[f] = np.sqrt(_dot(gap, gap))


def solve_limb(
    top: FloatArray,
    middle: FloatArray,
    end: FloatArray,
    target: FloatArray,
    hinge: FloatArray,
    *,
    straight: float = STRAIGHT,
) -> LimbSolution:
    """World turns of the two bones of a limb that bring its end to the target.

    Parameters
    ----------
    top, middle, end : (F, 3)
        Hip, knee and ankle (or shoulder, elbow, wrist) in the world now, metres.
    target : (F, 3)
        Where the end should be.
    hinge : (F, 3)
        World axis to bend about where the limb is straight; need not be unit.
    straight
        Metres kept between the limb and full stretch.

    Examples
    --------
    >>> hip, knee, ankle = np.zeros((1, 3)), np.array([[0, -0.4, 0.1]]), np.array([[0, -0.8, 0.0]])
    >>> s = solve_limb(hip, knee, ankle, np.array([[0.1, -0.6, 0.2]]), np.array([[1.0, 0, 0]]))
    >>> s.end.round(6).tolist(), float(s.miss[0]) < 1e-9
    ([[0.1, -0.6, 0.2]], True)
    """
    top = np.ascontiguousarray(top, dtype=np.float64)
    middle, end, target, hinge = (
        np.ascontiguousarray(np.broadcast_to(np.asarray(v, dtype=np.float64), top.shape))
        for v in (middle, end, target, hinge)
    )
    n = len(top)
    q_upper, q_lower = np.zeros((n, 4)), np.zeros((n, 4))
    new_middle, new_end, miss = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros(n)
    _solve_frames(
        top,
        middle,
        end,
        target,
        hinge,
        float(straight),
        q_upper,
        q_lower,
        new_middle,
        new_end,
        miss,
    )
    return LimbSolution(q_upper, q_lower, new_middle, new_end, miss)
