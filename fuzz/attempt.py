"""One file through its reader: a valid Motion or a FormatError, within time and memory."""

from __future__ import annotations

import io
import os
import resource
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import motionloom as ml
from motionloom.errors import ArrayError, FormatError
from motionloom.files.limits import FREE_MEMORY, MEMORY_PER_BYTE, Limits
from motionloom.formats.file_clip import ReadOptions
from motionloom.formats.registry import SNIFF_BYTES, format_for_reading, known_formats
from motionloom.intake.clip_names import Target
from motionloom.intake.load import Stated, _read
from seeds import Seed
from stages import step_of

__all__ = ["CHARACTER", "Case", "attempt", "bounded", "limit_memory", "peak_bytes", "warm_up"]

FREE_S, S_PER_BYTE = 2.0, 1e-7
WALL_S = 60.0
"""After this time a reader that waits for something is stopped."""
LOADED = 5
"""One in so many files is loaded whole; of the others only the reader is run, which is faster."""
REWRITTEN = 4
"""One in so many of those is also saved and loaded again."""
ADDRESS_SPACE = 1 << 30

CHARACTER = "character"
"""Name of cases that are read with their skin."""
SUFFIXES = {known.name: known.suffixes[0] for known in known_formats()}
WRITABLE = tuple(known.name for known in known_formats() if known.can_write)


@dataclass(frozen=True)
class Case:
    """A file to read."""

    number: int
    format: str
    name: str
    data: bytes
    companion: bytes = b""
    loaded: int = LOADED

    @property
    def form(self) -> str:
        """Its format; of FBX also whether it is text."""
        if self.name == CHARACTER:
            return f"{self.format}-{CHARACTER}"
        if self.format != "fbx":
            return self.format
        return "fbx-binary" if self.data.startswith(b"Kaydara") else "fbx-text"

    @property
    def label(self) -> str:
        return f"case {self.number} ({self.format} {self.name})"


class TooSlowError(Exception):
    """A file took more time than it may."""


class TooLargeError(Exception):
    """A file took more memory than it may."""


def attempt(case: Case, folder: Path) -> str:
    """``"read"``, or the step that refused the file. Anything but a Motion or a FormatError is
    raised.
    """
    skeleton = None
    if case.companion:
        skeleton = folder / "two.asf"
        skeleton.write_bytes(case.companion)
    path = folder / f"two{SUFFIXES[case.format]}"
    try:
        if case.name == CHARACTER:
            path.write_bytes(case.data)
            check_character(ml.load_character(path))
            return "read"
        if case.number % case.loaded == 0:
            target = Target("two", path, None, io.BytesIO(case.data))
            motion = _read(target, skeleton, Stated(), Limits())
        else:
            reader = format_for_reading(case.data[:SNIFF_BYTES], path).read
            assert reader is not None
            options = ReadOptions(path=path, skeleton=skeleton)
            motion = reader(io.BytesIO(case.data), options).motion
    except (FormatError, ArrayError) as error:  # load makes the one of the other
        if not str(error):
            raise AssertionError("an error without a text") from error
        str(error).encode("utf-8")
        return step_of(error)
    check(motion)
    rewritten = case.loaded * REWRITTEN
    if case.number % rewritten == 0:
        rewrite(motion, case.number // rewritten)
    return "read"


def check(motion: ml.Motion) -> None:
    """Raise where a motion that came out is not valid."""
    if not np.isfinite(motion.world_positions()).all():
        raise AssertionError("world positions are not finite")
    if np.abs(np.linalg.norm(motion.local_quats, axis=-1) - 1.0).max() > 1e-9:
        raise AssertionError("quaternions are not unit")


def check_character(character: ml.Character) -> None:
    """Raise where a character that came out is not valid."""
    if not np.isfinite(character.posed(character.motion, 0)).all():
        raise AssertionError("points of a mesh are not finite")


def rewrite(motion: ml.Motion, turn: int) -> None:
    """Save a motion in the format it came from, or in another one, and load it again."""
    own = motion.source.format
    name = own if own in WRITABLE and turn % 2 else WRITABLE[turn // 2 % len(WRITABLE)]
    stream = io.BytesIO()
    try:
        ml.save(motion, stream, format=name)
    except FormatError:  # what a format cannot hold it may refuse
        return
    target = Target("again", Path(f"again{SUFFIXES[name]}"), None, io.BytesIO(stream.getvalue()))
    again = _read(target, None, Stated(keep_t_pose=True), Limits())
    if again.n_frames != motion.n_frames and name == own:
        raise AssertionError(f"saved as {name} and loaded again, it has other frames")


def warm_up(seeds: list[Seed], folder: Path, *_: Any) -> None:
    """Read every good file once, so that importing is not taken for slow reading."""
    for number, seed in enumerate(seeds):
        case = Case(number * LOADED * REWRITTEN, seed.format, seed.name, seed.data, seed.companion)
        if attempt(case, folder) != "read":
            raise SystemExit(f"The good file {seed.format} {seed.name} cannot be read.")


def limit_memory() -> None:
    """Let this process have one gigabyte of addresses more, and no more."""
    with Path("/proc/self/statm").open() as stream:
        now = int(stream.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (now + ADDRESS_SPACE, resource.RLIM_INFINITY))


def peak_bytes() -> int:
    """Most memory that this process had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@contextmanager
def bounded(n_bytes: int, base: int) -> Iterator[None]:
    """Raise where what is done inside takes more processor time or memory than it may.

    Parameters
    ----------
    n_bytes
        Size of the file.
    base
        Memory before the first file. The peak never falls, so only a new one is seen: cheap, and
        enough to find the first file that is too large.
    """
    limit = FREE_S + S_PER_BYTE * n_bytes
    start, before = time.process_time(), peak_bytes()
    signal.setitimer(signal.ITIMER_REAL, WALL_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
    taken, peak = time.process_time() - start, peak_bytes()
    if taken > limit:
        raise TooSlowError(f"{taken:.1f} s, at most {limit:.1f} are allowed")
    if peak > before and peak - base > FREE_MEMORY + MEMORY_PER_BYTE * n_bytes:
        raise TooLargeError(f"{(peak - base) / 1e6:.0f} MB for a file of {n_bytes} bytes")
