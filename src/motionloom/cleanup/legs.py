"""Legs: how far they reach, how knees are damped near full stretch, and their new rotations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.cleanup.foot import Foot
from motionloom.motion.limbs import LimbSolution, solve_limb

__all__ = ["DAMPED_FROM", "LegSolution", "damped_angle", "knee_angle", "reach_of", "solve_leg"]

DAMPED_FROM = 2.8
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


@dataclass(frozen=True, slots=True, eq=False)
class LegSolution:
    """Turns of the two bones, and their stretch."""

    limb: LimbSolution
    scale: FloatArray
    """Length of thigh and shank over what it was; 1 for rigid bones. Shape (F,)."""
    miss: FloatArray
    """Distance of the ankle from its target, metres. Shape (F,)."""


def solve_leg(
    foot: Foot, root_shift: FloatArray, target: FloatArray, pull: FloatArray, *, stretch: bool
) -> LegSolution:
    """Rotations that take the ankle to ``target``.

    Parameters
    ----------
    foot
        The leg as it is.
    root_shift, target : (F, 3)
        Shift of the hip, and where the ankle is to be, metres.
    pull : (F,)
        1 where the foot is held: the target is met. 0 where it is free: a knee near full stretch is
        damped and the ankle may stay a little behind.
    stretch
        Damp everywhere, and let the bones change length to meet the target.
    """
    upper, lower = _bones(foot)
    hip, knee, ankle = (joint + root_shift for joint in (foot.hip, foot.knee, foot.ankle))
    way = target - hip
    distance = np.linalg.norm(way, axis=-1)
    now = knee_angle(upper, lower, np.linalg.norm(foot.ankle - foot.hip, axis=-1))
    wanted = knee_angle(upper, lower, distance)
    damped = damped_angle(now, wanted)
    angle = damped if stretch else np.where(pull >= 1.0, wanted, damped + pull * (wanted - damped))
    spanned = _spanned(upper, lower, angle)
    # Where nothing was damped the target itself is used: going by the angle costs half the digits.
    same = angle == wanted
    aim = hip + way * np.where(same, 1.0, spanned / np.maximum(distance, 1e-12))[:, None]
    limb = solve_limb(hip, knee, ankle, aim, foot.hinge)
    if stretch:
        got = np.linalg.norm(limb.end - hip, axis=-1)
        scale = distance / np.maximum(got, 1e-12)
        return LegSolution(limb, scale, np.zeros(len(scale)))
    return LegSolution(limb, np.ones(len(angle)), np.linalg.norm(limb.end - target, axis=-1))
