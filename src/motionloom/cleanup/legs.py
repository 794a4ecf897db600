"""Legs: how far they reach, how knees are damped near full stretch, and their new rotations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from motionloom._arrays import FloatArray
from motionloom.cleanup.blend_off import nearness
from motionloom.cleanup.foot import Foot
from motionloom.motion.limbs import LimbSolution, solve_limb

__all__ = [
    "DAMPED_FROM",
    "LegSolution",
    "damped_angle",
    "held_reach_of",
    "reach_of",
    "soft_span",
    "solve_leg",
]

DAMPED_FROM = 2.8
"""Knee angle from which opening is damped, radians; pi is a straight leg (Kovar et al. 2002)."""
SOFT_PART = 0.022
HARD_PART = 0.004
"""Damping of free legs sets in at this part of the reach before it; the second beside a hold."""


@njit(cache=True, error_model="numpy")
def _saturated(t: float) -> float:
    """``t`` below 0, one half from 1 on, smooth between: the integral of 1 - 3t² + 2t³."""
    if t <= 0.0:
        return t
    return 0.5 if t >= 1.0 else t + t * t * t * (0.5 * t - 1.0)


@njit(cache=True, error_model="numpy")
def _damped(now: float, wanted: float) -> float:
    width = np.pi - DAMPED_FROM
    a, b = (now - DAMPED_FROM) / width, (wanted - DAMPED_FROM) / width
    return float(now + width * (_saturated(b) - _saturated(a)))


@njit(cache=True, error_model="numpy")
def damped_angle(now: FloatArray, wanted: FloatArray) -> FloatArray:
    """Knee angle between the present and the wanted one that opens ever less near full stretch.

    Closed form of Kovar, Schreiner and Gleicher 2002, equations 10 and 11: the change is the
    integral of a weight that falls from 1 at ``DAMPED_FROM`` to 0 at pi. Shapes (F,), radians.
    """
    angles = np.zeros(len(now))
    for f in range(len(now)):
        angles[f] = _damped(now[f], wanted[f])
    return angles


@njit(cache=True, error_model="numpy")
def soft_span(
    before: FloatArray, wanted: FloatArray, reach: FloatArray, part: FloatArray
) -> FloatArray:
    """Hip to ankle as ``wanted``, but easing into ``reach`` instead of passing it.

    The same damping as :func:`damped_angle`, of the distance: knee angles have an infinite slope at
    full stretch, and a foot in the air that runs into it would jerk its knee. A leg that is asked
    for the span it had keeps it. Shapes (F,), metres; damping sets in at ``part`` of the reach
    before it.
    """
    spans = np.zeros(len(wanted))
    for f in range(len(wanted)):
        width = 2.0 * part[f] * max(reach[f], 1e-9)
        a, b = (before[f] - reach[f]) / width + 0.5, (wanted[f] - reach[f]) / width + 0.5
        change = width * (_saturated(b) - _saturated(a))
        if change > 0.0 and a > 0.0:  # begins where damping has set in: the room left is less
            change *= max(reach[f] - before[f], 0.0) / (width * (0.5 - _saturated(a)))
        spans[f] = before[f] + change
    return spans


@njit(cache=True, error_model="numpy")
def _damped_span(
    upper: FloatArray, lower: FloatArray, before: FloatArray, wanted: FloatArray
) -> FloatArray:
    """Distance of the bones' ends at the damped knee angle, metres. Shapes (F,)."""
    spans = np.zeros(len(wanted))
    for f in range(len(wanted)):
        product = max(2.0 * upper[f] * lower[f], 1e-12)
        square = upper[f] ** 2 + lower[f] ** 2
        now = np.arccos(min(1.0, max(-1.0, (square - before[f] ** 2) / product)))
        then = np.arccos(min(1.0, max(-1.0, (square - wanted[f] ** 2) / product)))
        spans[f] = np.sqrt(max(square - product * np.cos(_damped(now, then)), 0.0))
    return spans


def reach_of(foot: Foot) -> FloatArray:
    """How far from the hip the ankle may be taken, metres. Shape (F,).

    As far as the damped knee opens when asked for full stretch: never straight, and never less
    than the motion itself has in that frame.
    """
    upper, lower, span = foot.bones
    return _damped_span(upper, lower, span, upper + lower)


def held_reach_of(foot: Foot, reach: FloatArray) -> FloatArray:
    """How far from the hip a held ankle may be, metres. Shape (F,).

    Less than ``reach`` by what the damping of free legs takes beside a hold: a knee would jump
    where a hold ends if the damping began below what is held.
    """
    return np.asarray(np.maximum(foot.bones[2], (1.0 - HARD_PART) * reach))


@dataclass(frozen=True, slots=True, eq=False)
class LegSolution:
    """Turns of the two bones, and their stretch."""

    limb: LimbSolution
    scale: FloatArray
    """Length of thigh and shank over what it was; 1 for rigid bones. Shape (F,)."""


def solve_leg(
    foot: Foot,
    root_shift: FloatArray,
    target: FloatArray,
    reach: FloatArray,
    *,
    length: float,
    stretch: bool,
) -> LegSolution:
    """Rotations that take the ankle to ``target``.

    Where the foot is held the target is met. Where it is free, a leg that would come near full
    stretch is damped, and its ankle stays a little behind.

    Parameters
    ----------
    foot
        The leg as it is.
    root_shift, target : (F, 3)
        Shift of the hip, and where the ankle is to be, metres.
    reach : (F,)
        As of :func:`reach_of`.
    length
        Frames over which damping sets in beside a hold.
    stretch
        Damp the knee everywhere, and let the bones change length to meet the target.
    """
    hip, knee, ankle = (joint + root_shift for joint in (foot.hip, foot.knee, foot.ankle))
    way = target - hip
    wanted = np.sqrt(np.einsum("fc,fc->f", way, way))
    upper, lower, before = foot.bones
    if stretch:
        span = _damped_span(upper, lower, before, wanted)
    else:
        near = nearness(foot.standing, length)
        span = soft_span(before, wanted, reach, SOFT_PART + (HARD_PART - SOFT_PART) * near)
        span = np.where(foot.standing, wanted, span)
    part = np.where(span == wanted, 1.0, span / np.maximum(wanted, 1e-12))
    end = hip + way * part[:, None]
    limb = solve_limb(hip, knee, ankle, end, foot.hinge, pole=foot.pole, straight=0.0, soft=0.0)
    if not stretch:
        return LegSolution(limb, np.ones(len(wanted)))
    got = np.sqrt(np.sum((limb.end - hip) ** 2, axis=-1))
    return LegSolution(limb, wanted / np.maximum(got, 1e-12))
