"""Locks: one writer at a time, and a second one learns who is first."""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

from motionloom.errors import FormatError, TableError
from motionloom.reading.json_text import parse_json
from motionloom.reading.opening import read_file
from motionloom.reading.size_limits import Budget, Limits
from motionloom.saving.leftovers import OLD_S
from motionloom.saving.system_locks import LocksMissingError, lock
from motionloom.saving.writers import Writer, this_writer

PAUSE_S = 0.02


class _Holder(NamedTuple):
    """What a lock file says of the process that holds it."""

    writer: Writer
    host: str
    since: str

    def __str__(self) -> str:
        place = "" if self.host == platform.node() else f" on {self.host}"
        return f"process {self.writer.pid}{place} since {self.since}"


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
    """Lock an open file; whether that went well."""
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
