"""A lock on a table that is being built, so that two builds do not write one file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from motionloom.errors import TableError
from motionloom.transitions.collecting.store import disk_errors

__all__ = ["locked"]


@contextmanager
def locked(table: Path) -> Iterator[None]:
    """Hold ``X.mlt.lock`` while a table is built; an error in words where somebody else does.

    The system lets go of the lock of a process that ends in whatever way: what it leaves behind
    is an empty file that the next build takes.
    """
    file = table.with_name(f"{table.name}.lock")
    stream = _held(file, table)
    try:
        yield
    finally:
        with suppress(OSError):
            file.unlink()  # before it is let go, or it might be the next one's
        stream.close()
        with suppress(OSError):
            if sys.platform == "win32":
                file.unlink()


def _held(file: Path, table: Path) -> IO[bytes]:
    while True:
        with disk_errors(table, "Nothing was changed."):
            stream = file.open("a+b")
        try:
            _lock(stream)
        except OSError:
            stream.close()
            raise TableError(
                f"{table} is being built already, by another process or thread. Wait until it is "
                "done, or choose another out=."
            ) from None
        try:
            if os.path.samestat(os.fstat(stream.fileno()), file.stat()):
                return stream
        except FileNotFoundError:
            pass
        stream.close()  # whoever held it has removed the file in the meantime


def _lock(stream: IO[bytes]) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
