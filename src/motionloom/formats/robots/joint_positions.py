"""``qpos`` and ``qvel`` of a motion on a robot's own skeleton, Z up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.formats.robots.hinge_angles import chain_angles, twist_angles, unwrapped
from motionloom.formats.robots.mjcf import MjcfJoint
from motionloom.formats.robots.robot_tree import RobotTree
from motionloom.motion.kinematics import angular_velocities, velocities
from motionloom.motion.motion import Motion
from motionloom.rotation import quat

_EXACT = 1e-9
_ONE_PLACE_M = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Positions:
    """Joint positions, and what of the motion no hinge can do."""

    qpos: FloatArray
    left: FloatArray
    """Largest angle that each joint of the model leaves out, radians. Shape (N,)."""
    left_m: FloatArray
    """Largest distance from its axis that each slide leaves out, metres. Shape (N,)."""


def positions_of(tree: RobotTree, motion: Motion) -> Positions:
    """``qpos`` of a motion on the tree's skeleton: each hinge's angle, each slide's way.

    Hinges at one place (a hip of three) share what no single one of them can do.
    """
    qpos = np.zeros((motion.n_frames, tree.n_qpos))
    left, left_m = np.zeros((2, len(tree.model.joints)))
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
        elif joint.type == "slide":
            ways, left_m[k] = _ways(tree, motion, joint, at)
            qpos[:, columns.start] = ways + joint.reference
            left[k] = quat.angle_between(relative, np.array(quat.IDENTITY)).max()
        else:
            angles, missing = twist_angles(relative, joint.axis)
            qpos[:, columns.start] = angle_positions(joint, angles)
            left[k] = missing.max()
    for group in _shared_places(tree):
        if max(left[k] for k in group) > _EXACT:
            _solve_together(tree, motion, group, qpos, left)
    return Positions(qpos, left, left_m)


def _ways(tree: RobotTree, motion: Motion, joint: MjcfJoint, at: int) -> tuple[FloatArray, float]:
    """How far a slide has gone along its axis (F,), and the most that is off it."""
    if motion.joint_translations is None:
        return np.zeros(motion.n_frames), 0.0
    moved = motion.joint_translations[:, at] - tree.skeleton.offsets[at]
    way = quat.rotate(tree.skeleton.rest_quats[at], joint.axis)
    ways = moved @ way
    return ways, float(np.linalg.norm(moved - ways[:, None] * way, axis=1).max())


def angle_positions(joint: MjcfJoint, angles: FloatArray) -> FloatArray:
    """``qpos`` of a hinge whose angles from the model's own pose these are."""
    limits = None
    if joint.limits is not None:
        limits = (joint.limits[0] - joint.reference, joint.limits[1] - joint.reference)
    return unwrapped(angles, limits) + joint.reference


def _shared_places(tree: RobotTree) -> list[list[int]]:
    """Runs of two or three hinges that turn about one point."""
    model_joint = {at: k for k, at in enumerate(tree.joint_of)}
    groups: list[list[int]] = []
    for k, (joint, at) in enumerate(zip(tree.model.joints, tree.joint_of, strict=True)):
        above = model_joint.get(int(tree.skeleton.parents[at]), -1)
        near = np.abs(tree.skeleton.offsets[at]).max() < _ONE_PLACE_M
        grows = bool(groups) and groups[-1][-1] == above and len(groups[-1]) < 3
        if joint.type == "hinge" and near and grows:
            groups[-1].append(k)
        elif joint.type == "hinge":
            groups.append([k])
    return [group for group in groups if len(group) > 1]


def _solve_together(
    tree: RobotTree, motion: Motion, group: list[int], qpos: FloatArray, left: FloatArray
) -> None:
    """Fill in the angles of hinges at one place from the rotation they make together."""
    rest = tree.skeleton.rest_quats
    joints = [tree.joint_of[k] for k in group]
    whole = motion.local_quats[:, joints[0]]
    carried = np.array(quat.IDENTITY)  # rest rotations between the first hinge and this one
    axes = [tree.model.joints[group[0]].axis]
    for k, at in zip(group[1:], joints[1:], strict=True):
        whole = quat.multiply(whole, motion.local_quats[:, at])
        carried = quat.multiply(carried, rest[at])
        axes.append(quat.rotate(carried, tree.model.joints[k].axis))
    wanted = quat.multiply(quat.conjugate(rest[joints[0]]), whole)
    wanted = quat.multiply(wanted, quat.conjugate(carried))
    angles, missing = chain_angles(quat.make_continuous(wanted), np.stack(axes))
    for column, k in enumerate(group):
        joint = tree.model.joints[k]
        qpos[:, tree.columns[k].start] = angle_positions(joint, angles[:, column])
        left[k] = missing.max()


def velocities_of(tree: RobotTree, qpos: FloatArray, fps: float) -> FloatArray:
    """``qvel`` (F, n_qvel): derivatives of ``qpos`` as MuJoCo counts them.

    Linear velocity of a free joint is in the world, angular velocities of free joints and balls in
    the body's own frame; hinges and slides have the rate of their position.
    """
    qvel = np.zeros((len(qpos), tree.n_qvel))
    for joint, columns, out in zip(
        tree.model.joints, tree.columns, tree.velocity_columns, strict=True
    ):
        values = qpos[:, columns]
        if joint.type in ("hinge", "slide"):
            qvel[:, out] = velocities(values, fps)
            continue
        turns = values[:, 3:] if joint.type == "free" else values
        spin = quat.rotate(quat.conjugate(turns), angular_velocities(turns, fps))
        if joint.type == "free":
            spin = np.concatenate([velocities(values[:, :3], fps), spin], axis=1)
        qvel[:, out] = spin
    return qvel
