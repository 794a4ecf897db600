"""The engine of this machine: the same numbers for any number of workers."""

import multiprocessing
import os
import signal
import time

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import ArrayError, TableError
from motionloom.transitions.engines import local
from motionloom.transitions.engines.local import LocalEngine
from motionloom.transitions.frames import frames_of
from motionloom.transitions.search import SearchJob
from motionloom.transitions.terms import terms_of

LENGTH = 30


@pytest.fixture(scope="module")
def job():
    clips = [ml.synthetic.clip(kind, duration_s=2.0) for kind in ("walk", "run", "wave")]
    frames = frames_of(
        [clip.motion for clip in clips],
        ids=["walk", "run", "wave"],
        footplants=[clip.footplants for clip in clips],
    )
    terms = terms_of(frames, frames.windows(LENGTH)[::19], LENGTH)
    every = np.arange(terms.n_windows)
    return SearchJob(terms, every, every, every[:4], keep=6)


@pytest.fixture(scope="module")
def alone(job):
    return in_order(LocalEngine(1).search(job))


def in_order(chunks):
    return sorted(chunks, key=lambda found: found.chunk)


def assert_equal(got, expected):
    assert [found.chunk for found in got] == [found.chunk for found in expected]
    for a, b in zip(got, expected, strict=True):
        assert a.costs.tobytes() == b.costs.tobytes()
        assert a.recipes.tobytes() == b.recipes.tobytes()


def test_every_chunk_is_found_and_told(job, alone):
    told = []
    found = in_order(LocalEngine(1).search(job, progress=told.append))
    assert [f.chunk for f in found] == list(range(job.n_chunks))
    assert sum(told) == job.n_pairs
    assert_equal(found, alone)


def test_workers_find_the_same_bytes(job, alone, monkeypatch):
    monkeypatch.setattr(local, "WORTH_WORKERS", 0)
    assert job.n_chunks > 2
    assert_equal(in_order(LocalEngine(2).search(job)), alone)


def test_chunks_found_before_are_not_found_again(job, alone):
    skip = {0, 2}
    found = in_order(LocalEngine(1).search(job, skip=skip))
    assert_equal(found, [chunk for chunk in alone if chunk.chunk not in skip])


def test_a_search_goes_on_when_workers_are_killed(job, alone, monkeypatch):
    monkeypatch.setattr(local, "WORTH_WORKERS", 0)
    found = []
    for chunk in LocalEngine(2).search(job):
        found.append(chunk)
        if len(found) == 1:
            for worker in multiprocessing.active_children():
                os.kill(worker.pid, signal.SIGKILL)
    assert_equal(in_order(found), alone)


def test_a_search_left_in_the_middle_leaves_no_workers(job, monkeypatch):
    monkeypatch.setattr(local, "WORTH_WORKERS", 0)
    search = LocalEngine(2).search(job)
    next(search)
    search.close()
    deadline = time.monotonic() + 20.0
    while multiprocessing.active_children() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not multiprocessing.active_children()


def test_no_workers_are_started_while_a_worker_imports_the_script(job, monkeypatch):
    process = multiprocessing.current_process()
    monkeypatch.setattr(process, "_inheriting", True, raising=False)
    with pytest.raises(TableError, match="__main__"):
        next(LocalEngine(2).search(job))


def test_there_must_be_a_worker():
    with pytest.raises(ArrayError, match="`jobs` must be at least 1"):
        LocalEngine(0)
