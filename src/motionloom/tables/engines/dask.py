"""The engine of many machines: chunks over the workers of a dask cluster, given or started here."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Generator, Iterator
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from motionloom._arrays import whole
from motionloom.errors import ArrayError, TableError
from motionloom.tables.engines.dask_client import (
    Connection,
    LostSchedulerError,
    connected,
    import_distributed,
)
from motionloom.tables.engines.dask_tasks import PackedJob, chunk_task, hold_task, pack_job
from motionloom.tables.engines.engine import MOST_JOBS, Report, chunks_left, processors, reported
from motionloom.tables.search.search import FoundChunk, SearchJob

HERE = "127.0.0.1"
"""Where all of them listen, their web servers too: dask runs code from anyone who can connect."""
START_S = 60.0
"""Longest wait for the scheduler to say where it listens, and for the first worker to join."""
IDLE_S = 600
"""A scheduler whose client was killed ends after this time, and its workers with it."""
DEATH_S = 60
"""Workers that find no scheduler, or lose it, end after this time."""
CLOSE_S = 10.0
"""All of them have ended by then, or are killed."""
KILL_S = 5.0
"""Longest wait for those that were killed: a process may hang in the kernel."""


@contextmanager
def local_cluster(workers: int) -> Iterator[str]:
    """Address of a scheduler with ``workers`` workers of one thread; all end with the context.

    They are started as commands, not as copies of the running process: a script needs no
    ``if __name__ == "__main__"`` for that, nor a file. Workers that die are started again.
    """
    running: list[subprocess.Popen[bytes]] = []
    with tempfile.TemporaryDirectory(prefix="motionloom-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        address_file = home / "scheduler.json"
        try:
            running.append(
                _start(
                    home, "scheduler", "--host", HERE, "--port", "0", "--no-dashboard",
                    "--dashboard-address", f"{HERE}:0",
                    "--scheduler-file", address_file, "--idle-timeout", f"{IDLE_S} s",
                )
            )  # fmt: skip
            # Started before the scheduler is there: they load their modules at the same time.
            running += [
                _start(
                    home, "worker", "--scheduler-file", address_file, "--host", HERE,
                    "--nthreads", 1, "--no-dashboard", "--dashboard-address", f"{HERE}:0",
                    "--name", k, "--local-directory", home, "--death-timeout", DEATH_S,
                    "--memory-limit", 0,
                )
                for k in range(workers)
            ]  # fmt: skip
            address = _address(address_file, running[0], home)
            yield address
        finally:
            _end(running)


def _start(home: Path, *words: object) -> subprocess.Popen[bytes]:
    """A command of dask; what it says goes to a file."""
    with (home / f"{words[0]}.log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *map(str, words)],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=home,
        )  # fmt: skip


def _end(running: list[subprocess.Popen[bytes]]) -> None:
    """Terminate the processes, workers first; their nannies would end them anyway."""
    for process in reversed(running):
        process.terminate()
    if not _ended(running, CLOSE_S):
        for process in running:
            process.kill()
        _ended(running, KILL_S)


def _ended(running: list[subprocess.Popen[bytes]], longest: float) -> bool:
    """Whether all of them end in time."""
    until = time.monotonic() + longest
    for process in running:
        with suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, until - time.monotonic()))
    return all(process.poll() is not None for process in running)


def _address(address_file: Path, scheduler: subprocess.Popen[bytes], home: Path) -> str:
    """Where the scheduler listens, once it says so."""
    until = time.monotonic() + START_S
    while time.monotonic() < until and scheduler.poll() is None:
        try:
            return str(json.loads(address_file.read_text())["address"])
        except (OSError, ValueError):
            time.sleep(0.05)
    lines = (home / "scheduler.log").read_text(errors="replace").strip().splitlines()
    reason = lines[-1] if lines else "it says nothing"
    raise TableError(f"A dask scheduler cannot be started on this machine: {reason}.")


KEPT = "What was found is kept: build again to go on."
LOOK_S = 2.0
"""After so long a silence, see whether anybody is there."""
FETCH_S = 10.0
"""What was found is with the worker that found it: this long, and it may be gone with it."""
NO_WORKER_S = 60.0
"""A search without any worker is given up after this time."""
TRIES = 4
"""A chunk is given up when it was lost so often; dask itself tries each several times."""


@dataclass(frozen=True, slots=True)
class DaskEngine:
    """Workers of a dask cluster; who they are and how many changes nothing but the time taken.

    The job is sent, not read from files that workers might not see; it goes to one worker, and from
    worker to worker. A worker that dies is replaced by any other.

    Examples
    --------
    >>> DaskEngine("tcp://10.0.0.1:8786").address
    'tcp://10.0.0.1:8786'
    """

    address: str | None = None
    """Of the scheduler; None starts one on this machine while a search runs."""
    workers: int | None = None
    """How many to start where there is no address; by default one for each processor."""

    def __post_init__(self) -> None:
        if self.address is not None and (not isinstance(self.address, str) or not self.address):
            raise ArrayError(
                f"`address` must be that of a dask scheduler, as 'tcp://host:8786', got "
                f"{self.address!r}."
            )
        if self.workers is not None:
            whole(self.workers, "workers", least=1, most=MOST_JOBS)
            if self.address is not None:
                raise ArrayError(
                    "`workers` says how many to start on this machine; the cluster at "
                    f"{self.address} has its own. Give one of both."
                )

    def check(self) -> None:
        """Nothing, or an error in words: no dask, no answer, no workers, other versions."""
        if self.address is None:
            import_distributed()
            return
        with connected(self.address):
            pass

    def search(
        self, job: SearchJob, *, skip: Collection[int] = (), progress: Report | None = None
    ) -> Iterator[FoundChunk]:
        """Found chunks, each as soon as it is done. See :class:`Engine`.

        Raises
        ------
        TableError
            The scheduler or its workers cannot be reached, are lost, or would find other numbers.
        """
        left = chunks_left(job, skip)
        if left:
            with self._connection() as connection:
                yield from reported(_found(connection, pack_job(job), left), job, progress)

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        """A connection to the cluster, which may be one of our own."""
        import_distributed()
        with ExitStack() as stack:
            address, longest = self.address, None
            if address is None:
                address = stack.enter_context(local_cluster(self.workers or processors()))
                longest = START_S
            yield stack.enter_context(connected(address, first_worker_s=longest))


def _found(
    connection: Connection, packed: PackedJob, chunks: list[int]
) -> Generator[FoundChunk, None, None]:
    """Found chunks as they come; what workers lose is searched again."""
    try:
        yield from _taken(_Waiting(connection, packed), chunks)
    except LostSchedulerError as error:
        raise TableError(f"{error} {KEPT}") from error


def _taken(waiting: _Waiting, chunks: list[int]) -> Iterator[FoundChunk]:
    for chunk in chunks:
        waiting.send(chunk)
    silent_since = time.monotonic()
    while waiting.chunks:
        try:
            result = waiting.take(waiting.ended.get(timeout=LOOK_S))
        except (queue.Empty, TimeoutError):
            if waiting.connection.n_workers():
                silent_since = time.monotonic()
            elif time.monotonic() - silent_since > NO_WORKER_S:
                raise TableError(
                    f"The dask scheduler at {waiting.connection.address} has had no worker for "
                    f"{NO_WORKER_S:g} s. {KEPT}"
                ) from None
            continue
        silent_since = time.monotonic()
        if result is not None:
            yield result


class _Waiting:
    """Chunks that were sent to a cluster and have not come back."""

    def __init__(self, connection: Connection, packed: PackedJob) -> None:
        import dask

        self.connection = connection
        self.ended: queue.SimpleQueue[Any] = queue.SimpleQueue()
        """Futures that came to an end, good or bad."""
        self.chunks: dict[Any, int] = {}
        self._lost: dict[int, int] = {}
        self._search = chunk_task()
        # As a task rather than scattered data: the scheduler can make it again where it is lost
        # with a worker. The graph is as large as the terms, which is meant.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            self._packed = connection.submit(hold_task(), *packed)

    def send(self, chunk: int) -> None:
        """Have a chunk searched."""
        self._wait(self.connection.submit(self._search, self._packed, chunk), chunk)

    def _wait(self, future: Any, chunk: int) -> None:
        self.chunks[future] = chunk
        self.connection.when_done(future, self.ended.put)

    def take(self, future: Any) -> FoundChunk | None:
        """What a future that ended has found; None where it was lost and is searched again.

        Raises TimeoutError where it does not come. dask has it searched again once it knows its
        worker to be gone, and waits for another one: the future ends again, or never.
        """
        from distributed import KilledWorker

        chunk = self.chunks.pop(future)
        try:
            result: FoundChunk = self.connection.result(future, within=FETCH_S)
        except TimeoutError:
            self._wait(future, chunk)
            raise
        except TableError as error:
            raise TableError(f"{error} {KEPT}") from error
        except (KilledWorker, CancelledError, OSError) as error:
            self._send_again(chunk, error)
            return None
        except (ImportError, MemoryError) as error:
            raise TableError(
                f"A worker at {self.connection.address} cannot search: "
                f"{str(error) or 'out of memory'}. {KEPT}"
            ) from error
        return result

    def _send_again(self, chunk: int, error: Exception) -> None:
        """Have a chunk searched again that was lost with its worker, some times."""
        address = self.connection.address
        # A client that has connected again has lost what it sent before.
        if self.connection.lost or self._packed.cancelled():
            raise LostSchedulerError(f"The dask scheduler at {address} was lost.") from error
        self._lost[chunk] = self._lost.get(chunk, 0) + 1
        if self._lost[chunk] >= TRIES:
            raise TableError(
                f"Workers at {address} die over chunk {chunk} of the search again and again "
                f"({error}). Give them more memory, or look at their logs. {KEPT}"
            ) from error
        self.send(chunk)
