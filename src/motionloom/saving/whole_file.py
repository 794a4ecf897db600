"""Files that appear whole or not at all: the one way in which motionloom writes them."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from motionloom.errors import FormatError
from motionloom.saving.disk_faults import disk_fault
from motionloom.saving.leftovers import clear_leftovers, temporary_name

CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def write_whole(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file by a function that is given its stream.

    Raises
    ------
    FormatError
        It cannot be written. What was there before is unchanged, and nothing else is left.
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
    """Refuse a name that no file can have, and a place that holds something else than a file."""
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
