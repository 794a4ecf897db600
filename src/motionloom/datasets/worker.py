"""A worker process: it gets one clip a line, and answers with one line.

``python -m motionloom.datasets.worker`` reads JSON from standard input: first its settings, then a
task per line. A clip that ends the process in any way ends nothing else.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

import numpy as np

from motionloom.datasets.clip_jobs import Settings, run_job


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
