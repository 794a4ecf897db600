"""A clip as a binary FBX 7.4: bones, a bind pose, a skin, and a key for every frame.

Unity and Unreal make a skeleton of models of type LimbNode and want a mesh that is bound to it, so
a small mesh of bones hangs on them, unless the caller brings a skin. Keys are linear, one per
frame, angles without jumps.
"""

from __future__ import annotations

from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray
from motionloom._core import kernel
from motionloom.errors import FormatError
from motionloom.formats.character import Character, SkinnedMesh
from motionloom.formats.fbx.fbx_models import END_SITE, angles_of, turn_of
from motionloom.formats.fbx.fbx_objects import CUSTOM_MODE, RATES, TICKS
from motionloom.formats.fbx.fbx_scene import (
    BONES,
    CREATION_TIME,
    CREATOR,
    FILE_ID,
    FIRST_KEY,
    VERSION,
    Item,
    Keys,
    Long,
    Scene,
    file_bytes,
    model_items,
    property_of,
)
from motionloom.formats.fbx.fbx_write_skin import bind_matrices, character_items, with_loose_joints
from motionloom.formats.figures import SLIDE_M, rest_world
from motionloom.formats.file_clip import FileClip
from motionloom.formats.keys import far_origin
from motionloom.formats.meshes import bone_mesh, inverse_frames
from motionloom.formats.text import end_names
from motionloom.motion.motion import Motion, Skeleton
from motionloom.rotation import quat

FARTHEST_M = 1e9
LONGEST_S = 1e5
USUAL_UNIT_M = 0.01
"""Metres per unit where nothing states a unit: FBX tools work in centimetres."""
REST_DECIMALS = 9
"""Digits of rest angles in degrees: on this grid reading and writing changes nothing."""
LINEAR_KEY = 0x6104
"""Linear; should a tool make it cubic, its tangents are automatic."""
KEY_DATA = np.array([0.0, 0.0, 0.0, 0.0], dtype="<f4")
KEY_VERSION = 4008
ANGLE_STEPS = 2.0**16
"""Parts of a degree: float32 holds every multiple up to 256 degrees, so files settle at once."""
_PLAIN_WEIGHTS = 3333 | 3333 << 16
_angle_columns = kernel("ml_channel_angles")
AXES: dict[str, tuple[tuple[int, int], tuple[int, int]]] = {
    "y": ((2, 1), (0, 1)),
    "z": ((1, -1), (0, 1)),
    "x": ((2, 1), (1, -1)),
    "-y": ((2, 1), (0, -1)),
    "-z": ((1, 1), (0, 1)),
    "-x": ((2, 1), (1, 1)),
}
"""For every up axis: front and right, each as axis and sign, so that all are right-handed."""


def write(clip: FileClip, stream: BinaryIO) -> None:
    """Write the clip as a binary FBX 7.4, with its character or a mesh that shows its bones."""
    stream.write(file_bytes(file_items(clip)))


def file_items(clip: FileClip) -> list[Item]:
    """All items of the file of a clip."""
    motion, unit_m = clip.motion, clip.unit_m or USUAL_UNIT_M
    _check(motion, unit_m)
    origin = far_origin(motion.root_positions, unit_m)
    # A reader gets the rest pose out of angles on a grid, so the meshes are bound to that one.
    turns = turn_of(rest_angles(motion.skeleton), "XYZ")
    pose = rest_world(motion.skeleton, origin, turns)
    scene = Scene(Keys())
    name = str(clip.clip or clip.detail.get("animation") or motion.name or "motion")
    joints = skeleton_items(scene, motion.skeleton, origin)
    sliding = sliding_joints(motion, SLIDE_M / unit_m)
    character = with_loose_joints(clip.character or _bones(motion, *pose, unit_m), sliding)
    bind_pose_items(scene, joints, *pose, bind_matrices(character))
    character_items(scene, character, joints)
    animation_items(scene, motion, joints, name, origin, sliding)
    return [
        *opening_items(scene, unit_m=unit_m, up=clip.up or "y", motion=motion),
        Item("Objects", (), scene.objects),
        Item("Connections", (), scene.links),
        *closing_items(motion, name),
    ]


