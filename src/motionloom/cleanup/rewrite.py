"""Rewriting a motion: world turns of the legs back into local rotations."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._core import kernel
from motionloom.cleanup.ankles import AnkleTarget
from motionloom.cleanup.foot import Foot
from motionloom.cleanup.legs import LegSolution
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton

__all__ = ["Pose", "rewrite"]

_rewrite_leg = kernel("ml_rewrite_leg")

Pose = tuple[FloatArray, FloatArray]
"""World positions (F, J, 3) and rotations (F, J, 4)."""


def rewrite(
    motion: Motion,
    pose: Pose,
    feet: tuple[Foot, Foot],
    ankles: tuple[AnkleTarget, ...],
    targets: FloatArray,
    shift: FloatArray,
    legs: tuple[LegSolution, ...],
    *,
    stretch: bool,
) -> Motion:
    """The motion with new root and legs where they change; every other number is untouched."""
    local = np.array(motion.local_quats)
    moving = motion.joint_translations
    if stretch:
        offsets = motion.skeleton.offsets if moving is None else moving
        moving = np.array(np.broadcast_to(offsets, (*local.shape[:2], 3)))
    for k, (foot, ankle, leg) in enumerate(zip(feet, ankles, legs, strict=True)):
        joints = [-1 if joint is None else joint for joint in foot.joints]
        _rewrite_leg(
            *local.shape[:2],
            np.array(joints, dtype=np.int64),
            motion.skeleton.parents[joints],
            pose[1],
            shift,
            foot.ankle,
            np.ascontiguousarray(targets[:, k]),
            leg.limb.q_upper,
            leg.limb.q_lower,
            ankle.q_foot,
            ankle.q_toes,
            local,
        )
        if stretch and moving is not None:
            _stretch(motion.skeleton, moving, joints[0], joints[2], leg.scale)
    root = motion.root_positions + shift
    # Read-only arrays are taken as they are; others would be copied once more.
    root.flags.writeable = local.flags.writeable = False
    return motion.replace(root_positions=root, local_quats=local, joint_translations=moving)


def _stretch(
    skeleton: Skeleton, moving: FloatArray, hip: int, ankle: int, scale: FloatArray
) -> None:
    """Scale, in place, the offsets of the joints below the hip down to the ankle."""
    chain = skeleton.chain(ankle)
    for joint in chain[chain.index(hip) + 1 :]:
        moving[:, joint] *= scale[:, None]
