"""The skin of a character in a GLB: meshes, materials, textures and the joints that carry them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.formats.character import Character, Material, SkinnedMesh, Texture
from motionloom.formats.gltf.gltf_materials import NEAREST, OPACITIES, WRAPS
from motionloom.formats.gltf.gltf_nodes import MARK
from motionloom.formats.gltf.gltf_pack import Pack
from motionloom.formats.mesh_space import four_shares

VERTICES, TRIANGLES = 34962, 34963
LINEAR, LINEAR_MIPMAPS, NEAREST_MIPMAPS = 9729, 9987, 9984
IMAGES = {".png": "image/png", ".jpg": "image/jpeg"}
"""Images that a GLB may hold, by the suffix of their files."""
SAME = 1e-9


@dataclass(slots=True, eq=False)
class SkinParts:
    """What a character adds to the JSON of a GLB."""

    pack: Pack
    lists: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """``"meshes"``, ``"materials"``, ``"textures"``, ``"images"``, ``"samplers"``, ``"skins"``."""
    nodes: list[dict[str, Any]] = field(default_factory=list)

    def add(self, key: str, spec: dict[str, Any]) -> int:
        """Add an object to a list, unless it is there; its number."""
        listed = self.lists.setdefault(key, [])
        if spec in listed:
            return listed.index(spec)
        listed.append(spec)
        return len(listed) - 1


def skin_parts(pack: Pack, character: Character, joints: list[int]) -> SkinParts:
    """The meshes of a character on the nodes ``joints``, in metres and Y up."""
    parts = SkinParts(pack)
    images: dict[bytes, int] = {}
    materials = [_material(parts, material, images) for material in character.materials]
    binds: list[FloatArray] = []
    for mesh in character.meshes:
        if not len(mesh.triangles):
            continue
        skin = next((k for k, b in enumerate(binds) if np.allclose(b, mesh.binds, SAME, SAME)), -1)
        if skin < 0:
            skin = parts.add("skins", _skin(pack, mesh.binds, joints, f"skin_{len(binds)}"))
            binds.append(mesh.binds)
        number = len(parts.lists.setdefault("meshes", []))
        primitives = _primitives(pack, mesh, materials)
        parts.lists["meshes"].append({"name": mesh.name, "primitives": primitives})
        # The mark tells it from the bones that are drawn where there is no skin.
        mark = {MARK: {"skin": True}}
        parts.nodes.append({"name": mesh.name, "mesh": number, "skin": skin, "extras": mark})
    return parts


def _skin(pack: Pack, binds: FloatArray, joints: list[int], name: str) -> dict[str, Any]:
    matrices = np.tile(np.eye(4), (len(binds), 1, 1))
    matrices[:, :3] = binds
    by_columns = matrices.transpose(0, 2, 1).reshape(-1, 16)
    return {
        "name": name,
        "joints": joints,
        "skeleton": joints[0],
        "inverseBindMatrices": pack.add(by_columns, "MAT4"),
    }


def _primitives(pack: Pack, mesh: SkinnedMesh, materials: list[int]) -> list[dict[str, Any]]:
    """One primitive for each material of a mesh; all share the arrays of its points."""
    joints, weights = four_shares(mesh.joints, mesh.weights)
    shares = weights.astype(np.float32)
    most = np.argmax(shares, axis=1)
    rows = np.arange(len(shares))
    shares[rows, most] += (1.0 - shares.sum(axis=1, dtype=np.float64)).astype(np.float32)
    attributes = {
        "POSITION": pack.add(mesh.points, "VEC3", target=VERTICES, bounds=True),
        "JOINTS_0": pack.add(joints.astype(np.uint16), "VEC4", target=VERTICES),
        "WEIGHTS_0": pack.add(shares, "VEC4", target=VERTICES),
    }
    if mesh.normals is not None:
        attributes["NORMAL"] = pack.add(mesh.normals, "VEC3", target=VERTICES)
        if mesh.tangents is not None:
            tangents = np.column_stack(
                [mesh.tangents[:, :3], np.where(mesh.tangents[:, 3] < 0.0, -1.0, 1.0)]
            )
            attributes["TANGENT"] = pack.add(tangents, "VEC4", target=VERTICES)
    for k, uv in enumerate(mesh.uvs):
        attributes[f"TEXCOORD_{k}"] = pack.add(uv, "VEC2", target=VERTICES)
    if mesh.colours is not None:
        attributes["COLOR_0"] = pack.add(mesh.colours, "VEC4", target=VERTICES)
    primitives = []
    for surface in dict.fromkeys(mesh.surfaces.tolist()):
        corners = mesh.triangles[mesh.surfaces == surface].reshape(-1, 1).astype(np.uint32)
        primitive: dict[str, Any] = {
            "attributes": attributes,
            "indices": pack.add(corners, "SCALAR", target=TRIANGLES),
        }
        if surface >= 0:
            primitive["material"] = materials[surface]
        primitives.append(primitive)
    return primitives


def _material(parts: SkinParts, material: Material, images: dict[bytes, int]) -> int:
    slots = {
        use: {"index": number, **({"texCoord": texture.uv} if texture.uv else {})}
        for use, texture in material.textures.items()
        if (number := _texture(parts, texture, images)) is not None
    }
    surface: dict[str, Any] = {
        "baseColorFactor": list(material.colour),
        "metallicFactor": material.metal,
        "roughnessFactor": material.roughness,
    }
    inner = {"colour": "baseColorTexture", "metal_and_roughness": "metallicRoughnessTexture"}
    surface |= {key: slots[use] for use, key in inner.items() if use in slots}
    spec: dict[str, Any] = {"name": material.name, "pbrMetallicRoughness": surface}
    outer = {
        **{"normal": "normalTexture", "occlusion": "occlusionTexture"},
        "glow": "emissiveTexture",
    }
    spec |= {key: slots[use] for use, key in outer.items() if use in slots}
    if any(material.glow):
        spec["emissiveFactor"] = list(material.glow)
    if material.opacity != "opaque":
        spec["alphaMode"] = {name: code for code, name in OPACITIES.items()}[material.opacity]
    if material.opacity == "mask":
        spec["alphaCutoff"] = material.cutoff
    if material.two_sided:
        spec["doubleSided"] = True
    listed = parts.lists.setdefault("materials", [])
    listed.append(spec)
    return len(listed) - 1


def _texture(parts: SkinParts, texture: Texture, images: dict[bytes, int]) -> int | None:
    """The number of a texture; None where a GLB cannot hold its image."""
    kind = IMAGES.get(texture.suffix)
    if kind is None:
        return None
    if texture.data not in images:
        view = parts.pack.add_bytes(texture.data)
        spec = {"name": texture.name, "mimeType": kind, "bufferView": view}
        listed = parts.lists.setdefault("images", [])
        listed.append(spec)
        images[texture.data] = len(listed) - 1
    codes = {name: code for code, name in WRAPS.items()}
    sampler = {
        "magFilter": LINEAR if texture.smooth else NEAREST,
        "minFilter": LINEAR_MIPMAPS if texture.smooth else NEAREST_MIPMAPS,
        "wrapS": codes[texture.wraps[0]],
        "wrapT": codes[texture.wraps[1]],
    }
    return parts.add(
        "textures",
        {"source": images[texture.data], "sampler": parts.add("samplers", sampler)},
    )
