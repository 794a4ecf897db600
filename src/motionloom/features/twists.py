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
LIMBS = (("hip", "knee", "ankle"), ("shoulder", "elbow", "wrist"))


def untwist(motion: Motion, body: BodyMap) -> tuple[Motion, list[str]]:
    """The motion with bones of limbs that twist by half a turn turned back, and which they are.

    The side that a bone shows in most frames of the clip is right. No joint moves, and joints
    further out keep their rotation in the world.
    """
    world: FloatArray | None = None
    names: list[str] = []
    for side in ("left", "right"):
        for roles in LIMBS:
            for upper, lower in pairwise(roles):
                joint, end = getattr(body, f"{side}_{upper}"), getattr(body, f"{side}_{lower}")
                if joint is None or end is None:
                    continue
                way = motion.skeleton.chain(end)
                bone = motion.skeleton.offsets[way[way.index(joint) + 1]]
                twisted = _twisted(motion.world_quats()[:, joint], bone)
                if not twisted.any():
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


def _twisted(quats: FloatArray, bone: FloatArray) -> BoolArray:
    """Frames in which a bone (3,) shows the other side than in most. Rotations (F, 4) to (F,)."""
    flags = np.zeros(len(quats), dtype=np.bool_)
    length = float(np.linalg.norm(bone))
    if length < 1e-6 or len(quats) < 2:
        return flags
    steps = np.flatnonzero(quat.angle_between(quats[:-1], quats[1:]) > HALF_TURN)
    if not len(steps):
        return flags
    before, after = quat.rotate(quats[steps], bone), quat.rotate(quats[steps + 1], bone)
    cosines = np.sum(before * after, axis=-1) / length**2
    for step in steps[cosines > np.cos(SAME_WAY)]:
        flags[step + 1 :] ^= True
    return ~flags if flags.sum() > 0.5 * len(flags) else flags
