"""Parts: where the body may be split, and which points show how a part is held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from motionloom._arrays import one_of
from motionloom.body.body_map import BodyMap
from motionloom.errors import SkeletonMismatchError
from motionloom.motion.motion import Skeleton

Where = Literal["torso", "chest", "arms", "left_arm", "right_arm", "head"]


@dataclass(frozen=True, slots=True)
class Part:
    """A joint with all that hangs on it, taken from the action."""

    joint: int
    joints: tuple[int, ...]
    """The joint and everything below it."""
    pivot: int
    """Joint from which the torso is seen: the part's own, or the foot of the spine that carries
    arms and head."""
    torso: tuple[int, ...]
    """Points of the torso that show how it sways."""
    held: tuple[int, ...]
    """Points whose mean place is the posture to keep."""

    @property
    def is_trunk(self) -> bool:
        """Whether the part is the torso itself, not arms or a head on the locomotion's torso."""
        return self.pivot == self.joint


def parts_of(skeleton: Skeleton, body: BodyMap, where: str) -> tuple[Part, ...]:
    """The parts of the body that ``where`` names."""
    one_of(where, get_args(Where), "where")
    body.require(
        "pelvis", "left_shoulder", "right_shoulder", "left_hip", "right_hip", task="splicing"
    )
    if where in ("torso", "chest"):
        spine = carrying_spine(skeleton, body)
        if not spine:
            raise SkeletonMismatchError(
                "Splicing needs a joint between pelvis and shoulders to split the body at; none "
                "was found. Name the spine with body=, or use where='arms'."
            )
        return (_trunk(skeleton, body, spine[0 if where == "torso" else -1]),)
    if where == "head":
        (joint,) = (body.neck,) if body.neck is not None else body.require("head", task="splicing")
        return (_carried(skeleton, body, joint),)
    sides = ("left", "right") if where == "arms" else (where.removesuffix("_arm"),)
    return tuple(_arm(skeleton, body, side) for side in sides)


def carrying_spine(skeleton: Skeleton, body: BodyMap) -> tuple[int, ...]:
    """Joints of the spine that carry both shoulders, from the pelvis upwards.

    The others are the neck's: some rigs have a joint for its base, above the collarbones' parent.
    """
    left, right = (skeleton.chain(shoulder) for shoulder in _shoulders(body))
    return tuple(j for j in left if j in body.spine and j in right)


def chain_between(skeleton: Skeleton, first: int, last: int) -> tuple[int, ...]:
    """Joints from ``first`` down to ``last``, which hangs on it; both are included."""
    chain = skeleton.chain(last)
    return tuple(chain[chain.index(first) :])


def _trunk(skeleton: Skeleton, body: BodyMap, joint: int) -> Part:
    below = _below(skeleton, joint)
    spine = carrying_spine(skeleton, body)
    points = [j for j in (*spine, *_shoulders(body)) if j in below and j != joint]
    return Part(joint, below, joint, tuple(points), _shoulders(body))


def _carried(skeleton: Skeleton, body: BodyMap, joint: int) -> Part:
    """A limb or head on the locomotion's torso, which shows how it has to be turned."""
    spine = carrying_spine(skeleton, body)
    (pivot,) = spine[:1] or body.require("pelvis", task="splicing")
    points = (*spine[1:], *_shoulders(body))
    return Part(joint, _below(skeleton, joint), pivot, points, _shoulders(body))


def _shoulders(body: BodyMap) -> tuple[int, ...]:
    return body.require("left_shoulder", "right_shoulder", task="splicing")


def _arm(skeleton: Skeleton, body: BodyMap, side: str) -> Part:
    shoulder, _ = body.require(f"{side}_shoulder", f"{side}_elbow", task="splicing an arm")
    (other,) = set(_shoulders(body)) - {shoulder}
    trunk = {body.pelvis, body.neck, *body.spine, *skeleton.chain(other)}
    joint = shoulder
    while int(skeleton.parents[joint]) not in trunk and int(skeleton.parents[joint]) > 0:
        joint = int(skeleton.parents[joint])
    return _carried(skeleton, body, joint)


def _below(skeleton: Skeleton, joint: int) -> tuple[int, ...]:
    hanging = {joint}
    for j in range(joint + 1, skeleton.n_joints):
        if int(skeleton.parents[j]) in hanging:
            hanging.add(j)
    return tuple(sorted(hanging))
