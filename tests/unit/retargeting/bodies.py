"""One body in many rigs: other sizes, other joint axes, other rest poses."""

from __future__ import annotations

import dataclasses

import numpy as np

from motionloom.motion.motion import Motion, Skeleton, forward_kinematics
from motionloom.rotation import quat

Z = np.array([0.0, 0.0, 1.0])
X = np.array([1.0, 0.0, 0.0])


def longer(skeleton: Skeleton, **factors: float) -> Skeleton:
    """The skeleton with bones scaled: those whose joint's name holds the word."""
    scale = np.ones(skeleton.n_joints)
    for j, name in enumerate(skeleton.names):
        for word, factor in factors.items():
            if word in name:
                scale[j] *= factor
    return dataclasses.replace(skeleton, offsets=skeleton.offsets * scale[:, None])


def with_rest(skeleton: Skeleton, turns: dict[str, np.ndarray]) -> Skeleton:
    """The same body and joint axes, resting in another pose: joints turned in their parents."""
    rest = np.array(skeleton.rest_quats)
    for name, turn in turns.items():
        rest[skeleton.index(name)] = quat.multiply(turn, rest[skeleton.index(name)])
    return dataclasses.replace(skeleton, rest_quats=rest)


def a_pose(skeleton: Skeleton) -> Skeleton:
    """Arms 50 degrees down, legs 12 degrees apart with the feet flat."""
    apart = np.radians(12.0)
    return with_rest(
        skeleton,
        {
            "LeftArm": quat.from_axis_angle(Z, -np.radians(50.0)),
            "RightArm": quat.from_axis_angle(Z, np.radians(50.0)),
            "LeftUpLeg": quat.from_axis_angle(Z, apart),
            "LeftFoot": quat.from_axis_angle(Z, -apart),
            "RightUpLeg": quat.from_axis_angle(Z, -apart),
            "RightFoot": quat.from_axis_angle(Z, apart),
        },
    )


def with_axes(skeleton: Skeleton, own: np.ndarray, *, keep_rest: bool) -> Skeleton:
    """The same body with the frame of every joint turned by ``own`` (J, 4) at rest.

    Without the rest pose, every joint rests at the identity: bones then point anywhere.
    """
    _, world = forward_kinematics(skeleton, np.zeros((1, 3)), skeleton.rest_quats[None])
    frames = quat.multiply(world[0], own)  # q_world_joint of the new joints in the old rest pose
    over = quat.multiply(quat.conjugate(own), quat.IDENTITY)
    parents = np.maximum(skeleton.parents, 0)
    rest = np.array(frames)
    rest[1:] = quat.multiply(quat.conjugate(frames[parents[1:]]), frames[1:])
    offsets = quat.rotate(over[parents], skeleton.offsets)
    offsets[0] = skeleton.offsets[0]
    identity = np.tile(quat.IDENTITY, (skeleton.n_joints, 1))
    return Skeleton(
        skeleton.names,
        skeleton.parents,
        offsets,
        rest if keep_rest else identity,
        skeleton.end_parents,
        quat.rotate(over[skeleton.end_parents], skeleton.end_offsets),
    )


def random_axes(skeleton: Skeleton, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return quat.normalize(rng.normal(size=(skeleton.n_joints, 4)))


def along_x(skeleton: Skeleton) -> np.ndarray:
    """Joint frames with x along the bone, as in rigs that rest with all bones in one line."""
    own = np.tile(quat.IDENTITY, (skeleton.n_joints, 1))
    for j in range(skeleton.n_joints):
        ends = [skeleton.offsets[c] for c in skeleton.children(j)][:1]
        ends += list(skeleton.end_offsets[skeleton.end_parents == j])[:1]
        if ends:
            own[j] = quat.between_vectors(X, ends[0])
    return own


def re_rigged(motion: Motion, rig: Skeleton, own: np.ndarray) -> Motion:
    """The same movement on a rig made by :func:`with_axes` of the motion's skeleton."""
    world = quat.multiply(motion.world_quats(), own)
    local = np.array(world)
    local[:, 1:] = quat.multiply(quat.conjugate(world[:, rig.parents[1:]]), world[:, 1:])
    return motion.replace(skeleton=rig, local_quats=local)
