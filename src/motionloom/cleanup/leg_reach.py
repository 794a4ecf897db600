"""Legs: how far they reach, how knees are damped near full stretch, and their new rotations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._core import Record, kernel
from motionloom.cleanup.foot import Foot
from motionloom.motion.limbs import LimbSolution, solve_limb

_damp = kernel("ml_knee_damp")
_damp_span = kernel("ml_knee_damp_span")
_soften_span = kernel("ml_knee_soften_span")
_aim = kernel("ml_leg_aim")


def damped_angle(now: FloatArray, wanted: FloatArray) -> FloatArray:
    """Knee angle between the present and the wanted one that opens ever less near full stretch.

    Closed form of Kovar, Schreiner and Gleicher 2002, equations 10 and 11: the change is the
    integral of a weight that falls from 1 at 2.8 radians to 0 at pi. Shapes (F,), radians.
    """
    angles = np.zeros(len(now))
    _damp(len(now), now, wanted, angles)
    return angles


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
    _soften_span(len(wanted), before, wanted, np.ascontiguousarray(reach), part, spans)
    return spans


def damped_span(
    upper: FloatArray, lower: FloatArray, before: FloatArray, wanted: FloatArray
) -> FloatArray:
    """Distance of the bones' ends at the damped knee angle, metres. Shapes (F,)."""
    spans = np.zeros(len(wanted))
    _damp_span(len(wanted), upper, lower, before, wanted, spans)
    return spans


def reach_of(foot: Foot) -> FloatArray:
    """How far from the hip the ankle may be taken, metres. Shape (F,).

    As far as the damped knee opens when asked for full stretch: never straight, and never less
    than the motion itself has in that frame.
    """
    upper, lower, span = foot.bones
    return damped_span(upper, lower, span, upper + lower)


@dataclass(frozen=True, slots=True, eq=False)
class LegSolution:
    """Turns of the two bones, and their stretch."""

    limb: LimbSolution
    scale: FloatArray | None
    """Length of thigh and shank over what it was; None for rigid bones. Shape (F,)."""


def solve_leg(
    foot: Foot,
    leg: Record,
    root_shift: FloatArray,
    target: FloatArray,
    *,
    length: float,
    free_change: float,
    stretch: bool,
) -> LegSolution:
    """Rotations that take the ankle to ``target``.

    Where the foot is held the target is met. Where it is free, a leg that would come near full
    stretch is damped, and its ankle stays a little behind.

    Parameters
    ----------
    foot
        The leg as it is.
    leg
        The same as the core takes it.
    root_shift, target : (F, 3)
        Shift of the hip, and where the ankle is to be, metres.
    length
        Frames over which damping sets in around a hold.
    free_change
        What a knee may speed up by where a hold ends, metres per frame and frame.
    stretch
        Damp the knee everywhere, and let the bones change length to meet the target.
    """
    n = len(target)
    hip, knee, ankle, end = (np.zeros((n, 3)) for _ in range(4))
    _aim(
        n, leg, foot.held, root_shift, target, length, free_change, np.zeros(n, dtype=np.uint8),
        np.zeros((4, n)), hip, knee, ankle, end,
    )  # fmt: skip
    if stretch:
        way = target - hip
        wanted = np.sqrt(np.einsum("fc,fc->f", way, way))
        upper, lower, before = foot.bones
        span = damped_span(upper, lower, before, wanted)
        part = np.where(span == wanted, 1.0, span / np.maximum(wanted, 1e-12))
        end = hip + way * part[:, None]
    limb = solve_limb(hip, knee, ankle, end, foot.hinge, pole=foot.pole, straight=0.0, soft=0.0)
    if not stretch:
        return LegSolution(limb, None)
    got = np.sqrt(np.sum((limb.end - hip) ** 2, axis=-1))
    return LegSolution(limb, wanted / np.maximum(got, 1e-12))
