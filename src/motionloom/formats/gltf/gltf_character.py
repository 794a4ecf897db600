"""The character in a glTF file: every mesh that hangs on its skeleton, with its materials."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray, IntArray
from motionloom.errors import FormatError
from motionloom.formats.character import Material, SkinnedMesh, Texture
from motionloom.formats.file_clip import MOST_MESHES, FileSkin, LeftOut, ReadOptions, clip_number
from motionloom.formats.gltf.gltf_document import (
    BONES,
    GENERATOR,
    NEAREST,
    OPACITIES,
    WRAPS,
    Document,
    index_of,
    objects,
)
from motionloom.formats.gltf.gltf_nodes import Node, NodeTree, find_rig
from motionloom.formats.gltf.gltf_read import animation_names, tracks_of
from motionloom.formats.meshes import shares, smooth_normals
from motionloom.formats.text import read_bounded
from motionloom.rotation import quat

LIST, STRIP, FAN = 4, 5, 6
"""Modes of primitives that are triangles."""
MOST_SETS = 8
"""Sets of texture coordinates, and of four joints each, that are looked at."""
DRACO = "KHR_draco_mesh_compression"


def read_skin(stream: BinaryIO, options: ReadOptions) -> FileSkin:
    """Every mesh that hangs on the skeleton that :func:`gltf_read.read` finds."""
    document = Document(read_bounded(stream, options.limits), options)
    tree = NodeTree.of(document)
    animation = clip_number(animation_names(document), options.clip)
    tracks = [] if animation is None else tracks_of(document, animation, len(tree.nodes))
    moved = {track.node for track in tracks if track.path != "scale"}
    rig = find_rig(tree, document, moved)
    row = {node: j for j, node in enumerate(rig.joints)}
    left_out = LeftOut()
    reader = _Reader(document, tree, row, Materials(document, left_out), left_out)
    meshes: list[SkinnedMesh] = []
    for n, spec in enumerate(document.listed("nodes")):
        if "mesh" in spec and not _shows_bones(document, spec):
            mesh = reader.mesh(n, spec)
            meshes += [] if mesh is None else [mesh]
        if len(meshes) > MOST_MESHES:
            raise FormatError(f"At most {MOST_MESHES} meshes can be read.", where="nodes")
    return FileSkin(tuple(meshes), tuple(reader.materials.read), left_out.findings())


def _shows_bones(document: Document, spec: dict[str, Any]) -> bool:
    """Whether a mesh is the one of long octahedra that motionloom itself writes."""
    ours = document.json["asset"].get("generator") == GENERATOR
    return ours and spec.get("name") == BONES and "extras" not in spec


@dataclass(frozen=True, slots=True, eq=False)
class _Hold:
    """How a mesh hangs on the skeleton."""

    rows: IntArray
    """Joints of the skeleton, as the skin of the mesh lists them. Shape (K,)."""
    binds: FloatArray
    """From the mesh into the frame of every joint of the skeleton. Shape (J, 3, 4)."""


@dataclass(frozen=True, slots=True, eq=False)
class _Reader:
    document: Document
    tree: NodeTree
    row: dict[int, int]
    """Joint of the skeleton for each node that is one."""
    materials: Materials
    left_out: LeftOut

    def mesh(self, n: int, spec: dict[str, Any]) -> SkinnedMesh | None:
        """The mesh of a node; None where it hangs on no joint, or has no triangles."""
        where, name = f"node {n}", self.tree.nodes[n].name
        hold = self._skin(spec["skin"], where) if "skin" in spec else self._rigid(n)
        if hold is None:
            self.left_out.add("Meshes that hang on no joint of the figure are left out", name)
            return None
        listed = self.document.listed("meshes")
        mesh = listed[index_of(spec["mesh"], len(listed), where)]
        parts: dict[str, _Part] = {}
        for primitive in objects(mesh.get("primitives"), where):
            if not self._is_read(primitive, "skin" in spec, where, name):
                continue
            key = str(primitive["attributes"])  # parts with one set of points share it
            if key not in parts:
                parts[key] = self._points(primitive["attributes"], hold, "skin" in spec, where)
            self._add_triangles(parts[key], primitive, where)
            if parts[key].joints.shape[1] > 4:
                self.left_out.add("More than four joints carry a point; a GLB keeps four", name)
        return _joined(list(parts.values()), name, hold.binds) if parts else None

    def _skin(self, number: Any, where: str) -> _Hold | None:
        """The joints of a skin; None where they are those of another figure."""
        skins = self.document.listed("skins")
        skin = skins[index_of(number, len(skins), where)]
        listed = skin.get("joints")
        if not isinstance(listed, list):
            raise FormatError("A skin must list its joints.", where=where)
        nodes = [index_of(joint, len(self.tree.nodes), where) for joint in listed]
        if not nodes or any(node not in self.row for node in nodes):
            return None
        inverse = np.broadcast_to(np.eye(4), (len(nodes), 4, 4))
        if "inverseBindMatrices" in skin:
            flat = self.document.accessor(skin["inverseBindMatrices"], where, 16)
            if len(flat) < len(nodes) or not np.isfinite(flat).all():
                raise FormatError("A skin needs a bind matrix for each joint.", where=where)
            inverse = flat[: len(nodes)].reshape(-1, 4, 4).swapaxes(1, 2)  # stored by columns
        rows = np.array([self.row[node] for node in nodes], dtype=np.int64)
        binds = np.zeros((len(self.row), 3, 4))
        binds[:, :3, :3] = np.eye(3)
        factors = np.array([self._factor(node) for node in nodes])
        binds[rows] = factors[:, None, None] * inverse[:, :3]
        return _Hold(rows, binds)

    def _rigid(self, n: int) -> _Hold | None:
        """The one joint that carries a mesh without a skin; None where none does."""
        inner, node = np.eye(4), n
        while node not in self.row:
            inner = _matrix(self.tree.nodes[node]) @ inner
            node = self.tree.nodes[node].parent
            if node < 0:
                return None
        binds = np.zeros((len(self.row), 3, 4))
        binds[:, :3, :3] = np.eye(3)
        binds[self.row[node]] = self._factor(node) * inner[:3]
        return _Hold(np.array([self.row[node]]), binds)

    def _factor(self, node: int) -> float:
        """Metres per unit of length in a joint's frame, as the reader of motions folds it."""
        factor = 1.0
        for n in (*self.tree.ancestors(node), node):
            factor *= float(np.cbrt(np.abs(self.tree.nodes[n].scale).prod()))
        return factor

    def _is_read(self, primitive: dict[str, Any], skinned: bool, where: str, name: str) -> bool:
        """Whether a primitive is made of triangles that hang on joints."""
        attributes = primitive.get("attributes")
        if not isinstance(attributes, dict) or "POSITION" not in attributes:
            return False
        triangular = primitive.get("mode", LIST) in (LIST, STRIP, FAN)
        if not triangular or (skinned and "JOINTS_0" not in attributes):
            self.left_out.add("Points, lines and parts without joints are left out", name)
            return False
        extensions = primitive.get("extensions")
        if isinstance(extensions, dict) and DRACO in extensions:
            raise FormatError(
                f"The mesh is packed with {DRACO}, which cannot be read.",
                where=where,
                fix="Export it again without compression.",
            )
        if primitive.get("targets"):
            self.left_out.add("Morph targets are left out", name)
        return True

    def _points(self, attributes: dict[str, Any], hold: _Hold, skinned: bool, where: str) -> _Part:
        arrays = _Arrays(self.document, attributes, where)
        points = arrays.read("POSITION", 3)
        joints, weights = self._weights(arrays, hold, skinned, len(points))
        uvs = [f"TEXCOORD_{k}" for k in range(MOST_SETS) if f"TEXCOORD_{k}" in attributes]
        return _Part(
            points,
            joints,
            weights,
            arrays.read("NORMAL", 3) if "NORMAL" in attributes else None,
            arrays.read("TANGENT", 4) if "TANGENT" in attributes else None,
            tuple(arrays.read(key, 2) for key in uvs),
            arrays.colours(),
        )

    def _add_triangles(self, part: _Part, primitive: dict[str, Any], where: str) -> None:
        corners = np.arange(len(part.points), dtype=np.int64)
        if "indices" in primitive:
            corners = self.document.accessor(primitive["indices"], where, 1)[:, 0].astype(np.int64)
        if corners.size and not 0 <= corners.min() <= corners.max() < len(part.points):
            raise FormatError("Triangles must name points of their mesh.", where=where)
        triangles = _triangles(corners, primitive.get("mode", LIST))
        part.triangles.append(triangles)
        surface = self.materials.row(primitive.get("material"), where)
        part.surfaces.append(np.full(len(triangles), surface, dtype=np.int64))

    def _weights(
        self, arrays: _Arrays, hold: _Hold, skinned: bool, n_points: int
    ) -> tuple[IntArray, FloatArray]:
        """Joints of the skeleton that carry each point, and their shares. (V, K) each."""
        if not skinned:
            return np.full((n_points, 1), hold.rows[0]), np.ones((n_points, 1))
        sets = [k for k in range(MOST_SETS) if f"JOINTS_{k}" in arrays.attributes]
        local = np.concatenate([arrays.read(f"JOINTS_{k}", 4) for k in sets], axis=1)
        weights = np.concatenate([arrays.read(f"WEIGHTS_{k}", 4) for k in sets], axis=1)
        if local.size and not 0 <= local.min() <= local.max() < len(hold.rows):
            raise FormatError("Points must hang on joints of their skin.", where=arrays.where)
        used = max(4, int((weights > 0.0).sum(axis=1).max(initial=0)))
        order = np.argsort(-weights, axis=1, kind="stable")[:, :used]
        local, weights = (np.take_along_axis(each, order, axis=1) for each in (local, weights))
        return hold.rows[local.astype(np.int64)], shares(weights)


