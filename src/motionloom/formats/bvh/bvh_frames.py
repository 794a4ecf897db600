"""The rows of a BVH file, streamed block by block into poses.

A block of text is scanned into a small buffer of numbers, turned into rotations and forgotten, so
that a long file never needs much more memory than the arrays it becomes. (Posing one block on a
thread while the next is scanned was tried: on two busy cores it cost more than it saved.)
"""

from __future__ import annotations

import os
from typing import BinaryIO, NoReturn

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import FormatError
from motionloom.findings import Finding
from motionloom.formats.bvh import decimal_text as numbers
from motionloom.formats.bvh.bvh_nodes import Node
from motionloom.formats.bvh.bvh_poses import GrowingPoses
from motionloom.formats.text import quoted
from motionloom.reading.size_limits import Budget, Limits

BLOCK_BYTES = 1 << 18
_UNKNOWN = 1 << 62
_SLOW_NUMBERS, _BYTES_PER_SLOW = 50_000, 64
"""Numbers with extreme exponents, which take a hundred times as long, that any file may have."""


def read_frames(
    stream: BinaryIO,
    head: bytes,
    line: int,
    nodes: list[Node],
    chosen: list[int],
    *,
    stated: int | None,
    limits: Limits,
    budget: Budget,
) -> tuple[GrowingPoses, list[Finding]]:
    """All frames that follow the head of a BVH file, and what was odd about them.

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
    chosen
        Those wanted, in order; ``kept[0]`` is the root.
    stated
        Frame count that the file states. The rows are what counts.
    limits
        Bounds on bytes and frames.
    budget
        Memory that the frames may take.
    """
    n_bytes_to_come = len(head) + _remaining(stream)
    poses = GrowingPoses(nodes, chosen, limits, budget)
    reader = _RowReader(poses, line, stated, limits, n_bytes_to_come)
    buffer = bytearray(head)
    n_bytes = len(head)
    while not reader.ended:
        n_new = _read_into(stream, buffer, n_bytes)
        n_bytes += n_new
        if n_new == 0:
            buffer[n_bytes : n_bytes + 1] = b"\n"  # the last token needs a separator too
            n_bytes += 1
        stop = _last_break(buffer, n_bytes)
        reader.take(buffer, stop, at_end=n_new == 0)
        buffer[: n_bytes - stop] = buffer[stop:n_bytes]
        n_bytes -= stop
    return reader.finished()


def _read_into(stream: BinaryIO, buffer: bytearray, start: int) -> int:
    """Number of bytes put into ``buffer`` from ``start`` on: a block at most, 0 at the end."""
    if len(buffer) < start + BLOCK_BYTES:
        buffer.extend(bytes(BLOCK_BYTES))
    if hasattr(stream, "readinto"):
        with memoryview(buffer)[start : start + BLOCK_BYTES] as space:
            return int(stream.readinto(space) or 0)
    block = stream.read(BLOCK_BYTES)
    buffer[start : start + len(block)] = block
    return len(block)


