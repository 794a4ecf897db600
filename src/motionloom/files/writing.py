"""Write files that appear whole or not at all, and remove what killed writers left behind."""

from __future__ import annotations

import errno
import hashlib
import itertools
import os
import platform
import re
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import BinaryIO, NamedTuple

from motionloom.errors import FormatError

CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
NAME = re.compile(r"\.motionloom-([0-9a-f]{8}-\d{1,10}-\d{1,20})-\d+\.new")
OLD_S = 86400.0
"""Seconds without a write after which a temporary file of another machine, whose processes cannot
be asked, is left over: one day."""
SEARCHED = 0.05
"""Part of the time that may be spent on listing a folder with many files."""

_count = itertools.count()
_listed: dict[str, tuple[float, float]] = {}
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def write_whole(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file by a function that is given its stream.

    Raises
    ------
    FormatError
        It cannot be written. An earlier file there is unchanged, and no temporary file is left.
    """
    with file_errors(path), whole_file(path) as stream:
        write(stream)


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file of these bytes; errors as in :func:`write_whole`."""
    write_whole(path, lambda stream: stream.write(data))


@contextmanager
def whole_file(path: Path, *, to_disk: bool = True) -> Iterator[BinaryIO]:
    """A stream into a new file that takes the place of ``path`` when the block ends well.

    Errors of the disk are the system's own. With ``to_disk`` the bytes are on the disk before the
    file takes its place; without, a power cut may still lose it.
    """
    with whole_path(path) as temporary, temporary.open("wb") as stream:
        yield stream
        stream.flush()
        if to_disk:
            os.fsync(stream.fileno())


@contextmanager
def whole_path(path: Path) -> Iterator[Path]:
    """A new empty file, to be filled by another program, that takes the place of ``path``."""
    _check_target(path)
    clear_leftovers(path.parent)
    temporary = path.parent / temporary_name()
    os.close(os.open(temporary, CREATE, 0o666))
    try:
        yield temporary
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


@contextmanager
def file_errors(path: Path) -> Iterator[None]:
    """Errors of the disk as a FormatError that names the file, the reason and a remedy."""
    try:
        yield
    except OSError as error:
        reason, remedy = disk_fault(error)
        raise FormatError(
            f"The file cannot be written: {reason}.", path=path, fix=f"{remedy}."
        ) from error


@contextmanager
def stream_errors() -> Iterator[None]:
    """Errors of a caller's stream as a FormatError; a pipe that was closed stays what it is."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        reason, remedy = disk_fault(error)
        raise FormatError(f"The stream cannot be written: {reason}.", fix=f"{remedy}.") from error


def _check_target(path: Path) -> None:
    """Refuse a name that no file can have, a folder, a device and a pipe."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    except ValueError as error:  # a NUL, or a character that the disk cannot write
        raise OSError(errno.EINVAL, f"no file can have this name ({error})") from error
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder")
    if not stat.S_ISREG(mode):
        raise OSError(errno.ENODEV, "it is a device or a pipe, not a file")


def disk_fault(error: OSError) -> tuple[str, str]:
    """Reason and remedy of an error that the system reported while a file was written."""
    number = error.errno
    if number in FULL:
        return "the disk is full", "Free some space, or choose another place"
    if number == errno.ENOENT:
        return "its folder is not there", "Make the folder first, or choose another place"
    if number == errno.EISDIR:
        return "it is a folder", "Add a file name"
    if isinstance(error, PermissionError) and sys.platform == "win32":
        return "access is denied", "Close programs that have it open, or choose another place"
    return error.strerror or str(error), "Choose another place"


def temporary_name() -> str:
    """A fresh name for a temporary file; it names the process that writes it."""
    return f".motionloom-{this_writer().text}-{next(_count)}.new"


def clear_leftovers(folder: Path) -> None:
    """Remove temporary files in a folder whose writers have ended.

    Files of running writers stay, and so do all files that motionloom did not name.
    """
    key, began = str(folder), time.monotonic()
    last, cost = _listed.get(key, (-float("inf"), 0.0))
    if (began - last) * SEARCHED < cost:
        return
    try:
        with os.scandir(folder) as entries:
            matches = [(entry.path, NAME.fullmatch(entry.name)) for entry in entries]
    except OSError:
        return  # the save itself reports it
    for path, match in matches:
        writer = None if match is None else Writer.of_text(match[1])
        if writer is not None and _is_left_over(Path(path), writer):
            with suppress(OSError):
                Path(path).unlink()
    if len(_listed) > 1000:
        _listed.clear()
    _listed[key] = (time.monotonic(), time.monotonic() - began)


def _is_left_over(path: Path, writer: Writer) -> bool:
    running = writer.is_running()
    if running is not None:
        return not running
    try:
        # The folder's clock, not this machine's: it may be on a server.
        return _now_in(path.parent) - path.stat().st_mtime > OLD_S
    except OSError:
        return False


def _now_in(folder: Path) -> float:
    """The time on the clock that stamps the files of a folder."""
    probe = folder / temporary_name()
    try:
        probe.touch(exist_ok=False)
        return probe.stat().st_mtime
    finally:
        with suppress(OSError):
            probe.unlink()


class Writer(NamedTuple):
    """A process on a machine, as its files and locks name it."""

    machine: str
    """Digest of the host's name, its last start, and its space of process numbers."""
    pid: int
    started: str
    """When the process started, so that a number used again is not taken for it; "0": unknown."""

    @property
    def text(self) -> str:
        """As part of a file's name."""
        return f"{self.machine}-{self.pid}-{self.started}"

    @classmethod
    def of_text(cls, text: str) -> Writer | None:
        """The writer that :attr:`text` names; None for any other text."""
        match = re.fullmatch(r"([0-9a-f]{8})-(\d{1,10})-(\d{1,20})", text)
        return None if match is None else cls(match[1], int(match[2]), match[3])

    def is_running(self) -> bool | None:
        """Whether the process runs; None where this machine cannot know."""
        if self == this_writer():
            return True
        # On Windows there is no harmless signal to ask with.
        if self.machine != _machine() or sys.platform == "win32":
            return None
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except (OSError, OverflowError):
            pass  # another user's process
        started, is_dead = _process(self.pid)
        return not is_dead and (started == "0" or started == self.started)


def this_writer() -> Writer:
    """The process that runs this."""
    return _writer(os.getpid())  # by number: a fork is another process


@cache
def _writer(pid: int) -> Writer:
    return Writer(_machine(), pid, _process(pid)[0])


@cache
def _machine() -> str:
    parts = [platform.node()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii"))
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=4).hexdigest()


def _process(pid: int) -> tuple[str, bool]:
    """When a process started, in ticks since the machine did; and whether it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return fields[19], fields[0] in "ZX"
    except (OSError, IndexError, UnicodeDecodeError):
        return "0", False
