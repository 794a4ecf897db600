"""A clip as a GLB that engines take for a skeleton: nodes, a skin, a small mesh, an animation.

Engines make a skeleton only of nodes that a skin lists, and show nothing without a mesh. So every
joint and end site is in one skin, and a bone-shaped mesh or the character of the clip hangs on it.
Keys are LINEAR, one per frame, signs of quaternions continuous: every importer reads them alike.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray
from motionloom.errors import FormatError
from motionloom.formats.character import Character, Material, SkinnedMesh, Texture
from motionloom.formats.figures import SLIDE_M, rest_world
from motionloom.formats.file_clip import FileClip
from motionloom.formats.gltf.glb_chunks import Pack, write_chunks
from motionloom.formats.gltf.gltf_document import BONES, GENERATOR, MARK, NEAREST, OPACITIES, WRAPS
from motionloom.formats.keys import far_origin, single_quats
from motionloom.formats.meshes import bone_mesh, four_shares, inverse_frames, turned_mesh
from motionloom.formats.text import end_names
from motionloom.motion.motion import Motion, Skeleton
from motionloom.rotation import quat

FARTHEST_M = 1e9
"""Places farther out are refused: in single precision they are off by 60 m and more."""
LONGEST_S = 1e6
"""Times in single precision are off by 0.06 s from here on."""
VERTICES, TRIANGLES = 34962, 34963
LINEAR, LINEAR_MIPMAPS, NEAREST_MIPMAPS = 9729, 9987, 9984
IMAGES = {".png": "image/png", ".jpg": "image/jpeg"}
"""Images that a GLB may hold, by the suffix of their files."""
SAME = 1e-9


def write(clip: FileClip, stream: BinaryIO) -> None:
    """Write the clip as a binary glTF 2.0 file. Metres, Y up."""
    motion = _in_metres(clip)
    skeleton = motion.skeleton
    moving = motion.joint_translations
    lengths = (skeleton.offsets, skeleton.end_offsets, motion.root_positions, moving)
    if any(np.abs(a).max(initial=0.0) > FARTHEST_M for a in lengths if a is not None):
        raise FormatError(
            f"A GLB holds single precision: everything must lie within {FARTHEST_M:g} m.",
            fix="Check the unit, or move the clip to the origin.",
        )
    if motion.duration_s > LONGEST_S:
        raise FormatError(
            f"A GLB clip may last {LONGEST_S:g} s, this one lasts {motion.duration_s:g} s.",
            fix="Check its frame rate.",
        )
    origin = far_origin(motion.root_positions, 1.0)
    rest = rest_world(skeleton, origin)
    n_joints, n_ends = skeleton.n_joints, len(skeleton.end_parents)
    # Node 0 holds the figure, then joints, then end sites, then the mesh.
    joints = list(range(1, 1 + n_joints + n_ends))
    name = str(clip.clip or clip.detail.get("animation") or motion.name or "motion")
    pack = Pack()
    character = _character_in_metres(clip)
    if character is None:
        parts = _bone_parts(pack, skeleton, rest, joints)
    else:
        parts = skin_parts(pack, character, joints[:n_joints])
    drawn = range(len(joints) + 1, len(joints) + 1 + len(parts.nodes))
    document: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": GENERATOR},
        "scene": 0,
        "scenes": [{"nodes": [0, *drawn]}],
        "nodes": [*_nodes(skeleton, origin), *parts.nodes],
        **parts.lists,
        "animations": [{"name": name, **_animation(pack, motion, origin, _provenance(clip))}],
    }
    document |= pack.described()
    write_chunks(stream, document, pack.data)


def _in_metres(clip: FileClip) -> Motion:
    """The motion in metres and Y up, the only unit and axes of glTF."""
    motion, unit_m, up = clip.motion, clip.unit_m or 1.0, clip.up or "y"
    if unit_m == 1.0 and up == "y":
        return motion
    turn = _upright(up)
    skeleton, moving = motion.skeleton, motion.joint_translations
    offsets, rest, quats = (
        np.array(a) for a in (skeleton.offsets, skeleton.rest_quats, motion.local_quats)
    )
    offsets[0] = quat.rotate(turn, offsets[0])
    rest[0], quats[:, 0] = quat.multiply(turn, rest[0]), quat.multiply(turn, quats[:, 0])
    return motion.replace(
        skeleton=dataclasses.replace(
            skeleton,
            offsets=unit_m * offsets,
            rest_quats=rest,
            end_offsets=unit_m * skeleton.end_offsets,
        ),
        root_positions=unit_m * quat.rotate(turn, motion.root_positions),
        local_quats=quats,
        joint_translations=None if moving is None else unit_m * moving,
    )


def _upright(up: str) -> FloatArray:
    """The turn (4,) that brings an up axis to Y."""
    axis = np.zeros(3)
    axis["xyz".index(up[-1])] = -1.0 if up[0] == "-" else 1.0
    return quat.between_vectors(axis, np.array([0.0, 1.0, 0.0]))


def _character_in_metres(clip: FileClip) -> Character | None:
    """The character of a clip, turned as the motion is by :func:`_in_metres`."""
    character, unit_m, up = clip.character, clip.unit_m or 1.0, clip.up or "y"
    if character is None or (unit_m == 1.0 and up == "y"):
        return character
    world = quat.to_matrix(_upright(up))
    meshes = [turned_mesh(mesh, np.eye(3), world, unit_m) for mesh in character.meshes]
    return dataclasses.replace(character, meshes=tuple(meshes))


def _nodes(skeleton: Skeleton, origin: FloatArray) -> list[dict[str, Any]]:
    n_joints = skeleton.n_joints
    children: list[list[int]] = [[] for _ in range(n_joints)]
    for j in range(1, n_joints):
        children[skeleton.parents[j]].append(j + 1)
    for e, parent in enumerate(skeleton.end_parents):
        children[parent].append(1 + n_joints + e)
    figure: dict[str, Any] = {"name": "figure", "children": [1]}
    if np.any(origin):
        figure["translation"] = origin.tolist()
    nodes = [figure]
    for j, name in enumerate(skeleton.names):
        place = skeleton.offsets[j] - origin if j == 0 else skeleton.offsets[j]
        node: dict[str, Any] = {
            "name": name,
            "translation": _listed(place),
            "rotation": _listed(skeleton.rest_quats[j][[1, 2, 3, 0]]),
        }
        if children[j]:
            node["children"] = children[j]
        nodes.append(node)
    for name, offset in zip(end_names(skeleton), skeleton.end_offsets, strict=True):
        mark = {MARK: {"end_site": True}}
        nodes.append({"name": name, "translation": _listed(offset), "extras": mark})
    return nodes


def _listed(values: FloatArray) -> list[float]:
    """Numbers for JSON; adding zero makes -0.0, which a reader's sums would lose, into 0.0."""
    return [float(value) for value in values + 0.0]


