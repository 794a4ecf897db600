"""The mesh of an FBX file: geometry, a material, and the skin that binds it to the bones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray, IntArray
from motionloom.formats.fbx.fbx_encode import Item, property_of
from motionloom.formats.fbx.fbx_items import Scene
from motionloom.formats.fbx.fbx_skeleton import Pose, model_items

COLOUR = (0.28, 0.4, 0.52)


@dataclass(frozen=True, slots=True, eq=False)
class BoundMesh:
    """Triangles in the rest pose, every point carried by joints."""

    name: str
    points: FloatArray
    """In the unit and axes of the file. Shape (V, 3)."""
    triangles: npt.NDArray[np.int64]
    """Shape (T, 3)."""
    joints: IntArray
    """Joints that carry each point. Shape (V, K)."""
    weights: FloatArray
    """Their shares, which sum to 1. Shape (V, K)."""
    normals: FloatArray | None = None
    """Shape (V, 3)."""
    uvs: FloatArray | None = None
    """Shape (V, 2)."""


def skin_items(scene: Scene, mesh: BoundMesh, joints: list[int], pose: Pose, n_joints: int) -> int:
    """Add a mesh that hangs on the first ``n_joints`` joints; returns the number of its model."""
    properties = [
        property_of("InheritType", "enum", "", "", 1),
        property_of("DefaultAttributeIndex", "int", "Integer", "", 0),
    ]
    model = scene.add("Model", mesh.name, "Mesh", model_items(properties))
    geometry = scene.add("Geometry", mesh.name, "Mesh", _geometry(mesh))
    material = scene.add("Material", mesh.name, "", _material())
    scene.link(model, 0)
    scene.link(geometry, model)
    scene.link(material, model)
    skin = scene.add(
        "Deformer",
        mesh.name,
        "Skin",
        [Item("Version", (101,)), Item("Link_DeformAcuracy", (50.0,))],
    )
    scene.link(skin, geometry)
    matrices = pose.matrices()
    for joint in range(n_joints):  # also those that carry nothing: engines make bones of clusters
        cluster = _cluster(scene, mesh, joint, matrices[joint])
        scene.link(cluster, skin)
        scene.link(joints[joint], cluster)
    return model


def _geometry(mesh: BoundMesh) -> list[Item]:
    corners = mesh.triangles.astype("<i4").copy()
    corners[:, 2] = -1 - corners[:, 2]  # the last corner of a face is marked so
    items = [
        Item("GeometryVersion", (124,)),
        Item("Vertices", (np.ascontiguousarray(mesh.points, dtype="<f8").reshape(-1) + 0.0,)),
        Item("PolygonVertexIndex", (corners.reshape(-1),)),
    ]
    layers = [("LayerElementMaterial", 0)]
    if mesh.normals is not None:
        items.append(_layer("LayerElementNormal", "Normals", mesh.normals, mesh.triangles))
        layers.append(("LayerElementNormal", 0))
    if mesh.uvs is not None:
        items.append(_layer("LayerElementUV", "UV", mesh.uvs, mesh.triangles))
        layers.append(("LayerElementUV", 0))
    items.append(
        Item(
            "LayerElementMaterial",
            (0,),
            [
                Item("Version", (101,)),
                Item("Name", ("",)),
                Item("MappingInformationType", ("AllSame",)),
                Item("ReferenceInformationType", ("IndexToDirect",)),
                Item("Materials", (np.zeros(1, "<i4"),)),
            ],
        )
    )
    listed = [
        Item("LayerElement", (), [Item("Type", (kind,)), Item("TypedIndex", (index,))])
        for kind, index in layers
    ]
    return [*items, Item("Layer", (0,), [Item("Version", (100,)), *listed])]


def _layer(kind: str, name: str, values: FloatArray, triangles: npt.NDArray[np.int64]) -> Item:
    """Normals or texture coordinates, one for each corner of each face."""
    at_corners = np.ascontiguousarray(values[triangles.reshape(-1)], dtype="<f8").reshape(-1)
    return Item(
        kind,
        (0,),
        [
            Item("Version", (101,)),
            Item("Name", ("",)),
            Item("MappingInformationType", ("ByPolygonVertex",)),
            Item("ReferenceInformationType", ("Direct",)),
            Item(name, (at_corners + 0.0,)),
        ],
    )


def _material() -> list[Item]:
    return [
        Item("Version", (102,)),
        Item("ShadingModel", ("lambert",)),
        Item("MultiLayer", (0,)),
        Item("Properties70", (), [property_of("DiffuseColor", "Color", "", "A", *COLOUR)]),
    ]


def _cluster(scene: Scene, mesh: BoundMesh, joint: int, matrix: FloatArray) -> int:
    """Add the points that one joint carries."""
    points, columns = np.nonzero((mesh.joints == joint) & (mesh.weights > 0.0))
    link = matrix.reshape(4, 4)
    # The mesh stands unmoved in the world, so what carries it into the joint is the inverse.
    inverse = np.eye(4)
    inverse[:3, :3] = link[:3, :3].T
    inverse[3, :3] = -link[3, :3] @ link[:3, :3].T
    carried = [
        Item("Indexes", (points.astype("<i4"),)),
        Item("Weights", (mesh.weights[points, columns].astype("<f8"),)),
    ]
    return scene.add(
        "Deformer",
        f"{mesh.name} {joint}",
        "Cluster",
        [
            Item("Version", (100,)),
            Item("UserData", ("", "")),
            *carried,
            Item("Transform", (inverse.reshape(-1).astype("<f8") + 0.0,)),
            Item("TransformLink", (matrix.astype("<f8"),)),
        ],
    )
