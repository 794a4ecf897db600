"""A binary FBX 7.4 as it is written: objects with numbers, links between them, and their bytes."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from motionloom.formats.fbx.fbx_parse import HEAD_BYTES, MAGIC

VERSION = 7400
FILE_ID = bytes.fromhex("28b32aebb624ccc2bfc8b02aa92bfcf1")
"""Belongs to the creation time below, so that every file has the same."""
CREATION_TIME = "1970-01-01 10:00:00:000"
_HEAD = struct.Struct("<IIIB")
_FOOT = bytes.fromhex("fabcab09d0c8d466b176fb831cf7267e")
_LAST = bytes.fromhex("f85a8c6adef5d97eece90ce3758f290b")
_ARRAYS = {"<f4": b"f", "<f8": b"d", "<i8": b"l", "<i4": b"i"}
FIRST_KEY = 1_000_000
"""Number of the first object; the document has the one before."""
_CLASSES = {
    "AnimationStack": "AnimStack",
    "AnimationLayer": "AnimLayer",
    "AnimationCurveNode": "AnimCurveNode",
    "AnimationCurve": "AnimCurve",
    "Deformer": "SubDeformer",
}
CREATOR = "motionloom"
"""The head of a file by which a reader tells that motionloom wrote it."""
BONES = "bones"
"""The mesh that shows the skeleton where there is no skin."""


@dataclass(frozen=True, slots=True)
class Long:
    """A whole number of 64 bits: numbers of objects, and times."""

    value: int


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """A name, values, and items within it."""

    name: str
    values: tuple[Any, ...] = ()
    items: Sequence[Item] = ()


def property_of(name: str, kind: str, label: str, flags: str, *values: Any) -> Item:
    """One line of a list of properties."""
    return Item("P", (name, kind, label, flags, *values))


@dataclass(slots=True)
class Keys:
    """Numbers of objects, each given once."""

    last: int = FIRST_KEY - 1

    def take(self) -> int:
        """A new number."""
        self.last += 1
        return self.last


@dataclass(slots=True, eq=False)
class Scene:
    """Objects and links of a file that grows."""

    keys: Keys
    objects: list[Item] = field(default_factory=list)
    links: list[Item] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, kind: str, name: str, subtype: str, items: Sequence[Item]) -> int:
        """Add an object; returns its number."""
        key = self.keys.take()
        cls = "Deformer" if subtype == "Skin" else _CLASSES.get(kind, kind)
        values: tuple[Any, ...] = (Long(key), object_name(name, cls), subtype)
        self.objects.append(Item(kind, values, items))
        self.counts[kind] += 1
        return key

    def link(self, child: int, parent: int, name: str = "") -> None:
        """Connect an object to another one, or to a property of it."""
        kind: tuple[Any, ...] = ("OP" if name else "OO", Long(child), Long(parent))
        self.links.append(Item("C", (*kind, name) if name else kind))


def model_items(properties: list[Item]) -> list[Item]:
    """The items within a model."""
    return [
        Item("Version", (232,)),
        Item("Properties70", (), properties),
        Item("Shading", (True,)),
        Item("Culling", ("CullingOff",)),
    ]


def object_name(name: str, kind: str) -> str:
    """The name of an object as a binary file holds it."""
    return f"{name}\x00\x01{kind}"


def file_bytes(items: Sequence[Item]) -> bytes:
    """A whole file."""
    parts = [MAGIC + b"\x1a\x00" + struct.pack("<I", VERSION)]
    at = HEAD_BYTES
    for item in items:
        parts.append(_encoded(item, at))
        at += len(parts[-1])
    parts.append(bytes(_HEAD.size) + _FOOT)
    at += _HEAD.size + len(_FOOT)
    parts.append(bytes(-at % 16) + bytes(4) + struct.pack("<I", VERSION) + bytes(120) + _LAST)
    return b"".join(parts)


def _encoded(item: Item, at: int) -> bytes:
    """An item that begins at a byte; items nest a few levels deep."""
    name = item.name.encode("ascii")
    values = b"".join(_value(value) for value in item.values)
    start = at + _HEAD.size + len(name) + len(values)
    inner: list[bytes] = []
    end = start
    for each in item.items:
        inner.append(_encoded(each, end))
        end += len(inner[-1])
    if item.items or not item.values:
        inner.append(bytes(_HEAD.size))
        end += _HEAD.size
    head = _HEAD.pack(end, len(item.values), len(values), len(name))
    return b"".join([head, name, values, *inner])


def _value(value: Any) -> bytes:
    if isinstance(value, bool):
        return b"C" + bytes([value])
    if isinstance(value, Long):
        return b"L" + struct.pack("<q", value.value)
    if isinstance(value, int):
        return b"I" + struct.pack("<i", value)
    if isinstance(value, float):
        return b"D" + struct.pack("<d", value)
    if isinstance(value, str):
        text = value.encode("utf-8", "replace")
        return b"S" + struct.pack("<I", len(text)) + text
    if isinstance(value, bytes):
        return b"R" + struct.pack("<I", len(value)) + value
    array = np.ascontiguousarray(value)
    # Stored plainly: what deflating makes of it differs from one version of zlib to the next.
    head = struct.pack("<III", array.size, 0, array.nbytes)
    return _ARRAYS[array.dtype.str] + head + array.tobytes()
