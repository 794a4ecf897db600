"""Kept results: those that pages may still export, with a limit per page and one for all pages."""

from __future__ import annotations

import threading
from collections import OrderedDict

from motionloom.studio.messages.unique_numbers import fresh_number
from motionloom.studio.results.result import Result

__all__ = ["KeptResults", "PageResults"]

MOST_OF_PAGE = 24
MOST_OF_ALL = 256
MOST_BYTES = 1024**3
"""Memory of all results together; sources that several share are counted for each."""


class KeptResults:
    """Results of all pages; beyond the limits the oldest go."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, tuple[PageResults, Result, int]] = OrderedDict()
        self._bytes = 0

    def page(self) -> PageResults:
        """The results of a page that was opened."""
        return PageResults(self)

    def add(self, page: PageResults, result: Result) -> int:
        """Keep a result, unless its page has closed; its number."""
        number, size = fresh_number(), _bytes_of(result)
        with self._lock:
            if page.closed:
                return number
            self._kept[number] = page, result, size
            self._bytes += size
            own = [n for n, (owner, _, _) in self._kept.items() if owner is page]
            for old in own[: max(0, len(own) - MOST_OF_PAGE)]:
                self._drop(old)
            while len(self._kept) > 1 and (
                len(self._kept) > MOST_OF_ALL or self._bytes > MOST_BYTES
            ):
                self._drop(next(iter(self._kept)))
        return number

    def find(self, page: PageResults, number: int) -> Result | None:
        """A result of a page; None where it is gone or another page's."""
        kept = self._kept.get(number)
        return kept[1] if kept is not None and kept[0] is page else None

    def forget(self, page: PageResults) -> None:
        """Drop the results of a page that was closed, and any that it makes later."""
        with self._lock:
            page.closed = True
            for number in [n for n, (owner, _, _) in self._kept.items() if owner is page]:
                self._drop(number)

    def _drop(self, number: int) -> None:
        self._bytes -= self._kept.pop(number)[2]


class PageResults:
    """Results of one page.

    Parameters
    ----------
    results
        Those of all pages.
    """

    def __init__(self, results: KeptResults) -> None:
        self._all = results
        self.closed = False
        """Whether the page has gone: a result that comes later is dropped at once."""

    def add(self, result: Result) -> int:
        """Keep a result; its number."""
        return self._all.add(self, result)

    def find(self, number: int) -> Result | None:
        """A result that is still kept."""
        return self._all.find(self, number)

    def close(self) -> None:
        """Drop them."""
        self._all.forget(self)


def _bytes_of(result: Result) -> int:
    motions = (result.motion, *result.source_motions)
    return sum(m.local_quats.nbytes + m.root_positions.nbytes for m in motions) + sum(
        array.nbytes for array in result.arrays.values()
    )
