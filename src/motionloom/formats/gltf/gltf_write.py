"""A clip as a GLB that engines take for a skeleton: nodes, a skin, a small mesh, an animation.

Engines make a skeleton only of nodes that a skin lists, and show nothing without a mesh, so every
joint and end site is in one skin, and a bone-shaped mesh hangs on it. Keys are LINEAR, one per
frame, signs of quaternions continuous: the one form that every importer reads alike.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray
from motionloom.errors import FormatError
from motionloom.formats.bone_mesh import bone_mesh
from motionloom.formats.character import Character
from motionloom.formats.figure_motion import SLIDE_M
from motionloom.formats.file_clip import FileClip
from motionloom.formats.gltf.gltf_nodes import MARK
from motionloom.formats.gltf.gltf_pack import Pack, write_chunks
from motionloom.formats.gltf.gltf_skin_write import TRIANGLES, VERTICES, SkinParts, skin_parts
from motionloom.formats.mesh_space import turned_mesh
from motionloom.formats.rest_world import rest_world
from motionloom.formats.single_precision import single_quats
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton
from motionloom.rotation import quat

FAR_M = 32.0
"""From here on a float32 key is off by 2e-6 m or more; ten times farther out it would show."""
FARTHEST_M = 1e9
LONGEST_S = 1e6
GENERATOR, BONES = "motionloom", "bones"
"""Who wrote the file, and the mesh that shows the skeleton where there is no skin."""


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
    origin = _origin(motion)
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
    skin = {
        "name": "skeleton",
        "joints": joints,
        "skeleton": 1,
        "inverseBindMatrices": pack.add(_inverse_binds(*rest), "MAT4"),
    }
    parts.add("skins", skin)
    return parts


def _character_in_metres(clip: FileClip) -> Character | None:
    """The character of a clip, turned as the motion is by :func:`_in_metres`."""
    character, unit_m, up = clip.character, clip.unit_m or 1.0, clip.up or "y"
    if character is None or (unit_m == 1.0 and up == "y"):
        return character
    world = quat.to_matrix(_upright(up))
    meshes = [turned_mesh(mesh, np.eye(3), world, unit_m) for mesh in character.meshes]
    return dataclasses.replace(character, meshes=tuple(meshes))


def _upright(up: str) -> FloatArray:
    """The turn (4,) that brings an up axis to Y."""
    axis = np.zeros(3)
    axis["xyz".index(up[-1])] = -1.0 if up[0] == "-" else 1.0
    return quat.between_vectors(axis, np.array([0.0, 1.0, 0.0]))


def _in_metres(clip: FileClip) -> Motion:
    """The motion in metres and Y up: glTF knows nothing else."""
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


def _origin(motion: Motion) -> FloatArray:
    """Whole metres that the figure's node takes off the root's keys where they are far out."""
    root = motion.root_positions
    if np.abs(root).max() < FAR_M:
        return np.zeros(3)
    return np.asarray(np.round(0.5 * (root.min(axis=0) + root.max(axis=0))))


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
    taken = set(skeleton.names)
    for parent, offset in zip(skeleton.end_parents, skeleton.end_offsets, strict=True):
        base = name = f"{skeleton.names[parent]}_end"
        again = 2
        while name in taken:
            name, again = f"{base}_{again}", again + 1
        taken.add(name)
        mark = {MARK: {"end_site": True}}
        nodes.append({"name": name, "translation": _listed(offset), "extras": mark})
    return nodes


def _listed(values: FloatArray) -> list[float]:
    """Numbers for JSON; adding zero makes -0.0, which a reader's sums would lose, into 0.0."""
    return [float(value) for value in values + 0.0]


def _inverse_binds(places: FloatArray, turns: FloatArray) -> FloatArray:
    """Column-major matrices (N, 16) that carry the rest pose into each joint's frame."""
    inverse = np.tile(np.eye(4), (len(places), 1, 1))
    inverse[:, :3, :3] = quat.to_matrix(quat.conjugate(turns))
    inverse[:, :3, 3] = -quat.rotate(quat.conjugate(turns), places)
    return inverse.transpose(0, 2, 1).reshape(-1, 16)


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
