"""What commands print: texts and JSON on standard output, the rest on standard error."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

if TYPE_CHECKING:
    from motionloom.findings import Finding

__all__ = [
    "AsJson",
    "complain",
    "finding_json",
    "note",
    "print_findings",
    "print_json",
    "track",
    "warn",
]

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
    """One JSON object on standard output; numbers that JSON cannot say become null."""
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


def finding_json(finding: Finding) -> dict[str, str]:
    """A finding as JSON values."""
    return {
        "level": finding.level,
        "where": finding.where,
        "problem": finding.problem,
        "fix": finding.fix,
    }


def print_findings(findings: Sequence[Finding], *, indent: str = "  ") -> None:
    """One line per finding, coloured by level on a terminal."""
    for finding in findings:
        text = typer.style(f"{finding.level:7}", fg=_COLOURS[finding.level])
        rest = f"{finding.where}: {finding.problem} {finding.fix}".rstrip()
        typer.echo(f"{indent}{text} {printable(rest)}")


def printable(text: str) -> str:
    """Text from a file without control characters, which could rewrite a terminal."""
    return "".join(c if c.isprintable() else "?" for c in text)


def note(text: str) -> None:
    """A remark on standard error, if somebody is there to read it."""
    if sys.stderr.isatty():
        typer.echo(printable(text), err=True)


def warn(text: str) -> None:
    """A warning on standard error."""
    typer.echo("warning: " + printable(" ".join(text.split())), err=True)


def complain(error: Exception) -> None:
    """One line on standard error about a file that could not be used, while others could."""
    typer.echo("motionloom: " + printable(" ".join(str(error).split())), err=True)


def track(items: Iterable[T], label: str, *, total: int | None = None) -> Iterator[T]:
    """The items, with a progress bar and the time left on standard error if it is a terminal.

    Nothing should be printed before the last item is done: it would run into the bar.
    """
    listed = items if total is not None else list(items)
    count = total if total is not None else len(listed)  # type: ignore[arg-type]
    if not sys.stderr.isatty() or count < 2:
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
    # Standard output is left alone: rich would carry what is printed there over to the bar's side.
    with Progress(
        *columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False
    ) as progress:
        task = progress.add_task(label, total=count)
        for item in listed:
            yield item
            progress.advance(task)
