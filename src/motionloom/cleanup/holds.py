"""Holds: the part of every labelled plant in which a foot point is really held, and where.

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
_place = kernel("ml_hold_place")

KEPT = 0.86
"""At least this part of every plant is held."""
NEAR_S = 0.12
"""Holds of one foot closer in time than this are placed together."""


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


def fit_targets(
    holds: tuple[Hold, ...], points: FloatArray, velocities: FloatArray, fps: float
) -> tuple[FloatArray, FloatArray]:
    """One place per hold (N, 3), and how far its point strays from it (N,), metres.

    A place is the mean of the point over the whole hold, height included, where frames at rest
    count most: what stands already stays where it is. Heel and ball that are held together get
    places exactly as far apart as they are in the foot. Holds of one foot that follow each other
    within a short time are drawn towards the step between them that the motion has, so that the
    foot need not jump in the gap.

    Parameters
    ----------
    holds
        N of them, of both feet.
    points, velocities : (F, 4, 3)
        Heels and balls in the world, metres and metres a second.
    fps
        Frames per second.
    """
    if not holds:
        return np.zeros((0, 3)), np.zeros(0)
    spans = np.array([(hold.kind, *hold.span) for hold in holds], dtype=np.int64)
    foot = spans[:, 0] // 2
    order = np.lexsort((spans[:, 2], spans[:, 1], foot))  # by foot, then in time
    places, strays = np.zeros((len(holds), 3)), np.zeros(len(holds))
    _place(
        len(points),
        np.ascontiguousarray(points, dtype=np.float64),
        np.ascontiguousarray(velocities, dtype=np.float64),
        len(holds),
        spans,
        order,
        int(np.sum(foot == 0)),
        NEAR_S * fps,
        np.zeros(len(points)),
        places,
        strays,
    )
    return places, strays
