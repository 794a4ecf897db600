"""Processes that take turns: the package before and after a change, and peers, in one run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

import motionloom as ml
from report import Figure

HERE = Path(__file__).resolve().parent
TIE = 0.97
"""Old and new within so much of each other are a tie: no run of a busy machine tells them apart."""


class Worker:
    """A process that runs jobs of ``core_jobs.py`` with one installation of motionloom."""

    def __init__(self, python: str, source: Path | None, arguments: list[str]) -> None:
        # Its package and, of this tree, the studies, whose plain forms some jobs time.
        paths = [str(path) for path in (source, HERE.parent) if path is not None]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        self.process = subprocess.Popen(
            [python, str(HERE / "core_jobs.py"), *arguments],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.package = Path(self._answer()).parent
        if source is not None and self.package.parent.resolve() != source.resolve():
            raise SystemExit(f"{python} imports {self.package} instead of {source}.")

    def ask(self, name: str) -> np.ndarray:
        """Seconds of the calls of a job, made once."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{name}\n")
        self.process.stdin.flush()
        return np.array(self._answer())

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()

    def _answer(self):  # type: ignore[no-untyped-def]
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("A process that times jobs has failed; its message stands above.")
        return json.loads(line)


def new_worker(arguments: list[str]) -> Worker:
    """The package that is imported here."""
    return Worker(sys.executable, Path(ml.__file__).parent.parent, arguments)


def old_worker(path: Path, arguments: list[str]) -> Worker:
    """A package given as a source tree, an environment or a Python program."""
    for source in (path / "src", path):
        if (source / "motionloom").is_dir():
            return Worker(sys.executable, source.resolve(), arguments)
    python = path / "bin" / "python" if path.is_dir() else path
    if not python.is_file():
        raise SystemExit(f"--old must be a source tree, an environment or a Python, got {path}.")
    return Worker(str(python), None, arguments)


@dataclass(frozen=True)
class Row:
    """A job, and how its seconds are shown."""

    job: str
    name: str
    unit: str
    scale: float = 1.0
    """Units in a second; of rates, things in a call."""
    rate: bool = False
    rounds: int = 25
    goal: float | None = None
    peers: tuple[tuple[str, str, float | None], ...] = ()
    """Job of a peer, its name, and the least ratio promised."""
    only_new: bool = False

    def shown(self, seconds: float) -> float:
        return self.scale / seconds if self.rate else self.scale * seconds


def figures_of(row: Row, new: Worker, old: Worker | None) -> list[Figure]:
    """Old, new and peers in turns: for each call the best of all rounds, then the median call."""
    turns = {"new": (new, row.job)}
    if old is not None and not row.only_new:
        turns["old"] = (old, row.job)
    turns |= {name: (new, job) for job, name, _ in row.peers}
    taken: dict[str, list[np.ndarray]] = {name: [] for name in turns}
    for number in range(row.rounds):
        names = list(turns) if number % 2 == 0 else list(turns)[::-1]
        for name in names:
            worker, job = turns[name]
            taken[name].append(worker.ask(job))
    best = {name: row.shown(median(np.min(all_, axis=0))) for name, all_ in taken.items()}
    low, value = not row.rate, best["new"]
    figures = [
        Figure(row.name, value, row.unit, name, best[name], lower_is_better=low, ratio_goal=goal)
        for _, name, goal in row.peers
    ]
    if row.goal is not None or not (figures or "old" in best):
        figures.append(Figure(row.name, value, row.unit, lower_is_better=low, value_goal=row.goal))
    if "old" in best:
        figures.append(
            Figure(row.name, value, row.unit, "before", best["old"], low, ratio_goal=TIE)
        )
    return figures
