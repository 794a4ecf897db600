"""ASF: the skeleton that Acclaim AMC motions use."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import FormatError
from motionloom.findings import Finding
from motionloom.formats.text import decoded, quoted
from motionloom.motion.motion import Skeleton
from motionloom.rotation import euler

ROOT = "root"
_DOFS = frozenset(("rx", "ry", "rz", "tx", "ty", "tz", "l"))
_INCH_M = 0.0254
_LARGEST = 1e6  # a direction times a length must stay below what is read as a number
_SMALLEST_UNIT = 1e-6
_LINE = re.compile(r"([^\r\n]*+)(?:\r\n?|\n|\Z)")


@dataclass(slots=True)
class Bone:
    """One bone as the file states it; the root is one of no length."""

    name: str
    line: int
    direction: tuple[float, ...] = (0.0, 0.0, 0.0)
    length: float = 0.0
    axis: tuple[float, ...] = (0.0, 0.0, 0.0)
    axis_order: str = "XYZ"
    dofs: tuple[str, ...] = ()

    @property
    def vector(self) -> FloatArray:
        """From the bone's start to its end, in the skeleton's axes."""
        return self.length * np.array(self.direction)


@dataclass(slots=True)
class AcclaimSkeleton:
    """A skeleton and what is needed to read values onto it."""

    bones: list[Bone]
    """Root first, in the order of ``skeleton.names``."""
    skeleton: Skeleton
    axes: FloatArray
    """``q_skeleton_bone``: the axes that each bone's angles turn about. Shape (J, 4)."""
    root_position: FloatArray
    unit_m: float | None
    degrees: bool
    findings: list[Finding] = field(default_factory=list)


def fixed_axes_quat(angles: FloatArray, letters: str) -> FloatArray:
    """Turns about fixed axes, the first letter's first: ``"XYZ"`` is ``Rz Ry Rx``. (..., 4)."""
    return euler.euler_to_quat(angles[..., ::-1], letters[::-1])


def parse_asf(data: bytes, *, max_joints: int) -> AcclaimSkeleton:
    """The skeleton in the text of an ASF file."""
    return _Parser(data, max_joints).parse()


