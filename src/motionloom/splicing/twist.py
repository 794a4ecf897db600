"""Twist: how far shoulders turn against hips, and what of it a splice loses.

A torso that moves as the locomotion's does no longer winds up for a throw; the paper names this its
first limit.
"""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.body_map import BodyMap
from motionloom.rotation import quat
from motionloom.splicing.posture import hip_frames

MATTERS = np.radians(8.0)
"""Lost twist that is reported; a walk's own shoulders turn about so much."""
UPRIGHT = np.cos(np.radians(45.0))
"""A trunk that is bent deeper has no twist to speak of."""


def twists(positions: FloatArray, body: BodyMap) -> FloatArray:
    """Turn of the shoulders against the hips, radians; zero where the trunk is bent. (F,)."""
    joints = body.require(
        "left_shoulder", "right_shoulder", "left_hip", "right_hip", task="measuring a twist"
    )
    left, right, left_hip, right_hip = (positions[:, j] for j in joints)
    across = quat.rotate(hip_frames(positions, body), left - right)
    trunk = left + right - left_hip - right_hip
    upright = trunk[:, 1] > UPRIGHT * np.linalg.norm(trunk, axis=-1)
    return np.where(upright, np.arctan2(-across[:, 2], across[:, 0]), 0.0)


def lost_twist(action: FloatArray, spliced: FloatArray, body: BodyMap) -> list[str]:
    """A note where the action's shoulders twist more than the splice's, from world positions."""
    theirs, ours = (float(np.ptp(twists(positions, body))) for positions in (action, spliced))
    if theirs <= ours + MATTERS:
        return []
    return [
        f"the action twists its shoulders through {np.degrees(theirs):.0f} degrees, the splice "
        f"through {np.degrees(ours):.0f}, for the torso moves as the locomotion's does; "
        "method='time' keeps it"
    ]
