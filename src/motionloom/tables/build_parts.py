"""Parts of a table that is being built: its lock, and what a stopped build resumes from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy.typing as npt

from motionloom.errors import TableError
from motionloom.saving import locks
from motionloom.tables.collection.store import disk_errors
from motionloom.tables.table_file import TableFile, open_table_file, write_table_file

__all__ = ["Parts", "locked"]


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


Arrays = dict[str, npt.NDArray[Any]]


class Parts:
    """Results by name in a folder ``X.mlt.part``, each under a digest of what it was made from.

    What is damaged, cut short or made from something else counts as not there.
    """

    def __init__(self, table: Path) -> None:
        self.table = table
        self.folder = table.with_name(f"{table.name}.part")

    def load(self, name: str, inputs: str, check: Callable[[TableFile], object]) -> Arrays | None:
        """The arrays kept under a name, if they were made from these inputs.

        Parameters
        ----------
        name, inputs
            As they were saved.
        check
            Raises a TableError where the arrays are not what they must be.
        """
        try:
            file = open_table_file(self._file(name))
            if file.header.get("inputs") != inputs or file.find_damage():
                return None
            check(file)
        except TableError:
            return None
        return file.arrays

    def save(self, name: str, inputs: str, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        """Keep arrays under a name."""
        try:
            with disk_errors(self.folder, "Nothing was changed."):
                self.folder.mkdir(parents=True, exist_ok=True)
            write_table_file(self._file(name), {"inputs": inputs}, arrays, to_disk=False)
        except TableError as error:
            raise TableError(
                f"{error} What is finished of {self.table.name} is kept: build it again to go on."
            ) from error

    def discard(self) -> None:
        """Forget all parts; the folder goes too, unless somebody put something else into it."""
        if not self.folder.is_dir():
            return
        for file in self.folder.iterdir():
            if file.name.endswith((".part.mlt", ".new")):
                with suppress(OSError):
                    file.unlink()
        with suppress(OSError):
            self.folder.rmdir()

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}.part.mlt"
