"""A captured motion on a robot's hinges, joint by joint by name. No inverse kinematics.

Each named joint of the clip tells one link of the robot where to point: links point where bones
point, and the hinges between two links turn by what is between them. Bones that rest differently
(arms to the sides, arms down) are lined up first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.body_map import BodyMap
from motionloom.errors import ArrayError
from motionloom.formats.robots.joint_positions import Positions, angle_positions, chain_angles
from motionloom.formats.robots.robot_tree import RobotTree
from motionloom.motion.motion import Motion, Skeleton, forward_kinematics
from motionloom.rotation import quat

_UP = np.array([0.0, 0.0, 1.0])
_SHORTEST_M = 1e-4
_RESTS_ELSEWHERE = np.pi / 4
"""Radians between two bones at rest, from which on the rest poses differ."""


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """Joints of the model that one joint of the clip drives, in the order of the chain."""

    source: int
    joints: tuple[int, ...]


def mapped_positions(
    tree: RobotTree, motion: Motion, names: Mapping[str, str], body: BodyMap
) -> Positions:
    """``qpos`` of a motion with Z up, whose joints ``names`` gives for joints of the robot."""
    groups = _groups(tree, motion.skeleton, names)
    rest = _rest(motion.skeleton)
    robot_rest = _rest(tree.skeleton)
    pelvis = 0 if body.pelvis is None else body.pelvis
    facing = _facing(rest[0], body)
    places, turns = motion.world_pose()
    still = quat.multiply(quat.conjugate(rest[1]), quat.conjugate(facing))
    aims = quat.multiply(turns, still)  # from the robot's rest to the pose, per joint of the clip
    lined = _line_up(tree, motion.skeleton, groups, (rest[0], robot_rest[0]), facing)
    qpos = np.zeros((motion.n_frames, tree.n_qpos))
    left = np.zeros(len(tree.model.joints))
    turned = np.tile(quat.IDENTITY, (motion.n_frames, tree.skeleton.n_joints, 1))
    _root(tree, qpos, places[:, pelvis], aims[:, pelvis], rest[0], pelvis)
    turned[:, 0] = aims[:, pelvis]
    ends = {group.joints[-1]: group for group in groups}
    inner = {k for group in groups for k in group.joints[:-1]}
    model_joint = {at: k for k, at in enumerate(tree.joint_of)}
    starts = {group.joints[0]: group for group in groups}
    below: dict[int, FloatArray] = {}
    for at in range(1, tree.skeleton.n_joints):
        above = turned[:, tree.skeleton.parents[at]]
        k = model_joint.get(at)
        turned[:, at] = above
        if k is None:
            continue
        joint = tree.model.joints[k]
        if k in starts:
            below[id(starts[k])] = above
        if k in inner:
            continue
        if k not in ends:
            _hold(joint.type, joint.reference, qpos, tree.columns[k])
            continue
        group = ends[k]
        goal = quat.multiply(aims[:, group.source], quat.conjugate(lined[group.source]))
        first = below[id(group)]
        wanted = quat.multiply(quat.conjugate(first), goal)
        total, missing = _solve(tree, group, wanted, robot_rest[1], qpos)
        left[list(group.joints)] = missing
        turned[:, at] = quat.multiply(first, total)
    return Positions(qpos, left, np.zeros(len(left)))


def _groups(tree: RobotTree, skeleton: Skeleton, names: Mapping[str, str]) -> list[_Group]:
    turning = ("hinge", "ball")
    numbered = {j.name: k for k, j in enumerate(tree.model.joints) if j.type in turning}
    driven: dict[int, list[int]] = {}
    for name, source in names.items():
        if name not in numbered:
            listed = ", ".join(list(numbered)[:12])
            raise ArrayError(
                f"`joints` must name hinges or balls of the robot ({listed} ...), got {name!r}."
            )
        driven.setdefault(skeleton.index(source), []).append(numbered[name])
    groups = []
    for at, numbers in driven.items():
        numbers.sort()
        for before, after in pairwise(numbers):
            if tree.joint_of[before] not in tree.skeleton.chain(tree.joint_of[after]):
                first, second = (tree.model.joints[k].name for k in (before, after))
                raise ArrayError(
                    f"`joints` must give one clip joint to one chain of hinges; {first!r} and "
                    f"{second!r} of {skeleton.names[at]!r} are on different limbs."
                )
        if len(numbers) > 3:
            raise ArrayError(
                f"`joints` must give at most 3 hinges to one joint, {skeleton.names[at]!r} "
                f"has {len(numbers)}."
            )
        groups.append(_Group(at, tuple(numbers)))
    return groups


def _rest(skeleton: Skeleton) -> tuple[FloatArray, FloatArray]:
    """Places (J, 3) and rotations (J, 4) of the rest pose in the world."""
    places, turns = forward_kinematics(skeleton, skeleton.offsets[:1], skeleton.rest_quats[None])
    return places[0], turns[0]


def _facing(places: FloatArray, body: BodyMap) -> FloatArray:
    """The turn about Z that makes the clip's rest pose face +X, as robots do."""
    if body.left_hip is None or body.right_hip is None:
        return np.array(quat.IDENTITY)
    left = places[body.left_hip] - places[body.right_hip]
    forward = np.cross(left, _UP)
    if not np.hypot(forward[0], forward[1]) > 1e-6:
        raise ArrayError("The clip's rest pose must have hips apart, to tell where it faces.")
    return quat.from_axis_angle(_UP, -np.arctan2(forward[1], forward[0]))


