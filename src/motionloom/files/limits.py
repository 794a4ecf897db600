"""Limits: how large a file may be, and how much memory reading it may take.

Readers ask a :class:`Budget` before they allocate, so that a small file cannot fill the memory. By
default reading may take 64 MB and 8 times the size of the file.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import BinaryIO, NoReturn

from motionloom.errors import ArrayError, FormatError

FREE_MEMORY = 64 << 20
"""Bytes of memory that reading any file may take."""
MEMORY_PER_BYTE = 8
"""Bytes of memory more for every byte of the file."""
ROTATION, PLACE = 32, 24
"""Bytes of a joint's rotation in one frame, and of its place where joints slide."""
POSE, SLIDING_POSE = 64, 200
"""Bytes per joint and frame that a clip takes while its unit, axes and floor are found: measured,
for one with rigid bones and for one whose joints slide."""
MOST_STATED = 10**15
"""Bytes beyond which a number is an error of the file, and not written out."""
VARIABLE = "MOTIONLOOM_MAX_MEMORY"
"""Environment variable that sets the limit where a caller states none: bytes, or a text such as
``2GB``."""
_SIZE = re.compile(r"(\d{1,15})\s*(|[kmgt])i?b?", re.IGNORECASE)
_FACTORS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


@dataclass(frozen=True, slots=True)
class Limits:
    """A file beyond these is refused with a clear text rather than filling the memory."""

    max_bytes: int = 2 * 1024**3
    max_joints: int = 4096
    max_frames: int = 5_000_000
    max_memory: int | None = None
    """Bytes of memory that reading may take; None for 64 MB and 8 times the file, or what the
    environment variable ``MOTIONLOOM_MAX_MEMORY`` says."""


def memory_of(value: object, name: str) -> int:
    """A size of memory in bytes: a whole number, or a text such as ``"2GB"``."""
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    match = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None or not int(match[1]):
        raise ArrayError(
            f"`{name}` must be a number of bytes above 0, or a text such as '2GB', got "
            f"{str(value)[:40]!r}."
        )
    return int(match[1]) * _FACTORS[match[2].lower()]


def limits_for(max_memory: int | str | None) -> Limits:
    """The usual limits, with the memory that a caller allows."""
    return Limits(max_memory=None if max_memory is None else memory_of(max_memory, "max_memory"))


class Budget:
    """The memory that reading one file may take.

    Parameters
    ----------
    limits
        ``max_memory`` replaces the default.
    n_bytes
        Size of the file.
    """

    def __init__(self, limits: Limits, n_bytes: int) -> None:
        self.stated = limits.max_memory
        if self.stated is None and (text := os.environ.get(VARIABLE)):
            self.stated = memory_of(text, VARIABLE)
        self.n_bytes = n_bytes
        self.used = 0

    @classmethod
    def of(cls, stream: BinaryIO, limits: Limits) -> Budget:
        """The budget of the file in a stream that can seek."""
        try:
            here = stream.tell()
            n_bytes = stream.seek(0, os.SEEK_END)
            stream.seek(here)
        except (OSError, ValueError, AttributeError):
            n_bytes = 0
        return cls(limits, n_bytes)

    @property
    def total(self) -> int:
        """Bytes of memory in all."""
        if self.stated is not None:
            return self.stated
        return FREE_MEMORY + MEMORY_PER_BYTE * self.n_bytes

    def add_file(self, n_bytes: int) -> None:
        """Count a file that belongs to the first: a skeleton, a buffer."""
        self.n_bytes += n_bytes

    def take(self, n_bytes: int, what: str, where: str | None = None) -> None:
        """Ask for memory that is kept; raise where that is too much."""
        self.check(n_bytes, what, where)
        self.used += n_bytes

    def check_poses(
        self, n_frames: int, n_joints: int, *, sliding: bool = False, per_frame: int = 0
    ) -> None:
        """Raise where a clip of these frames and joints would take too much memory.

        ``per_frame`` are bytes that a reader takes for a frame, however many joints there are.
        """
        n_poses = n_frames * n_joints
        what = f"a clip of {n_joints} joints over {n_frames} frames"
        # First its arrays are copied once while they are checked; the file's own data goes then.
        arrays = n_poses * (ROTATION + PLACE * sliding)
        self.check(2 * arrays + per_frame * n_frames, what)
        needed = n_poses * (SLIDING_POSE if sliding else POSE)
        if needed > self.total:
            self._refuse(needed, what, None)

    def give_back(self, n_bytes: int) -> None:
        """Say that memory asked for is free again."""
        self.used -= n_bytes

    def check(self, n_bytes: int, what: str, where: str | None = None) -> None:
        """Raise where the limit would be exceeded by these bytes on top of those already taken."""
        if self.used + n_bytes > self.total:
            self._refuse(self.used + n_bytes, what, where)

    def _refuse(self, needed: int, what: str, where: str | None) -> NoReturn:
        rule = (
            f"64 MB and {MEMORY_PER_BYTE} times its size"
            if self.stated is None
            else "the limit set"
        )
        fix = "The file is damaged: copy or export it again."
        if needed < MOST_STATED:
            fix = (
                f"If it is meant to be so large, pass max_memory={_round_up(needed)} to the "
                f"function that loads it, or set the environment variable {VARIABLE}."
            )
        raise FormatError(
            f"Reading this file may take {_text(self.total)} of memory ({rule}), and {what} would "
            f"bring it to {_text(needed)}.",
            where=where,
            fix=fix,
        )


def _text(n_bytes: int) -> str:
    if n_bytes >= MOST_STATED:
        return f"more than {MOST_STATED // 10**9:,} GB"
    if n_bytes >= 1e10:
        return f"{n_bytes / 1e9:.0f} GB"
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.1f} MB"


def _round_up(n_bytes: int) -> int:
    """A number that is easy to write, and enough."""
    step = int("1" + "0" * (len(str(n_bytes)) - 2))
    return -(-n_bytes // step) * step
