"""check_dataset(): find the faulty clips of a folder of thousands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from motionloom._arrays import flag
from motionloom.datasets.clip_jobs import MAX_MEMORY, TIMEOUT_S
from motionloom.datasets.clip_reading import ClipReading, list_clips
from motionloom.datasets.dataset_run import (
    is_run_folder,
    jobs_of,
    run_dataset,
    settings_of,
)
from motionloom.datasets.reports import DatasetReport, build_report
from motionloom.datasets.summary import refuse_foreign, write_accepted, write_summary
from motionloom.errors import FormatError
from motionloom.files.reading import path_of


def check_dataset(
    paths: str | Path | Iterable[str | Path],
    *,
    report: str | Path | None = None,
    accept: str | Path | None = None,
    limits: Mapping[str, float] | None = None,
    jobs: int | None = None,
    overwrite: bool = False,
    progress: bool = True,
    source_fps: float | Mapping[str, float] | None = None,
    unit: str | float | None = None,
    up: str | None = None,
    body: str | Path | None = None,
    timeout_s: float = TIMEOUT_S,
    max_memory: int | str = MAX_MEMORY,
) -> DatasetReport:
    """Look for faults in every clip of a data set, several at a time.

    Each clip is compared with limits of human motion, not with the other clips of the folder;
    only duplicates, and frame rates of clips in which nothing falls, depend on others. A file
    that cannot be read, or that ends or hangs the process which reads it, is one row of the report.

    Parameters
    ----------
    paths
        Clips and folders.
    report
        Folder for ``summary.csv``, ``summary.json`` and ``index.html``. It also holds the rows of a
        run that was stopped: the same call resumes where it ended, and does not read unchanged
        files of a finished run again.
    accept
        File for the paths of the good clips, one a line.
    limits
        Of columns, such as ``{"slide": 12.0}``; ``float("inf")`` switches a column off. A still
        root bone is a note, and a fault where ``limits`` names ``still_root``.
    jobs
        Worker processes; one per core by default.
    overwrite
        Whether existing files that no check wrote may be replaced.
    progress
        Whether a bar with the time left is shown on a terminal.
    source_fps
        True frame rate of the files, or a mapping of patterns of file names to rates.
    unit, up
        As of :func:`motionloom.load`.
    body
        TOML file with the roles of joints.
    timeout_s
        Longest time for one clip, seconds.
    max_memory
        Memory that a worker may use, in bytes or as ``"4GB"``.

    Returns
    -------
    DatasetReport
        A :class:`ClipReport` per clip, and the paths of those without faults.

    Raises
    ------
    FormatError
        A folder has no clip, or the report cannot be written.
    KeyboardInterrupt
        The user stops the run; finished rows are in ``report``.

    Examples
    --------
    >>> import tempfile
    >>> from motionloom import save, synthetic
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     walk = synthetic.clip("walk").motion
    ...     save(walk, Path(folder) / "walk.bvh")
    ...     save(walk.replace(root_positions=walk.root_positions * [1.3, 1.0, 1.3]),
    ...          Path(folder) / "skating.bvh")
    ...     found = check_dataset(folder)
    >>> [(clip.status, [fault.column for fault in clip.faults]) for clip in found.clips]
    [('faulty', ['slide', 'duplicates']), ('good', [])]
    """
    reading = ClipReading.checked(source_fps, unit, up, body)
    settings = settings_of(reading, limits, timeout_s=timeout_s, max_memory=max_memory)
    jobs = jobs_of(jobs)
    progress = flag(progress, "progress")
    overwrite = flag(overwrite, "overwrite")
    folder = None if report is None else path_of(report, "report")
    target = None if accept is None else path_of(accept, "accept")
    clips = list_clips(paths)
    if folder is not None:
        refuse_foreign(folder, ours=is_run_folder(folder), overwrite=overwrite)
    if target is not None:
        _refuse_target(target, clips, overwrite=overwrite)
    tasks = [{"path": clip} for clip in clips]
    rows, resumed = run_dataset(
        "checking", tasks, settings, jobs=jobs, folder=folder, progress=progress
    )
    result = build_report(rows, settings.limits, resumed=resumed)
    if folder is not None:
        title = Path(paths).resolve().name if isinstance(paths, str | Path) else "Data set"
        write_summary(folder, result, rows, title)
    if target is not None:
        write_accepted(target, result)
    return result


def _refuse_target(target: Path, clips: list[str], *, overwrite: bool) -> None:
    """Refuse a list that would replace a clip, or another file without leave."""
    if not target.exists():
        return
    if any(Path(clip).exists() and target.samefile(clip) for clip in clips):
        raise FormatError("The list would replace a clip.", path=target, fix="Choose another name.")
    if target.is_dir() or not overwrite:
        raise FormatError(
            "The file exists already.",
            path=target,
            fix="Choose another name, or pass overwrite=True.",
        )
