"""The rows of a BVH file, streamed straight into arrays of rotations.

A block of text is scanned into a small buffer of numbers, turned into quaternions and forgotten,
so that a long file never needs much more memory than the arrays it becomes.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import BinaryIO, NoReturn

import numpy as np
from numba import njit

from motionloom._arrays import FloatArray, IntArray
from motionloom.errors import FormatError
from motionloom.findings import Finding
from motionloom.formats import numbers
from motionloom.formats.bvh_header import CHANNEL_NAMES, N_POSITIONS, N_TURNS, Node
from motionloom.formats.degrees import half_cos_sin
from motionloom.formats.fileclip import Limits
from motionloom.formats.text import LARGEST, check_growth, quoted

__all__ = ["Frames", "read_frames"]

BLOCK_BYTES = 1 << 18
STILL = 1e-6
"""A joint that moves in its parent by less, in the file's unit, is taken to be fixed."""

_UNKNOWN = 1 << 62
_POSES_AT_ONCE = 1 << 16


@dataclass(slots=True)
class Frames:
    """What the rows say, one entry per kept joint."""

    root_positions: FloatArray
    local_quats: FloatArray
    placements: FloatArray
    """Where every joint stands in its parent in the first frame. Shape (J, 3)."""
    translations: FloatArray | None
    """The same for every frame, where some joint really moves. Shape (F, J, 3)."""
    findings: list[Finding]


@njit(cache=True, error_model="numpy", boundscheck=False, fastmath={"contract"})
def _pose_rows(
    rows: FloatArray,
    kinds: IntArray,
    first_channel: IntArray,
    columns: IntArray,
    offsets: FloatArray,
    quats: FloatArray,
    places: FloatArray,
    start: int,
) -> None:
    """Rotations of every row, signs continuous with the frame before; ``places`` of its joints."""
    n_joints = offsets.shape[0]
    cosines, sines = np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
    for r in range(rows.shape[0]):
        f = start + r
        half_cos_sin(rows[r], cosines, sines)
        for j in range(n_joints):
            w, x, y, z = 1.0, 0.0, 0.0, 0.0
            placed = j < places.shape[1]
            if placed:
                for c in range(3):
                    places[r, j, c] = offsets[j, c]
            for k in range(first_channel[j], first_channel[j + 1]):
                kind, column = kinds[k], columns[k]
                cos, sin = cosines[column], sines[column]
                if kind == 3:
                    w, x, y, z = (
                        w * cos - x * sin,
                        w * sin + x * cos,
                        y * cos + z * sin,
                        z * cos - y * sin,
                    )
                elif kind == 4:
                    w, x, y, z = (
                        w * cos - y * sin,
                        x * cos - z * sin,
                        w * sin + y * cos,
                        z * cos + x * sin,
                    )
                elif kind == 5:
                    w, x, y, z = (
                        w * cos - z * sin,
                        x * cos + y * sin,
                        y * cos - x * sin,
                        w * sin + z * cos,
                    )
                elif placed:
                    places[r, j, kind] = rows[r, column]
            if f > 0:
                dot = (
                    w * quats[f - 1, j, 0]
                    + x * quats[f - 1, j, 1]
                    + y * quats[f - 1, j, 2]
                    + z * quats[f - 1, j, 3]
                )
                if dot < 0.0:
                    w, x, y, z = -w, -x, -y, -z
            quats[f, j, 0], quats[f, j, 1], quats[f, j, 2], quats[f, j, 3] = w, x, y, z


def read_frames(
    stream: BinaryIO,
    head: bytes,
    line: int,
    nodes: list[Node],
    kept: list[int],
    *,
    stated: int | None,
    limits: Limits,
) -> Frames:
    """All frames that follow the head of a BVH file.

    Parameters
    ----------
    stream
        At the first byte after ``head``.
    head
        Bytes already read that belong to the rows.
    line
        Line of the first of them.
    nodes
        Every joint of the file, in the order of its channels.
    kept
        Those wanted, in order; ``kept[0]`` is the root.
    stated
        Frame count that the file states. The rows are what counts.
    limits
        Bounds on bytes and frames.
    """
    reader = _RowReader(nodes, kept, line, stated, limits)
    reader.bytes_to_come = len(head) + _remaining(stream)
    buffer = bytearray(len(head) + BLOCK_BYTES)
    buffer[: len(head)] = head
    n_bytes = len(head)
    while True:
        block = stream.read(BLOCK_BYTES)
        ending = block or b"\n"
        buffer[n_bytes : n_bytes + len(ending)] = ending
        n_bytes += len(ending)
        stop = _last_break(buffer, n_bytes)
        reader.take(buffer, stop, at_end=not block)
        if reader.ended or not block:
            return reader.frames()
        buffer[: n_bytes - stop] = buffer[stop:n_bytes]
        n_bytes -= stop


