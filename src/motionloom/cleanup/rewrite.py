"""Rewriting a motion: world turns of the legs back into local rotations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._core import kernel
from motionloom.cleanup.ankles import AnkleTarget
from motionloom.cleanup.foot import Foot
from motionloom.cleanup.leg_reach import LegSolution
from motionloom.motion.motion import Motion, valid_quats
from motionloom.motion.skeleton import Skeleton

_rewrite_leg = kernel("ml_rewrite_leg")

Pose = tuple[FloatArray, FloatArray]
"""World positions (F, J, 3) and rotations (F, J, 4)."""


class Rewritten(NamedTuple):
    """What of a motion was rewritten, in arrays that may be written to: the parts of another."""

    root: FloatArray
    """Root in the world, metres. Shape (F, 3)."""
    local: FloatArray
    """Local rotations. Shape (F, J, 4)."""
    moving: FloatArray | None
    """Where joints slide in their parents. Shape (F, J, 3)."""


def rewrite(
    motion: Motion,
    pose: Pose,
    feet: tuple[Foot, Foot],
    ankles: tuple[AnkleTarget, ...],
    targets: Sequence[FloatArray],
    shift: FloatArray,
    legs: tuple[LegSolution, ...],
    *,
    stretch: bool,
) -> Rewritten:
    """The motion with new root and legs where they change; every other number is untouched."""
    local, off = np.array(motion.local_quats), np.zeros(2)
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
            targets[k],
            leg.limb.q_upper,
            leg.limb.q_lower,
            ankle.q_foot,
            ankle.q_toes,
            local,
            off,
        )
        if leg.scale is not None and moving is not None:
            _stretch(motion.skeleton, moving, joints[0], joints[2], leg.scale)
    # The other joints are those of a motion.
    local = valid_quats(local, motion.skeleton, 0.5 * float(off[0]), bool(off[1] > 0.0))
    return Rewritten(motion.root_positions + shift, local, moving)


def _stretch(
    skeleton: Skeleton, moving: FloatArray, hip: int, ankle: int, scale: FloatArray
) -> None:
    """Scale, in place, the offsets of the joints below the hip down to the ankle."""
    chain = skeleton.chain(ankle)
    for joint in chain[chain.index(hip) + 1 :]:
        moving[:, joint] *= scale[:, None]
