"""Points of a drawn body."""

from __future__ import annotations

from motionloom._arrays import FloatArray
from motionloom.studio.clips.point_rig import PointRig
from tests.oracles.kinematics import forward_kinematics
from tests.oracles.quat import rotate


def points(rig: PointRig, root_position: FloatArray, local_quats: FloatArray) -> FloatArray:
    """The plain form of ``rig.points``. (P, 3)"""
    positions, quats = forward_kinematics(rig.skeleton, root_position[None], local_quats[None])
    return positions[0, rig.joints] + rotate(quats[0, rig.joints], rig.offsets)
