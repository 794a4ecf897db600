"""Rewriting a motion: world turns of the legs back into local rotations."""

from __future__ import annotations

import numpy as np
from numba import njit

from motionloom._arrays import BoolArray, FloatArray
from motionloom.cleanup.ankles import AnkleTarget
from motionloom.cleanup.foot import Foot
from motionloom.cleanup.legs import LegSolution
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton
from motionloom.rotation import quat

__all__ = ["Pose", "rewrite"]

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
    shifted = np.any(shift != 0.0, axis=1)
    for k, (foot, ankle, leg) in enumerate(zip(feet, ankles, legs, strict=True)):
        hip, knee, end, toe = foot.joints
        turned = np.any(ankle.q_foot[:, 1:] != 0.0, axis=1)
        changed = shifted | turned | np.any(targets[:, k] != foot.ankle, axis=1)
        upper, lower = leg.limb.q_upper, leg.limb.q_lower
        none = np.broadcast_to(quat.IDENTITY, upper.shape)
        chain = [(hip, none, upper), (knee, upper, lower), (end, lower, ankle.q_foot)]
        if toe is not None:
            chain.append((toe, ankle.q_foot, ankle.q_toes))
        for joint, turn_parent, turn in chain:
            parent = motion.skeleton.parents[joint]
            _turn_joint(local, pose[1], joint, parent, turn_parent, turn, changed)
        if stretch and moving is not None:
            _stretch(motion.skeleton, moving, hip, end, leg.scale)
    root = motion.root_positions + shift
    # Read-only arrays are taken as they are; others would be copied once more.
    root.flags.writeable = local.flags.writeable = False
    return motion.replace(root_positions=root, local_quats=local, joint_translations=moving)


@njit(cache=True, error_model="numpy")
def _times(a: FloatArray, b: FloatArray) -> tuple[float, float, float, float]:
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@njit(cache=True, error_model="numpy")
def _turn_joint(
    local: FloatArray,
    quats: FloatArray,
    joint: int,
    parent: int,
    turn_parent: FloatArray,
    turn: FloatArray,
    changed: BoolArray,
) -> None:
    """Write the local rotation of a joint after world turns of its parent and itself.

    Joints between, such as twist bones, ride along: they turn as the bone does that they sit in.
    """
    above, own = np.zeros(4), np.zeros(4)
    above[0] = 1.0
    for f in range(len(local)):
        if not changed[f]:
            continue
        own[0], own[1], own[2], own[3] = _times(turn[f], quats[f, joint])
        if parent >= 0:
            above[0], above[1], above[2], above[3] = _times(turn_parent[f], quats[f, parent])
        above[1], above[2], above[3] = -above[1], -above[2], -above[3]
        w, x, y, z = _times(above, own)
        if (
            w * local[f, joint, 0]
            + x * local[f, joint, 1]
            + y * local[f, joint, 2]
            + z * local[f, joint, 3]
            < 0.0
        ):
            w, x, y, z = -w, -x, -y, -z
        local[f, joint, 0], local[f, joint, 1] = w, x
        local[f, joint, 2], local[f, joint, 3] = y, z


def _stretch(
    skeleton: Skeleton, moving: FloatArray, hip: int, ankle: int, scale: FloatArray
) -> None:
    """Scale, in place, the offsets of the joints below the hip down to the ankle."""
    chain = skeleton.chain(ankle)
    for joint in chain[chain.index(hip) + 1 :]:
        moving[:, joint] *= scale[:, None]
