"""Commands on many clips: of each file one result, of each pair one, of a data set a summary."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Protocol, TypeVar

import typer

import motionloom as ml
from motionloom.cli.clip_arguments import (
    Example,
    Reading,
    named_number,
    named_values,
    warn_of_findings,
    warn_skipped,
)
from motionloom.cli.option_words import in_options
from motionloom.cli.output import complain, print_json, printable, remark, track, warn
from motionloom.cli.results import (
    Joined,
    Writing,
    check_target,
    refuse_flawed,
    refuse_no_format,
    refuse_unwritable,
    suffix_of,
    write_clip,
)

NO_FOLDER = Path("results")
"""Stands for a folder where only the names of files below it matter."""
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", help="Clips done at the same time; one per core by default."),
]
Limit = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        metavar="COLUMN=NUMBER",
        help="Largest value that passes, such as jitter=3, or inf; repeatable.",
    ),
]
TimeoutS = Annotated[
    float | None,
    typer.Option("--timeout", help="Longest time for one clip, seconds, 600 by default."),
]


@dataclass(frozen=True, slots=True)
class Done:
    """The report of one clip."""

    line: str = ""
    """What the printed line ends with."""
    facts: dict[str, Any] = field(default_factory=dict)
    """For JSON."""
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def plan_jobs(
    source: str, writing: Writing, *, own_formats: bool = False, example: str = "bvh"
) -> list[tuple[str, str]]:
    """Input and output of a clip, or of every clip of a folder.

    Results of a folder need ``--to``, unless they may keep their ``own_formats``; ``example`` is
    one for the error.
    """
    if source == "-" or not Path(source).is_dir():
        return [(source, writing.output)]
    to = writing.to or writing.layout.format
    if to is None and not own_formats:
        raise refuse_no_format(source, example)
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
            text = in_options(_naming(error, path, Path(path).name))
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


def _naming(error: ml.MotionLoomError, inputs: str, *files: str) -> str:
    """The text of an error, with the inputs in front where it names no file."""
    text = str(error)
    named = isinstance(error, ml.FormatError) and error.path is not None
    return text if named or any(file in text for file in files) else f"{inputs}: {text}"


def exit_for(errors: list[ml.MotionLoomError]) -> None:
    """End with 3 if all failed their quality check, with 2 for other errors; return for none."""
    if errors:
        flawed = all(isinstance(error, ml.FlawedResultError) for error in errors)
        raise typer.Exit(3 if flawed else 2)


@dataclass(frozen=True, slots=True)
class Pair:
    """Both inputs of a result, and where it goes."""

    one: str
    other: str
    target: str


@dataclass(frozen=True, slots=True)
class PairWords:
    """What a command calls its results."""

    label: str
    """Of the progress bar: "joining"."""
    plural: str
    """In JSON: "transitions"."""
    advice: str
    """What to try where a result fails its quality check."""


class PairResult(Protocol):
    """What a command makes of a pair."""

    @property
    def examples(self) -> Sequence[Example]:
        """The clips that went in."""

    @property
    def result(self) -> Joined:
        """What came out."""


AnyResult = TypeVar("AnyResult", bound=PairResult)


def plan_pairs(one: str, other: str, writing: Writing, *, between: str) -> list[Pair]:
    """The pair itself, or every clip of a folder with every other.

    Parameters
    ----------
    one, other
        Files or folders.
    writing
        Where to; folders need a format.
    between
        Word between the names of two clips in that of their result.
    """
    folders = [path for path in (one, other) if path != "-" and Path(path).is_dir()]
    if not folders:
        return [Pair(one, other, writing.output)]
    to = writing.to or writing.layout.format
    if to is None:
        raise refuse_no_format(folders[0])
    place, suffix = Path(writing.output), suffix_of(to)
    if writing.output == "-" or place.is_file():
        raise ml.FormatError(
            "Several results go into a folder.", path=writing.output, fix="Name a folder."
        )
    names = [_names(path) for path in (one, other)]
    return [
        Pair(a, b, str(place / f"{first}_{between}_{second}{suffix}"))
        for a, first in names[0]
        for b, second in names[1]
        if a != b
    ]


def _names(path: str) -> list[tuple[str, str]]:
    """The clips meant by a path, each with a name for its results."""
    if path == "-" or not Path(path).is_dir():
        file, mark, clip = path.rpartition("#")
        name = f"{Path(file).stem}_{clip}" if mark else Path(path).stem
        return [(path, re.sub(r"[^\w. -]", "_", name))]
    warn_skipped(path, ml.find_clips(path))
    # Of the files that plan_outputs gives, only the names are used here.
    jobs = [(clip, Path(file)) for clip, file in ml.plan_outputs(path, NO_FOLDER, to="bvh")]
    often = Counter(file.stem for _, file in jobs)
    return [
        (clip, file.stem if often[file.stem] == 1 else "_".join(_below(file)))
        for clip, file in jobs
    ]


def _below(file: Path) -> tuple[str, ...]:
    """Folders and name of a planned file."""
    return file.relative_to(NO_FOLDER).with_suffix("").parts


def make_pairs(
    pairs: Sequence[Pair],
    make: Callable[[Pair], AnyResult],
    writing: Writing,
    *,
    words: PairWords,
    inputs: Callable[[Pair], dict[str, Any]],
    describe: Callable[[AnyResult], dict[str, Any]],
    show: Callable[[AnyResult, str], None],
) -> None:
    """Make and write every pair; of several, those that fail are reported after the others.

    Parameters
    ----------
    pairs
        What to make.
    make
        Returns the result of a pair.
    writing
        Options on the outputs.
    words
        What the results are called.
    inputs
        A pair as JSON, if it was not made.
    describe, show
        A result as JSON, and printed.
    """
    reports: list[dict[str, Any]] = []
    finished: list[tuple[AnyResult, str]] = []
    errors: list[ml.MotionLoomError] = []
    for pair in track(pairs, words.label):
        try:
            check_target(pair.target, [pair.one, pair.other], force=writing.force, to=writing.to)
            writing.layout.check(pair.target)
            refuse_unwritable(pair.target)
            if writing.dry_run:
                reports.append({**inputs(pair), "output": pair.target})
                continue
            joined = make(pair)
            refuse_flawed(
                joined.result.verification,
                pair.target,
                allowed=writing.allow_flawed,
                advice=words.advice,
            )
            write_clip(
                joined.result.motion,
                pair.target,
                writing.to,
                wearer=writing.wearer,
                layout=writing.layout,
                provenance=joined.result.provenance,
            )
        except ml.MotionLoomError as error:
            flawed = isinstance(error, ml.FlawedResultError)
            names = (Path(path).name for path in (pair.one, pair.other))
            text = _naming(error, f"{pair.one} and {pair.other}", pair.target, *names)
            if len(pairs) == 1 and not (writing.as_json and flawed):
                if text == str(error):
                    raise
                raise type(error)(text) from error
            failed = {"output": pair.target, "error": in_options(text)}
            reports.append({**inputs(pair), **failed, **(describe(joined) if flawed else {})})
            errors.append(error)
            continue
        reports.append({"output": pair.target, **describe(joined)})
        finished.append((joined, pair.target))
    if writing.output == "-" and not writing.dry_run:
        pass  # the clip itself goes there
    elif writing.as_json:
        print_json({"dry_run": writing.dry_run, words.plural: reports})
    elif writing.dry_run:
        for each in reports:
            if "error" not in each:
                typer.echo(printable(f"would write {each['output']}"))
    else:
        for joined, target in finished:
            show(joined, target)
    warn_of_findings([each for joined, _ in finished for each in joined.examples])
    for report in reports:
        if "error" in report:
            complain(report["error"])
    exit_for(errors)


def limits_of(texts: list[str] | None, **given: float | None) -> dict[str, float] | None:
    """Limits from ``COLUMN=NUMBER`` and from options of their columns; None without any."""
    limits = [(name, value) for name, value in given.items() if value is not None]
    for text in texts or ():
        name, number = named_number(text, "--limit", "column", "jitter=3")
        limits.append((name.strip().replace("-", "_"), number))
    return named_values(limits, "--limit") or None


def named_rates(reading: Reading) -> dict[str, float]:
    """Patterns of file names and their true rates, the last that fits counts."""
    return dict(reading.source_fps)


@contextmanager
def interrupted_note(report: Path | None) -> Iterator[None]:
    """Print how to go on where the user stops a run."""
    try:
        yield
    except KeyboardInterrupt:
        if report is not None:
            warn("stopped; run the same command again to go on where it ended.")
        raise
