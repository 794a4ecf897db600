"""A connection to a dask scheduler whose workers are fit to search."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from motionloom._extras import require_extra
from motionloom.errors import TableError
from motionloom.tables.engines.dask_tasks import PACKAGES, check_versions
from motionloom.tables.engines.event_loop import EventLoop

CONNECT_S = 20.0
"""An address is given up after this time."""
FIRST_WORKER_S = 30.0
"""A scheduler that has no worker by then is given up."""
ANSWER_S = 30.0
"""A scheduler that has not answered a question by then hangs, or its machine does."""
CLOSE_S = 10.0
"""Longest wait for an orderly end of a connection; then it is cut."""
POLL_S = 0.1
LOGGERS = ("asyncio", "distributed", "tornado")
"""What dask and its network library log to."""


class LostSchedulerError(TableError):
    """The scheduler closed the connection, or does not answer."""


class Connection:
    """A client of a scheduler, for threads other than that of its event loop.

    The client lives on an event loop of ours. dask's own thread for clients has waits without an
    end, and is stopped by whatever thread happens to collect a client as garbage.
    """

    def __init__(self, client: Any, loop: EventLoop, address: str) -> None:
        self._client = client
        self._loop = loop
        self.address = address

    @property
    def lost(self) -> bool:
        """Whether the connection is closed."""
        return bool(self._client.status != "running")

    def ask(self, question: Callable[[Any], Awaitable[Any]]) -> Any:
        """Answer to a ``question`` of the client, which is asked on its event loop.

        Raises
        ------
        LostSchedulerError
            The connection is closed, or there is no answer within :data:`ANSWER_S`.
        """

        async def answer() -> Any:
            return await question(self._client)

        try:
            return self._loop.run(answer(), within=ANSWER_S)
        except Exception as error:
            if self.lost:
                raise LostSchedulerError(
                    f"The dask scheduler at {self.address} was lost."
                ) from error
            if isinstance(error, OSError):  # TimeoutError is one
                raise LostSchedulerError(
                    f"The dask scheduler at {self.address} does not answer: nothing came within "
                    f"{ANSWER_S:g} s ({error or 'no reason given'})."
                ) from error
            raise

    def submit(self, task: Callable[..., Any], *arguments: Any) -> Any:
        """Future of a task that some worker runs."""

        async def submit(client: Any) -> tuple[Any]:
            # In a tuple: a bare future would be awaited.
            return (client.submit(task, *arguments, pure=False),)

        return self.ask(submit)[0]

    def when_done(self, future: Any, call: Callable[[Any], None]) -> None:
        """Call with the future, on the event loop, when it has ended, well or badly."""

        async def wait() -> None:
            with suppress(Exception):  # `result` raises it
                await future.exception()
            call(future)

        self._loop.start(wait())

    def result(self, future: Any, *, within: float) -> Any:
        """What a future that has ended holds; raises its error, or TimeoutError."""

        async def result() -> Any:
            return await future.result()

        return self._loop.run(result(), within=within)

    def n_workers(self) -> int:
        """Number of workers that the scheduler has."""
        return len(self.ask(lambda client: client.nthreads()))


def import_distributed() -> Any:
    """dask.distributed, or one line that names the extra."""
    require_extra("cluster", "A search on a cluster")
    import distributed

    return distributed


@contextmanager
def connected(address: str, *, first_worker_s: float | None = None) -> Iterator[Connection]:
    """A connection to the scheduler at ``address``, once it has a worker and versions agree.

    Waits ``first_worker_s`` for a worker, :data:`FIRST_WORKER_S` by default.

    Raises
    ------
    TableError
        No scheduler answers there, it has no worker, or a worker has other versions.
    """
    with connection_to(address) as connection:
        wait_for_worker(connection, FIRST_WORKER_S if first_worker_s is None else first_worker_s)
        check_versions(connection.ask(lambda client: client.get_versions(packages=PACKAGES)))
        yield connection


def wait_for_worker(connection: Connection, longest: float) -> None:
    """Wait until the scheduler has a worker; an error after ``longest`` seconds."""
    until = time.monotonic() + longest
    while not connection.n_workers():
        if time.monotonic() > until:
            raise TableError(
                f"The dask scheduler at {connection.address} has no workers. Start some: `dask "
                f"worker {connection.address} --nthreads 1`."
            )
        time.sleep(POLL_S)


@contextmanager
def connection_to(address: str) -> Iterator[Connection]:
    """A connection to the scheduler at ``address``, whatever workers it has."""
    distributed = import_distributed()
    loop = EventLoop("motionloom cluster")
    clients: list[Any] = []

    async def connect() -> None:
        client = distributed.Client(
            address, asynchronous=True, timeout=CONNECT_S, set_as_default=False, name="motionloom"
        )
        clients.append(client)
        await client

    with _quiet(loop.thread_id):
        try:
            _connect(loop, connect, address)
            yield Connection(clients[0], loop, address)
        finally:
            _close(loop, clients)


def _connect(loop: EventLoop, connect: Callable[[], Any], address: str) -> None:
    try:
        with warnings.catch_warnings():
            # dask warns of other versions; `check_versions` names those that matter.
            warnings.filterwarnings("ignore", module="distributed")
            loop.run(connect(), within=CONNECT_S)
    except (ValueError, TypeError) as error:
        raise TableError(
            f"The address of a dask scheduler must be like tcp://host:8786, got {address!r} "
            f"({error})."
        ) from None
    except Exception as error:  # another program at this address may lead dask to anything
        raise TableError(
            f"No dask scheduler answers at {address} within {CONNECT_S:g} s. Start one with "
            "`dask scheduler`, and workers with `dask worker ADDRESS`, or correct the address."
        ) from error


def _close(loop: EventLoop, clients: list[Any]) -> None:
    """Close the client, or cut its connection where that takes too long; then end the loop."""
    try:
        for client in clients:
            with suppress(Exception):
                loop.run(_leave(client), within=2 * CLOSE_S)
    finally:
        for client in clients:
            client.status = "closed"  # its `__del__` closes it otherwise, in whatever thread
        loop.close()


async def _leave(client: Any) -> None:
    try:
        await client.close(CLOSE_S)
    finally:  # a scheduler that hangs takes no more bytes, so an orderly end never comes
        if client.scheduler_comm is not None:
            client.scheduler_comm.abort()


class _OtherThreads(logging.Filter):
    """Drops what one thread logs."""

    def __init__(self, thread_id: int) -> None:
        super().__init__()
        self._thread_id = thread_id

    def filter(self, record: logging.LogRecord) -> bool:
        return record.thread != self._thread_id


@contextmanager
def _quiet(thread_id: int) -> Iterator[None]:
    """Drop what dask logs in a thread about lost connections: our errors say it."""
    names = [name for name in list(logging.root.manager.loggerDict) if name.startswith(LOGGERS)]
    loggers = [logging.getLogger(name) for name in {*LOGGERS, *names}]
    drops = _OtherThreads(thread_id)
    for logger in loggers:
        logger.addFilter(drops)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(drops)
