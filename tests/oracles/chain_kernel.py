"""Joints and soles of legs in the world."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom.tables.synthesis.synthesis import Rig
from tests.oracles.quat import multiply, rotate


def chain_pose(
    rig: Rig, chain: IntArray, root: FloatArray, quats: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """World positions (L, J, 3) and rotations (L, J, 4) of the joints in a chain, 0 for others."""
    positions, world = np.zeros((*quats.shape[:2], 3)), np.zeros(quats.shape)
    for j in chain:
        p = rig.parents[j]
        if p < 0:
            positions[:, j], world[:, j] = root, quats[:, j]
        else:
            positions[:, j] = positions[:, p] + rotate(world[:, p], rig.offsets[j])
            world[:, j] = multiply(world[:, p], quats[:, j])
    return positions, world


def sole_points(rig: Rig, positions: FloatArray, world: FloatArray) -> FloatArray:
    """Left heel, left ball, right heel and right ball in the world, (L, 4, 3)."""
    ankles = rig.legs[[0, 0, 1, 1], 2]
    return positions[:, ankles] + rotate(world[:, ankles], rig.soles.reshape(4, 3))


def fastest_of(positions: FloatArray, quats: FloatArray, fps: float) -> FloatArray:
    """Largest joint speed, joint turn and ground speed of the root. (3,)."""
    steps = np.diff(positions, axis=0)
    dots = np.abs(np.sum(quats[1:] * quats[:-1], axis=-1))
    return fps * np.array(
        [
            np.linalg.norm(steps, axis=-1).max(initial=0.0),
            2.0 * np.arccos(min(dots.min(initial=1.0), 1.0)),
            np.linalg.norm(steps[:, 0, ::2], axis=-1).max(initial=0.0),
        ]
    )
