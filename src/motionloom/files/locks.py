"""Lock files while they are written, and lease files while they are mapped into memory."""

from __future__ import annotations

import errno
import json
import os
import platform
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple

from motionloom.errors import FormatError, TableError
from motionloom.files.limits import Budget, Limits
from motionloom.files.reading import parse_json, read_file
from motionloom.files.writing import OLD_S, Writer, this_writer

PAUSE_S = 0.02
"""Seconds between two tries to take a lock."""
REFUSED = (errno.EWOULDBLOCK, errno.EACCES, errno.EAGAIN, errno.EDEADLK)
FAR = 1 << 30
"""Windows forbids reading a locked byte, so a byte far beyond the end of the file is locked."""


@contextmanager
def locked(file: Path, busy: str, *, wait_s: float = 0.0) -> Iterator[None]:
    """Hold a lock file while something is written.

    The system releases the lock of a process that ends in any way: the file that it leaves is
    taken by the next writer.

    Parameters
    ----------
    file
        The lock file; it is gone afterwards.
    busy
        Begin of the message where another writer holds it: ``"lib.mlt is being built already"``.
    wait_s
        How long to wait for that writer.

    Raises
    ------
    TableError
        Another writer holds the lock.
    OSError
        The lock file cannot be written.
    """
    stream = _taken(file, busy, wait_s)
    try:
        yield
    finally:
        with suppress(OSError):
            file.unlink()  # before it is released, or it might be the next one's
        stream.close()
        with suppress(OSError):
            if sys.platform == "win32":
                file.unlink()


def _taken(file: Path, busy: str, wait_s: float) -> IO[bytes]:
    until = time.monotonic() + wait_s
    while True:
        stream = _try(file)
        if stream is not None:
            return stream
        if time.monotonic() >= until:
            raise TableError(_refusal(file, busy))
        time.sleep(PAUSE_S)


def _try(file: Path) -> IO[bytes] | None:
    """The lock file, open and locked; None where another writer holds it."""
    while True:
        # Without a buffer: what a full disk did not take would be written again by close().
        stream = file.open("a+b", buffering=0)
        try:
            if not _is_locked(stream, file):
                stream.close()
                return None
            if os.path.samestat(os.fstat(stream.fileno()), file.stat()):
                _sign(stream)
                return stream
        except FileNotFoundError:
            pass
        except BaseException:
            stream.close()
            raise
        stream.close()  # the writer before has just removed the file


def _is_locked(stream: IO[bytes], file: Path) -> bool:
    """Whether this process holds the lock of an open file now."""
    try:
        return lock(stream)
    except LocksMissingError:
        return not _is_busy(file)


def _is_busy(file: Path) -> bool:
    """Whether a lock file belongs to another writer, on a file system without locks."""
    holder = _holder(file)
    if holder is None:
        return False
    running = holder.writer.is_running()
    return time.time() - file.stat().st_mtime < OLD_S if running is None else running


def _sign(stream: IO[bytes]) -> None:
    record = {
        "writer": this_writer().text,
        "host": platform.node(),
        "since": time.strftime("%Y-%m-%d %H:%M:%S"),
    }
    with suppress(OSError):  # a full disk takes no signature; the lock holds without
        stream.truncate(0)
        stream.write(json.dumps(record).encode())
        stream.flush()


class _Holder(NamedTuple):
    """The process that holds a lock file, as the file names it."""

    writer: Writer
    host: str
    since: str

    def __str__(self) -> str:
        place = "" if self.host == platform.node() else f" on {self.host}"
        return f"process {self.writer.pid}{place} since {self.since}"


def _holder(file: Path) -> _Holder | None:
    try:
        record = parse_json(read_file(file, 4096), Budget(Limits(), 0), where="lock")
        writer = Writer.of_text(record["writer"])
        return writer and _Holder(writer, str(record["host"]), str(record["since"]))
    except (FormatError, ValueError, TypeError, KeyError):
        return None


def _refusal(file: Path, busy: str) -> str:
    holder = _holder(file)
    if holder is None:
        time.sleep(PAUSE_S)  # it may be about to sign
        holder = _holder(file)
    by = "another process or thread" if holder is None else str(holder)
    if holder is not None and holder.writer == this_writer():
        by = f"this process since {holder.since}"
    return (
        f"{busy}, by {by}. Wait until it is done, or write to another place. If no such process "
        f"runs any more, delete {file}."
    )


def take_lease(stream: BinaryIO) -> bool:
    """Hold a file while a memory map of this stream lives; False where it is being removed."""
    if sys.platform == "win32":
        return True  # no file that is mapped can be deleted there
    try:
        return lock(stream, shared=True)
    except LocksMissingError:
        return True


def remove_unleased(files: Sequence[Path]) -> bool:
    """Remove files unless a reader holds a lease on one of them; whether they are gone.

    On a local disk a map outlives its file. On a network folder it does not: reading it would end
    the process.
    """
    try:
        with ExitStack() as opened:
            if sys.platform != "win32":
                for file in files:
                    stream = opened.enter_context(file.open("r+b"))
                    if not _is_free(stream, file):
                        return False
            for file in files:
                file.unlink(missing_ok=True)
    except OSError:  # on Windows: a reader has mapped it
        return False
    return True


def _is_free(stream: BinaryIO, file: Path) -> bool:
    try:
        return lock(stream)
    except LocksMissingError:
        return time.time() - file.stat().st_mtime > OLD_S


class LocksMissingError(Exception):
    """The file system has no locks."""


def lock(stream: IO[Any], *, shared: bool = False) -> bool:
    """Lock an open file without waiting; False where another process or thread holds it.

    The lock lasts until every copy of the stream's descriptor is closed; a memory map holds one.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            stream.seek(FAR)
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
            fcntl.flock(stream.fileno(), kind | fcntl.LOCK_NB)
    except ImportError as error:
        raise LocksMissingError from error
    except OSError as error:
        if error.errno in REFUSED:
            return False
        raise LocksMissingError from error
    return True
