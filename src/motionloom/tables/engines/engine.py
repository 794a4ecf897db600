"""Engines: where a search runs; the threads of this machine are the plain one."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from motionloom._arrays import whole
from motionloom.tables.search.search import FoundChunk, SearchJob, search_chunk

Report = Callable[[float], None]
"""Gets the number of pairs that are done since the last call."""


class Engine(Protocol):
    """An engine that searches the chunks of a job."""

    def search(
        self, job: SearchJob, *, skip: Collection[int] = (), progress: Report | None = None
    ) -> Iterator[FoundChunk]:
        """Found chunks, in any order, each as soon as it is done.

        Parameters
        ----------
        job
            What to search.
        skip
            Chunks that were found before and need not be found again.
        progress
            Gets the number of pairs of each chunk.
        """
        ...


@runtime_checkable
class Checked(Protocol):
    """An engine that may be unavailable: it is checked before a build begins."""

    def check(self) -> None:
        """Raise a MotionLoomError if something is missing; its text names the remedy."""
        ...


MOST_JOBS = 1024
"""Threads or processes at once: more than any one machine has processors."""


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """Threads on this machine; their number changes nothing but the time taken.

    The kernel lets go of the interpreter while it works, so threads are as fast as processes, share
    the terms, and need nothing of the script that starts them.
    """

    jobs: int | None = None
    """Number of threads; by default one for each processor that may be used."""

    def __post_init__(self) -> None:
        if self.jobs is not None:
            whole(self.jobs, "jobs", least=1, most=MOST_JOBS)

    def search(
        self, job: SearchJob, *, skip: Collection[int] = (), progress: Report | None = None
    ) -> Iterator[FoundChunk]:
        """Found chunks, each as soon as it is done. See :class:`Engine`."""
        left = chunks_left(job, skip)
        jobs = processors() if self.jobs is None else self.jobs
        return reported(_found(job, left, min(jobs, len(left))), job, progress)


def chunks_left(job: SearchJob, skip: Collection[int]) -> list[int]:
    """Chunks of a job that were not found before."""
    done = set(skip)
    return [chunk for chunk in range(job.n_chunks) if chunk not in done]


def reported(
    chunks: Generator[FoundChunk, None, None], job: SearchJob, progress: Report | None
) -> Iterator[FoundChunk]:
    """Chunks as they come; ``progress`` gets the number of pairs of each."""
    # Explicitly: Python 3.12.3 keeps what a closed generator refers to (its issue 118272).
    with closing(chunks):
        for result in chunks:
            if progress is not None:
                progress(float(len(job.pairs(result.chunk))))
            yield result


def _found(job: SearchJob, chunks: list[int], jobs: int) -> Generator[FoundChunk, None, None]:
    if jobs < 2:
        for chunk in chunks:
            yield search_chunk(job, chunk)
        return
    left = threading.Event()
    pool = ThreadPoolExecutor(jobs, thread_name_prefix="search")
    try:
        futures: list[Future[FoundChunk]] = [
            pool.submit(search_chunk, job, chunk, stop=left.is_set) for chunk in chunks
        ]
        for future in as_completed(futures):
            yield future.result()
    finally:
        # The caller may have stopped, also by an interrupt: the rest is of no use.
        left.set()
        pool.shutdown(wait=True, cancel_futures=True)


def processors() -> int:
    """Number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
