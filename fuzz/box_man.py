"""A man of boxes with a texture, as characters come from other programs: a glTF made by hand.

Points are in centimetres with Z up under a node that turns and scales them, some hang on five
joints, one part has no normals, a hat without a skin hangs on the head, and a floor on nothing.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import struct
import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import motionloom as ml
from motionloom.motion.motion import forward_kinematics
from motionloom.rotation import quat

UPRIGHT = np.array([np.sqrt(0.5), -np.sqrt(0.5), 0.0, 0.0])
"""Brings Z up to Y up."""
CM = 0.01
HAT_M = 0.1
CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (0, 1) for z in (-1, 1)], float)
FACES = np.array(
    [
        *([0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]),
        *([2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]),
    ]
)


def png(size: int = 8) -> bytes:
    """A chequered image, red and white."""
    rows = b""
    for y in range(size):
        colours = ((200, 40, 30) if (x + y) % 2 else (255, 255, 255) for x in range(size))
        rows += b"\0" + b"".join(bytes(colour) for colour in colours)
    chunks = [
        (b"IHDR", struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    ]
    parts = [
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


@dataclass(frozen=True)
class BoxMan:
    """What the file holds, for tests to compare with."""

    skeleton: ml.Skeleton
    points: np.ndarray
    """Points of the skin in the world at rest, metres. Shape (V, 3)."""
    joints: np.ndarray
    weights: np.ndarray
    triangles: np.ndarray
    hat: np.ndarray
    """Points of the hat in the world at rest. Shape (8, 3)."""
    head: int
    half: int
    """Points of the first part, which has the texture."""
    image: bytes = field(default_factory=lambda: png())
    """The texture: a PNG."""

    def with_four_shares(self) -> BoxMan:
        """The man whose points hang on four joints, as in a GLB: the smallest share goes."""
        weights = np.array(self.weights)
        for row in weights:
            if np.count_nonzero(row) > 4:
                row[np.argmin(row)] = 0.0
        return dataclasses.replace(self, weights=weights / weights.sum(axis=1, keepdims=True))

    def posed(self, motion: ml.Motion, frame: int) -> np.ndarray:
        """Points of the hat, then of the skin, by the definition of linear blend skinning."""
        skeleton = self.skeleton
        rest = forward_kinematics(skeleton, skeleton.offsets[None, 0], skeleton.rest_quats[None])
        (before, turned), (places, turns) = rest, motion[frame : frame + 1].world_pose()

        def carried(points: np.ndarray, joints: np.ndarray) -> np.ndarray:
            inner = quat.rotate(quat.conjugate(turned[0, joints]), points - before[0, joints])
            return places[0, joints] + quat.rotate(turns[0, joints], inner)

        shares = [
            self.weights[:, k, None] * carried(self.points, self.joints[:, k])
            for k in range(self.joints.shape[1])
        ]
        hat = carried(self.hat, np.full(len(self.hat), self.head))
        return np.concatenate([hat, np.sum(shares, axis=0)])


def box_man(skeleton: ml.Skeleton | None = None) -> BoxMan:
    """One box for each bone of a skeleton, the embedded one by default, and a hat."""
    skeleton = skeleton or ml.synthetic.clip("walk").motion.skeleton
    places, _ = forward_kinematics(skeleton, skeleton.offsets[None, 0], skeleton.rest_quats[None])
    at = places[0]
    points, joints, weights = [], [], []
    for j in range(1, skeleton.n_joints):
        parent = int(skeleton.parents[j])
        bone = at[j] - at[parent]
        length = float(np.linalg.norm(bone))
        if length < 1e-3:
            continue
        turn = quat.between_vectors(np.array([0.0, 1.0, 0.0]), bone)
        box = CORNERS * [0.15 * length, length, 0.15 * length]
        points.append(at[parent] + quat.rotate(turn, box))
        chain = [parent, j, *skeleton.chain(parent)[:-1][::-1]][:5]
        chain += [0] * (5 - len(chain))
        share = np.where(CORNERS[:, 1:2] > 0.5, [0.4, 0.6, 0, 0, 0], [0.6, 0.1, 0.15, 0.1, 0.05])
        used = np.array([k < len({*skeleton.chain(parent), j}) for k in range(5)])
        share = share * used
        joints.append(np.tile(chain, (8, 1)))
        weights.append(share / share.sum(axis=1, keepdims=True))
    triangles = np.concatenate([FACES + 8 * k for k in range(len(points))])
    head = skeleton.names.index(next(n for n in skeleton.names if n.lower() == "head"))
    hat = at[head] + HAT_M * CORNERS * [1.0, 2.0, 1.0]
    return BoxMan(
        skeleton,
        np.concatenate(points),
        np.concatenate(joints),
        np.concatenate(weights),
        triangles,
        hat,
        head,
        8 * (len(points) // 2),
    )


@dataclass
class _File:
    """A glTF that grows: arrays in one buffer."""

    data: bytearray = field(default_factory=bytearray)
    views: list[dict[str, Any]] = field(default_factory=list)
    accessors: list[dict[str, Any]] = field(default_factory=list)

    def view(self, data: bytes) -> int:
        self.views.append({"buffer": 0, "byteOffset": len(self.data), "byteLength": len(data)})
        self.data += data + b"\0" * (-len(data) % 4)
        return len(self.views) - 1

    def add(self, array: np.ndarray, kind: str, code: int) -> int:
        dtype = {5126: "<f4", 5121: "u1", 5123: "<u2"}[code]
        view = self.view(np.ascontiguousarray(array, dtype=dtype).tobytes())
        spec = {"bufferView": view, "componentType": code, "count": len(array), "type": kind}
        if kind == "VEC3":
            spec |= {"min": array.min(axis=0).tolist(), "max": array.max(axis=0).tolist()}
        self.accessors.append(spec)
        return len(self.accessors) - 1


def box_man_glb(man: BoxMan, image: dict[str, Any] | None = None) -> bytes:
    """The file; ``image`` replaces the packed one, to point to a file or to nothing."""
    file = _File()
    skeleton, n = man.skeleton, man.skeleton.n_joints
    nodes = _nodes(skeleton)
    world = _world(nodes)
    to_file = np.linalg.inv(_matrix(nodes[0]))
    cm = man.points @ to_file[:3, :3].T
    binds = np.linalg.inv(world[1 : n + 1]) @ _matrix(nodes[0])
    skin = {
        "joints": list(range(1, n + 1)),
        "inverseBindMatrices": file.add(binds.swapaxes(1, 2).reshape(-1, 16), "MAT4", 5126),
    }
    parts = [_part(file, man, cm, slice(0, man.half)), _part(file, man, cm, slice(man.half, None))]
    parts[0]["targets"] = [{"POSITION": parts[0]["attributes"]["POSITION"]}]
    parts[0]["material"], parts[1]["material"] = 0, 1
    del parts[1]["attributes"]["NORMAL"], parts[1]["attributes"]["TEXCOORD_0"]
    local = (man.hat - world[1 + man.head][:3, 3]) @ np.linalg.inv(world[1 + man.head][:3, :3]).T
    hat = {
        "attributes": {"POSITION": file.add(local / 2.0, "VEC3", 5126)},
        "indices": file.add(FACES.reshape(-1, 1), "SCALAR", 5123),
        "material": 1,
    }
    nodes[1 + man.head].setdefault("children", []).append(n + 1)
    nodes += [
        {"name": "hat", "mesh": 1, "scale": [2.0, 2.0, 2.0]},
        {"name": "man", "mesh": 0, "skin": 0},
        {"name": "floor", "mesh": 1},
    ]
    document = {
        "asset": {"version": "2.0", "generator": "by hand"},
        "scene": 0,
        "scenes": [{"nodes": [0, n + 2, n + 3]}],
        "nodes": nodes,
        "meshes": [{"primitives": parts}, {"primitives": [hat]}],
        "skins": [skin],
        "materials": [
            {
                "name": "cloth",
                "doubleSided": True,
                "alphaMode": "MASK",
                "alphaCutoff": 0.25,
                "emissiveFactor": [0.0, 0.125, 0.0],
                "pbrMetallicRoughness": {
                    "baseColorTexture": {"index": 0},
                    "roughnessFactor": 0.5,
                    "metallicFactor": 0.25,
                },
                "normalTexture": {"index": 0},
            },
            {"name": "skin", "pbrMetallicRoughness": {"baseColorFactor": [0.8, 0.6, 0.5, 1.0]}},
        ],
        "textures": [{"source": 0, "sampler": 0}],
        "samplers": [{"wrapS": 33071, "wrapT": 33648, "magFilter": 9728}],
        "images": [image or {"mimeType": "image/png", "bufferView": file.view(man.image)}],
        "accessors": file.accessors,
        "bufferViews": file.views,
        "buffers": [{"byteLength": len(file.data)}],
    }
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    total = 28 + len(text) + len(file.data)
    head = struct.pack("<4sIIII", b"glTF", 2, total, len(text), 0x4E4F534A)
    return head + text + struct.pack("<II", len(file.data), 0x004E4942) + bytes(file.data)


def data_address(data: bytes) -> str:
    """The bytes of an image as an address."""
    return "data:image/png;base64," + base64.b64encode(data).decode()


def _part(file: _File, man: BoxMan, cm: np.ndarray, part: slice) -> dict[str, Any]:
    points, first = cm[part], part.start or 0
    inside = ((man.triangles >= first) & (man.triangles < first + len(points))).all(axis=1)
    lifted = np.tile(np.array([0.0, 0.0, 1.0]), (len(points), 1))
    joints, weights = man.joints[part], man.weights[part]
    rest = np.zeros((len(points), 3))
    second = np.column_stack([joints[:, 4:], rest]), np.column_stack([weights[:, 4:], rest])
    return {
        "attributes": {
            "POSITION": file.add(points, "VEC3", 5126),
            "NORMAL": file.add(lifted, "VEC3", 5126),
            "TEXCOORD_0": file.add(np.tile(CORNERS[:, :2], (len(points) // 8, 1)), "VEC2", 5126),
            "JOINTS_0": file.add(joints[:, :4], "VEC4", 5123),
            "WEIGHTS_0": file.add(weights[:, :4], "VEC4", 5126),
            "JOINTS_1": file.add(second[0], "VEC4", 5121),
            "WEIGHTS_1": file.add(second[1], "VEC4", 5126),
        },
        "indices": file.add((man.triangles[inside] - first).reshape(-1, 1), "SCALAR", 5123),
    }


def _nodes(skeleton: ml.Skeleton) -> list[dict[str, Any]]:
    """A node that turns and scales, then joints in centimetres with Z up."""
    armature = {"name": "Armature", "scale": [CM] * 3, "children": [1]}
    armature["rotation"] = UPRIGHT[[1, 2, 3, 0]].tolist()
    nodes: list[dict[str, Any]] = [armature]
    back = quat.conjugate(UPRIGHT)
    for j, name in enumerate(skeleton.names):
        place, turn = skeleton.offsets[j] / CM, skeleton.rest_quats[j]
        if j == 0:
            place, turn = quat.rotate(back, place), quat.multiply(back, turn)
        node = {
            "name": name,
            "translation": place.tolist(),
            "rotation": turn[[1, 2, 3, 0]].tolist(),
        }
        nodes.append(node)
        if j:
            nodes[1 + int(skeleton.parents[j])].setdefault("children", []).append(1 + j)
    return nodes


def _matrix(node: dict[str, Any]) -> np.ndarray:
    matrix = np.eye(4)
    turn = np.array(node.get("rotation", [0.0, 0.0, 0.0, 1.0]))[[3, 0, 1, 2]]
    matrix[:3, :3] = quat.to_matrix(turn) * node.get("scale", [1.0] * 3)
    matrix[:3, 3] = node.get("translation", [0.0] * 3)
    return matrix


def _world(nodes: list[dict[str, Any]]) -> np.ndarray:
    world = np.tile(np.eye(4), (len(nodes), 1, 1))
    world[0] = _matrix(nodes[0])
    for n, node in enumerate(nodes):
        for child in node.get("children", []):
            world[child] = world[n] @ _matrix(nodes[child])
    return world
