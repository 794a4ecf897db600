"""Rotations from joint positions on bones of given lengths, joint by joint; nested slerp."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.motion.motion import Skeleton, forward_kinematics, local_from_world
from motionloom.rotation import quat

NO_BONE = 1e-6
FLAT = 1e-4


def restored(skeleton: Skeleton, joints: FloatArray, guess: FloatArray) -> FloatArray:
    """Local rotations (L, J, 4) whose joints look as given ones (L, J, 3) do."""
    lengths = np.linalg.norm(skeleton.offsets, axis=1)
    guess_world = forward_kinematics(skeleton, joints[:, 0], guess)[1]
    world = np.array(guess_world)
    for j in range(skeleton.n_joints):
        if j:
            # What the parents were turned by beyond the guess carries the guess along.
            world[:, j] = quat.multiply(world[:, skeleton.parents[j]], guess[:, j])
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
        world[:, j] = quat.multiply(turns(now, wanted), world[:, j])
    return quat.make_continuous(quat.normalize(local_from_world(skeleton, world)))


def turns(now: FloatArray, wanted: FloatArray) -> FloatArray:
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


def nested_slerp(quats: FloatArray, parts: FloatArray) -> FloatArray:
    """One rotation (L, J, 4) of several (L, N, J, 4) by interpolating neighbours in turn."""
    some = quat.normalize(np.asarray(quats, dtype=np.float64))
    while some.shape[1] > 1:
        some = quat.slerp(some[:, :-1], some[:, 1:], parts[:, None, None])
    return quat.make_continuous(some[:, 0])
