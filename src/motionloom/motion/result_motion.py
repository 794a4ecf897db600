"""The motion of a result: functions that take a motion last in a program take its result too."""

from __future__ import annotations

from typing import Protocol

from motionloom.motion.motion import Motion


class HasMotion(Protocol):
    """What operations return: their motion is ``.motion``."""

    @property
    def motion(self) -> Motion:
        """The result."""


def motion_in(value: object) -> Motion | None:
    """The motion itself, or that of a result; None for everything else."""
    motion = value if isinstance(value, Motion) else getattr(value, "motion", None)
    return motion if isinstance(motion, Motion) else None
