"""Locks: one writer at a time, a second one learns of the first, and none is left by the dead."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from motionloom.errors import TableError
from motionloom.files import locks
from motionloom.files.locks import LocksMissingError, locked, remove_unleased, take_lease

DIES = """
import os, signal, sys
from pathlib import Path
from motionloom.files.locks import locked
with locked(Path(sys.argv[1]), "it is busy"):
    os.kill(os.getpid(), signal.SIGKILL)
"""
WAITS = """
import sys
from pathlib import Path
from motionloom.files.locks import locked
with locked(Path(sys.argv[1]), "it is busy"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(params=["system locks", "no system locks"])
def lock_file(request, tmp_path, monkeypatch):
    """A lock file, on a file system with locks and on one without."""
    if request.param == "no system locks":

        def missing(*_, **__):
            raise LocksMissingError

        monkeypatch.setattr(locks, "lock", missing)
    return tmp_path / "a.lock"


def test_a_second_writer_learns_who_is_first_and_since_when(lock_file):
    since = r"a is busy, by this process since \d{4}-\d\d-\d\d "
    with locked(lock_file, "a is busy"), pytest.raises(TableError, match=since):
        locked(lock_file, "a is busy").__enter__()
    with locked(lock_file, "a is busy"):
        pass
    assert not lock_file.exists()


def test_another_process_is_named(lock_file):
    with subprocess.Popen(
        [sys.executable, "-c", WAITS, str(lock_file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        other.stdout.readline()
        with pytest.raises(TableError, match=rf"by process {other.pid} since"):
            locked(lock_file, "a is busy").__enter__()
        other.stdin.close()
        other.wait()
    assert not lock_file.exists()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_the_lock_of_a_dead_writer_is_taken_over(lock_file):
    done = subprocess.run([sys.executable, "-c", DIES, str(lock_file)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert lock_file.exists()
    with locked(lock_file, "a is busy"):
        assert json.loads(lock_file.read_text())["writer"].split("-")[1] == str(os.getpid())
    assert not lock_file.exists()


def test_a_writer_waits_where_it_may(lock_file):
    held, done = threading.Event(), []

    def first():
        with locked(lock_file, "a is busy"):
            held.set()
            time.sleep(0.1)
            done.append("first")

    other = threading.Thread(target=first)
    other.start()
    assert held.wait(60.0)
    with locked(lock_file, "a is busy", wait_s=60.0):
        done.append("second")
    other.join()
    assert done == ["first", "second"]


def test_writers_in_turn_never_meet(tmp_path):
    inside, met = [0], []

    def write():
        for _ in range(20):
            with locked(tmp_path / "a.lock", "a is busy", wait_s=60.0):
                inside[0] += 1
                met.append(inside[0])
                time.sleep(0.0)
                inside[0] -= 1

    threads = [threading.Thread(target=write) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert met == [1] * 60


@pytest.mark.skipif(sys.platform == "win32", reason="a file that is open cannot be deleted there")
def test_files_that_are_leased_stay_until_they_are_let_go(tmp_path, monkeypatch):
    files = [tmp_path / name for name in "ab"]
    for file in files:
        file.write_bytes(b"rows")
    with files[1].open("rb") as stream:
        assert take_lease(stream)
        assert not remove_unleased(files)
        assert all(file.exists() for file in files)
    assert remove_unleased(files)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="a file that is open cannot be deleted there")
def test_without_system_locks_files_stay_for_a_day(tmp_path, monkeypatch):
    def missing(*_, **__):
        raise LocksMissingError

    monkeypatch.setattr(locks, "lock", missing)
    file = tmp_path / "a"
    file.touch()
    with file.open("rb") as stream:
        assert take_lease(stream)
    assert not remove_unleased([file])
    os.utime(file, (0, 0))
    assert remove_unleased([file])


FULL = """
import resource, signal, sys
from pathlib import Path
from motionloom.files.locks import locked
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
try:
    with locked(Path(sys.argv[1]), "it is busy"):
        raise KeyError("the work's own error")
except KeyError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of a process")
def test_a_full_disk_takes_no_signature_and_the_works_own_error_is_kept(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path / "a.lock")], capture_output=True, text=True
    )
    assert done.stdout.strip() == '"the work\'s own error"', done.stderr
