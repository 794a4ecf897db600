"""Parts of a table that is being built: its lock, and what a stopped build resumes from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from motionloom._progress import progress_bar
from motionloom.errors import TableError
from motionloom.files import locks
from motionloom.tables.collection.store import disk_errors
from motionloom.tables.engines.engine import Engine
from motionloom.tables.search.search import NONE, SearchJob
from motionloom.tables.table_file import TableFile, open_table_file, write_table_file


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
                f"{error} The finished parts of {self.table.name} are kept: build it again to "
                "resume."
            ) from error

    def discard(self) -> None:
        """Forget all parts; the folder goes too, unless it holds other files."""
        if not self.folder.is_dir():
            return
        for file in self.folder.iterdir():
            if file.name.endswith((".part.mlt", ".new")):
                with suppress(OSError):
                    file.unlink()
        with suppress(OSError):
            self.folder.rmdir()

    def search(
        self, job: SearchJob, name: str, engine: Engine, progress: bool
    ) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.float32]]:
        """Best recipes (S, T, keep, 4) and their costs (S, T, keep) of a job, chunk by chunk."""
        inputs = job.digest()
        recipes = np.full((job.n_pairs, job.keep, 4), NONE, dtype=np.uint16)
        costs = np.full((job.n_pairs, job.keep), np.inf, dtype=np.float32)
        done = set()
        for chunk in range(job.n_chunks):
            pairs = job.pairs(chunk)
            check = partial(
                _check_chunk, shape=(len(pairs), job.keep), n_windows=job.terms.n_windows
            )
            stored = self.load(f"{name}-{chunk:05d}", inputs, check)
            if stored is not None:
                recipes[pairs.start : pairs.stop] = stored["recipes"]
                costs[pairs.start : pairs.stop] = stored["costs"]
                done.add(chunk)
        left = job.n_pairs - sum(len(job.pairs(chunk)) for chunk in done)
        with progress_bar(f"searching {job.n_recipes:,} blends", left, shown=progress) as advance:
            for result in engine.search(job, skip=done, progress=advance):
                pairs = job.pairs(result.chunk)
                recipes[pairs.start : pairs.stop] = result.recipes
                costs[pairs.start : pairs.stop] = result.costs
                self.save(
                    f"{name}-{result.chunk:05d}",
                    inputs,
                    {"recipes": result.recipes, "costs": result.costs},
                )
        shape = len(job.sources), len(job.targets), job.keep
        return recipes.reshape(*shape, 4), costs.reshape(shape)

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}.part.mlt"


def _check_chunk(file: TableFile, *, shape: tuple[int, int], n_windows: int) -> None:
    """Check what a part holds of a search: places in the terms, the costs of the best first."""
    recipes = file.array("recipes", "<u2", (*shape, 4))
    if ((recipes >= n_windows) & (recipes != NONE)).any():
        raise file.damaged("a recipe names a window that is not there")
    if np.isnan(file.array("costs", "<f4", shape)).any():
        raise file.damaged("a recipe must have a cost")
