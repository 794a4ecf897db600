"""Meshes in other axes and units, as they stand at rest, and one that shows a skeleton."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray, IntArray
from motionloom.errors import FormatError
from motionloom.formats.character import SkinnedMesh
from motionloom.motion.motion import Skeleton
from motionloom.rotation import quat

FLATTEST = 1e-12
"""A mesh that its binds flatten more than this has no inside and cannot be placed."""
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


def turned_mesh(
    mesh: SkinnedMesh, frames: FloatArray, world: FloatArray, scale: float
) -> SkinnedMesh:
    """The mesh in a world that is turned and scaled.

    Parameters
    ----------
    mesh
        Points, and their binds.
    frames, world : (3, 3)
        What turns the axes of joints, and what turns the world. The second may mirror.
    scale
        What lengths are multiplied by.
    """
    binds = np.empty_like(mesh.binds)
    binds[..., :3] = frames @ mesh.binds[..., :3] @ np.linalg.inv(world)
    binds[..., 3] = scale * mesh.binds[..., 3] @ frames.T
    moved = _moved(mesh, world)
    return dataclasses.replace(moved, points=scale * moved.points, binds=binds)


def mesh_at_rest(
    mesh: SkinnedMesh, places: FloatArray, turns: FloatArray, *, joint: int | None = None
) -> SkinnedMesh:
    """The mesh as it stands when the joints rest at these places (J, 3) and turns (J, 4).

    Files keep points in any space and let the binds lead them to the joints. Here one joint, that
    which carries most if none is given, says where all of them are.
    """
    share = np.zeros(len(mesh.binds))
    np.add.at(share, mesh.joints, mesh.weights)
    joint = int(np.argmax(share)) if joint is None else joint
    bind, turn = mesh.binds[joint], quat.to_matrix(turns[joint])
    linear, shift = turn @ bind[:, :3], turn @ bind[:, 3] + places[joint]
    size = np.cbrt(np.abs(np.linalg.det(linear)))
    if not size > FLATTEST:
        raise FormatError(
            f"The skin flattens the mesh {mesh.name[:40]!r} to nothing.",
            fix="Export the character again.",
        )
    back = np.linalg.inv(linear)
    binds = np.empty_like(mesh.binds)
    binds[..., :3] = mesh.binds[..., :3] @ back
    binds[..., 3] = mesh.binds[..., 3] - binds[..., :3] @ shift
    # Joints that the skin does not list: they carry nothing, and are bound as they rest.
    loose = (share == 0.0) & (mesh.binds == np.eye(3, 4)).all(axis=(1, 2))
    binds[loose] = inverse_frames(places[loose], turns[loose])
    moved = _moved(mesh, linear)
    return dataclasses.replace(moved, points=moved.points + shift, binds=binds)


def inverse_frames(places: FloatArray, turns: FloatArray) -> FloatArray:
    """From the world into the frames of joints. (J, 3, 4)."""
    back = quat.conjugate(turns)
    return np.concatenate([quat.to_matrix(back), -quat.rotate(back, places)[..., None]], axis=-1)


def _moved(mesh: SkinnedMesh, linear: FloatArray) -> SkinnedMesh:
    """Points, normals and tangents through a matrix; its binds as they were."""
    mirrors = float(np.linalg.det(linear)) < 0.0
    normals, tangents = mesh.normals, mesh.tangents
    if normals is not None:
        normals = _unit(normals @ np.linalg.inv(linear))
    if tangents is not None:
        along = _unit(tangents[:, :3] @ linear.T)
        tangents = np.column_stack([along, tangents[:, 3] * (-1.0 if mirrors else 1.0)])
    return dataclasses.replace(
        mesh,
        points=mesh.points @ linear.T,
        triangles=mesh.triangles[:, ::-1] if mirrors else mesh.triangles,
        normals=normals,
        tangents=tangents,
    )


def smooth_normals(points: FloatArray, triangles: IntArray) -> FloatArray:
    """Outward directions at every point, from the triangles around it. (V, 3)."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    across = np.cross(b - a, c - a)
    summed = np.zeros_like(points)
    for k in range(3):
        np.add.at(summed, triangles[:, k], across)
    return _unit(summed)


def four_shares(joints: IntArray, weights: FloatArray) -> tuple[IntArray, FloatArray]:
    """The four largest shares of every point, which sum to 1 again. (V, 4) each."""
    if joints.shape[1] < 4:
        more = ((0, 0), (0, 4 - joints.shape[1]))
        return np.pad(joints, more), np.pad(weights, more)
    order = np.argsort(-weights, axis=1, kind="stable")[:, :4]
    largest = np.take_along_axis(weights, order, axis=1)
    joints = np.where(largest > 0.0, np.take_along_axis(joints, order, axis=1), 0)
    return joints, shares(largest)


def shares(weights: FloatArray) -> FloatArray:
    """Weights that sum to 1 at every point; where all are 0, the first has all."""
    weights = np.maximum(weights, 0.0)
    sums = weights.sum(axis=1, keepdims=True)
    none = ~(sums[:, 0] > 1e-9)
    weights = weights / np.where(none[:, None], 1.0, sums)
    weights[none] = 0.0
    weights[none, 0] = 1.0
    return np.asarray(weights)


def _unit(vectors: FloatArray) -> FloatArray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(np.where(lengths > 1e-12, vectors / np.maximum(lengths, 1e-12), [0, 1, 0]))


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
