"""Parts: where the body may be split, and which points tell how a part is held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from motionloom._arrays import one_of
from motionloom.body.body_map import BodyMap
from motionloom.errors import SkeletonMismatchError
from motionloom.motion.skeleton import Skeleton

Where = Literal["torso", "chest", "arms", "left_arm", "right_arm", "head"]


@dataclass(frozen=True, slots=True)
class Part:
    """A joint with all that hangs on it, taken from the action."""

    joint: int
    joints: tuple[int, ...]
    """The joint and everything below it."""
    torso: tuple[int, ...]
    """Points that the locomotion has too and that tell how its torso sways; none for arms and
    head, which ride on a torso that sways already."""
    held: tuple[int, ...]
    """Points whose mean place tells the posture to keep."""


def parts_of(skeleton: Skeleton, body: BodyMap, where: str) -> tuple[Part, ...]:
    """The parts of the body that ``where`` names."""
    one_of(where, get_args(Where), "where")
    body.require(
        "pelvis", "left_shoulder", "right_shoulder", "left_hip", "right_hip", task="splicing"
    )
    if where in ("torso", "chest"):
        if not body.spine:
            raise SkeletonMismatchError(
                "Splicing needs a joint between pelvis and shoulders to split the body at; none "
                "was found. Name the spine with body=, or use where='arms'."
            )
        return (_trunk(skeleton, body, body.spine[0 if where == "torso" else -1]),)
    if where == "head":
        (joint,) = (body.neck,) if body.neck is not None else body.require("head", task="splicing")
        ends = [j for j in (body.head,) if j is not None and j != joint]
        below = _below(skeleton, joint)
        return (Part(joint, below, (), tuple(ends or below[1:2])),)
    sides = ("left", "right") if where == "arms" else (where.removesuffix("_arm"),)
    return tuple(_arm(skeleton, body, side) for side in sides)


def _trunk(skeleton: Skeleton, body: BodyMap, joint: int) -> Part:
    below = _below(skeleton, joint)
    shoulders = [j for j in (body.left_shoulder, body.right_shoulder) if j is not None]
    points = [j for j in (*body.spine, *shoulders) if j in below and j != joint]
    return Part(joint, below, tuple(points), tuple(shoulders))


def _arm(skeleton: Skeleton, body: BodyMap, side: str) -> Part:
    shoulder, elbow = body.require(f"{side}_shoulder", f"{side}_elbow", task="splicing an arm")
    trunk = {body.pelvis, body.neck, *body.spine}
    joint = shoulder
    while int(skeleton.parents[joint]) not in trunk and int(skeleton.parents[joint]) > 0:
        joint = int(skeleton.parents[joint])
    wrist = getattr(body, f"{side}_wrist")
    held = [j for j in (elbow, wrist) if j is not None]
    return Part(joint, _below(skeleton, joint), (), tuple(held))


def _below(skeleton: Skeleton, joint: int) -> tuple[int, ...]:
    hanging = {joint}
    for j in range(joint + 1, skeleton.n_joints):
        if int(skeleton.parents[j]) in hanging:
            hanging.add(j)
    return tuple(sorted(hanging))
