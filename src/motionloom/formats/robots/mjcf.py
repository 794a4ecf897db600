"""MuJoCo models (MJCF): the bodies and joints of one robot; shapes and actuators are skipped."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._records import record
from motionloom.errors import FormatError
from motionloom.formats.robots.mjcf_include import Includes
from motionloom.formats.robots.mjcf_values import (
    Compiler,
    axis_of,
    place_of,
    read_compiler,
    turn_of,
    vector,
)
from motionloom.formats.robots.safe_xml import LARGEST_BYTES, Element, parse_xml
from motionloom.formats.text import quoted
from motionloom.motion.skeleton import MAX_JOINTS
from motionloom.reading.opening import read_file
from motionloom.rotation import quat

SIZES = {"free": (7, 6), "ball": (4, 3), "hinge": (1, 1), "slide": (1, 1)}
"""Numbers of ``qpos`` and of ``qvel`` per type of joint."""
_UNREAD = ("attach", "replicate", "composite", "flexcomp")


@dataclass(frozen=True, slots=True, eq=False)
@record
class MjcfJoint:
    """One joint of a body."""

    name: str
    type: str
    body: int
    axis: FloatArray
    anchor: FloatArray
    """Place in the body's frame."""
    reference: float
    """``qpos`` of a hinge or slide in the model's own pose."""
    limits: tuple[float, float] | None
    """Radians or metres; None where there are none."""


@dataclass(slots=True, repr=False)
class Mjcf:
    """Bodies in the order of the file, parents first; the world is not among them."""

    names: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    places: list[FloatArray] = field(default_factory=list)
    turns: list[FloatArray] = field(default_factory=list)
    joints: list[MjcfJoint] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"Mjcf({len(self.names)} bodies, {len(self.joints)} joints)"


def read_mjcf(path: Path) -> Mjcf:
    """The robot in a file."""
    try:
        return parse_mjcf(read_file(path, LARGEST_BYTES), path)
    except FormatError as error:
        raise error if error.path else error.at(path) from None


def parse_mjcf(data: bytes, path: Path | None = None) -> Mjcf:
    """The robot in the text of a file; ``path`` is where the files it includes are near."""
    root = parse_xml(data)
    if root.tag != "mujoco":
        raise FormatError(f"A MuJoCo model must begin with <mujoco>, got <{root.tag[:40]}>.")
    includes = Includes(None if path is None else path.parent)
    if path is not None:
        includes.taken.add(path.resolve())
    includes.resolve(root)
    compiler = read_compiler(root)
    model = Mjcf()
    worlds = [element for element in root.children if element.tag == "worldbody"]
    for element in root.children:
        _refuse_unread(element)
    for world in worlds:
        _children(model, world, compiler, _Above(-1, np.zeros(3), np.array(quat.IDENTITY), ""))
    if not model.names:
        raise FormatError("The model has no bodies.", fix="Pass the file that has <worldbody>.")
    model.joints.sort(key=lambda joint: joint.body)  # as MuJoCo orders them
    moving = [joint for joint in model.joints if joint.type != "free"]
    if not moving:
        raise FormatError("The model has no hinges, slides or balls.")
    for kind, names in (
        ("body", model.names),
        ("joint", [joint.name for joint in model.joints if joint.name]),
    ):
        if len(set(names)) != len(names):
            twice = next(name for i, name in enumerate(names) if name in names[:i])
            raise FormatError(f"Every {kind} must have its own name, {quoted(twice)} comes twice.")
    return model


@dataclass(frozen=True, slots=True, eq=False)
class _Above:
    """Where an element stands: its body, the frame in it, and the class of its joints."""

    body: int
    place: FloatArray
    turn: FloatArray
    childclass: str


def _refuse_unread(element: Element) -> None:
    if element.tag in _UNREAD:
        raise FormatError(
            f"<{element.tag}> is not read.",
            where=f"line {element.line}",
            fix="Save the compiled model: mujoco.mj_saveLastXML('flat.xml', model).",
        )


def _children(model: Mjcf, parent: Element, compiler: Compiler, above: _Above) -> None:
    for element in parent.children:
        _refuse_unread(element)
        if element.tag == "body":
            _body(model, element, compiler, above)
        elif element.tag == "frame":
            place = above.place + quat.rotate(above.turn, place_of(element))
            turn = quat.multiply(above.turn, turn_of(element, compiler))
            named = element.get("childclass") or above.childclass
            _children(model, element, compiler, _Above(above.body, place, turn, named))
        elif element.tag in ("joint", "freejoint") and above.body >= 0:
            _joint(model, element, compiler, above)


def _body(model: Mjcf, element: Element, compiler: Compiler, above: _Above) -> None:
    if len(model.names) >= MAX_JOINTS:
        raise FormatError(f"A robot may have {MAX_JOINTS} bodies.", where=f"line {element.line}")
    index = len(model.names)
    model.names.append(element.get("name") or f"body_{index}")
    model.parents.append(above.body)
    model.places.append(above.place + quat.rotate(above.turn, place_of(element)))
    model.turns.append(quat.multiply(above.turn, turn_of(element, compiler)))
    named = element.get("childclass") or above.childclass
    _children(model, element, compiler, _Above(index, np.zeros(3), np.array(quat.IDENTITY), named))


def _joint(model: Mjcf, element: Element, compiler: Compiler, above: _Above) -> None:
    attributes = compiler.attributes(element, above.childclass)
    kind = "free" if element.tag == "freejoint" else attributes.get("type", "hinge")
    if kind not in SIZES:
        raise FormatError(f"{quoted(kind)} is no type of joint.", where=f"line {element.line}")
    others = [joint for joint in model.joints if joint.body == above.body]
    if kind == "free" and (model.parents[above.body] >= 0 or others):
        raise FormatError("A free joint must be alone at the top.", where=f"line {element.line}")
    if any(joint.type in ("free", "ball") for joint in others) or len(model.joints) >= MAX_JOINTS:
        raise FormatError(
            "Nothing may follow a free joint or a ball on one body.", where=f"line {element.line}"
        )
    turns = kind == "hinge"
    reference = float(vector(attributes.get("ref", "0"), 1, element, "ref")[0])
    model.joints.append(
        MjcfJoint(
            element.get("name") or f"joint_{len(model.joints)}",
            kind,
            above.body,
            quat.rotate(above.turn, axis_of(attributes.get("axis", ""), element)),
            above.place
            + quat.rotate(above.turn, vector(attributes.get("pos", "0 0 0"), 3, element, "pos")),
            compiler.angle(reference) if turns else reference,
            _limits(attributes, element, compiler, angle=turns),
        )
    )


def _limits(
    attributes: dict[str, str], element: Element, compiler: Compiler, *, angle: bool
) -> tuple[float, float] | None:
    if "range" not in attributes or attributes.get("limited") == "false":
        return None
    low, high = vector(attributes["range"], 2, element, "range").tolist()
    if low == high == 0.0:
        return None
    return (compiler.angle(low), compiler.angle(high)) if angle else (low, high)
