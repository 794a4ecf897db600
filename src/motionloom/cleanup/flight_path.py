"""Flights: where a body has left the ground, and how it would fall."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.features.balance import GRAVITY
from motionloom.motion.contacts import runs_of

SHORTEST_S = 0.12
"""A flight that can be measured: a parabola through a shorter one is unreliable."""
LEAST_FRAMES = 4
"""The same at low rates: a parabola goes through any three points."""
CLEAR_M = 0.05
"""Both feet must be this far over where they stand; lower ones may still push off or land."""
FALLS = 0.5
"""A body that falls with less than this part of gravity is held by something: hands, a swing."""
FARTHEST_M = 0.1
"""The centre of mass of a flight moves no farther; captured jumps need at most 6 cm. Small bodies
have a lower limit."""
LEAST_PART = 0.5
"""Where less than this part of a correction is within that distance, the flight is left."""
RUN_OUT_S = 0.12
"""Seconds before and after a flight over which the body takes up its velocity."""


class Flight(NamedTuple):
    """A flight, and how much of it is corrected."""

    first: int
    """Frames, both in it."""
    last: int
    carried: bool
    """Whether it falls too slowly for a body that nothing holds."""
    distance: float
    """How far its centre of mass is from its place in free fall, metres."""
    farthest: float
    """How far it may be moved, metres."""

    @property
    def part(self) -> float:
        """Part of that distance that may be corrected."""
        part = min(1.0, self.farthest / max(self.distance, self.farthest))
        return 0.0 if self.carried or part < LEAST_PART else part

    def note(self, applied: float = 1.0) -> str:
        """Why it is not wholly corrected; empty where all of it may be corrected.

        ``applied`` is the part of all corrections of the motion that is applied.
        """
        if self.part == 1.0:
            return ""
        name = f"the flight of frames {self.first} to {self.last}"
        if self.carried:
            return f"{name} is left: something seems to carry the body"
        verb = f"is corrected by {100.0 * applied * self.part:.0f} %" if self.part else "is left"
        text = (
            f"{name} {verb}: in free fall its centre of mass would be up to "
            f"{100.0 * self.distance:.3g} cm from where it is, and it is moved by at most "
            f"{100.0 * self.farthest:.3g} cm"
        )
        if self.part and applied < 1.0:
            text += f", of which {100.0 * applied:.0f} % is applied"
        return text


class FlightPath(NamedTuple):
    """What makes the flights of a motion ballistic."""

    flying: FloatArray
    """Shift of the whole body in flight, metres. (F, 3)"""
    standing: FloatArray
    """Shift of the root before and after, with feet where they are, metres. (F, 3)"""
    flights: tuple[Flight, ...]
    """All flights, those that are left as they are included."""


def flights_of(points: FloatArray, planted: BoolArray, fps: float) -> list[tuple[int, int]]:
    """First and last frame of every stretch in which both feet are well above the ground.

    Parameters
    ----------
    points : (F, 4, 3)
        Left heel, left ball, right heel, right ball.
    planted : (F, 4)
        Which of them stand.
    fps
        Frames per second.
    """
    if not planted.any():
        return []
    ground = float(np.median(points[..., 1][planted]))
    stands = [
        float(np.median(points[planted[:, k], k, 1])) if planted[:, k].any() else ground
        for k in range(points.shape[1])
    ]
    clear = ~planted.any(axis=1) & (points[..., 1] > np.array(stands) + CLEAR_M).all(axis=1)
    least = max(LEAST_FRAMES, SHORTEST_S * fps)
    return [(a, b) for a, b in runs_of(np.asarray(clear)) if b - a + 1 >= least]


def fall_of(heights: FloatArray, fps: float) -> float:
    """Acceleration of a centre of mass by the parabola that fits its heights best, m/s2."""
    return 2.0 * float(np.polyfit(np.arange(len(heights)) / fps, heights, 2)[0])


def flight_path(
    centre: FloatArray, spans: list[tuple[int, int]], fps: float, farthest: float = FARTHEST_M
) -> FlightPath:
    """Shifts that let the centre of mass fall freely from take-off to landing.

    See :class:`Flight` for those that are corrected in part, or left.

    Parameters
    ----------
    centre : (F, 3)
        Centre of mass, metres.
    spans
        First and last frames of the flights; the body is where it is in these two frames.
    fps
        Frames per second.
    farthest
        How far the centre of mass may be moved, metres.
    """
    n, run_out = len(centre), max(2, round(RUN_OUT_S * fps))
    flying, standing, flights = np.zeros((n, 3)), np.zeros((n, 3)), list[Flight]()
    for first, last in spans:
        time = np.arange(last - first + 1) / fps
        path = centre[first : last + 1]
        straight = path[0] + (time / time[-1])[:, None] * (path[-1] - path[0])
        straight[:, 1] += 0.5 * GRAVITY * time * (time[-1] - time)
        shift = straight - path
        carried = fall_of(path[:, 1], fps) > -FALLS * GRAVITY
        distance = float(np.linalg.norm(shift, axis=-1).max())
        flight = Flight(first, last, carried, distance, farthest)
        flights.append(flight)
        shift *= flight.part
        flying[first : last + 1] += shift
        # Before and after, the root takes up the velocity that the shift has at its ends.
        for edge, step, slope in (
            (first, -1, shift[1] - shift[0]),
            (last, 1, shift[-2] - shift[-1]),
        ):
            for k in range(1, run_out):
                frame, part = edge + step * k, 1.0 - k / run_out
                if 0 <= frame < n:
                    standing[frame] -= run_out * slope * part**2 * (1.0 - part)
    return FlightPath(flying, standing, tuple(flights))
