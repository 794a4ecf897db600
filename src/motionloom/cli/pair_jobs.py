"""Commands that make one clip of two: every pair made, written and reported."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import typer

import motionloom as ml
from motionloom.cli.clip_arguments import warn_skipped
from motionloom.cli.example_clips import Example, warn_of_findings
from motionloom.cli.file_jobs import exit_for
from motionloom.cli.option_words import in_options
from motionloom.cli.output import complain, print_json, printable, track
from motionloom.cli.output_paths import (
    Writing,
    check_target,
    refuse_no_format,
    refuse_unwritable,
    suffix_of,
)
from motionloom.cli.results import Joined, refuse_flawed, write_clip


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
NO_FOLDER = Path("results")
"""Stands for a folder where only the names of files below it matter."""


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
            text = _naming(pair, error)
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


def _naming(pair: Pair, error: ml.MotionLoomError) -> str:
    """The text of an error, with both inputs in front where it names no file."""
    text = str(error)
    named = isinstance(error, ml.FormatError) and error.path is not None
    files = (pair.target, *(Path(path).name for path in (pair.one, pair.other)))
    return (
        text
        if named or any(each in text for each in files)
        else (f"{pair.one} and {pair.other}: {text}")
    )
