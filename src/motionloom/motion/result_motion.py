"""The motion of a result: how it is found, and what it is called."""

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


def joined_name(first: Motion, word: str, second: Motion) -> str:
    """Name of what two motions became: ``walk to run``; the name of one where only it has one."""
    if first.name and second.name:
        return f"{first.name} {word} {second.name}"
    return first.name or second.name