@dataclass(slots=True, eq=False)
class SkinParts:
    """Meshes and their materials and skins, for the JSON of a GLB."""

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


def _bone_parts(
    pack: Pack, skeleton: Skeleton, rest: tuple[FloatArray, FloatArray], joints: list[int]
) -> SkinParts:
    """A mesh of one long octahedron per bone, on joints and end sites."""
    parts = SkinParts(pack, nodes=[{"name": BONES, "mesh": 0, "skin": 0}])
    parts.add("meshes", {"name": BONES, "primitives": [_mesh(pack, skeleton, rest)]})
    surface = {
        "baseColorFactor": [0.28, 0.4, 0.52, 1.0],
        "metallicFactor": 0.0,
        "roughnessFactor": 0.8,
    }
    material = {"name": BONES, "doubleSided": True, "pbrMetallicRoughness": surface}
    parts.add("materials", material)
    parts.add("skins", _skin(pack, inverse_frames(*rest), joints, "skeleton"))
    return parts


def _mesh(pack: Pack, skeleton: Skeleton, rest: tuple[FloatArray, FloatArray]) -> dict[str, Any]:
    mesh = bone_mesh(skeleton, *rest)
    owners = np.zeros((len(mesh.owners), 4), np.uint16)
    owners[:, 0] = mesh.owners
    weights = np.zeros((len(mesh.owners), 4), np.float32)
    weights[:, 0] = 1.0
    return {
        "attributes": {
            "POSITION": pack.add(mesh.points, "VEC3", target=VERTICES, bounds=True),
            "JOINTS_0": pack.add(owners, "VEC4", target=VERTICES),
            "WEIGHTS_0": pack.add(weights, "VEC4", target=VERTICES),
        },
        "indices": pack.add(mesh.triangles.reshape(-1, 1), "SCALAR", target=TRIANGLES),
        "material": 0,
    }


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
    """A skin of nodes, with binds (J, 3, 4) from the mesh into each of them."""
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


def _provenance(clip: FileClip) -> dict[str, str]:
    """Where the motion first came from: format, and name of the file without its folder."""
    earlier = clip.detail.get("source")
    if isinstance(earlier, Mapping):
        return {str(key): str(value) for key, value in earlier.items()}
    source = clip.motion.source
    if not source.format:
        return {}
    origin = {"format": source.format, "file": PurePath(source.path).name, "clip": source.clip}
    return {key: value for key, value in origin.items() if value}


def _animation(
    pack: Pack, motion: Motion, origin: FloatArray, provenance: dict[str, str]
) -> dict[str, Any]:
    skeleton = motion.skeleton
    times = pack.add(np.arange(motion.n_frames)[:, None] / motion.fps, "SCALAR", bounds=True)
    samplers: list[dict[str, Any]] = []
    channels: list[dict[str, Any]] = []

    def key(joint: int, path: str, values: npt.NDArray[Any], kind: str) -> None:
        channels.append({"sampler": len(samplers), "target": {"node": joint + 1, "path": path}})
        samplers.append(
            {"input": times, "output": pack.add(values, kind), "interpolation": "LINEAR"}
        )

    key(0, "translation", motion.root_positions - origin, "VEC3")
    quats = single_quats(motion.local_quats)
    for j in range(skeleton.n_joints):
        key(j, "rotation", quats[:, j][:, [1, 2, 3, 0]], "VEC4")
    moving = motion.joint_translations
    if moving is not None:
        keys = moving.astype(np.float32)
        far = np.abs(keys - skeleton.offsets).max(axis=(0, 2)) > SLIDE_M
        for j in range(1, skeleton.n_joints):
            if far[j]:
                key(j, "translation", keys[:, j], "VEC3")
    extras: dict[str, Any] = {"fps": motion.fps, "frames": motion.n_frames}
    if provenance:
        extras["source"] = provenance
    return {"channels": channels, "samplers": samplers, "extras": {MARK: extras}}
