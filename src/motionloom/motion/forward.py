"""World poses of checked arrays: the kernel of forward kinematics, and end sites."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._core import NOT_FINITE, CoreError, kernel
from motionloom.errors import ArrayError
from motionloom.motion.skeleton import Skeleton
from motionloom.rotation import quat

_forward = kernel("ml_kinematics_forward")


def forward_into(
    skeleton: Skeleton,
    root_positions: FloatArray,
    local_quats: FloatArray,
    joint_translations: FloatArray | None,
    out: tuple[FloatArray, FloatArray],
) -> tuple[FloatArray, FloatArray]:
    """World positions (F, J, 3) and rotations (F, J, 4) of checked arrays, written into ``out``.

    For long clips new arrays take about as long as the work. See
    :func:`motionloom.forward_kinematics`.
    """
    positions, quats = out
    offsets = skeleton.offsets[None]
    if joint_translations is not None:
        offsets = np.ascontiguousarray(joint_translations)
    n_frames, n_joints = local_quats.shape[:2]
    try:
        _forward(
            n_frames, n_joints, skeleton.parents, len(offsets), offsets,
            root_positions, local_quats, positions, quats,
        )  # fmt: skip
    except CoreError as error:
        if error.status != NOT_FINITE:
            raise
        if not (np.isfinite(root_positions).all() and np.isfinite(local_quats).all()):
            raise ArrayError(
                "`root_positions` and `local_quats` must be finite, got nan or infinity. Repair "
                "or cut these frames first."
            ) from error
    return positions, quats


def end_positions(skeleton: Skeleton, positions: FloatArray, world_quats: FloatArray) -> FloatArray:
    """World positions (F, E, 3) of the end sites, given those of the joints."""
    at = skeleton.end_parents
    return positions[:, at] + quat.rotate(world_quats[:, at], skeleton.end_offsets)
