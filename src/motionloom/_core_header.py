"""The header of the C core: functions and structs that it declares, with types and shapes."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from motionloom.errors import ArrayError

FOLDER = Path(os.environ.get("MOTIONLOOM_CORE") or Path(__file__).with_name("_lib"))
"""The library, its header and what it was built from; the variable names another build of it."""
HEADER, MARK = "motionloom.h", "built-from"


class Field(NamedTuple):
    """An argument of a function, or a field of a struct."""

    name: str
    type: str
    is_pointer: bool
    is_const: bool
    shape: str | None
    """Of an array: sizes in terms of other fields, as ``n_frames, 4``."""
    may_be_none: bool


class Declaration(NamedTuple):
    """A function or a struct."""

    result: str
    fields: tuple[Field, ...]


@cache
def header_text() -> str:
    return (FOLDER / HEADER).read_text(encoding="utf-8")


_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_FUNCTION = re.compile(r"ML_API\s+((?:const\s+)?\w+[\s*]+)(ml_\w+)\s*\(([^;]*?)\)\s*;")
_STRUCT = re.compile(r"typedef struct(?:\s+ml_\w+)?\s*\{(.*?)\}\s*(ml_\w+)\s*;", re.DOTALL)
_SHAPES = re.compile(r"((?:\w+,\s+)*\w+):\s+\(([^)]*)\)(\s+or NULL)?")
_FIELD = re.compile(r"(const\s+)?(\w+)\s*(\**)\s*(\w+)$")


_CONSTANT = re.compile(
    r"^#define +(ML_\w+) +([-+*/().\d ]*\d[-+*/().\de ]*?) *(?:/\*.*)?$", re.MULTILINE
)


@cache
def constants() -> dict[str, int | float]:
    """Every number that the header defines, by name: ``4``, ``0.15`` or ``(20.0 / 60.0)``."""
    arithmetic: dict[str, Any] = {
        "__builtins__": {}
    }  # the pattern admits nothing but digits and operators
    return {name: eval(text, arithmetic) for name, text in _CONSTANT.findall(header_text())}


@cache
def functions() -> dict[str, Declaration]:
    """Every function by its name."""
    text, declared = header_text(), {}
    for match in _FUNCTION.finditer(text):
        result, name, arguments = match.group(1).strip(), match.group(2), match.group(3)
        fields = [] if arguments.strip() == "void" else arguments.split(",")
        declared[name] = Declaration(result, _fields(fields, _comment_before(text, match.start())))
    return declared


@cache
def structs() -> dict[str, Declaration]:
    """Every struct by its name."""
    text, declared = header_text(), {}
    for match in _STRUCT.finditer(text):
        body, name = match.groups()
        lines = [line for line in _COMMENT.sub(" ", body).split(";") if line.strip()]
        fields = [part for line in lines for part in _declared_together(line)]
        declared[name] = Declaration(name, _fields(fields, _comment_before(text, match.start())))
    return declared


def _declared_together(line: str) -> list[str]:
    """``const double *a, *b`` as ``const double *a`` and ``const double *b``."""
    first, *others = line.split(",")
    kind = re.sub(r"\**\s*\w+\s*$", "", first)
    return [first, *(f"{kind} {other}" for other in others)]


def _comment_before(text: str, place: int) -> str:
    """The last comment before a place: it states shapes."""
    first = text.rfind("/*", 0, place)
    comment = _COMMENT.match(text, first) if first >= 0 else None
    return comment.group() if comment else ""


def _fields(declared: list[str], comment: str) -> tuple[Field, ...]:
    shapes = {
        name.strip(): (shape, bool(optional))
        for names, shape, optional in _SHAPES.findall(comment)
        for name in names.split(",")
    }
    out = []
    for text in declared:
        match = _FIELD.match(" ".join(text.split()))
        if match is None:
            raise ArrayError(f"The core's header declares something else than a field: {text!r}.")
        const, kind, stars, name = match.groups()
        shape, optional = shapes.get(name, (None, False))
        out.append(Field(name, kind, bool(stars), bool(const), shape, optional))
    return tuple(out)
