"""Legs: how far they reach, how knees are damped near full stretch, and their new rotations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.cleanup.blend_off import blend_off
from motionloom.cleanup.foot import Foot
from motionloom.motion.limbs import LimbSolution, solve_limb

__all__ = ["DAMPED_FROM", "LegSolution", "damped_angle", "knee_angle", "reach_of", "solve_leg"]

DAMPED_FROM = 2.8
SOFT_PART = 0.016
"""Damping of free legs sets in at this part of the reach before it."""
"""Knee angle from which opening is damped, radians; pi is a straight leg (Kovar et al. 2002)."""


def _damping(angle: FloatArray) -> FloatArray:
    """Integral of the damping: the angle below ``DAMPED_FROM``, ever flatter up to pi."""
    width = np.pi - DAMPED_FROM
    t = np.clip((angle - DAMPED_FROM) / width, 0.0, 1.0)
    return np.where(angle < DAMPED_FROM, angle, DAMPED_FROM + width * (0.5 * t**4 - t**3 + t))


def damped_angle(now: FloatArray, wanted: FloatArray) -> FloatArray:
    """Knee angle between the present and the wanted one that opens ever less near full stretch.

    Closed form of Kovar, Schreiner and Gleicher 2002, equations 10 and 11: the change is the
    integral of a weight that falls from 1 at ``DAMPED_FROM`` to 0 at pi.
    """
    return now + _damping(wanted) - _damping(now)


def knee_angle(upper: FloatArray, lower: FloatArray, distance: FloatArray) -> FloatArray:
    """Angle between two bones whose ends are ``distance`` apart; pi where they do not reach."""
    cos = (upper**2 + lower**2 - distance**2) / np.maximum(2.0 * upper * lower, 1e-12)
    return np.arccos(np.clip(cos, -1.0, 1.0))


def _spanned(upper: FloatArray, lower: FloatArray, angle: FloatArray) -> FloatArray:
    """Distance between the ends of two bones at a knee angle."""
    return np.sqrt(np.maximum(upper**2 + lower**2 - 2.0 * upper * lower * np.cos(angle), 0.0))


def _bones(foot: Foot) -> tuple[FloatArray, FloatArray]:
    return (
        np.linalg.norm(foot.knee - foot.hip, axis=-1),
        np.linalg.norm(foot.ankle - foot.knee, axis=-1),
    )


def reach_of(foot: Foot) -> FloatArray:
    """How far from the hip the ankle may be taken, metres. Shape (F,).

    As far as the damped knee opens when asked for full stretch: never straight, and never less
    than the motion itself has in that frame.
    """
    upper, lower = _bones(foot)
    now = knee_angle(upper, lower, np.linalg.norm(foot.ankle - foot.hip, axis=-1))
    return _spanned(upper, lower, damped_angle(now, np.full(len(now), np.pi)))


def soft_span(before: FloatArray, wanted: FloatArray, reach: FloatArray) -> FloatArray:
    """Hip to ankle as ``wanted``, but easing into ``reach`` instead of passing it. Shapes (F,).

    The same damping as :func:`damped_angle`, of the distance: knee angles have an infinite slope at
    full stretch, and a foot in the air that runs into it would jerk its knee. A leg that is asked
    for the span it had keeps it.
    """
    slack = np.maximum(reach, 1e-9) * SOFT_PART
    t_wanted, t_before = ((span - reach + slack) / (2.0 * slack) for span in (wanted, before))
    return before + 2.0 * slack * (_saturated(t_wanted) - _saturated(t_before))


def _saturated(t: FloatArray) -> FloatArray:
    """``t`` below 0, one half from 1 on, smooth between: the integral of 1 - 3t² + 2t³."""
    u = np.clip(t, 0.0, 1.0)
    return np.where(t < 0.0, t, u - u**3 + 0.5 * u**4)


@dataclass(frozen=True, slots=True, eq=False)
class LegSolution:
    """Turns of the two bones, and their stretch."""

    limb: LimbSolution
    scale: FloatArray
    """Length of thigh and shank over what it was; 1 for rigid bones. Shape (F,)."""


def solve_leg(
    foot: Foot, root_shift: FloatArray, target: FloatArray, *, length: float, stretch: bool
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
    length
        Frames over which damping sets in beside a hold.
    stretch
        Damp the knee everywhere, and let the bones change length to meet the target.
    """
    hip, knee, ankle = (joint + root_shift for joint in (foot.hip, foot.knee, foot.ankle))
    way = target - hip
    wanted = np.linalg.norm(way, axis=-1)
    before = np.linalg.norm(foot.ankle - foot.hip, axis=-1)
    if stretch:
        upper, lower = _bones(foot)
        now, then = knee_angle(upper, lower, before), knee_angle(upper, lower, wanted)
        span = _spanned(upper, lower, damped_angle(now, then))
        limb = _solve(foot, hip, knee, ankle, way * (span / np.maximum(wanted, 1e-12))[:, None])
        got = np.linalg.norm(limb.end - hip, axis=-1)
        return LegSolution(limb, wanted / np.maximum(got, 1e-12))
    damped = soft_span(before, wanted, reach_of(foot))
    kept = blend_off(
        (wanted - damped)[:, None],
        np.zeros((len(wanted), 1)),
        foot.standing,
        length=length,
        stop=length,
    )[:, 0]
    short = np.where(foot.standing, 1.0, (damped + kept) / np.maximum(wanted, 1e-12))
    limb = _solve(foot, hip, knee, ankle, way * short[:, None])
    return LegSolution(limb, np.ones(len(wanted)))


def _solve(
    foot: Foot, hip: FloatArray, knee: FloatArray, ankle: FloatArray, way: FloatArray
) -> LimbSolution:
    return solve_limb(hip, knee, ankle, hip + way, foot.hinge, straight=0.0)
