"""The nodes of a glTF file: one checked tree, and the part of it that is a skeleton."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import FormatError
from motionloom.formats.gltf_document import Document, index_of, objects
from motionloom.rotation import quat

__all__ = ["Node", "NodeTree", "Rig", "find_rig"]

MARK = "motionloom"
"""Key under which our own facts stand in `extras`."""


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
class NodeTree:
    """All nodes, parents known, no cycles."""

    nodes: tuple[Node, ...]
    depth: tuple[int, ...]

    @classmethod
    def of(cls, document: Document) -> NodeTree:
        """The tree in a document; refused where a node has two parents or is its own ancestor."""
        specs = objects(document.json.get("nodes"), "nodes")
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
        depth = [-1] * len(specs)
        waiting = [n for n, parent in enumerate(parents) if parent == -1]
        for n in waiting:
            depth[n] = 0
        while waiting:
            n = waiting.pop()
            for child in children[n]:
                depth[child] = depth[n] + 1
                waiting.append(child)
        if -1 in depth:
            lost = depth.index(-1)
            raise FormatError("A node must not be its own ancestor.", where=f"node {lost}")
        nodes = tuple(_node(spec, n, parents[n], children[n]) for n, spec in enumerate(specs))
        return cls(nodes, tuple(depth))

    def ancestors(self, node: int) -> list[int]:
        """Nodes above ``node``, the topmost first."""
        path: list[int] = []
        while (node := self.nodes[node].parent) >= 0:
            path.append(node)
        return path[::-1]

    def meeting(self, a: int, b: int) -> int:
        """The lowest node that is or stands above both, -1 where none does."""
        while a != b:
            if a < 0 or b < 0:
                return -1
            if self.depth[a] >= self.depth[b]:
                a = self.nodes[a].parent
            else:
                b = self.nodes[b].parent
        return a


@dataclass(frozen=True, slots=True, eq=False)
class Rig:
    """Which nodes are the joints and end sites of the skeleton."""

    joints: tuple[int, ...]
    """Node numbers, the root first and parents before children."""
    ends: tuple[int, ...]
    """Leaf nodes that carry nothing: tips of toes, fingers and the head."""
    left_out: int
    """Joints of the file that stand under another root."""


def find_rig(tree: NodeTree, document: Document, animated: set[int]) -> Rig:
    """The skeleton in a file: joints of its skins, or the nodes around the animated ones."""
    nodes = tree.nodes
    skins = objects(document.json.get("skins"), "skins")
    listed_first: dict[int, None] = {}  # an ordered set
    for s, skin in enumerate(skins):
        listed = skin.get("joints")
        if not isinstance(listed, list):
            raise FormatError("A skin must list its joints.", where=f"skin {s}")
        listed_first |= {index_of(j, len(nodes), f"skin {s}"): None for j in listed}
    skinned = bool(listed_first)
    wanted = set(listed_first) if skinned else set(animated)
    if not wanted:
        raise FormatError(
            "The file must hold a skin or an animation of nodes; it has neither.",
            where="JSON",
            fix="Export it with its armature and animation.",
        )
    chosen, left_out = _one_tree(tree, wanted, animated)
    ends = {n for n in chosen if nodes[n].is_end and not nodes[n].children}
    root = next(iter(chosen))
    for n in chosen:
        root = tree.meeting(root, n)
    members = {root}
    for n in chosen - ends:
        while n not in members:
            members.add(n)
            n = nodes[n].parent
    joints: list[int] = []
    waiting = [root]
    while waiting:  # children in file order, parents first
        n = waiting.pop()
        if n in members or (not skinned and nodes[n].children):
            joints.append(n)
        elif not nodes[n].children and not nodes[n].has_content:
            ends.add(n)
        waiting.extend(reversed(nodes[n].children))
    listed_order = [n for n in listed_first if n in set(joints)]
    if _parents_first(tree, listed_order, root) and len(listed_order) == len(joints):
        joints = listed_order
    return Rig(tuple(joints), tuple(sorted(ends - set(joints))), left_out)


def _parents_first(tree: NodeTree, joints: list[int], root: int) -> bool:
    """Whether a skin's own order, which files written by motionloom keep, can be kept."""
    seen: set[int] = set()
    for n in joints:
        if n != root and tree.nodes[n].parent not in seen:
            return False
        seen.add(n)
    return bool(joints) and joints[0] == root


def _one_tree(tree: NodeTree, wanted: set[int], animated: set[int]) -> tuple[set[int], int]:
    """The wanted nodes under one top node: the top with most of them that move, then most."""
    groups: dict[int, set[int]] = {}
    for n in sorted(wanted):
        top = (tree.ancestors(n) or [n])[0]
        groups.setdefault(top, set()).add(n)
    best = max(groups.values(), key=lambda group: (len(group & animated), len(group)))
    return best, len(wanted) - len(best)


def _node(spec: dict[str, Any], n: int, parent: int, children: tuple[int, ...]) -> Node:
    where = f"node {n}"
    name = spec.get("name")
    if "matrix" in spec:
        translation, rotation, scale = _decomposed(_numbers(spec["matrix"], 16, where), where)
    else:
        translation = _numbers(spec.get("translation", [0, 0, 0]), 3, where)
        xyzw = _numbers(spec.get("rotation", [0, 0, 0, 1]), 4, where)
        rotation = xyzw[[3, 0, 1, 2]]
        if abs(np.linalg.norm(rotation) - 1.0) > 1e-12:  # else keep it to the last bit
            rotation = quat.normalize(rotation)
        scale = _numbers(spec.get("scale", [1, 1, 1]), 3, where)
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


def _decomposed(columns: FloatArray, where: str) -> tuple[FloatArray, FloatArray, FloatArray]:
    matrix = columns.reshape(4, 4).T
    axes = matrix[:3, :3]
    scale = np.linalg.norm(axes, axis=0)
    if scale.min() < 1e-12:
        raise FormatError("The matrix must not flatten space.", where=where)
    if np.linalg.det(axes) < 0.0:
        scale = -scale
    return matrix[:3, 3].copy(), quat.from_matrix(axes / scale), scale
