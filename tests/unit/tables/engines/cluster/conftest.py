"""A job for clusters, what this machine finds in it, and a cluster of two workers."""

import json
import subprocess
import sys
import time

import numpy as np
import pytest

import motionloom as ml
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.engines.dask import local_cluster
from motionloom.tables.engines.dask_client import connection_to, wait_for_worker
from motionloom.tables.engines.engine import LocalEngine
from motionloom.tables.score.natural import NATURAL
from motionloom.tables.score.terms import terms_of
from motionloom.tables.search.search import SearchJob

LENGTH = 30
STARTS_S = 50.0
ENDS_S = 10.0


@pytest.fixture(scope="session")
def cluster_job():
    clips = [ml.synthetic.clip(kind, duration_s=2.0) for kind in ("walk", "run", "wave")]
    frames = frames_of(
        [clip.motion for clip in clips],
        ids=["walk", "run", "wave"],
        footplants=[clip.footplants for clip in clips],
    )
    terms = terms_of(frames, frames.windows(LENGTH)[::11], LENGTH)
    every = np.arange(terms.n_windows)
    return SearchJob(terms, every, every, every[::3], keep=6, ranking=NATURAL)


@pytest.fixture(scope="session")
def found_here(cluster_job):
    return list(LocalEngine(1).search(cluster_job))


@pytest.fixture(scope="session")
def cluster():
    with local_cluster(2) as address:
        with connection_to(address) as connection:
            wait_for_worker(connection, STARTS_S)
        yield address


@pytest.fixture(scope="session")
def found_equal():
    """Whether two lists of found chunks hold the same bytes, whatever their order."""

    def equal(some, others):
        both = [sorted(chunks, key=lambda found: found.chunk) for chunks in (some, others)]
        return len(some) == len(others) and all(
            a.chunk == b.chunk
            and a.costs.tobytes() == b.costs.tobytes()
            and a.recipes.tobytes() == b.recipes.tobytes()
            for a, b in zip(*both, strict=True)
        )

    return equal


@pytest.fixture
def dask_command(tmp_path_factory):
    """Start a command of dask; ``first`` is Python that its process runs before."""
    home = tmp_path_factory.mktemp("dask")
    running = []

    def start(*words, first="pass"):
        script = f"{first}\nfrom dask.cli import run_cli\nrun_cli()"
        process = subprocess.Popen(
            [sys.executable, "-c", script, *map(str, words)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            cwd=home,
        )  # fmt: skip
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.wait(ENDS_S)


@pytest.fixture
def scheduler(dask_command, tmp_path_factory):
    """A scheduler without workers: its address and its process."""
    file = tmp_path_factory.mktemp("scheduler") / "scheduler.json"
    process = dask_command(
        "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
        "--scheduler-file", file,
    )  # fmt: skip
    until = time.monotonic() + STARTS_S
    while time.monotonic() < until:
        try:
            return json.loads(file.read_text())["address"], process
        except (OSError, ValueError):
            time.sleep(0.05)
    raise AssertionError("the scheduler did not start")
