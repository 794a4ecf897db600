"""Temporary files of killed writers go at the next save; those of running ones stay."""

import os
import signal
import subprocess
import sys
import time

import pytest

from motionloom.files import writing
from motionloom.files.writing import Writer, temporary_name, this_writer, write_bytes

UNUSED = 10**9
"""A number that no save of these tests reaches."""
KILLED = """
import os, signal, sys
from pathlib import Path
from motionloom.files.writing import write_whole
def dies(stream):
    stream.write(b"half")
    stream.flush()
    os.kill(os.getpid(), signal.SIGKILL)
write_whole(Path(sys.argv[1]), dies)
"""


def names(folder):
    return sorted(file.name for file in folder.iterdir())


def name_of(writer):
    return f".motionloom-{writer.text}-{UNUSED}.new"


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_what_a_killed_save_leaves_goes_at_the_next_save_in_the_folder(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "a")], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(names(tmp_path)) == 2
    assert (tmp_path / "a").read_bytes() == b"old"
    write_bytes(tmp_path / "b", b"new")
    assert names(tmp_path) == ["a", "b"]


@pytest.mark.skipif(sys.platform == "win32", reason="processes cannot be asked there")
def test_files_of_running_writers_stay(tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "SEARCHED", float("inf"))  # however long the first listing took
    with subprocess.Popen(
        [sys.executable, "-c", "import sys; from motionloom.files.writing import this_writer; "
         "print(this_writer().text, flush=True); sys.stdin.read()"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as other:  # fmt: skip
        writer = Writer.of_text(other.stdout.readline().strip())
        (tmp_path / name_of(writer)).touch()
        (tmp_path / name_of(this_writer())).touch()
        write_bytes(tmp_path / "a", b"new")
        assert names(tmp_path) == sorted([name_of(writer), name_of(this_writer()), "a"])
        other.stdin.close()
        other.wait()
    write_bytes(tmp_path / "a", b"new")
    assert names(tmp_path) == [name_of(this_writer()), "a"]


def test_a_number_that_another_process_has_now_is_not_taken_for_the_writer():
    here = this_writer()
    if here.started == "0":
        pytest.skip("this system does not say when a process started")
    assert here.is_running()
    assert here._replace(started="1").is_running() is False


def test_files_of_another_machine_stay_until_they_are_old(tmp_path):
    new = name_of(Writer("00000000", 1, "1"))
    old = name_of(Writer("00000000", 2, "1"))
    for name in (new, old):
        (tmp_path / name).touch()
    long_ago = time.time() - 2 * writing.OLD_S
    os.utime(tmp_path / old, (long_ago, long_ago))
    write_bytes(tmp_path / "a", b"new")
    assert names(tmp_path) == sorted([new, "a"])


def test_where_processes_cannot_be_asked_files_stay_until_they_are_old(tmp_path, monkeypatch):
    dead = name_of(this_writer()._replace(started="1"))
    (tmp_path / dead).touch()
    monkeypatch.setattr(sys, "platform", "win32")
    write_bytes(tmp_path / "a", b"new")
    assert names(tmp_path) == sorted([dead, "a"])
    os.utime(tmp_path / dead, (0, 0))
    writing._listed.clear()  # a folder that was just listed is not listed again at once
    write_bytes(tmp_path / "a", b"new")
    assert names(tmp_path) == ["a"]


def test_files_that_others_named_stay(tmp_path):
    others = [".a.new", ".motionloom-1-2-3.new", "motionloom-00000000-1-1-0.new", ".motionloom.new"]
    for name in others:
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (0, 0))
    write_bytes(tmp_path / "b", b"new")
    assert names(tmp_path) == sorted([*others, "b"])


def test_every_temporary_file_has_a_name_of_its_own():
    drawn = {temporary_name() for _ in range(100)}
    assert len(drawn) == 100
    assert all(writing.NAME.fullmatch(name) for name in drawn)


def test_a_large_folder_is_not_listed_at_every_save(tmp_path, monkeypatch):
    listed = []
    scan = os.scandir

    def slow(folder):
        listed.append(folder)
        time.sleep(0.05)
        return scan(folder)

    monkeypatch.setattr(os, "scandir", slow)
    for number in range(5):
        write_bytes(tmp_path / str(number), b"new")
    assert len(listed) < 5
