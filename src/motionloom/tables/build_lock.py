"""A lock on a table that is being built, so that two builds do not write one file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from motionloom.saving import locks
from motionloom.tables.collection.store import disk_errors

__all__ = ["locked"]


@contextmanager
def locked(table: Path) -> Iterator[None]:
    """Hold ``X.mlt.lock`` while a table is built or extended.

    Raises
    ------
    TableError
        Another process or thread holds it; the message names it.
    """
    with ExitStack() as held:
        with disk_errors(table, "Nothing was changed."):
            file = table.with_name(f"{table.name}.lock")
            held.enter_context(locks.locked(file, f"{table} is being built already"))
        yield