def _last_break(buffer: bytearray, n_bytes: int) -> int:
    """Where the text can be cut without cutting a token in two: after its last line if it can."""
    for breaks in (b"\n", b"\r", b" ", b"\t"):
        if (found := buffer.rfind(breaks, 0, n_bytes)) >= 0:
            return found + 1
    if n_bytes > BLOCK_BYTES:
        raise FormatError(
            f"A value must be a number, got {quoted(bytes(buffer[:80]))}.", where="frames"
        )
    return 0


def _remaining(stream: BinaryIO) -> int:
    """Bytes still to come where the stream can tell, else 0."""
    try:
        here = stream.tell()
        end = stream.seek(0, os.SEEK_END)
        stream.seek(here)
    except (OSError, ValueError, AttributeError):
        return 0
    return max(0, end - here)


class _RowReader:
    """Takes blocks of text and grows the arrays."""

    def __init__(
        self, nodes: list[Node], kept: list[int], line: int, stated: int | None, limits: Limits
    ) -> None:
        self.owners = [(node, kind) for node in nodes for kind in node.channels]
        self.width = len(self.owners)
        if self.width == 0:
            raise FormatError("The joints must have channels, and none has.", where="hierarchy")
        self.stated, self.limits = stated, limits
        first_column = np.cumsum([0] + [len(node.channels) for node in nodes])
        kinds: list[int] = []
        columns: list[int] = []
        starts = [0]
        for j in kept:
            for i, kind in enumerate(nodes[j].channels):
                if kind < N_TURNS:
                    kinds.append(kind)
                    columns.append(int(first_column[j]) + i)
            starts.append(len(kinds))
        self.kinds = np.array(kinds, dtype=np.int64)
        self.columns = np.array(columns, dtype=np.int64)
        self.starts = np.array(starts, dtype=np.int64)
        self.offsets = np.array([nodes[j].offset or (0.0, 0.0, 0.0) for j in kept])
        # Only joints with position channels can stand elsewhere; mostly the root alone.
        can_move = any(kind < N_POSITIONS for j in kept[1:] for kind in nodes[j].channels)
        self.n_joints = len(kept)
        self.n_placed = self.n_joints if can_move else 1

        self.state = numbers.new_state(line)
        self.values = np.zeros(0)  # scratch for one block; begins with what the last one left over
        self.n_left_over = 0
        self.n_frames = self.capacity = self.bytes_seen = self.bytes_to_come = 0
        self.roots = np.zeros((0, 3))
        self.quats = np.zeros((0, self.n_joints, 4))
        self.placements = self.offsets.copy()
        self.translations: FloatArray | None = None
        self.findings: list[Finding] = []
        self.ended = False

    def take(self, buffer: bytearray, stop: int, *, at_end: bool) -> None:
        """Read the frames in ``buffer[:stop]``."""
        self.bytes_seen += stop
        if self.bytes_seen > self.limits.max_bytes:
            raise FormatError(
                f"A file may have at most {self.limits.max_bytes} bytes, and this one has more.",
                fix="Cut it into shorter clips.",
            )
        room = self.n_left_over + stop // 2 + 2
        if room > len(self.values):
            kept, self.values = self.values[: self.n_left_over], np.zeros(room)
            self.values[: self.n_left_over] = kept
        self.state[numbers.POSITION], self.state[numbers.VALUES] = 0, self.n_left_over
        status = numbers.scan(
            buffer,
            stop,
            self.values,
            self.state,
            width=self.width,
            expected=_UNKNOWN if self.stated is None else self.stated,
        )
        n_values = int(self.state[numbers.VALUES])
        n_rows, self.n_left_over = divmod(n_values, self.width)
        rows = self.values[: n_rows * self.width].reshape(n_rows, self.width)
        self.check_finite(rows)
        self.pose(rows)
        if status != numbers.DONE:
            self.stop_at(buffer, status)
        elif at_end and self.n_left_over:
            self.note(
                f"The last frame has {self.n_left_over} of {self.width} values; it was left out.",
                "The file may have been cut short.",
            )
        self.values[: self.n_left_over] = self.values[n_values - self.n_left_over : n_values]

    def pose(self, rows: FloatArray) -> None:
        """Append ``rows`` as frames."""
        if len(rows) == 0:
            return
        self.make_room(len(rows))
        step = max(1, _POSES_AT_ONCE // self.n_joints)
        for first in range(0, len(rows), step):
            part = rows[first : first + step]
            places = np.zeros((len(part), self.n_placed, 3))
            _pose_rows(
                part, self.kinds, self.starts, self.columns, self.offsets, self.quats, places,
                self.n_frames,
            )  # fmt: skip
            self.place(places)
            self.n_frames += len(part)

    def place(self, places: FloatArray) -> None:
        """Append where the joints stand; keeps every frame only from the first that differs."""
        start, stop = self.n_frames, self.n_frames + len(places)
        self.roots[start:stop] = places[:, 0]
        if self.n_placed == 1:
            return
        if start == 0:
            self.placements = places[0].copy()
        if self.translations is None:
            if np.abs(places[:, 1:] - self.placements[1:]).max() <= STILL:
                return
            self.translations = np.zeros((self.capacity, self.n_joints, 3))
            self.translations[:start, 1:] = self.placements[1:]
        self.translations[start:stop, 1:] = places[:, 1:]  # the root's row stays zero

    def make_room(self, n_new: int) -> None:
        """Grow the arrays at once to what the rest of the file will need, by its length so far."""
        needed = self.n_frames + n_new
        if needed > self.limits.max_frames:
            raise FormatError(
                f"A clip may have at most {self.limits.max_frames} frames; this one has more.",
                fix="Cut it into shorter clips.",
            )
        check_growth(needed, self.n_joints, self.bytes_seen)
        if needed <= self.capacity:
            return
        rows_per_byte = needed / self.bytes_seen
        guess = int(1.02 * rows_per_byte * max(0, self.bytes_to_come - self.bytes_seen))
        if guess == 0:  # a stream that does not know its length
            guess = self.capacity // 4
        self.resize(min(needed + guess + 1, max(needed, self.limits.max_frames)))

    def resize(self, capacity: int) -> None:
        # In place: the allocator moves long arrays without a second copy in memory.
        if self.capacity == 0:
            self.roots = np.zeros((capacity, 3))
            self.quats = np.zeros((capacity, self.n_joints, 4))
        elif capacity != self.capacity:
            self.roots.resize((capacity, 3), refcheck=False)
            self.quats.resize((capacity, self.n_joints, 4), refcheck=False)
            if self.translations is not None:
                self.translations.resize((capacity, self.n_joints, 3), refcheck=False)
        self.capacity = capacity

    def frames(self) -> Frames:
        """Everything read, in arrays of just the right length."""
        if self.n_frames == 0:
            raise FormatError(
                "A clip must have at least one whole frame, got none.",
                where=f"line {self.state[numbers.LINE]}",
                fix="The file may have been cut short, or hold a skeleton only.",
            )
        if self.stated is not None and self.stated != self.n_frames:
            self.note(
                f"`Frames:` says {self.stated} and there are {self.n_frames}; "
                f"all {self.n_frames} were read."
            )
        self.resize(self.n_frames)
        return Frames(self.roots, self.quats, self.placements, self.translations, self.findings)

    def check_finite(self, rows: FloatArray) -> None:
        """Raise where a number is beyond all bounds, such as ``1e999``."""
        if len(rows) == 0 or max(rows.max(), -rows.min()) <= LARGEST:
            return
        row, column = (int(i) for i in np.argwhere(~(np.abs(rows) <= LARGEST))[0])
        raise FormatError(
            f"A value must be a number up to {LARGEST:g}, got {rows[row, column]:g} for "
            f"{self.owner(column)}.",
            where=f"frame {self.n_frames + row}",
            fix="Repair or cut this frame.",
        )

    def stop_at(self, buffer: bytearray, status: int) -> None:
        """Decide what text between or after the rows means: an end, or a broken file."""
        line = f"line {self.state[numbers.LINE]}"
        column = int(self.state[numbers.COLUMN])
        enough = self.stated is not None and self.n_frames >= self.stated
        if status == numbers.MISPLACED:
            if not enough:
                raise FormatError(
                    f"Every frame must have {self.width} values, one per channel, and around here "
                    "one has more or fewer.",
                    where=line,
                    fix="Repair the row, or the CHANNELS lines.",
                )
            found = "numbers in another layout"
        else:
            start = int(self.state[numbers.TOKEN_START])
            token = bytes(buffer[start : start + 80]).split(None, 1)[0]
            word = token.lower().lstrip(b"+-")
            is_text = token[:1].isalpha() and not word.startswith((b"nan", b"inf"))
            if not (column == 0 and (is_text or enough)):
                self.refuse(token, line, column)
            found = quoted(token)
        self.note(f"After {self.n_frames} frames there is {found}; from there on nothing was read.")
        self.ended = True

    def refuse(self, token: bytes, line: str, column: int) -> NoReturn:
        comma = b"," in token
        raise FormatError(
            f"A value must be a finite number, got {quoted(token)} for {self.owner(column)}.",
            where=line,
            fix="Write decimal points." if comma else "Repair or cut this frame.",
        )

    def owner(self, column: int) -> str:
        node, kind = self.owners[column]
        return f"{CHANNEL_NAMES[kind]} of {quoted(node.name)}"

    def note(self, problem: str, fix: str = "") -> None:
        where = f"line {self.state[numbers.LINE]}"
        self.findings.append(Finding("warning", where, problem, fix))
