"""A small mesh that shows a skeleton: one long octahedron per bone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray, IntArray
from motionloom.motion.skeleton import Skeleton
from motionloom.rotation import quat

WIDEST_AT = 0.15
"""Where along the bone the octahedron is widest."""
WIDTH = 0.08
"""Half of its width, as part of its length."""
SHORTEST_M = 1e-4
LONE_JOINT_M = 0.03

# Tail, four corners around, head; corners run counter-clockwise seen from the head.
_UNIT = np.array(
    [
        [0.0, 0.0, 0.0],
        [WIDTH, WIDEST_AT, WIDTH],
        [WIDTH, WIDEST_AT, -WIDTH],
        [-WIDTH, WIDEST_AT, -WIDTH],
        [-WIDTH, WIDEST_AT, WIDTH],
        [0.0, 1.0, 0.0],
    ]
)
_FACES = np.array(
    [[0, 2, 1], [0, 3, 2], [0, 4, 3], [0, 1, 4], [5, 1, 2], [5, 2, 3], [5, 3, 4], [5, 4, 1]]
)


@dataclass(frozen=True, slots=True, eq=False)
class BoneMesh:
    """Triangles in the rest pose, each vertex rigid on one joint."""

    points: FloatArray
    """Shape (V, 3), metres."""
    owners: IntArray
    """Joint that carries each vertex. Shape (V,)."""
    triangles: npt.NDArray[np.uint32]
    """Shape (T, 3)."""


def bone_mesh(skeleton: Skeleton, places: FloatArray, turns: FloatArray) -> BoneMesh:
    """Octahedra from every joint to its children and end sites.

    Parameters
    ----------
    skeleton
        J joints, E end sites.
    places, turns : (J + E, 3), (J + E, 4)
        The rest pose in the world.
    """
    tails = np.concatenate([skeleton.parents[1:], skeleton.end_parents])
    heads = np.concatenate(
        [np.arange(1, skeleton.n_joints), skeleton.n_joints + np.arange(len(skeleton.end_parents))]
    )
    bones = places[heads] - places[tails]
    lengths = np.linalg.norm(bones, axis=1)
    shown = lengths > SHORTEST_M
    tails, bones, lengths = tails[shown], bones[shown], lengths[shown]
    if not len(tails):  # a lone joint, shown as a stub along its own Y
        tails, lengths = np.zeros(1, np.int64), np.array([LONE_JOINT_M])
        bones = quat.rotate(turns[:1], np.array([[0.0, LONE_JOINT_M, 0.0]]))
    turn = quat.between_vectors(np.array([0.0, 1.0, 0.0]), bones)
    shapes = quat.rotate(turn[:, None], _UNIT * lengths[:, None, None])
    points = places[tails][:, None] + shapes
    triangles = _FACES + 6 * np.arange(len(tails))[:, None, None]
    return BoneMesh(
        points.reshape(-1, 3), np.repeat(tails, 6), triangles.reshape(-1, 3).astype(np.uint32)
    )
