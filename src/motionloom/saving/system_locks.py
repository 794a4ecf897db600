"""Locks of the system on open files: they end with the process that holds them."""

from __future__ import annotations

import errno
import sys
from typing import IO, Any

REFUSED = (errno.EWOULDBLOCK, errno.EACCES, errno.EAGAIN, errno.EDEADLK)
FAR = 1 << 30
"""Windows lets nobody read the byte that is locked, so it is one behind the end."""


class LocksMissingError(Exception):
    """The file system has no locks."""


def lock(stream: IO[Any], *, shared: bool = False) -> bool:
    """Lock an open file without waiting; False where somebody else holds it.

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
