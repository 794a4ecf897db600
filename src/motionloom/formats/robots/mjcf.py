"""MuJoCo models (MJCF): the bodies and joints of one robot; shapes and actuators are skipped.

Anybody may have written the XML: it may hold no declarations and no entities, and its size, its
depth and the files that it includes are bounded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import NoReturn
from xml.parsers import expat

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._records import record
from motionloom.errors import FormatError
from motionloom.files.reading import read_file
from motionloom.formats.text import LARGEST, quoted
from motionloom.motion.motion import MAX_JOINTS
from motionloom.rotation import quat
from motionloom.rotation.euler import euler_to_quat

SIZES = {"free": (7, 6), "ball": (4, 3), "hinge": (1, 1), "slide": (1, 1)}
"""Numbers of ``qpos`` and of ``qvel`` per type of joint."""
_UNREAD = ("attach", "replicate", "composite", "flexcomp")
MAIN = "main"
_SHORTEST = 1e-8
MOST_FILES = 64
ROOTS = ("mujoco", "mujocoinclude")
"""Root elements that an included file may have; their children are taken."""
MOST_ELEMENTS = 200_000
DEEPEST = 200
LARGEST_BYTES = 32 << 20


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


class Includes:
    """The files of one model, each of which may be included once, as in MuJoCo."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.taken: set[Path] = set()
        self.n_bytes = 0

    def resolve(self, element: Element, depth: int = 0) -> None:
        """Replace every ``<include>`` within an element by what its file holds."""
        if depth > DEEPEST:
            raise FormatError(
                f"Elements may be {DEEPEST} deep, with those of included files.",
                where=f"line {element.line}",
            )
        children: list[Element] = []
        for child in element.children:
            if child.tag == "include":
                root = self._file(child)
                self.resolve(root, depth + 1)
                children += root.children
            else:
                self.resolve(child, depth + 1)
                children.append(child)
        element.children = children

    def _file(self, element: Element) -> Element:
        name, where = element.get("file"), f"line {element.line}"
        if self.folder is None:
            raise FormatError(
                f"The model includes {quoted(name)}, which a text cannot reach.",
                where=where,
                fix="Load it by its path.",
            )
        path = self._place(name, self.folder.resolve(), where)
        if path in self.taken or len(self.taken) >= MOST_FILES:
            raise FormatError(
                f"A file may be included once, {MOST_FILES} in all; {quoted(name)} is one more.",
                where=where,
            )
        self.taken.add(path)
        try:
            data = read_file(path, LARGEST_BYTES)
            self.n_bytes += len(data)
            if self.n_bytes > LARGEST_BYTES:
                raise FormatError(f"Included files may have {LARGEST_BYTES} bytes together.")
            root = parse_xml(data)
            if root.tag not in ROOTS:
                raise FormatError(
                    f"An included file must begin with <mujoco>, got <{root.tag[:40]}>."
                )
        except FormatError as error:
            raise error if error.path else error.at(path) from None
        return root

    @staticmethod
    def _place(name: str, folder: Path, where: str) -> Path:
        """A file in the folder of the model or below it, and no other."""
        relative = PurePosixPath(name)
        unsafe = not name or ":" in name or "\\" in name or "\0" in name
        try:
            path = Path(folder, *relative.parts).resolve()
            unsafe = unsafe or relative.is_absolute() or not path.is_relative_to(folder)
        except (OSError, ValueError, RuntimeError):
            unsafe = True
        if unsafe:
            raise FormatError(
                f"Files are only included from the model's folder, got {quoted(name)}.",
                where=where,
                fix="Save the compiled model: mujoco.mj_saveLastXML('flat.xml', model).",
            )
        return path


@dataclass(slots=True)
class Element:
    """One element: its name, attributes, children, and the line it begins on."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)

    def get(self, name: str, default: str = "") -> str:
        """An attribute, or the default."""
        return self.attributes.get(name, default)


def parse_xml(data: bytes) -> Element:
    """The root element.

    Raises
    ------
    FormatError
        The text is no XML, declares a document type (which could name other files, or entities
        that grow), or is too large or too deep.
    """
    if len(data) > LARGEST_BYTES:
        raise FormatError(f"A model may have at most {LARGEST_BYTES} bytes, got {len(data)}.")
    top = Element("", {}, 0)
    open_elements = [top]
    count = 0
    parser = expat.ParserCreate()

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > MOST_ELEMENTS or len(open_elements) > DEEPEST:
            raise FormatError(
                f"XML may have {MOST_ELEMENTS} elements, {DEEPEST} deep.",
                where=f"line {parser.CurrentLineNumber}",
            )
        element = Element(tag, attributes, parser.CurrentLineNumber)
        open_elements[-1].children.append(element)
        open_elements.append(element)

    def refuse(*_: object) -> NoReturn:
        raise FormatError(
            "XML with a document type or entities is not read.",
            where=f"line {parser.CurrentLineNumber}",
            fix="Remove the <!DOCTYPE ...> declaration.",
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: open_elements.pop()
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise FormatError(
            f"The text must be XML ({expat.errors.messages.get(error.code, 'broken')}).",
            where=f"line {error.lineno}",
        ) from error
    except (ValueError, LookupError) as error:  # an encoding that is not known
        raise FormatError(f"The text must be XML ({error}).") from error
    return top.children[0]
