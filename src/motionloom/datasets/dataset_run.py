"""One run over a data set: skip the clips of an earlier run, log a row per clip."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from motionloom import __version__
from motionloom._arrays import positive, whole
from motionloom._progress import progress_bar
from motionloom.datasets.clip_jobs import Settings
from motionloom.datasets.clip_reading import ClipReading, content_digest
from motionloom.datasets.reports import limits_of
from motionloom.datasets.workers import run_tasks
from motionloom.errors import FormatError, TableError
from motionloom.files.limits import memory_of
from motionloom.files.locks import locked
from motionloom.files.writing import file_errors

Row = dict[str, Any]
LOCK_NAME = "run.lock"
LOG_NAME = "rows.jsonl"
LOG_VERSION = f"{__version__}-1"
"""Version of the rows: it changes with their columns and with how a figure is measured."""
PARTS = frozenset(
    [
        "path",
        "digest",
        "frames",
        "fps",
        "seconds",
        "planted",
        "values",
        "limits",
        "defects",
        "likely_fps",
        "rate_agrees",
        "skeleton",
        "fingerprint",
        "thumbnail",
    ]
)
"""Keys in the row of every clip that could be read."""


def settings_of(
    reading: ClipReading,
    limits: Mapping[str, float] | None,
    *,
    timeout_s: float,
    max_memory: int | str,
    cleaning: Mapping[str, Any] | None = None,
) -> Settings:
    """The settings of a run; wrong options raise before a file is opened."""
    return Settings(
        reading=reading,
        limits=limits_of(limits),
        strict_root=limits is not None and "still_root" in limits,
        timeout_s=positive(timeout_s, "timeout_s"),
        max_memory=memory_of(max_memory, "max_memory"),
        clean=dict(cleaning or {}),
    )


def jobs_of(jobs: int | None) -> int | None:
    """Worker processes, checked."""
    return None if jobs is None else whole(jobs, "jobs", least=1)


def run_dataset(
    label: str,
    tasks: Sequence[Row],
    settings: Settings,
    *,
    jobs: int | None,
    folder: Path | None,
    progress: bool,
    still_done: Callable[[Row], bool] = lambda row: True,
) -> tuple[list[Row], int]:
    """Do the tasks that no earlier run finished.

    Parameters
    ----------
    label
        Of the progress bar.
    tasks
        A ``path`` each, and an ``output`` where results are written.
    settings
        The same for all.
    jobs
        Worker processes; None for one per core.
    folder
        Of the log; None for none.
    progress
        Whether a bar is shown.
    still_done
        Whether a logged row still holds.

    Returns
    -------
    list, int
        A row per task, in their order, and how many rows an earlier run had finished.
    """
    by_path: dict[str, Row] = {}
    with _locked(folder), _log_in(folder, settings) as log:
        waiting = []
        for task in tasks:
            row = None if log is None else log.row_of(task["path"])
            if row is not None and still_done(row):
                by_path[task["path"]] = row
            else:
                waiting.append(task)
        resumed = len(by_path)
        new = [each["output"] for each in waiting if "output" in each]
        if log is not None and new:
            log.begin([output for output in new if not Path(output).exists()])
        with progress_bar(label, len(tasks), shown=progress and len(tasks) > 1) as advance:
            advance(resumed)
            with closing(run_tasks(waiting, settings, jobs)) as rows:
                for row in rows:
                    by_path[row["path"]] = row
                    if log is not None:
                        log.add(row)
                    advance(1.0)
    return [by_path[task["path"]] for task in tasks], resumed


@contextmanager
def _locked(folder: Path | None) -> Iterator[None]:
    """Keep other runs from writing the same report."""
    if folder is None:
        yield
        return
    file = folder / LOCK_NAME
    with file_errors(file):
        folder.mkdir(parents=True, exist_ok=True)
    try:
        with locked(file, f"{folder} is being written already"):
            yield
    except TableError as error:
        raise FormatError(str(error)) from error


def _log_in(folder: Path | None, settings: Settings) -> AbstractContextManager[RunLog | None]:
    return nullcontext() if folder is None else RunLog(folder, settings.key)


class RunLog:
    """Rows of earlier runs in a folder, and a place for new ones.

    Parameters
    ----------
    folder
        Where summaries are written; made where it does not exist.
    key
        Settings that decide the rows; rows of other settings are not used.
    """

    def __init__(self, folder: Path, key: Mapping[str, Any]) -> None:
        self.path = folder / LOG_NAME
        self._header = {"motionloom": LOG_VERSION, "key": json.loads(json.dumps(key))}
        self._stream: IO[str] | None = None
        self._begun: set[str] = set()
        self._rows = self._read()

    def row_of(self, path: str) -> dict[str, Any] | None:
        """The row of a clip whose file is as it was then; None where there is none."""
        row = self._rows.get(path)
        if row is None or not row["digest"]:
            return None  # failed clips are tried again
        return row if row["digest"] == content_digest(path) else None

    def was_begun(self, output: str) -> bool:
        """Whether an earlier run found no file of this name and was about to write it."""
        return output in self._begun

    def __enter__(self) -> RunLog:
        with file_errors(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._stream = self.path.open("a", encoding="utf-8", newline="\n")
            # An empty line first: the last line of a killed run may be cut off.
            self._stream.write("\n" + json.dumps(self._header) + "\n")
            self._stream.flush()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def begin(self, outputs: list[str]) -> None:
        """Note files that are about to be written and do not exist yet."""
        self._write({"begun": outputs})

    def add(self, row: Mapping[str, Any]) -> None:
        """Write a row at once: a run that is killed loses none that is finished."""
        self._write(row)

    def _write(self, values: Mapping[str, Any]) -> None:
        assert self._stream is not None
        with file_errors(self.path):
            self._stream.write(json.dumps(values, allow_nan=False) + "\n")
            self._stream.flush()

    def _read(self) -> dict[str, dict[str, Any]]:
        """Rows by path; a line that was cut off is left out."""
        rows: dict[str, dict[str, Any]] = {}
        is_ours = False
        try:
            with self.path.open(encoding="utf-8") as stream:
                for line in stream:
                    try:
                        values = json.loads(line)
                    except ValueError:
                        continue
                    if isinstance(values, dict) and "motionloom" in values:
                        is_ours = values == self._header
                    elif is_ours and isinstance(values, dict) and values.keys() >= PARTS:
                        rows[values["path"]] = values
                    elif is_ours and isinstance(values, dict) and "begun" in values:
                        self._begun.update(map(str, values["begun"]))
        except (OSError, UnicodeDecodeError):
            return rows
        return rows


def is_run_folder(folder: Path) -> bool:
    """Whether a folder holds the log of a run of ours."""
    try:
        with (folder / LOG_NAME).open(encoding="utf-8") as stream:
            return '"motionloom"' in stream.readline() + stream.readline()
    except (OSError, UnicodeDecodeError):
        return False
