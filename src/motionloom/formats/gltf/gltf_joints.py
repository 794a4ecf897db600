"""Which nodes of a glTF file are its skeleton."""

from __future__ import annotations

from motionloom.errors import FormatError
from motionloom.formats.figures import Rig, choose_figure
from motionloom.formats.gltf.gltf_document import Document, index_of
from motionloom.formats.gltf.gltf_nodes import NodeTree

MAX_SKINS = 1024


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
