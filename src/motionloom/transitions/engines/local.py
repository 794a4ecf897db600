"""The engine of this machine: chunks over worker processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Collection, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.connection import wait

from motionloom.errors import ArrayError, TableError
from motionloom.transitions.engines.engine import Report
from motionloom.transitions.search import FoundChunk, SearchJob, search_chunk

__all__ = ["LocalEngine"]

WORTH_WORKERS = 300_000
"""Blends below which starting workers takes longer than the search: about three seconds."""
TRIES = 2
"""Pools of workers that may break (one ran out of memory, one was killed) before none is used."""


@dataclass(frozen=True, slots=True)
class LocalEngine:
    """Worker processes on this machine; their number changes nothing but the time taken.

    A script that uses more than one must be importable, as everywhere in Python: put what it does
    under ``if __name__ == "__main__":``.
    """

    jobs: int | None = None
    """Number of processes; by default one for each processor that may be used."""

    def __post_init__(self) -> None:
        if self.jobs is not None and self.jobs < 1:
            raise ArrayError(f"`jobs` must be at least 1, got {self.jobs}.")

    def search(
        self, job: SearchJob, *, skip: Collection[int] = (), progress: Report | None = None
    ) -> Iterator[FoundChunk]:
        """Found chunks, each as soon as it is done. See :class:`Engine`."""
        _refuse_half_imported_scripts()
        done = set(skip)
        left = [chunk for chunk in range(job.n_chunks) if chunk not in done]
        share = len(left) / max(job.n_chunks, 1)
        jobs = _processors() if self.jobs is None else self.jobs
        jobs = min(jobs, len(left))
        for _ in range(TRIES):
            if jobs < 2 or job.n_recipes * share < WORTH_WORKERS:
                break
            try:
                for found in _by_workers(job, left, jobs):
                    left.remove(found.chunk)
                    _tell(progress, job, found)
                    yield found
            except BrokenProcessPool:
                continue
        for chunk in left:
            found = search_chunk(job, chunk)
            _tell(progress, job, found)
            yield found


def _by_workers(job: SearchJob, chunks: list[int], jobs: int) -> Iterator[FoundChunk]:
    # The kernel is compiled, or found compiled, here first: workers at once would each compile it.
    compiled = SearchJob(job.terms, job.sources[:1], job.targets[:1], job.between[:1], keep=1)
    search_chunk(compiled, 0)
    pool = ProcessPoolExecutor(
        jobs, multiprocessing.get_context("spawn"), initializer=_begin, initargs=(job,)
    )
    try:
        futures: list[Future[FoundChunk]] = [pool.submit(_find, chunk) for chunk in chunks]
        for future in as_completed(futures):
            yield future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_job: SearchJob | None = None
"""In a worker, the job that it was started for."""


def _begin(job: SearchJob) -> None:
    """Make this process a worker: it has its job, leaves interrupts to its parent, dies with it."""
    global _job
    _job = job
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, daemon=True).start()


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _find(chunk: int) -> FoundChunk:
    assert _job is not None
    return search_chunk(_job, chunk)


def _tell(progress: Report | None, job: SearchJob, found: FoundChunk) -> None:
    if progress is not None:
        progress(float(len(job.pairs(found.chunk))))


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _refuse_half_imported_scripts() -> None:
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise TableError(
            "A search over several processes must not start while a worker imports the script. "
            'Put what the script does under `if __name__ == "__main__":`, or use jobs=1.'
        )
