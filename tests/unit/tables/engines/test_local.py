"""The engine of this machine: the same numbers for any number of threads."""

import subprocess
import sys
import threading
from concurrent.futures import CancelledError

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import ArrayError
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.engines import engine as local
from motionloom.tables.engines.engine import LocalEngine
from motionloom.tables.score.terms import terms_of
from motionloom.tables.search.search import SearchJob, search_chunk

LENGTH = 30
LONGEST_S = 60.0
"""A script that has not ended by then never will."""


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


def test_every_chunk_is_found_and_reported(job, alone):
    reported = []
    found = in_order(LocalEngine(1).search(job, progress=reported.append))
    assert [f.chunk for f in found] == list(range(job.n_chunks))
    assert sum(reported) == job.n_pairs
    assert_equal(found, alone)


def test_any_number_of_threads_finds_the_same_bytes(job, alone):
    assert job.n_chunks > 2
    for jobs in (2, 5):
        assert_equal(in_order(LocalEngine(jobs).search(job)), alone)


def test_threads_report_every_pair(job):
    reported = []
    found = list(LocalEngine(2).search(job, progress=reported.append))
    assert len(found) == job.n_chunks
    assert sum(reported) == job.n_pairs


def test_chunks_found_before_are_not_found_again(job, alone):
    skip = {0, 2}
    found = in_order(LocalEngine(1).search(job, skip=skip))
    assert_equal(found, [chunk for chunk in alone if chunk.chunk not in skip])


def test_a_search_left_in_the_middle_leaves_no_threads(job):
    search = LocalEngine(2).search(job)
    next(search)
    search.close()
    assert not [t for t in threading.enumerate() if t.name.startswith("search")]


def test_closing_a_search_closes_what_holds_its_threads(job, monkeypatch):
    """Not only by dropping it: Python 3.12.3 keeps what a closed generator refers to."""
    inner = local._found(job, [0, 1, 2], 2)
    monkeypatch.setattr(local, "_found", lambda *_: inner)
    search = LocalEngine(2).search(job)
    next(search)
    search.close()
    assert inner.gi_frame is None
    assert not [t for t in threading.enumerate() if t.name.startswith("search")]


def test_a_chunk_that_is_left_ends_before_its_next_pair(job):
    asked = []

    def stop():
        asked.append(len(asked))
        return len(asked) > 3

    with pytest.raises(CancelledError):
        search_chunk(job, 0, stop=stop)
    assert len(asked) == 4 < len(job.pairs(0))


def test_what_fails_in_a_thread_is_reported(job, monkeypatch):
    def fail(*_, **__):
        raise MemoryError("no room")

    monkeypatch.setattr(local, "search_chunk", fail)
    with pytest.raises(MemoryError, match="no room"):
        list(LocalEngine(2).search(job))


def test_a_plain_script_from_standard_input_builds_a_table(tmp_path):
    script = """
import motionloom as ml
for kind in ("walk", "run", "wave"):
    ml.save(ml.synthetic.clip(kind, duration_s=3.0).motion, f"clips/{kind}.bvh")
lib = ml.Collection.ingest("clips", fps=30.0)
table = ml.build_table(lib, clusters=12, lookup=12, ways=(2, 3), jobs=2)
print(table.file.name)
"""
    (tmp_path / "clips").mkdir()
    done = subprocess.run(
        [sys.executable, "-"], input=script, text=True, capture_output=True, cwd=tmp_path,
        timeout=LONGEST_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "clips.mlt"


def test_there_must_be_a_thread():
    with pytest.raises(ArrayError, match="`jobs` must be at least 1"):
        LocalEngine(0)
