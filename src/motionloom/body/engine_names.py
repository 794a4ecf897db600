"""Names that engines give to the bones of a human body."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from motionloom.body.body_map import BodyMap
from motionloom.body.joint_names import read_name
from motionloom.body.limb_bones import clavicles
from motionloom.motion.skeleton import Skeleton

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
    """At most so many joints of a spine: the lowest ones, and the top one."""
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