def _last_break(buffer: bytearray, n_bytes: int) -> int:
    """Where the text can be cut without cutting a token in two: after its last line if it can."""
    for breaks in (b"\n", b"\r", b" ", b"\t"):
        if (place := buffer.rfind(breaks, 0, n_bytes)) >= 0:
            return place + 1
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
    """Takes blocks of text, scans them into rows, and has the rows posed."""

    def __init__(
        self,
        poses: GrowingPoses,
        line: int,
        stated: int | None,
        limits: Limits,
        n_bytes_to_come: int,
    ) -> None:
        self.poses = poses
        self.width = len(self.poses.owners)
        if self.width == 0:
            raise FormatError("The joints must have channels, and none has.", where="hierarchy")
        self.stated = stated
        self.max_bytes = limits.max_bytes
        self.n_bytes, self.n_bytes_to_come = 0, n_bytes_to_come
        self.state = numbers.new_state(line)
        self.values: FloatArray = np.zeros(0)  # of one block, behind those left over from before
        self.n_left_over = 0
        self.findings: list[Finding] = []
        self.ended = False

    def take(self, buffer: bytearray, stop: int, *, at_end: bool) -> None:
        """Read the frames in ``buffer[:stop]``."""
        self.n_bytes += stop
        if self.n_bytes > self.max_bytes:
            raise FormatError(
                f"A file may have at most {self.max_bytes} bytes, and this one has more.",
                fix="Cut it into shorter clips.",
            )
        status, n_values = self.scan(buffer, stop)
        if self.state[numbers.SLOW_NUMBERS] > _SLOW_NUMBERS + self.n_bytes // _BYTES_PER_SLOW:
            raise FormatError(
                "Nearly all values are below 1e-80 or above 1e80, and no motion has such.",
                where=f"line {self.state[numbers.LINE]}",
                fix="Export the clip again.",
            )
        n_rows, self.n_left_over = divmod(n_values, self.width)
        rows = self.values[: n_rows * self.width].reshape(n_rows, self.width)
        self.poses.add(rows, self.n_bytes, max(0, self.n_bytes_to_come - self.n_bytes))
        self.values[: self.n_left_over] = self.values[n_values - self.n_left_over : n_values]
        if status != numbers.DONE:
            self.stop_at(buffer, status)
        self.ended = self.ended or at_end

    def scan(self, buffer: bytearray, stop: int) -> tuple[int, int]:
        """How the scan of a block ended, and how many values there are with those left over."""
        space = self.n_left_over + stop // 2 + 2
        if space > len(self.values):
            before, self.values = self.values[: self.n_left_over], np.zeros(space)
            self.values[: self.n_left_over] = before
        self.state[numbers.POSITION], self.state[numbers.VALUES] = 0, self.n_left_over
        status = numbers.scan(
            buffer,
            stop,
            self.values,
            self.state,
            width=self.width,
            expected=_UNKNOWN if self.stated is None else self.stated,
        )
        return status, int(self.state[numbers.VALUES])

    def finished(self) -> tuple[GrowingPoses, list[Finding]]:
        """Everything read, in arrays of just the right length, and what was odd."""
        n_frames = self.poses.n_frames
        if n_frames == 0:
            raise FormatError(
                "A clip must have at least one whole frame, got none.",
                where=f"line {self.state[numbers.LINE]}",
                fix="The file may have been cut short, or hold a skeleton only.",
            )
        if self.n_left_over and not self.findings:
            self.note(
                f"The last frame has {self.n_left_over} of {self.width} values; it was left out.",
                "The file may have been cut short.",
            )
        if self.stated is not None and self.stated != n_frames:
            self.note(
                f"`Frames:` says {self.stated} and there are {n_frames}; all {n_frames} were read."
            )
        self.poses.finish()
        return self.poses, self.findings

    def stop_at(self, buffer: bytearray, status: int) -> None:
        """Decide what text between or after the rows means: an end, or a broken file."""
        line = f"line {self.state[numbers.LINE]}"
        column = int(self.state[numbers.COLUMN])
        enough = self.stated is not None and self.poses.n_frames >= self.stated
        if status == numbers.MISPLACED:
            if not enough:
                raise FormatError(
                    f"Every frame must have {self.width} values, one per channel, and around here "
                    "one has more or fewer.",
                    where=line,
                    fix="Repair the row, or the CHANNELS lines.",
                )
            content = "numbers in another layout"
        else:
            start = int(self.state[numbers.TOKEN_START])
            token = bytes(buffer[start : start + 80]).split()[0]
            word = token.lower().lstrip(b"+-")
            is_text = token[:1].isalpha() and not word.startswith((b"nan", b"inf"))
            if not (column == 0 and (is_text or enough)):
                self.refuse(token, line, column)
            content = quoted(token)
        n_frames = self.poses.n_frames
        self.note(f"After {n_frames} frames there is {content}; from there on nothing was read.")
        self.ended = True

    def refuse(self, token: bytes, line: str, column: int) -> NoReturn:
        comma = b"," in token
        raise FormatError(
            f"A value must be a finite number, got {quoted(token)} for {self.poses.owner(column)}.",
            where=line,
            fix="Write decimal points." if comma else "Repair or cut this frame.",
        )

    def note(self, problem: str, fix: str = "") -> None:
        where = f"line {self.state[numbers.LINE]}"
        self.findings.append(Finding("warning", where, problem, fix))
