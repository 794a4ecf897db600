"""Stored results: those that pages may still export, with limits per page and for all pages."""

from __future__ import annotations

import threading
from collections import OrderedDict

from motionloom.studio.messages.bounds import fresh_number
from motionloom.studio.results.result import Result

MOST_OF_PAGE = 24
MOST_OF_ALL = 256
MOST_BYTES = 1024**3
"""Memory of all results together; a shared source counts once for each result."""


class StoredResults:
    """Results of all pages; beyond the limits the oldest are dropped."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stored: OrderedDict[int, tuple[PageResults, Result, int]] = OrderedDict()
        self._bytes = 0

    def page(self) -> PageResults:
        """The results of a page that was opened."""
        return PageResults(self)

    def add(self, page: PageResults, result: Result) -> int:
        """Store a result, unless its page has closed; its number."""
        number, size = fresh_number(), _bytes_of(result)
        with self._lock:
            if page.closed:
                return number
            self._stored[number] = page, result, size
            self._bytes += size
            own = self._numbers(page)
            self._drop(own[: max(0, len(own) - MOST_OF_PAGE)])
            while len(self._stored) > 1 and (
                len(self._stored) > MOST_OF_ALL or self._bytes > MOST_BYTES
            ):
                self._drop([next(iter(self._stored))])
        return number

    def find(self, page: PageResults, number: int) -> Result | None:
        """A result of a page; None where it was dropped or belongs to another page."""
        owner, result, _ = self._stored.get(number, (None, None, 0))
        return result if owner is page else None

    def close(self, page: PageResults) -> None:
        """Drop the results of a page that was closed, and any that it makes later."""
        with self._lock:
            page.closed = True
            self._drop(self._numbers(page))

    def _numbers(self, page: PageResults) -> list[int]:
        return [n for n, (owner, _, _) in self._stored.items() if owner is page]

    def _drop(self, numbers: list[int]) -> None:
        self._bytes -= sum(self._stored.pop(number)[2] for number in numbers)


class PageResults:
    """Results of one page."""

    def __init__(self, results: StoredResults) -> None:
        self._all, self.closed = results, False

    def add(self, result: Result) -> int:
        """Store a result; its number."""
        return self._all.add(self, result)

    def find(self, number: int) -> Result | None:
        """A result that is still stored."""
        return self._all.find(self, number)

    def close(self) -> None:
        """Drop them, and all that come later."""
        self._all.close(self)


def _bytes_of(result: Result) -> int:
    motions = (result.motion, *result.source_motions)
    return sum(m.local_quats.nbytes + m.root_positions.nbytes for m in motions) + sum(
        array.nbytes for array in result.arrays.values()
    )
