"""Commands that make one clip of two: which pairs are meant, each made, written and told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import typer

from motionloom.cli.clip_arguments import find_clips
from motionloom.cli.example_clips import Example, warn_of_findings
from motionloom.cli.output import complain, print_json, printable, track
from motionloom.cli.output_paths import check_target
from motionloom.cli.results import refuse_flawed, write_clip
from motionloom.errors import FlawedResultError, FormatError, MotionLoomError

if TYPE_CHECKING:
    from motionloom.cli.results import Made as Result

__all__ = ["Pair", "Writing", "make_pairs", "plan_pairs"]


@dataclass(frozen=True, slots=True)
class Pair:
    """Both inputs of a result, and where it goes."""

    one: str
    other: str
    target: str


@dataclass(frozen=True, slots=True)
class Writing:
    """What the user said about the outputs."""

    output: str
    to: str | None
    allow_flawed: bool
    force: bool
    dry_run: bool
    as_json: bool


class Made(Protocol):
    """What a command makes of a pair."""

    @property
    def examples(self) -> Sequence[Example]:
        """The clips that went in."""

    @property
    def result(self) -> Result:
        """What came out."""


AnyMade = TypeVar("AnyMade", bound=Made)


def plan_pairs(one: str, other: str, writing: Writing, *, between: str) -> list[Pair]:
    """The pair itself, or every clip of a folder with every other.

    Parameters
    ----------
    one, other
        Files or folders.
    writing
        Where to; folders need a format.
    between
        What stands between the names of two clips in that of their result.
    """
    folders = [path for path in (one, other) if path != "-" and Path(path).is_dir()]
    if not folders:
        return [Pair(one, other, writing.output)]
    if writing.to is None:
        raise FormatError(
            "A folder needs to be told the format of its results.",
            path=folders[0],
            fix="Say --to bvh (or another).",
        )
    place = Path(writing.output)
    if writing.output == "-" or place.is_file():
        raise FormatError(
            "Many results go into a folder.", path=writing.output, fix="Name a folder."
        )
    suffix = "." + writing.to.lower().removeprefix(".")
    return [
        Pair(a, b, str(place / f"{Path(a).stem}_{between}_{Path(b).stem}{suffix}"))
        for a in find_clips([one])
        for b in find_clips([other])
        if a != b
    ]


def make_pairs(
    pairs: Sequence[Pair],
    make: Callable[[Pair], AnyMade],
    writing: Writing,
    *,
    doing: str,
    plural: str,
    inputs: Callable[[Pair], dict[str, Any]],
    tell: Callable[[AnyMade], dict[str, Any]],
    show: Callable[[AnyMade, str], None],
) -> None:
    """Make and write every pair; of many, those that cannot be are told and passed over.

    Parameters
    ----------
    pairs
        What to make.
    make
        Gives the result of a pair.
    writing
        Where results go, and how they are told.
    doing, plural
        For the progress, and for the JSON: "joining", "transitions".
    inputs
        A pair as JSON, where it was not made.
    tell, show
        A result as JSON, and printed.
    """
    told: list[dict[str, Any]] = []
    shown: list[tuple[AnyMade, str]] = []
    errors: list[MotionLoomError] = []
    for pair in track(pairs, doing):
        try:
            check_target(pair.target, [pair.one, pair.other], force=writing.force, to=writing.to)
            if writing.dry_run:
                told.append({**inputs(pair), "output": pair.target})
                continue
            made = make(pair)
            refuse_flawed(made.result.verification, pair.target, allowed=writing.allow_flawed)
            loaded = [example.loaded for example in made.examples]
            write_clip(made.result.motion, pair.target, writing.to, sources=loaded)
        except MotionLoomError as error:
            if len(pairs) == 1 and not (writing.as_json and isinstance(error, FlawedResultError)):
                raise
            failed: dict[str, Any] = {"output": pair.target, "error": str(error)}
            if isinstance(error, FlawedResultError):
                failed |= tell(made)
            told.append({**inputs(pair), **failed})
            errors.append(error)
            continue
        told.append({"output": pair.target, **tell(made)})
        shown.append((made, pair.target))
    if writing.output == "-" and not writing.dry_run:
        pass  # the clip itself is there
    elif writing.as_json:
        print_json({"dry_run": writing.dry_run, plural: told})
    elif writing.dry_run:
        for each in told:
            if "error" not in each:
                typer.echo(printable(f"would write {each['output']}"))
    else:
        for made, target in shown:
            show(made, target)
    for made, _ in shown:
        warn_of_findings(list(made.examples))
    for fault in errors:
        complain(fault)
    if errors:
        flawed = all(isinstance(error, FlawedResultError) for error in errors)
        raise typer.Exit(3 if flawed else 2)
