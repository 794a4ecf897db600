"""Progress of long work: a bar with the time left on standard error, if it is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(
    label: str, total: float, *, shown: bool = True
) -> Iterator[Callable[[float], None]]:
    """A function that is told how much more is done; it draws a bar where somebody can see it."""
    if not shown or not sys.stderr.isatty():
        yield lambda amount: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
    )
    # Standard output is left alone: rich would carry what is printed there over to the bar's side.
    with Progress(
        *columns,
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    ) as progress:
        task = progress.add_task(label, total=total)
        yield lambda amount: progress.advance(task, amount)