@dataclass(frozen=True, slots=True, eq=False)
class _Arrays:
    """Arrays of a primitive, all of one length."""

    document: Document
    attributes: dict[str, Any]
    where: str

    def read(self, key: str, width: int) -> FloatArray:
        """An array (V, width) of finite numbers."""
        values = self.document.accessor(self.attributes.get(key), self.where, width)
        first = self.document.accessor_count(self.attributes["POSITION"], self.where)
        if len(values) != first or not np.isfinite(values).all():
            raise FormatError(f"Every point needs a {key} of finite numbers.", where=self.where)
        return values

    def colours(self) -> FloatArray | None:
        """Colours of points (V, 4), None where there are none."""
        if "COLOR_0" not in self.attributes:
            return None
        width = self.document.accessor_width(self.attributes["COLOR_0"], self.where)
        values = self.read("COLOR_0", 3 if width == 3 else 4)
        return values if width == 4 else np.column_stack([values, np.ones(len(values))])


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """Points of a mesh, and the triangles of all primitives that share them."""

    points: FloatArray
    joints: IntArray
    weights: FloatArray
    normals: FloatArray | None
    tangents: FloatArray | None
    uvs: tuple[FloatArray, ...]
    colours: FloatArray | None
    triangles: list[IntArray] = field(default_factory=list)
    surfaces: list[IntArray] = field(default_factory=list)


