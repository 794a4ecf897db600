"""Holds: the part of every labelled plant in which a foot point is really held.

A label reaches into the frames in which the foot still comes down or already leaves. To stop a
point there would need a jerk of the whole leg, so a hold leaves out such frames at the ends of its
plant, but never more than a stated part of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom._core import kernel
from motionloom.motion.contacts import runs_of

_trim = kernel("ml_hold_trim")

KEPT = 0.86
"""At least this part of every plant is held."""


@dataclass(frozen=True, slots=True)
class Hold:
    """One plant, and the frames of it that are held."""

    kind: int
    """Column in :attr:`Footplants.planted`: left heel, left toe, right heel, right toe."""
    label: tuple[int, int]
    """First and last frame of the plant as it was labelled."""
    span: tuple[int, int]
    """First and last frame held."""
    own_speed: float = 0.0
    """Fastest that the point moves in the label, without the plant's even slide, m/s."""

    @property
    def n_frames(self) -> int:
        """Number of frames held."""
        return self.span[1] - self.span[0] + 1


def find_holds(
    velocities: FloatArray, planted: BoolArray, body_velocity: FloatArray
) -> tuple[Hold, ...]:
    """A hold for every plant of at least two frames, ordered by kind, then in time.

    Speeds count relative to the mean velocity in the middle half of the plant: a clip that skates
    as a whole slides through its plants at an even speed, and that is what clean-up is for.

    Parameters
    ----------
    velocities : (F, 4, 3)
        Of heels and balls, m/s.
    planted : (F, 4)
        The labels.
    body_velocity : (F, 3)
        Of the pelvis over the ground, m/s.
    """
    labels = [
        (kind, first, last)
        for kind in range(planted.shape[1])
        for first, last in runs_of(planted[:, kind])
        if last > first
    ]
    if not labels:
        return ()
    spans, fastest = np.zeros((len(labels), 2), dtype=np.int64), np.zeros(len(labels))
    _trim(
        len(velocities),
        np.ascontiguousarray(velocities, dtype=np.float64),
        np.ascontiguousarray(body_velocity, dtype=np.float64),
        len(labels),
        np.array(labels, dtype=np.int64),
        KEPT,
        spans,
        fastest,
    )
    return tuple(
        Hold(kind, (first, last), (start, stop), own)
        for (kind, first, last), (start, stop), own in zip(
            labels, spans.tolist(), fastest.tolist(), strict=True
        )
    )
