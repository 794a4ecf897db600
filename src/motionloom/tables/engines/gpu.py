"""The engine of one GPU: it ranks all blends; the CPU scores the best of them again."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from motionloom._arrays import whole
from motionloom.errors import TableError
from motionloom.features.balance import FLIGHT_LOAD, GRAVITY
from motionloom.tables.engines.engine import MOST_JOBS, Report, chunks_left, processors, reported
from motionloom.tables.engines.gpu_module import LANES, compiled, find_device
from motionloom.tables.engines.gpu_source import Constants, PlainRanking, PlainTerms
from motionloom.tables.engines.gpu_tiles import FusedSearch, Query, candidates_of
from motionloom.tables.score.columns import INCH, terms_record
from motionloom.tables.score.terms import MOST_WAYS, TURN_M, Terms
from motionloom.tables.search.pair_search import Kept, Middles, PairSearch, no_spreads
from motionloom.tables.search.search import NONE, FoundChunk, SearchJob, Shortlist, search_chunk

AT_A_TIME = 50_000_000
"""Blends between two looks at whether anybody still wants them: less than a second."""


@dataclass(frozen=True, slots=True)
class GpuEngine:
    """One NVIDIA GPU, through PyTorch.

    Its single precision sums in another order than a CPU's, so it only ranks: the table comes from
    the CPU's kernel, as with any engine.
    """

    device: str = "cuda"
    """As PyTorch names it."""
    jobs: int | None = None
    """Threads that score again; by default one for each processor that may be used."""

    def __post_init__(self) -> None:
        if self.jobs is not None:
            whole(self.jobs, "jobs", least=1, most=MOST_JOBS)

    def check(self) -> None:
        """Nothing, or an error that says what is missing for a search."""
        find_device(self.device)

    def search(
        self, job: SearchJob, *, skip: Collection[int] = (), progress: Report | None = None
    ) -> Iterator[FoundChunk]:
        """Found chunks, each as soon as it is done. See :class:`Engine`."""
        number = find_device(self.device)
        terms = plain_terms(job.terms)
        search = FusedSearch(terms, f"cuda:{number}", lambda b: compiled(b, number), LANES)
        jobs = processors() if self.jobs is None else self.jobs
        yield from reported(search_with(search, job, chunks_left(job, skip), jobs), job, progress)


def plain_terms(terms: Terms) -> PlainTerms:
    """Terms without anything that only this machine knows."""
    return PlainTerms(
        *terms.arrays,
        terms.weights,
        terms.taps[:, : 2 * terms.pad - 1],
        terms.sole,
        terms.masses,
        terms.length,
        terms.pad,
        terms_record(terms).roll,
        terms.fps,
        terms.low,
        Constants(GRAVITY, FLIGHT_LOAD, INCH, TURN_M),
    )


def query_of(job: SearchJob) -> Query:
    """A job in the form that the fused kernel reads."""
    query = Query(
        job.sources.astype(np.int32),
        job.targets.astype(np.int32),
        job.between.astype(np.int32),
        tuple(sorted(set(job.ways))),
        PlainRanking(job.ranking.linear, job.ranking.log),
    )
    short = job.shortlist
    if short is None:
        return query
    between = short.between.astype(np.int32)
    between[between == NONE] = -1
    parents = short.sources.astype(np.int32), short.targets.astype(np.int32)
    return query._replace(shortlist=between, coarse_sources=parents[0], coarse_targets=parents[1])


def search_with(
    search: FusedSearch, job: SearchJob, chunks: list[int], jobs: int
) -> Generator[FoundChunk, None, None]:
    """Found ``chunks`` of a job, ranked by ``search`` and scored again in ``jobs`` threads."""
    query = query_of(job)
    gone = threading.Event()
    pool = ThreadPoolExecutor(max(jobs, 1), thread_name_prefix="search")
    waiting: deque[Future[FoundChunk]] = deque()
    try:
        for run in _runs(job, chunks, query.n_blends):
            first, stop = job.pairs(run[0]).start, job.pairs(run[-1]).stop
            try:
                ranked = search.best(query, first, stop - first, candidates_of(job.keep))
                costs, places = (tensor.cpu().numpy() for tensor in ranked)
            except RuntimeError as error:
                reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
                raise TableError(
                    f"The GPU was lost or failed in the middle of the search ({reason}). What was "
                    "found is kept: build again to go on, there or on another engine."
                ) from error
            for chunk in run:
                pairs = job.pairs(chunk)
                some = slice(pairs.start - first, pairs.stop - first)
                waiting.append(
                    pool.submit(
                        rescore_chunk,
                        job,
                        query,
                        chunk,
                        costs[some],
                        places[some],
                        stop=gone.is_set,
                    )
                )
            while waiting and waiting[0].done():
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        # The caller may have stopped, also by an interrupt: the rest is of no use.
        gone.set()
        pool.shutdown(wait=True, cancel_futures=True)


def _runs(job: SearchJob, chunks: list[int], n_blends: int) -> Iterator[list[int]]:
    """Neighbouring chunks, as many as are scored at a time."""
    run: list[int] = []
    for chunk in chunks:
        blends = (job.pairs(chunk).stop - job.pairs(run[0]).start) * n_blends if run else 0
        if run and (chunk != run[-1] + 1 or blends > AT_A_TIME):
            yield run
            run = []
        run.append(chunk)
    if run:
        yield run


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

    If they are not certain, because many cost nearly the same, the pair is searched.

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
    best_costs = np.full((len(pairs), job.keep), np.inf, dtype=np.float32)
    again = _Again(job, costs.shape[1])
    blends = query.recipes(np.arange(pairs.start, pairs.stop), places.astype(np.int64))
    for k, pair in enumerate(pairs):
        if stop():
            raise CancelledError(f"The search was left in chunk {chunk}.")
        last = costs[k, min(job.keep, costs.shape[1]) - 1] + np.float32(SLACK)
        if costs.shape[1] < query.n_blends and not costs[k, -1] > last:
            exact = _searched(job, pair)
            best_costs[k], recipes[k] = exact.costs[0], exact.recipes[0]
            continue
        near = (costs[k] <= last) & np.isfinite(costs[k])
        again.score(blends[k, near], Kept(best_costs[k], recipes[k]))
    return FoundChunk(chunk, recipes, best_costs)


class _Again:
    """The CPU's kernel, for chosen blends only."""

    def __init__(self, job: SearchJob, most: int) -> None:
        self.search = PairSearch(job.terms, job.between, job.ranking, no_spreads(), most)

    def score(self, blends: npt.NDArray[np.int32], best: Kept) -> None:
        """Score blends (n, 4) of one pair, -1 for no window."""
        if not len(blends):
            return
        ways = (blends >= 0).sum(axis=1)
        ends = int(blends[0, 0]), int(blends[0, ways[0] - 1])
        self.search.search(ends, (0, 0), _middles(blends, ways), best)


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
