"""Objects of an FBX file, their connections and properties, and the settings of its world."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import FormatError
from motionloom.findings import Finding
from motionloom.formats.fbx.fbx_document import FbxDocument
from motionloom.formats.fbx.fbx_parse import Element, short_name
from motionloom.formats.text import LARGEST, shown

OBJECT_BYTES, CONNECTION_BYTES = 500, 250
"""Memory that an object and a connection take."""
_CLASSES = {
    "AnimationStack": "AnimStack",
    "AnimationLayer": "AnimLayer",
    "AnimationCurveNode": "AnimCurveNode",
    "AnimationCurve": "AnimCurve",
}
"""Classes that stand in the names of objects, where they differ from the element's name."""
TICKS = 46186158000
"""Units of FBX time in a second."""
RATES: dict[int, float] = {
    **{1: 120.0, 2: 100.0, 3: 60.0, 4: 50.0, 5: 48.0, 6: 30.0, 7: 30.0, 10: 25.0, 11: 24.0},
    **{8: 30000 / 1001, 9: 30000 / 1001, 12: 1000.0, 13: 24000 / 1001, 15: 96.0, 16: 72.0},
    **{17: 60000 / 1001, 18: 120000 / 1001},
}
"""Frames per second of every TimeMode that has a fixed rate."""
CUSTOM_MODE = 14
FASTEST = 2e4


@dataclass(frozen=True, slots=True, eq=False)
class FbxObject:
    """One object."""

    number: int
    """Its place among the objects of the file."""
    key: int
    """The number that connections name it by."""
    kind: str
    """``"Model"``, ``"AnimationCurve"``, ..."""
    name: str
    subtype: str
    """``"LimbNode"``, ``"Null"``, ``"Mesh"``, ..."""
    element: Element


@dataclass(frozen=True, slots=True)
class Link:
    """A connection to an object, or to one of its properties."""

    child: int
    parent: int
    name: str
    """The property; empty for a connection to the object as a whole."""


