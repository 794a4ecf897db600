"""``qpos`` and ``qvel`` of a motion on a robot's own skeleton, Z up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.formats.robots.mjcf import MjcfJoint
from motionloom.formats.robots.robot_tree import RobotTree
from motionloom.motion.motion import Motion, angular_velocities, velocities
from motionloom.rotation import quat

_EXACT = 1e-9
_ONE_PLACE_M = 1e-9
STEPS = 24
DAMPING = 1e-6
"""Keeps steps short where two axes point the same way."""
CLOSE = 1e-10


@dataclass(frozen=True, slots=True, eq=False)
class Positions:
    """Joint positions, and what of the motion no hinge can do."""

    qpos: FloatArray
    left: FloatArray
    """Largest angle that each joint of the model leaves out, radians. Shape (N,)."""
    left_m: FloatArray
    """Largest distance from its axis that each slide leaves out, metres. Shape (N,)."""


def positions_of(tree: RobotTree, motion: Motion) -> Positions:
    """``qpos`` of a motion on the tree's skeleton: each hinge's angle, each slide's shift.

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


def twist_angles(quats: FloatArray, axis: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Angles (F,) about an axis, and the angle (F,) of the rest of each rotation (F, 4).

    The angle is the one whose rotation about the axis is nearest to the whole rotation.
    """
    along = quats[:, 1:] @ axis
    angles = 2.0 * np.arctan2(along, quats[:, 0])
    angles = np.arctan2(np.sin(angles), np.cos(angles))
    left = quat.angle_between(quat.from_axis_angle(axis, angles), quats)
    return angles, left


def chain_angles(quats: FloatArray, axes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Angles (F, K) about axes (K, 3) whose rotations, in order, come nearest to ``quats`` (F, 4).

    Returns
    -------
    angles : (F, K)
        Radians, not unwrapped.
    left : (F,)
        Angle between the rotation of the hinges and the wanted one.
    """
    if len(axes) == 1:
        angles, left = twist_angles(quats, axes[0])
        return angles[:, None], left
    best, least = np.zeros((len(quats), len(axes))), np.full(len(quats), np.inf)
    for start in _starts(quats, axes):
        angles, left = _solved(quats, axes, start)
        better = left < least - CLOSE
        best[better], least[better] = angles[better], left[better]
    return best, least


def _starts(quats: FloatArray, axes: FloatArray) -> list[FloatArray]:
    """At zero, and each hinge in turn taking what it can of the rotation."""
    greedy = np.zeros((len(quats), len(axes)))
    rest = quats
    for k, axis in enumerate(axes):
        greedy[:, k] = twist_angles(rest, axis)[0]
        rest = quat.multiply(quat.from_axis_angle(axis, -greedy[:, k]), rest)
    return [np.zeros_like(greedy), greedy]


def _solved(
    quats: FloatArray, axes: FloatArray, start: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Gauss-Newton steps on the rotation that is left, from a start."""
    angles = np.array(start)
    for _ in range(STEPS):
        total = np.tile(quat.IDENTITY, (len(quats), 1))
        columns = []
        for k, axis in enumerate(axes):
            columns.append(quat.rotate(total, axis))  # how the whole turns as this hinge does
            total = quat.multiply(total, quat.from_axis_angle(axis, angles[:, k]))
        left = quat.log(quat.multiply(quats, quat.conjugate(total)))
        jacobian = np.stack(columns, axis=-1)  # (F, 3, K)
        square = np.einsum("fik,fil->fkl", jacobian, jacobian) + DAMPING * np.eye(len(axes))
        pull = np.einsum("fik,fi->fk", jacobian, left)
        step = np.linalg.solve(square, pull[..., None])[..., 0]
        size = np.abs(step).max(axis=1, keepdims=True)
        step *= np.minimum(1.0, 0.8 / np.maximum(size, 1e-12))
        angles += step
        if np.abs(step).max(initial=0.0) < CLOSE:
            break
    total = np.tile(quat.IDENTITY, (len(quats), 1))
    for k, axis in enumerate(axes):
        total = quat.multiply(total, quat.from_axis_angle(axis, angles[:, k]))
    return np.arctan2(np.sin(angles), np.cos(angles)), quat.angle_between(total, quats)


def unwrapped(angles: FloatArray, limits: tuple[float, float] | None) -> FloatArray:
    """Angles (F,) without jumps of a whole turn, in the turn where the limits are."""
    smooth = np.unwrap(angles)
    middle = 0.0 if limits is None else 0.5 * (limits[0] + limits[1])
    whole = np.round((np.median(smooth) - middle) / (2.0 * np.pi))
    return np.asarray(smooth - 2.0 * np.pi * whole)
