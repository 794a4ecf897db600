"""Bones that engines expect: their names, a T-pose over the origin, and the axes of Godot."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.anatomy import ball_height
from motionloom.body.body_map import BodyMap
from motionloom.body.joint_names import read_name
from motionloom.body.neutral import Stance, clavicles
from motionloom.body.root_motion import bones_above_pelvis
from motionloom.motion.motion import Motion, Skeleton, forward_kinematics
from motionloom.rotation import quat

FINGERS = {
    "thumb": {"thumb"},
    "index": {"index"},
    "middle": {"middle", "mid"},
    "ring": {"ring"},
    "little": {"little", "pinky", "pinkie"},
}
"""Words for each finger."""
NO_PHALANX = {"metacarpal", "carpal", "in", "end", "nub", "tip", "site", "twist"}
"""Words of joints that have the name of a finger and are none of its three bones."""
N_PHALANGES = 3


@dataclass(frozen=True, slots=True)
class BoneNames:
    """The names of one engine; those of limbs have ``{side}`` for the side."""

    root: str
    pelvis: str
    spine: tuple[str, ...]
    """Used from the lowest up; where a spine has more joints, the last is its top joint."""
    neck: str
    head: str
    sides: tuple[str, str]
    """What stands for left and right."""
    limbs: dict[str, str]
    """By role without the side; the collar bone is ``clavicle``."""
    fingers: dict[str, tuple[str, ...]]
    """By finger, from the hand outwards."""


_LIMBS = {
    "hip": "{side}UpperLeg",
    "knee": "{side}LowerLeg",
    "ankle": "{side}Foot",
    "toe": "{side}Toes",
    "clavicle": "{side}Shoulder",
    "shoulder": "{side}UpperArm",
    "elbow": "{side}LowerArm",
    "wrist": "{side}Hand",
}
_SPINE = ("Spine", "Chest", "UpperChest")


def _phalanges(finger: str, *bones: str) -> tuple[str, ...]:
    return tuple(f"{{side}}{finger.title()}{bone}" for bone in bones)


_FINGERS = {finger: _phalanges(finger, "Proximal", "Intermediate", "Distal") for finger in FINGERS}
BONE_NAMES: dict[str, BoneNames] = {
    "unreal": BoneNames(
        root="root",
        pelvis="pelvis",
        spine=("spine_01", "spine_02", "spine_03", "spine_04", "spine_05"),
        neck="neck_01",
        head="head",
        sides=("l", "r"),
        limbs={
            "hip": "thigh_{side}",
            "knee": "calf_{side}",
            "ankle": "foot_{side}",
            "toe": "ball_{side}",
            "clavicle": "clavicle_{side}",
            "shoulder": "upperarm_{side}",
            "elbow": "lowerarm_{side}",
            "wrist": "hand_{side}",
        },
        fingers={
            finger: tuple(
                f"{'pinky' if finger == 'little' else finger}_0{n}_{{side}}" for n in (1, 2, 3)
            )
            for finger in FINGERS
        },
    ),
    "unity": BoneNames(
        "Root", "Hips", _SPINE, "Neck", "Head", ("Left", "Right"), _LIMBS, _FINGERS
    ),
    "godot": BoneNames(
        "Root", "Hips", _SPINE, "Neck", "Head", ("Left", "Right"), _LIMBS,
        _FINGERS | {"thumb": _phalanges("thumb", "Metacarpal", "Proximal", "Distal")},
    ),
}  # fmt: skip
"""Bones of Unreal's mannequin, of Unity's humanoid and of Godot's SkeletonProfileHumanoid."""


def engine_names(skeleton: Skeleton, body: BodyMap, engine: str) -> tuple[str, ...]:
    """A name for every joint: the engine's where the body has such a bone, else the present one.

    Present names lose their name space (``mixamorig:``) and signs that engines replace. All names
    differ also where upper and lower case count as one. A first joint above the pelvis is the root
    bone; without one its name stays free.
    """
    bones = BONE_NAMES[engine]
    wanted = dict(_bones(skeleton, body, bones))
    taken = {name.lower() for name in (bones.root, *wanted.values())}
    names = []
    for j, present in enumerate(skeleton.names):
        name = wanted.get(j)
        if name is None:
            bare = (
                re.sub(r"[^\w .-]", "_", present.rsplit(":", 1)[-1].rsplit("|", 1)[-1]) or "joint"
            )
            name, again = bare, 2
            while name.lower() in taken:
                name, again = f"{bare}_{again}", again + 1
            taken.add(name.lower())
        names.append(name)
    return tuple(names)


def _bones(skeleton: Skeleton, body: BodyMap, names: BoneNames) -> Iterator[tuple[int, str]]:
    """Joints of the body with their names."""
    if body.pelvis is not None:
        yield body.pelvis, names.pelvis
        if body.pelvis > 0:
            yield 0, names.root
    yield from zip(_spine(body.spine, len(names.spine)), names.spine, strict=False)
    for joint, name in ((body.neck, names.neck), (body.head, names.head)):
        if joint is not None:
            yield joint, name
    for side, written in zip(("left", "right"), names.sides, strict=True):
        collar = clavicles(skeleton, body, side)[:1]
        for role, name in names.limbs.items():
            joint = getattr(body, f"{side}_{role}", collar[0] if collar else None)
            if joint is not None:
                yield joint, name.format(side=written)
        for finger, phalanges in names.fingers.items():
            joints = _phalanx_joints(skeleton, getattr(body, f"{side}_wrist"), finger)
            for joint, name in zip(joints, phalanges, strict=False):
                yield joint, name.format(side=written)


def _spine(joints: tuple[int, ...], most: int) -> tuple[int, ...]:
    """At most ``most`` joints of a spine: the lowest ones, and the top one."""
    return joints if len(joints) <= most else (*joints[: most - 1], joints[-1])


def _phalanx_joints(skeleton: Skeleton, wrist: int | None, finger: str) -> list[int]:
    """Up to three joints of a finger, each on the one before."""
    chain: list[int] = []
    for j in [] if wrist is None else skeleton.carried_by([wrist])[1:].tolist():
        words = set(read_name(skeleton.names[j]).key)
        named = words & FINGERS[finger] and not words & NO_PHALANX
        if named and (not chain or chain[-1] in skeleton.chain(j)) and len(chain) < N_PHALANGES:
            chain.append(j)
    return chain


# --- The rest pose

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
