"""DeepMimic motions: JSON with one row of numbers per frame; another file has the skeleton.

A row is the frame's duration, the root's position and rotation, and then every joint in the
skeleton's order: four numbers (w, x, y, z) for a spherical joint, one angle about z for a hinge.
Metres, Y up; the character faces +X.

Rows are parsed one at a time: parsed as a whole, a list of numbers takes eight times the memory of
its text.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Callable
from types import MappingProxyType
from typing import Any, BinaryIO, NoReturn

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import FormatError
from motionloom.files.limits import Budget, Limits
from motionloom.findings import Finding
from motionloom.formats.deepmimic.deepmimic_skeleton import HUMANOID, Character, skeletons_nearby
from motionloom.formats.file_clip import FileClip, ReadOptions
from motionloom.formats.registry import Format
from motionloom.formats.text import LARGEST, MARK, decoded, quoted, read_bounded
from motionloom.motion.motion import Motion
from motionloom.rotation import quat

_CUSTOMARY_FPS = 30.0
_SAME_DURATION = 1e-4
_UNIT = 1e-2
_NO_DIRECTION = 1e-6
_OPENING = re.compile(rb"\s*\{")
_LONGEST_ROW = 1 << 20
"""Characters of one row."""
_MOST_OTHERS = 1 << 16
"""Characters in the file outside of its rows."""
_ROWS_AT_ONCE = 256
_BLANKS = re.compile(r"[ \t\n\r]*+")


def read(stream: BinaryIO, options: ReadOptions) -> FileClip:
    """The clip in a DeepMimic motion file, in metres."""
    limits = options.limits
    budget = Budget.of(stream, limits)
    data = read_bounded(stream, limits, budget)
    facts, rows, character = read_rows(
        data, limits, budget, lambda width: _character(width, options, budget)
    )
    findings: list[Finding] = []
    roots = rows[:, 1:4].copy()
    quats = quat.make_continuous(_local_quats(rows, character, findings))
    fps, times = _timing(rows[:, 0], findings)
    if times is not None:
        roots, quats = _at_constant_rate(times, fps or _CUSTOMARY_FPS, roots, quats, budget)
    return FileClip(
        Motion(character.skeleton, roots, quats, fps or _CUSTOMARY_FPS),
        unit_m=1.0,
        up="y",
        fps_stated=fps is not None,
        detail=MappingProxyType({"loop": facts.get("Loop") == "wrap"}),
        findings=tuple(findings),
    )


def _character(width: int, options: ReadOptions, budget: Budget) -> Character:
    """The skeleton whose joints take just as many values as a row has."""
    most = options.limits.max_joints
    if options.skeleton is not None:
        characters = [Character.from_file(options.skeleton, most, budget)]
    else:
        characters = [HUMANOID, *skeletons_nearby(options.path, most, budget)]
    for character in characters:
        if character.width == width:
            return character
    wanted = " or ".join(str(character.width) for character in characters)
    raise FormatError(
        f"A frame must have {wanted} values for this skeleton, got {width}.",
        where="frame 0",
        fix="Say the character's file with skeleton=.",
    )


def read_rows(
    data: bytes, limits: Limits, budget: Budget, character_of: Callable[[int], Character]
) -> tuple[dict[str, Any], FloatArray, Character]:
    """The other values of the file, its frames as an array, and the character that they fit.

    Parameters
    ----------
    data
        The file.
    limits, budget
        Bounds on frames, and on memory.
    character_of
        The character whose rows have this many numbers.
    """
    largest = int(np.frombuffer(data, np.uint8).max(initial=0))
    budget.take(len(data) * (4 if largest >= 0xF0 else 2 if largest >= 0xC4 else 1), "its text")
    return _Parser(decoded(data), limits, budget, character_of).parse()


class _Parser:
    """Reads the object in the file key by key, and the list under ``Frames`` row by row."""

    def __init__(
        self, text: str, limits: Limits, budget: Budget, character_of: Callable[[int], Character]
    ) -> None:
        self.character_of = character_of
        self.character: Character | None = None
        self.text = text
        self.at = 0
        self.limits = limits
        self.budget = budget
        self.others_left = _MOST_OTHERS
        self.numbers = array("d")
        self.width = self.n_rows = 0
        self.decode = json.JSONDecoder(parse_constant=_refuse_constant).raw_decode

    def parse(self) -> tuple[dict[str, Any], FloatArray, Character]:
        if self.next() != "{":
            raise FormatError("The file must be a JSON object with `Frames`.", where="line 1")
        facts: dict[str, Any] = {}
        self.at += 1
        mark = self.next()
        while mark != "}":
            key = self.value() if mark == '"' else self.fail("a name in quotes must follow")
            if self.next() != ":":
                self.fail("a colon must follow")
            self.at += 1
            if self.next() == "[" and key == "Frames":
                self.width = self.n_rows = 0
                del self.numbers[:]
                self.rows()
            else:
                facts[key] = self.value()
            mark = self.next()
            if mark == ",":
                self.at += 1
                mark = self.next()
            elif mark != "}":
                self.fail("a comma or a brace must follow")
        self.at += 1
        if self.next():
            self.fail("nothing must follow")
        if not self.n_rows or self.character is None:
            raise FormatError("`Frames` must be a list with at least one frame.", where="Frames")
        return facts, self.finished(), self.character

    def rows(self) -> None:
        """The list under ``Frames``; its first row says how many numbers are in each."""
        self.at += 1
        if self.next() == "]":
            self.at += 1
            return
        while True:
            self.row()
            mark = self.next()
            self.at += 1
            if mark == "]":
                return
            if mark != ",":
                self.at -= 1
                self.fail("a comma or a bracket must follow")

    def row(self) -> None:
        if self.next() != "[":
            self.refuse_row(quoted(str(self.value())))
        stop = self.text.find("]", self.at, self.at + _LONGEST_ROW)
        if stop < 0:
            self.fail(f"a frame must end within {_LONGEST_ROW} characters")
        if self.text.find("[", self.at + 1, stop) > 0:
            self.refuse_value("a list")
        row = self.parsed(stop + 1)
        if len(row) != self.width or not row:
            if self.n_rows or not row:
                self.refuse_row(f"{len(row)} values")
            self.width = len(row)
            self.character = self.character_of(self.width)
        if not {float, int}.issuperset(map(type, row)):
            odd = next(value for value in row if type(value) not in (float, int))
            self.refuse_value(quoted(str(odd)))
        try:
            self.numbers.extend(row)
        except OverflowError:
            raise FormatError("A value is too large for a number.", where="Frames") from None
        self.n_rows += 1
        if self.n_rows > self.limits.max_frames:
            raise FormatError(
                f"A clip may have at most {self.limits.max_frames} frames; this one has more."
            )
        if self.n_rows % _ROWS_AT_ONCE == 0:
            self.check_memory()

    def check_memory(self) -> None:
        """Raise where the rows, or the clip that they become, take too much."""
        assert self.character is not None
        self.budget.check(16 * len(self.numbers), "its numbers", f"frame {self.n_rows}")
        self.budget.check_poses(self.n_rows, self.character.skeleton.n_joints)

    def refuse_row(self, got: str) -> NoReturn:
        raise FormatError(
            f"Every frame must be a list of {self.width or 44} numbers, got {got}.",
            where=f"frame {self.n_rows}",
        )

    def refuse_value(self, got: str) -> NoReturn:
        raise FormatError(f"Every value must be a number, got {got}.", where=f"frame {self.n_rows}")

    def finished(self) -> FloatArray:
        self.check_memory()
        rows = np.frombuffer(self.numbers, dtype=np.float64).reshape(self.n_rows, self.width)
        if not (sane := np.abs(rows) <= LARGEST).all():
            frame = int(np.argwhere(~sane)[0, 0])
            raise FormatError(
                f"A value must be finite and at most {LARGEST:g}.", where=f"frame {frame}"
            )
        return rows

    def next(self) -> str:
        """The next character that is no blank, empty at the end; it is not passed over."""
        match = _BLANKS.match(self.text, self.at)
        assert match is not None
        self.at = match.end()
        return self.text[self.at : self.at + 1]

    def value(self) -> Any:
        """Any value that is no row: all of them together must be short."""
        start, most = self.at, self.at + self.others_left
        try:
            value = self.parsed(most)
        except FormatError:
            if most >= len(self.text):
                raise
            self.at = most
        self.others_left -= self.at - start
        if self.others_left <= 0:
            raise FormatError(
                f"What is not in `Frames` must have at most {_MOST_OTHERS} characters.",
                where=self.line(),
                fix="This may not be a DeepMimic motion.",
            )
        return value

    def parsed(self, stop: int) -> Any:
        """The value that begins here and ends before ``stop``."""
        try:
            value, length = self.decode(self.text[self.at : stop])
        except json.JSONDecodeError as error:
            self.at += error.pos
            self.fail(error.msg)
        except (RecursionError, ValueError) as error:
            raise FormatError(f"The file must be plain JSON ({quoted(str(error))}).") from None
        self.at += length
        return value

    def line(self) -> str:
        return f"line {1 + self.text.count(chr(10), 0, self.at)}"

    def fail(self, problem: str) -> NoReturn:
        raise FormatError(
            f"The file must be JSON ({problem}).",
            where=self.line(),
            fix="It may have been cut short.",
        )


def _refuse_constant(name: str) -> NoReturn:
    raise FormatError(
        f"A value must be finite, got {name}.", where="Frames", fix="Repair or cut this frame."
    )


def _local_quats(rows: FloatArray, character: Character, findings: list[Finding]) -> FloatArray:
    quats = np.zeros((len(rows), character.skeleton.n_joints, 4))
    quats[..., 0] = 1.0
    worst = 0.0
    at = 4
    for joint, size in enumerate(character.sizes):
        values = rows[:, at : at + size]
        at += size
        if size == 1:
            half = 0.5 * values[:, 0]
            quats[:, joint, 0], quats[:, joint, 3] = np.cos(half), np.sin(half)
        elif size == 4:
            norms = np.linalg.norm(values, axis=1)
            if norms.min() < _NO_DIRECTION:
                raise FormatError(
                    f"A rotation of {quoted(character.skeleton.names[joint])} is no quaternion.",
                    where=f"frame {int(norms.argmin())}",
                    fix="Repair or cut this frame.",
                )
            worst = max(worst, float(np.abs(norms - 1.0).max()))
            quats[:, joint] = values / norms[:, None]
    if worst > _UNIT:
        findings.append(
            Finding(
                "warning",
                "Frames",
                f"Quaternions are off unit length by up to {worst:.2g}; they were normalised.",
                "Check that they are (w, x, y, z).",
            )
        )
    return quat.multiply(character.skeleton.rest_quats, quats)


def _timing(
    durations: FloatArray, findings: list[Finding]
) -> tuple[float | None, FloatArray | None]:
    """Frames per second, and every frame's time where the durations differ."""
    steps = durations[:-1] if len(durations) > 1 else durations  # the last one leads nowhere
    typical = float(np.median(steps))
    with np.errstate(over="ignore", divide="ignore"):
        fps = float(np.float64(1.0) / typical)
    if not (typical > 0.0 and np.isfinite(fps)):
        findings.append(
            Finding(
                "warning",
                "Frames",
                f"Durations must be above 0 seconds, got {typical:g}; "
                f"{_CUSTOMARY_FPS:g} frames per second were assumed.",
                "Say the rate with fps=.",
            )
        )
        return None, None
    if np.abs(steps - typical).max() <= _SAME_DURATION * typical:
        return fps, None
    if steps.min() < 0.0:
        raise FormatError(
            f"A duration must not be negative, got {steps.min():g}.",
            where=f"frame {int(steps.argmin())}",
        )
    findings.append(
        Finding(
            "warning",
            "Frames",
            f"Durations differ ({steps.min():g} to {steps.max():g} s); "
            f"the motion was resampled at {fps:.6g} frames per second.",
        )
    )
    return fps, np.concatenate([[0.0], np.cumsum(steps)])


