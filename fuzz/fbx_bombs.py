"""FBX files of ``bombs.py``: small ones that ask for much, large ones that hold little."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bomb_files import bomb, file_of, repeated
from fbx_forms import Craft, as_binary, as_text, crafted
from motionloom.formats.fbx.fbx_objects import TICKS
from motionloom.formats.fbx.fbx_scene import Item, Keys, Long, Scene
from seeds import small_motion

HEAD = "; FBX 7.4.0 project file\nFBXHeaderExtension: {\n\tFBXVersion: 7400\n}\n"


def curve(times: np.ndarray, values: np.ndarray) -> list[Item]:
    return [
        Item("KeyTime", (times.astype("<i8"),)),
        Item("KeyValueFloat", (values.astype("<f4"),)),
        Item("KeyAttrFlags", (np.array([0x03000408], "<i4"),)),
        Item("KeyAttrDataFloat", (np.array([1.0, 2.0, 0.0, 0.0], "<f4"),)),
        Item("KeyAttrRefCount", (np.array([len(times)], "<i4"),)),
    ]


def shared(joints: int, layers: int, keys: list[Item]) -> list[Item]:
    """Joints in many layers that all share one curve."""
    scene = Scene(Keys())
    bones = [scene.add("Model", f"b{j}", "LimbNode", []) for j in range(joints)]
    for j in range(1, joints):
        scene.link(bones[j], bones[j - 1 if j % 50 else 0])
    stack = scene.add("AnimationStack", "s", "", [])
    one = scene.add("AnimationCurve", "", "", keys)
    for n in range(layers):
        layer = scene.add("AnimationLayer", f"l{n}", "", [])
        scene.link(layer, stack)
        for bone in bones:
            node = scene.add("AnimationCurveNode", "R", "", [])
            scene.link(node, layer)
            scene.link(node, bone, "Lcl Rotation")
            for axis in "XYZ":
                scene.link(one, node, f"d|{axis}")
    return [Item("Objects", (), scene.objects), Item("Connections", (), scene.links)]


@bomb("fbx layers that share one curve")
def fbx_layers(folder: Path, scale: float) -> Path:
    n = int(3000 * scale) + 2
    keys = curve(np.arange(n) * (TICKS // 30), np.linspace(0, 90, n))
    return file_of(folder / "a.fbx", [as_binary(shared(300, 30, keys))])


@bomb("fbx keys that ask for many frames")
def fbx_frames(folder: Path, scale: float) -> Path:
    keys = curve(np.array([0, 1, int(900_000 * scale)]) * TICKS, np.zeros(3))
    return file_of(folder / "a.fbx", [as_binary(shared(40, 1, keys))])


@bomb("fbx of packed zeros")
def fbx_zeros(folder: Path, scale: float) -> Path:
    n = int(4e7 * scale)
    keys = curve(np.zeros(n), np.zeros(n))
    return file_of(folder / "a.fbx", [as_binary(shared(3, 1, keys), 7700, deflated=True)])


@bomb("fbx of bare elements")
def fbx_elements(folder: Path, scale: float) -> Path:
    inner = [Item("", (1,))] * int(8e5 * scale)
    model = Item("Model", (Long(1), "a", "LimbNode"), inner)
    return file_of(folder / "a.fbx", [as_binary([Item("Objects", (), [model])])])


@bomb("fbx of many bones")
def fbx_bones(folder: Path, scale: float) -> Path:
    scene = Scene(Keys())
    for j in range(int(1e5 * scale)):
        scene.link(scene.add("Model", f"b{j}", "LimbNode", []), 0)
    items = [Item("Objects", (), scene.objects), Item("Connections", (), scene.links)]
    return file_of(folder / "a.fbx", [as_binary(items)])


@bomb("fbx text of comments")
def fbx_comments(folder: Path, scale: float) -> Path:
    return repeated(folder / "a.fbx", HEAD + "Objects: {\n", ";\n", 1e7 * scale, "}\n")


@bomb("fbx text of short elements")
def fbx_short(folder: Path, scale: float) -> Path:
    first = HEAD + 'Objects: {\nModel: 1,"a","LimbNode" {\n'
    return repeated(folder / "a.fbx", first, "P: 1\n", 3e6 * scale, "}\n}\n")


@bomb("fbx text of many values")
def fbx_values(folder: Path, scale: float) -> Path:
    first = HEAD + 'Objects: {\nModel: 1,"a","LimbNode" {\nP: '
    return repeated(folder / "a.fbx", first, "1,", 1e7 * scale, "1\n}\n}\n")


@bomb("fbx text of values that are skipped")
def fbx_skipped(folder: Path, scale: float) -> Path:
    return repeated(folder / "a.fbx", HEAD + "Extra: ", "1,", 1e7 * scale, "1\n")


@bomb("fbx text of a long array")
def fbx_array(folder: Path, scale: float) -> Path:
    items = shared(3, 1, [])
    data = as_text(items)
    n = int(1e7 * scale)
    times = b"KeyTime: *%d {\na: %s0\n}\n" % (n + 1, b"0," * n)
    mark = b'"AnimCurve::",""'
    return file_of(
        folder / "a.fbx", [HEAD.encode(), data.replace(mark, mark + b" {\n" + times + b"}")]
    )


@bomb("fbx long good file")
def fbx_good(folder: Path, scale: float) -> Path:
    import motionloom as ml

    motion = small_motion(int(40_000 * scale) + 2)
    ml.save(motion, folder / "a.fbx")
    return folder / "a.fbx"


@bomb("fbx text of a crafted rig")
def fbx_crafted(folder: Path, scale: float) -> Path:
    items = crafted(np.random.default_rng(0), Craft(joints=int(150 * scale) + 2, layers=3))
    return file_of(folder / "a.fbx", [as_text(items)])
