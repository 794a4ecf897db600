"""Point clouds: what a frame looks like, as the distance between frames sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray, finite, one_of
from motionloom._records import record
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.errors import ArrayError
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton, end_positions

FEWEST = 40
"""Below this number of points the middles of the bones are added, as [KG03]_ use 40 points."""


@dataclass(frozen=True, slots=True, eq=False)
@record
class PointCloud:
    """World points of every frame and how much each counts."""

    points: FloatArray
    """Metres. (F, P, 3)"""
    weights: FloatArray
    """Sum to one. (P,)"""


def point_cloud(
    motion: Motion,
    *,
    body: BodyMap | None = None,
    among: Sequence[Skeleton] = (),
    joint_weights: Mapping[str, float] | None = None,
) -> PointCloud:
    """Joints, tips and, where they are few, middles of bones; fingers left out.

    Captured fingers are seldom real, and joints that lie on their parent say nothing twice.

    Parameters
    ----------
    motion
        F frames.
    body
        Which joint is which; guessed where not given.
    among
        Skeletons with the same joints whose clips are compared, this one's included: the first
        decides which joints count, and tips count only where all have the same.
    joint_weights
        How much points of a joint count, by its name; those not named count 1. A tip counts as its
        joint, the middle of a bone as the joint at its end.
    """
    skeleton = motion.skeleton
    body = roles_for(skeleton, body)
    joints = _telling_joints(among[0] if among else skeleton, body)
    tipped = all(np.array_equal(skeleton.end_parents, each.end_parents) for each in among)
    ends = [
        e
        for e, j in enumerate(skeleton.end_parents)
        if tipped and (j in joints or _is_tip(skeleton, body, j))
    ]
    positions, quats = motion.world_pose()
    tips = end_positions(skeleton, positions, quats)[:, ends]
    parents = [-1 if j == joints[0] else int(skeleton.parents[j]) for j in joints]
    clouds = [positions[:, joints], tips]
    owners = [*joints, *(int(skeleton.end_parents[e]) for e in ends)]
    if len(joints) + len(ends) < FEWEST:
        bones = [(j, p) for j, p in zip(joints, parents, strict=True) if p >= 0]
        if bones:
            j, p = np.array(bones).T
            clouds.append(0.5 * (positions[:, j] + positions[:, p]))
            owners += j.tolist()
    points = np.concatenate(clouds, axis=1)
    weights = np.ones(points.shape[1])
    if joint_weights is not None:
        weights = weights * _weights_of(joint_weights, skeleton)[owners]
        if weights.sum() <= 0.0:
            raise ArrayError(
                "`joint_weights` must leave some joint a weight above 0; all that are compared "
                "have 0. Raise one of them."
            )
    return PointCloud(points, weights / weights.sum())


def _weights_of(weights: Mapping[str, float], skeleton: Skeleton) -> FloatArray:
    """Weight of every joint, (J,): as given by name, 1 for the others."""
    if not isinstance(weights, Mapping):
        raise ArrayError(
            "`joint_weights` must give weights by the names of joints, such as {'LeftFoot': 3.0}, "
            f"got {type(weights).__name__}."
        )
    values = np.ones(skeleton.n_joints)
    for name, value in weights.items():
        joint = skeleton.names.index(one_of(name, skeleton.names, "joint_weights"))
        values[joint] = finite(value, f"joint_weights[{name!r}]")
        if values[joint] < 0.0:
            raise ArrayError(f"`joint_weights[{name!r}]` must not be negative, got {value!r}.")
    return values


def _telling_joints(skeleton: Skeleton, body: BodyMap) -> list[int]:
    """The pelvis, and joints with a bone of some length that are not part of a hand.

    Bones above the pelvis carry travel in some clips and lie still in others: they are left out.
    """
    hands = {
        j for wrist in (body.left_wrist, body.right_wrist) if wrist is not None for j in [wrist]
    }
    below_hand = np.zeros(skeleton.n_joints, dtype=bool)
    keep = [body.pelvis or 0]
    above = skeleton.chain(keep[0])
    others = [j for j in range(skeleton.n_joints) if j not in above]
    scale = float(np.linalg.norm(skeleton.offsets[others], axis=-1).max(initial=0.0))
    for j in others:
        parent = int(skeleton.parents[j])
        below_hand[j] = below_hand[parent] or parent in hands
        has_bone = np.linalg.norm(skeleton.offsets[j]) > 1e-3 * scale
        if has_bone and not below_hand[j]:
            keep.append(j)
    return keep


def _is_tip(skeleton: Skeleton, body: BodyMap, joint: int) -> bool:
    """Whether an end site on ``joint`` tells something: not on a finger."""
    chain = skeleton.chain(int(joint))
    hands = {body.left_wrist, body.right_wrist} - {None}
    return not any(j in hands for j in chain)
