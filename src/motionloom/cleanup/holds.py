"""Holds: the part of every labelled plant in which a foot point is really held.

A label reaches into the frames in which the foot still comes down or already leaves. To stop a
point there would need a jerk of the whole leg, so a hold leaves out such frames at the ends of its
plant, but never more than a stated part of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.motion.contacts import runs_of

__all__ = ["KEPT", "Hold", "find_holds", "holding"]

KEPT = 0.86
"""At least this part of every plant is held."""
BODY_PART = 0.13
SLOWEST, FASTEST = 0.15, 0.45
"""A point really stands below this part of the body's speed, within these bounds, m/s. Walks come
to 0.15 and runs to 0.4 m/s, the speeds at which knees were found not to jerk."""


@dataclass(frozen=True, slots=True)
class Hold:
    """One plant, and the frames of it that are held."""

    kind: int
    """Column in :attr:`Footplants.planted`: left heel, left toe, right heel, right toe."""
    label: tuple[int, int]
    """First and last frame of the plant as it was labelled."""
    span: tuple[int, int]
    """First and last frame held."""

    @property
    def n_frames(self) -> int:
        """Number of frames held."""
        return self.span[1] - self.span[0] + 1


def find_holds(
    velocities: FloatArray, planted: BoolArray, body_velocity: FloatArray
) -> tuple[Hold, ...]:
    """A hold for every plant of at least two frames, ordered by kind, then in time.

    Speeds count relative to the plant's own median velocity: a clip that skates as a whole slides
    through its plants at an even speed, and that is what clean-up is for.

    Parameters
    ----------
    velocities : (F, 4, 3)
        Of heels and balls, m/s.
    planted : (F, 4)
        The labels.
    body_velocity : (F, 3)
        Of the root over the ground, m/s.
    """
    holds = []
    for kind in range(planted.shape[1]):
        for first, last in runs_of(planted[:, kind]):
            if last == first:
                continue
            here = velocities[first : last + 1, kind]
            speeds = np.linalg.norm(here - np.median(here, axis=0), axis=-1)
            body = np.linalg.norm(np.median(body_velocity[first : last + 1], axis=0))
            stands = min(max(BODY_PART * float(body), SLOWEST), FASTEST)
            start, stop = _trim(speeds, stands)
            holds.append(Hold(kind, (first, last), (first + start, first + stop)))
    return tuple(holds)


def _trim(speeds: FloatArray, stands: float) -> tuple[int, int]:
    """First and last index after the faster end was cut, again and again, while it moves."""
    first, last = 0, len(speeds) - 1
    spare = int((1.0 - KEPT) * len(speeds))
    for _ in range(spare):
        if max(speeds[first], speeds[last]) < stands:
            break
        if speeds[first] >= speeds[last]:
            first += 1
        else:
            last -= 1
    return first, last


def holding(holds: tuple[Hold, ...], n_frames: int) -> BoolArray:
    """Which points are held in each frame. Shape (F, 4)."""
    held = np.zeros((n_frames, 4), dtype=bool)
    for hold in holds:
        held[hold.span[0] : hold.span[1] + 1, hold.kind] = True
    return held
