"""A connection to a dask scheduler whose workers are fit to search; every wait has a deadline."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
import warnings
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from motionloom._extras import require_extra
from motionloom.errors import TableError
from motionloom.tables.engines.dask_tasks import PACKAGES, check_versions

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


T = TypeVar("T")
JOIN_S = 10.0
"""Longest wait for the thread to end."""
CANCEL_S = 5.0
"""Longest wait for cancelled tasks to end. Less than :data:`JOIN_S`."""


class EventLoop:
    """An asyncio event loop in one daemon thread, used from other threads.

    Close it explicitly. A thread that does not end in time is left alone: it holds no lock of ours
    and does not keep the process from ending.

    Examples
    --------
    >>> loop = EventLoop("example")
    >>> loop.run(asyncio.sleep(0, "answer"), within=60.0)
    'answer'
    >>> loop.close()
    True
    """

    def __init__(self, name: str) -> None:
        # Not the platform's default: Windows' lacks what dask's network library needs.
        self._loop = asyncio.SelectorEventLoop()
        # What fails in a task is raised by `run`. The rest comes from a connection that is lost,
        # and would only be printed.
        self._loop.set_exception_handler(lambda loop, context: None)
        self._thread = threading.Thread(target=self._main, name=name, daemon=True)
        self._closed = False
        try:
            self._thread.start()
        except RuntimeError:  # no more threads on this machine
            self._loop.close()
            raise

    @property
    def thread_id(self) -> int:
        """Of the thread that the loop runs in, as in log records."""
        return self._thread.ident or 0

    def run(self, coroutine: Coroutine[Any, Any, T], *, within: float) -> T:
        """Result of a coroutine, run on the loop.

        Raises
        ------
        TimeoutError
            It has not ended ``within`` so many seconds. It is then cancelled.
        RuntimeError
            The loop is closed, or this is its own thread, where the wait would be for ever.
        """
        if self._closed or self._is_own_thread():
            coroutine.close()
            raise RuntimeError("The event loop is closed, or waits for itself.")
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result(within)
        except BaseException:  # late, or interrupted from the keyboard
            future.cancel()
            raise

    def start(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        """Run a coroutine on the loop and do not wait for it. Closing the loop cancels it."""
        if self._closed:
            coroutine.close()
            return
        asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def close(self) -> bool:
        """Cancel all tasks, end the thread, and return whether it has ended in time."""
        if not self._closed:
            self._closed = True
            self._loop.call_soon_threadsafe(self._loop.stop)
        if self._is_own_thread():  # an abandoned search that is garbage-collected here
            return False
        self._thread.join(JOIN_S)
        return not self._thread.is_alive()

    def _is_own_thread(self) -> bool:
        return threading.current_thread() is self._thread

    def _main(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            tasks = asyncio.all_tasks(self._loop)
            for task in tasks:
                task.cancel()
            if tasks:
                self._loop.run_until_complete(asyncio.wait(tasks, timeout=CANCEL_S))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            asyncio.set_event_loop(None)
            self._loop.close()
