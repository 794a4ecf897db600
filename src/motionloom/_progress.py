"""Progress of long work: a listener of the thread gets its steps, and may stop it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["Listener", "progress_to", "report_step"]

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
