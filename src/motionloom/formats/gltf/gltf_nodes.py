"""The nodes of a glTF file: one checked tree, and which of them are its skeleton."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import FormatError
from motionloom.formats.figures import Rig, Tree, choose_figure, depth_and_order
from motionloom.formats.gltf.gltf_document import MARK, Document, index_of
from motionloom.rotation import quat

MAX_SKINS = 1024
NODE_BYTES = 800
"""Memory that one node takes."""
_NOWHERE, _UNSCALED = np.zeros(3), np.ones(3)


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One node at rest, in its parent."""

    name: str
    parent: int
    children: tuple[int, ...]
    translation: FloatArray
    """Shape (3,)."""
    rotation: FloatArray
    """wxyz. Shape (4,)."""
    scale: FloatArray
    """Shape (3,)."""
    is_end: bool
    """Whether motionloom wrote it as an end site."""
    has_content: bool
    """Whether it carries a mesh, a camera or the like."""


@dataclass(frozen=True, slots=True, eq=False)
class NodeTree(Tree[Node]):
    """The nodes of a glTF document."""

    @classmethod
    def of(cls, document: Document) -> NodeTree:
        """The tree in a document; refused where a node has two parents or is its own ancestor."""
        specs = document.listed("nodes")
        document.budget.take(NODE_BYTES * len(specs), f"{len(specs)} nodes", "nodes")
        parents = [-1] * len(specs)
        children: list[tuple[int, ...]] = []
        for n, spec in enumerate(specs):
            listed = spec.get("children", [])
            if not isinstance(listed, list):
                raise FormatError("Children must be a list.", where=f"node {n}")
            children.append(tuple(index_of(c, len(specs), f"node {n}") for c in listed))
            for child in children[-1]:
                if parents[child] != -1:
                    raise FormatError(
                        f"Every node must have one parent; node {child} is a child of nodes "
                        f"{parents[child]} and {n}.",
                        where=f"node {child}",
                    )
                parents[child] = n
        depth, order = depth_and_order(parents, children)
        nodes = tuple(_node(spec, n, parents[n], children[n]) for n, spec in enumerate(specs))
        return cls(nodes, depth, order)


def _node(spec: dict[str, Any], n: int, parent: int, children: tuple[int, ...]) -> Node:
    where = f"node {n}"
    name = spec.get("name")
    if "matrix" in spec:
        translation, rotation, scale = _decomposed(_numbers(spec["matrix"], 16, where))
    else:
        translation = _numbers(spec["translation"], 3, where) if "translation" in spec else _NOWHERE
        rotation = quat.IDENTITY
        if "rotation" in spec:
            rotation = _numbers(spec["rotation"], 4, where)[[3, 0, 1, 2]]
            if abs(math.hypot(*rotation) - 1.0) > 1e-12:  # else keep it to the last bit
                rotation = quat.normalize(rotation)
        scale = _numbers(spec["scale"], 3, where) if "scale" in spec else _UNSCALED
    extras = spec.get("extras")
    ours = extras.get(MARK) if isinstance(extras, dict) else None
    return Node(
        name=name if isinstance(name, str) and name else f"node_{n}",
        parent=parent,
        children=children,
        translation=translation,
        rotation=rotation,
        scale=scale,
        is_end=isinstance(ours, dict) and ours.get("end_site") is True,
        has_content=any(key in spec for key in ("mesh", "camera", "skin", "extensions")),
    )


def _numbers(value: Any, n: int, where: str) -> FloatArray:
    good = isinstance(value, list) and len(value) == n
    if not good or not all(isinstance(v, int | float) and abs(v) < 1e15 for v in value):
        raise FormatError(f"{n} finite numbers are needed, got {str(value)[:60]}.", where=where)
    return np.array(value, dtype=np.float64)


def _decomposed(columns: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    matrix = columns.reshape(4, 4).T
    axes = matrix[:3, :3]
    scale = np.linalg.norm(axes, axis=0)
    if scale.min() < 1e-12:  # flattened, as tools hide things: no direction is left to read
        return matrix[:3, 3].copy(), quat.IDENTITY, scale
    if np.linalg.det(axes) < 0.0:
        scale = -scale
    return matrix[:3, 3].copy(), quat.from_matrix(axes / scale), scale


def find_rig(tree: NodeTree, document: Document, animated: set[int]) -> Rig:
    """The skeleton in a file: joints of its skins, or the nodes around the animated ones.

    Of several figures the one that moves most is taken.
    """
    skins = _skins(tree, document)
    if not skins and not animated:
        raise FormatError(
            "The file must hold a skin or an animation of nodes; it has neither.",
            where="JSON",
            fix="Export it with its armature and animation.",
        )
    parts = skins or [dict.fromkeys(sorted(animated))]
    return choose_figure(tree, parts, animated, skinned=bool(skins))


def _skins(tree: NodeTree, document: Document) -> list[dict[int, None]]:
    """The joints of every skin, each list once, as ordered sets."""
    listed: dict[tuple[int, ...], None] = {}
    for s, skin in enumerate(document.listed("skins")):
        joints = skin.get("joints")
        if not isinstance(joints, list):
            raise FormatError("A skin must list its joints.", where=f"skin {s}")
        nodes = tuple(index_of(j, len(tree.nodes), f"skin {s}") for j in joints)
        if nodes:
            listed[nodes] = None
    if len(listed) > MAX_SKINS:
        raise FormatError(f"At most {MAX_SKINS} skins can be read, got {len(listed)}.")
    return [dict.fromkeys(nodes) for nodes in listed]
