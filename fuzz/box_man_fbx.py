"""The man of boxes as an FBX made by hand: Z up, quads, a scaled node above, textures by index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from motionloom.formats.fbx.fbx_models import angles_of
from motionloom.formats.fbx.fbx_scene import Item, Keys, Scene, property_of
from motionloom.intake.axes import skeleton_to_world, turn_from_world
from motionloom.motion.motion import forward_kinematics
from motionloom.rotation import quat

if TYPE_CHECKING:
    from fuzz.box_man import BoxMan

QUADS = np.array(
    [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
)
SCALE = 2.0
"""Of the node above the figure."""
LIFT = np.array([0.0, 0.0, 5.0])
"""What moves the mesh in its model."""


def box_man_items(man: BoxMan, image: str | None = None) -> list[Item]:
    """The file; ``image`` names an image outside of it in place of the one that is packed."""
    scene = Scene(Keys())
    armature = _model(scene, "Armature", "Null", [_vector("Lcl Scaling", [SCALE] * 3)])
    scene.link(armature, 0)
    joints, frames = _joints(scene, man, armature)
    to_file = 100.0 * turn_from_world("z")
    body = _mesh(scene, "man", man.points @ to_file.T / SCALE - LIFT, armature)
    materials = [_material(scene, name, man.image, image) for name in ("cloth", "skin")]
    for key in materials:
        scene.link(key, body[0])
    _skin(scene, man, body[1], joints, frames)
    local = (man.hat @ to_file.T - frames[man.head][:3, 3]) @ np.linalg.inv(
        frames[man.head][:3, :3]
    ).T
    hat = _mesh(scene, "hat", local - LIFT, joints[man.head])
    scene.link(materials[1], hat[0])
    _mesh(scene, "floor", local, 0)
    settings = [
        *(property_of(name, "int", "Integer", "", value) for name, value in _AXES.items()),
        property_of("UnitScaleFactor", "double", "Number", "", 1.0),
    ]
    head = [Item("FBXHeaderVersion", (1003,)), Item("FBXVersion", (7400,))]
    return [
        Item("FBXHeaderExtension", (), [*head, Item("Creator", ("by hand",))]),
        Item("GlobalSettings", (), [Item("Properties70", (), settings)]),
        Item("Objects", (), scene.objects),
        Item("Connections", (), scene.links),
    ]


_AXES = {
    **{"UpAxis": 2, "UpAxisSign": 1, "FrontAxis": 1, "FrontAxisSign": -1},
    **{"CoordAxis": 0, "CoordAxisSign": 1},
}


def _vector(name: str, values: Any) -> Item:
    return property_of(name, name, "", "A", *(float(v) for v in values))


def _model(scene: Scene, name: str, subtype: str, properties: list[Item]) -> int:
    return scene.add("Model", name, subtype, [Item("Properties70", (), properties)])


def _joints(scene: Scene, man: BoxMan, armature: int) -> tuple[list[int], np.ndarray]:
    """Keys of the joints, and their matrices in the world of the file. (J, 4, 4)."""
    # The change from Y up to Z up is that from -Z up to Y up.
    skeleton = skeleton_to_world(man.skeleton, up="-z", unit_m=100.0)
    keys: list[int] = []
    for j, name in enumerate(skeleton.names):
        place = [
            _vector("Lcl Translation", skeleton.offsets[j] / SCALE),
            _vector("Lcl Rotation", angles_of(skeleton.rest_quats[j], "XYZ")),
        ]
        keys.append(_model(scene, name, "LimbNode", place))
        scene.link(keys[j], armature if j == 0 else keys[skeleton.parents[j]])
    rest = forward_kinematics(skeleton, skeleton.offsets[None, 0], skeleton.rest_quats[None])
    frames = np.tile(np.eye(4), (skeleton.n_joints, 1, 1))
    frames[:, :3, :3] = SCALE * quat.to_matrix(rest[1][0])
    frames[:, :3, 3] = rest[0][0]
    return keys, frames


def _mesh(scene: Scene, name: str, points: np.ndarray, parent: int) -> tuple[int, int]:
    """Keys of a model and its geometry: boxes of quads."""
    model = _model(scene, name, "Mesh", [_vector("GeometricTranslation", LIFT)])
    scene.link(model, parent)
    n = len(points) // 8
    faces = np.concatenate([QUADS + 8 * k for k in range(n)]).astype("<i4")
    corners = faces.copy()
    corners[:, 3] = -1 - corners[:, 3]
    uv = np.array([0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    normals = np.tile([0.0, 1.0, 0.0], len(points))
    surfaces = (np.arange(len(faces)) >= len(faces) // 2).astype("<i4")
    layers = [
        _layer("LayerElementNormal", "ByVertice", "Direct", [Item("Normals", (normals,))]),
        _layer(
            "LayerElementUV",
            "ByPolygonVertex",
            "IndexToDirect",
            [
                Item("UV", (uv,)),
                Item("UVIndex", (np.tile(np.arange(4), len(faces)).astype("<i4"),)),
            ],
        ),
        _layer(
            "LayerElementMaterial",
            "ByPolygon",
            "IndexToDirect",
            [Item("Materials", (surfaces if name == "man" else 0 * surfaces,))],
        ),
    ]
    items = [
        Item("Vertices", (np.ascontiguousarray(points).reshape(-1),)),
        Item("PolygonVertexIndex", (corners.reshape(-1),)),
    ]
    geometry = scene.add("Geometry", name, "Mesh", [*items, *layers])
    scene.link(geometry, model)
    return model, geometry


def _layer(kind: str, mapping: str, reference: str, items: list[Item]) -> Item:
    head = [
        Item("MappingInformationType", (mapping,)),
        Item("ReferenceInformationType", (reference,)),
    ]
    return Item(kind, (0,), [*head, *items])


def _skin(scene: Scene, man: BoxMan, geometry: int, joints: list[int], frames: np.ndarray) -> None:
    skin = scene.add("Deformer", "skin", "Skin", [Item("Version", (101,))])
    scene.link(skin, geometry)
    scene.link(scene.add("Deformer", "smile", "BlendShape", []), geometry)
    mesh = np.diag([SCALE, SCALE, SCALE, 1.0])
    for j, key in enumerate(joints):
        points, columns = np.nonzero((man.joints == j) & (man.weights > 0.0))
        items = [
            Item("Transform", ((np.linalg.inv(frames[j]) @ mesh).T.reshape(-1).copy(),)),
            Item("TransformLink", (frames[j].T.reshape(-1).copy(),)),
        ]
        if len(points):
            items += [
                Item("Indexes", (points.astype("<i4"),)),
                Item("Weights", (man.weights[points, columns].astype("<f8"),)),
            ]
        cluster = scene.add("Deformer", man.skeleton.names[j], "Cluster", items)
        scene.link(cluster, skin)
        scene.link(key, cluster)


def _material(scene: Scene, name: str, packed: bytes, image: str | None) -> int:
    properties = [
        property_of("DiffuseColor", "Color", "", "A", 0.5, 0.25, 1.0),
        property_of("Shininess", "double", "Number", "", 25.0),
    ]
    key = scene.add("Material", name, "", [Item("Properties70", (), properties)])
    if name != "cloth":
        return key
    video: list[Item] = [Item("RelativeFilename", (image or "packed.png",))]
    if image is None:
        video.append(Item("Content", (packed,)))
    texture = scene.add("Texture", "chequer", "", [Item("Type", ("TextureVideoClip",))])
    clip = scene.add("Video", "chequer", "Clip", video)
    scene.link(texture, key, "DiffuseColor")
    scene.link(clip, texture)
    return key
