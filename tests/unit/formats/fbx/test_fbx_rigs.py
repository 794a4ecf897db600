"""FBX rigs: transforms compared with the plain product of matrices, layouts of known tools."""

from __future__ import annotations

import io
import math

import numpy as np
import pytest

from fuzz.fbx_forms import Craft, as_binary, as_text, crafted
from motionloom.errors import FormatError
from motionloom.formats.fbx import fbx
from motionloom.formats.fbx.fbx_objects import TICKS
from motionloom.formats.fbx.fbx_scene import Item, Keys, Long, Scene, property_of
from motionloom.formats.file_clip import FileClip, ReadOptions

ORDERS = ("XYZ", "XZY", "YZX", "YXZ", "ZXY", "ZYX")


def axis_turn(axis: str, degrees: float) -> np.ndarray:
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    m = np.eye(4)
    i, j = {"X": (1, 2), "Y": (2, 0), "Z": (0, 1)}[axis]
    m[i, i], m[i, j], m[j, i], m[j, j] = c, -s, s, c
    return m


def turn(angles: tuple[float, ...], order: str) -> np.ndarray:
    m = np.eye(4)
    for axis in order:  # the first axis turns first, so it stands last in the product
        m = axis_turn(axis, angles["XYZ".index(axis)]) @ m
    return m


def move(v: tuple[float, ...]) -> np.ndarray:
    m = np.eye(4)
    m[:3, 3] = v
    return m


def local(values: dict[str, tuple[float, ...]], order: str) -> np.ndarray:
    """The transform of a node as the documentation of FBX writes it down."""
    zero = (0.0, 0.0, 0.0)
    pivot, scaling_pivot = values.get("RotationPivot", zero), values.get("ScalingPivot", zero)
    scale = np.diag([*values.get("Lcl Scaling", (1.0, 1.0, 1.0)), 1.0])
    parts = [
        move(values.get("Lcl Translation", zero)),
        move(values.get("RotationOffset", zero)),
        move(pivot),
        turn(values.get("PreRotation", zero), "XYZ"),
        turn(values.get("Lcl Rotation", zero), order),
        np.linalg.inv(turn(values.get("PostRotation", zero), "XYZ")),
        np.linalg.inv(move(pivot)),
        move(values.get("ScalingOffset", zero)),
        move(scaling_pivot),
        scale,
        np.linalg.inv(move(scaling_pivot)),
    ]
    return np.linalg.multi_dot(parts)


def model(scene: Scene, name: str, kind: str, parent: int, **values: object) -> int:
    listed = [
        property_of(key.replace("_", " "), "Vector3D", "", "", *value)
        if isinstance(value, tuple)
        else property_of(key, "enum", "", "", value)
        for key, value in values.items()
    ]
    key = scene.add("Model", name, kind, [Item("Properties70", (), listed)])
    scene.link(key, parent)
    return key


def curve(scene: Scene, node: int, axis: str, seconds: list[float], values: list[float]) -> None:
    key = scene.add(
        "AnimationCurve",
        "",
        "",
        [
            Item("KeyTime", (np.rint(np.array(seconds) * TICKS).astype("<i8"),)),
            Item("KeyValueFloat", (np.array(values, "<f4"),)),
            Item("KeyAttrFlags", (np.array([4], "<i4"),)),
            Item("KeyAttrDataFloat", (np.zeros(4, "<f4"),)),
            Item("KeyAttrRefCount", (np.array([len(values)], "<i4"),)),
        ],
    )
    scene.link(key, node, f"d|{axis}")


def animate(
    scene: Scene, target: int, path: str, seconds: list[float], values: list[float], take: str
) -> None:
    """A stack that moves one property of a model along X."""
    stack = scene.add("AnimationStack", take, "", [])
    layer = scene.add("AnimationLayer", "base", "", [])
    scene.link(layer, stack)
    node = scene.add("AnimationCurveNode", "T", "", [])
    scene.link(node, layer)
    scene.link(node, target, path)
    curve(scene, node, "X", seconds, values)


def whole(scene: Scene, **settings: object) -> list[Item]:
    listed = [
        property_of(name, "double" if isinstance(value, float) else "int", "", "", value)
        for name, value in settings.items()
    ]
    return [
        Item("FBXHeaderExtension", (), [Item("FBXVersion", (7400,))]),
        Item("GlobalSettings", (), [Item("Properties70", (), listed)]),
        Item("Objects", (), scene.objects),
        Item("Connections", (), scene.links),
    ]


