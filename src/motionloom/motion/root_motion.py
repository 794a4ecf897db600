"""Root motion: travel and turn on a bone of their own, in the pelvis, or taken out."""

from __future__ import annotations

import numpy as np

from motionloom.errors import SkeletonMismatchError
from motionloom.motion.body import BodyMap
from motionloom.motion.facing import facing_of_positions
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton
from motionloom.rotation import quat
from motionloom.rotation.planar import PlanarTransform

__all__ = ["in_place", "travel_on_root", "with_root_bone", "without_root_bone"]

ROOT_NAME = "root"

LOOSE_M = 0.05
"""A pelvis that strays further than this from the first joint is not carried by it."""


def with_root_bone(motion: Motion, *, name: str = ROOT_NAME, body: BodyMap | None = None) -> Motion:
    """The same motion with a new first joint on the ground that carries only travel and turn.

    The new joint stands under the pelvis at y = 0 and turns with the body's heading; what is left
    (height, sway, tilt) stays in the old root, which moves in the new one. Its rest rotation is the
    identity. Nothing is lost: every old joint is where it was, and :func:`without_root_bone` gives
    the clip back.
    """
    skeleton = motion.skeleton
    if name in skeleton.names:
        raise SkeletonMismatchError(
            f"The new root bone must have a name of its own, but a joint is called {name!r} "
            "already. Pass another name=, or keep the root bone that is there."
        )
    body = BodyMap.guess(skeleton, motion=motion) if body is None else body
    positions, world = motion.world_pose()
    pelvis = positions[:, 0 if body.pelvis is None else body.pelvis]
    under = PlanarTransform(facing_of_positions(positions, body), pelvis[:, 0], pelvis[:, 2])
    into = under.inverse()
    n_frames, n_joints = motion.n_frames, skeleton.n_joints

    local = np.concatenate([under.quat()[:, None], motion.local_quats], axis=1)
    local[:, 1] = quat.multiply(into.quat(), world[:, 0])
    still = np.concatenate([np.zeros((1, 3)), skeleton.offsets])
    moving = np.broadcast_to(still, (n_frames, n_joints + 1, 3)).copy()
    if motion.joint_translations is not None:
        moving[:, 1:] = motion.joint_translations
    moving[:, 1] = into.apply(motion.root_positions)
    ground = np.zeros((n_frames, 3))
    ground[:, 0], ground[:, 2] = pelvis[:, 0], pelvis[:, 2]
    return motion.replace(
        skeleton=Skeleton(
            (name, *skeleton.names),
            np.concatenate([[-1], skeleton.parents + 1]),
            still,
            np.concatenate([quat.IDENTITY[None], skeleton.rest_quats]),
            skeleton.end_parents + 1,
            skeleton.end_offsets,
        ),
        root_positions=ground,
        local_quats=local,
        joint_translations=moving,
    )


def travel_on_root(motion: Motion, *, body: BodyMap | None = None) -> Motion:
    """The motion with its travel on its first joint, where that joint lies still above the pelvis.

    Some rigs hang the pelvis under a root bone that never moves and let the pelvis slide in it.
    Blends place whole bodies by their roots, so there the root bone is led along under the pelvis,
    on the ground and with the body's heading; every other joint stays where it was. Motions whose
    root travels with the body come back as they are.
    """
    body = BodyMap.guess(motion.skeleton, motion=motion) if body is None else body
    pelvis = body.pelvis
    if pelvis is None or pelvis == 0 or motion.joint_translations is None:
        return motion
    positions, world = motion.world_pose()
    apart = positions[:, pelvis] - positions[:, 0]
    if np.ptp(np.linalg.norm(apart[:, [0, 2]], axis=-1)) < LOOSE_M:
        return motion
    hips = positions[:, pelvis]
    under = PlanarTransform(facing_of_positions(positions, body), hips[:, 0], hips[:, 2])
    into = under.inverse()
    local = np.array(motion.local_quats)
    moving = np.array(motion.joint_translations)
    local[:, 0] = under.quat()
    for child in motion.skeleton.children(0):
        local[:, child] = quat.multiply(into.quat(), world[:, child])
        moving[:, child] = into.apply(positions[:, child])
    ground = np.stack([hips[:, 0], 0.0 * hips[:, 1], hips[:, 2]], axis=-1)
    return motion.replace(root_positions=ground, local_quats=local, joint_translations=moving)


def without_root_bone(motion: Motion) -> Motion:
    """The motion with its first joint taken out and that joint's travel put into the next one.

    The first joint must have exactly one child and no end site, as one made by
    :func:`with_root_bone` has.
    """
    skeleton = motion.skeleton
    if len(skeleton.children(0)) != 1 or np.any(skeleton.end_parents == 0):
        raise SkeletonMismatchError(
            f"Only a root bone that carries one joint can be taken out, but {skeleton.names[0]!r} "
            f"carries {len(skeleton.children(0))} joints. This clip has no root bone of its own."
        )
    positions, world = motion.world_pose()
    smaller = Skeleton(
        skeleton.names[1:],
        skeleton.parents[1:] - 1,
        skeleton.offsets[1:],
        skeleton.rest_quats[1:],
        skeleton.end_parents - 1,
        skeleton.end_offsets,
    )
    local = np.array(motion.local_quats[:, 1:])
    local[:, 0] = world[:, 1]
    moving = motion.joint_translations
    if moving is not None:
        moving = moving[:, 1:]
        if np.array_equal(moving[:, 1:], np.broadcast_to(smaller.offsets[1:], moving[:, 1:].shape)):
            moving = None  # only the old root moved, and that is in the root positions now
    return motion.replace(
        skeleton=smaller,
        root_positions=positions[:, 1],
        local_quats=local,
        joint_translations=moving,
    )


def in_place(motion: Motion, *, body: BodyMap | None = None) -> Motion:
    """The motion with the pelvis held over its first spot; its height and all turns stay."""
    body = BodyMap.guess(motion.skeleton, motion=motion) if body is None else body
    pelvis = motion.world_positions()[:, 0 if body.pelvis is None else body.pelvis]
    travel = pelvis - pelvis[0]
    travel[:, 1] = 0.0
    return motion.replace(root_positions=motion.root_positions - travel)
