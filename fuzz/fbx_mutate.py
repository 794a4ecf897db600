"""Ways to damage an FBX by its structure: items are changed, and all lengths are right again.

Items are dropped, doubled, moved, nested and renamed, connections go in circles, properties have
other types, arrays other lengths, types, counts and packings. What comes out is written in any
form, so that it gets deep into the reader.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from fbx_forms import Craft, Packed, as_binary, as_text, crafted
from motionloom.formats.fbx.fbx_document import FbxDocument
from motionloom.formats.fbx.fbx_parse import MAGIC, SKINNED, Element, StoredArray
from motionloom.formats.fbx.fbx_scene import Item, Long
from motionloom.formats.file_clip import ReadOptions

Random = np.random.Generator

ODD: tuple[Any, ...] = (
    *(
        Long(0),
        Long(-1),
        Long(1),
        Long(2),
        Long(7),
        Long(2**62),
        Long(-(2**63)),
        0,
        -1,
        3,
        2**31 - 1,
    ),
    *(0.0, -1.0, 1e-30, 1e11, 1e13, 1e300, float("nan"), float("inf"), "", "x", "OO", "OP", "Null"),
    *("LimbNode", "Lcl Rotation", "Lcl Scaling", "d|X", "\x00\x01", "Model", b"", b"x", True),
    *("é" * 90, np.zeros(3, "<f8"), np.zeros(0, "<i4"), np.ones(2, "<f4")),
)
NUMBERS = (0.0, -1.0, 1.0, 1e-30, 1e30, np.nan, np.inf, 46186158000.0, 2.0**62, -(2.0**31), 264.0)
NAMES = (
    *("P", "C", "Model", "KeyTime", "a", "AnimationCurve", "Properties70", "Objects", "x" * 9, ""),
    *(
        "AnimationLayer",
        "AnimationCurveNode",
        "Deformer",
        "Geometry",
        "KeyAttrFlags",
        "Connections",
    ),
)
PROPERTIES = (
    *("RotationOrder", "InheritType", "Lcl Scaling", "Lcl Translation", "PreRotation", "UpAxis"),
    *(
        "ScalingPivot",
        "RotationPivot",
        "UnitScaleFactor",
        "TimeMode",
        "CustomFrameRate",
        "LocalStop",
    ),
    *("Weight", "BlendMode", "Mute", "Solo", "UpAxisSign", "motionloom_end_site", "LocalStart"),
)
DTYPES = ("<f4", "<f8", "<i8", "<i4")
KINDS = {
    **{"KeyTime": "<i8", "KeyAttrFlags": "<i4", "KeyAttrRefCount": "<i4", "Materials": "<i4"},
    **{"PolygonVertexIndex": "<i4", "UVIndex": "<i4", "Indexes": "<i4", "Vertices": "<f8"},
    **{"Transform": "<f8", "TransformLink": "<f8", "Weights": "<f8", "Normals": "<f8"},
}
"""Numbers in arrays, by the name of the item; float32 in others."""
VERSIONS = (7100, 7300, 7499, 7500, 7700)


class Twig:
    """An item that can be changed."""

    __slots__ = ("items", "name", "values")

    def __init__(self, name: str, values: Any = (), items: Any = ()) -> None:
        self.name, self.values, self.items = name, list(values), [copied(each) for each in items]


def copied(item: Any) -> Twig:
    """An item and all within it, to be changed."""
    return Twig(item.name, item.values, item.items)


@cache
def small_scenes() -> tuple[list[Item], ...]:
    """A few good files with little in them: one or two joints, keys over a tenth of a second."""
    rng = np.random.default_rng(17)
    return tuple(
        crafted(
            rng,
            Craft(
                joints=1 + (n % 3 == 2),
                seconds=0.1,
                layers=1 + (n == 3),
                stacks=1 + (n == 5),
                inherit=n % 2 == 0,
                scale=n % 3 == 0,
                pivots=n % 2 == 1,
                null_above=n % 4 == 0,
                blend=n % 3,
                by_channel=n % 2 == 0,
                up=n % 3,
            ),
        )
        for n in range(8)
    )


def changed_scene(rng: Random, form: str, scenes: tuple[list[Item], ...] | None = None) -> bytes:
    """A small good file with one to four changes, as ``"text"`` or ``"binary"``."""
    scenes = scenes or small_scenes()
    items = [copied(item) for item in scenes[int(rng.integers(len(scenes)))]]
    for _ in range(1 + int(rng.integers(4)) * int(rng.random() < 0.5)):
        change(rng, items)
    if form == "text":
        return as_text(items)
    return as_binary(items, VERSIONS[int(rng.integers(5))], deflated=rng.random() < 0.4)


def items_of(data: bytes) -> list[Item]:
    """The items of a file that can be read, except those that readers skip."""
    document = FbxDocument(data, ReadOptions(), SKINNED)

    def item(element: Element) -> Item:
        values = tuple(value(each, element) for each in element.values)
        return Item(element.name, values, [item(child) for child in element.children])

    def value(each: Any, element: Element) -> Any:
        if isinstance(each, StoredArray) and each.kind == "r":
            return document.raw_bytes(element) or b""
        if isinstance(each, StoredArray):
            if each.kind == "r":
                return document.data[each.start : each.stop]
            if element.name == "KeyAttrDataFloat":
                return document.bits_of([element])[0].view("<f4")
            numbers = document.numbers(element)
            return numbers.astype(KINDS.get(element.name, "<f4"))
        if isinstance(each, int) and not isinstance(each, bool):
            return Long(each)
        return b"" if each is None else each

    return [item(element) for element in document.top.children]


def change_fbx(rng: Random, data: bytes) -> bytes:
    """Change one to four items of a file, and write it in any form."""
    items = [copied(item) for item in items_of(data)]
    for _ in range(int(rng.integers(1, 5))):
        change(rng, items)
    form = int(rng.integers(4)) if data.startswith(MAGIC) else 3
    if form == 3 or rng.random() < 0.05:
        return as_text(items)
    return as_binary(items, VERSIONS[int(rng.integers(5))], deflated=form == 1)


def change(rng: Random, items: list[Twig]) -> None:
    """One change somewhere in the items of a file."""
    listed = items
    while listed:  # walk down to a random item
        at = int(rng.integers(len(listed)))
        if not listed[at].items or rng.random() < 0.1:
            CHANGES[int(rng.integers(len(CHANGES)))](rng, listed, at, items)
            return
        listed = listed[at].items


def drop(_: Random, listed: list[Twig], at: int, __: list[Twig]) -> None:
    del listed[at]


def double(rng: Random, listed: list[Twig], at: int, _: list[Twig]) -> None:
    count = 1 if rng.random() < 0.9 else int(rng.integers(2, 60))
    place = int(rng.integers(len(listed) + 1))
    listed[place:place] = [listed[at]] * count


def swap(rng: Random, listed: list[Twig], at: int, _: list[Twig]) -> None:
    other = int(rng.integers(len(listed)))
    listed[at], listed[other] = listed[other], listed[at]


def move(rng: Random, listed: list[Twig], at: int, items: list[Twig]) -> None:
    """Into any other list of items; not into one within itself, which nobody could write."""
    item = listed.pop(at)
    target = items
    while target and rng.random() < 0.7:
        target = target[int(rng.integers(len(target)))].items
    target.insert(int(rng.integers(len(target) + 1)), copied(item))


def fewer_values(rng: Random, listed: list[Twig], at: int, _: list[Twig]) -> None:
    if listed[at].values:
        del listed[at].values[int(rng.integers(len(listed[at].values))) :]


def rename(rng: Random, listed: list[Twig], at: int, _: list[Twig]) -> None:
    listed[at].name = NAMES[int(rng.integers(len(NAMES)))]


def nest(rng: Random, listed: list[Twig], at: int, _: list[Twig]) -> None:
    """Put the item deep into others of its name."""
    for _ in range(int(2 ** rng.uniform(0.0, 6.5))):
        outer = Twig(listed[at].name, listed[at].values)
        outer.items.append(listed[at])
        listed[at] = outer


def add_property(rng: Random, listed: list[Twig], at: int, _: list[Twig]) -> None:
    name = PROPERTIES[int(rng.integers(len(PROPERTIES)))]
    values = [_odd(rng) for _ in range(int(rng.integers(4)))]
    listed.insert(at, Twig("P", [name, "double", "Number", "", *values]))


def relink(rng: Random, _: list[Twig], __: int, items: list[Twig]) -> None:
    """A connection to another object, to itself, the other way round, or to a property."""
    sections = {each.name: each for each in items}
    links = [each for each in getattr(sections.get("Connections"), "items", ()) if each.values]
    keys = [each.values[0] for each in getattr(sections.get("Objects"), "items", ()) if each.values]
    if not links or not keys:
        return
    link = links[int(rng.integers(len(links)))]
    kind = int(rng.integers(5))
    if kind == 0 and len(link.values) > 2:
        link.values[1], link.values[2] = link.values[2], link.values[1]
    elif kind == 1:
        key = keys[int(rng.integers(len(keys)))]
        sections["Connections"].items.append(Twig("C", ["OO", key, key]))
    elif kind == 2:
        pair = [keys[int(n)] for n in rng.integers(len(keys), size=2)]
        name = ("Lcl Rotation", "Lcl Translation", "d|X", "d|Y", "Weight")[int(rng.integers(5))]
        sections["Connections"].items.append(Twig("C", ["OP", *pair, name]))
    elif kind == 3:
        pair = [keys[int(n)] for n in rng.integers(len(keys), size=2)]
        sections["Connections"].items.append(Twig("C", ["OO", *pair]))
    else:
        place = min(1 + int(rng.integers(2)), len(link.values) - 1)
        link.values[place] = keys[int(rng.integers(len(keys)))]


def change_value(rng: Random, listed: list[Twig], at: int, _: list[Twig]) -> None:
    values = listed[at].values
    if not values:
        return
    which = int(rng.integers(len(values)))
    old = values[which]
    if isinstance(old, np.ndarray) and rng.random() < 0.9:
        values[which] = changed_array(rng, old)
    elif isinstance(old, Long) and rng.random() < 0.5:
        values[which] = Long(min(old.value + int(rng.integers(-3, 4)), 2**63 - 1))  # another object
    else:
        values[which] = _odd(rng)


def changed_array(rng: Random, old: np.ndarray) -> Any:
    """Other numbers, another length or type, or a packing that is wrong."""
    kind = int(rng.integers(6))
    array = old.copy()
    with np.errstate(all="ignore"):
        if kind == 0:
            return np.resize(array, int(rng.integers(0, 2 * len(array) + 2)))
        if kind == 1:
            return array.astype(DTYPES[int(rng.integers(4))])
        if kind == 2:
            return _packed(rng, array)
        if kind == 3:
            return rng.permutation(array)
        if len(array):
            number = np.array(NUMBERS[int(rng.integers(len(NUMBERS)))])
            if rng.random() < 0.5:
                array = array.astype("<f8")
            array[int(rng.integers(len(array)))] = number.astype(array.dtype)
    return array


def _packed(rng: Random, array: np.ndarray) -> Packed:
    """An array whose count, encoding or packed bytes are wrong."""
    raw, count, encoding = array.tobytes(), len(array), 1
    kind = int(rng.integers(7))
    if kind == 0:
        raw = zlib.compress(raw)[: -int(rng.integers(1, 12))]  # cut short
    elif kind == 1:
        packed = bytearray(zlib.compress(raw))
        packed[int(rng.integers(len(packed)))] ^= 1 << int(rng.integers(8))
        raw = bytes(packed)
    elif kind == 2:
        raw, count = zlib.compress(raw), int(2 ** rng.uniform(0.0, 32.0)) % 2**32
    elif kind == 3:
        raw = zlib.compress(bytes(int(10 ** rng.uniform(1.0, 5.5))))  # far more than is stated
    elif kind == 4:
        encoding, count = 0, int(2 ** rng.uniform(0.0, 32.0)) % 2**32
    elif kind == 5:
        encoding = int(rng.choice((2, 3, 255, 2**31)))
    else:
        raw += b"more"
    letter = "fdlibc"[int(rng.integers(6))] if rng.random() < 0.3 else ""
    return Packed(array, letter.encode(), count, encoding, raw)


def _odd(rng: Random) -> Any:
    return ODD[int(rng.integers(len(ODD)))]


CHANGES: tuple[Callable[[Random, list[Twig], int, list[Twig]], None], ...] = (
    *(drop, double, swap, move, fewer_values, rename, nest, add_property, relink, relink),
    *(change_value, change_value, change_value, change_value, change_value),
)
