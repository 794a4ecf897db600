"""What can be drawn: a motion, or the result of an operation with its contacts."""

from __future__ import annotations

from typing import Protocol, TypeVar

from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion, motion_in

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
    motion = motion_in(drawn)
    if motion is None or motion is drawn:
        return drawn, footplants
    own = getattr(drawn, "footplants", None)
    if footplants is not None or not isinstance(own, Footplants):
        return motion, footplants
    return motion, own
