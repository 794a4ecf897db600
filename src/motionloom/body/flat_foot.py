"""Flat feet: which way is up for a foot, from a rest pose, from a clip, or from anatomy."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._elementary import arccos, cross, dot, norm
from motionloom.body.body_map import BodyMap
from motionloom.errors import SkeletonMismatchError
from motionloom.motion.skeleton import Skeleton
from motionloom.rotation import quat

ANKLE_OVER_BALL = 0.019
LEAST_SPREAD = np.radians(5.0)
"""Legs that rest further apart than this may have taken the feet with them."""
UP = np.array([0.0, 1.0, 0.0])
Pose = tuple[FloatArray, FloatArray]
"""World positions (F, J, 3) and rotations (F, J, 4)."""


def role_joint(body: BodyMap, side: str, role: str) -> int:
    """The joint of a role that the body is known to have."""
    joint = getattr(body, f"{side}_{role}")
    assert joint is not None
    return int(joint)


def is_upright(body: BodyMap, positions: FloatArray) -> bool:
    """Whether the rest pose stands: both hips well over their ankles."""
    for side in ("left", "right"):
        hip, ankle = getattr(body, f"{side}_hip"), role_joint(body, side, "ankle")
        if hip is None:
            hip = body.pelvis
        if hip is None:
            return False
        leg = positions[hip] - positions[ankle]
        # CMU rests with its legs spread by 20 degrees, hence no more than 0.8.
        if leg[1] < 0.8 * norm(leg):
            return False
    return True


def up_at_rest(body: BodyMap, rest: Pose, side: str, ball: FloatArray) -> FloatArray:
    """World direction that is up for a foot in an upright rest pose.

    Rigs that rest with spread legs often leave the feet in line with them, rolled outwards as much
    as the legs are (CMU's by 20 degrees). Such a foot is flat when its leg is upright, so its up
    is along the leg.
    """
    knee, ankle = getattr(body, f"{side}_knee"), role_joint(body, side, "ankle")
    if knee is None or body.left_hip is None or body.right_hip is None:
        return UP
    positions, quats = rest[0][0], rest[1][0]
    across = positions[body.left_hip] - positions[body.right_hip]
    ahead = cross(across, UP)
    ahead /= max(norm(ahead), 1e-12)

    def frontal(v: FloatArray) -> FloatArray:
        flat = v - dot(v, ahead) * ahead
        return np.asarray(flat / max(norm(flat), 1e-12))

    leg = frontal(positions[knee] - positions[ankle])
    foot = frontal(-quat.rotate(quats[ankle], ball))
    spread = float(arccos(np.clip(dot(leg, UP), -1.0, 1.0)))
    roll = float(arccos(np.clip(dot(foot, leg), -1.0, 1.0)))
    return leg if spread > LEAST_SPREAD and roll < 0.3 * spread else UP


def up_when_flat(pose: Pose, ankle: int, ball: FloatArray) -> FloatArray:
    """World up in the ankle's frame, in the quietest fifth of the frames.

    A foot is at rest only when it is flat: rolling over heel or ball moves the ankle, swinging
    moves both. Only directions near the median count, against clips that end on tiptoe.
    """
    ankles, turns = pose[0][:, ankle], pose[1][:, ankle]
    balls = ankles + quat.rotate(turns, ball)
    ups = quat.rotate(quat.conjugate(turns), UP)
    if len(ups) > 2:
        moved = np.linalg.norm(np.gradient(ankles, axis=0), axis=-1)
        moved += np.linalg.norm(np.gradient(balls, axis=0), axis=-1)
        ups = ups[moved <= np.quantile(moved, 0.2)]
    middle = np.median(ups, axis=0)
    near = np.argsort(np.linalg.norm(ups - middle, axis=-1))[: (len(ups) + 1) // 2]
    up = ups[near].mean(axis=0)
    return np.asarray(up / norm(up))


def up_by_anatomy(
    skeleton: Skeleton, rest: Pose, body: BodyMap, side: str, ball: FloatArray, height: float
) -> FloatArray:
    """Up in the ankle's frame such that the ankle stands over the ball as ankles do."""
    ankle, knee = role_joint(body, side, "ankle"), getattr(body, f"{side}_knee")
    length = norm(ball)
    shank = np.zeros(3)
    if knee is not None and length > 0.0:
        shank = rest[0][0, knee] - rest[0][0, ankle]
        shank = in_frame(rest[1][0, ankle], shank)
        shank /= max(norm(shank), 1e-12)
    along = ball / max(length, 1e-12)
    across = shank - dot(shank, along) * along
    if norm(across) < 0.2:
        raise SkeletonMismatchError(
            f"The rest pose must show which way the {side} foot is up: shank and foot may not lie "
            f"on one line, as those of {skeleton.names[ankle]!r} do. Pass motion= with a clip."
        )
    across /= norm(across)
    sin = min(ANKLE_OVER_BALL * height / length, 0.7)
    return np.asarray(np.sqrt(1.0 - sin * sin) * across - sin * along)


def in_frame(q: FloatArray, v: FloatArray) -> FloatArray:
    """A world direction as seen in the frame that ``q`` turns into the world."""
    return quat.rotate(quat.conjugate(q), v)