def _check(motion: Motion, unit_m: float) -> None:
    skeleton, moving = motion.skeleton, motion.joint_translations
    lengths = (skeleton.offsets, skeleton.end_offsets, motion.root_positions, moving)
    farthest = FARTHEST_M / unit_m
    if any(np.abs(a).max(initial=0.0) > farthest for a in lengths if a is not None):
        raise FormatError(
            f"An FBX holds keys in single precision: everything must lie within {FARTHEST_M:g} m.",
            fix="Check the unit, or move the clip to the origin.",
        )
    if motion.duration_s > LONGEST_S:
        raise FormatError(
            f"An FBX clip may last {LONGEST_S:g} s, this one lasts {motion.duration_s:g} s.",
            fix="Check its frame rate.",
        )


def rest_angles(skeleton: Skeleton) -> FloatArray:
    """Euler angles of the rest pose, degrees, on a fine grid. Shape (J, 3)."""
    return np.asarray(np.round(angles_of(skeleton.rest_quats, "XYZ"), REST_DECIMALS) + 0.0)


def skeleton_items(scene: Scene, skeleton: Skeleton, origin: FloatArray) -> list[int]:
    """Add the bones; returns the _numbers of joints, then of end sites."""
    top = 0
    if origin.any():
        top = _model(scene, "figure", "Null", origin, np.zeros(3))
        scene.link(top, 0)
    angles = rest_angles(skeleton)
    joints: list[int] = []
    for j, name in enumerate(skeleton.names):
        place = skeleton.offsets[j] - origin if j == 0 else skeleton.offsets[j]
        joints.append(_model(scene, name, "LimbNode", place, angles[j]))
        scene.link(joints[j], top if j == 0 else joints[skeleton.parents[j]])
    for parent, offset, name in zip(
        skeleton.end_parents, skeleton.end_offsets, end_names(skeleton), strict=True
    ):
        key = _model(scene, name, "LimbNode", offset, np.zeros(3), is_end=True)
        scene.link(key, joints[parent])
        joints.append(key)
    return joints


def _model(
    scene: Scene,
    name: str,
    subtype: str,
    place: FloatArray,
    angles: FloatArray,
    *,
    is_end: bool = False,
) -> int:
    properties = [
        property_of("RotationActive", "bool", "", "", 1),
        property_of("InheritType", "enum", "", "", 1),
        property_of("ScalingMax", "Vector3D", "Vector", "", 0.0, 0.0, 0.0),
        property_of("DefaultAttributeIndex", "int", "Integer", "", 0),
        property_of("Lcl Translation", "Lcl Translation", "", "A", *_numbers(place)),
        property_of("Lcl Rotation", "Lcl Rotation", "", "A", *_numbers(angles)),
        property_of("Lcl Scaling", "Lcl Scaling", "", "A", 1.0, 1.0, 1.0),
    ]
    if is_end:
        properties.append(property_of(END_SITE, "bool", "", "U", 1))
    key = scene.add("Model", name, subtype, model_items(properties))
    size: list[Item] = []
    if subtype == "LimbNode":
        size = [Item("Properties70", (), [property_of("Size", "double", "Number", "", 10.0)])]
    flags = "Skeleton" if subtype == "LimbNode" else "Null"
    attribute = scene.add("NodeAttribute", name, subtype, [*size, Item("TypeFlags", (flags,))])
    scene.link(attribute, key)
    return key


def _numbers(values: FloatArray) -> list[float]:
    """Numbers of a property; adding zero makes -0.0 into 0.0."""
    return [float(value) for value in values + 0.0]


def _bones(motion: Motion, places: FloatArray, turns: FloatArray, unit_m: float) -> Character:
    """A mesh of long octahedra, one for each bone."""
    # The mesh is made in metres, for its shortest bones are a tenth of a millimetre.
    mesh = bone_mesh(motion.skeleton, unit_m * places, turns)
    n_joints = motion.skeleton.n_joints
    bound = SkinnedMesh(
        BONES,
        mesh.points / unit_m,
        mesh.triangles.astype(np.int64),
        mesh.owners[:, None],
        np.ones((len(mesh.owners), 1)),
        inverse_frames(places[:n_joints], turns[:n_joints]),
        np.full(len(mesh.triangles), -1),
    )
    return Character(BONES, motion, (bound,))


