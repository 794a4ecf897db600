"""Commands that make one file of each clip: every clip read, its result written and reported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

import motionloom as ml
from motionloom.cli.clip_arguments import warn_skipped
from motionloom.cli.option_words import in_options
from motionloom.cli.output import complain, print_json, printable, remark, track, warn
from motionloom.cli.output_paths import Writing, check_target, refuse_no_format, suffix_of


@dataclass(frozen=True, slots=True)
class Done:
    """The report of one clip."""

    line: str = ""
    """What the printed line ends with."""
    facts: dict[str, Any] = field(default_factory=dict)
    """For JSON."""
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def plan_jobs(source: str, writing: Writing, *, own_formats: bool = False) -> list[tuple[str, str]]:
    """Input and output of a clip, or of every clip of a folder.

    Results of a folder need ``--to``, unless they may keep their ``own_formats``.
    """
    if source == "-" or not Path(source).is_dir():
        return [(source, writing.output)]
    to = writing.to or writing.layout.format
    if to is None and not own_formats:
        raise refuse_no_format(source)
    if writing.output == "-" or Path(writing.output).is_file():
        raise ml.FormatError(
            "The results of a folder go into a folder.", path=writing.output, fix="Name a folder."
        )
    suffix = None if to is None else suffix_of(to)
    jobs = ml.plan_outputs(source, writing.output, to=suffix)
    warn_skipped(source, ml.find_clips(source))
    return jobs


def run_jobs(
    jobs: list[tuple[str, str]],
    work: Callable[[str, str], Done],
    writing: Writing,
    *,
    label: str,
    check: Callable[[str], None] = lambda target: None,
    of_source: bool = False,
) -> None:
    """Do the work of every clip; of several, those that fail are reported after the others.

    Parameters
    ----------
    jobs
        Input and output of every clip.
    work
        Takes both, writes the output, and returns its report.
    writing
        Options on the outputs.
    label
        Of the progress bar.
    check
        Refuses an output before anything is read.
    of_source
        As of :func:`in_options`.
    """
    reports: list[dict[str, Any]] = []
    finished: list[tuple[str, str, Done]] = []
    errors: list[tuple[str, ml.MotionLoomError]] = []
    for path, target in track(jobs, label):
        try:
            check_target(target, [path], force=writing.force, to=writing.to)
            writing.layout.check(target)
            check(target)
            done = Done() if writing.dry_run else work(path, target)
        except ml.MotionLoomError as error:
            text = in_options(_naming(path, error), of_source=of_source)
            errors.append((text, error))
            reports.append({"input": path, "output": target, "error": text})
            continue
        reports.append({"input": path, "output": target, **done.facts})
        finished.append((path, target, done))
    if writing.output == "-" and not writing.dry_run:
        pass  # the clip itself goes there
    elif writing.as_json:
        if finished or len(jobs) > 1:
            print_json({"dry_run": writing.dry_run, "clips": reports})
    else:
        for path, target, done in finished:
            text = f"would write {target}  from {path}" if writing.dry_run else f"wrote {target}"
            typer.echo(printable(f"{text}  {done.line}".rstrip()))
    for _, _, done in finished:
        for text in done.notes:
            remark(text)
        for text in done.warnings:
            warn(text)
    for text, _ in errors:
        complain(text)
    exit_for([error for _, error in errors])


def _naming(path: str, error: ml.MotionLoomError) -> str:
    """The text of an error with one file in front: that of the error itself, else the input."""
    text = str(error)
    named = isinstance(error, ml.FormatError) and error.path is not None
    return text if named or Path(path).name in text else f"{path}: {text}"


def exit_for(errors: list[ml.MotionLoomError]) -> None:
    """End with 3 if all failed their quality check, with 2 for other errors; return for none."""
    if errors:
        flawed = all(isinstance(error, ml.FlawedResultError) for error in errors)
        raise typer.Exit(3 if flawed else 2)
