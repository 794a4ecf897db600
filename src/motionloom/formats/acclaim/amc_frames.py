"""Frames of AMC files: a table of numbers, read line by line."""

from __future__ import annotations

from array import array
from contextlib import suppress
from dataclasses import dataclass
from typing import BinaryIO

from motionloom._arrays import positive
from motionloom.errors import ArrayError, FormatError
from motionloom.findings import Finding
from motionloom.formats.acclaim.asf import AcclaimSkeleton
from motionloom.formats.text import MARK, quoted, refuse_wide_text
from motionloom.reading.size_limits import Budget, Limits

_LONGEST_LINE = 1 << 16
_MOST_FINDINGS = 20
_BYTES_PER_FRAME = 256
"""Memory that turning the angles of one bone into rotations takes for each frame."""


@dataclass(slots=True)
class Slot:
    """Where a bone's values go in a row."""

    first: int
    stop: int
    index: int


class FrameTable:
    """The values of every frame, one row each, in the order of the skeleton's bones."""

    def __init__(self, body: AcclaimSkeleton, limits: Limits, budget: Budget) -> None:
        self.limits = limits
        self.budget = budget
        self.n_idle = self.n_empty = 0
        self.slots: dict[bytes, Slot] = {}
        self.names: list[str] = []
        at = 0
        for bone in body.bones:
            if bone.dofs:
                name = bone.name.encode("utf-8")
                self.slots[name] = Slot(at, at + len(bone.dofs), len(self.slots))
                self.names.append(bone.name)
                at += len(bone.dofs)
        self.unmoved = {b.name.encode("utf-8") for b in body.bones if not b.dofs}
        self.n_joints = len(body.bones)
        self.degrees = body.degrees
        self.fps: float | None = None
        self.row = [0.0] * at
        self.seen = bytearray(len(self.slots))
        self.values = array("d")
        self.n_frames = 0
        self.number: int | None = None
        self.lines_in_frame = 0
        self.findings: list[Finding] = []
        self.held: dict[int, int] = {}
        self.n_jumps = 0
        self.cut_short = False
        self.n_bytes = 0

    def take(self, stream: BinaryIO) -> None:
        """Read all frames."""
        line = 0
        while raw := stream.readline(_LONGEST_LINE):
            line += 1
            if line == 1:
                refuse_wide_text(raw)
                raw = raw.removeprefix(MARK)
            self.n_bytes += len(raw)
            if self.n_bytes > self.limits.max_bytes:
                raise FormatError(
                    f"A file may have at most {self.limits.max_bytes} bytes, and this has more."
                )
            if len(raw) == _LONGEST_LINE:
                raise FormatError("A line must not be that long.", where=f"line {line}")
            words = (raw.split(b"#", 1)[0] if b"#" in raw else raw).split()
            if len(words) > 1 and self.plain_line(words):
                continue
            if not words or words[0].startswith(b":"):
                self.idle_line(words, line)
            elif len(words) == 1 and words[0].isdigit():
                self.begin_frame(words[0], line)
            else:
                self.bone_line(words, line, last=not raw.endswith((b"\n", b"\r")))
        self.end(line)

    def plain_line(self, words: list[bytes]) -> bool:
        """Take the values of a bone, as nearly all lines have them; False where some are odd."""
        slot = self.slots.get(words[0])
        if slot is None or self.number is None or len(words) - 1 != slot.stop - slot.first:
            return False
        try:
            self.row[slot.first : slot.stop] = [float(word) for word in words[1:]]
        except ValueError:
            return False
        self.seen[slot.index] = 1
        self.lines_in_frame += 1
        return True

    def idle_line(self, words: list[bytes], line: int) -> None:
        """A line without a frame and a bone."""
        self.n_idle += 1
        if 2 * self.n_idle > line + _IDLE_LINES:
            raise FormatError(
                f"Of {line} lines {self.n_idle} are empty or comments; at most half and "
                f"{_IDLE_LINES // 2} more may be.",
                where=f"line {line}",
                fix="Remove the empty lines.",
            )
        if words:
            self.keyword(words, line)

    def keyword(self, words: list[bytes], line: int) -> None:
        """Read a line that begins with a colon."""
        word = words[0].upper()
        if word == b":RADIANS":
            self.degrees = False
        elif word == b":DEGREES":
            self.degrees = True
        elif word == b":SAMPLES-PER-SECOND" and len(words) > 1:
            with suppress(ValueError, ArrayError):
                self.fps = positive(float(words[1]), "fps")
        elif word in (b":VERSION", b":BONEDATA"):
            raise FormatError(
                "An AMC motion must follow here, and this is an ASF skeleton.",
                where=f"line {line}",
                fix="Load the .amc file; its .asf is found next to it.",
            )

    def begin_frame(self, word: bytes, line: int) -> None:
        """Begin the frame of this number."""
        if self.number is not None:
            self.end_frame()
        number = int(word[:18])
        if self.number is not None and number != self.number + 1:
            self.n_jumps += 1
            if self.n_jumps == 1:
                self.note(
                    f"line {line}",
                    f"Frame {number} follows frame {self.number}; frames were taken in file order.",
                )
        self.number = number

    def end_frame(self) -> None:
        """End a frame; bones that it leaves out stay as they were."""
        if self.lines_in_frame == 0 and self.n_frames > 0:
            self.note(f"frame {self.number}", "The frame is empty; the one before was held.")
            self.n_empty += 1
            if 2 * self.n_empty > self.n_frames + _EMPTY_FRAMES:
                raise FormatError(
                    f"Of {self.n_frames + 1} frames {self.n_empty} are empty; at most half and "
                    f"{_EMPTY_FRAMES // 2} more may be.",
                    where=f"frame {self.number}",
                )
        if not all(self.seen):
            for index, seen in enumerate(self.seen):
                if not seen:
                    self.held[index] = self.held.get(index, 0) + 1
        self.n_frames += 1
        if self.n_frames > self.limits.max_frames:
            raise FormatError(f"A clip may have at most {self.limits.max_frames} frames.")
        if self.n_frames % 256 == 0:
            self.check_memory()
        self.values.extend(self.row)
        self.seen = bytearray(len(self.slots))
        self.lines_in_frame = 0

    def bone_line(self, words: list[bytes], line: int, *, last: bool) -> None:
        """A line that is no plain one: cut short, of a bone that does not move, or broken."""
        name, texts = words[0], words[1:]
        slot = self.slots.get(name)
        if self.number is None:
            raise FormatError(
                f"A frame number must stand before the first bone, got {quoted(name)}.",
                where=f"line {line}",
            )
        count = 0 if slot is None else slot.stop - slot.first
        if last and (slot is None or len(texts) < count):
            self.cut_short = True
            return
        if slot is None:
            if name in self.unmoved and not texts:
                return
            raise FormatError(
                f"The skeleton has no bone {quoted(name)} that moves.",
                where=f"line {line}",
                fix="It may be another subject's skeleton; say which with skeleton=.",
            )
        raise FormatError(
            f"Bone {quoted(name)} must have {count} numbers, got {quoted(b' '.join(texts))}.",
            where=f"line {line}",
            fix="Repair the line, or pass another skeleton as skeleton=.",
        )

    def end(self, line: int) -> None:
        """Close the last frame, unless the file was cut short in it."""
        if self.number is not None:
            whole = all(self.seen) or self.held
            if self.cut_short or (not whole and self.n_frames > 0):
                self.note(
                    f"frame {self.number}",
                    "The last frame is incomplete; it was left out.",
                    "The file may have been cut short.",
                )
            else:
                self.end_frame()
        if self.n_frames == 0:
            raise FormatError(
                "A clip must have at least one whole frame, got none.", where=f"line {line}"
            )
        self.check_memory()
        for index, count in self.held.items():
            what = "at rest" if count == self.n_frames else "held"
            self.note(
                "frames",
                f"Bone {quoted(self.names[index])} lacks in {count} frames; it was {what}.",
            )

    def check_memory(self) -> None:
        """Raise where the frames take too much."""
        self.budget.used = 16 * len(self.values)
        self.budget.check_poses(self.n_frames, self.n_joints, per_frame=_BYTES_PER_FRAME)

    def note(self, where: str, problem: str, fix: str = "") -> None:
        """Add a warning, if there are not too many."""
        if len(self.findings) < _MOST_FINDINGS:
            self.findings.append(Finding("warning", where, problem, fix))


_IDLE_LINES, _EMPTY_FRAMES = 1_000_000, 1000
"""Lines without a bone, and frames without one, that a file may have besides as many with some."""
