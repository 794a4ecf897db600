"""Leases: files that a reader has mapped into memory stay until the map is gone."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from motionloom.saving.leftovers import OLD_S
from motionloom.saving.system_locks import LocksMissingError, lock


def take_lease(stream: BinaryIO) -> bool:
    """Hold a file while a memory map of this stream lives; False where it is being removed."""
    if sys.platform == "win32":
        return True  # no file that is mapped can be deleted there
    try:
        return lock(stream, shared=True)
    except LocksMissingError:
        return True


def remove_unleased(files: Sequence[Path]) -> bool:
    """Remove files unless somebody holds a lease on one of them; whether they are gone.

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
    except OSError:  # on Windows: somebody has mapped it
        return False
    return True


def _is_free(stream: BinaryIO, file: Path) -> bool:
    try:
        return lock(stream)
    except LocksMissingError:
        return time.time() - file.stat().st_mtime > OLD_S
