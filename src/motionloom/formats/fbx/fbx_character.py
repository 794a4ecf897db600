"""The character in an FBX file: every mesh that hangs on its skeleton, with its materials."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom.errors import FormatError
from motionloom.files.limits import Budget
from motionloom.files.reading import read_file
from motionloom.formats.character import Material, SkinnedMesh, Texture
from motionloom.formats.fbx.fbx_animation import animated, layers_of, stack_names
from motionloom.formats.fbx.fbx_document import FbxDocument
from motionloom.formats.fbx.fbx_geometry import read_geometry
from motionloom.formats.fbx.fbx_models import RRS, Model, find_figure, model_tree, turn_of
from motionloom.formats.fbx.fbx_objects import FbxObject, Objects, Properties, settings_of
from motionloom.formats.fbx.fbx_parse import SKINNED, Element
from motionloom.formats.fbx.fbx_scene import BONES, CREATOR
from motionloom.formats.figures import Tree
from motionloom.formats.file_clip import MOST_MESHES, FileSkin, LeftOut, ReadOptions, clip_number
from motionloom.formats.meshes import shares, turned_mesh
from motionloom.formats.text import read_bounded
from motionloom.rotation import quat

CARRIED_BYTES, SHARE_BYTES = 72, 48
"""Memory that a point of a cluster takes, and then a share of a joint in a point."""
CLUSTER_BYTES, MESH_POINT_BYTES = 5000, 400
"""Memory that a cluster and a point of a mesh count for: many links may lead to one of them."""
MOST_SHARES = 32
"""Joints that carry a point at most; of more the largest shares count."""
USES = {
    **{"DiffuseColor": "colour", "Maya|baseColor": "colour", "Maya|TEX_color_map": "colour"},
    **{"3dsMax|Parameters|base_color_map": "colour", "NormalMap": "normal", "Bump": "normal"},
    **{"Maya|normalCamera": "normal", "EmissiveColor": "glow", "Maya|emissionColor": "glow"},
}
"""Use of a texture, by the property of the material that it is connected to."""
CLAMP = 1
MOST_IMAGE_BYTES = 256 * 1024**2


def read_skin(stream: BinaryIO, options: ReadOptions) -> FileSkin:
    """Every mesh that hangs on the skeleton that :func:`fbx_read.read` finds."""
    document = FbxDocument(read_bounded(stream, options.limits), options, SKINNED)
    settings = settings_of(document)
    objects = Objects(document)
    tree = model_tree(objects)
    stack = clip_number(stack_names(objects), options.clip)
    item = None if stack is None else list(objects.of_kind("AnimationStack"))[stack]
    layers = [] if item is None else layers_of(objects, item)
    rows = {model.key: n for n, model in enumerate(tree.nodes)}
    rig = find_figure(tree, objects, {rows[key] for key in animated(layers) if key in rows})
    left_out = LeftOut()
    row = {node: j for j, node in enumerate(rig.joints)}
    materials = FbxMaterials(objects, options, left_out)
    reader = _Reader(objects, tree, row, rows, materials, left_out)
    ours = _is_ours(document)
    meshes: list[SkinnedMesh] = []
    for n, model in enumerate(tree.nodes):
        if model.subtype == "Mesh" and not (ours and model.name == BONES):
            meshes += reader.meshes(n)
        if len(meshes) > MOST_MESHES:
            raise FormatError(f"At most {MOST_MESHES} meshes can be read.", where="Objects")
    if settings.mirror is not None:
        flip = np.eye(3)
        flip[settings.mirror, settings.mirror] = -1.0
        meshes = [turned_mesh(mesh, flip, flip, 1.0) for mesh in meshes]
    return FileSkin(tuple(meshes), tuple(materials.read), left_out.findings())


def _is_ours(document: FbxDocument) -> bool:
    head = document.top.child("FBXHeaderExtension")
    creator = None if head is None else head.child("Creator")
    return creator is not None and creator.text(0) == CREATOR


@dataclass(frozen=True, slots=True, eq=False)
class _Hold:
    """How a mesh hangs on the skeleton: joints and shares of its points, and binds."""

    joints: IntArray
    """Shape (N, K)."""
    weights: FloatArray
    """Shape (N, K)."""
    binds: FloatArray
    """Shape (J, 3, 4)."""


@dataclass(frozen=True, slots=True, eq=False)
class _Reader:
    objects: Objects
    tree: Tree[Model]
    row: dict[int, int]
    """Joint of the skeleton for each node that is one."""
    nodes: dict[int, int]
    """Node of the tree for each key of a model."""
    materials: FbxMaterials
    left_out: LeftOut

    def meshes(self, n: int) -> list[SkinnedMesh]:
        """The meshes of a model; none where it hangs on no joint."""
        model = self.tree.nodes[n]
        out = []
        for item in dict.fromkeys(self.objects.linked(model.key, "Geometry")):
            shape = read_geometry(self.objects.document, item.element)
            if shape is None:
                continue
            n_bytes = MESH_POINT_BYTES * len(shape.points)
            self.objects.document.budget.take(n_bytes, f"{len(shape.points)} points of meshes")
            hold = self._hold(n, item, shape.n_places)
            if hold is None:
                problem = "Meshes that hang on no joint of the figure are left out"
                self.left_out.add(problem, model.name)
                continue
            if shape.is_cut:
                self.left_out.add("Polygons are cut into triangles", model.name)
            rows = np.array([*self.materials.rows(model.key), -1])
            surfaces = np.where(
                (shape.surfaces >= 0) & (shape.surfaces < len(rows) - 1), shape.surfaces, -1
            )
            out.append(
                SkinnedMesh(
                    model.name or item.name or "mesh",
                    shape.points,
                    shape.triangles,
                    hold.joints[shape.places],
                    hold.weights[shape.places],
                    hold.binds,
                    rows[surfaces],
                    normals=shape.normals,
                    uvs=shape.uvs,
                    colours=shape.colours,
                )
            )
        return out

    def _hold(self, n: int, geometry: FbxObject, n_points: int) -> _Hold | None:
        deformers = list(dict.fromkeys(self.objects.linked(geometry.key, "Deformer")))
        if any(each.subtype == "BlendShape" for each in deformers):
            self.left_out.add("Morph targets are left out", self.tree.nodes[n].name)
        clusters = [
            cluster
            for skin in deformers
            if skin.subtype == "Skin"
            for cluster in dict.fromkeys(self.objects.linked(skin.key, "Deformer"))
            if cluster.subtype == "Cluster"
        ]
        budget = self.objects.document.budget
        budget.take(CLUSTER_BYTES * len(clusters), f"{len(clusters)} clusters of a skin")
        inner = self._geometric(n)
        return (
            self._skin(clusters, inner, n_points) if clusters else self._rigid(n, inner, n_points)
        )

    def _skin(self, clusters: list[FbxObject], inner: FloatArray, n_points: int) -> _Hold | None:
        """Shares of clusters; None where a joint of another figure has some."""
        binds = np.tile(np.eye(3, 4), (len(self.row), 1, 1))
        parts: list[tuple[int, IntArray, FloatArray]] = []
        for cluster in clusters:
            bone = next(self.objects.linked(cluster.key, "Model"), None)
            node = None if bone is None else self.nodes[bone.key]
            points, weights = self._carried(cluster, n_points)
            if node is None or node not in self.row:
                if len(points):
                    return None
                continue
            binds[self.row[node]] = self._factor(node) * (self._bind(cluster) @ inner)[:3]
            parts.append((self.row[node], points, weights))
        joints, weights = _shares_of(parts, n_points, self.objects.document.budget)
        total = [float(part[2].sum()) for part in parts]
        if not parts or max(total) <= 0.0:
            return None
        bare = weights.sum(axis=1) <= 0.0  # points that no cluster names go with the main joint
        joints[bare, 0] = parts[int(np.argmax(total))][0]
        return _Hold(joints, shares(weights), binds)

    def _carried(self, cluster: FbxObject, n_points: int) -> tuple[IntArray, FloatArray]:
        """Points of a cluster and their weights."""
        listed, weighed = (cluster.element.child(name) for name in ("Indexes", "Weights"))
        if listed is None or weighed is None:
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        document = self.objects.document
        points, weights = document.numbers(listed), document.numbers(weighed)
        good = len(points) == len(weights) and np.isfinite(points).all()
        if not good or (len(points) and not 0 <= points.min() <= points.max() < n_points):
            raise FormatError(
                f"A cluster must name points below {n_points}, each with a weight.",
                where=document.place(cluster.element),
                fix="The file is damaged: copy or export it again.",
            )
        where = document.place(cluster.element)
        document.budget.take(CARRIED_BYTES * len(points), "its shares of joints", where)
        weights = np.clip(np.nan_to_num(weights), 0.0, 1e6)
        return points.astype(np.int64), weights

    def _bind(self, cluster: FbxObject) -> FloatArray:
        """From the mesh into the joint when they were bound. Shape (4, 4)."""
        stated = cluster.element.child("Transform")
        if stated is not None:
            return self._matrix(stated)
        link = cluster.element.child("TransformLink")
        if link is None:
            return np.eye(4)
        matrix = self._matrix(link)
        if abs(np.linalg.det(matrix)) < 1e-12:
            raise FormatError(
                "A joint must not be flat when it is bound.",
                where=self.objects.document.place(link),
            )
        return np.asarray(np.linalg.inv(matrix))

    def _matrix(self, element: Element) -> FloatArray:
        values = self.objects.document.numbers(element)
        if len(values) != 16 or not np.isfinite(values).all() or np.abs(values).max() > 1e15:
            raise FormatError(
                "A matrix must have 16 finite numbers.", where=self.objects.document.place(element)
            )
        return values.reshape(4, 4).T

    def _rigid(self, n: int, inner: FloatArray, n_points: int) -> _Hold | None:
        """The one joint that carries a mesh without a skin; None where none does."""
        node = n
        while node not in self.row:
            inner = _local(self.tree.nodes[node]) @ inner
            node = self.tree.nodes[node].parent
            if node < 0:
                return None
        binds = np.tile(np.eye(3, 4), (len(self.row), 1, 1))
        binds[self.row[node]] = self._factor(node) * inner[:3]
        return _Hold(np.full((n_points, 1), self.row[node]), np.ones((n_points, 1)), binds)

    def _factor(self, node: int) -> float:
        """Units of length of the file per unit in a joint's frame."""
        total, own = 1.0, 1.0
        for n in (*self.tree.ancestors(node), node):
            model = self.tree.nodes[n]
            factor = float(np.cbrt(np.abs(model.scaling).prod()))
            above = total / own if model.inherit == RRS and own > 0.0 else total
            total, own = above * factor, factor
        return total

    def _geometric(self, n: int) -> FloatArray:
        """The transform of the mesh of a model alone, without its children. Shape (4, 4)."""
        table = self.objects.properties(self.objects.by_key[self.tree.nodes[n].key])
        matrix = np.eye(4)
        turn = turn_of(table.vector("GeometricRotation", (0.0, 0.0, 0.0)), "XYZ")
        matrix[:3, :3] = quat.to_matrix(turn) * table.vector("GeometricScaling", (1.0, 1.0, 1.0))
        matrix[:3, 3] = table.vector("GeometricTranslation", (0.0, 0.0, 0.0))
        return matrix


