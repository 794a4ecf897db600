"""Twists: limbs that solvers turn by half a turn about their own axis while they are straight.

The bones stay where they are, but thigh and shank (or both parts of an arm) show their back from
one frame to the next, and the knee seems to bend the other way. Turning them back moves no joint.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.motion.body import BodyMap
from motionloom.motion.kinematics import local_from_world
from motionloom.motion.motion import Motion
from motionloom.rotation import quat

__all__ = ["untwist"]

HALF_TURN = np.radians(120.0)
"""A bone that turns farther in one step, and"""
SAME_WAY = np.radians(20.0)
"""whose direction turns by less than this, is twisted."""
STRAIGHT = np.radians(25.0)
"""Limbs that are bent farther do not lose their side."""
LONGEST_S = 0.7
"""Bones that show their other side for longer may be right, seconds."""
SHORT_M = 1e-6
"""Shorter bones have no direction."""
LIMBS = (("hip", "knee", "ankle"), ("shoulder", "elbow", "wrist"))


def untwist(motion: Motion, body: BodyMap) -> tuple[Motion, list[str]]:
    """The motion with bones of limbs that twist by half a turn turned back, and which they are.

    The side that a bone shows in most frames of the clip is right; a bone that shows the other one
    for long is left as it is. No joint moves, and joints further out keep their rotation in the
    world.
    """
    world: FloatArray | None = None
    names: list[str] = []
    for side in ("left", "right"):
        for roles in LIMBS:
            joints = [getattr(body, f"{side}_{role}") for role in roles]
            if None in joints:
                continue
            positions = motion.world_positions()[:, joints]
            straight = _angles(positions[:, 1] - positions[:, 0], positions[:, 2] - positions[:, 1])
            for joint, end in pairwise(joints):
                way = motion.skeleton.chain(end)
                bone = motion.skeleton.offsets[way[way.index(joint) + 1]]
                twisted = _twisted(motion.world_quats()[:, joint], bone, straight < STRAIGHT)
                if not 0 < twisted.sum() <= LONGEST_S * motion.fps:
                    continue
                world = np.array(motion.world_quats()) if world is None else world
                turn = np.concatenate([[0.0], bone / np.linalg.norm(bone)])
                world[twisted, joint] = quat.multiply(world[twisted, joint], turn)
                first = int(np.flatnonzero(twisted)[0])
                names.append(f"{motion.skeleton.names[joint]} from frame {first}")
    if world is None:
        return motion, []
    local = local_from_world(motion.skeleton, world)
    return motion.replace(local_quats=quat.make_continuous(local)), names


def _twisted(quats: FloatArray, bone: FloatArray, straight: BoolArray) -> BoolArray:
    """Frames in which a bone (3,) shows the other side than in most. Rotations (F, 4) to (F,)."""
    flags = np.zeros(len(quats), dtype=np.bool_)
    if float(np.linalg.norm(bone)) < SHORT_M or len(quats) < 2:
        return flags
    far = quat.angle_between(quats[:-1], quats[1:]) > HALF_TURN
    steps = np.flatnonzero(far & straight[:-1] & straight[1:])
    if not len(steps):
        return flags
    turned = _angles(quat.rotate(quats[steps], bone), quat.rotate(quats[steps + 1], bone))
    for step in steps[turned < SAME_WAY]:
        flags[step + 1 :] ^= True
    return ~flags if flags.sum() > 0.5 * len(flags) else flags


def _angles(a: FloatArray, b: FloatArray) -> FloatArray:
    """Angles between vectors (F, 3), radians."""
    across = np.linalg.norm(np.cross(a, b), axis=-1)
    return np.asarray(np.arctan2(across, np.sum(a * b, axis=-1)))
