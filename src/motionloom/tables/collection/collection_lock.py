"""The lock on a collection that is being written, and its folder."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from motionloom.errors import TableError
from motionloom.saving.locks import locked
from motionloom.tables.collection.generations import LOCK
from motionloom.tables.collection.store import disk_errors

__all__ = ["writing_collection"]

FORBIDDEN = (errno.EROFS, errno.EACCES, errno.EPERM)


@contextmanager
def writing_collection(folder: Path, out: Path) -> Iterator[None]:
    """Make the folder of a collection and hold its lock; a folder that stays empty is removed.

    Parameters
    ----------
    folder
        The clips.
    out
        The collection.

    Raises
    ------
    TableError
        Another process or thread writes the collection, or it is no place for one.
    """
    if out.resolve() == folder.resolve():
        raise TableError(
            f"{out} must be another folder than that of the clips: a collection is written into a "
            "folder of its own. Choose another out=, as lib.mlc beside the clips."
        )
    if out.exists() and not out.is_dir():
        raise TableError(f"{out} must be the folder of a collection, but is a file.")
    missing = [each for each in (out, *out.parents) if not each.exists()]
    try:
        with ExitStack() as held:
            with disk_errors(out, "Nothing was changed."):
                out.mkdir(parents=True, exist_ok=True)
                try:
                    held.enter_context(locked(out / LOCK, f"{out} is being written already"))
                except OSError as error:
                    # Where nothing can be written, a collection that is complete needs no lock.
                    if error.errno not in FORBIDDEN:
                        raise
            yield
    finally:
        with suppress(OSError):  # the first that is not empty ends it
            for each in missing:
                each.rmdir()
