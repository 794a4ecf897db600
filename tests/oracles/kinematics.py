"""Forward kinematics."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.motion.motion import Skeleton
from tests.oracles.quat import multiply, rotate


def forward_kinematics(
    skeleton: Skeleton,
    root_positions: FloatArray,
    local_quats: FloatArray,
    *,
    joint_translations: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """The plain form of :func:`forward_kinematics`: joint by joint, vectorised over frames."""
    positions = np.zeros((*local_quats.shape[:2], 3))
    quats = np.zeros(local_quats.shape)
    positions[:, 0], quats[:, 0] = root_positions, local_quats[:, 0]
    for j in range(1, skeleton.n_joints):
        p = skeleton.parents[j]
        offset = skeleton.offsets[j] if joint_translations is None else joint_translations[:, j]
        positions[:, j] = positions[:, p] + rotate(quats[:, p], offset)
        quats[:, j] = multiply(quats[:, p], local_quats[:, j])
    return positions, quats