class Objects:
    """All objects and connections of a file."""

    def __init__(self, document: FbxDocument) -> None:
        self.document = document
        self.by_key: dict[int, FbxObject] = {}
        self.below: dict[int, list[Link]] = {}
        """Links to each object, by its key, in the order of the file."""
        self.above: dict[int, list[Link]] = {}
        """Links from each object."""
        self.templates: dict[str, dict[str, list[Any]]] = {}
        top = document.top
        self._read_templates(top.child("Definitions"))
        for listed in top.children:
            if listed.name == "Objects":
                self._read_objects(listed)
        for listed in top.children:
            if listed.name == "Connections":
                self._read_links(listed)

    def _read_templates(self, definitions: Element | None) -> None:
        for kind in definitions.children if definitions else ():
            template = kind.child("PropertyTemplate") if kind.name == "ObjectType" else None
            if template is not None:
                self.templates[kind.text(0)] = _table(template)

    def _read_objects(self, listed: Element) -> None:
        budget = self.document.budget
        budget.take(OBJECT_BYTES * len(listed.children), f"{len(listed.children)} objects")
        for element in listed.children:
            key = element.whole(0)
            if key is None:
                raise FormatError(
                    "An object must begin with its number.",
                    where=self.document.place(element),
                    fix="Files before FBX 7 name objects instead: save it as FBX 2011 or later.",
                )
            if key in self.by_key:
                raise FormatError(
                    f"Every object must have a number that no other has; {key} is there twice.",
                    where=self.document.place(element),
                )
            kind = element.name
            name = short_name(element.text(1), _CLASSES.get(kind, kind))
            self.by_key[key] = FbxObject(
                len(self.by_key), key, kind, name, element.text(2), element
            )

    def _read_links(self, listed: Element) -> None:
        budget = self.document.budget
        budget.take(CONNECTION_BYTES * len(listed.children), "its connections")
        listed_before: set[Link] = set()  # each counts once, however often a file lists it
        for element in listed.children:
            kind, child, parent = element.text(0), element.whole(1), element.whole(2)
            if child is None or parent is None:
                raise FormatError(
                    "A connection must name two objects by their numbers.",
                    where=self.document.place(element),
                )
            if kind not in ("OO", "OP"):
                continue
            link = Link(child, parent, element.text(3) if kind == "OP" else "")
            if link in listed_before:
                continue
            listed_before.add(link)
            self.below.setdefault(parent, []).append(link)
            self.above.setdefault(child, []).append(link)

    def of_kind(self, kind: str) -> Iterator[FbxObject]:
        """Objects of one kind, in the order of the file."""
        return (each for each in self.by_key.values() if each.kind == kind)

    def linked(self, parent: int, kind: str, name: str | None = "") -> Iterator[FbxObject]:
        """Objects of one kind that are connected to an object, or (None: any) to its property."""
        for link in self.below.get(parent, ()):
            child = self.by_key.get(link.child)
            if child is not None and child.kind == kind and name in (None, link.name):
                yield child

    def properties(self, item: FbxObject) -> Properties:
        """The properties of an object, with the defaults of its kind."""
        return Properties(
            self.templates.get(item.kind, {}),
            _table(item.element),
            partial(self.document.place, item.element),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Properties:
    """Named values of an object."""

    template: dict[str, list[Any]]
    own: dict[str, list[Any]]
    place: Callable[[], str]

    @property
    def where(self) -> str:
        """The place of the object, for errors."""
        return self.place()

    def values(self, name: str) -> list[Any] | None:
        """The values of a property, None where it has none."""
        return self.own.get(name, self.template.get(name))

    def number(self, name: str, default: float) -> float:
        """A property of one finite number."""
        values = self.values(name)
        return default if not values else self._finite(values[0], name)

    def whole(self, name: str, default: int) -> int:
        """A property of one whole number."""
        number = self.number(name, default)
        if number != int(number):
            raise FormatError(f"{name} must be a whole number, got {number:g}.", where=self.where)
        return int(number)

    def vector(self, name: str, default: tuple[float, float, float]) -> FloatArray:
        """A property of three finite numbers. Shape (3,)."""
        values = self.values(name)
        if not values:
            return np.array(default)
        if len(values) < 3:
            raise FormatError(
                f"{name} must have three numbers, got {len(values)}.", where=self.where
            )
        return np.array([self._finite(value, name) for value in values[:3]])

    def _finite(self, value: Any, name: str) -> float:
        good = isinstance(value, int | float) and math.isfinite(value) and abs(value) < LARGEST
        if not good:
            raise FormatError(
                f"{name} must be a number between -1e12 and 1e12, got {shown(value)}.",
                where=self.where,
            )
        return float(value)


def table_of(element: Element | None, where: str) -> Properties:
    """The properties that stand in an element, without defaults."""
    return Properties({}, {} if element is None else _table(element), lambda: where)


def _table(element: Element) -> dict[str, list[Any]]:
    listed = element.child("Properties70")
    if listed is None:
        return {}
    return {each.text(0): each.values[4:] for each in listed.children if each.name == "P"}


@dataclass(frozen=True, slots=True, eq=False)
class Settings:
    """Unit, axes and frame rate that the file states."""

    unit_m: float | None
    """Metres per unit, None where the file states none."""
    up: str | None
    fps: float | None
    mirror: int | None
    """The axis to mirror where the axes are left-handed."""
    findings: tuple[Finding, ...]


def settings_of(document: FbxDocument) -> Settings:
    """The global settings of a file."""
    element = document.top.child("GlobalSettings")
    if element is None:
        return Settings(None, None, None, None, ())
    table = table_of(element, document.place(element))
    up, front, right = (_axis(table, name) for name in ("Up", "Front", "Coord"))
    mirror: int | None = None
    findings = []
    if up is not None and front is not None and right is not None:
        turn = float(np.dot(np.cross(right, up), front))
        mirror = int(np.abs(right).argmax()) if turn < 0.0 else None
        if turn == 0.0:
            raise FormatError(
                "UpAxis, FrontAxis and CoordAxis must be three different axes.",
                where="GlobalSettings",
                fix="Export the file again.",
            )
        text = f"up is {_letter(up)}, front is {_letter(front)}, right is {_letter(right)}"
        if mirror is not None:
            findings.append(
                Finding("note", "axes", f"{text}: left-handed; read mirrored, as right-handed.")
            )
        else:
            findings.append(Finding("note", "axes", f"{text}."))
    return Settings(
        _unit_m(table),
        None if up is None else _letter(up),
        _rate(table),
        mirror,
        tuple(findings),
    )


def _axis(table: Properties, name: str) -> FloatArray | None:
    """A direction, or None where the file states none."""
    number = table.whole(f"{name}Axis", -1)
    if number not in (0, 1, 2):
        return None
    axis = np.zeros(3)
    axis[number] = -1.0 if table.number(f"{name}AxisSign", 1.0) < 0.0 else 1.0
    return axis


def _letter(axis: FloatArray) -> str:
    number = int(np.abs(axis).argmax())
    return ("-" if axis[number] < 0.0 else "") + "xyz"[number]


def _unit_m(table: Properties) -> float | None:
    centimetres = table.number("UnitScaleFactor", 0.0)
    if centimetres == 0.0:
        return None
    if not 1e-6 <= centimetres <= 1e6:
        raise FormatError(
            f"UnitScaleFactor must be centimetres per unit, got {centimetres:g}.",
            where="GlobalSettings",
            fix="Export the file with a unit of length.",
        )
    return centimetres / 100.0


def _rate(table: Properties) -> float | None:
    mode = table.whole("TimeMode", 0)
    if mode != CUSTOM_MODE:
        return RATES.get(mode)
    fps = table.number("CustomFrameRate", 0.0)
    return fps if 0.0 < fps < FASTEST else None