def read(items: list[Item], clip: str | None = None) -> FileClip:
    return fbx.read(io.BytesIO(as_binary(items)), ReadOptions(clip=clip))


@pytest.mark.parametrize("number", range(6))
def test_a_node_stands_where_the_product_of_matrices_has_it(number: int) -> None:
    rng = np.random.default_rng(number)
    names = (
        *("Lcl_Translation", "Lcl_Rotation", "PreRotation", "PostRotation", "RotationOffset"),
        *("RotationPivot", "ScalingOffset", "ScalingPivot"),
    )
    scene, world, places = Scene(Keys()), np.eye(4), []
    parent = 0
    for j in range(4):
        values = {name: tuple(rng.uniform(-60, 60, 3).round(2)) for name in names}
        size = float(rng.choice([0.5, 1.0, 2.0]))
        values["Lcl_Scaling"] = (size, size, size)
        parent = model(scene, f"bone{j}", "LimbNode", parent, RotationOrder=number, **values)
        plain = {name.replace("_", " "): value for name, value in values.items()}
        world = world @ local(plain, ORDERS[number])
        places.append(world[:3, 3])
    clip = read(whole(scene))
    assert np.abs(clip.motion.world_positions()[0] - places).max() < 1e-9


def test_scale_of_a_parent_stops_where_the_inherit_type_stops_it() -> None:
    """Rrs (2), as Maya writes it for joints with segment scale compensation."""
    gaps = {}
    for inherit in (0, 1, 2):
        scene = Scene(Keys())
        size, step = (2.0, 2.0, 2.0), (1.0, 0.0, 0.0)
        a = model(scene, "a", "LimbNode", 0, Lcl_Scaling=size)
        b = model(scene, "b", "LimbNode", a, Lcl_Translation=step, InheritType=inherit)
        model(scene, "c", "LimbNode", b, Lcl_Translation=step)
        gaps[inherit] = read(whole(scene)).motion.world_positions()[0, :, 0].tolist()
    assert gaps == {0: [0.0, 2.0, 4.0], 1: [0.0, 2.0, 4.0], 2: [0.0, 2.0, 3.0]}


def mixamo() -> Scene:
    """Hips under the scene, joints with pre-rotations, an end joint, a mesh next to them."""
    scene = Scene(Keys())
    hips = model(scene, "mixamorig:Hips", "LimbNode", 0, Lcl_Translation=(0.0, 99.0, 0.0))
    leg = model(
        scene, "mixamorig:LeftUpLeg", "LimbNode", hips,
        Lcl_Translation=(9.0, -5.0, 0.0), PreRotation=(0.0, 0.0, 180.0),
    )  # fmt: skip
    model(scene, "mixamorig:LeftLeg", "LimbNode", leg, Lcl_Translation=(0.0, 40.0, 0.0))
    model(scene, "Beta_Surface", "Mesh", 0)
    animate(scene, hips, "Lcl Translation", [0.0, 1 / 30, 2 / 30], [0.0, 1.0, 2.0], "mixamo.com")
    return scene


def test_mixamo_hips_under_the_scene_and_a_mesh_next_to_them() -> None:
    clip = read(whole(mixamo(), UpAxis=1, UnitScaleFactor=1.0, TimeMode=6))
    names = ("mixamorig:Hips", "mixamorig:LeftUpLeg", "mixamorig:LeftLeg")
    assert clip.motion.skeleton.names == names
    assert (clip.unit_m, clip.up, clip.motion.fps, clip.motion.n_frames) == (0.01, "y", 30.0, 3)
    assert np.allclose(clip.motion.world_positions()[1, 2], [10.0, 54.0, 0.0])


def test_a_null_above_the_bones_is_folded_into_the_root() -> None:
    """Blender and Rokoko: an armature that is turned by a quarter and scaled by 100."""
    scene = Scene(Keys())
    armature = model(
        scene, "Armature", "Null", 0, Lcl_Rotation=(-90.0, 0.0, 0.0),
        Lcl_Scaling=(100.0, 100.0, 100.0),
    )  # fmt: skip
    hips = model(scene, "Hips", "LimbNode", armature, Lcl_Translation=(0.0, 0.0, 1.0))
    model(scene, "Spine", "LimbNode", hips, Lcl_Translation=(0.0, 0.0, 0.5))
    clip = read(whole(scene))
    assert clip.motion.skeleton.names == ("Hips", "Spine")
    assert np.allclose(clip.motion.world_positions()[0], [[0, 100, 0], [0, 150, 0]])


