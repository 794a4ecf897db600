"""``qpos`` and ``qvel`` of a motion on a robot's own skeleton, Z up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.formats.robots.hinge_angles import twist_angles, unwrapped
from motionloom.formats.robots.robot_tree import RobotTree
from motionloom.motion.kinematics import angular_velocities, velocities
from motionloom.motion.motion import Motion
from motionloom.rotation import quat


@dataclass(frozen=True, slots=True, eq=False)
class Positions:
    """Joint positions, and what of the motion no hinge can do."""

    qpos: FloatArray
    left: FloatArray
    """Largest angle that each joint of the model leaves out, radians. Shape (N,)."""


def positions_of(tree: RobotTree, motion: Motion) -> Positions:
    """``qpos`` of a motion on the tree's skeleton: each hinge's angle about its axis."""
    qpos = np.zeros((motion.n_frames, tree.n_qpos))
    left = np.zeros(len(tree.model.joints))
    rest = tree.skeleton.rest_quats
    for k, (joint, at, columns) in enumerate(
        zip(tree.model.joints, tree.joint_of, tree.columns, strict=True)
    ):
        turns = motion.local_quats[:, at]
        relative = quat.multiply(quat.conjugate(rest[at]), turns)
        if joint.type == "free":
            qpos[:, columns] = np.concatenate([motion.root_positions, turns], axis=1)
        elif joint.type == "ball":
            qpos[:, columns] = quat.make_continuous(relative)
        else:
            angles, missing = twist_angles(relative, joint.axis)
            limits = None if joint.limits is None else joint.limits
            shifted = None
            if limits is not None:
                shifted = (limits[0] - joint.reference, limits[1] - joint.reference)
            qpos[:, columns.start] = unwrapped(angles, shifted) + joint.reference
            left[k] = missing.max()
    return Positions(qpos, left)


def velocities_of(tree: RobotTree, qpos: FloatArray, fps: float) -> FloatArray:
    """``qvel`` (F, n_qvel): derivatives of ``qpos`` as MuJoCo counts them.

    Linear velocity of a free joint is in the world, angular velocities of free joints and balls in
    the body's own frame; hinges have the rate of their angle.
    """
    qvel = np.zeros((len(qpos), tree.n_qvel))
    for joint, columns, out in zip(
        tree.model.joints, tree.columns, tree.velocity_columns, strict=True
    ):
        values = qpos[:, columns]
        if joint.type == "hinge":
            qvel[:, out] = velocities(values, fps)
            continue
        turns = values[:, 3:] if joint.type == "free" else values
        spin = quat.rotate(quat.conjugate(turns), angular_velocities(turns, fps))
        if joint.type == "free":
            spin = np.concatenate([velocities(values[:, :3], fps), spin], axis=1)
        qvel[:, out] = spin
    return qvel
