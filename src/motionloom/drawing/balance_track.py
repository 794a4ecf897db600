"""Balance over a clip as it is drawn: centre of mass, zero moment point, what the feet support."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.body_map import BodyMap
from motionloom.body.feet import tip_points
from motionloom.body.proportions import stature
from motionloom.drawing.footprints import FootTrack
from motionloom.errors import MotionLoomError
from motionloom.features.balance import (
    HALF_WIDTH,
    centre_of_mass,
    support_corners,
    zero_moment_point,
)
from motionloom.motion.motion import Motion


@dataclass(frozen=True, slots=True, eq=False)
class BalanceTrack:
    """Balance, one row a frame; ``nan`` where there is nothing."""

    com: FloatArray
    """Centre of mass, metres. Shape (F, 3)."""
    zmp: FloatArray
    """Zero moment point on the ground (x, z). Shape (F, 2)."""
    support: FloatArray
    """Corners (x, z) of the soles that carry. Shape (F, 16, 2)."""


def track_balance(
    motion: Motion, feet: FootTrack, *, body: BodyMap, floor: float
) -> BalanceTrack | None:
    """The balance of a clip that stands on ``floor``; None where the body lacks parts."""
    try:
        com = centre_of_mass(motion, body=body)
        zmp = zero_moment_point(motion, body=body, floor=floor).points
        tips = tip_points(motion, body=body)
        width = HALF_WIDTH * stature(motion.skeleton, body)
    except MotionLoomError:
        return None
    corners, used = support_corners(feet.points, tips, feet.planted, width)
    return BalanceTrack(com, zmp, np.where(used[..., None], corners, np.nan))
