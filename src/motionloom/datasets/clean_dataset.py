"""clean_dataset(): the feet of every clip of a folder held in place, results in another folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from motionloom._arrays import flag, known_options, of_kind, positive
from motionloom.datasets.clip_jobs import failed_row
from motionloom.datasets.content_digest import content_digest
from motionloom.datasets.dataset_report import DatasetReport, build_report
from motionloom.datasets.dataset_run import (
    DatasetDefaults,
    DatasetOptions,
    Run,
    jobs_of,
    settings_of,
)
from motionloom.datasets.planned_outputs import plan_outputs
from motionloom.datasets.run_log import RunLog, is_run_folder
from motionloom.datasets.summary_files import refuse_foreign, write_summary
from motionloom.files.reading import path_of
from motionloom.formats.registry import format_for_writing

REPORT_NAME = "_report"
"""Folder of the summary in that of the results."""


class CleanOptions(DatasetOptions, total=False):
    """Keyword arguments of :func:`clean_dataset` that few callers need."""

    stretch: bool
    allow_flawed: bool
    ground: bool
    fps: float | None


@dataclass(frozen=True, slots=True)
class _CleanDefaults(DatasetDefaults):
    stretch: bool = False
    allow_flawed: bool = False
    ground: bool = False
    fps: float | None = None


def clean_dataset(
    folder: str | Path,
    output: str | Path,
    *,
    to: str | None = None,
    report: str | Path | None = None,
    jobs: int | None = None,
    overwrite: bool = False,
    progress: bool = True,
    **options: Unpack[CleanOptions],
) -> DatasetReport:
    """Hold the planted feet of every clip of a folder in place, several clips at a time.

    The results have the same names below ``output``. A run that was stopped resumes where it ended:
    clips whose file and result are as they were are not done again. No other file is replaced
    without ``overwrite``, and inputs never are.

    Parameters
    ----------
    folder
        The clips, in it and below it.
    output
        Folder of the results.
    to
        Format of the results, such as ``"glb"``; that of each clip by default.
    report
        Folder of the summary; ``_report`` in ``output`` by default.
    jobs
        Worker processes; one per core by default.
    overwrite
        Whether existing results of other origin may be replaced.
    progress
        Whether a bar with the time left is shown on a terminal.
    stretch
        As of :func:`motionloom.clean_footskate`.
    allow_flawed
        Whether results that fail their quality check are written too.
    ground
        Whether the floor is brought to y = 0.
    fps
        Rate to resample the clips to.
    source_fps, unit, up, body, timeout_s, max_memory
        As of :func:`motionloom.check_dataset`.

    Returns
    -------
    DatasetReport
        A :class:`ClipReport` per clip: figures of the result, and of the clip as it was.

    Raises
    ------
    FormatError
        The folder has no clip, or the report cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from motionloom import save, synthetic
    >>> with tempfile.TemporaryDirectory() as place:
    ...     raw = Path(place) / "raw"
    ...     raw.mkdir()
    ...     walk = synthetic.clip("walk", duration_s=2.0).motion
    ...     save(walk.replace(root_positions=walk.root_positions * [1.1, 1.0, 1.1]),
    ...          raw / "walk.bvh")
    ...     found = clean_dataset(raw, Path(place) / "clean")
    >>> clip = found.clips[0]
    >>> clip.status, clip.before["slide"] > 8.0, clip.values["slide"] < 1.0
    ('good', True, True)
    """
    known_options("clean_dataset", _CleanDefaults, options)
    source, target = path_of(folder, "folder"), path_of(output, "output")
    clean = _cleaning(options)
    shared: Any = {name: options[name] for name in options if name not in clean}  # type: ignore[literal-required]
    settings = settings_of(None, shared, {**clean, "to": to})
    overwrite, progress = flag(overwrite, "overwrite"), flag(progress, "progress")
    jobs = jobs_of(jobs)
    if to is not None:
        suffix = of_kind(to, str, "to").lower().removeprefix(".")
        format_for_writing(Path(f"{target}.{suffix}"))  # refused before anything is made
    place = target / REPORT_NAME if report is None else path_of(report, "report")
    refuse_foreign(place, ours=is_run_folder(place), overwrite=overwrite)
    planned = plan_outputs(source, target, to=to)
    tasks = [{"path": clip, "output": result} for clip, result in planned]
    done = RunLog(place, settings.key)
    refused = {
        task["path"]: row
        for task in tasks
        if (row := _refusal(task, done, overwrite=overwrite)) is not None
    }
    run = Run(
        "cleaning",
        [task for task in tasks if task["path"] not in refused],
        settings,
        jobs,
        place,
        progress,
        still_done=_is_done,
    )
    finished, resumed = run.rows()
    by_path = {row["path"]: row for row in finished} | refused
    rows = [by_path[task["path"]] for task in tasks]
    result = build_report(rows, settings.limits, resumed=resumed)
    write_summary(place, result, rows, f"{source.resolve().name}, cleaned")
    return result


def _cleaning(options: CleanOptions) -> dict[str, Any]:
    fps = options.get("fps")
    return {
        "stretch": flag(options.get("stretch", False), "stretch"),
        "allow_flawed": flag(options.get("allow_flawed", False), "allow_flawed"),
        "ground": flag(options.get("ground", False), "ground"),
        "fps": None if fps is None else positive(fps, "fps"),
    }


def _refusal(task: dict[str, Any], log: RunLog, *, overwrite: bool) -> dict[str, Any] | None:
    """The row of a clip whose output may not be written; None where it may."""
    output = Path(task["output"])
    if not output.exists():
        return None
    origin = Path(task["path"].rpartition("#")[0] or task["path"])
    if origin.exists() and output.samefile(origin):
        return failed_row(task, f"{output}: The output is the input, which is never overwritten.")
    if overwrite:
        return None
    row = log.row_of(task["path"])
    if row is not None and row.get("output") == task["output"] and _is_done(row):
        return None
    if row is None and log.was_begun(task["output"]):
        return None  # a run was stopped between writing it and noting that
    return failed_row(
        task,
        f"{output}: The output exists already.",
        fix="Choose another folder, or pass overwrite=True.",
    )


def _is_done(row: dict[str, Any]) -> bool:
    """Whether the result of a logged row is still there as it was written."""
    return bool(row.get("output_digest")) and row["output_digest"] == content_digest(row["output"])
