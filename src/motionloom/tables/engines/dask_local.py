"""A small cluster on this machine: a scheduler and workers as processes of their own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from motionloom.errors import TableError

__all__ = ["START_S", "local_cluster"]

HERE = "127.0.0.1"
"""Where all of them listen, their web servers too: dask runs the code of whoever reaches it."""
START_S = 60.0
"""Longest wait for the scheduler to say where it listens, and for the first worker to join."""
IDLE_S = 600
"""A scheduler whose client was killed ends after this time, and its workers with it."""
DEATH_S = 60
"""Workers that find no scheduler, or lose it, end after this time."""
CLOSE_S = 10.0
"""All of them have ended by then, or are killed."""
KILL_S = 5.0
"""Longest wait for those that were killed: a process may hang in the kernel."""


@contextmanager
def local_cluster(workers: int) -> Iterator[str]:
    """Address of a scheduler with so many workers of one thread; all end with the context.

    They are started as commands, not as copies of the running process: a script needs no
    ``if __name__ == "__main__"`` for that, nor a file. Workers that die are started again.
    """
    running: list[subprocess.Popen[bytes]] = []
    with tempfile.TemporaryDirectory(prefix="motionloom-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        said = home / "scheduler.json"
        try:
            running.append(
                _start(
                    home, "scheduler", "--host", HERE, "--port", "0", "--no-dashboard",
                    "--dashboard-address", f"{HERE}:0",
                    "--scheduler-file", said, "--idle-timeout", f"{IDLE_S} s",
                )
            )  # fmt: skip
            # Started before the scheduler is there: they load their modules at the same time.
            running += [
                _start(
                    home, "worker", "--scheduler-file", said, "--host", HERE, "--nthreads", 1,
                    "--no-dashboard", "--dashboard-address", f"{HERE}:0", "--name", k,
                    "--local-directory", home, "--death-timeout", DEATH_S, "--memory-limit", 0,
                )
                for k in range(workers)
            ]  # fmt: skip
            address = _address(said, running[0], home)
            yield address
        finally:
            _end(running)


def _start(home: Path, *words: object) -> subprocess.Popen[bytes]:
    """A command of dask; what it says goes to a file."""
    with (home / f"{words[0]}.log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *map(str, words)],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=home,
        )  # fmt: skip


def _end(running: list[subprocess.Popen[bytes]]) -> None:
    """Ask them to end, workers first: those who watch over workers end these, too."""
    for process in reversed(running):
        process.terminate()
    if not _ended(running, CLOSE_S):
        for process in running:
            process.kill()
        _ended(running, KILL_S)


def _ended(running: list[subprocess.Popen[bytes]], longest: float) -> bool:
    """Whether all of them end in time."""
    until = time.monotonic() + longest
    for process in running:
        with suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, until - time.monotonic()))
    return all(process.poll() is not None for process in running)


def _address(said: Path, scheduler: subprocess.Popen[bytes], home: Path) -> str:
    """Where the scheduler listens, once it says so."""
    until = time.monotonic() + START_S
    while time.monotonic() < until and scheduler.poll() is None:
        try:
            return str(json.loads(said.read_text())["address"])
        except (OSError, ValueError):
            time.sleep(0.05)
    lines = (home / "scheduler.log").read_text(errors="replace").strip().splitlines()
    reason = lines[-1] if lines else "it says nothing"
    raise TableError(f"A dask scheduler cannot be started on this machine: {reason}.")
