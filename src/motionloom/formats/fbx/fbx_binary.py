"""The binary form of FBX: records with the byte at which each ends, 32 or 64 bits wide."""

from __future__ import annotations

import struct
from typing import Any, NoReturn

from motionloom.errors import FormatError
from motionloom.formats.fbx.fbx_element import (
    ELEMENT_BYTES,
    ELEMENTS_AT_ONCE,
    MAX_DEPTH,
    MAX_VALUES,
    OBJECTS,
    VALUE_BYTES,
    Element,
    StoredArray,
    is_read,
)
from motionloom.reading.size_limits import Budget

MAGIC = b"Kaydara FBX Binary  \x00"
HEAD_BYTES = 27
WIDE_FROM = 7500
"""From this version on, places in the file have 64 bits."""
ITEM_BYTES = {"f": 4, "d": 8, "l": 8, "i": 4, "b": 1, "c": 1}

_NUMBERS = {
    ord(letter): struct.Struct(form)
    for letter, form in {
        **{"Y": "<h", "C": "<B", "B": "<B", "Z": "<b"},
        **{"I": "<i", "F": "<f", "D": "<d", "L": "<q"},
    }.items()
}
_ARRAYS = {ord(letter): letter for letter in ITEM_BYTES}
_ARRAY_HEAD = struct.Struct("<III")
LONGEST_FOOTER = 1024
_LENGTH = struct.Struct("<I")
_TEXT, _RAW = ord("S"), ord("R")


def parse_binary(
    data: bytes, budget: Budget, kinds: frozenset[str] = OBJECTS
) -> tuple[int, Element]:
    """The version of a binary file, and an element that holds its elements.

    Of objects those of some kinds are read.
    """
    if len(data) < HEAD_BYTES:
        _cut_short(0)
    version = _LENGTH.unpack_from(data, 23)[0]
    head = struct.Struct("<QQQB" if version >= WIDE_FROM else "<IIIB")
    top = Element("", 0)
    path, ends = [top], [len(data)]
    at, owed, count = HEAD_BYTES, 0, 0
    while path:
        end = ends[-1]
        if at + head.size > end:
            if at == end and len(path) > 1:  # the record that ends a list is left out
                path.pop()
                ends.pop()
                continue
            _cut_short(at)
        stop, n_values, n_bytes, n_name = head.unpack_from(data, at)
        if stop == 0:
            _check_end(data, at + head.size, end, nested=len(path) > 1)
            at = end
            path.pop()
            ends.pop()
            continue
        start = at + head.size + n_name
        if start + n_bytes > stop or stop > end:
            _refuse(at, f"An element from byte {at} to {stop} must end by byte {end}")
        name = data[at + head.size : start].decode("latin-1")
        read = is_read(path, name, kinds)
        element = Element(name, at)
        if read or len(path) > 1:
            element.values = _values(data, start, start + n_bytes, n_values)
            path[-1].children.append(element)
            owed += ELEMENT_BYTES + VALUE_BYTES * len(element.values) + 2 * n_bytes
            count += 1
        if count >= ELEMENTS_AT_ONCE:
            budget.take(owed, "its elements", f"byte {at}")
            owed, count = 0, 0
        at = start + n_bytes
        if not read:
            at = stop
        elif stop > at:
            if len(path) >= MAX_DEPTH:
                _refuse(at, f"Elements may be nested {MAX_DEPTH} deep, and these are deeper")
            path.append(element)
            ends.append(stop)
    budget.take(owed, "its elements")
    return version, top


def _check_end(data: bytes, at: int, end: int, *, nested: bool) -> None:
    """A list ends where it states; after the last one comes a short footer, which is not zero."""
    if nested and at != end:
        _refuse(at, f"A list of elements must end at byte {end}, and ends at byte {at}")
    if not nested and end - at > LONGEST_FOOTER and not any(data[at:]):
        _refuse(at, f"The last {end - at} bytes are zero")


def _values(data: bytes, at: int, end: int, count: int) -> list[Any]:
    """The values of one element, which end at byte ``end``."""
    if count > MAX_VALUES:
        _refuse(at, f"An element may hold {MAX_VALUES} values, and this one states {count}")
    values: list[Any] = []
    for _ in range(count):
        if at >= end:
            _refuse(at, f"An element must hold the {count} values it states")
        kind = data[at]
        at += 1
        if kind in _NUMBERS:
            number = _NUMBERS[kind]
            if at + number.size > end:
                _refuse(at, "A value must end within its element")
            values.append(number.unpack_from(data, at)[0])
            at += number.size
        elif kind in (_TEXT, _RAW):
            size = _LENGTH.unpack_from(data, at)[0] if at + 4 <= end else end
            at += 4
            if at + size > end:
                _refuse(at, "A text must end within its element")
            raw = StoredArray("r", size, False, at, at + size)
            values.append(_text(data[at : at + size]) if kind == _TEXT else raw)
            at += size
        elif kind in _ARRAYS:
            if at + 12 > end:
                _refuse(at, "An array must end within its element")
            stored = _array(data, at, _ARRAYS[kind])
            if stored.stop > end:
                _refuse(at, f"An array of {stored.count} numbers must end within its element")
            values.append(stored)
            at = stored.stop
        else:
            _refuse(at - 1, f"A value must be of a known type, got type {chr(kind)!a}")
    return values


def _array(data: bytes, at: int, kind: str) -> StoredArray:
    count, encoding, size = _ARRAY_HEAD.unpack_from(data, at)
    if encoding > 1:
        _refuse(at, f"An array must be stored plainly or deflated, got encoding {encoding}")
    start = at + 12
    if not encoding:
        size = count * ITEM_BYTES[kind]
    return StoredArray(kind, count, bool(encoding), start, start + size)


def _text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _refuse(at: int, problem: str) -> NoReturn:
    raise FormatError(
        f"{problem}.",
        where=f"byte {at}",
        fix="The file is damaged: copy or export it again.",
    )


def _cut_short(at: int) -> NoReturn:
    raise FormatError(
        "The file ends before its last element.",
        where=f"byte {at}",
        fix="The file is cut short: copy or download it again.",
    )
