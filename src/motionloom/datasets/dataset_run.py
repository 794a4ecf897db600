"""One run over a data set: tasks that an earlier run finished are left out, rows are logged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from motionloom._arrays import flag, positive, whole
from motionloom._progress import progress_bar
from motionloom.datasets.check_columns import limits_of
from motionloom.datasets.clip_jobs import MAX_MEMORY, TIMEOUT_S, Settings
from motionloom.datasets.clip_reading import ClipReading
from motionloom.datasets.run_log import RunLog
from motionloom.datasets.worker_pool import run_tasks
from motionloom.errors import FormatError, TableError
from motionloom.files.limits import memory_of
from motionloom.files.locks import locked
from motionloom.files.writing import file_errors

Row = dict[str, Any]
LOCK_NAME = "run.lock"


class DatasetOptions(TypedDict, total=False):
    """Keyword arguments of checks and clean-ups of data sets that few callers need."""

    source_fps: float | Mapping[str, float] | None
    unit: str | float | None
    up: str | None
    body: str | Path | None
    timeout_s: float
    max_memory: int | str


@dataclass(frozen=True, slots=True)
class DatasetDefaults:
    """Defaults of :class:`DatasetOptions`."""

    source_fps: float | Mapping[str, float] | None = None
    unit: str | float | None = None
    up: str | None = None
    body: str | Path | None = None
    timeout_s: float = TIMEOUT_S
    max_memory: int | str = MAX_MEMORY


def settings_of(
    limits: Mapping[str, float] | None,
    options: DatasetOptions,
    clean: Mapping[str, Any] | None = None,
) -> Settings:
    """The settings of a run; wrong options raise before a file is opened."""
    given = DatasetDefaults(**options)
    return Settings(
        reading=ClipReading.checked(given.source_fps, given.unit, given.up, given.body),
        limits=limits_of(limits),
        strict_root=limits is not None and "still_root" in limits,
        timeout_s=positive(given.timeout_s, "timeout_s"),
        max_memory=memory_of(given.max_memory, "max_memory"),
        clean=dict(clean or {}),
    )


def jobs_of(jobs: int | None) -> int | None:
    """Worker processes, checked."""
    return None if jobs is None else whole(jobs, "jobs", least=1)


@dataclass(frozen=True, slots=True)
class Run:
    """What a run is to do."""

    label: str
    tasks: Sequence[Row]
    settings: Settings
    jobs: int | None
    folder: Path | None
    """Where the log is; None for none."""
    progress: bool
    still_done: Callable[[Row], bool] = lambda row: True
    """Whether a logged row still holds."""

    def rows(self) -> tuple[list[Row], int]:
        """A row per task, in their order, and how many an earlier run had finished."""
        by_path: dict[str, Row] = {}
        with self._locked(), self._log() as log:
            waiting = []
            for task in self.tasks:
                row = None if log is None else log.row_of(task["path"])
                if row is not None and self.still_done(row):
                    by_path[task["path"]] = row
                else:
                    waiting.append(task)
            resumed = len(by_path)
            new = [each["output"] for each in waiting if "output" in each]
            if log is not None and new:
                log.begin([output for output in new if not Path(output).exists()])
            shown = flag(self.progress, "progress") and len(self.tasks) > 1
            with progress_bar(self.label, len(self.tasks), shown=shown) as advance:
                advance(resumed)
                with closing(run_tasks(waiting, self.settings, self.jobs)) as rows:
                    for row in rows:
                        by_path[row["path"]] = row
                        if log is not None:
                            log.add(row)
                        advance(1.0)
        return [by_path[task["path"]] for task in self.tasks], resumed

    def _log(self) -> Any:
        return nullcontext() if self.folder is None else RunLog(self.folder, self.settings.key)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One run at a time writes a report."""
        if self.folder is None:
            yield
            return
        file = self.folder / LOCK_NAME
        with file_errors(file):
            self.folder.mkdir(parents=True, exist_ok=True)
        try:
            with locked(file, f"{self.folder} is being written already"):
                yield
        except TableError as error:
            raise FormatError(str(error)) from error
