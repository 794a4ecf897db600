"""A cluster that breaks: searches go on, or stop with a clear word and can be resumed."""

import asyncio
import gc
import os
import signal
import socket
import threading
import time
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress

import pytest

import motionloom as ml
from motionloom.errors import TableError
from motionloom.tables.build import build_table
from motionloom.tables.engines import dask, dask_client
from motionloom.tables.engines.dask import DaskEngine, local_cluster
from motionloom.tables.engines.dask_client import connected, connection_to, wait_for_worker
from motionloom.tables.engines.dask_tasks import pack_job
from motionloom.tables.table_file import Parts

pytest.importorskip("distributed", reason="needs the extra `cluster`")
# Up to seven processes start in one test, one after the other, each of which has a minute.
pytestmark = pytest.mark.slow
WORKERS_S = 50.0
ENDS_S = 50.0
"""A search whose workers are gone has ended by then, or hangs."""
SMALL = {"length_s": 0.5, "clusters": 12, "lookup": 12, "ways": (2, 3), "progress": False}
NO_METADATA = """
import importlib.metadata as metadata
version = metadata.version
def lacking(name):
    if name == "motionloom":
        raise metadata.PackageNotFoundError(name)
    return "0.1" if name == "numpy" else version(name)
metadata.version = lacking
"""