def _joined(parts: list[_Part], name: str, binds: FloatArray) -> SkinnedMesh:
    """One mesh of all parts; what some of them lack is filled in."""
    starts = np.cumsum([0, *(len(part.points) for part in parts)])
    wide = max(part.joints.shape[1] for part in parts)
    n_uvs = max(len(part.uvs) for part in parts)

    def widened(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.pad(array, ((0, 0), (0, wide - array.shape[1])))

    normals = tangents = colours = None
    if any(part.normals is not None for part in parts):
        normals = np.concatenate(
            [
                smooth_normals(p.points, np.concatenate(p.triangles))
                if p.normals is None
                else p.normals
                for p in parts
            ]
        )
    if all(part.tangents is not None for part in parts):
        tangents = np.concatenate([part.tangents for part in parts if part.tangents is not None])
    if any(part.colours is not None for part in parts):
        white = [np.ones((len(p.points), 4)) if p.colours is None else p.colours for p in parts]
        colours = np.concatenate(white)
    uvs = [
        np.concatenate(
            [p.uvs[k] if k < len(p.uvs) else np.zeros((len(p.points), 2)) for p in parts]
        )
        for k in range(n_uvs)
    ]
    return SkinnedMesh(
        name,
        np.concatenate([part.points for part in parts]),
        np.concatenate([t + at for p, at in zip(parts, starts, strict=False) for t in p.triangles]),
        np.concatenate([widened(part.joints) for part in parts]),
        np.concatenate([widened(part.weights) for part in parts]),
        binds,
        np.concatenate([surface for part in parts for surface in part.surfaces]),
        normals,
        tangents,
        tuple(uvs),
        colours,
    )


def _triangles(corners: IntArray, mode: int) -> IntArray:
    if mode == LIST:
        return corners[: len(corners) // 3 * 3].reshape(-1, 3)
    if len(corners) < 3:
        return np.zeros((0, 3), dtype=np.int64)
    second, third = corners[1:-1], corners[2:]
    if mode == FAN:
        return np.column_stack([np.full(len(second), corners[0]), second, third])
    strip = np.column_stack([corners[:-2], second, third])
    strip[1::2] = strip[1::2][:, [1, 0, 2]]  # every other triangle runs the other way
    return strip


def _matrix(node: Node) -> FloatArray:
    """From a node into its parent. (4, 4)."""
    matrix = np.eye(4)
    matrix[:3, :3] = quat.to_matrix(node.rotation) * node.scale
    matrix[:3, 3] = node.translation
    return matrix


class Materials:
    """Materials of the meshes that are read, each once, in the order in which they are met."""

    def __init__(self, document: Document, left_out: LeftOut) -> None:
        self.document = document
        self.left_out = left_out
        self.read: list[Material] = []
        self._rows: dict[int, int] = {}
        self._images: dict[int, bytes | None] = {}

    def row(self, number: Any, where: str) -> int:
        """The place of a material of the file in the list; -1 for none."""
        if number is None:
            return -1
        listed = self.document.listed("materials")
        index = index_of(number, len(listed), where)
        if index not in self._rows:
            self._rows[index] = len(self.read)
            self.read.append(self._material(listed[index], f"material {index}"))
        return self._rows[index]

    def _material(self, spec: dict[str, Any], where: str) -> Material:
        surface = _object(spec.get("pbrMetallicRoughness"))
        stated = spec.get("name")
        name = stated if isinstance(stated, str) and stated else where.replace(" ", "_")
        if _object(spec.get("extensions")):
            self.left_out.add("Extensions of materials are left out", name)
        slots = {
            "colour": surface.get("baseColorTexture"),
            "normal": spec.get("normalTexture"),
            "metal_and_roughness": surface.get("metallicRoughnessTexture"),
            "occlusion": spec.get("occlusionTexture"),
            "glow": spec.get("emissiveTexture"),
        }
        textures = {use: self._texture(slot, where) for use, slot in slots.items() if slot}
        red, green, blue, opacity = _clipped(surface.get("baseColorFactor"), 4, 1.0)
        glow_red, glow_green, glow_blue = _clipped(spec.get("emissiveFactor"), 3, 0.0)
        return Material(
            name,
            colour=(red, green, blue, opacity),
            metal=_clipped([surface.get("metallicFactor", 1.0)], 1, 1.0)[0],
            roughness=_clipped([surface.get("roughnessFactor", 1.0)], 1, 1.0)[0],
            glow=(glow_red, glow_green, glow_blue),
            opacity=OPACITIES.get(str(spec.get("alphaMode")), "opaque"),
            cutoff=_clipped([spec.get("alphaCutoff", 0.5)], 1, 0.5)[0],
            two_sided=spec.get("doubleSided") is True,
            textures={use: texture for use, texture in textures.items() if texture},
        )

    def _texture(self, slot: Any, where: str) -> Texture | None:
        slot = _object(slot)
        if _object(slot.get("extensions")):
            self.left_out.add("Transforms of textures are left out", where)
        listed = self.document.listed("textures")
        spec = listed[index_of(slot.get("index"), len(listed), where)]
        images = self.document.listed("images")
        if "source" not in spec:
            self.left_out.add("Textures in formats of extensions are left out", where)
            return None
        number = index_of(spec["source"], len(images), where)
        if number not in self._images:
            self._images[number] = self._image(images[number], f"image {number}")
        data = self._images[number]
        if data is None:
            return None
        samplers = self.document.listed("samplers")
        sampler: dict[str, Any] = {}
        if "sampler" in spec:
            sampler = samplers[index_of(spec["sampler"], len(samplers), where)]
        uv = slot.get("texCoord", 0)
        return Texture(
            str(images[number].get("name") or spec.get("name") or f"image_{number}"),
            data,
            uv=uv if isinstance(uv, int) and 0 <= uv < 8 else 0,
            wraps=(_wrap(sampler.get("wrapS")), _wrap(sampler.get("wrapT"))),
            smooth=sampler.get("magFilter") != NEAREST,
        )

    def _image(self, spec: dict[str, Any], where: str) -> bytes | None:
        """The bytes of an image file; None where it is not there."""
        try:
            if "bufferView" in spec:
                return self.document.view_bytes(spec["bufferView"], where)
            return self.document.uri_bytes(spec.get("uri"), where)
        except FormatError as error:
            self.left_out.add(f"Images that cannot be read are left out ({error.problem})", where)
            return None


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _wrap(code: Any) -> str:
    return WRAPS.get(code, "repeat") if isinstance(code, int) else "repeat"


def _clipped(values: Any, n: int, default: float) -> tuple[float, ...]:
    """``n`` numbers from 0 to 1; the default for each that is none."""
    listed = values if isinstance(values, list) and len(values) == n else [default] * n
    good = (value if isinstance(value, int | float) else default for value in listed)
    return tuple(float(min(max(value, 0.0), 1.0)) if value == value else default for value in good)
