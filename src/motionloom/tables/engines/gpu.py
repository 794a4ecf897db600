"""The engine of one GPU: it ranks all blends; those it ranks first are judged again on the CPU."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Collection, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from motionloom._arrays import whole
from motionloom.errors import TableError
from motionloom.features.balance import FLIGHT_LOAD, GRAVITY
from motionloom.tables.engines.engine import Report
from motionloom.tables.engines.gpu_module import LANES, compiled, find_device
from motionloom.tables.engines.gpu_rescore import rescore_chunk
from motionloom.tables.engines.gpu_tiles import FusedSearch, Query, candidates_of
from motionloom.tables.engines.local import MOST_JOBS, processors
from motionloom.tables.engines.plain_terms import Constants, PlainRanking, PlainTerms
from motionloom.tables.score.blend_kernel import judge_of
from motionloom.tables.score.columns import INCH
from motionloom.tables.score.terms import Terms
from motionloom.tables.score.window_terms import TURN_M
from motionloom.tables.search.search import NONE, FoundChunk, SearchJob

__all__ = ["GpuEngine", "plain_terms", "query_of", "search_with"]

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
    """Threads that judge again; by default one for each processor that may be used."""

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
        done = set(skip)
        left = [chunk for chunk in range(job.n_chunks) if chunk not in done]
        jobs = processors() if self.jobs is None else self.jobs
        # Explicitly: Python 3.12.3 keeps what a closed generator refers to (its issue 118272).
        with closing(search_with(search, job, left, jobs)) as chunks:
            for found in chunks:
                if progress is not None:
                    progress(float(len(job.pairs(found.chunk))))
                yield found


def plain_terms(terms: Terms) -> PlainTerms:
    """Terms without anything that only this machine knows."""
    judge = judge_of(terms)
    return PlainTerms(
        *terms.arrays,
        terms.weights,
        terms.taps[:, : 2 * terms.pad - 1],
        terms.sole,
        terms.masses,
        terms.length,
        terms.pad,
        judge.roll,
        terms.fps,
        terms.low,
        Constants(GRAVITY, FLIGHT_LOAD, INCH, TURN_M),
    )


def query_of(job: SearchJob) -> Query:
    """A job in the form that the fused kernel is told."""
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
    """Found ``chunks`` of a job, ranked by ``search`` and judged again in ``jobs`` threads."""
    query = query_of(job)
    gone = threading.Event()
    pool = ThreadPoolExecutor(max(jobs, 1), thread_name_prefix="search")
    waiting: deque[Future[FoundChunk]] = deque()
    try:
        for run in _runs(job, chunks, query.n_blends):
            first, stop = job.pairs(run[0]).start, job.pairs(run[-1]).stop
            try:
                found = search.best(query, first, stop - first, candidates_of(job.keep))
                costs, places = (tensor.cpu().numpy() for tensor in found)
            except RuntimeError as error:
                said = (str(error).strip().splitlines() or [type(error).__name__])[0]
                raise TableError(
                    f"The GPU was lost or failed in the middle of the search ({said}). What was "
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
        # Whoever asked may have gone, by an interrupt too: what is still judged is of no use.
        gone.set()
        pool.shutdown(wait=True, cancel_futures=True)


def _runs(job: SearchJob, chunks: list[int], n_blends: int) -> Iterator[list[int]]:
    """Neighbouring chunks, as many as are judged at a time."""
    run: list[int] = []
    for chunk in chunks:
        blends = (job.pairs(chunk).stop - job.pairs(run[0]).start) * n_blends if run else 0
        if run and (chunk != run[-1] + 1 or blends > AT_A_TIME):
            yield run
            run = []
        run.append(chunk)
    if run:
        yield run