def _local(model: Model) -> FloatArray:
    """From a node into its parent. Shape (4, 4)."""
    matrix = np.eye(4)
    turn = model.turned(turn_of(model.rotation, model.order))
    matrix[:3, :3] = quat.to_matrix(turn) * model.scaling
    matrix[:3, 3] = model.places(model.translation, turn)
    return matrix


def _shares_of(
    parts: list[tuple[int, IntArray, FloatArray]], n_points: int, budget: Budget
) -> tuple[IntArray, FloatArray]:
    """Joints and weights of every point, the largest first. (N, K) each."""
    if not parts:
        return np.zeros((n_points, 1), dtype=np.int64), np.zeros((n_points, 1))
    joints = np.concatenate([np.full(len(points), joint) for joint, points, _ in parts])
    points = np.concatenate([points for _, points, _ in parts])
    weights = np.concatenate([weights for _, _, weights in parts])
    order = np.lexsort((-weights, points))
    joints, points, weights = joints[order], points[order], weights[order]
    counts = np.bincount(points, minlength=n_points)
    place = np.arange(len(points)) - np.repeat(np.cumsum(counts) - counts, counts)
    counted = place < MOST_SHARES
    wide = int(min(counts.max(initial=1), MOST_SHARES)) or 1
    budget.check(SHARE_BYTES * n_points * wide, "its shares of joints")
    out, share = np.zeros((n_points, wide), dtype=np.int64), np.zeros((n_points, wide))
    out[points[counted], place[counted]] = joints[counted]
    share[points[counted], place[counted]] = weights[counted]
    return out, share


