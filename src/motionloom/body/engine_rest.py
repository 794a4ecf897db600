"""The rest pose that engines expect: a T-pose over the origin, for Godot with its bone axes."""

from __future__ import annotations

import dataclasses

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.body_map import BodyMap
from motionloom.body.feet import ball_height
from motionloom.body.neutral import Stance
from motionloom.body.root_motion import bones_above_pelvis
from motionloom.motion.kinematics import forward_kinematics
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton
from motionloom.rotation import quat

_THUMB = ((np.sqrt(2 / 3), 0.0, np.sqrt(1 / 3)), (np.sqrt(1 / 3), 0.0, -np.sqrt(2 / 3)))
_ARM = ((1.0, 0.0, 0.0), (0.0, -1.0, 0.0))
GODOT_AXES: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "Shoulder": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
    "UpperArm": _ARM,
    "LowerArm": ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0)),
    "Hand": _ARM,
    "UpperLeg": ((0.0, -1.0, 0.0), (0.0, 0.0, 1.0)),
    "LowerLeg": ((0.0, -1.0, 0.0), (0.0, 0.0, -1.0)),
    "Foot": ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0)),
    "Toes": ((0.0, 0.0, 1.0), (0.0, -1.0, 0.0)),
    **{f"Thumb{bone}": _THUMB for bone in ("Metacarpal", "Proximal", "Distal")},
    **{
        f"{finger}{bone}": _ARM
        for finger in ("Index", "Middle", "Ring", "Little")
        for bone in ("Proximal", "Intermediate", "Distal")
    },
}
"""World directions of a bone's Y and Z axes in the reference pose of SkeletonProfileHumanoid, by
its name without the side; on the left, with x turned about on the right."""
GODOT_UPRIGHT = ("Root", "Hips", "Spine", "Chest", "UpperChest", "Neck", "Head")
"""Bones whose axes are those of the world there."""


def with_t_pose(motion: Motion, body: BodyMap, stance: Stance) -> Motion:
    """The same motion on a skeleton that rests in a T-pose, with its soles at y = 0.

    Parameters
    ----------
    motion
        The clip. It may have one joint more than the skeleton of the stance, a root bone in front.
    body
        Roles of its joints.
    stance
        How every joint is turned in the T-pose.
    """
    skeleton = motion.skeleton
    shift = skeleton.n_joints - stance.skeleton.n_joints
    world = np.concatenate([np.tile(quat.IDENTITY, (shift, 1)), stance.quats])
    offsets = np.concatenate([np.zeros((shift, 3)), stance.skeleton.offsets])
    above = list(bones_above_pelvis(skeleton, body))
    world[above], offsets[above] = quat.IDENTITY, 0.0
    pelvis = int(body.pelvis or 0)
    offsets[pelvis] = 0.0
    resting = dataclasses.replace(skeleton, offsets=offsets, rest_quats=_local(skeleton, world))
    offsets[pelvis, 1] = ball_height(resting, body) - _lowest_ball(resting, stance, shift)
    return motion.replace(skeleton=dataclasses.replace(resting, offsets=offsets))


def with_godot_axes(motion: Motion) -> Motion:
    """The same motion with the bone axes of Godot's humanoid profile, found by its bone names.

    Joints that the profile does not name keep their axes. Every joint stays where it is.
    """
    skeleton = motion.skeleton
    rest = forward_kinematics(skeleton, np.zeros((1, 3)), skeleton.rest_quats[None])[1][0]
    turns = np.tile(quat.IDENTITY, (skeleton.n_joints, 1))
    for j, name in enumerate(skeleton.names):
        axes = _godot_axes(name)
        if axes is not None:
            turns[j] = quat.multiply(quat.conjugate(rest[j]), axes)
    return _with_axes(motion, turns)


def _godot_axes(name: str) -> FloatArray | None:
    """World rotation of a bone in the profile's reference pose; None where it has no such bone."""
    if name in GODOT_UPRIGHT:
        return quat.IDENTITY
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        axes = GODOT_AXES.get(name.removeprefix(side)) if name.startswith(side) else None
        if axes is not None:
            y, z = np.array(axes) * np.array([sign, 1.0, 1.0])
            return quat.from_matrix(np.stack([np.cross(y, z), y, z], axis=1))
    return None


def _with_axes(motion: Motion, turns: FloatArray) -> Motion:
    """The motion with every joint's axes turned in its own frame by ``turns`` (J, 4)."""
    skeleton, moving = motion.skeleton, motion.joint_translations
    into = quat.conjugate(np.concatenate([quat.IDENTITY[None], turns]))[skeleton.parents + 1]
    ends = quat.conjugate(turns)[skeleton.end_parents]
    return motion.replace(
        skeleton=dataclasses.replace(
            skeleton,
            offsets=quat.rotate(into, skeleton.offsets),
            rest_quats=quat.multiply(quat.multiply(into, skeleton.rest_quats), turns),
            end_offsets=quat.rotate(ends, skeleton.end_offsets),
        ),
        local_quats=quat.multiply(quat.multiply(into, motion.local_quats), turns),
        joint_translations=None if moving is None else quat.rotate(into, moving),
    )


def _local(skeleton: Skeleton, world: FloatArray) -> FloatArray:
    """World rotations (J, 4) as rotations in the parents."""
    parents = np.concatenate([quat.IDENTITY[None], world])[skeleton.parents + 1]
    return quat.multiply(quat.conjugate(parents), world)


def _lowest_ball(skeleton: Skeleton, stance: Stance, shift: int) -> float:
    """Height of the lower ball of the feet at rest."""
    places, turns = forward_kinematics(skeleton, np.zeros((1, 3)), skeleton.rest_quats[None])
    balls = [
        places[0, foot.ankle + shift] + quat.rotate(turns[0, foot.ankle + shift], foot.ball)
        for foot in stance.feet
    ]
    return float(min(ball[1] for ball in balls))
