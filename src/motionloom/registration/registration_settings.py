"""Settings of a registration: how times may bend, and what is compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

from motionloom._arrays import finite, flag, items, not_negative, of_kind, positive
from motionloom.errors import ArrayError
from motionloom.motion.edit import Spans
from motionloom.registration.gait_cycles import GaitCycle

STEEPEST = 16
"""More steps in a row in one clip than this is no match any more."""


class RegistrationOptions(TypedDict, total=False):
    """Keyword arguments of :func:`motionloom.register` that few callers need."""

    refine: bool
    slope_limit: int
    epsilon: float
    knot_s: float
    window_s: float
    cover: float
    least_s: float
    repair_knees: bool | None
    match: bool
    cycles: bool | Sequence[GaitCycle]
    sync_contacts: bool
    foot_speeds: float
    joint_weights: Mapping[str, float] | None
    constraints: Sequence[Mapping[str, Spans]] | None


@dataclass(frozen=True, slots=True)
class RegistrationSettings:
    """The options of a registration, checked; :func:`motionloom.register` describes them."""

    ends: str = "open"
    refine: bool = False
    slope_limit: int = 3
    epsilon: float = 0.33
    knot_s: float = 0.27
    window_s: float = 0.17
    cover: float = 0.6
    least_s: float = 0.0
    repair_knees: bool | None = True
    match: bool = True
    cycles: bool | Sequence[GaitCycle] = False
    sync_contacts: bool = False
    foot_speeds: float = 0.0
    joint_weights: Mapping[str, float] | None = None
    constraints: Sequence[Mapping[str, Spans]] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.ends, str) or self.ends not in ("open", "match"):
            raise ArrayError(f"`ends` must be 'open' or 'match', got {self.ends!r}.")
        limit = self.slope_limit
        whole = isinstance(limit, int) and not isinstance(limit, bool)
        if not whole or not 0 <= limit <= STEEPEST:
            raise ArrayError(
                f"`slope_limit` must be a whole number from 0 to {STEEPEST}, got {limit!r}."
            )
        positive(self.knot_s, "knot_s")
        positive(self.window_s, "window_s")
        for value, name in ((self.epsilon, "epsilon"), (self.cover, "cover")):
            if not 0.0 < positive(value, name) <= 1.0:
                raise ArrayError(f"`{name}` must lie above 0 and at most at 1, got {value!r}.")
        if finite(self.least_s, "least_s") < 0.0:
            raise ArrayError(f"`least_s` must not be negative, got {self.least_s!r}.")
        not_negative(self.foot_speeds, "foot_speeds")
        flag(self.refine, "refine")
        for name in ("match", "sync_contacts"):
            flag(getattr(self, name), name)
        if not isinstance(self.cycles, bool):
            for k, cycle in enumerate(items(self.cycles, "cycles", "gait cycles")):
                of_kind(cycle, GaitCycle, f"cycles[{k}]")
        if self.repair_knees is not None:
            flag(self.repair_knees, "repair_knees")
