"""The elements of an FBX file, as its binary and its ASCII form both hold them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

MAX_DEPTH = 64
"""Far deeper than any file nests its elements."""
MAX_VALUES = 20_000
"""Values of one element that is looked at; arrays count once."""
ELEMENT_BYTES, VALUE_BYTES = 300, 72
"""Memory that an element and each of its values take."""
ELEMENTS_AT_ONCE = 512
"""After so many elements their memory is asked for."""

TOP = frozenset({"FBXHeaderExtension", "GlobalSettings", "Definitions", "Objects", "Connections"})
"""Elements of the file that are looked at; the others are skipped."""
OBJECTS = frozenset(
    {"Model", "AnimationStack", "AnimationLayer", "AnimationCurveNode", "AnimationCurve"}
)
"""Objects that are looked at; of the others (meshes, materials, textures) only the head is."""


SKINNED = OBJECTS | {"Geometry", "Deformer", "Material", "Texture", "Video"}
"""Objects that are looked at where meshes are wanted, too."""


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
