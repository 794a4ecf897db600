"""Small rigs and random motions for tests of the core."""

from __future__ import annotations

import numpy as np

from motionloom.motion.motion import Motion, Skeleton
from motionloom.rotation import quat


def random_skeleton(seed: int = 0, n_joints: int = 9) -> Skeleton:
    rng = np.random.Generator(np.random.PCG64(seed))
    parents = [-1, *(int(rng.integers(0, j)) for j in range(1, n_joints))]
    return Skeleton(
        tuple(f"joint{j}" for j in range(n_joints)),
        np.array(parents),
        rng.normal(size=(n_joints, 3)),
        rest_quats=quat.normalize(rng.normal(size=(n_joints, 4))),
        end_parents=np.array([n_joints - 1]),
        end_offsets=rng.normal(size=(1, 3)),
    )


def random_motion(
    seed: int = 0, n_frames: int = 13, n_joints: int = 9, *, sliding: bool = False
) -> Motion:
    rng = np.random.Generator(np.random.PCG64(seed + 1))
    steps = 0.2 * rng.normal(size=(n_frames, n_joints, 3)).cumsum(axis=0)
    return Motion(
        random_skeleton(seed, n_joints),
        rng.normal(size=(n_frames, 3)),
        quat.exp(steps),
        fps=30.0,
        joint_translations=rng.normal(size=(n_frames, n_joints, 3)) if sliding else None,
    )