@pytest.fixture(scope="module")
def lib(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faults") / "clips"
    folder.mkdir()
    for kind in ("walk", "run", "wave"):
        ml.save(ml.synthetic.clip(kind, duration_s=2.0, fps=30).motion, folder / f"{kind}.bvh")
    return ml.Collection.ingest(folder, fps=30)


@pytest.fixture(scope="module")
def undisturbed(lib):
    out = lib.path.parent / "undisturbed" / "a.mlt"  # tables say where their collection is
    build_table(lib, out=out, jobs=1, **SMALL)
    return out.read_bytes()


def pids(address):
    with connected(address) as connection:
        return list(connection.ask(lambda client: client.run(os.getpid)).values())


def started(address, dask_command, first="pass"):
    """A worker of one thread that nobody starts again."""
    worker = dask_command(
        "worker", address, "--no-nanny", "--nthreads", 1, "--no-dashboard", first=first
    )
    with connection_to(address) as connection:
        wait_for_worker(connection, WORKERS_S)
    return worker


def test_workers_killed_in_the_middle_change_nothing(cluster_job, found_here, found_equal):
    found = []
    with local_cluster(2) as address:  # its own: the other tests' workers live
        with connection_to(address) as connection:
            wait_for_worker(connection, WORKERS_S)
        for chunk in DaskEngine(address).search(cluster_job):
            found.append(chunk)
            if len(found) in (1, 4):
                os.kill(pids(address)[0], signal.SIGKILL)
    assert found_equal(found, found_here)


def test_a_lost_scheduler_is_reported_and_the_build_goes_on_with_another_engine(
    lib, undisturbed, scheduler, dask_command, monkeypatch
):
    address, process = scheduler
    started(address, dask_command)
    out = lib.path.parent / "lost" / "a.mlt"
    save, saved = Parts.save, []

    def save_and_break(self, name, *args):
        save(self, name, *args)
        saved.append(name)
        if name.startswith("search"):
            process.kill()

    monkeypatch.setattr(Parts, "save", save_and_break)
    with pytest.raises(
        TableError, match=f"scheduler at {address} was lost. What was found is kept"
    ):
        build_table(lib, out=out, engine=DaskEngine(address), **SMALL)
    assert not out.exists()
    before = list(saved)
    assert any(name.startswith("search") for name in before)
    build_table(lib, out=out, jobs=1, **SMALL)
    assert not set(before) & set(saved[len(before) :])
    assert out.read_bytes() == undisturbed
    assert [file.name for file in out.parent.iterdir()] == ["a.mlt"]


def error_of(found):
    """What a search ends in; it must end."""
    ended = []

    def take_all():
        try:
            ended.append(list(found))
        except TableError as error:
            ended.append(error)

    thread = threading.Thread(target=take_all, daemon=True)
    thread.start()
    thread.join(ENDS_S)
    assert ended, f"the search has not ended in {ENDS_S:g} s"
    return str(ended[0])


def all_found(address):
    """Wait until workers have nothing left to do."""

    def states(client):
        return client.run_on_scheduler(
            lambda dask_scheduler: {task.state for task in dask_scheduler.tasks.values()}
        )

    until = time.monotonic() + WORKERS_S
    with connection_to(address) as connection:
        while time.monotonic() < until:
            if connection.ask(states) <= {"memory", "released", "forgotten"}:
                return
            time.sleep(0.05)
    raise AssertionError("the workers have not ended")


@pytest.mark.parametrize("when", ["in the middle", "with all that they found"])
def test_the_loss_of_all_workers_is_reported(
    when, scheduler, dask_command, cluster_job, monkeypatch
):
    for name, seconds in {"NO_WORKER_S": 0.5, "LOOK_S": 0.2, "FETCH_S": 1.0}.items():
        monkeypatch.setattr(dask, name, seconds)
    address, _ = scheduler
    worker = started(address, dask_command)
    found = DaskEngine(address).search(cluster_job)
    next(found)
    if when != "in the middle":
        all_found(address)
    worker.kill()
    assert "has had no worker for 0.5 s. What was found is kept" in error_of(found)


def test_what_was_lost_with_its_worker_is_found_by_the_next(
    scheduler, dask_command, cluster_job, found_here, found_equal, monkeypatch
):
    monkeypatch.setattr(dask, "LOOK_S", 0.2)
    monkeypatch.setattr(dask, "FETCH_S", 1.0)
    address, _ = scheduler
    worker = started(address, dask_command)
    search = DaskEngine(address).search(cluster_job)
    found = [next(search)]
    all_found(address)
    worker.kill()
    worker.wait()
    started(address, dask_command)
    assert found_equal([*found, *search], found_here)


def test_an_address_nobody_answers_at_leaves_nothing_behind(lib, tmp_path, monkeypatch):
    monkeypatch.setattr(dask_client, "CONNECT_S", 0.5)
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{bound.getsockname()[1]}"
    with pytest.raises(TableError, match=f"No dask scheduler answers at {address}"):
        build_table(lib, out=tmp_path / "out" / "a.mlt", engine=DaskEngine(address), **SMALL)
    assert list(tmp_path.iterdir()) == []


@contextmanager
def listening(answer):
    """Address of a program that is no scheduler: it reads nothing and answers so much."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken = []

        def serve():
            with suppress(OSError):
                while True:
                    taken.append(server.accept()[0])
                    taken[-1].sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        thread.join(ENDS_S)
        for connection in taken:
            connection.close()


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", bytes(4096)])
def test_a_program_that_is_no_scheduler_is_reported(answer, monkeypatch):
    monkeypatch.setattr(dask_client, "CONNECT_S", 1.0)
    with listening(answer) as address, pytest.raises(TableError, match="No dask scheduler answers"):
        DaskEngine(address).check()
    assert loop_threads() == []


def loop_threads():
    return [t for t in threading.enumerate() if t.name == "motionloom cluster"]


@contextmanager
def stopped(process):
    """A process that hangs: its connections stay open and nothing comes."""
    os.kill(process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process.pid, signal.SIGCONT)


def test_a_scheduler_that_hangs_is_reported(scheduler, dask_command, cluster_job, monkeypatch):
    for name, seconds in {"CONNECT_S": 1.0, "ANSWER_S": 2.0, "CLOSE_S": 1.0}.items():
        monkeypatch.setattr(dask_client, name, seconds)
    monkeypatch.setattr(dask, "LOOK_S", 0.2)
    monkeypatch.setattr(dask, "FETCH_S", 1.0)
    address, process = scheduler
    with stopped(process), pytest.raises(TableError, match="No dask scheduler answers"):
        DaskEngine(address).check()
    monkeypatch.setattr(dask_client, "CONNECT_S", ENDS_S)
    monkeypatch.setattr(dask_client, "ANSWER_S", ENDS_S)
    started(address, dask_command)
    found = DaskEngine(address).search(cluster_job)
    next(found)
    monkeypatch.setattr(dask_client, "ANSWER_S", 1.0)
    with stopped(process):
        assert "does not answer: nothing came within 1 s" in (message := error_of(found))
    assert message.endswith("What was found is kept: build again to go on.")
    assert loop_threads() == []


def test_clients_that_never_connected_may_be_collected_at_any_time(cluster, monkeypatch):
    """Collecting one closes it; what that waits for must not be what the next one holds."""
    for _ in range(3):
        monkeypatch.setattr(dask_client, "CONNECT_S", 0.0)
        with pytest.raises(TableError, match="No dask scheduler answers"):
            DaskEngine(cluster).check()
        monkeypatch.setattr(dask_client, "CONNECT_S", ENDS_S)
        monkeypatch.setattr(dask_client, "ANSWER_S", ENDS_S)
        with connected(cluster) as connection:
            # On the loop of the next client, where a wait for a loop would be for ever.
            connection.ask(lambda client: asyncio.sleep(0, gc.collect()))
    assert loop_threads() == []


def test_a_scheduler_without_workers_is_reported(scheduler, monkeypatch):
    monkeypatch.setattr(dask_client, "FIRST_WORKER_S", 0.5)
    address, _ = scheduler
    with pytest.raises(TableError, match=f"{address} has no workers. Start some"):
        DaskEngine(address).check()


def test_a_worker_without_motionloom_and_with_another_numpy_is_reported(
    scheduler, dask_command, lib, tmp_path
):
    address, _ = scheduler
    started(address, dask_command, first=NO_METADATA)
    with pytest.raises(TableError, match=r"no motionloom, numpy 0\.1 instead of \d"):
        build_table(lib, out=tmp_path / "out" / "a.mlt", engine=DaskEngine(address), **SMALL)
    assert not (tmp_path / "out").exists()


class Failing:
    """A connection to a cluster where every chunk ends in an error; its own future, too."""

    address = "tcp://host:1"
    lost = False

    def __init__(self, error):
        self.error = error
        self.sent = 0

    def submit(self, task, *args):
        self.sent += 1
        return self

    def when_done(self, future, call):
        call(future)

    def result(self, future, *, within):
        raise self.error

    def cancelled(self):
        return False


@pytest.mark.parametrize("error", [CancelledError("gone"), OSError("reset")])
def test_a_chunk_that_is_lost_is_sent_again_and_given_up_in_the_end(cluster_job, error):
    client = Failing(error)
    with pytest.raises(TableError, match=r"die over chunk 3 .* What was found is kept"):
        list(dask._found(client, pack_job(cluster_job), [3]))
    assert client.sent == 1 + dask.TRIES


def test_what_a_worker_lacks_is_reported_at_once(cluster_job):
    for error in (ModuleNotFoundError("No module named 'motionloom'"), MemoryError()):
        client = Failing(error)
        with pytest.raises(TableError, match=r"cannot search: (No module|out of memory)"):
            list(dask._found(client, pack_job(cluster_job), [0]))
        assert client.sent == 2


def test_a_fault_of_ours_keeps_its_name(cluster_job):
    with pytest.raises(ZeroDivisionError):
        list(dask._found(Failing(ZeroDivisionError()), pack_job(cluster_job), [0]))


def test_a_scheduler_that_is_gone_is_no_reason_to_try_again(cluster_job):
    client = Failing(CancelledError("gone"))
    client.lost = True
    with pytest.raises(TableError, match="scheduler at tcp://host:1 was lost"):
        list(dask._found(client, pack_job(cluster_job), [0]))
    assert client.sent == 2


def test_a_client_that_connected_again_has_lost_what_it_sent(cluster_job):
    client = Failing(CancelledError("gone"))
    client.cancelled = lambda: True
    with pytest.raises(TableError, match="scheduler at tcp://host:1 was lost"):
        list(dask._found(client, pack_job(cluster_job), [0]))