class _Parser:
    def __init__(self, data: bytes, max_joints: int) -> None:
        self.max_joints = max_joints
        self.lines = _LINE.finditer(decoded(data))
        self.at = 0
        self.root = Bone(ROOT, 0, dofs=("tx", "ty", "tz", "rx", "ry", "rz"))
        self.root_position: tuple[float, ...] = (0.0, 0.0, 0.0)
        self.bones: dict[str, Bone] = {}
        self.parents: dict[str, str] = {}
        self.length_factor = 1.0
        self.degrees = True
        self.findings: list[Finding] = []

    def parse(self) -> AcclaimSkeleton:
        section = ""
        for words in self.words():
            if words[0].startswith(":"):
                section = words[0].lower()
            elif section == ":units":
                self.units(words)
            elif section == ":root":
                self.root_line(words)
            elif section == ":bonedata" and words[0].lower() == "begin":
                self.bone()
            elif section == ":hierarchy" and words[0].lower() not in ("begin", "end"):
                self.hierarchy_line(words)
        return self.skeleton()

    def words(self) -> Iterator[list[str]]:
        """The words of every line that has some, comments left out."""
        for match in self.lines:
            line = match[1].split("#", 1)[0]
            self.at += 1
            if words := line.replace("(", " ").replace(")", " ").replace("\x00", " ").split():
                yield words

    def units(self, words: list[str]) -> None:
        if words[0].lower() == "length":
            (self.length_factor,) = self.numbers(words[1:], 1)
            if self.length_factor < _SMALLEST_UNIT:
                self.fail(f"The unit of length must be well above 0, got {quoted(words[1])}.")
        elif words[0].lower() == "angle" and len(words) > 1:
            self.degrees = not words[1].lower().startswith("rad")

    def root_line(self, words: list[str]) -> None:
        word, rest = words[0].lower(), words[1:]
        if word == "order":
            self.root.dofs = self.dofs(rest)
        elif word == "axis":
            self.root.axis_order = self.axis_order(rest)
        elif word == "position":
            self.root_position = self.numbers(rest, 3)
        elif word == "orientation":
            self.root.axis = self.numbers(rest, 3)

    def bone(self) -> None:
        """The lines between a bone's begin and its end."""
        bone = Bone("", self.at)
        for words in self.words():
            word, rest = words[0].lower(), words[1:]
            if word == "end":
                break
            if word == "name" and rest:
                bone.name = rest[0]
            elif word == "direction":
                bone.direction = self.numbers(rest, 3)
            elif word == "length":
                (bone.length,) = self.numbers(rest, 1)
            elif word == "axis":
                bone.axis, bone.axis_order = self.numbers(rest, 3), self.axis_order(rest[3:])
            elif word == "dof":
                bone.dofs = self.dofs(rest)
            elif word.startswith(":"):
                self.fail("A bone must close with `end`.")
        if not bone.name:
            self.fail("A bone must have a name.")
        if bone.name in self.bones or bone.name == ROOT:
            self.fail(f"Bone names must be unique, got {quoted(bone.name)} twice.")
        if len(self.bones) + 1 >= self.max_joints:
            self.fail(f"A skeleton may have at most {self.max_joints} joints; this one has more.")
        self.bones[bone.name] = bone

    def hierarchy_line(self, words: list[str]) -> None:
        for name in words:
            if name != ROOT and name not in self.bones:
                self.fail(f"The hierarchy names {quoted(name)}, which is no bone.")
        for name in words[1:]:
            if name == ROOT or name in self.parents:
                self.fail(f"A bone must hang on one other, and {quoted(name)} hangs on two.")
            self.parents[name] = words[0]

    def skeleton(self) -> AcclaimSkeleton:
        """Joints at the start of their bones, so that each one turns what it is called after."""
        children: dict[str, list[str]] = {}
        for name, parent in self.parents.items():
            children.setdefault(parent, []).append(name)
        bones: list[Bone] = []
        parents: list[int] = []
        todo = [(ROOT, -1)]
        while todo:
            name, above = todo.pop()
            index = len(bones)
            bones.append(self.root if name == ROOT else self.bones[name])
            parents.append(above)
            todo += [(child, index) for child in reversed(children.get(name, []))]
        if len(bones) == 1:
            self.fail("A skeleton must have bones that hang on its root, got none.")
        if loose := set(self.bones) - {bone.name for bone in bones}:
            self.findings.append(
                Finding(
                    "warning",
                    "skeleton",
                    f"{len(loose)} bones do not hang on the root and were left out: "
                    f"{', '.join(sorted(loose)[:5])}.",
                )
            )
        offsets = [bones[parent].vector if parent >= 0 else np.zeros(3) for parent in parents]
        leaves = [i for i, bone in enumerate(bones) if i and bone.name not in children]
        to_radians = math.pi / 180.0 if self.degrees else 1.0
        axes = [
            fixed_axes_quat(to_radians * np.array(bone.axis), bone.axis_order) for bone in bones
        ]
        # `length 0.45` means that lengths were multiplied by 0.45 in inches; 1 says nothing.
        stated = self.length_factor != 1.0
        return AcclaimSkeleton(
            bones,
            Skeleton(
                tuple(bone.name for bone in bones),
                np.array(parents),
                np.array(offsets),
                end_parents=np.array(leaves, dtype=np.int64),
                end_offsets=np.array([bones[i].vector for i in leaves]),
            ),
            np.array(axes),
            np.array(self.root_position),
            _INCH_M / self.length_factor if stated else None,
            self.degrees,
            self.findings,
        )

    def numbers(self, words: list[str], count: int) -> tuple[float, ...]:
        try:
            values = tuple(float(word) for word in words[:count])
        except ValueError:
            values = ()
        if len(values) != count or not all(abs(value) <= _LARGEST for value in values):
            self.fail(f"There must be {count} finite numbers, got {quoted(' '.join(words))}.")
        return values

    def axis_order(self, words: list[str]) -> str:
        order = words[0].upper() if words else "XYZ"
        if sorted(order) != ["X", "Y", "Z"]:
            self.fail(f"An axis order must be X, Y and Z in some order, got {quoted(order)}.")
        return order

    def dofs(self, words: list[str]) -> tuple[str, ...]:
        dofs = tuple(word.lower() for word in words)
        if not _DOFS.issuperset(dofs) or len(set(dofs)) != len(dofs):
            self.fail(
                f"Degrees of freedom must be rx ry rz tx ty tz l, got {quoted(' '.join(words))}."
            )
        return dofs

    def fail(self, problem: str) -> NoReturn:
        raise FormatError(problem, where=f"skeleton, line {self.at}")
