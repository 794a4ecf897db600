"""Options of commands that work on data sets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from motionloom.cli.clip_arguments import Reading
from motionloom.cli.named_values import named_number, named_values
from motionloom.cli.output import warn

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
