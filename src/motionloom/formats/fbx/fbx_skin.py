"""The meshes of an FBX file: geometry, materials, and the skins that bind them to the bones."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray
from motionloom.formats.character import Character, SkinnedMesh
from motionloom.formats.fbx.fbx_encode import Item, property_of
from motionloom.formats.fbx.fbx_items import Scene
from motionloom.formats.fbx.fbx_skeleton import model_items
from motionloom.formats.fbx.fbx_surfaces import material_key


def character_items(scene: Scene, character: Character, joints: list[int]) -> None:
    """Add the meshes of a character in the unit and axes of the file, on these joints."""
    surfaces: dict[int, int] = {}
    images: dict[bytes, int] = {}
    for number, mesh in enumerate(character.meshes):
        used = list(dict.fromkeys(mesh.surfaces.tolist()))
        model = _model(scene, mesh)
        for surface in used:
            if surface not in surfaces:
                look = character.materials[surface] if surface >= 0 else None
                surfaces[surface] = material_key(scene, look, mesh.name, images)
            scene.link(surfaces[surface], model)
        geometry = scene.add("Geometry", mesh.name, "Mesh", _geometry(mesh, used))
        scene.link(geometry, model)
        _skin(scene, mesh, geometry, joints, everything=number == 0)


def bind_matrices(character: Character) -> FloatArray:
    """Where every joint was when the meshes were bound, in the order of FBX. Shape (J, 16).

    Of several meshes the one whose points hang most on a joint says it.
    """
    most = np.full(character.skeleton.n_joints, -1.0)
    binds = np.zeros((len(most), 3, 4))
    for mesh in character.meshes:
        share = np.zeros(len(most))
        np.add.at(share, mesh.joints, mesh.weights)
        more = share > most
        most[more], binds[more] = share[more], mesh.binds[more]
    return _links(binds)


def carried_weight(character: Character) -> FloatArray:
    """How much of all meshes hangs on each joint, in points. Shape (J,)."""
    weight = np.zeros(character.skeleton.n_joints)
    for mesh in character.meshes:
        np.add.at(weight, mesh.joints, mesh.weights)
    return weight


def _model(scene: Scene, mesh: SkinnedMesh) -> int:
    properties = [
        property_of("InheritType", "enum", "", "", 1),
        property_of("DefaultAttributeIndex", "int", "Integer", "", 0),
    ]
    model = scene.add("Model", mesh.name, "Mesh", model_items(properties))
    scene.link(model, 0)
    return model


def _skin(
    scene: Scene, mesh: SkinnedMesh, geometry: int, joints: list[int], *, everything: bool
) -> None:
    """Bind a geometry to the joints; to those that carry nothing only for the first mesh."""
    skin = scene.add(
        "Deformer",
        mesh.name,
        "Skin",
        [Item("Version", (101,)), Item("Link_DeformAcuracy", (50.0,))],
    )
    scene.link(skin, geometry)
    links = _links(mesh.binds)
    carrying = set(mesh.joints[mesh.weights > 0.0].tolist())
    for joint in range(len(mesh.binds)):
        if everything or joint in carrying:  # engines make bones of clusters
            cluster = _cluster(scene, mesh, joint, links[joint])
            scene.link(cluster, skin)
            scene.link(joints[joint], cluster)


def _links(binds: FloatArray) -> FloatArray:
    """From each joint's frame into the world when the mesh was bound. Shape (J, 16)."""
    matrices = np.tile(np.eye(4), (len(binds), 1, 1))
    matrices[:, :3] = binds
    inverse = np.linalg.inv(matrices)
    inverse[:, 3] = [0.0, 0.0, 0.0, 1.0]
    return np.ascontiguousarray(inverse.swapaxes(1, 2).reshape(-1, 16)) + 0.0


def _geometry(mesh: SkinnedMesh, used: list[int]) -> list[Item]:
    corners = mesh.triangles.astype("<i4")
    corners[:, 2] = -1 - corners[:, 2]  # the last corner of a face is marked so
    items = [
        Item("GeometryVersion", (124,)),
        Item("Vertices", (np.ascontiguousarray(mesh.points, dtype="<f8").reshape(-1) + 0.0,)),
        Item("PolygonVertexIndex", (corners.reshape(-1),)),
    ]
    layers: list[tuple[str, int]] = [("LayerElementMaterial", 0)]
    if mesh.normals is not None:
        items.append(_layer("LayerElementNormal", "Normals", mesh.normals, mesh))
        layers.append(("LayerElementNormal", 0))
    if mesh.colours is not None:
        items.append(_layer("LayerElementColor", "Colors", mesh.colours, mesh))
        layers.append(("LayerElementColor", 0))
    for k, uv in enumerate(mesh.uvs):  # FBX counts V from the bottom of the image
        flipped = np.column_stack([uv[:, 0], 1.0 - uv[:, 1]])
        items.append(_layer("LayerElementUV", "UV", flipped, mesh, number=k))
        layers.append(("LayerElementUV", k))
    items.append(_materials(mesh, used))
    return [*items, *_listed(layers)]


def _listed(layers: list[tuple[str, int]]) -> list[Item]:
    """Layers of a geometry: the first of every kind, then further texture coordinates."""
    out = []
    for number in range(1 + max(k for _, k in layers)):
        inner = [
            Item("LayerElement", (), [Item("Type", (kind,)), Item("TypedIndex", (k,))])
            for kind, k in layers
            if k == number
        ]
        out.append(Item("Layer", (number,), [Item("Version", (100,)), *inner]))
    return out


def _materials(mesh: SkinnedMesh, used: list[int]) -> Item:
    one = len(used) < 2
    rows = np.array([used.index(surface) for surface in mesh.surfaces.tolist()], dtype="<i4")
    return Item(
        "LayerElementMaterial",
        (0,),
        [
            Item("Version", (101,)),
            Item("Name", ("",)),
            Item("MappingInformationType", ("AllSame" if one else "ByPolygon",)),
            Item("ReferenceInformationType", ("IndexToDirect",)),
            Item("Materials", (np.zeros(1, "<i4") if one else rows,)),
        ],
    )


def _layer(
    kind: str, name: str, values: npt.NDArray[np.float64], mesh: SkinnedMesh, number: int = 0
) -> Item:
    """Normals or texture coordinates, one for each corner of each face."""
    at_corners = np.ascontiguousarray(values[mesh.triangles.reshape(-1)], dtype="<f8").reshape(-1)
    return Item(
        kind,
        (number,),
        [
            Item("Version", (101,)),
            Item("Name", (f"uv{number + 1}" if number else "",)),
            Item("MappingInformationType", ("ByPolygonVertex",)),
            Item("ReferenceInformationType", ("Direct",)),
            Item(name, (at_corners + 0.0,)),
        ],
    )


def _cluster(scene: Scene, mesh: SkinnedMesh, joint: int, link: FloatArray) -> int:
    """Add the points that one joint carries."""
    points, columns = np.nonzero((mesh.joints == joint) & (mesh.weights > 0.0))
    # The mesh stands unmoved in the world, so its bind is what carries it into the joint.
    bind = np.eye(4)
    bind[:, :3] = mesh.binds[joint].T
    return scene.add(
        "Deformer",
        f"{mesh.name} {joint}",
        "Cluster",
        [
            Item("Version", (100,)),
            Item("UserData", ("", "")),
            Item("Indexes", (points.astype("<i4"),)),
            Item("Weights", (mesh.weights[points, columns].astype("<f8"),)),
            Item("Transform", (bind.reshape(-1).astype("<f8") + 0.0,)),
            Item("TransformLink", (link.astype("<f8"),)),
        ],
    )
