"""Judged again: what a GPU ranked first, in the order and with the costs of the CPU's search."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError

import numpy as np
import numpy.typing as npt

from motionloom.tables.engines.gpu_tiles import Query
from motionloom.tables.score.terms import MOST_WAYS
from motionloom.tables.search.pair_search import Kept, Middles, PairSearch
from motionloom.tables.search.search import (
    NONE,
    FoundChunk,
    SearchJob,
    Shortlist,
    search_chunk,
)
from motionloom.tables.search.spread_bound import no_spreads

__all__ = ["SLACK", "rescore_chunk"]

SLACK = 0.05
"""Twice what costs of the GPU and of the CPU may differ by, for the one that is kept last may be
wrong upwards and the one behind it downwards: what is worse by more need not be looked at."""


def rescore_chunk(
    job: SearchJob,
    query: Query,
    chunk: int,
    costs: npt.NDArray[np.float32],
    places: npt.NDArray[np.int32],
    *,
    stop: Callable[[], bool] = lambda: False,
) -> FoundChunk:
    """The best blends of a chunk from a GPU's candidates.

    Where these leave room for doubt, because many cost nearly the same, the pair is searched.

    Parameters
    ----------
    job, query
        What is searched, in both forms.
    chunk
        Which part of it.
    costs : (pairs, m)
        Of the candidates, rising.
    places : (pairs, m)
        Which blends of their pair they are.
    stop
        Asked before every pair; once it says so, this ends with a :class:`CancelledError`.
    """
    pairs = job.pairs(chunk)
    recipes = np.full((len(pairs), job.keep, MOST_WAYS), NONE, dtype=np.uint16)
    kept = np.full((len(pairs), job.keep), np.inf, dtype=np.float32)
    again = _Again(job, costs.shape[1])
    blends = query.recipes(np.arange(pairs.start, pairs.stop), places.astype(np.int64))
    for k, pair in enumerate(pairs):
        if stop():
            raise CancelledError(f"The search was left in chunk {chunk}.")
        last = costs[k, min(job.keep, costs.shape[1]) - 1] + np.float32(SLACK)
        if costs.shape[1] < query.n_blends and not costs[k, -1] > last:
            found = _searched(job, pair)
            kept[k], recipes[k] = found.costs[0], found.recipes[0]
            continue
        near = (costs[k] <= last) & np.isfinite(costs[k])
        again.judge(blends[k, near], Kept(kept[k], recipes[k]))
    return FoundChunk(chunk, recipes, kept)


class _Again:
    """The CPU's kernel, for chosen blends only."""

    def __init__(self, job: SearchJob, most: int) -> None:
        self.search = PairSearch(job.terms, job.between, job.ranking, no_spreads(), most)

    def judge(self, blends: npt.NDArray[np.int32], kept: Kept) -> None:
        """Judge blends (n, 4) of one pair, -1 for no window."""
        if not len(blends):
            return
        ways = (blends >= 0).sum(axis=1)
        ends = int(blends[0, 0]), int(blends[0, ways[0] - 1])
        self.search.search(ends, (0, 0), _middles(blends, ways), kept)


def _middles(blends: npt.NDArray[np.int32], ways: npt.NDArray[np.int64]) -> Middles:
    """Intermediaries of blends of two, three and four windows."""
    two, three, four = (blends[ways == n, 1:3].copy() for n in (2, 3, 4))
    two[:], three[:, 1] = NONE, NONE
    # Neighbours with the same first one share sums.
    four = four[np.lexsort(four.T[::-1])]
    return two.astype(np.uint16), three.astype(np.uint16), four.astype(np.uint16)


def _searched(job: SearchJob, pair: int) -> FoundChunk:
    """One pair searched on the CPU."""
    a, b = divmod(pair, len(job.targets))
    short = job.shortlist
    if short is not None:
        short = Shortlist(short.between, short.sources[a : a + 1], short.targets[b : b + 1])
    ends = job.sources[a : a + 1], job.targets[b : b + 1]
    alone = SearchJob(job.terms, *ends, job.between, job.ways, job.keep, job.ranking, short)
    return search_chunk(alone, 0)
