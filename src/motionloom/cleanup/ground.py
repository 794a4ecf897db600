"""The ground: what clean-up must not push a foot into."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._core import kernel
from motionloom.cleanup.blend_off import highest_nearby, spread_smoothly
from motionloom.cleanup.foot import Foot

__all__ = ["ground_under", "lift_out"]

_ground = kernel("ml_foot_ground")

ROUNDING_M = 1e-9
"""Less than this is no depth: frames that nothing changes must stay as they are to the last bit."""


def ground_under(foot: Foot) -> FloatArray:
    """Height at which heel and ball stand, metres, known from their holds. Shape (F, 2).

    Between holds it runs straight from one to the next, which is right on stairs and slopes to
    within a step; a point that is never held has no ground (minus infinity).
    """
    heights = np.zeros(foot.held.shape)
    held, places = np.ascontiguousarray(foot.held), np.ascontiguousarray(foot.places)
    _ground(len(held), held, places, heights)
    return heights


def lift_out(
    before: FloatArray, after: FloatArray, ground: FloatArray, pull: FloatArray, *, half: int = 0
) -> FloatArray:
    """How far to raise a free foot so that clean-up pushes no point into the ground. Shape (F,).

    A point that was under the ground before may stay as deep as it was. The lift follows the
    deepest frames around smoothly: a foot comes out of the ground as fast as it moves, and a leg
    near full stretch would kick.

    Parameters
    ----------
    before, after, ground : (F, 2)
        Heights of heel and ball, metres.
    pull : (F,)
        1 where the foot is held, which leaves it no choice.
    half
        Frames to either side over which the lift is smoothed.
    """
    under = np.minimum(before, ground) - after
    depth = np.maximum(under[:, 0], under[:, 1])
    depth = np.where(depth > ROUNDING_M, depth, 0.0)
    if half and depth.any():
        depth = spread_smoothly(highest_nearby(depth, half), half)
    return np.asarray(depth * (1.0 - pull))
