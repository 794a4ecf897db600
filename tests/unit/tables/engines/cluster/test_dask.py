"""The engine of a cluster: the bytes of the local one, on any workers."""

import queue
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from motionloom.errors import ArrayError, MotionLoomError, TableError
from motionloom.tables.engines import dask_client, dask_tasks
from motionloom.tables.engines.dask import DaskEngine
from motionloom.tables.engines.dask_tasks import (
    check_versions,
    chunk_task,
    hold_task,
    pack_job,
    search_packed,
)

pytest.importorskip("distributed", reason="needs the extra `cluster`")
# Of the first one a cluster's start is a part: four processes, each of which has a minute.
pytestmark = pytest.mark.slow
LONGEST_S = 60.0
"""A script that has not ended by then never will."""
FORGETS_S = 20.0
"""Messages name to the scheduler what is no longer wanted."""
SAME = {"motionloom": "1.0", "numpy": "2.0"}


def test_a_cluster_finds_the_bytes_of_this_machine_and_reports_every_pair(
    cluster, cluster_job, found_here, found_equal
):
    reported = []
    found = list(DaskEngine(cluster).search(cluster_job, progress=reported.append))
    assert cluster_job.n_chunks > 4
    assert found_equal(found, found_here)
    assert sum(reported) == cluster_job.n_pairs


def test_chunks_found_before_are_not_searched_again(cluster, cluster_job, found_here, found_equal):
    skip = {0, 2, 3}
    found = list(DaskEngine(cluster).search(cluster_job, skip=skip))
    assert found_equal(found, [chunk for chunk in found_here if chunk.chunk not in skip])
    nobody = DaskEngine("tcp://127.0.0.1:9")
    assert list(nobody.search(cluster_job, skip=range(cluster_job.n_chunks))) == []


def test_a_search_left_in_the_middle_leaves_no_tasks(cluster, cluster_job):
    search = DaskEngine(cluster).search(cluster_job)
    next(search)
    search.close()
    until = time.monotonic() + FORGETS_S

    def n_tasks(client):
        return client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))

    with dask_client.connected(cluster) as connection:
        while connection.ask(n_tasks):
            assert time.monotonic() < until
            time.sleep(0.1)


def test_a_cluster_of_this_machine_listens_to_this_machine_only(cluster):
    """Dask runs the code of anyone who reaches it."""
    psutil = pytest.importorskip("psutil")
    with dask_client.connected(cluster):
        addresses = [
            connection.laddr.ip
            for process in psutil.Process().children(recursive=True)
            for connection in process.net_connections("inet")
            if connection.status == psutil.CONN_LISTEN
        ]
    assert len(addresses) >= 3  # of a scheduler and two workers
    assert set(addresses) == {"127.0.0.1"}


STEPS = """
import numpy as np
import motionloom as ml
from motionloom.tables.engines.engine_choice import engine_of
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.search.search import SearchJob
from motionloom.tables.score.terms import terms_of
clip = ml.synthetic.clip("walk", duration_s=2.0)
frames = frames_of([clip.motion], footplants=[clip.footplants])
job = SearchJob(terms_of(frames, [0, 10, 20], 30), *3 * [np.arange(3)], keep=4)
print("a job", flush=True)
for on in ({"jobs": 1}, {"dask": "local", "jobs": 1}):
    print([f.recipes.tolist() for f in engine_of(**on).search(job)], flush=True)
"""


def lines_of(process, each_s):
    """Lines that a process prints; each of them and its end must come within so many seconds."""
    lines = queue.SimpleQueue()

    def read():
        for line in process.stdout:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    return list(iter(lambda: lines.get(timeout=each_s), None))


def test_a_plain_script_from_standard_input_starts_its_own_cluster(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(STEPS)
    errors = tmp_path / "errors"
    with script.open() as source, errors.open("w") as error_file:
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-"], stdin=source, text=True, cwd=tmp_path,
            stdout=subprocess.PIPE, stderr=error_file,
        )  # fmt: skip
        with process:
            try:
                printed = lines_of(process, LONGEST_S)
                process.wait(LONGEST_S)
            finally:
                process.kill()  # does nothing to one that has ended
    assert process.returncode == 0, errors.read_text()
    _, here, there = printed
    assert there == here
    assert errors.read_text() == ""


