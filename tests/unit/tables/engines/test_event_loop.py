"""An event loop in a separate thread: answers, deadlines, and an end."""

import asyncio
import threading
import time
from contextlib import suppress

import pytest

from motionloom.tables.engines import dask_client
from motionloom.tables.engines.dask_client import EventLoop

LONG_S = 50.0
"""Never waited for, unless something hangs."""


@pytest.fixture
def loop():
    loop = EventLoop("tried")
    yield loop
    loop.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "tried"]


def test_a_coroutine_gives_its_result_or_its_error(loop):
    async def fail():
        raise KeyError("missing")

    assert loop.run(asyncio.sleep(0, 3), within=LONG_S) == 3
    with pytest.raises(KeyError, match="missing"):
        loop.run(fail(), within=LONG_S)


def test_a_coroutine_that_is_late_is_cancelled(loop):
    ended = threading.Event()

    async def wait():
        try:
            await asyncio.sleep(LONG_S)
        finally:
            ended.set()

    with pytest.raises(TimeoutError):
        loop.run(wait(), within=0.1)
    assert ended.wait(LONG_S)


def test_a_loop_does_not_wait_for_itself(loop):
    async def ask_itself():
        loop.run(asyncio.sleep(0), within=LONG_S)

    with pytest.raises(RuntimeError, match="waits for itself"):
        loop.run(ask_itself(), within=LONG_S)


def test_a_loop_that_closes_itself_ends(loop):
    async def close():
        return loop.close()

    assert loop.run(close(), within=LONG_S) is False
    assert loop.close() is True


def test_closing_cancels_what_still_runs(loop):
    cancelled = threading.Event()
    started = threading.Event()

    async def wait():
        try:
            started.set()
            await asyncio.sleep(LONG_S)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    loop.start(wait())
    assert started.wait(LONG_S)
    assert loop.close()
    assert cancelled.is_set()


def test_a_closed_loop_refuses_to_run(loop):
    assert loop.close()
    assert loop.close()
    with pytest.raises(RuntimeError, match="closed"):
        loop.run(asyncio.sleep(0), within=LONG_S)
    loop.start(asyncio.sleep(0))


def test_a_task_that_will_not_be_cancelled_is_left(loop, monkeypatch):
    monkeypatch.setattr(dask_client, "CANCEL_S", 0.1)
    ends = threading.Event()

    async def stubborn():
        while not ends.is_set():
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)

    loop.start(stubborn())
    assert loop.close()


def test_a_thread_that_hangs_is_not_waited_for(loop, monkeypatch):
    monkeypatch.setattr(dask_client, "JOIN_S", 0.1)
    ends = threading.Event()

    async def hang():
        ends.wait(LONG_S)

    loop.start(hang())
    with pytest.raises(TimeoutError):
        loop.run(asyncio.sleep(0), within=0.1)
    assert loop.close() is False
    ends.set()
    monkeypatch.setattr(dask_client, "JOIN_S", LONG_S)
    assert loop.close() is True


def test_nothing_is_printed_of_what_nobody_waits_for(loop, caplog):
    async def fail():
        raise KeyError("missing")

    loop.start(fail())
    loop.run(asyncio.sleep(0.01), within=LONG_S)
    loop.close()
    time.sleep(0)
    assert caplog.records == []
