"""Paths that callers name: what no disk can have is refused here, in words."""

from __future__ import annotations

import errno
from pathlib import Path

from motionloom.errors import ArrayError

IMPOSSIBLE = (errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL)
"""Errors of the system for paths at which nothing is and nothing can be made."""


def path_of(value: object, name: str) -> Path:
    """``value`` as a path, if it is one that a disk can have.

    Parameters
    ----------
    value
        The path; nothing needs to be there.
    name
        The argument's name, for the error text.

    Raises
    ------
    ArrayError
        It is no path, or a file with this path cannot exist: the name is too long, holds
        characters that no name can have, or leads through links without end. Or it lies in a
        folder that this user may not enter.
    """
    if not isinstance(value, str | Path) or not str(value):
        raise ArrayError(f"`{name}` must be a path, got {repr(value)[:60]}.")
    try:
        Path(value).stat()
    except ValueError:  # a NUL, or half a surrogate pair
        reason = "no name can have these characters"
    except PermissionError as error:
        raise ArrayError(
            f"`{name}` must be a path that can be reached, got {str(value)!r}: {error.strerror}. "
            "Check the rights of its folders."
        ) from error
    except OSError as error:
        if error.errno not in IMPOSSIBLE:
            return Path(value)
        reason = str(error.strerror)
    else:
        return Path(value)
    raise ArrayError(
        f"`{name}` must be a path that a file can have, got {str(value)!r}: {reason}. "
        "Choose another name."
    )


def printable(path: str) -> str:
    """``path`` as text that can be printed and stored: bytes that are no UTF-8 are escaped."""
    return path.encode("utf-8", "backslashreplace").decode("utf-8")