def bind_pose_items(
    scene: Scene, joints: list[int], places: FloatArray, turns: FloatArray, binds: FloatArray
) -> None:
    """Add the pose in which the meshes were bound.

    Parameters
    ----------
    scene, joints
        The file, and the numbers of joints and end sites in it.
    places, turns : (J + E, 3), (J + E, 4)
        Where they rest in the world.
    binds : (J, 16)
        Where the joints were bound: from each joint's frame into the world.
    """
    matrices = np.tile(np.eye(4), (len(places), 1, 1))
    matrices[:, :3, :3] = quat.to_matrix(turns).swapaxes(1, 2)
    matrices[:, 3, :3] = places
    matrices = matrices.reshape(-1, 16) + 0.0
    matrices[: len(binds)] = binds
    nodes: list[Any] = [
        Item("PoseNode", (), [Item("Node", (Long(key),)), Item("Matrix", (matrix,))])
        for key, matrix in zip(joints, matrices, strict=True)
    ]
    head = [
        Item("Type", ("BindPose",)),
        Item("Version", (100,)),
        Item("NbPoseNodes", (len(nodes),)),
    ]
    scene.add("Pose", "bind pose", "BindPose", [*head, *nodes])


def key_ticks(motion: Motion) -> npt.NDArray[np.int64]:
    """The time of every frame. Shape (F,)."""
    ticks = np.rint(np.arange(motion.n_frames) * (TICKS / motion.fps))
    return np.asarray(ticks.astype("<i8"))


def animation_items(
    scene: Scene,
    motion: Motion,
    joints: list[int],
    name: str,
    origin: FloatArray,
    sliding: list[int],
) -> None:
    """Add the keys of the motion: turns of all joints, places of the root and of sliding joints."""
    ticks = key_ticks(motion)
    ends = [
        property_of(f"{kind}{end}", "KTime", "Time", "", Long(value))
        for kind in ("Local", "Reference")
        for end, value in (("Start", 0), ("Stop", int(ticks[-1])))
    ]
    stack = scene.add("AnimationStack", name, "", [Item("Properties70", (), ends)])
    weight = property_of("Weight", "Number", "", "A", 100.0)
    layer = scene.add("AnimationLayer", "BaseLayer", "", [Item("Properties70", (), [weight])])
    scene.link(layer, stack)
    _curves(scene, layer, joints[0], "T", motion.root_positions - origin, ticks)
    angles = key_angles(motion)
    for j in range(motion.skeleton.n_joints):
        _curves(scene, layer, joints[j], "R", angles[:, j], ticks)
        if j in sliding and motion.joint_translations is not None:
            _curves(scene, layer, joints[j], "T", motion.joint_translations[:, j], ticks)


def sliding_joints(motion: Motion, slide: float) -> list[int]:
    """Joints below the root that move from their rest place by more than ``slide``."""
    moving = motion.joint_translations
    if moving is None:
        return []
    away = np.abs(moving.astype("<f4") - motion.skeleton.offsets).max(axis=(0, 2))
    return [j for j in range(1, motion.skeleton.n_joints) if away[j] > slide]


def key_angles(motion: Motion) -> FloatArray:
    """Euler angles of all joints without jumps, degrees, columns x, y, z. Shape (F, J, 3)."""
    n_frames, n_joints = motion.local_quats.shape[:2]
    rows = np.zeros((n_frames, 3 * n_joints))
    joints = np.arange(n_joints, dtype=np.int64)
    axes = np.tile(np.array([2, 1, 0], dtype=np.int64), (n_joints, 1))
    # The kernel gives angles in the order z, y, x of the turns; each goes to its own column.
    columns = 3 * joints[:, None] + np.array([2, 1, 0], dtype=np.int64)
    quats = np.ascontiguousarray(motion.local_quats)
    _angle_columns(
        n_frames, n_joints, quats, n_joints,
        joints, axes, columns, np.zeros((n_joints, 3)), 3 * n_joints, rows,
    )  # fmt: skip
    return np.round(rows * ANGLE_STEPS).reshape(n_frames, n_joints, 3) / ANGLE_STEPS


