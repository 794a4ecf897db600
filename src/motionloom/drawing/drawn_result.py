"""What can be drawn: a motion, or the result of an operation with its contacts."""

from __future__ import annotations

from typing import Protocol, TypeVar

from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion

T = TypeVar("T")


class Result(Protocol):
    """What operations return: a motion and its contacts."""

    @property
    def motion(self) -> Motion:
        """The result."""

    @property
    def footplants(self) -> Footplants:
        """Its contacts."""


def motion_and_contacts(
    drawn: object, footplants: T | None
) -> tuple[object, T | Footplants | None]:
    """The motion of a result and its contacts, unless others are given; all else as it came."""
    if isinstance(drawn, Motion) or not isinstance(getattr(drawn, "motion", None), Motion):
        return drawn, footplants
    own = getattr(drawn, "footplants", None)
    if footplants is not None or not isinstance(own, Footplants):
        return drawn.motion, footplants  # type: ignore[attr-defined]
    return drawn.motion, own  # type: ignore[attr-defined]
