"""Locks: one build at a time for each table, and none is left by the dead."""

import signal
import subprocess
import sys

import pytest

from motionloom.errors import TableError
from motionloom.tables.table_file import locked

DIES = """
import os, signal, sys
from pathlib import Path
from motionloom.tables.table_file import locked
with locked(Path(sys.argv[1])):
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_second_build_of_a_table_is_refused_and_others_are_not(tmp_path):
    with locked(tmp_path / "a.mlt"):
        with pytest.raises(TableError, match=r"a\.mlt is being built already"):
            locked(tmp_path / "a.mlt").__enter__()
        with locked(tmp_path / "b.mlt"):
            pass
    with locked(tmp_path / "a.mlt"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_build_that_fails_lets_go(tmp_path):
    with pytest.raises(ZeroDivisionError), locked(tmp_path / "a.mlt"):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_the_lock_of_a_dead_process_is_taken_over(tmp_path):
    done = subprocess.run([sys.executable, "-c", DIES, str(tmp_path / "a.mlt")], check=False)
    assert done.returncode == -signal.SIGKILL
    assert [file.name for file in tmp_path.iterdir()] == ["a.mlt.lock"]
    with locked(tmp_path / "a.mlt"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_reported(tmp_path):
    with pytest.raises(TableError, match="cannot be written"):
        locked(tmp_path / "none" / "a.mlt").__enter__()
