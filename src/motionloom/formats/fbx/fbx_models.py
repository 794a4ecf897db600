"""Models of an FBX file: one checked tree of nodes with their transforms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import FormatError
from motionloom.formats.fbx.fbx_objects import FbxObject, Objects, Properties
from motionloom.formats.figures import Rig, Tree, choose_figure, depth_and_order
from motionloom.rotation import euler, quat

BONES = frozenset({"LimbNode", "Limb", "Root"})
BARE = frozenset({"LimbNode", "Limb", "Root", "Null", "", "Effector", "FKEffector", "IKEffector"})
"""Types of models without a mesh, a camera or a light."""
ORDERS = ("XYZ", "XZY", "YZX", "YXZ", "ZXY", "ZYX", "XYZ")
"""Rotation orders by number, the axis that turns first in front; the last is spheric XYZ."""
MODEL_BYTES = 2500
"""Memory that one model takes."""
END_SITE = "motionloom_end_site"
"""Property by which motionloom tells end sites from joints."""
RRS = 2
"""The inherit type whose scale stops at its parent."""

_ZERO, _ONE = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """One node: how it stands in its parent."""

    key: int
    name: str
    subtype: str
    parent: int
    children: tuple[int, ...]
    translation: FloatArray
    """Shape (3,)."""
    rotation: FloatArray
    """Euler angles, degrees. Shape (3,)."""
    scaling: FloatArray
    order: str
    """``"XYZ"`` turns about X first."""
    pre: FloatArray
    """Quaternion in front of the rotation. Shape (4,)."""
    post: FloatArray
    """Conjugate of the quaternion after the rotation. Shape (4,)."""
    before: FloatArray
    """Rotation offset and pivot: added to the translation. Shape (3,)."""
    inside: FloatArray
    """Turned with the node and added: what its pivots leave. Shape (3,)."""
    inherit: int
    is_end: bool

    @property
    def has_content(self) -> bool:
        """Whether it carries a mesh, a camera or the like."""
        return self.subtype not in BARE

    def turned(self, own: FloatArray) -> FloatArray:
        """Quaternions (..., 4) of the node in its parent, for its own rotation (..., 4)."""
        return quat.multiply(quat.multiply(self.pre, own), self.post)

    def places(self, translations: FloatArray, turns: FloatArray) -> FloatArray:
        """Where the node is in its parent (..., 3)."""
        if not self.inside.any():
            return np.asarray(translations + self.before)
        return np.asarray(translations + self.before + quat.rotate(turns, self.inside))


def turn_of(angles: FloatArray, order: str) -> FloatArray:
    """Quaternions (..., 4) of Euler angles (..., 3) in degrees, columns x, y, z."""
    letters = order[::-1]
    columns = ["XYZ".index(letter) for letter in letters]
    return euler.euler_to_quat(np.radians(np.asarray(angles)[..., columns]), letters)


def angles_of(turns: FloatArray, order: str) -> FloatArray:
    """Euler angles (..., 3) in degrees, columns x, y, z, of quaternions (..., 4)."""
    letters = order[::-1]
    angles = np.degrees(euler.quat_to_euler(turns, letters))
    return np.asarray(angles[..., [letters.index(letter) for letter in "XYZ"]])


def model_tree(objects: Objects) -> Tree[Model]:
    """Every model, parents known; refused where one has two parents or is its own ancestor."""
    listed = list(objects.of_kind("Model"))
    objects.document.budget.take(MODEL_BYTES * len(listed), f"{len(listed)} models")
    row = {item.key: n for n, item in enumerate(listed)}
    parents = [-1] * len(listed)
    children: list[list[int]] = [[] for _ in listed]
    for n, item in enumerate(listed):
        for link in objects.above.get(item.key, ()):
            p = row.get(link.parent)
            if p is None or link.name or parents[n] == p:
                continue
            if parents[n] != -1:
                raise FormatError(
                    f"Every model must have one parent, and {item.name[:40]!r} has two.",
                    where=objects.document.place(item.element),
                )
            parents[n] = p
            children[p].append(n)
    depth, order = depth_and_order(parents, children)
    models = tuple(
        _model(objects.properties(item), item, parents[n], tuple(children[n]))
        for n, item in enumerate(listed)
    )
    return Tree(models, depth, order)


def _model(table: Properties, item: FbxObject, parent: int, children: tuple[int, ...]) -> Model:
    number = table.whole("RotationOrder", 0)
    inherit = table.whole("InheritType", 1)
    if not 0 <= number < len(ORDERS) or not 0 <= inherit <= RRS:
        raise FormatError(
            f"RotationOrder must be 0 to 6 and InheritType 0 to 2, got {number} and {inherit}.",
            where=table.where,
        )
    scaling = table.vector("Lcl Scaling", _ONE)
    pivot = table.vector("RotationPivot", _ZERO)
    scaling_pivot = table.vector("ScalingPivot", _ZERO)
    inside = table.vector("ScalingOffset", _ZERO) + scaling_pivot - scaling * scaling_pivot - pivot
    return Model(
        key=item.key,
        name=item.name,
        subtype=item.subtype,
        parent=parent,
        children=children,
        translation=table.vector("Lcl Translation", _ZERO),
        rotation=table.vector("Lcl Rotation", _ZERO),
        scaling=scaling,
        order=ORDERS[number],
        pre=turn_of(table.vector("PreRotation", _ZERO), "XYZ"),
        post=quat.conjugate(turn_of(table.vector("PostRotation", _ZERO), "XYZ")),
        before=table.vector("RotationOffset", _ZERO) + pivot,
        inside=inside,
        inherit=inherit,
        is_end=bool(table.number(END_SITE, 0.0)),
    )


def find_figure(tree: Tree[Model], objects: Objects, animated: set[int]) -> Rig:
    """The skeleton in a file: its bones, or the nodes around the animated ones.

    Bones are models of the types LimbNode, Limb and Root, and those that a skin moves. Whatever
    stands between two bones is a joint as well; so is the node right above several highest bones.
    """
    bones = [n for n, model in enumerate(tree.nodes) if model.subtype in BONES]
    skinned = _moved_by_skins(tree, objects)
    bones = sorted({*bones, *skinned})
    if bones:
        return choose_figure(tree, _chains(tree, bones), animated, skinned=True)
    if not animated:
        raise FormatError(
            "The file must hold bones (models of type LimbNode) or an animation; it has neither.",
            where="Objects",
            fix="Export it with its armature and animation.",
        )
    return choose_figure(tree, [dict.fromkeys(sorted(animated))], animated, skinned=False)


def _moved_by_skins(tree: Tree[Model], objects: Objects) -> list[int]:
    """Models that a cluster of a skin is connected to."""
    row = {model.key: n for n, model in enumerate(tree.nodes)}
    clusters = [each.key for each in objects.of_kind("Deformer") if each.subtype == "Cluster"]
    linked = (link.child for key in clusters for link in objects.below.get(key, ()))
    return [row[key] for key in linked if key in row]


def _chains(tree: Tree[Model], bones: list[int]) -> list[dict[int, None]]:
    """Bones below each highest bone; of highest bones with one parent node together."""
    wanted = set(bones)
    highest = [-1] * len(tree.nodes)
    for n in tree.order:
        parent = tree.nodes[n].parent
        above = highest[parent] if parent >= 0 else -1
        highest[n] = n if above < 0 and n in wanted else above
    chains: dict[int, dict[int, None]] = {}
    for n in bones:
        top = highest[n]
        parent = tree.nodes[top].parent
        chains.setdefault(top if parent < 0 else -1 - parent, {})[n] = None
    return list(chains.values())
