"""What commands print: texts and JSON on standard output, the rest on standard error."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, TypeVar

import typer

import motionloom as ml
from motionloom.cli.option_words import in_options

T = TypeVar("T")

AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON object and nothing else on standard output.")
]

_COLOURS = {
    "note": typer.colors.BRIGHT_BLACK,
    "warning": typer.colors.YELLOW,
    "error": typer.colors.RED,
}


def print_json(value: dict[str, Any]) -> None:
    """Print one JSON object; numbers that JSON cannot hold become null."""
    print(json.dumps(_plain(value), ensure_ascii=False, indent=2, allow_nan=False))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "item"):  # a numpy number
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return value


def finding_json(finding: ml.Finding) -> dict[str, str]:
    """A finding as JSON values."""
    return {
        "level": finding.level,
        "where": finding.where,
        "problem": finding.problem,
        "fix": in_options(finding.fix),
    }


def print_findings(findings: Sequence[ml.Finding], *, indent: str = "  ") -> None:
    """Print one line per finding, coloured by level on a terminal."""
    for finding in findings:
        text = typer.style(f"{finding.level:7}", fg=_COLOURS[finding.level])
        rest = f"{finding.where}: {finding.problem} {in_options(finding.fix)}".rstrip()
        typer.echo(f"{indent}{text} {printable(rest)}")


def finding_warnings(path: str, motion: ml.Motion, *, of_source: bool = False) -> list[str]:
    """One line per fault of a file that was read."""
    return [
        f"{path}, {finding.where}: {finding.problem} {in_options(finding.fix, of_source=of_source)}"
        for finding in motion.source.findings
        if finding.level != "note"
    ]


def printable(text: str) -> str:
    """Text from a file without control characters, which could rewrite a terminal."""
    return "".join(c if c.isprintable() else "?" for c in text)


def note(text: str) -> None:
    """Print a remark on standard error, if that is a terminal."""
    if sys.stderr.isatty():
        typer.echo(printable(text), err=True)


def remark(text: str) -> None:
    """Print a note on standard error, also where no terminal reads it."""
    typer.echo("note: " + printable(" ".join(text.split())), err=True)


def warn(text: str) -> None:
    """Print a warning on standard error."""
    typer.echo("warning: " + printable(" ".join(text.split())), err=True)


def complain(text: str) -> None:
    """Print one line on standard error about a failure."""
    typer.echo("motionloom: " + printable(" ".join(text.split())), err=True)


def track(items: Iterable[T], label: str) -> Iterator[T]:
    """The items, with a progress bar and the time left on standard error if it is a terminal.

    Print nothing before the last item is done: it would run into the bar.
    """
    listed = list(items)
    if not sys.stderr.isatty() or len(listed) < 2:
        yield from listed
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    # Standard output stays as it is: rich would move what is printed there to the bar's side.
    with Progress(
        *columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False
    ) as progress:
        task = progress.add_task(label, total=len(listed))
        for item in listed:
            yield item
            progress.advance(task)