def _curves(
    scene: Scene,
    layer: int,
    model: int,
    kind: str,
    values: FloatArray,
    ticks: npt.NDArray[np.int64],
) -> None:
    """Add the three curves of a translation or a rotation of a model in a layer."""
    path = {"T": "Lcl Translation", "R": "Lcl Rotation"}[kind]
    keys = values.astype("<f4") + np.float32(0.0)
    first = [
        property_of(f"d|{axis}", "Number", "", "A", float(keys[0, column]))
        for column, axis in enumerate("XYZ")
    ]
    node = scene.add("AnimationCurveNode", kind, "", [Item("Properties70", (), first)])
    scene.link(node, layer)
    scene.link(node, model, path)
    data = KEY_DATA.copy()
    data.view("<i4")[2] = _PLAIN_WEIGHTS
    for column, axis in enumerate("XYZ"):
        curve = scene.add(
            "AnimationCurve",
            "",
            "",
            [
                Item("Default", (float(keys[0, column]),)),
                Item("KeyVer", (KEY_VERSION,)),
                Item("KeyTime", (ticks,)),
                Item("KeyValueFloat", (keys[:, column],)),
                Item("KeyAttrFlags", (np.array([LINEAR_KEY], "<i4"),)),
                Item("KeyAttrDataFloat", (data,)),
                Item("KeyAttrRefCount", (np.array([len(ticks)], "<i4"),)),
            ],
        )
        scene.link(curve, node, f"d|{axis}")


def opening_items(scene: Scene, *, unit_m: float, up: str, motion: Motion) -> list[Item]:
    """The sections before the objects."""
    return [
        Item(
            "FBXHeaderExtension",
            (),
            [
                Item("FBXHeaderVersion", (1003,)),
                Item("FBXVersion", (VERSION,)),
                Item("EncryptionType", (0,)),
                Item("Creator", (CREATOR,)),
            ],
        ),
        Item("FileId", (FILE_ID,)),
        Item("CreationTime", (CREATION_TIME,)),
        Item("Creator", (CREATOR,)),
        _settings(unit_m, up, motion),
        _documents(),
        Item("References"),
        _definitions(scene),
    ]


def _settings(unit_m: float, up: str, motion: Motion) -> Item:
    axis, sign = "xyz".index(up[-1]), -1 if up[0] == "-" else 1
    front, right = AXES[up]
    mode = next((mode for mode, fps in RATES.items() if fps == motion.fps), CUSTOM_MODE)
    stop = int(key_ticks(motion)[-1])
    numbers = {
        **{"UpAxis": axis, "UpAxisSign": sign, "FrontAxis": front[0], "FrontAxisSign": front[1]},
        **{"CoordAxis": right[0], "CoordAxisSign": right[1]},
        **{"OriginalUpAxis": axis, "OriginalUpAxisSign": sign},
    }
    properties = [
        *(property_of(name, "int", "Integer", "", value) for name, value in numbers.items()),
        property_of("UnitScaleFactor", "double", "Number", "", 100.0 * unit_m),
        property_of("OriginalUnitScaleFactor", "double", "Number", "", 100.0 * unit_m),
        property_of("AmbientColor", "ColorRGB", "Color", "", 0.0, 0.0, 0.0),
        property_of("DefaultCamera", "KString", "", "", "Producer Perspective"),
        property_of("TimeMode", "enum", "", "", mode),
        property_of("TimeSpanStart", "KTime", "Time", "", Long(0)),
        property_of("TimeSpanStop", "KTime", "Time", "", Long(stop)),
        property_of("CustomFrameRate", "double", "Number", "", float(motion.fps)),
    ]
    return Item(
        "GlobalSettings", (), [Item("Version", (1000,)), Item("Properties70", (), properties)]
    )


def _documents() -> Item:
    source = property_of("SourceObject", "object", "", "")
    inner = [Item("Properties70", (), [source]), Item("RootNode", (Long(0),))]
    document = Item("Document", (Long(FIRST_KEY - 1), "", "Scene"), inner)
    return Item("Documents", (), [Item("Count", (1,)), document])


def _definitions(scene: Scene) -> Item:
    counts = {"GlobalSettings": 1, **scene.counts}
    kinds = [Item("ObjectType", (kind,), [Item("Count", (n,))]) for kind, n in counts.items()]
    head = [Item("Version", (100,)), Item("Count", (sum(counts.values()),))]
    return Item("Definitions", (), [*head, *kinds])


def closing_items(motion: Motion, name: str) -> list[Item]:
    """The section after the connections: the take."""
    span = (Long(0), Long(int(key_ticks(motion)[-1])))
    take = [
        Item("FileName", (f"{name}.tak",)),
        Item("LocalTime", span),
        Item("ReferenceTime", span),
    ]
    return [Item("Takes", (), [Item("Current", (name,)), Item("Take", (name,), take)])]
