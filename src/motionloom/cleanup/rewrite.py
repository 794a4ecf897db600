"""Rewriting a motion: world turns of the legs back into local rotations."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom.cleanup.ankles import AnkleTarget
from motionloom.cleanup.foot import Foot
from motionloom.cleanup.legs import LegSolution
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton
from motionloom.rotation import quat

__all__ = ["Pose", "foot_points_after", "rewrite"]

Pose = tuple[FloatArray, FloatArray]
"""World positions (F, J, 3) and rotations (F, J, 4)."""


def rewrite(
    motion: Motion,
    pose: Pose,
    feet: tuple[Foot, Foot],
    ankles: tuple[AnkleTarget, ...],
    targets: tuple[FloatArray, ...],
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
    for foot, ankle, target, leg in zip(feet, ankles, targets, legs, strict=True):
        hip, knee, end, toe = foot.joints
        turned = np.any(ankle.q_foot[:, 1:] != 0.0, axis=1)
        at = np.flatnonzero(shifted | turned | np.any(target != foot.ankle, axis=1))
        if not at.size:
            continue
        upper, lower, whole = leg.limb.q_upper[at], leg.limb.q_lower[at], ankle.q_foot[at]
        chain: list[tuple[int, FloatArray | None, FloatArray]] = [
            (hip, None, upper),
            (knee, upper, lower),
            (end, lower, whole),
        ]
        if toe is not None:
            chain.append((toe, whole, ankle.q_toes[at]))
        for joint, turn_parent, turn in chain:
            local[at, joint] = _local(motion.skeleton, pose[1], at, joint, turn_parent, turn)
        if stretch and moving is not None:
            _stretch(motion.skeleton, moving, hip, end, leg.scale)
    return motion.replace(
        root_positions=motion.root_positions + shift, local_quats=local, joint_translations=moving
    )


def _local(
    skeleton: Skeleton,
    quats: FloatArray,
    at: IntArray,
    joint: int,
    turn_parent: FloatArray | None,
    turn: FloatArray,
) -> FloatArray:
    """Local rotation of a joint in frames ``at`` after world turns of its parent and itself.

    Joints between, such as twist bones, ride along: they turn as the bone does that they sit in.
    """
    parent = skeleton.parents[joint]
    q_world = quat.multiply(turn, quats[at, joint])
    if parent < 0:
        return q_world
    q_parent = quats[at, parent]
    if turn_parent is not None:
        q_parent = quat.multiply(turn_parent, q_parent)
    return quat.multiply(quat.conjugate(q_parent), q_world)


def _stretch(
    skeleton: Skeleton, moving: FloatArray, hip: int, ankle: int, scale: FloatArray
) -> None:
    """Scale, in place, the offsets of the joints below the hip down to the ankle."""
    chain = skeleton.chain(ankle)
    for joint in chain[chain.index(hip) + 1 :]:
        moving[:, joint] *= scale[:, None]


def foot_points_after(
    feet: tuple[Foot, Foot], pose: Pose, after: Pose, points: FloatArray
) -> FloatArray:
    """Heels and balls of the cleaned motion: they go with their ankles. Shape (F, 4, 3)."""
    moved = np.zeros_like(points)
    for k, foot in enumerate(feet):
        ankle = foot.joints[2]
        turn = quat.multiply(after[1][:, ankle], quat.conjugate(pose[1][:, ankle]))
        levers = points[:, 2 * k : 2 * k + 2] - foot.ankle[:, None]
        moved[:, 2 * k : 2 * k + 2] = after[0][:, ankle, None] + quat.rotate(turn[:, None], levers)
    return moved
