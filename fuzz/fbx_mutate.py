"""Ways to spoil an FBX by its structure: items are changed, and all lengths are right again."""

from __future__ import annotations

from typing import Any

import numpy as np

from fbx_forms import as_binary, as_text
from motionloom.formats.fbx.fbx_binary import MAGIC
from motionloom.formats.fbx.fbx_document import FbxDocument
from motionloom.formats.fbx.fbx_element import Element, StoredArray
from motionloom.formats.fbx.fbx_encode import Item, Long
from motionloom.formats.file_clip import ReadOptions

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
    *(
        "LimbNode",
        "Lcl Rotation",
        "Lcl Scaling",
        "d|X",
        "\x00\x01",
        "Model",
        b"",
        b"x",
        True,
        "é" * 90,
    ),
)
NUMBERS = (0.0, -1.0, 1.0, 1e-30, 1e30, np.nan, np.inf, 46186158000.0, 2.0**62, -(2.0**31), 264.0)


def items_of(data: bytes) -> list[Item]:
    """The items of a file that can be read, except those that readers skip."""
    document = FbxDocument(data, ReadOptions())

    def item(element: Element) -> Item:
        values = tuple(value(each, element) for each in element.values)
        return Item(element.name, values, [item(child) for child in element.children])

    def value(each: Any, element: Element) -> Any:
        if isinstance(each, StoredArray):
            if element.name == "KeyAttrDataFloat":
                return document.bits(element).view("<f4")
            numbers = document.numbers(element)
            kinds = {"KeyTime": "<i8", "KeyAttrFlags": "<i4", "KeyAttrRefCount": "<i4"}
            return numbers.astype(kinds.get(element.name, "<f4"))
        if isinstance(each, int) and not isinstance(each, bool):
            return Long(each)
        return b"" if each is None else each

    return [item(element) for element in document.top.children]


def change_fbx(rng: np.random.Generator, data: bytes) -> bytes:
    """Change one to four items of a file, and write it in any form."""
    items = items_of(data)
    for _ in range(int(rng.integers(1, 5))):
        _change(rng, items)
    form = int(rng.integers(4)) if data.startswith(MAGIC) else 3
    if form == 3 or rng.random() < 0.05:
        return as_text(items)
    version = int(rng.choice((7100, 7300, 7400, 7500, 7700)))
    return as_binary(items, version, deflated=form == 1)


def _change(rng: np.random.Generator, items: list[Item]) -> None:
    # Walk down to a random item.
    listed: Any = items
    while True:
        if not listed:
            return
        at = int(rng.integers(len(listed)))
        if not listed[at].items or rng.random() < 0.1:
            break
        listed = listed[at].items
    item = listed[at]
    kind = int(rng.integers(8))
    if kind == 0:
        del listed[at]
    elif kind == 1:
        listed.insert(int(rng.integers(len(listed) + 1)), item)
    elif kind == 2:
        other = int(rng.integers(len(listed)))
        listed[at], listed[other] = listed[other], item
    elif kind == 3 and item.values:
        values = item.values[: int(rng.integers(len(item.values)))]
        listed[at] = Item(item.name, values, item.items)
    elif kind == 4:
        name = str(rng.choice(["P", "C", "Model", "KeyTime", "a", "AnimationCurve", "x" * 9]))
        listed[at] = Item(name, item.values, item.items)
    elif item.values:
        _change_value(rng, listed, at)


def _change_value(rng: np.random.Generator, listed: list[Item], at: int) -> None:
    item = listed[at]
    values = list(item.values)
    which = int(rng.integers(len(values)))
    old = values[which]
    if isinstance(old, np.ndarray) and rng.random() < 0.8:
        array = old.copy()
        if rng.random() < 0.3:
            array = np.resize(array, int(rng.integers(0, 2 * len(array) + 2)))
        elif len(array):
            with np.errstate(all="ignore"):
                number = np.array(NUMBERS[int(rng.integers(len(NUMBERS)))])
                array[int(rng.integers(len(array)))] = number.astype(array.dtype)
        values[which] = array
    elif isinstance(old, Long) and rng.random() < 0.5:
        values[which] = Long(old.value + int(rng.integers(-3, 4)))  # another object
    else:
        values[which] = ODD[int(rng.integers(len(ODD)))]
    listed[at] = Item(item.name, tuple(values), item.items)
