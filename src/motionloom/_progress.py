"""Progress of long work: a listener of the thread gets its steps, and may stop it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str, float | None], None]
"""Takes the words for a stage and the part of it that is done, 0 to 1 (None if unknown).

It may raise: the work then ends with that exception.
"""

_listener: ContextVar[Listener | None] = ContextVar("motionloom_progress", default=None)


@contextmanager
def progress_to(listener: Listener) -> Iterator[None]:
    """Report the steps of this thread's work to ``listener`` within the block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def report_step(stage: str, done: float = 0.0, total: float = 0.0) -> None:
    """Report that ``done`` of ``total`` steps of a stage are done; does nothing unobserved.

    Long loops call it in every iteration, so that the listener can stop them.
    """
    listener = _listener.get()
    if listener is not None:
        listener(stage, done / total if total > 0.0 else None)


@contextmanager
def progress_bar(
    label: str, total: float, *, shown: bool = True
) -> Iterator[Callable[[float], None]]:
    """A function that gets the amount of work done since its last call.

    It reports to the listener of the thread; without one it draws a bar with the time left, if
    ``shown`` and standard error is a terminal.
    """
    if _listener.get() is not None:
        done = 0.0
        report_step(label, done, total)

        def advance(amount: float) -> None:
            nonlocal done
            done += amount
            report_step(label, done, total)

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
    # Standard output stays as it is: rich would move what is printed there to standard error.
    with Progress(
        *columns,
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    ) as progress:
        task = progress.add_task(label, total=total)
        yield lambda amount: progress.advance(task, amount)
