"""AMC: Acclaim motions, on a skeleton in an ASF file next to them.

Angles turn about the axes of their bone: ``C R C^-1`` with ``R = Rz Ry Rx`` for ``rx ry rz``.
Most AMC files hold no frame rate; 120 per second is the custom.
"""

from __future__ import annotations

import re
from array import array
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO

import numpy as np

from motionloom._arrays import positive
from motionloom.errors import ArrayError, FormatError
from motionloom.files.limits import Budget, Limits
from motionloom.files.reading import read_file
from motionloom.findings import Finding
from motionloom.formats.acclaim.asf import ROOT, AcclaimSkeleton, fixed_axes_quat, parse_asf
from motionloom.formats.file_clip import FileClip, ReadOptions
from motionloom.formats.registry import Format
from motionloom.formats.text import LARGEST, MARK, quoted, refuse_wide_text
from motionloom.motion.motion import MAX_JOINTS, Motion
from motionloom.rotation import quat

CUSTOMARY_FPS = 120.0
_LARGEST_SKELETON = 1 << 21
_AMC_WORD = re.compile(
    rb"(?:\s++|#[^\r\n]*+)*+:(FULLY-SPECIFIED|DEGREES|RADIANS|SAMPLES-PER-SECOND)", re.I
)
_ASF_WORD = re.compile(
    rb"(?:\s++|#[^\r\n]*+)*+:(version|name|units|documentation|root|bonedata)\b", re.I
)
_LONGEST_LINE = 1 << 16
_MOST_FINDINGS = 20
_BYTES_PER_FRAME = 256
"""Memory that turning the angles of one bone into rotations takes for each frame."""
_IDLE_LINES, _EMPTY_FRAMES = 1_000_000, 1000
"""Lines without a bone, and frames without one, that a file may have besides as many with some."""


def read(stream: BinaryIO, options: ReadOptions) -> FileClip:
    """The clip in an AMC file, on the skeleton of its ASF, in the skeleton's unit."""
    budget = Budget.of(stream, options.limits)
    body = _read_skeleton(options, budget)
    table = FrameTable(body, options.limits, budget)
    table.take(stream)
    motion = _motion(body, table)
    return FileClip(
        motion,
        unit_m=body.unit_m,
        fps_stated=table.fps is not None,
        detail=MappingProxyType({"names": body.skeleton.names}),
        findings=(*body.findings, *table.findings),
    )


def find_skeleton(path: Path) -> Path:
    """The ASF file that belongs to an AMC: its own name, its subject's, or the only one there."""
    try:
        nearby = sorted(p for p in path.parent.iterdir() if p.suffix.lower() == ".asf")
    except OSError:
        nearby = []
    for stem in (path.stem, path.stem.rpartition("_")[0]):
        for candidate in nearby:
            if stem and candidate.stem.lower() == stem.lower():
                return candidate
    if len(nearby) == 1:
        return nearby[0]
    raise FormatError(
        f"An AMC motion needs its skeleton, and {len(nearby)} .asf files next to it could be it."
        if nearby
        else "An AMC motion needs its skeleton, and there is no .asf file next to it.",
        fix="Say which with skeleton=.",
    )


def _read_skeleton(options: ReadOptions, budget: Budget) -> AcclaimSkeleton:
    if options.skeleton is None and options.path is None:
        raise FormatError(
            "An AMC motion needs its skeleton, an .asf file.", fix="Say which with skeleton=."
        )
    path = options.skeleton or find_skeleton(options.path or Path())
    try:
        data = read_file(path, _LARGEST_SKELETON)
    except FormatError as error:
        raise FormatError(
            f"The skeleton {path.name} cannot be read: {error.problem}",
            fix="Say which with skeleton=.",
        ) from error
    budget.add_file(len(data))
    try:
        return parse_asf(data, max_joints=min(options.limits.max_joints, MAX_JOINTS))
    except FormatError as error:
        raise FormatError(
            error.problem, where=f"{path.name}, {error.where}", fix=error.fix
        ) from error


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


def _motion(body: AcclaimSkeleton, table: FrameTable) -> Motion:
    values = np.frombuffer(table.values, dtype=np.float64).reshape(table.n_frames, -1)
    if not (sane := np.abs(values) <= LARGEST).all():
        frame = int(np.argwhere(~sane)[0, 0])
        raise FormatError(
            f"All values must be finite and at most {LARGEST:g}, and one is not.",
            where=f"frame {frame}",
            fix="Repair or cut this frame.",
        )
    quats = np.zeros((table.n_frames, len(body.bones), 4))
    quats[..., 0] = 1.0
    roots = np.tile(body.root_position, (table.n_frames, 1))
    to_radians = np.pi / 180.0 if table.degrees else 1.0
    at = 0
    for index, bone in enumerate(body.bones):
        columns = {dof: at + i for i, dof in enumerate(bone.dofs)}
        at += len(bone.dofs)
        turns = [dof for dof in bone.dofs if dof.startswith("r")]
        if turns:
            angles = to_radians * values[:, [columns[dof] for dof in turns]]
            letters = "".join(dof[1].upper() for dof in turns)
            turn = fixed_axes_quat(angles, letters)
            axes = body.axes[index]
            quats[:, index] = quat.multiply(quat.multiply(axes, turn), quat.conjugate(axes))
        for axis, dof in enumerate(("tx", "ty", "tz")):
            if dof in columns and bone.name == ROOT:
                roots[:, axis] += values[:, columns[dof]]
        if bone.name != ROOT and len(turns) < len(bone.dofs):
            table.note("skeleton", f"Bone {quoted(bone.name)} also slides; that was left out.")
    return Motion(body.skeleton, roots, quats, table.fps or CUSTOMARY_FPS)


def _sniff(head: bytes) -> bool:
    # A skeleton is taken too, so that the reader can say which file to load instead.
    head = head.removeprefix(MARK)
    return bool(_AMC_WORD.match(head) or _ASF_WORD.match(head))


FORMAT = Format(
    name="amc", title="Acclaim motion (ASF/AMC)", suffixes=(".amc",), sniff=_sniff, read=read
)
