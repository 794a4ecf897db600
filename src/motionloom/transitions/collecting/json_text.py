"""JSON text from a file that anybody may have written: finite numbers, bounded memory and depth."""

from __future__ import annotations

import json
from math import isinf
from typing import Any, NoReturn

__all__ = ["parse_json"]

BYTES_EACH = 72
"""Memory that a list, a mapping or a short text takes, with its place in the list around it."""
FREE_BYTES = 1 << 25
MOST_TIMES = 8
"""A document may take as many times its text in memory, and FREE_BYTES on top."""


def parse_json(text: bytes) -> Any:
    """The document in an ASCII text.

    Raises
    ------
    ValueError
        The text is no JSON, holds NaN or infinite numbers or broken characters, is nested too
        deeply, or would take much more memory than the text does.
    """
    values = text.count(b"[") + text.count(b"{") + text.count(b'"') // 2
    if BYTES_EACH * values > MOST_TIMES * len(text) + FREE_BYTES:
        raise ValueError(f"it has {values} values in {len(text)} bytes, which is out of proportion")
    try:
        document = json.loads(
            text.decode("ascii"), parse_constant=_no_number, parse_float=_finite_number
        )
        if b"\\u" in text:  # halves of characters are valid JSON, but no text
            json.dumps(document, ensure_ascii=False).encode("utf-8")
    except UnicodeError:
        raise ValueError("it holds characters that no text can have") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return document


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no finite number")


def _finite_number(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise ValueError(f"{text[:20]} is no finite number")
    return number
