"""Which bones make up limbs and trunk, and where each points when a body stands neutrally."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.body_map import BodyMap
from motionloom.motion.skeleton import Skeleton

LEFT, UP, AHEAD = np.eye(3)
"""Axes of a body that stands upright and faces +Z."""
SIDES = (("left", 1.0), ("right", -1.0))
"""Both sides with the sign of their x."""


def unit(v: FloatArray) -> FloatArray:
    """``v`` (3,) at length one; zero stays zero."""
    length = float(np.linalg.norm(v))
    return v / length if length > 0.0 else v


def frame(left: FloatArray, up: FloatArray) -> FloatArray:
    """Matrix whose columns are left, up and ahead: ``left`` as given, ``up`` made square to it."""
    x = unit(left)
    y = unit(up - (up @ x) * x)
    if not np.any(y):
        y = unit(np.cross(np.eye(3)[int(np.argmin(np.abs(x)))], x))
    return np.stack([x, y, np.cross(x, y)], axis=1)


def top_of_trunk(body: BodyMap) -> int | None:
    """Neck, or head, or the last joint of the spine."""
    return next((j for j in (body.neck, body.head, *body.spine[::-1]) if j is not None), None)


def trunk_bones(skeleton: Skeleton, body: BodyMap) -> dict[int, tuple[int, FloatArray]]:
    """For each joint of the spine and the neck the next one up; each points up when neutral."""
    joints = [j for j in (*body.spine, body.neck, body.head) if j is not None]
    return {a: (b, UP) for a, b in pairwise(joints) if a in skeleton.chain(b)}


def limb_bones(body: BodyMap) -> dict[int, tuple[int, FloatArray]]:
    """For each joint of a limb the joint its bone ends in, and where that points when neutral."""
    out: dict[int, tuple[int, FloatArray]] = {}
    for side, sign in SIDES:
        for above, below, towards in (
            ("hip", "knee", -UP),
            ("knee", "ankle", -UP),
            ("shoulder", "elbow", sign * LEFT),
            ("elbow", "wrist", sign * LEFT),
        ):
            a, b = getattr(body, f"{side}_{above}"), getattr(body, f"{side}_{below}")
            if a is not None and b is not None:
                out[a] = (b, towards)
    return out


def clavicles(skeleton: Skeleton, body: BodyMap, side: str) -> tuple[int, ...]:
    """Joints between the trunk and a shoulder, from the trunk outward."""
    shoulder = getattr(body, f"{side}_shoulder")
    if shoulder is None:
        return ()
    other = body.right_shoulder if side == "left" else body.left_shoulder
    trunk = {body.pelvis, *body.spine, body.neck, body.head}
    trunk.update(() if other is None else skeleton.chain(other))
    path = skeleton.chain(shoulder)[:-1]
    last = max((i for i, j in enumerate(path) if j in trunk), default=-1)
    return path[last + 1 :]


def chest_of(skeleton: Skeleton, body: BodyMap) -> tuple[int, int, int] | None:
    """The joint that carries both arms, and its child on the left and on the right."""
    if body.left_shoulder is None or body.right_shoulder is None:
        return None
    left = (*clavicles(skeleton, body, "left"), body.left_shoulder)[0]
    right = (*clavicles(skeleton, body, "right"), body.right_shoulder)[0]
    chest = int(skeleton.parents[left])
    return (chest, left, right) if chest == skeleton.parents[right] else None


def free_twists(skeleton: Skeleton, body: BodyMap) -> dict[int, FloatArray]:
    """Joints whose one bone leaves a twist open, with where that bone points when neutral."""
    out = {j: towards for j, (_, towards) in limb_bones(body).items()}
    for side, sign in SIDES:
        out.update(dict.fromkeys(clavicles(skeleton, body, side), sign * LEFT))
    out.update({j: UP for j in (*body.spine, body.neck) if j is not None})
    chest = chest_of(skeleton, body)
    if chest is not None:
        out.pop(chest[0], None)
    return out
