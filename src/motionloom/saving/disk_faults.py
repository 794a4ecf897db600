"""Faults of a disk in words: why a file cannot be written, and what to do about it."""

from __future__ import annotations

import errno
import sys

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


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
