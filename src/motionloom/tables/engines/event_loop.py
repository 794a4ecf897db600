"""An event loop in a thread that we own, where every wait has a deadline."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

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
