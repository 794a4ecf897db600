"""Chain kernel: joints and soles of legs in the world."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom._core import kernel

__all__ = ["chain_pose", "sole_points"]

_pose = kernel("ml_chain_pose")
_soles = kernel("ml_chain_soles")


def chain_pose(
    parents: IntArray,
    offsets: FloatArray,
    chain: IntArray,
    root: FloatArray,
    quats: FloatArray,
    positions: FloatArray,
    world: FloatArray,
) -> None:
    """World positions (L, J, 3) and rotations (L, J, 4) of the joints in ``chain``."""
    root, quats = np.ascontiguousarray(root), np.ascontiguousarray(quats)
    n_frames, n_joints, n_chain = len(root), len(parents), len(chain)
    _pose(n_frames, n_joints, parents, offsets, n_chain, chain, root, quats, positions, world)


def sole_points(
    legs: IntArray, soles: FloatArray, positions: FloatArray, world: FloatArray, points: FloatArray
) -> None:
    """Left heel, left ball, right heel and right ball in the world, (L, 4, 3)."""
    _soles(*positions.shape[:2], legs, soles, positions, world, points)
