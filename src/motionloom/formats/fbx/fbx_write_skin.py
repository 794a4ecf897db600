"""The meshes of an FBX file that is written: geometry, materials, and binds to the bones."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray
from motionloom.formats.character import Character, Material, SkinnedMesh, Texture
from motionloom.formats.fbx.fbx_scene import Item, Scene, model_items, property_of

NEAR, NEAR_SHARE = 2e-4, 5e-6
"""A joint this close to the axis may be connected: in units of the file, and as a share of the
farthest place. Blender 5 connects below 1e-4 units, Blender 3 below a share of 1e-6."""
APART = 2.0
"""How far off the axis a joint is bound, times the distance at which it may be connected."""
PLAIN = (0.28, 0.4, 0.52)
"""Colour of meshes without a material."""
SLOTS = {"colour": "DiffuseColor", "normal": "NormalMap", "glow": "EmissiveColor"}
"""Properties of a Phong material that textures are connected to; it has none for the others."""
WRAPS = {"repeat": 0, "mirror": 0, "clamp": 1}


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
    """Bind a geometry to the joints; the first mesh also to joints without a point."""
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


def with_loose_joints(character: Character, sliding: Iterable[int]) -> Character:
    """The character, bound so that Blender connects none of the sliding joints to its parent.

    Of a joint and the root above it the one that carries less of the meshes is moved; other joints
    are moved themselves.

    Parameters
    ----------
    character
        In the unit and axes of the file.
    sliding
        Joints with translation keys, without the root.
    """
    carried = carried_weight(character)
    for joint in sliding:
        parent = int(character.skeleton.parents[joint])
        shift = _shift_off_axis(bind_matrices(character), parent, joint)
        if shift is not None:
            moves_root = parent == 0 and carried[parent] < carried[joint]
            character = _moved(character, *((parent, -shift) if moves_root else (joint, shift)))
    return character


def _shift_off_axis(matrices: FloatArray, parent: int, joint: int) -> FloatArray | None:
    """The shift that moves a joint off the axis of its parent; None where it is off or below it."""
    frames = matrices.reshape(-1, 4, 4)
    places = frames[:, 3, :3]
    axis, side = (frames[parent, row, :3] for row in (1, 2))
    length = np.linalg.norm(axis)
    if not length > 0.0:
        return None
    axis = axis / length
    offset = places[joint] - places[parent]
    along = float(offset @ axis)
    off = offset - along * axis
    near = max(NEAR, NEAR_SHARE * float(np.abs(places).max()))
    if along <= 0.0 or np.linalg.norm(off) > near:
        return None
    across = side - (side @ axis) * axis
    size = np.linalg.norm(across)
    return APART * near / size * across - off if size > 0.0 else None


def _moved(character: Character, joint: int, shift: FloatArray) -> Character:
    """The character with one joint bound at another place; its points stay."""
    meshes = []
    for mesh in character.meshes:
        binds = np.array(mesh.binds)
        binds[joint, :, 3] -= binds[joint, :, :3] @ shift
        meshes.append(dataclasses.replace(mesh, binds=binds))
    return dataclasses.replace(character, meshes=tuple(meshes))


def material_key(
    scene: Scene, material: Material | None, name: str, images: dict[bytes, int]
) -> int:
    """Add a material, its textures, and images that are not there yet; returns its number."""
    if material is None:
        plain = [property_of("DiffuseColor", "Color", "", "A", *PLAIN)]
        return scene.add("Material", name, "", _material_head("lambert", plain))
    *colour, opacity = (float(value) for value in material.colour)
    # As Blender, Maya and the engines read roughness and metal out of a Phong material.
    shine = (10.0 * (1.0 - float(material.roughness))) ** 2
    properties = [
        property_of("DiffuseColor", "Color", "", "A", *colour),
        property_of("DiffuseFactor", "Number", "", "A", 1.0),
        property_of("EmissiveColor", "Color", "", "A", *(float(v) for v in material.glow)),
        property_of("EmissiveFactor", "Number", "", "A", 1.0),
        property_of("TransparencyFactor", "Number", "", "A", 1.0 - opacity),
        property_of("Opacity", "double", "Number", "", opacity),
        property_of("Shininess", "double", "Number", "", shine),
        property_of("ShininessExponent", "Number", "", "A", shine),
        property_of("ReflectionFactor", "Number", "", "A", float(material.metal)),
    ]
    key = scene.add("Material", material.name, "", _material_head("phong", properties))
    for use, slot in SLOTS.items():
        if use in material.textures:
            scene.link(_texture(scene, material.textures[use], images), key, slot)
    if "colour" in material.textures and material.opacity != "opaque":
        scene.link(_texture(scene, material.textures["colour"], images), key, "TransparentColor")
    return key


def _material_head(model: str, properties: list[Item]) -> list[Item]:
    return [
        Item("Version", (102,)),
        Item("ShadingModel", (model,)),
        Item("MultiLayer", (0,)),
        Item("Properties70", (), properties),
    ]


def _texture(scene: Scene, texture: Texture, images: dict[bytes, int]) -> int:
    """Add a texture and the image in it."""
    stem = "".join(c if c.isalnum() or c in "-_ " else "_" for c in texture.name) or "image"
    name = stem if stem.lower().endswith(texture.suffix) else f"{stem}{texture.suffix}"
    across, up = (WRAPS[wrap] for wrap in texture.wraps)
    properties = [
        property_of("UVSet", "KString", "", "", f"uv{texture.uv + 1}" if texture.uv else ""),
        property_of("UseMaterial", "bool", "", "", 1),
        property_of("WrapModeU", "enum", "", "", across),
        property_of("WrapModeV", "enum", "", "", up),
    ]
    key = scene.add(
        "Texture",
        texture.name,
        "",
        [
            Item("Type", ("TextureVideoClip",)),
            Item("Version", (202,)),
            Item("TextureName", (f"{texture.name}\x00\x01Texture",)),
            Item("Properties70", (), properties),
            Item("Media", (f"{texture.name}\x00\x01Video",)),
            Item("FileName", (name,)),
            Item("RelativeFilename", (name,)),
        ],
    )
    if texture.data not in images:
        images[texture.data] = _image(scene, texture, name)
    scene.link(images[texture.data], key)
    return key


def _image(scene: Scene, texture: Texture, name: str) -> int:
    """Add the file of an image."""
    path = property_of("Path", "KString", "XRefUrl", "", name)
    return scene.add(
        "Video",
        texture.name,
        "Clip",
        [
            Item("Type", ("Clip",)),
            Item("Properties70", (), [path]),
            Item("UseMipMap", (0,)),
            Item("Filename", (name,)),
            Item("RelativeFilename", (name,)),
            Item("Content", (texture.data,)),
        ],
    )
