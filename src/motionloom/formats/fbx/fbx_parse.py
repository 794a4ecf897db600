"""The elements of an FBX file, out of its binary or its ASCII form."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field
from typing import Any, NoReturn

from motionloom.errors import FormatError
from motionloom.files.limits import Budget
from motionloom.formats.text import MARK, quoted

MAX_DEPTH = 64
"""Far deeper than any file nests its elements."""
MAX_VALUES = 20_000
"""Values of one element that is looked at; arrays count once."""
ELEMENT_BYTES, VALUE_BYTES = 300, 72
"""Memory that an element and each of its values take."""
ELEMENTS_AT_ONCE = 512
"""The memory of this many elements is asked for at once."""
TOP = frozenset({"FBXHeaderExtension", "GlobalSettings", "Definitions", "Objects", "Connections"})
"""Elements of the file that are looked at; the others are skipped."""
OBJECTS = frozenset(
    {"Model", "AnimationStack", "AnimationLayer", "AnimationCurveNode", "AnimationCurve"}
)
"""Objects that are looked at; of the others (meshes, materials, textures) only the head is."""
SKINNED = OBJECTS | {"Geometry", "Deformer", "Material", "Texture", "Video"}
"""Objects that are looked at where meshes are wanted, too."""
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
LONGEST_NUMBER = 64
_BETWEEN = re.compile(rb"(?:\s++|;[^\n]*+)*+")
_NAME = re.compile(rb'([^\s:;,{}"*]{1,255})[ \t]*:')
_ARRAY = re.compile(
    rb'([^\s:;,{}"*]{1,255})[ \t]*+:[ \t]*+\*(\d{1,10})[ \t]*+\{(?:\s++|;[^\n]*+)*+a[ \t]*+:'
    rb"([^{}]*+)\}"
)
"""An array with the count of its numbers: ``KeyTime: *2 { a: 0,1 }``."""
_VALUE = re.compile(
    rb'[ \t\r]*+(?:(?:"([^"]*+)"|([^\s,;{}"]++))(?:[ \t\r]*+,(?:\s++|;[^\n]*+)*+)?+'
    rb"|(,(?:\s++|;[^\n]*+)*+)|(\n\s*+,\s*+)|(\{))"
)
_SKIPPED = re.compile(rb'(?:[^"{}\n;,]++|"[^"]*+"|,(?:\s++|;[^\n]*+)*+|\n\s*+(?=,))*+(\{?)')
"""The values of an element that is not looked at."""
_WHOLE = re.compile(rb"[+-]?\d{1,18}")
_DECIMAL = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_ESCAPES = (("&quot;", '"'), ("&lf;", "\n"), ("&cr;", "\r"))


@dataclass(frozen=True, slots=True)
class StoredArray:
    """An array that stays in the file until it is needed."""

    kind: str
    """``f``, ``d``, ``l``, ``i``, ``b`` or ``c`` as in binary files; ``t`` for text, ``r`` for the
    bytes of a file."""
    count: int
    deflated: bool
    start: int
    stop: int


@dataclass(slots=True, eq=False)
class Element:
    """A name, values, and elements within it."""

    name: str
    at: int
    """Byte at which it begins."""
    values: list[Any] = field(default_factory=list)
    children: list[Element] = field(default_factory=list)

    def child(self, name: str) -> Element | None:
        """The first element of this name within it."""
        for each in self.children:
            if each.name == name:
                return each
        return None

    def text(self, index: int) -> str:
        """A value that is a text; empty where it is none."""
        value = self.values[index] if index < len(self.values) else ""
        return value if isinstance(value, str) else ""

    def whole(self, index: int) -> int | None:
        """A value that is a whole number, None where it is none."""
        value = self.values[index] if index < len(self.values) else None
        return value if isinstance(value, int) and not isinstance(value, bool) else None


def is_read(path: list[Element], name: str, kinds: frozenset[str]) -> bool:
    """Whether what stands within an element is looked at; ``path`` are the elements around it."""
    if len(path) == 1:
        return name in TOP
    if len(path) == 2 and path[1].name == "Objects":
        return name in kinds
    return True


def short_name(full: str, kind: str) -> str:
    """The name of an object: ``Hips`` of ``Model::Hips``, or of the form that binary files have."""
    if "\x00\x01" in full:
        return full.split("\x00\x01", 1)[0]
    return full.removeprefix(f"{kind}::")


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
            _refuse_binary(at, f"An element from byte {at} to {stop} must end by byte {end}")
        name = data[at + head.size : start].decode("latin-1")
        read = is_read(path, name, kinds)
        element = Element(name, at)
        if read or len(path) > 1:
            element.values = _binary_values(data, start, start + n_bytes, n_values)
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
                _refuse_binary(at, f"Elements may be nested {MAX_DEPTH} deep, and these are deeper")
            path.append(element)
            ends.append(stop)
    budget.take(owed, "its elements")
    return version, top


def _check_end(data: bytes, at: int, end: int, *, nested: bool) -> None:
    """A list ends where it states; after the last one comes a short footer, which is not zero."""
    if nested and at != end:
        _refuse_binary(at, f"A list of elements must end at byte {end}, and ends at byte {at}")
    if not nested and end - at > LONGEST_FOOTER and not any(data[at:]):
        _refuse_binary(at, f"The last {end - at} bytes are zero")


def _binary_values(data: bytes, at: int, end: int, count: int) -> list[Any]:
    """The values of one element, which end at byte ``end``."""
    if count > MAX_VALUES:
        _refuse_binary(at, f"An element may hold {MAX_VALUES} values, and this one states {count}")
    values: list[Any] = []
    for _ in range(count):
        if at >= end:
            _refuse_binary(at, f"An element must hold the {count} values it states")
        kind = data[at]
        at += 1
        if kind in _NUMBERS:
            number = _NUMBERS[kind]
            if at + number.size > end:
                _refuse_binary(at, "A value must end within its element")
            values.append(number.unpack_from(data, at)[0])
            at += number.size
        elif kind in (_TEXT, _RAW):
            size = _LENGTH.unpack_from(data, at)[0] if at + 4 <= end else end
            at += 4
            if at + size > end:
                _refuse_binary(at, "A text must end within its element")
            raw = StoredArray("r", size, False, at, at + size)
            values.append(_binary_text(data[at : at + size]) if kind == _TEXT else raw)
            at += size
        elif kind in _ARRAYS:
            if at + 12 > end:
                _refuse_binary(at, "An array must end within its element")
            stored = _stored_array(data, at, _ARRAYS[kind])
            if stored.stop > end:
                _refuse_binary(
                    at, f"An array of {stored.count} numbers must end within its element"
                )
            values.append(stored)
            at = stored.stop
        else:
            _refuse_binary(at - 1, f"A value must be of a known type, got type {chr(kind)!a}")
    return values


def _stored_array(data: bytes, at: int, kind: str) -> StoredArray:
    count, encoding, size = _ARRAY_HEAD.unpack_from(data, at)
    if encoding > 1:
        _refuse_binary(at, f"An array must be stored plainly or deflated, got encoding {encoding}")
    start = at + 12
    if not encoding:
        size = count * ITEM_BYTES[kind]
    return StoredArray(kind, count, bool(encoding), start, start + size)


def _binary_text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _refuse_binary(at: int, problem: str) -> NoReturn:
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


def parse_ascii(data: bytes, budget: Budget, kinds: frozenset[str] = OBJECTS) -> Element:
    """An element that holds the elements of a text; of objects those of some kinds are read."""
    top = Element("", 0)
    path, skipped = [top], 0
    owed, count = 0, 0
    at = len(MARK) if data.startswith(MARK) else 0
    while True:
        at = _end(_BETWEEN, data, at)
        if at >= len(data):
            break
        if data[at] == 0x7D:  # }
            at += 1
            if skipped:
                skipped -= 1
            elif len(path) > 1:
                path.pop()
            else:
                _refuse_ascii(data, at, "A brace closes that none opened")
            continue
        if not skipped and (array := _ARRAY.match(data, at)) is not None:
            element = Element(array[1].decode("latin-1"), at)
            element.values.append(StoredArray("t", int(array[2]), False, *array.span(3)))
            path[-1].children.append(element)
            at = array.end()
            owed += ELEMENT_BYTES + VALUE_BYTES
            count += 1
            continue
        name = _NAME.match(data, at)
        if name is None:
            _refuse_ascii(
                data, at, f"A name and a colon must stand here, got {quoted(data[at : at + 40])}"
            )
        element = Element(name[1].decode("latin-1"), at)
        read = not skipped and is_read(path, element.name, kinds)
        is_listed = not skipped and (read or len(path) > 1)
        at, opens = (_ascii_values if is_listed else _skip_values)(data, name.end(), element)
        if is_listed:
            path[-1].children.append(element)
            owed += ELEMENT_BYTES + VALUE_BYTES * len(element.values) + 2 * (at - element.at)
            count += 1
        if count >= ELEMENTS_AT_ONCE:
            budget.take(owed, "its elements", f"byte {at}")
            owed, count = 0, 0
        if opens and read:
            if len(path) >= MAX_DEPTH:
                _refuse_ascii(
                    data, at, f"Elements may be nested {MAX_DEPTH} deep, and these are deeper"
                )
            path.append(element)
        elif opens:
            skipped += 1
    if len(path) > 1 or skipped:
        raise FormatError(
            "The text ends before every brace is closed.",
            where=line_at(data, len(data)),
            fix="The file is cut short: copy or download it again.",
        )
    budget.take(owed, "its elements")
    return top


def _end(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    match = pattern.match(data, at)
    return at if match is None else match.end()


def _ascii_values(data: bytes, at: int, element: Element) -> tuple[int, bool]:
    """Where the values of an element end, and whether a brace opens after them."""
    while (match := _VALUE.match(data, at)) is not None:
        at = match.end()
        group = match.lastindex
        if group == 1:
            element.values.append(_ascii_text(match[1]))
        elif group == 2:
            element.values.append(_ascii_value(match[2]))
        elif group == 5:
            return at, True
        if len(element.values) > MAX_VALUES:
            _refuse_ascii(
                data, at, f"An element may hold {MAX_VALUES} values, and this one holds more"
            )
    return at, False


def _skip_values(data: bytes, at: int, element: Element) -> tuple[int, bool]:
    """As :func:`_ascii_values`, for an element that is not looked at."""
    match = _SKIPPED.match(data, at)
    assert match is not None, element.name  # it matches nothing as well
    return match.end(), bool(match[1])


def _ascii_value(token: bytes) -> Any:
    if len(token) <= LONGEST_NUMBER:
        if _WHOLE.fullmatch(token):
            return int(token)
        if _DECIMAL.fullmatch(token):
            return float(token)
    return _ascii_text(token)


def _ascii_text(raw: bytes) -> str:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    if "&" in text:
        for escape, letter in _ESCAPES:
            text = text.replace(escape, letter)
    return text


def _refuse_ascii(data: bytes, at: int, problem: str) -> NoReturn:
    raise FormatError(
        f"{problem}.",
        where=line_at(data, at),
        fix="The file is damaged: copy or export it again.",
    )


def line_at(data: bytes, at: int) -> str:
    """The place of a byte in a text, for errors."""
    line = 1 + data.count(b"\n", 0, at)
    return f"line {line}"
