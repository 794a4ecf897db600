"""Attributes of MJCF elements: numbers, orientations, and default classes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import FormatError
from motionloom.formats.robots.safe_xml import Element
from motionloom.formats.text import LARGEST, quoted
from motionloom.rotation import quat
from motionloom.rotation.euler import euler_to_quat

MAIN = "main"
_SHORTEST = 1e-8


@dataclass(slots=True)
class Compiler:
    """Settings of ``<compiler>``, and default attributes of joints by class."""

    radians: bool = False
    euler: str = "xyz"
    joint_defaults: dict[str, dict[str, str]] = field(default_factory=lambda: {MAIN: {}})

    def angle(self, value: float) -> float:
        """An angle of the file, radians."""
        return value if self.radians else math.radians(value)

    def attributes(self, joint: Element, childclass: str) -> dict[str, str]:
        """A joint's attributes, with those of its class for what it does not state."""
        name = joint.get("class") or childclass or MAIN
        if name not in self.joint_defaults:
            raise FormatError(
                f"No default class is called {quoted(name)}.", where=f"line {joint.line}"
            )
        return {**self.joint_defaults[name], **joint.attributes}


def read_compiler(root: Element) -> Compiler:
    """The compiler settings and default classes of a model."""
    compiler = Compiler()
    for element in root.children:
        if element.tag == "compiler":
            if element.get("angle"):
                compiler.radians = element.get("angle") == "radian"
            compiler.euler = element.get("eulerseq") or compiler.euler
    if len(compiler.euler) != 3 or set(compiler.euler.lower()) - set("xyz"):
        raise FormatError(f"eulerseq must be three of x, y, z, got {quoted(compiler.euler)}.")
    for element in root.children:
        if element.tag == "default":
            _collect(element, {}, compiler.joint_defaults, top=True)
    return compiler


def _collect(
    element: Element, above: dict[str, str], classes: dict[str, dict[str, str]], *, top: bool
) -> None:
    name = element.get("class") or (MAIN if top else "")
    if not name:
        raise FormatError("A default class must have a name.", where=f"line {element.line}")
    own = dict(above)
    for child in element.children:
        if child.tag == "joint":
            own |= child.attributes
    classes[name] = own
    for child in element.children:
        if child.tag == "default":
            _collect(child, own, classes, top=False)


def vector(text: str, size: int, element: Element, name: str) -> FloatArray:
    """``size`` numbers of an attribute."""
    where = f"line {element.line}, {name}"
    words = text.split(maxsplit=size + 1)
    try:
        values = np.array([float(word) for word in words])
    except ValueError:
        raise FormatError(f"Numbers are needed, got {quoted(text)}.", where=where) from None
    if values.size != size or not np.all(np.abs(values) < LARGEST):
        raise FormatError(f"{size} finite numbers are needed, got {quoted(text)}.", where=where)
    return values


def place_of(element: Element) -> FloatArray:
    """``pos``."""
    return vector(element.get("pos", "0 0 0"), 3, element, "pos")


def turn_of(element: Element, compiler: Compiler) -> FloatArray:
    """The orientation, in whichever of MJCF's five ways it is stated."""
    if text := element.get("quat"):
        return _unit(vector(text, 4, element, "quat"), element)
    if text := element.get("axisangle"):
        values = vector(text, 4, element, "axisangle")
        axis = _unit(values[:3], element)
        return quat.from_axis_angle(axis, compiler.angle(float(values[3])))
    if text := element.get("euler"):
        angles = np.array([compiler.angle(a) for a in vector(text, 3, element, "euler").tolist()])
        if compiler.euler.islower():  # about axes that move along
            return euler_to_quat(angles, compiler.euler.upper())
        if compiler.euler.isupper():
            return euler_to_quat(angles[::-1], compiler.euler[::-1])
        raise FormatError("An eulerseq of mixed case is not read.", where=f"line {element.line}")
    if text := element.get("xyaxes"):
        values = vector(text, 6, element, "xyaxes")
        x = _unit(values[:3], element)
        y = _unit(values[3:] - x * (x @ values[3:]), element)
        return quat.from_matrix(np.stack([x, y, np.cross(x, y)], axis=-1))
    if text := element.get("zaxis"):
        axis = _unit(vector(text, 3, element, "zaxis"), element)
        return quat.between_vectors(np.array([0.0, 0.0, 1.0]), axis)
    return np.array(quat.IDENTITY)


def _unit(values: FloatArray, element: Element) -> FloatArray:
    length = float(np.linalg.norm(values))
    if not length > _SHORTEST:
        raise FormatError("A direction must have a length.", where=f"line {element.line}")
    return values / length


def axis_of(text: str, element: Element) -> FloatArray:
    """A joint's axis, unit length."""
    return _unit(vector(text or "0 0 1", 3, element, "axis"), element)
