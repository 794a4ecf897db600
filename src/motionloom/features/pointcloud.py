"""Point clouds: what a frame looks like, as the distance between frames sees it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._records import record
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.motion.forward import end_positions
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton

FEWEST = 40
"""Below so many points the middles of the bones are added, as [KG03]_ use 40 points."""


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
    by_length: bool = False,
    among: Sequence[Skeleton] = (),
) -> PointCloud:
    """Joints, tips and, where they are few, middles of bones; fingers left out.

    Captured fingers are seldom real, and joints that lie on their parent say nothing twice.

    Parameters
    ----------
    motion
        F frames.
    body
        Which joint is which; guessed where not given.
    by_length
        Weigh each point by its bone's length instead of equally.
    among
        Skeletons with the same joints whose clips are compared, this one's included: the first
        decides which joints count, and tips count only where all have the same.
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
    lengths = [
        np.linalg.norm(skeleton.offsets[joints], axis=-1) * (np.array(parents) >= 0),
        np.linalg.norm(skeleton.end_offsets[ends], axis=-1),
    ]
    if len(joints) + len(ends) < FEWEST:
        bones = [(j, p) for j, p in zip(joints, parents, strict=True) if p >= 0]
        if bones:
            j, p = np.array(bones).T
            clouds.append(0.5 * (positions[:, j] + positions[:, p]))
            lengths.append(np.linalg.norm(skeleton.offsets[j], axis=-1))
    points = np.concatenate(clouds, axis=1)
    weights = np.concatenate(lengths) if by_length else np.ones(points.shape[1])
    if weights.sum() <= 0.0:
        weights = np.ones(points.shape[1])
    return PointCloud(points, weights / weights.sum())


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
