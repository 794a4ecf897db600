"""The skin of a glTF file: the mesh that hangs on its joints, as it is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray
from motionloom.errors import FormatError
from motionloom.formats.file_clip import Limits, ReadOptions
from motionloom.formats.gltf.gltf_document import Document, index_of, objects
from motionloom.formats.gltf.gltf_nodes import NodeTree
from motionloom.reading.opening import read_file

MOST_POINTS = 150_000
"""Of all meshes together: more is no figure for a preview."""
TRIANGLES = 4
"""The mode of a primitive that is a list of triangles."""


@dataclass(frozen=True, slots=True, eq=False)
class Skin:
    """Triangles, each point carried by up to four joints of a motion."""

    points: FloatArray
    """As the file has them. Shape (V, 3)."""
    normals: FloatArray
    """Shape (V, 3)."""
    triangles: npt.NDArray[np.int64]
    """Shape (T, 3)."""
    joints: npt.NDArray[np.int64]
    """Joints of the motion that carry each point. Shape (V, 4)."""
    weights: FloatArray
    """Their shares, which sum to 1. Shape (V, 4)."""
    binds: FloatArray
    """From the mesh into the frame of each joint, metres. Shape (J, 3, 4)."""


def read_skin(path: Path, names: Sequence[str]) -> Skin | None:
    """The skin that hangs on joints of these names; None where the file brings none.

    Parameters
    ----------
    path
        A ``.glb`` or ``.gltf``.
    names
        Joints of the motion read from it, in order. Meshes on other joints are left out; so are
        the bones in files that motionloom wrote, which hang on end sites, too.

    Raises
    ------
    FormatError
        The file contradicts itself.
    """
    limits = Limits()
    document = Document(
        read_file(path, limits.max_bytes),
        ReadOptions(path=path, clip=None, skeleton=None, limits=limits),
    )
    tree = NodeTree.of(document)
    row = {name: j for j, name in enumerate(names)}
    binds = np.zeros((len(names), 3, 4))
    bound = np.zeros(len(names), dtype=bool)
    meshes: list[_Mesh] = []
    for n, spec in enumerate(document.listed("nodes")):
        if "mesh" not in spec or "skin" not in spec:
            continue
        columns = _joints_of(document, tree, spec["skin"], row, f"node {n}")
        if columns is None:
            continue
        rows, own = columns
        if any(bound[j] and not np.allclose(binds[j], own[k]) for k, j in enumerate(rows)):
            continue  # a second mesh bound in another pose: one bind a joint is kept
        binds[rows], bound[rows] = own, True
        meshes += _meshes(document, spec["mesh"], np.array(rows), f"node {n}")
    if not meshes:
        return None
    if sum(len(mesh.points) for mesh in meshes) > MOST_POINTS:
        return None
    starts = np.cumsum([0, *(len(mesh.points) for mesh in meshes)])
    return Skin(
        np.concatenate([mesh.points for mesh in meshes]),
        np.concatenate([mesh.normals for mesh in meshes]),
        np.concatenate([mesh.triangles + at for mesh, at in zip(meshes, starts, strict=False)]),
        np.concatenate([mesh.joints for mesh in meshes]),
        np.concatenate([mesh.weights for mesh in meshes]),
        binds,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Mesh:
    points: FloatArray
    normals: FloatArray
    triangles: npt.NDArray[np.int64]
    joints: npt.NDArray[np.int64]
    weights: FloatArray


def _joints_of(
    document: Document, tree: NodeTree, number: Any, row: dict[str, int], where: str
) -> tuple[list[int], FloatArray] | None:
    """Rows of a skin's joints in the motion, and their binds (K, 3, 4); None for other joints."""
    skins = document.listed("skins")
    skin = skins[index_of(number, len(skins), where)]
    listed = skin.get("joints")
    if not isinstance(listed, list):
        raise FormatError("A skin must list its joints.", where=where)
    nodes = [index_of(n, len(tree.nodes), where) for n in listed]
    if any(tree.nodes[n].name not in row for n in nodes):
        return None
    inverse = np.broadcast_to(np.eye(4), (len(nodes), 4, 4))
    if "inverseBindMatrices" in skin:
        flat = document.accessor(skin["inverseBindMatrices"], where, 16)
        if len(flat) < len(nodes):
            raise FormatError("A skin needs a bind matrix for each joint.", where=where)
        inverse = flat[: len(nodes)].reshape(len(nodes), 4, 4).swapaxes(1, 2)  # stored by columns
    factors = np.array([_factor(tree, n) for n in nodes])
    return [row[tree.nodes[n].name] for n in nodes], factors[:, None, None] * inverse[:, :3]


def _factor(tree: NodeTree, node: int) -> float:
    """Metres per unit of length in a joint's frame, as the reader of motions folds it."""
    factor = 1.0
    for n in (*tree.ancestors(node), node):
        factor *= float(np.cbrt(np.abs(tree.nodes[n].scale).prod()))
    return factor


def _meshes(
    document: Document, number: Any, rows: npt.NDArray[np.int64], where: str
) -> list[_Mesh]:
    """Primitives of a mesh that are triangles with joints."""
    listed = document.listed("meshes")
    mesh = listed[index_of(number, len(listed), where)]
    meshes = []
    for primitive in objects(mesh.get("primitives"), where):
        attributes = primitive.get("attributes")
        needed = ("POSITION", "JOINTS_0", "WEIGHTS_0")
        if not isinstance(attributes, dict) or not all(name in attributes for name in needed):
            continue
        if primitive.get("mode", TRIANGLES) != TRIANGLES:
            continue
        points = document.accessor(attributes["POSITION"], where, 3)
        local = document.accessor(attributes["JOINTS_0"], where, 4).astype(np.int64)
        weights = document.accessor(attributes["WEIGHTS_0"], where, 4)
        corners = np.arange(len(points), dtype=np.int64)
        if "indices" in primitive:
            corners = document.accessor(primitive["indices"], where, 1)[:, 0].astype(np.int64)
        if len(local) != len(points) or len(weights) != len(points):
            raise FormatError("Every point needs its joints and weights.", where=where)
        if (corners >= len(points)).any() or (local >= len(rows)).any() or (local < 0).any():
            raise FormatError("Points and joints of a mesh must be there.", where=where)
        triangles = corners[: len(corners) // 3 * 3].reshape(-1, 3)
        if "NORMAL" in attributes:
            normals = document.accessor(attributes["NORMAL"], where, 3)
        else:
            normals = _normals(points, triangles)
        sums = np.maximum(weights.sum(axis=1, keepdims=True), 1e-9)
        meshes.append(_Mesh(points, normals, triangles, rows[local], weights / sums))
    return meshes


def _normals(points: FloatArray, triangles: npt.NDArray[np.int64]) -> FloatArray:
    """Outward directions at every point, from the triangles around it. (V, 3)."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    across = np.cross(b - a, c - a)
    summed = np.zeros_like(points)
    for k in range(3):
        np.add.at(summed, triangles[:, k], across)
    return np.asarray(summed / np.maximum(np.linalg.norm(summed, axis=1, keepdims=True), 1e-12))
