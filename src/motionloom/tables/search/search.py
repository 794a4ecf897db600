"""Search: the best of all blends between representative windows."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import dataclass, field, replace

import numpy as np

from motionloom._arrays import IntArray
from motionloom.errors import ArrayError, TableError
from motionloom.tables.collection.frames import FloatArray32
from motionloom.tables.score.columns import PAPER, Ranking, terms_record
from motionloom.tables.score.recipe import MOST_WAYS
from motionloom.tables.score.terms import Terms
from motionloom.tables.search.pair_search import (
    NONE,
    Kept,
    PairSearch,
    RecipeArray,
    Spreads,
    middles_of,
    no_spreads,
    spreads_of,
)

CHUNK_PAIRS = 50
"""Pairs of source and target that are searched, and saved, at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class Shortlist:
    """Pairs of intermediaries worth trying in four-way blends, from a search of coarser windows."""

    between: RecipeArray
    """Both intermediaries, as places in the terms, :data:`NONE` where there are fewer:
    coarse source, coarse target, number. (A, B, M, 2)"""
    sources: IntArray
    """Coarse source of every source. (S,)"""
    targets: IntArray
    """Coarse target of every target. (T,)"""


@dataclass(frozen=True, slots=True, eq=False)
class SearchJob:
    """What to search: every blend from each source to each target over intermediaries.

    Pairs are numbered source by source; chunks are runs of them, and what is found in one depends
    on nothing else, so any engine may do them in any order.
    """

    terms: Terms
    sources: IntArray
    """Places in the terms. (S,)"""
    targets: IntArray
    """(T,)"""
    between: IntArray
    """Intermediaries. (K,)"""
    ways: tuple[int, ...] = (2, 3, 4)
    """Numbers of windows to blend."""
    keep: int = 32
    """Best blends to keep for each pair."""
    ranking: Ranking = PAPER
    shortlist: Shortlist | None = None
    """Where given, four-way blends are tried with these intermediaries only."""
    spreads: Spreads = field(init=False, repr=False)
    """What bounds the cost of blends."""

    def __post_init__(self) -> None:
        if not self.ways or any(n not in range(2, MOST_WAYS + 1) for n in self.ways):
            raise ArrayError(f"`ways` must be among 2, 3 and 4, got {self.ways}.")
        if self.keep < 1:
            raise ArrayError(f"`keep` must be at least 1, got {self.keep}.")
        if self.terms.n_windows >= NONE:
            raise TableError(
                f"A search must have fewer than {NONE} windows, got {self.terms.n_windows}."
            )
        for name in ("sources", "targets", "between"):
            places = np.ascontiguousarray(getattr(self, name), dtype=np.int64)
            if places.size and not 0 <= places.min() <= places.max() < self.terms.n_windows:
                raise ArrayError(
                    f"`{name}` must be places in the terms, 0 to {self.terms.n_windows - 1}."
                )
            object.__setattr__(self, name, places)
        if self.shortlist is not None:
            between = np.ascontiguousarray(self.shortlist.between, dtype=np.uint16)
            object.__setattr__(self, "shortlist", replace(self.shortlist, between=between))
        spreads = no_spreads()
        if self.ranking.bounded_by_spread:
            windows = self.sources, self.targets, self.between
            spreads = spreads_of(terms_record(self.terms), *windows)
        object.__setattr__(self, "spreads", spreads)

    @property
    def n_pairs(self) -> int:
        """Number of pairs of source and target."""
        return len(self.sources) * len(self.targets)

    @property
    def n_chunks(self) -> int:
        """Number of chunks."""
        return -(-self.n_pairs // CHUNK_PAIRS)

    @property
    def n_recipes(self) -> int:
        """Number of blends that are scored."""
        k = len(self.between)
        four = k * k
        if self.shortlist is not None:
            four = self.shortlist.between.shape[2]
        each = {2: 1, 3: k, 4: four}
        return self.n_pairs * sum(each[n] for n in set(self.ways))

    def pairs(self, chunk: int) -> range:
        """Numbers of the pairs of a chunk."""
        if not 0 <= chunk < self.n_chunks:
            raise ArrayError(f"`chunk` must be 0 to {self.n_chunks - 1}, got {chunk}.")
        first = chunk * CHUNK_PAIRS
        return range(first, min(first + CHUNK_PAIRS, self.n_pairs))

    def digest(self) -> str:
        """A name for the job's content: chunks found under another one do not belong to it."""
        digest = hashlib.blake2b(digest_size=16)
        terms = self.terms
        shortlist = () if self.shortlist is None else (self.shortlist.between,)
        parents = () if self.shortlist is None else (self.shortlist.sources, self.shortlist.targets)
        for array in (
            *terms.arrays,
            terms.taps,
            terms.weights,
            terms.sole,
            terms.masses,
            self.sources,
            self.targets,
            self.between,
            self.ranking.linear,
            self.ranking.log,
            *shortlist,
            *parents,
        ):
            digest.update(f"{array.dtype.str}{array.shape}".encode())
            digest.update(np.ascontiguousarray(array).data)
        rest = (terms.length, terms.fps, terms.pad, terms.low, sorted(set(self.ways)), self.keep)
        digest.update(repr((rest, CHUNK_PAIRS)).encode())
        return digest.hexdigest()


@dataclass(frozen=True, slots=True, eq=False)
class FoundChunk:
    """The best blends of a chunk's pairs, best first."""

    chunk: int
    recipes: RecipeArray
    """Windows as places in the terms, source first, target last, then :data:`NONE`.
    (pairs, keep, 4)"""
    costs: FloatArray32
    """By the job's ranking; infinite where there are fewer blends than asked. (pairs, keep)"""


def search_chunk(
    job: SearchJob, chunk: int, *, stop: Callable[[], bool] = lambda: False
) -> FoundChunk:
    """The best blends of one chunk: the same numbers wherever and whenever it is searched.

    Parameters
    ----------
    job
        What to search.
    chunk
        Which part of it.
    stop
        Asked before every pair; once it says so, the search ends with a :class:`CancelledError`.
    """
    pairs = job.pairs(chunk)
    two, three, four = middles_of(job.between, job.ways)
    short = job.shortlist if 4 in job.ways else None
    most = max(len(two), len(three), len(four) if short is None else short.between.shape[2])
    search = PairSearch(job.terms, job.between, job.ranking, job.spreads, most)
    recipes = np.full((len(pairs), job.keep, MOST_WAYS), NONE, dtype=np.uint16)
    costs = np.full((len(pairs), job.keep), np.inf, dtype=np.float32)
    for k, pair in enumerate(pairs):
        if stop():
            raise CancelledError(f"The search was left in chunk {chunk}.")
        a, b = divmod(pair, len(job.targets))
        if short is not None:
            four = short.between[short.sources[a], short.targets[b]]
        ends = int(job.sources[a]), int(job.targets[b])
        search.search(ends, (a, b), (two, three, four), Kept(costs[k], recipes[k]))
    return FoundChunk(chunk, recipes, costs)


def search_pair(
    terms: Terms,
    source: int,
    target: int,
    between: IntArray,
    *,
    ways: tuple[int, ...] = (2, 3, 4),
    keep: int = 32,
    ranking: Ranking = PAPER,
) -> FoundChunk:
    """The best blends from one window to another over all ``between``, best first.

    Parameters
    ----------
    terms
        Of all windows.
    source, target
        Places in the terms.
    between : (K,)
        Intermediaries, as places in the terms.
    ways
        Numbers of windows to blend.
    keep
        How many blends to return.
    ranking
        What is best.
    """
    one = np.array([source], dtype=np.int64), np.array([target], dtype=np.int64)
    return search_chunk(SearchJob(terms, *one, between, ways, keep, ranking), 0)