def test_nulls_between_bones_and_above_several_are_joints() -> None:
    """MotionBuilder: a reference Null with hips and props, a Null inside a limb."""
    scene = Scene(Keys())
    top = model(scene, "Reference", "Null", 0)
    hips = model(scene, "Hips", "LimbNode", top, Lcl_Translation=(0.0, 90.0, 0.0))
    roll = model(scene, "Roll", "Null", hips, Lcl_Translation=(0.0, 10.0, 0.0))
    model(scene, "Spine", "LimbNode", roll, Lcl_Translation=(0.0, 10.0, 0.0))
    model(scene, "Prop", "LimbNode", top, Lcl_Translation=(50.0, 0.0, 0.0))
    clip = read(whole(scene))
    assert clip.motion.skeleton.names == ("Reference", "Hips", "Roll", "Spine", "Prop")
    assert np.allclose(clip.motion.world_positions()[0, 3], [0, 110, 0])


def test_nodes_without_bones_are_the_animated_ones() -> None:
    scene = Scene(Keys())
    hips = model(scene, "Hips", "Null", 0)
    model(
        scene, "Knee", "Null", model(scene, "Leg", "Null", hips, Lcl_Translation=(0.0, -5.0, 0.0))
    )
    animate(scene, hips, "Lcl Rotation", [0.0, 0.5], [0.0, 90.0], "Take")
    assert read(whole(scene)).motion.skeleton.names == ("Hips", "Leg")


def test_stacks_are_picked_by_name_or_number() -> None:
    scene = mixamo()
    hips = scene.objects[0].values[0]
    assert isinstance(hips, Long)
    animate(scene, hips.value, "Lcl Translation", [0.0, 1.0], [5.0, 6.0], "run")
    items = whole(scene, TimeMode=6)
    assert read(items).clips == ("mixamo.com", "run")
    assert read(items, "run").motion.n_frames == 31
    assert read(items, "1").motion.root_positions[-1, 0] == 6.0
    with pytest.raises(FormatError, match="no clip called 'jump'"):
        read(items, "jump")


@pytest.mark.parametrize(("axis", "letter"), [(0, "x"), (1, "y"), (2, "z")])
def test_the_up_axis_is_that_of_the_file(axis: int, letter: str) -> None:
    items = crafted(np.random.default_rng(0), Craft(up=axis))
    assert read(items).up == letter


def test_left_handed_axes_are_read_mirrored() -> None:
    scene = Scene(Keys())
    a = model(scene, "a", "LimbNode", 0, Lcl_Translation=(1.0, 0.0, 0.0))
    model(scene, "b", "LimbNode", a, Lcl_Translation=(1.0, 2.0, 3.0))
    axes = {"UpAxis": 1, "FrontAxis": 2, "FrontAxisSign": -1, "CoordAxis": 0}
    clip = read(whole(scene, **axes))
    assert np.allclose(clip.motion.world_positions()[0], [[-1, 0, 0], [-2, 2, 3]])
    assert "left-handed" in " ".join(finding.problem for finding in clip.findings)


def test_ascii_and_every_binary_form_read_alike() -> None:
    items = crafted(np.random.default_rng(9), Craft(layers=2))
    forms = [as_binary(items), as_binary(items, 7100), as_binary(items, 7700, deflated=True)]
    forms += [
        as_text(items),
        as_text(items).replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + as_text(items),
    ]
    motions = [fbx.read(io.BytesIO(data), ReadOptions()).motion for data in forms]
    for motion in motions[1:]:
        assert np.array_equal(motion.local_quats, motions[0].local_quats)
        assert np.array_equal(motion.root_positions, motions[0].root_positions)
    assert all(fbx.sniff(data[:4096]) for data in forms)


def test_scale_that_changes_in_time_is_reported() -> None:
    scene = mixamo()
    hips = scene.objects[0].values[0]
    stack_of_scale = Scene(scene.keys, scene.objects, scene.links, scene.counts)
    animate(stack_of_scale, hips.value, "Lcl Scaling", [0.0, 1.0], [1.0, 2.0], "grow")
    clip = read(whole(scene), "grow")
    assert "Scale keys change in time" in " ".join(finding.problem for finding in clip.findings)
