"""FBX files for tests: any form of the same items, and scenes with every feature of a rig.

``as_text`` and ``as_binary`` write items as ASCII or as binary of any version; ``crafted`` builds
a random rig with pivots, rotation orders, inherit types, layers and all sorts of keys.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from motionloom.formats.fbx.fbx_objects import TICKS
from motionloom.formats.fbx.fbx_scene import Item, Keys, Long, Scene, file_bytes, property_of

ARRAYS = {"<f4": b"f", "<f8": b"d", "<i8": b"l", "<i4": b"i"}
VECTORS = (
    *("PreRotation", "PostRotation", "RotationOffset", "RotationPivot", "ScalingOffset"),
    "ScalingPivot",
)


@dataclass(frozen=True)
class Packed:
    """An array as it is stored, whose count, encoding and bytes need not fit."""

    array: np.ndarray
    letter: bytes
    """Its type; empty for that of the array."""
    count: int
    encoding: int
    raw: bytes

    @property
    def stored(self) -> bytes:
        """In a binary file."""
        head = struct.pack("<III", self.count, self.encoding, len(self.raw))
        return (self.letter or ARRAYS[self.array.dtype.str]) + head + self.raw


def as_text(items: Sequence[Item]) -> bytes:
    """An ASCII file."""
    lines = ["; FBX 7.4.0 project file", "; made for a test", ""]
    for item in items:
        _text_lines(item, "", lines)
    return ("\n".join(lines) + "\n").encode()


def _text_lines(item: Item, indent: str, lines: list[str]) -> None:
    arrays = [value for value in item.values if isinstance(value, np.ndarray | Packed)]
    if arrays:
        first = arrays[0]
        array = first.array if isinstance(first, Packed) else first
        size = first.count if isinstance(first, Packed) else first.size
        lines.append(f"{indent}{item.name}: *{size} {{")
        lines.append(f"{indent}\ta: {_numbers(array, item.name)}")
        lines.append(f"{indent}}}")
        return
    values = [_text_value(value) for value in item.values if not isinstance(value, bytes)]
    head = f"{indent}{item.name}: {','.join(values)}"
    if not item.items and values:
        lines.append(head)
        return
    lines.append(f"{head} {{")
    for each in item.items:
        _text_lines(each, indent + "\t", lines)
    lines.append(f"{indent}}}")


def _numbers(array: np.ndarray, name: str) -> str:
    if name == "KeyAttrDataFloat" and array.dtype.str == "<f4":  # whole numbers of the same bits
        return ",".join(str(v) for v in array.view("<i4"))
    if array.dtype.kind == "i":
        return ",".join(str(v) for v in array)
    return ",".join(repr(float(v)) for v in array)


def _text_value(value: Any) -> str:
    if isinstance(value, bool):
        return "Y" if value else "N"
    if isinstance(value, Long):
        return str(value.value)
    if isinstance(value, str):
        name, mark, kind = value.partition("\x00\x01")
        text = f"{kind}::{name}" if mark else value
        return '"' + text.replace('"', "&quot;") + '"'
    return repr(value)


def as_binary(items: Sequence[Item], version: int = 7400, *, deflated: bool = False) -> bytes:
    """A binary file of any version, with 64-bit places from 7.5 on."""
    if version == 7400 and not deflated:
        return file_bytes(items)
    head = struct.Struct("<QQQB" if version >= 7500 else "<IIIB")
    data = b"Kaydara FBX Binary  \x00\x1a\x00" + struct.pack("<I", version)
    for item in items:
        data += _binary(item, len(data), head, deflated)
    return data + bytes(head.size) + bytes(160)


def _binary(item: Item, at: int, head: struct.Struct, deflated: bool) -> bytes:
    name = item.name.encode()
    values = b"".join(_binary_value(value, deflated) for value in item.values)
    inner, end = [], at + head.size + len(name) + len(values)
    for each in item.items:
        inner.append(_binary(each, end, head, deflated))
        end += len(inner[-1])
    if item.items or not item.values:
        inner.append(bytes(head.size))
        end += head.size
    return b"".join(
        [head.pack(end, len(item.values), len(values), len(name)), name, values, *inner]
    )


def _wrapped(value: int, bits: int) -> int:
    """A whole number as so many bits hold it."""
    return (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def _binary_value(value: Any, deflated: bool) -> bytes:
    if isinstance(value, bool):
        return b"C" + bytes([value])
    if isinstance(value, Long):
        return b"L" + struct.pack("<q", _wrapped(value.value, 64))
    if isinstance(value, int):
        return b"I" + struct.pack("<i", _wrapped(value, 32))
    if isinstance(value, float):
        return b"D" + struct.pack("<d", value)
    if isinstance(value, str | bytes):
        raw = value.encode() if isinstance(value, str) else value
        return (b"S" if isinstance(value, str) else b"R") + struct.pack("<I", len(raw)) + raw
    if isinstance(value, Packed):
        return value.stored
    raw = np.ascontiguousarray(value).tobytes()
    packed = zlib.compress(raw) if deflated else raw
    return (
        ARRAYS[value.dtype.str]
        + struct.pack("<III", value.size, int(deflated), len(packed))
        + packed
    )


@dataclass
class Craft:
    """Which features a crafted rig has."""

    joints: int = 6
    seconds: float = 1.0
    pivots: bool = True
    orders: bool = True
    inherit: bool = False
    scale: bool = False
    layers: int = 1
    blend: int = 0
    """0 additive, 1 override, 2 override with a share."""
    by_channel: bool = False
    null_above: bool = True
    keys: str = "mixed"
    """One of FLAGS, or ``mixed``."""
    stacks: int = 1
    up: int = 1


def crafted(rng: np.random.Generator, craft: Craft) -> list[Item]:
    """All items of a file with a random rig."""
    scene = Scene(Keys())
    top = 0
    if craft.null_above:
        top = _node(scene, rng, craft, "Armature", "Null", (0.0, 0.0, 0.0))
        scene.link(top, 0)
    keys: list[int] = []
    for j in range(craft.joints):
        place = rng.uniform(-30.0, 30.0, 3).round(3)
        kind = "Null" if 0 < j < craft.joints - 1 and rng.random() < 0.15 else "LimbNode"
        keys.append(_node(scene, rng, craft, f"joint{j}", kind, tuple(place)))
        parent = top if j == 0 else keys[int(rng.integers(max(0, j - 3), j))]
        scene.link(keys[j], parent)
    for s in range(craft.stacks):
        _stack(scene, rng, craft, keys if not top else [top, *keys], s)
    counts = [
        Item("ObjectType", (kind,), [Item("Count", (n,))]) for kind, n in scene.counts.items()
    ]
    return [
        Item("FBXHeaderExtension", (), [Item("FBXVersion", (7400,))]),
        _settings(craft),
        Item("Definitions", (), [Item("Version", (100,)), *counts]),
        Item("Objects", (), scene.objects),
        Item("Connections", (), scene.links),
    ]


def _settings(craft: Craft) -> Item:
    front, right = {0: ((2, 1), (1, -1)), 1: ((2, 1), (0, 1)), 2: ((1, -1), (0, 1))}[craft.up]
    numbers = {
        "UpAxis": craft.up, "UpAxisSign": 1, "FrontAxis": front[0], "FrontAxisSign": front[1],
        "CoordAxis": right[0], "CoordAxisSign": right[1], "TimeMode": 6,
    }  # fmt: skip
    listed = [property_of(name, "int", "Integer", "", n) for name, n in numbers.items()]
    listed.append(property_of("UnitScaleFactor", "double", "Number", "", 1.0))
    return Item("GlobalSettings", (), [Item("Properties70", (), listed)])


def _node(
    scene: Scene,
    rng: np.random.Generator,
    craft: Craft,
    name: str,
    kind: str,
    place: tuple[float, ...],
) -> int:
    angles = [float(v) for v in rng.uniform(-90, 90, 3).round(3)]
    listed = [
        property_of("RotationActive", "bool", "", "", 1),
        property_of("Lcl Translation", "Lcl Translation", "", "A", *(float(v) for v in place)),
        property_of("Lcl Rotation", "Lcl Rotation", "", "A", *angles),
    ]
    if craft.orders:
        listed.append(property_of("RotationOrder", "enum", "", "", int(rng.integers(6))))
    inherit = int(rng.integers(3)) if craft.inherit else 1
    listed.append(property_of("InheritType", "enum", "", "", inherit))
    if craft.scale:
        size = float(rng.choice([1.0, 0.5, 2.0, 1.3]))
        listed.append(property_of("Lcl Scaling", "Lcl Scaling", "", "A", size, size, size))
    if craft.pivots:
        for vector in VECTORS:
            values = (float(v) for v in rng.uniform(-20, 20, 3).round(3))
            if rng.random() < 0.5:
                listed.append(property_of(vector, "Vector3D", "Vector", "", *values))
    return scene.add("Model", name, kind, [Item("Properties70", (), listed)])


def _stack(
    scene: Scene, rng: np.random.Generator, craft: Craft, models: list[int], number: int
) -> None:
    stop = property_of("LocalStop", "KTime", "Time", "", Long(round(craft.seconds * TICKS)))
    name = f"Take {number:03d}"
    stack = scene.add("AnimationStack", name, "", [Item("Properties70", (), [stop])])
    for n in range(craft.layers):
        listed = [property_of("Weight", "Number", "", "A", 100.0 if n == 0 else 35.0 + 20 * n)]
        listed.append(property_of("BlendMode", "enum", "", "", craft.blend))
        accumulation = int(craft.by_channel)
        listed.append(property_of("RotationAccumulationMode", "enum", "", "", accumulation))
        layer = scene.add("AnimationLayer", f"layer{n}", "", [Item("Properties70", (), listed)])
        scene.link(layer, stack)
        for model in models:
            for path, size in (("Lcl Rotation", 60.0), ("Lcl Translation", 15.0)):
                if path == "Lcl Translation" and rng.random() < 0.6:
                    continue
                node = scene.add("AnimationCurveNode", path[4:5], "", [])
                scene.link(node, layer)
                scene.link(node, model, path)
                for axis in "XYZ":
                    curve = scene.add("AnimationCurve", "", "", _curve(rng, craft, size))
                    scene.link(curve, node, f"d|{axis}")


FLAGS = {
    "constant": 0x2,
    "linear": 0x4,
    "user": 0x408,
    "weighted": 0x03000408 | 0x800,
    "auto": 0x108,
    "smooth": 0x2108,
    "clamped": 0x1108,
    "progressive": 0x6108,
    "tcb": 0x208,
}


def _curve(rng: np.random.Generator, craft: Craft, size: float) -> list[Item]:
    frames = round(craft.seconds * 30)
    inner = np.sort(rng.choice(np.arange(1, frames), min(4, frames - 1), replace=False))
    times = np.array([0, *inner, frames]) * (TICKS // 30)
    n = len(times)
    kinds = list(FLAGS) if craft.keys == "mixed" else craft.keys.split()
    flags = np.array([FLAGS[str(rng.choice(kinds))] for _ in range(n)], "<i4")
    data = np.zeros((n, 4), "<f4")
    tcb = (flags & 0x200) > 0
    data[:, :2] = rng.uniform(-3.0 * size, 3.0 * size, (n, 2))
    data[tcb, :3] = rng.uniform(-0.5, 0.5, (int(tcb.sum()), 3))
    auto = (flags & 0x100) > 0
    data[auto] = 0.0
    data[:-1, 1][auto[1:]] = 0.0  # there a bias stands, which readers leave out
    weights = rng.integers(800, 9000, (n, 2))
    packed = (weights[:, 0] | weights[:, 1] << 16).astype("<i4")
    data.view("<i4")[~tcb, 2] = packed[~tcb]
    return [
        Item("KeyVer", (4008,)),
        Item("KeyTime", (times.astype("<i8"),)),
        Item("KeyValueFloat", (rng.uniform(-size, size, n).astype("<f4"),)),
        Item("KeyAttrFlags", (flags,)),
        Item("KeyAttrDataFloat", (data.reshape(-1),)),
        Item("KeyAttrRefCount", (np.ones(n, "<i4"),)),
    ]
