"""Stature: the standing height of a skeleton, from its bone lengths."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import of_kind
from motionloom._elementary import norm
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.body.joint_names import read_name
from motionloom.body.joint_tree import rest_pose
from motionloom.motion.skeleton import Skeleton

ANKLE_HEIGHT = 0.039
"""Ankle over the sole as a part of stature (Winter, after Drillis and Contini)."""
LEG_LENGTH = 0.491
"""Hip to ankle as a part of stature, from the same table: 0.530 less 0.039."""
HEAD_OVER_HEAD_JOINT = 0.105
"""Top of the head over the head joint where the rig has no tip there, as a part of stature."""
HEAD_OVER_NECK_JOINT = 0.16
"""Top of the head over the base of the neck where the rig has no head joint."""


def stature(skeleton: Skeleton, body: BodyMap | None = None) -> float:
    """Standing height in the skeleton's own unit, from bone lengths alone.

    Sole to ankle, shank, thigh, mid-hips to the first spine joint, the spine, the neck, and the
    head to its tip. Lengths do not depend on the rest pose, so rigs without a usable rest pose are
    measured as well. What a rig leaves out (sole, top of the head) is added in proportion. Where
    the legs suggest a taller person the mean of both is taken, because rigs leave bones out of the
    trunk (CMU's BVH has no thorax) and never out of the legs. It is 0 where the skeleton has no
    legs.

    Parameters
    ----------
    skeleton
        Its bones.
    body
        Which joint is which; guessed where not given.

    Returns
    -------
    float
        Standing height, 0 without legs.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> 1.5 < stature(synthetic.clip("walk").motion.skeleton) < 2.0
    True
    """
    body = roles_for(of_kind(skeleton, Skeleton, "skeleton"), body)
    legs = [
        _length(skeleton, hip, ankle)
        for hip, ankle in ((body.left_hip, body.left_ankle), (body.right_hip, body.right_ankle))
        if hip is not None and ankle is not None
    ]
    if not legs or body.pelvis is None:
        return 0.0
    torso, over_top = _torso_and_head(skeleton, body)
    leg = float(np.mean(legs))
    summed = (leg + torso) / (1.0 - ANKLE_HEIGHT - over_top)
    return max(summed, 0.5 * (summed + leg / LEG_LENGTH))


def _torso_and_head(skeleton: Skeleton, body: BodyMap) -> tuple[float, float]:
    """Length from mid-hips to the topmost joint or tip, and the share of stature above that."""
    pose, _ = rest_pose(skeleton)
    hips = [j for j in (body.left_hip, body.right_hip) if j is not None]
    first = next((j for j in (*body.spine, body.neck, body.head) if j is not None), None)
    if first is None:
        return 0.0, 0.5
    # The pelvis is one solid, so this distance is the same in every pose.
    length = norm(pose[first] - pose[hips].mean(axis=0))
    last = next(j for j in (body.head, body.neck, first) if j is not None)
    length += _length(skeleton, first, last)
    if body.head is None:
        return length, HEAD_OVER_NECK_JOINT
    tip = _tip(skeleton, body.head)
    if tip > 0.0:
        return length + tip, 0.0
    return length, HEAD_OVER_HEAD_JOINT


def _tip(skeleton: Skeleton, head: int) -> float:
    """Distance from the head joint to its end: an end site, or a child joint that only marks it."""
    ends = skeleton.end_offsets[skeleton.end_parents == head]
    reach = [norm(end) for end in ends]
    reach += [
        norm(skeleton.offsets[child])
        for child in skeleton.children(head)
        if read_name(skeleton.names[child]).tip
    ]
    return max(reach, default=0.0)


def _length(skeleton: Skeleton, above: int, below: int) -> float:
    """Sum of the bones from one joint down to another; 0 where it is not below."""
    total, joint = 0.0, below
    while joint != above:
        if joint < 0:
            return 0.0
        total += norm(skeleton.offsets[joint])
        joint = int(skeleton.parents[joint])
    return total
