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
from motionloom._core import kernel
from motionloom.errors import FormatError
from motionloom.files.limits import Budget, Limits
from motionloom.findings import Finding
from motionloom.formats import decimal_text as numbers
from motionloom.formats.bvh.bvh_header import CHANNEL_NAMES, N_POSITIONS, N_TURNS, Node
from motionloom.formats.text import LARGEST, quoted

BLOCK_BYTES = 1 << 18
_UNKNOWN = 1 << 62
_SLOW_NUMBERS, _BYTES_PER_SLOW = 50_000, 64
"""Numbers with extreme exponents, which take a hundred times as long, that any file may have."""
STILL = 1e-6
"""A joint that moves in its parent by less, in the file's unit, is taken to be fixed."""
_POSES_AT_ONCE = 1 << 16
_pose_rows = kernel("ml_channel_poses")


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
        """The poses, in arrays of their exact length, and findings about odd rows."""
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


class GrowingPoses:
    """Root positions, rotations and, where joints slide, translations of the frames so far.

    Parameters
    ----------
    nodes
        Every joint of the file, in the order of its channels.
    kept
        Those wanted, in order; ``kept[0]`` is the root.
    limits
        Bounds on frames.
    budget
        Memory that the arrays may take.
    """

    def __init__(
        self, nodes: list[Node], chosen: list[int], limits: Limits, budget: Budget
    ) -> None:
        self.budget = budget
        self.owners = [(node, kind) for node in nodes for kind in node.channels]
        self.max_frames = limits.max_frames
        first_column = np.cumsum([0] + [len(node.channels) for node in nodes])
        kinds: list[int] = []
        columns: list[int] = []
        starts = [0]
        for j in chosen:
            for i, kind in enumerate(nodes[j].channels):
                if kind < N_TURNS:
                    kinds.append(kind)
                    columns.append(int(first_column[j]) + i)
            starts.append(len(kinds))
        self.kinds = np.array(kinds, dtype=np.int64)
        self.columns = np.array(columns, dtype=np.int64)
        self.starts = np.array(starts, dtype=np.int64)
        offsets = [nodes[j].offset or (0.0, 0.0, 0.0) for j in chosen]
        self.offsets: FloatArray = np.array(offsets, dtype=np.float64)
        # Only joints with position channels can leave their offsets; mostly the root alone.
        can_move = any(kind < N_POSITIONS for j in chosen[1:] for kind in nodes[j].channels)
        self.n_joints = len(chosen)
        self.n_placed = self.n_joints if can_move else 1

        self.n_frames = self.capacity = 0
        self.root_positions: FloatArray = np.zeros((0, 3))
        self.local_quats: FloatArray = np.zeros((0, self.n_joints, 4))
        self.placements = self.offsets.copy()
        """Where every joint stands in its parent in the first frame. Shape (J, 3)."""
        self.translations: FloatArray | None = None
        """The same for every frame, where some joint really moves. Shape (F, J, 3)."""

    def add(self, rows: FloatArray, n_bytes: int, n_bytes_to_come: int) -> None:
        """Append ``rows`` (R, C) as frames.

        The bytes read so far and still to come tell how long the arrays will have to be.
        """
        if len(rows) == 0:
            return
        self._check(rows)
        self._make_room(len(rows), n_bytes, n_bytes_to_come)
        step = max(1, _POSES_AT_ONCE // self.n_joints)
        for first in range(0, len(rows), step):
            part = rows[first : first + step]
            places = np.zeros((len(part), self.n_placed, 3))
            _pose_rows(
                len(part), part.shape[1], part, len(self.kinds), self.kinds, self.columns,
                self.n_joints, self.starts, self.offsets,
                self.n_frames, self.capacity, self.local_quats, self.n_placed, places,
            )  # fmt: skip
            self._place(places)
            self.n_frames += len(part)

    def finish(self) -> None:
        """Cut the arrays to the frames that were read, and make them read-only."""
        self._resize(self.n_frames)
        for array in (self.root_positions, self.local_quats, self.translations):
            if array is not None:
                array.flags.writeable = False

    def owner(self, column: int) -> str:
        """Channel and joint of a column, in words."""
        node, kind = self.owners[column]
        return f"{CHANNEL_NAMES[kind]} of {quoted(node.name)}"

    def _place(self, places: FloatArray) -> None:
        """Append where the joints stand; keeps every frame only from the first that differs."""
        start, stop = self.n_frames, self.n_frames + len(places)
        self.root_positions[start:stop] = places[:, 0]
        if self.n_placed == 1:
            return
        if start == 0:
            self.placements = places[0].copy()
        if self.translations is None:
            if np.abs(places[:, 1:] - self.placements[1:]).max() <= STILL:
                return
            self.budget.check_poses(stop, self.n_joints, sliding=True)
            self.translations = np.zeros((self.capacity, self.n_joints, 3))
            self.translations[:start, 1:] = self.placements[1:]
        self.translations[start:stop, 1:] = places[:, 1:]  # the root's row stays zero

    def _make_room(self, n_new: int, n_bytes: int, n_bytes_to_come: int) -> None:
        needed = self.n_frames + n_new
        if needed > self.max_frames:
            raise FormatError(
                f"A clip may have at most {self.max_frames} frames; this one has more.",
                fix="Cut it into shorter clips.",
            )
        self.budget.check_poses(needed, self.n_joints, sliding=self.translations is not None)
        if needed <= self.capacity:
            return
        guess = int(1.02 * needed / n_bytes * n_bytes_to_come)
        if guess == 0:  # a stream that does not know its length
            guess = self.capacity // 4
        self._resize(min(needed + guess + 1, max(needed, self.max_frames)))

    def _resize(self, capacity: int) -> None:
        if self.capacity == 0:
            self.root_positions = np.zeros((capacity, 3))
            self.local_quats = np.zeros((capacity, self.n_joints, 4))
        elif capacity != self.capacity:
            # In place: the allocator moves long arrays without a second copy in memory.
            self.root_positions.resize((capacity, 3), refcheck=False)
            self.local_quats.resize((capacity, self.n_joints, 4), refcheck=False)
            if self.translations is not None:
                self.translations.resize((capacity, self.n_joints, 3), refcheck=False)
        self.capacity = capacity

    def _check(self, rows: FloatArray) -> None:
        """Raise where a number is beyond all bounds, such as ``1e999``."""
        if max(rows.max(), -rows.min()) <= LARGEST:
            return
        row, column = (int(i) for i in np.argwhere(~(np.abs(rows) <= LARGEST))[0])
        raise FormatError(
            f"A value must be a number up to {LARGEST:g}, got {rows[row, column]:g} for "
            f"{self.owner(column)}.",
            where=f"frame {self.n_frames + row}",
            fix="Repair or cut this frame.",
        )
