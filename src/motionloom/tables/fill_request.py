"""A gap to be filled by a table, as it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from motionloom._arrays import flag, whole


class FillOptions(TypedDict, total=False):
    """Keyword arguments of :meth:`TransitionTable.fill`."""

    count: int | None
    clean: bool
    exclude: Sequence[str]
    match: bool


@dataclass(frozen=True, slots=True)
class FillRequest:
    """How a gap is filled; see :meth:`TransitionTable.fill`."""

    count: int | None = None
    clean: bool = True
    exclude: Sequence[str] = ()
    match: bool = True

    def __post_init__(self) -> None:
        flag(self.clean, "clean")
        flag(self.match, "match")
        if self.count is not None:
            object.__setattr__(self, "count", whole(self.count, "count", least=1))
