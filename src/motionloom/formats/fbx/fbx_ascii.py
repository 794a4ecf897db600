"""The ASCII form of FBX: names with a colon, values with commas, elements in braces."""

from __future__ import annotations

import re
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
from motionloom.formats.text import MARK, quoted
from motionloom.reading.size_limits import Budget

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


def line_at(data: bytes, at: int) -> str:
    """The place of a byte in a text, for errors."""
    line = 1 + data.count(b"\n", 0, at)
    return f"line {line}"


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
                _refuse(data, at, "A brace closes that none opened")
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
            _refuse(
                data, at, f"A name and a colon must stand here, got {quoted(data[at : at + 40])}"
            )
        element = Element(name[1].decode("latin-1"), at)
        read = not skipped and is_read(path, element.name, kinds)
        is_listed = not skipped and (read or len(path) > 1)
        at, opens = (_values if is_listed else _skip_values)(data, name.end(), element)
        if is_listed:
            path[-1].children.append(element)
            owed += ELEMENT_BYTES + VALUE_BYTES * len(element.values) + 2 * (at - element.at)
            count += 1
        if count >= ELEMENTS_AT_ONCE:
            budget.take(owed, "its elements", f"byte {at}")
            owed, count = 0, 0
        if opens and read:
            if len(path) >= MAX_DEPTH:
                _refuse(data, at, f"Elements may be nested {MAX_DEPTH} deep, and these are deeper")
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


def _values(data: bytes, at: int, element: Element) -> tuple[int, bool]:
    """Where the values of an element end, and whether a brace opens after them."""
    while (match := _VALUE.match(data, at)) is not None:
        at = match.end()
        group = match.lastindex
        if group == 1:
            element.values.append(_text(match[1]))
        elif group == 2:
            element.values.append(_value(match[2]))
        elif group == 5:
            return at, True
        if len(element.values) > MAX_VALUES:
            _refuse(data, at, f"An element may hold {MAX_VALUES} values, and this one holds more")
    return at, False


def _skip_values(data: bytes, at: int, element: Element) -> tuple[int, bool]:
    """As :func:`_values`, for an element that is not looked at."""
    match = _SKIPPED.match(data, at)
    assert match is not None, element.name  # it matches nothing as well
    return match.end(), bool(match[1])


def _value(token: bytes) -> Any:
    if len(token) <= LONGEST_NUMBER:
        if _WHOLE.fullmatch(token):
            return int(token)
        if _DECIMAL.fullmatch(token):
            return float(token)
    return _text(token)


def _text(raw: bytes) -> str:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    if "&" in text:
        for escape, letter in _ESCAPES:
            text = text.replace(escape, letter)
    return text


def _end(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    match = pattern.match(data, at)
    return at if match is None else match.end()


def _refuse(data: bytes, at: int, problem: str) -> NoReturn:
    raise FormatError(
        f"{problem}.",
        where=line_at(data, at),
        fix="The file is damaged: copy or export it again.",
    )
