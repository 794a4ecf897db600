"""Holds: the part of every labelled plant in which a foot point is really held.

A label reaches into the frames in which the foot still comes down or already leaves. To stop a
point there would need a jerk of the whole leg, so a hold leaves out such frames at the ends of its
plant, but never more than a stated part of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from motionloom._arrays import BoolArray, FloatArray
from motionloom.motion.contacts import runs_of

__all__ = ["KEPT", "Hold", "find_holds"]

KEPT = 0.86
"""At least this part of every plant is held."""
BODY_PART = 0.13
SLOWEST, FASTEST = 0.3, 0.45
"""A point stands below this part of the body's speed, within these bounds, m/s. Tighter bounds
leave out more frames of walks, whose points then speed up again while labelled."""


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
    """Fastest that the point moves in the label, beside the plant's even slide, m/s."""

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
    velocities, body_velocity = (
        np.ascontiguousarray(velocities),
        np.ascontiguousarray(body_velocity),
    )
    holds = []
    for kind in range(planted.shape[1]):
        for first, last in runs_of(planted[:, kind]):
            if last > first:
                start, stop, fastest = _trim(velocities, body_velocity, kind, first, last, KEPT)
                holds.append(Hold(kind, (first, last), (int(start), int(stop)), float(fastest)))
    return tuple(holds)


@njit(cache=True, error_model="numpy")
def _trim(
    velocities: FloatArray,
    body_velocity: FloatArray,
    kind: int,
    first: int,
    last: int,
    kept: float,
) -> tuple[int, int, float]:
    """First and last frame after the faster end was cut, again and again, while it moves."""
    n = last - first + 1
    quarter = n // 4
    slide, body = np.zeros(3), np.zeros(3)
    for f in range(first + quarter, last - quarter + 1):
        for c in range(3):
            slide[c] += velocities[f, kind, c] / (n - 2 * quarter)
            body[c] += body_velocity[f, c] / (n - 2 * quarter)
    speeds = np.zeros(n)
    for i in range(n):
        for c in range(3):
            speeds[i] += (velocities[first + i, kind, c] - slide[c]) ** 2
        speeds[i] = np.sqrt(speeds[i])
    stands = BODY_PART * np.sqrt(body[0] ** 2 + body[1] ** 2 + body[2] ** 2)
    stands = min(max(stands, SLOWEST), FASTEST)
    a, b = 0, n - 1
    for _ in range(int((1.0 - kept) * n)):
        if max(speeds[a], speeds[b]) < stands:
            break
        if speeds[a] >= speeds[b]:
            a += 1
        else:
            b -= 1
    return first + a, first + b, speeds.max()
