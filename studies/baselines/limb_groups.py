"""Parts of the body that are judged on their own: the whole, four limbs, six pairs of limbs."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from motionloom._arrays import IntArray
from motionloom.body.body_map import BodyMap
from motionloom.errors import SkeletonMismatchError
from motionloom.motion.motion import Skeleton
from motionloom.tables.index.windows import compared_joints

__all__ = ["LIMBS", "body_parts"]

LIMBS = {
    "left arm": ("left_shoulder", "left_elbow", "left_wrist"),
    "right arm": ("right_shoulder", "right_elbow", "right_wrist"),
    "left leg": ("left_hip", "left_knee", "left_ankle", "left_toe"),
    "right leg": ("right_hip", "right_knee", "right_ankle", "right_toe"),
}


def body_parts(skeleton: Skeleton, body: BodyMap) -> dict[str, IntArray]:
    """Joints of the eleven parts that [RPE05]_ and both papers judge, by name.

    The body has every joint that is compared; a limb those of its roles that the skeleton has.
    """
    limbs: dict[str, list[int]] = {}
    for name, roles in LIMBS.items():
        joints = [getattr(body, role) for role in roles]
        limbs[name] = [joint for joint in joints if joint is not None]
        if not limbs[name]:
            raise SkeletonMismatchError(
                f"Judging motion by parts needs the {name}, but no joint has any of the roles "
                f"{', '.join(roles)}. Name them in a BodyMap."
            )
    parts = {"body": compared_joints(skeleton, body)}
    parts |= {name: np.array(joints) for name, joints in limbs.items()}
    for one, other in combinations(limbs, 2):
        parts[f"{one} and {other}"] = np.array(limbs[one] + limbs[other])
    return parts
