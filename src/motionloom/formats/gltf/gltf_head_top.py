"""Top of the head of a figure whose skeleton has none: its skin tells.

Rigs made for games often end at the nape. Measured by its bones such a body is a child,
so the place up to which the skin of its last joint reaches is made an end site.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom.errors import FormatError
from motionloom.formats.figures import Rig
from motionloom.formats.gltf.gltf_document import Document, index_of, objects
from motionloom.formats.gltf.gltf_nodes import NodeTree
from motionloom.motion.motion import Skeleton, forward_kinematics
from motionloom.rotation import quat

LEAST_M = 0.01
"""Skin that reaches less than this over the skeleton says nothing."""
MOST = 0.4
"""Skin that reaches higher, as a part of the height of its joint, is a banner or wings: no head."""


class _Part(NamedTuple):
    """Vertices of a skinned mesh."""

    points: FloatArray
    """Shape (V, 3), in the mesh."""
    owners: IntArray
    """The joint that moves each most, as a place in ``joints``. Shape (V,)."""
    joints: list[int]
    """Node numbers of the J joints, as the skin lists them."""
    inverse_binds: FloatArray
    """From the mesh into each joint. Shape (J, 4, 4)."""


def with_top_of_skin(
    skeleton: Skeleton, document: Document, tree: NodeTree, rig: Rig
) -> tuple[Skeleton, str]:
    """The skeleton with an end site at the top of its skin, and what to say about it.

    Only a joint that nothing hangs on gets one, where its skin stands higher at rest than every
    joint and end site. Otherwise the skeleton is returned without a note; so too
    where the mesh is damaged or packed, for a motion needs none.
    """
    rest = forward_kinematics(skeleton, skeleton.offsets[None, 0], skeleton.rest_quats[None])
    places, turns = rest[0][0], rest[1][0]
    heights, above = places[:, 1], skeleton.end_parents
    ends = places[above] + quat.rotate(turns[above], skeleton.end_offsets)
    top, owner = max(float(heights.max()), float(ends[:, 1].max(initial=-np.inf))) + LEAST_M, -1
    highest = heights + MOST * (heights - heights.min())
    bare = np.ones(skeleton.n_joints, dtype=bool)
    bare[[0, *skeleton.parents[1:], *above]] = False
    row = {node: j for j, node in enumerate(rig.joints) if bare[j]}
    metres = _metres(tree)
    try:
        for part in _parts(document):
            over, joints = _over_joints(part, row, turns, metres)
            reach = heights[joints] + over
            reach[~(reach <= highest[joints])] = -np.inf
            if reach.max(initial=-np.inf) > top:
                top, owner = float(reach.max()), int(joints[np.argmax(reach)])
    except FormatError:
        return skeleton, ""
    if owner < 0:
        return skeleton, ""
    rise = top - float(heights[owner])
    offset = quat.rotate(quat.conjugate(turns[owner]), np.array([0.0, rise, 0.0]))
    taller = dataclasses.replace(
        skeleton,
        end_parents=np.append(above, owner),
        end_offsets=np.concatenate([skeleton.end_offsets, offset[None]]),
    )
    text = (
        f"No joint marks the top of the body; an end site is put there, {100.0 * rise:.0f} cm over "
        f"{skeleton.names[owner]!r}, up to where the skin reaches."
    )
    return taller, text


def _over_joints(
    part: _Part, row: dict[int, int], turns: FloatArray, metres: FloatArray
) -> tuple[FloatArray, IntArray]:
    """How high vertices of the joints in ``row`` are over them at rest, and whose they are."""
    joints = np.array([row.get(node, -1) for node in part.joints], dtype=np.int64)
    # One row of numbers per joint takes a point of the mesh to its height over the joint.
    upward = (quat.to_matrix(turns[joints])[:, 1, None] @ part.inverse_binds[:, :3])[:, 0]
    upward *= metres[np.array(part.joints, dtype=np.int64), None]
    ours = joints[part.owners] >= 0
    owners, points = part.owners[ours], part.points[ours]
    over = np.einsum("vc,vc->v", upward[owners, :3], points) + upward[owners, 3]
    return over, joints[owners]


def _parts(document: Document) -> Iterator[_Part]:
    """Every part of a mesh that a skin moves."""
    skins = document.listed("skins")
    meshes = document.listed("meshes")
    for n, node in enumerate(document.listed("nodes")):
        if "mesh" not in node or "skin" not in node:
            continue
        where = f"node {n}"
        skin = skins[index_of(node["skin"], len(skins), where)]
        mesh = meshes[index_of(node["mesh"], len(meshes), where)]
        joints = list(skin["joints"])
        if "inverseBindMatrices" in skin:
            binds = document.accessor(skin["inverseBindMatrices"], where, 16).reshape(-1, 4, 4)
            binds = binds.transpose(0, 2, 1)
        else:
            binds = np.tile(np.eye(4), (len(joints), 1, 1))
        for primitive in objects(mesh.get("primitives"), where):
            had = primitive.get("attributes")
            if not isinstance(had, dict) or not {"POSITION", "JOINTS_0", "WEIGHTS_0"} <= had.keys():
                continue
            points = document.accessor(had["POSITION"], where, 3)
            listed = document.accessor(had["JOINTS_0"], where, 4)
            weights = document.accessor(had["WEIGHTS_0"], where, 4)
            if not len(points) == len(listed) == len(weights) or len(binds) < len(joints):
                raise FormatError("Every vertex needs joints, and every joint a bind.", where=where)
            most = np.take_along_axis(listed, weights.argmax(axis=1)[:, None], axis=1)[:, 0]
            if not np.all((most >= 0) & (most < len(joints))):
                raise FormatError("Vertices must hang on joints of their skin.", where=where)
            yield _Part(points, most.astype(np.int64), joints, binds[: len(joints)])


def _metres(tree: NodeTree) -> FloatArray:
    """Metres per unit of length in every node. Shape (N,)."""
    metres = np.ones(len(tree.nodes))
    for n in tree.order:
        node = tree.nodes[n]
        above = metres[node.parent] if node.parent >= 0 else 1.0
        metres[n] = above * np.cbrt(np.abs(node.scale).prod())
    return metres
