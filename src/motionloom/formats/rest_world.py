"""Joints and end sites of a skeleton in the world, at rest."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.motion.kinematics import forward_kinematics
from motionloom.motion.skeleton import Skeleton
from motionloom.rotation import quat


def rest_world(skeleton: Skeleton, origin: FloatArray) -> tuple[FloatArray, FloatArray]:
    """World places (J + E, 3) and turns (J + E, 4) at rest, joints then end sites."""
    # As a reader will sum it up: far out the subtraction may cost the root's last bits.
    root = (skeleton.offsets[:1] - origin) + origin
    places, turns = forward_kinematics(skeleton, root, skeleton.rest_quats[None])
    at = skeleton.end_parents
    tips = places[0, at] + quat.rotate(turns[0, at], skeleton.end_offsets)
    return np.concatenate([places[0], tips]), np.concatenate([turns[0], turns[0, at]])
