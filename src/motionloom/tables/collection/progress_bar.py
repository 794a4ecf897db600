"""Progress of long work: told to whoever listens, else a bar with the time left on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress_bar", "progress_told_to"]

Listener = Callable[[str, float, float], None]
"""Is told what is done, how much of it, and of how much."""

_listener: Listener | None = None


@contextmanager
def progress_told_to(listener: Listener) -> Iterator[None]:
    """Tell ``listener`` what :func:`progress_bar` would draw, wherever it is called in this."""
    global _listener
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before


@contextmanager
def progress_bar(
    label: str, total: float, *, shown: bool = True
) -> Iterator[Callable[[float], None]]:
    """A function that is told how much more is done; it draws a bar where somebody can see it."""
    if _listener is not None:
        tell, done = _listener, 0.0
        tell(label, done, total)

        def advance(amount: float) -> None:
            nonlocal done
            done += amount
            tell(label, done, total)

        yield advance
        return
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
