"""clean_dataset(): hold the feet of every clip of a folder; plan_outputs(): name the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from motionloom._arrays import flag, of_kind, positive
from motionloom.datasets.clip_jobs import MAX_MEMORY, TIMEOUT_S, failed_row
from motionloom.datasets.clip_reading import ClipReading, clips_below, content_digest
from motionloom.datasets.dataset_run import (
    RunLog,
    is_run_folder,
    jobs_of,
    run_dataset,
    settings_of,
)
from motionloom.datasets.reports import DatasetReport, build_report
from motionloom.datasets.summary import refuse_foreign, write_summary
from motionloom.errors import FormatError
from motionloom.files.reading import path_of
from motionloom.formats.registry import format_for_writing, known_formats
from motionloom.intake.clip_names import split_clip

REPORT_NAME = "_report"
"""Folder of the summary in that of the results."""
MOST = 100
"""Characters of a clip's name that go into that of its file: names of files end at 255 bytes."""


def clean_dataset(
    folder: str | Path,
    output: str | Path,
    *,
    to: str | None = None,
    report: str | Path | None = None,
    jobs: int | None = None,
    overwrite: bool = False,
    progress: bool = True,
    stretch: bool = False,
    allow_flawed: bool = False,
    ground: bool = False,
    fps: float | None = None,
    source_fps: float | Mapping[str, float] | None = None,
    unit: str | float | None = None,
    up: str | None = None,
    body: str | Path | None = None,
    timeout_s: float = TIMEOUT_S,
    max_memory: int | str = MAX_MEMORY,
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
    source, target = path_of(folder, "folder"), path_of(output, "output")
    cleaning = {
        "stretch": flag(stretch, "stretch"),
        "allow_flawed": flag(allow_flawed, "allow_flawed"),
        "ground": flag(ground, "ground"),
        "fps": None if fps is None else positive(fps, "fps"),
        "to": to,
    }
    reading = ClipReading.checked(source_fps, unit, up, body)
    settings = settings_of(
        reading, None, timeout_s=timeout_s, max_memory=max_memory, cleaning=cleaning
    )
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
    finished, resumed = run_dataset(
        "cleaning",
        [task for task in tasks if task["path"] not in refused],
        settings,
        jobs=jobs,
        folder=place,
        progress=progress,
        still_done=_is_done,
    )
    by_path = {row["path"]: row for row in finished} | refused
    rows = [by_path[task["path"]] for task in tasks]
    result = build_report(rows, settings.limits, resumed=resumed)
    write_summary(place, result, rows, f"{source.resolve().name}, cleaned")
    return result


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


def plan_outputs(
    folder: str | Path, output: str | Path, *, to: str | None = None
) -> list[tuple[str, str]]:
    """Input and output of every clip of a folder: the same tree below another folder.

    A file that holds several clips has an output for each: ``Soldier.glb#Run`` goes to
    ``Soldier_Run.glb``. Where two clips differ only in the suffix, their outputs keep it in the
    name. No two clips have the same output.

    Parameters
    ----------
    folder
        The clips, in it and below it; clips below ``output`` are left out.
    output
        Folder of the results.
    to
        Suffix of the results, such as ``"bvh"``; that of each clip by default.

    Returns
    -------
    list of (str, str)
        What :func:`load` takes, and the path of its result.

    Raises
    ------
    FormatError
        The folder has no clip, or a clip is in a format that cannot be written and ``to`` is not
        given.

    Examples
    --------
    >>> import tempfile
    >>> from motionloom import save, synthetic
    >>> with tempfile.TemporaryDirectory() as place:
    ...     save(synthetic.clip("walk").motion, Path(place) / "walk.bvh")
    ...     [output for _, output in plan_outputs(place, "out", to="glb")]
    ['out/walk.glb']
    """
    source, target = path_of(folder, "folder"), path_of(output, "output")
    suffix = None if to is None else "." + of_kind(to, str, "to").lower().removeprefix(".")
    clips = _clips(source, target)
    names = [_plain_name(clip, source) for clip in clips]
    if suffix is None:
        _refuse_unwritable(source, names)
    else:
        names = _with_suffix(names, suffix)
    return [
        (clip, str(target / name)) for clip, name in zip(clips, _all_different(names), strict=True)
    ]


def _clips(source: Path, target: Path) -> list[str]:
    """Clips in and below a folder that are no results of an earlier run."""
    if not source.is_dir():
        raise FormatError("Clips are looked for in a folder, and this is none.", path=source)
    inside = target.resolve()
    clips = [
        clip
        for clip in clips_below(source)
        if inside == source.resolve()
        or not Path(split_clip(clip)[0]).resolve().is_relative_to(inside)
    ]
    if not clips:
        raise FormatError(
            "The folder must hold a clip that can be read, and has none.",
            path=source,
            fix="Name another folder.",
        )
    return clips


def _plain_name(clip: str, source: Path) -> Path:
    """The name of a file for a clip below a folder: ``a.glb#Run`` becomes ``a_Run.glb``."""
    file, inner = split_clip(clip)
    name = Path(file).relative_to(source)
    if inner is None:
        return name
    safe = "".join(c if c.isalnum() or c in "-_ ." else "_" for c in inner)
    return name.with_name(f"{name.stem}_{safe[:MOST]}{name.suffix}")


def _refuse_unwritable(source: Path, names: list[Path]) -> None:
    """Refuse clips that cannot keep their formats."""
    written = {suffix for each in known_formats() for suffix in each.written}
    wrong = sorted({name.suffix for name in names if name.suffix.lower() not in written})
    if wrong:
        raise FormatError(
            f"Files that end in {', '.join(wrong)} can be read but not written, so the results "
            "need another format.",
            path=source,
            fix='Pass to= (such as to="bvh").',
        )


def _with_suffix(names: list[Path], suffix: str) -> list[Path]:
    often = Counter(name.with_suffix("") for name in names)
    results = []
    for name in names:
        stem = name.with_suffix("")
        end = "" if often[stem] == 1 else f"_{name.suffix.removeprefix('.')}"
        results.append(Path(f"{stem}{end}{suffix}"))
    return results


def _all_different(names: list[Path]) -> list[Path]:
    """The names, with a number where one came before: ``a.glb#Run`` and ``a_Run.glb`` differ."""
    taken: dict[Path, None] = {}
    for name in names:
        other, number = name, 1
        while other in taken:
            number += 1
            other = name.with_name(f"{name.stem}_{number}{name.suffix}")
        taken[other] = None
    return list(taken)
