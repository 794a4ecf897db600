"""JSON that anybody may have written: no broken text, finite numbers, bounded depth and memory.

``[],[],`` takes 25 times its size when it is parsed, so the memory is asked for first.
"""

from __future__ import annotations

import json
import re
from math import isinf
from typing import Any, NoReturn

from motionloom.errors import FormatError
from motionloom.reading.size_limits import Budget

# Bytes that Python takes for each part of a parsed document, as measured, and a little more.
_LIST, _OBJECT, _ITEM, _STRING, _KEY = 96, 192, 44, 64, 32
_TWO_BYTES, _FOUR_BYTES = re.compile(rb"[\xc4-\xff]"), re.compile(rb"[\xf0-\xff]")
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_MAY_BE_INFINITE = re.compile(rb"[eE]\+?\d{3}|\d{200}")
_SURROGATE = re.compile("[\ud800-\udfff]")


def parsed_size(data: bytes) -> int:
    """Bytes that the text and what it is parsed into take at most, without parsing it."""
    width = 1  # of a character in memory
    if not data.isascii():
        width = 4 if _FOUR_BYTES.search(data) else 2 if _TWO_BYTES.search(data) else 1
    inside = 4 if b"\\u" in data else width
    return (
        (width + inside) * len(data)
        + _LIST * data.count(b"[")
        + _OBJECT * data.count(b"{")
        + _ITEM * data.count(b",")
        + _KEY * data.count(b":")
        + _STRING * (data.count(b'"') // 2)
    )


def parse_json(data: bytes, budget: Budget, *, where: str, constants: bool = False) -> Any:
    """The document in ``data`` (UTF-8).

    Parameters
    ----------
    data
        The text.
    budget
        What the document takes stays asked for: it lives as long as its file is read.
    where
        Place in the file, for errors.
    constants
        Whether ``NaN`` and ``Infinity``, which are no JSON, and infinite numbers are read.

    Raises
    ------
    FormatError
        The text is no JSON, holds broken characters or infinite numbers, is nested too deeply, or
        takes more memory than the budget has.
    """
    budget.take(parsed_size(data), "its JSON", where)
    check_floats = not constants and _MAY_BE_INFINITE.search(data)
    try:
        document = json.loads(
            data.decode("utf-8-sig"),
            parse_constant=None if constants else _refuse,
            parse_float=_finite if check_floats else None,
        )
    except RecursionError as error:
        raise FormatError(
            "The text must be JSON (it is nested too deeply).", where=where
        ) from error
    except ValueError as error:
        raise FormatError(f"The text must be JSON ({error}).", where=where) from error
    if _HALF.search(data):
        check_unicode(document, where=where)
    return document


def check_unicode(document: Any, *, where: str) -> None:
    """Raise where a text in a document holds half a surrogate pair, which no file can hold."""
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            refuse_surrogates(value, where=where)
        elif isinstance(value, dict):
            waiting.extend(value)
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


def refuse_surrogates(text: str, *, where: str) -> None:
    """Raise where a text holds half a surrogate pair."""
    if not text.isascii() and (match := _SURROGATE.search(text)):
        start = max(0, match.start() - 20)
        raise FormatError(
            f"Text must be Unicode, got half a surrogate pair in {text[start : match.end()]!a}.",
            where=where,
            fix="Rename it in the tool that wrote the file.",
        )


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise ValueError(f"{text[:20]} is no finite number")
    return number
