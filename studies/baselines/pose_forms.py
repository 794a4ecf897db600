"""Pose forms: the two ways of the papers to average the poses of a recipe's windows.

[I6]_ averages joint rotations, [I7]_ joint positions. Positions average into bodies with wrong
bones, so lengths are restored from the root outwards and rotations found that have those joints.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.blending.pose import mix_poses
from motionloom.motion.kinematics import forward_kinematics, local_from_world
from motionloom.motion.skeleton import Skeleton
from motionloom.rotation import quat
from motionloom.tables.collection.frames import Frames
from motionloom.tables.score.recipe import Recipe, rows_at

__all__ = ["SeenPose", "mean_of_positions", "mean_of_rotations", "with_bones"]

NO_BONE = 1e-6
"""Shorter bones have no direction, metres."""
FLAT = 1e-4
"""Children of a joint lie on one line where the second extent of their cloud is below this part of
the first."""


class SeenPose(NamedTuple):
    """Poses with the root over the origin and heading 0."""

    body: FloatArray
    """Joints, metres. (L, J, 3)"""
    quats: FloatArray
    """Local rotations. (L, J, 4)"""


def mean_of_rotations(frames: Frames, recipe: Recipe) -> SeenPose:
    """Poses by weighted means of joint rotations, as in [I6]_."""
    at = rows_at(frames, recipe)
    weights = np.ascontiguousarray(recipe.weights().T)
    n_frames = len(at)
    picked = frames.quats[at.T].reshape(-1, frames.skeleton.n_joints, 4).astype(np.float64)
    quats, _ = mix_poses(
        quat.normalize(picked),
        np.arange(recipe.n_ways + 1) * n_frames,
        np.repeat(np.arange(n_frames, dtype=np.float64)[:, None], recipe.n_ways, axis=1),
        weights,
        np.zeros(at.shape),
    )
    quats = quat.make_continuous(quats)
    root = np.zeros((len(at), 3))
    root[:, 1] = np.sum(weights * frames.body[at, 0, 1], axis=1)
    return SeenPose(forward_kinematics(frames.skeleton, root, quats)[0], quats)


def mean_of_positions(frames: Frames, recipe: Recipe, *, bones: bool = True) -> SeenPose:
    """Poses by weighted means of joint positions, as in [I7]_.

    Parameters
    ----------
    frames, recipe
        What to blend.
    bones
        Restore bone lengths and find rotations; without it ``body`` is the plain mean, and
        ``quats`` are those of :func:`mean_of_rotations`.
    """
    at = rows_at(frames, recipe)
    mean = np.einsum("nl,lnjc->ljc", recipe.weights(), frames.body[at].astype(np.float64))
    turned = mean_of_rotations(frames, recipe)
    if not bones:
        return SeenPose(mean, turned.quats)
    return with_bones(frames.skeleton, mean, turned.quats)


def with_bones(skeleton: Skeleton, joints: FloatArray, guess: FloatArray) -> SeenPose:
    """The pose whose joints look as ``joints`` do, on the skeleton's own bones.

    From the root outwards every bone keeps its direction and gets its length. A joint with several
    bones turns so that they fit best; one with a single bone turns the shortest way from the
    guess, which has the twist that positions cannot tell; ends keep the guess.

    Parameters
    ----------
    skeleton
        J joints.
    joints : (L, J, 3)
        Positions, with bones of any length.
    guess : (L, J, 4)
        Local rotations near the wanted ones.
    """
    lengths = np.linalg.norm(skeleton.offsets, axis=1)
    guess_world = forward_kinematics(skeleton, joints[:, 0], guess)[1]
    world = np.array(guess_world)
    for j in range(skeleton.n_joints):
        if j:
            # What the parents were turned by beyond the guess carries the guess along.
            p = skeleton.parents[j]
            world[:, j] = quat.multiply(world[:, p], guess[:, j])
        children = [c for c in skeleton.children(j) if lengths[c] > NO_BONE]
        if not children:
            continue
        rest = skeleton.offsets[children]
        seen = joints[:, children] - joints[:, j, None]
        size = np.linalg.norm(seen, axis=-1, keepdims=True)
        ways = np.where(
            size > NO_BONE,
            seen / np.maximum(size, NO_BONE),
            quat.rotate(guess_world[:, j, None], rest / lengths[children, None]),
        )
        wanted = ways * lengths[children, None]
        now = quat.rotate(world[:, j, None], rest)
        world[:, j] = quat.multiply(_turns(now, wanted), world[:, j])
    quats = quat.make_continuous(quat.normalize(local_from_world(skeleton, world)))
    return SeenPose(forward_kinematics(skeleton, joints[:, 0], quats)[0], quats)


def _turns(now: FloatArray, wanted: FloatArray) -> FloatArray:
    """Rotations (L, 4) that carry clouds of bones (L, C, 3) best onto wanted ones."""
    first = quat.between_vectors(now[:, 0], wanted[:, 0])
    if now.shape[1] == 1:
        return first
    product = np.einsum("lci,lcj->lij", wanted, now)
    u, size, v = np.linalg.svd(product)
    flip = np.sign(np.linalg.det(u @ v))
    u[:, :, 2] *= flip[:, None]
    fitted = quat.from_matrix(u @ v)
    on_a_line = size[:, 1] < FLAT * size[:, 0]
    return np.where(on_a_line[:, None], first, fitted)