def _at_constant_rate(
    times: FloatArray, fps: float, roots: FloatArray, quats: FloatArray, budget: Budget
) -> tuple[FloatArray, FloatArray]:
    """Root positions and rotations at ``0, 1 / fps, 2 / fps ...`` up to the last time."""
    n_frames = int(np.floor(times[-1] * fps + 1e-6)) + 1
    # One very long duration must not make a small file large.
    if n_frames > 16 * len(times):
        raise FormatError(
            f"The durations differ too much: {n_frames} frames would stand for {len(times)}.",
            where="Frames",
            fix="Give every frame the same duration.",
        )
    budget.check_poses(n_frames, quats.shape[1])
    wanted = np.minimum(np.arange(n_frames) / fps, times[-1])
    after = np.clip(np.searchsorted(times, wanted, side="right"), 1, len(times) - 1)
    before = after - 1
    gap = times[after] - times[before]
    t = np.where(gap > 0.0, (wanted - times[before]) / np.where(gap > 0.0, gap, 1.0), 0.0)
    moved = roots[before] + t[:, None] * (roots[after] - roots[before])
    return moved, quat.slerp(quats[before], quats[after], t[:, None])


def _sniff(head: bytes) -> bool:
    head = head.removeprefix(MARK)
    return bool(_OPENING.match(head)) and (b'"Frames"' in head or b'"Loop"' in head)


FORMAT = Format(
    name="deepmimic",
    title="DeepMimic motion",
    suffixes=(".txt",),
    sniff=_sniff,
    read=read,
    unit_m=1.0,
)
