"""Analytic two-bone inverse kinematics: put an ankle (or wrist) on a target.

The limb's plane is kept: the knee opens or closes about the axis it bends about now, then the
whole limb swings the shortest way so that its end meets the target. Rigid bones; a target out of
reach is approached as far as the bones go. A leg also has a pole, the direction in which its knee
points: the knee then stays on that side, also where the leg is straight or bent backwards.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._core import kernel
from motionloom.errors import ArrayError

_solve_limb = kernel("ml_limb_solve")
_solve_leg = kernel("ml_leg_solve")

STRAIGHT = 1e-4
"""Metres kept between a limb and full stretch: a fully straight one has no plane to bend in."""
SOFT = 0.005
"""Part of its length over which a leg eases into full stretch."""


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
        np.ascontiguousarray(
            v if np.shape(v) == top.shape else np.broadcast_to(v, top.shape), dtype=np.float64
        )
        for v in (middle, end, target, guide)
    )
    n = len(top)
    out = (np.zeros((n, 4)), np.zeros((n, 4)), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros(n))
    if pole is None:
        _solve_limb(n, top, middle, end, target, guide, float(straight), *out)
    else:
        _solve_leg(n, top, middle, end, target, guide, float(soft), *out)
    return LimbSolution(*out)