def _line_up(
    tree: RobotTree,
    skeleton: Skeleton,
    groups: list[_Group],
    rests: tuple[FloatArray, FloatArray],
    facing: FloatArray,
) -> dict[int, FloatArray]:
    """Per driving joint, the turn from its bone at rest to the robot's, both facing +X."""
    lined: dict[int, FloatArray] = {}
    above: dict[int, FloatArray] = {}
    for group in sorted(groups, key=lambda group: group.joints[0]):
        at = tree.joint_of[group.joints[-1]]
        bone, link = _bones(tree, skeleton, groups, group, rests)
        if bone is not None and link is not None:
            turn = quat.between_vectors(quat.rotate(facing, bone), link)
        else:
            # A hand goes on from an arm with another rest pose; a foot stands flat in both.
            chain = tree.skeleton.chain(at)[:-1]
            last = next((above[j] for j in reversed(chain) if j in above), np.array(quat.IDENTITY))
            far = float(quat.angle_between(last, np.array(quat.IDENTITY))) > _RESTS_ELSEWHERE
            turn = last if far else np.array(quat.IDENTITY)
        lined[group.source] = above[at] = turn
    return lined


def _bones(
    tree: RobotTree,
    skeleton: Skeleton,
    groups: list[_Group],
    group: _Group,
    rests: tuple[FloatArray, FloatArray],
) -> tuple[FloatArray | None, FloatArray | None]:
    """A driving joint's bone and its link at rest; None where there is not just one."""
    at = tree.joint_of[group.joints[-1]]
    first = {id(other): tree.joint_of[other.joints[0]] for other in groups}
    below = [
        other
        for other in groups
        if other is not group
        and at in tree.skeleton.chain(first[id(other)])
        and group.source in skeleton.chain(other.source)
    ]
    nearest = [
        other
        for other in below
        if not set(tree.skeleton.chain(first[id(other)])[:-1]) & {first[id(each)] for each in below}
    ]
    if len(nearest) == 1:
        ends = nearest[0].source, first[id(nearest[0])]
    elif not nearest and skeleton.children(group.source) and tree.skeleton.children(at):
        ends = skeleton.children(group.source)[0], tree.skeleton.children(at)[0]
    else:
        return None, None
    bone, link = rests[0][ends[0]] - rests[0][group.source], rests[1][ends[1]] - rests[1][at]
    if min(np.linalg.norm(bone), np.linalg.norm(link)) < _SHORTEST_M:
        return None, None
    return bone, link


def _root(
    tree: RobotTree,
    qpos: FloatArray,
    places: FloatArray,
    aims: FloatArray,
    rest: FloatArray,
    pelvis: int,
) -> None:
    """Fill in the free joint: travel scaled by the height of the pelvis at rest."""
    for joint, columns in zip(tree.model.joints, tree.columns, strict=True):
        if joint.type != "free":
            continue
        robot = _rest(tree.skeleton)
        height = float(rest[pelvis, 2] - rest[:, 2].min())
        scale = float(robot[0][0, 2] - robot[0][:, 2].min()) / height if height > 1e-6 else 1.0
        turn = quat.multiply(aims, robot[1][0])
        qpos[:, columns] = np.concatenate([scale * places, quat.make_continuous(turn)], axis=1)


def _hold(kind: str, reference: float, qpos: FloatArray, columns: slice) -> None:
    """Leave a joint that nothing drives where the model has it."""
    qpos[:, columns.start] = 1.0 if kind == "ball" else reference


def _solve(
    tree: RobotTree, group: _Group, wanted: FloatArray, rest: FloatArray, qpos: FloatArray
) -> tuple[FloatArray, float]:
    """Fill in the group's joints; the rotation they make, and the largest angle left out."""
    joints = [tree.model.joints[k] for k in group.joints]
    turns = [rest[tree.joint_of[k]] for k in group.joints]
    if joints[0].type == "ball":
        own = quat.multiply(quat.multiply(quat.conjugate(turns[0]), wanted), turns[0])
        qpos[:, tree.columns[group.joints[0]]] = quat.make_continuous(own)
        return wanted, 0.0
    pairs = zip(turns, joints, strict=True)
    axes = np.stack([quat.rotate(turn, joint.axis) for turn, joint in pairs])
    angles, missing = chain_angles(quat.make_continuous(wanted), axes)
    total = np.tile(quat.IDENTITY, (len(wanted), 1))
    for k, (number, joint) in enumerate(zip(group.joints, joints, strict=True)):
        qpos[:, tree.columns[number].start] = angle_positions(joint, angles[:, k])
        total = quat.multiply(total, quat.from_axis_angle(axes[k], angles[:, k]))
    return total, float(missing.max())