class FbxMaterials:
    """Materials of the meshes that are read, each once, in the order in which they are met."""

    def __init__(self, objects: Objects, options: ReadOptions, left_out: LeftOut) -> None:
        self.objects = objects
        self.options = options
        self.left_out = left_out
        self.read: list[Material] = []
        self._rows: dict[int, int] = {}
        self._images: dict[int, bytes | None] = {}

    def rows(self, model: int) -> list[int]:
        """Places in the list of the materials of a model, in its order."""
        rows = []
        for item in self.objects.linked(model, "Material"):
            if item.key not in self._rows:
                self._rows[item.key] = len(self.read)
                self.read.append(self._material(item))
            rows.append(self._rows[item.key])
        return rows

    def _material(self, item: FbxObject) -> Material:
        table = self.objects.properties(item)
        colour = _shares(table, "DiffuseColor", (0.8, 0.8, 0.8), table.number("DiffuseFactor", 1.0))
        glow = _shares(table, "EmissiveColor", (0.0, 0.0, 0.0), table.number("EmissiveFactor", 1.0))
        shine = table.number("Shininess", table.number("ShininessExponent", 4.0))
        opacity = float(np.clip(table.number("Opacity", 1.0), 0.0, 1.0))
        textures: dict[str, Texture] = {}
        cut_out = False
        for link in self.objects.below.get(item.key, ()):
            image = self.objects.by_key.get(link.child)
            if image is None or image.kind != "Texture":
                continue
            cut_out |= link.name in ("TransparentColor", "TransparencyFactor")
            use = USES.get(link.name)
            texture = None if use is None or use in textures else self._texture(image)
            if texture is not None and use is not None:
                textures[use] = texture
        if "colour" in textures and table.values("DiffuseColor") is None:
            colour = (1.0, 1.0, 1.0)
        return Material(
            item.name or "material",
            colour=(*colour, opacity),
            metal=float(np.clip(table.number("ReflectionFactor", 0.0), 0.0, 1.0)),
            roughness=float(np.clip(1.0 - np.sqrt(max(shine, 0.0)) / 10.0, 0.0, 1.0)),
            glow=glow,
            opacity="blend" if cut_out or opacity < 1.0 else "opaque",
            textures=textures,
        )

    def _texture(self, item: FbxObject) -> Texture | None:
        video = next(self.objects.linked(item.key, "Video"), None)
        holder = item if video is None else video
        if holder.key not in self._images:
            self._images[holder.key] = self._image(holder, item)
        data = self._images[holder.key]
        if not data:
            self.left_out.add("Images that cannot be read are left out", item.name or "texture")
            return None
        table = self.objects.properties(item)
        wraps = [table.whole(name, 0) == CLAMP for name in ("WrapModeU", "WrapModeV")]
        across, up = ("clamp" if clamped else "repeat" for clamped in wraps)
        return Texture(item.name or "texture", data, wraps=(across, up))

    def _image(self, holder: FbxObject, texture: FbxObject) -> bytes | None:
        """The bytes of an image: packed into the file, or in a file next to it."""
        content = holder.element.child("Content")
        packed = None if content is None else self.objects.document.raw_bytes(content)
        if packed:
            return packed
        for element in (holder.element, texture.element):
            for name in ("RelativeFilename", "Filename", "FileName"):
                image = self._neighbour(element.child(name))
                if image:
                    return image
        return None

    def _neighbour(self, element: Element | None) -> bytes | None:
        """A file in the folder of this one or below it, by its path there or its name alone."""
        text = "" if element is None else element.text(0).replace("\\", "/")
        if not text or "\0" in text or self.options.path is None:
            return None
        folder = self.options.path.parent.resolve()
        stated = PurePosixPath(text)
        inside = not stated.is_absolute() and ".." not in stated.parts and ":" not in text
        tried = [Path(folder, *stated.parts)] if inside else []
        packed = f"{self.options.path.stem}.fbm"
        tried += [folder / stated.name, folder / packed / stated.name]
        tried += [folder / "textures" / stated.name]
        for path in tried:
            try:
                real = path.resolve()
                if not real.is_relative_to(folder) or not real.is_file():
                    continue
                size = real.stat().st_size
                if size > MOST_IMAGE_BYTES:
                    continue
                self.objects.document.budget.add_file(size)
                self.objects.document.budget.take(size, "this image")
                return read_file(real, size)
            except (OSError, ValueError, FormatError):
                continue
        return None


def _shares(
    table: Properties, name: str, default: tuple[float, float, float], factor: float
) -> tuple[float, float, float]:
    red, green, blue = (float(v) for v in np.clip(table.vector(name, default) * factor, 0.0, 1.0))
    return red, green, blue
