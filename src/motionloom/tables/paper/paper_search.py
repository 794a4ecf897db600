"""Paper search: the papers' table, the best time-aligned blend of every pair, row by row."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray, IntArray
from motionloom._core import Record
from motionloom._progress import progress_bar
from motionloom.tables.collection.frames import FloatArray32, Frames
from motionloom.tables.engines.engine import processors
from motionloom.tables.paper.time_alignment import (
    FAMILY_NUMBERS,
    RecipeTimes,
    WarpedTerms,
    WindowMatches,
    match_all,
)
from motionloom.tables.score.columns import Ranking
from motionloom.tables.score.recipe import MOST_WAYS
from motionloom.tables.score.terms import Terms, terms_of
from motionloom.tables.search.pair_search import NONE, middles_of
from motionloom.tables.table_file import Parts, TableFile

Searched = tuple[npt.NDArray[np.uint16], npt.NDArray[np.float32], dict[str, npt.NDArray[Any]]]
"""Best recipes (K, K, 1, 4), their costs (K, K, 1), and arrays of the file by name."""


def search_paper(job: PaperJob, parts: Parts, *, jobs: int | None, progress: bool) -> Searched:
    """The best recipe of every pair of representatives, and its time alignment.

    Parameters
    ----------
    job
        What to search.
    parts
        Rows that were found before, and where to keep those that are found.
    jobs
        Threads; by default one for each processor.
    progress
        Whether to draw a bar, if standard error is a terminal.
    """
    size = job.size
    recipes = np.full((size, size, 1, MOST_WAYS), NONE, dtype=np.uint16)
    costs = np.full((size, size, 1), np.inf, dtype=np.float32)
    families = np.zeros((size, size), dtype=np.uint8)
    inputs, left = job.digest(), []

    def check(file: TableFile) -> None:
        _check_row(file, size)

    for source in range(size):
        stored = parts.load(f"paper-{source:05d}", inputs, check)
        if stored is None:
            left.append(source)
            continue
        recipes[source, :, 0], costs[source, :, 0] = stored["recipes"], stored["costs"]
        families[source] = stored["families"]
    n_blends = size * size * len(job.middles) * len(job.families)
    with progress_bar(f"searching {n_blends:,} blends", len(left), shown=progress) as advance:
        for row in search_rows(job, left, processors() if jobs is None else jobs):
            recipes[row.source, :, 0], costs[row.source, :, 0] = row.recipes, row.costs
            families[row.source] = row.families
            arrays: dict[str, npt.NDArray[Any]] = {
                "recipes": row.recipes,
                "costs": row.costs,
                "families": row.families,
            }
            parts.save(f"paper-{row.source:05d}", inputs, arrays)
            advance(1.0)
    return recipes, costs, times_of(job, recipes[:, :, 0], families).arrays()


def _check_row(file: TableFile, size: int) -> None:
    """Check what a part holds of a search: places among the representatives, costs, families."""
    recipes = file.array("recipes", "<u2", (size, MOST_WAYS))
    if ((recipes >= size) & (recipes != NONE)).any():
        raise file.damaged("a recipe names a window that is not there")
    if np.isnan(file.array("costs", "<f4", (size,))).any():
        raise file.damaged("a recipe must have a cost")
    if (file.array("families", "|u1", (size,)) >= len(FAMILY_NUMBERS)).any():
        raise file.damaged("a recipe has weights of an unknown family")


@dataclass(frozen=True)
class PaperJob:
    """What to search: every blend from each representative to each, over all of them."""

    frames: Frames
    medoids: IntArray
    """First rows of the representatives. (K,)"""
    length: int
    ways: tuple[int, ...]
    families: tuple[str, ...]
    """Weights to try each blend with."""
    ranking: Ranking
    edition: int
    """2006 matches windows from border minima, 2007 from corner to corner."""
    masses: FloatArray | None

    @cached_property
    def terms(self) -> Terms:
        """Terms of the representatives."""
        return terms_of(self.frames, self.medoids, self.length, masses=self.masses)

    @cached_property
    def matches(self) -> WindowMatches:
        """Time alignments of every two representatives."""
        return match_all(self.frames, self.medoids, self.length, borders=self.edition == 2006)

    @cached_property
    def record(self) -> Record:
        """Those alignments as the core reads them."""
        return self.matches.record()

    @cached_property
    def middles(self) -> npt.NDArray[np.uint16]:
        """Intermediaries to try, 0xffff where there are fewer. (M, 2)."""
        return np.ascontiguousarray(np.concatenate(middles_of(np.arange(self.size), self.ways)))

    @property
    def size(self) -> int:
        """Number of representatives K."""
        return len(self.medoids)

    def digest(self) -> str:
        """A name for the job's content: rows found under another one do not belong to it."""
        digest = hashlib.blake2b(digest_size=16)
        masses = self.terms.masses
        for array in (*self.terms.arrays, masses, *self.matches, self.ranking.linear, self.middles):
            digest.update(np.ascontiguousarray(array).data)
        digest.update(repr((self.length, self.families, self.ranking.weights())).encode())
        return digest.hexdigest()


@dataclass(frozen=True)
class FoundRow:
    """The best blend from one representative to each."""

    source: int
    recipes: npt.NDArray[np.uint16]
    """Windows as places among the representatives, then 0xffff. (K, 4)"""
    costs: FloatArray32
    """(K,)"""
    families: npt.NDArray[np.uint8]
    """(K,)"""


def search_row(
    job: PaperJob, source: int, *, stop: Callable[[], bool] = lambda: False
) -> FoundRow | None:
    """The best blends from one representative; None where ``stop`` asks to leave."""
    warped = WarpedTerms(job.terms)
    best = []
    for target in range(job.size):
        if stop():
            return None
        best.append(
            warped.search(job.record, (source, target), job.middles, job.ranking, job.families)
        )
    recipes, costs, families = (
        np.concatenate([getattr(each, name) for each in best])
        for name in ("recipes", "costs", "families")
    )
    return FoundRow(source, recipes, costs, families)


def search_rows(job: PaperJob, sources: list[int], jobs: int) -> Iterator[FoundRow]:
    """Found rows, in any order, each as soon as it is done; threads change nothing but the time."""
    job.record, job.middles, job.terms  # noqa: B018  made once, before threads share them
    left = threading.Event()
    pool = ThreadPoolExecutor(max(1, jobs), thread_name_prefix="paper")
    try:
        futures: list[Future[FoundRow | None]] = [
            pool.submit(search_row, job, source, stop=left.is_set) for source in sources
        ]
        for future in as_completed(futures):
            row = future.result()
            assert row is not None
            yield row
    finally:
        left.set()
        pool.shutdown(wait=True, cancel_futures=True)


def times_of(
    job: PaperJob, recipes: npt.NDArray[np.uint16], families: npt.NDArray[np.uint8]
) -> RecipeTimes:
    """Time alignment of the best recipe of every pair. recipes: (K, K, 4)."""
    warped = WarpedTerms(job.terms)
    entries = []
    for recipe in recipes.reshape(-1, recipes.shape[-1]):
        windows = recipe[recipe != NONE].astype(np.int32)
        entries.append(warped.times(job.record, windows))
    return RecipeTimes.of_entries(entries, families)
