"""What an FBX file is put together from: objects with numbers, and links between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from motionloom.formats.fbx.fbx_encode import Item, Long, object_name

FIRST_KEY = 1_000_000

_CLASSES = {
    "AnimationStack": "AnimStack",
    "AnimationLayer": "AnimLayer",
    "AnimationCurveNode": "AnimCurveNode",
    "AnimationCurve": "AnimCurve",
    "Deformer": "SubDeformer",
}


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
