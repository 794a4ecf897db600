"""UncutClips: the clips that the motions of a curve were cut from."""

from __future__ import annotations

from dataclasses import dataclass

from motionloom._records import record
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion


@dataclass(frozen=True, slots=True, eq=False)
@record
class UncutClips:
    """The clips that the motions of a curve were cut from.

    Attributes
    ----------
    motions : tuple of Motion
        One for each motion of the curve.
    footplants : tuple of Footplants
        Contacts of every clip.
    first_frames : tuple of int
        Frame of every clip with which the motion cut from it begins.
    """

    motions: tuple[Motion, ...]
    footplants: tuple[Footplants, ...]
    first_frames: tuple[int, ...]
