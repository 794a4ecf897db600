"""Paper search: the best time-aligned blend between every two representatives."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray, IntArray
from motionloom._core import Record
from motionloom.tables.collection.clip_frames import FloatArray32
from motionloom.tables.collection.frames import Frames
from motionloom.tables.paper.recipe_times import RecipeTimes
from motionloom.tables.paper.time_alignment import WindowMatches, match_all
from motionloom.tables.paper.warped_terms import WarpedTerms
from motionloom.tables.score.columns import Ranking
from motionloom.tables.score.terms import Terms, terms_of
from motionloom.tables.search.pair_search import NONE, middles_of


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
