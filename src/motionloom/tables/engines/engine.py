"""What an engine is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Protocol, runtime_checkable

from motionloom.tables.search.search import FoundChunk, SearchJob

__all__ = ["Checked", "Engine", "Report"]

Report = Callable[[float], None]
"""Told how many more pairs are done."""


class Engine(Protocol):
    """Something that searches the chunks of a job."""

    def search(
        self, job: SearchJob, *, skip: Collection[int] = (), progress: Report | None = None
    ) -> Iterator[FoundChunk]:
        """Found chunks, in any order, each as soon as it is done.

        Parameters
        ----------
        job
            What to search.
        skip
            Chunks that were found before and need not be found again.
        progress
            Told how many more pairs are done.
        """
        ...


@runtime_checkable
class Checked(Protocol):
    """An engine that may not be there: it is asked before a build begins."""

    def check(self) -> None:
        """Nothing, or a MotionLoomError that says what is missing and what to do."""
        ...
