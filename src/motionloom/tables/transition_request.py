"""A transition of a table as it is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypedDict

from motionloom._arrays import flag, not_negative, positive, whole
from motionloom.errors import ArrayError

Place = tuple[str, int]
"""A clip's id and a frame of it."""

RESCORED = 32
"""Recipes of the table that are scored with the real windows."""


class TransitionOptions(TypedDict, total=False):
    """Keyword arguments of :meth:`TransitionTable.transition` that few callers need."""

    rescore: int
    variation: int | None
    search: bool | Literal["refine"]
    still_feet: bool


@dataclass(frozen=True, slots=True)
class TransitionRequest:
    """A transition as it is asked for; see :meth:`TransitionTable.transition`."""

    source: Place
    target: Place | None
    label: str | None
    lead_s: float
    follow_s: float
    longest_s: float | None
    tolerance_s: float
    rescore: int = RESCORED
    variation: int | None = None
    search: bool | Literal["refine"] = False
    still_feet: bool = False

    def __post_init__(self) -> None:
        if self.longest_s is not None:
            positive(self.longest_s, "longest_s")
        not_negative(self.tolerance_s, "tolerance_s")
        if (self.target is None) == (self.label is None):
            raise ArrayError("Give `target` or `label` to say where to go, and not both.")
        not_negative(self.lead_s, "lead_s")
        not_negative(self.follow_s, "follow_s")
        whole(self.rescore, "rescore", least=0)
        flag(self.still_feet, "still_feet")
        if self.variation is not None:
            whole(self.variation, "variation", least=0)
        is_name = isinstance(self.search, str) and self.search == "refine"
        if not isinstance(self.search, bool) and not is_name:
            raise ArrayError(f'`search` must be True, False or "refine", got {self.search!r}.')

    @property
    def is_default(self) -> bool:
        """Whether candidates of any duration are looked at."""
        return not self.search and self.rescore > 0
