"""Worker processes that measure or clean clips: one that dies or hangs costs one clip only.

``python -m motionloom.datasets.workers`` is one worker: it reads JSON from standard input, first
its settings and then a task per line, and answers each task with one line.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from motionloom.datasets.clip_jobs import Settings, failed_row, run_job
from motionloom.errors import FormatError

Task = dict[str, Any]
Row = dict[str, Any]
FEW = 4
"""Fewer clips than this are done in this process, because starting another takes longer."""
CLIPS_PER_WORKER = 500
"""Clips after which a worker is replaced, so that no leak of a library adds up."""
PAUSE_S = 0.5
"""How often a wait looks whether the user stops the run, on systems whose waits cannot be ended."""


def run_tasks(
    tasks: Sequence[Task], settings: Settings, jobs: int | None
) -> Generator[Row, None, None]:
    """A row per task, in the order in which they finish.

    Parameters
    ----------
    tasks
        What :func:`run_job` takes.
    settings
        The same for all.
    jobs
        Worker processes; by default one per core, and none for a few clips.
    """
    if jobs is None and len(tasks) < FEW:
        for task in tasks:  # as they come from a worker: lists, no tuples
            yield json.loads(json.dumps(run_job(task, settings), allow_nan=False))
        return
    yield from _Pool(tasks, settings, min(jobs or os.cpu_count() or 1, len(tasks))).rows()


class _Pool:
    def __init__(self, tasks: Sequence[Task], settings: Settings, n_workers: int) -> None:
        self._waiting = deque(tasks)
        self._n_tasks = len(tasks)
        self._done: queue.Queue[Row | Exception] = queue.Queue()
        self._workers = [_Worker(settings) for _ in range(n_workers)]
        self._stopped = False

    def rows(self) -> Generator[Row, None, None]:
        threads = [
            threading.Thread(target=self._work, args=(worker,), daemon=True)
            for worker in self._workers
        ]
        for thread in threads:
            thread.start()
        try:
            for _ in range(self._n_tasks):
                yield self._next()
        finally:
            self._stopped = True
            for worker in self._workers:
                worker.stop()
            for thread in threads:
                thread.join()

    def _next(self) -> Row:
        while True:
            try:
                answer = self._done.get(timeout=PAUSE_S)
            except queue.Empty:
                continue
            if isinstance(answer, Exception):
                raise answer
            return answer

    def _work(self, worker: _Worker) -> None:
        while not self._stopped:
            try:
                task = self._waiting.popleft()
            except IndexError:
                worker.stop()
                return
            try:
                row = worker.ask(task)
            except Exception as error:  # nothing may leave the reader waiting
                self._done.put(error)
                return
            if not self._stopped:
                self._done.put(row)


class _Worker:
    """One process, started at its first task and again after it ended."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._process: subprocess.Popen[str] | None = None
        self._n_done = 0
        self._stopped = False
        self._lock = threading.Lock()

    def ask(self, task: Task) -> Row:
        """The row of a task; what ends the process, or takes too long, becomes a row too."""
        process = self._started()
        late = threading.Event()

        def give_up() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(self._settings.timeout_s, give_up)
        timer.daemon = True
        timer.start()
        try:
            answer = self._exchange(process, json.dumps(task))
        finally:
            timer.cancel()
        if answer is not None:
            self._n_done += 1
            if self._n_done % CLIPS_PER_WORKER == 0:
                self._end()
            return answer
        self._end()
        if late.is_set():
            text = f"It took longer than {self._settings.timeout_s:g} s."
            return failed_row(task, text, fix="Pass a larger timeout_s=.")
        return failed_row(task, _end_of(process.returncode), fix="Check that the file is whole.")

    def stop(self) -> None:
        """End the process; no other is started."""
        with self._lock:
            self._stopped = True
        self._end()

    def _started(self) -> subprocess.Popen[str]:
        with self._lock:
            if self._stopped:
                raise FormatError("The run was stopped.")
            if self._process is None:
                self._process = _start()
                self._exchange(self._process, json.dumps(self._settings.json()), answer=False)
            return self._process

    def _exchange(
        self, process: subprocess.Popen[str], line: str, *, answer: bool = True
    ) -> Row | None:
        """Send a line and read one; None where the process has ended."""
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(line + "\n")
            process.stdin.flush()
            text = process.stdout.readline() if answer else ""
            return json.loads(text) if text.endswith("\n") else None
        except (OSError, ValueError):  # a closed pipe, or half a line
            return None

    def _end(self) -> None:
        with self._lock:
            process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with suppress(OSError):
                        stream.close()


def _start() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "motionloom.datasets.workers"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
        env=worker_environment(os.environ),
    )


def _end_of(code: int | None) -> str:
    if code is not None and code < 0:
        return (
            f"The process that worked on it was ended by signal {-code}; memory may have run out."
        )
    return f"The process that worked on it ended with code {code}; memory may have run out."


def serve(tasks: TextIO, answers: TextIO) -> None:
    """Answer tasks until there are no more."""
    settings = Settings.of_json(json.loads(tasks.readline()))
    _limit_memory(settings.max_memory)
    for line in tasks:
        answer = run_job(json.loads(line), settings)
        answers.write(json.dumps(answer, allow_nan=False) + "\n")
        answers.flush()


def worker_environment(own: Mapping[str, str]) -> dict[str, str]:
    """The environment of a worker: this package is found, and its arithmetic takes one core."""
    place = str(Path(__file__).resolve().parents[2])
    others = [own["PYTHONPATH"]] if own.get("PYTHONPATH") else []
    return {
        **own,
        "PYTHONPATH": os.pathsep.join([place, *others]),
        "PYTHONIOENCODING": "utf-8",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }


def _limit_memory(n_bytes: int) -> None:
    """More memory than this is refused by the system, where it can do so."""
    try:
        import resource
    except ImportError:  # Windows
        return
    square = np.ones((64, 64))
    np.linalg.solve(square + np.eye(64), square @ square)  # BLAS ends a process that gets no memory
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = n_bytes + _mapped()
    if most != resource.RLIM_INFINITY:
        limit = min(limit, most)
    resource.setrlimit(resource.RLIMIT_AS, (limit, most))


def _mapped() -> int:
    """Bytes of address space that the libraries take already."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0


def _main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that started this one decides
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints is no answer
    serve(sys.stdin, answers)


if __name__ == "__main__":
    _main()