def test_workers_and_scheduler_need_no_files_and_the_scheduler_no_motionloom(cluster_job):
    import cloudpickle

    packed = pack_job(cluster_job)
    assert str(Path.cwd()).encode() not in packed.job
    script = "import sys, pickle; sys.modules['motionloom'] = None; pickle.load(sys.stdin.buffer)"
    graph = hold_task(), chunk_task(), *packed
    done = subprocess.run(
        [sys.executable, "-c", script], input=cloudpickle.dumps(graph), capture_output=True,
        timeout=LONGEST_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_a_packed_job_is_searched_like_the_job(cluster_job, found_here, found_equal):
    assert found_equal([search_packed(pack_job(cluster_job), 1)], [found_here[1]])


@pytest.fixture
def forgetful(monkeypatch):
    monkeypatch.setattr(dask_tasks, "_unpacked", None)


def test_the_code_that_a_search_goes_through_is_compared_and_no_other():
    named = {name.rsplit(".", 1)[-1] for name in dask_tasks.searched_by()}
    assert {"search", "pair_search", "core", "columns", "terms", "stance"} <= named
    assert not {"stream", "runtime", "table", "build"} & named


def test_a_worker_of_other_code_is_reported(cluster_job, forgetful):
    with pytest.raises(TableError, match="another motionloom"):
        search_packed(pack_job(cluster_job)._replace(source="0" * 32), 0)


def test_a_worker_that_rounds_differently_is_reported(cluster_job, forgetful):
    with pytest.raises(TableError, match=r"rounds differently .* same motionloom and numpy"):
        search_packed(pack_job(cluster_job)._replace(probe=b"other"), 0)


def test_errors_of_a_worker_come_with_what_to_do(cluster, cluster_job, monkeypatch):
    other = pack_job(cluster_job)._replace(digest="of another", probe=b"other")
    monkeypatch.setattr("motionloom.tables.engines.dask.pack_job", lambda job: other)
    with pytest.raises(TableError, match=r"rounds differently .* is kept: build again"):
        list(DaskEngine(cluster).search(cluster_job))


def versions(**workers):
    """What a client reports of workers with the versions given."""

    def of(packages):
        return {"packages": {"python": "3.12.1.final.0", **packages}}

    return {
        "client": of(SAME),
        "workers": {name: of(packages) for name, packages in workers.items()},
    }


def test_versions_that_agree_raise_nothing():
    check_versions(versions(a=SAME, b={**SAME, "python": "3.12.9.final.0", "pandas": "1"}))


def test_versions_that_differ_are_named_with_their_workers():
    with pytest.raises(TableError) as error:
        check_versions(
            versions(
                good=SAME,
                first={**SAME, "numpy": "1.9"},
                second={**SAME, "numpy": "1.9"},
                third={**SAME, "motionloom": None, "python": "3.11.2.final.0"},
            )
        )
    message = str(error.value)
    assert "first, second: numpy 1.9 instead of 2.0" in message
    assert "third: python 3.11 instead of 3.12, no motionloom" in message
    assert "good" not in message
    assert "motionloom 1.0 by pip install '.[cluster]' numpy==2.0 in a clone of it" in message


def test_without_dask_the_install_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    for engine in (DaskEngine(), DaskEngine("tcp://127.0.0.1:9")):
        with pytest.raises(MotionLoomError, match=r"pip install 'motionloom\[cluster\]'"):
            engine.check()


@pytest.mark.parametrize("address", ["", 8786])
def test_an_address_must_be_one(address):
    with pytest.raises(ArrayError, match="`address` must be that of a dask scheduler"):
        DaskEngine(address)


@pytest.mark.parametrize("address", ["nonsense://host:1", "tcp://host:port", "tcp://"])
def test_an_invalid_address_is_refused(address, monkeypatch):
    monkeypatch.setattr(dask_client, "CONNECT_S", 0.5)
    with pytest.raises(TableError, match="dask scheduler"):
        DaskEngine(address).check()


def test_workers_are_started_here_or_are_there():
    with pytest.raises(ArrayError, match="`workers` must be at least 1"):
        DaskEngine(workers=0)
    with pytest.raises(ArrayError, match="Give one of both"):
        DaskEngine("tcp://127.0.0.1:9", workers=2)
