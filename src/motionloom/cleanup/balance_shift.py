"""Two corrections of balance: a shift of the body over its feet, and flights that fall freely."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom._core import kernel
from motionloom.features.balance import GRAVITY, SMOOTH_S, Support, way_to_support
from motionloom.motion.motion import runs_of

_solve = kernel("ml_spline_solve")

MOVED = 0.84
"""Part of the body's mass that a shift of the root moves: legs whose feet stand move by half."""
STILL = 0.3
"""Square of what a metre of shift counts, in metres of the point outside the soles."""
SMOOTH = 4e-7
"""The same of the shift's jerk, metres per second cubed."""
FREE_FALL = 1e-2
"""The same of its acceleration while the body flies, metres per second squared."""
ENDS = 1e3
"""The same of the shift at both ends of the clip, which stay where they are."""
FARTHEST_OUTSIDE_M = 0.25
"""A point farther outside the soles has a foot or a hand under it that is no known contact."""
EDGE_S = 0.25
"""Seconds at both ends of a clip that are not corrected: its first and last contacts are cut."""
ROUNDS = 40
"""Times that the nearest points of the soles are found again."""


class _Operators(NamedTuple):
    """Banded operators on a shift of F frames, as dense rows of their diagonals."""

    move: FloatArray
    """What the zero moment point moves by: rows of (before, at, after). (F, 3)"""
    normal: FloatArray
    """Left side of the normal equations, upper bands as ml_spline_solve takes them. (4, F)"""


def balance_shift(
    support: Support, heights: FloatArray, fps: float, *, allowed: float, flying: BoolArray
) -> FloatArray:
    """Shift (x, z) of the body over the ground, metres. Shape (F, 2).

    A body that is shifted by ``s`` moves its zero moment point by ``s - h / (g load) s''`` (the
    cart on a table). The shift minimises the squared distance from the point to the soles, plus a
    little of itself and of its jerk; distances up to ``allowed`` do not count.

    Parameters
    ----------
    support
        The zero moment point, and the soles.
    heights : (F,)
        Of the centre of mass over the ground, metres.
    fps
        Frames per second.
    allowed
        Distance outside the soles that is left as it is, metres.
    flying : (F,)
        Frames in which nothing touches the ground; the shift does not accelerate there.
    """
    n = len(heights)
    points, load = support.zero_moment.points, support.zero_moment.load
    distance = support.distance()
    counts = (np.nan_to_num(distance, nan=np.inf) <= FARTHEST_OUTSIDE_M) & ~near(
        flying, round(0.5 * SMOOTH_S * fps)
    )
    edge = round(EDGE_S * fps)
    counts[:edge] = False
    counts[n - edge :] = False
    if n < 8 or not counts.any():
        return np.zeros((n, 2))
    lever = np.where(counts, heights / (GRAVITY * np.maximum(np.nan_to_num(load), 0.2)), 0.0)
    operators = _operators(lever, fps, counts, flying)
    places = np.where(counts[:, None], points, 0.0)
    corners, used = support.corners, support.used & counts[:, None]
    shift = np.zeros((n, 2))
    for _ in range(ROUNDS):
        moved = _applied(operators.move, shift)
        way = way_to_support(places + moved, corners, used)
        far = np.linalg.norm(way, axis=-1)
        part = np.where(counts, 1.0 - allowed / np.maximum(np.nan_to_num(far), 1e-9), 0.0)
        wanted = moved + np.maximum(part, 0.0)[:, None] * np.nan_to_num(way)
        wanted[~counts] = 0.0
        shift = _transposed(operators.move, wanted)
        _solve(n, 2, operators.normal.copy(), shift)
    return shift


def _operators(lever: FloatArray, fps: float, counts: BoolArray, flying: BoolArray) -> _Operators:
    """The operators of a shift; see :class:`_Operators`."""
    n = len(lever)
    move = np.zeros((n, 3))
    move[:, 0] = move[:, 2] = -MOVED * lever * fps**2
    move[:, 1] = MOVED * (1.0 + 2.0 * lever * fps**2)
    move[~counts] = 0.0
    move[[0, -1]] = 0.0
    rows = [(move, -1), (np.full((n, 1), np.sqrt(STILL)), 0)]
    jerk = np.tile(np.sqrt(SMOOTH) * fps**3 * np.array([-1.0, 3.0, -3.0, 1.0]), (n, 1))
    jerk[[0, -1, -2]] = 0.0
    bend = np.outer(flying, np.sqrt(FREE_FALL) * fps**2 * np.array([1.0, -2.0, 1.0]))
    bend[[0, -1]] = 0.0
    ends = np.zeros((n, 1))
    ends[[0, 1, -2, -1]] = np.sqrt(ENDS)
    rows += [(jerk, -1), (bend, -1), (ends, 0)]
    normal = np.zeros((4, n))  # upper bands: normal[3 - k, j] is row j - k, column j
    for values, first in rows:
        width = values.shape[1]
        for i in range(width):
            for j in range(i, width):
                product = values[:, i] * values[:, j]
                columns = np.arange(n) + first + j
                inside = (columns >= 0) & (columns < n) & (columns - (j - i) >= 0)
                np.add.at(normal[3 - (j - i)], columns[inside], product[inside])
    return _Operators(move, normal)


def _applied(move: FloatArray, shift: FloatArray) -> FloatArray:
    """What the zero moment point moves by. (F, 2)."""
    out = move[:, 1, None] * shift
    out[1:-1] += move[1:-1, :1] * shift[:-2] + move[1:-1, 2:] * shift[2:]
    return np.asarray(out)


def _transposed(move: FloatArray, wanted: FloatArray) -> FloatArray:
    """Right side of the normal equations. (F, 2)."""
    out = move[:, 1, None] * wanted
    out[:-1] += move[1:, :1] * wanted[1:]
    out[1:] += move[:-1, 2:] * wanted[:-1]
    return np.asarray(out)


def near(flags: BoolArray, frames: int) -> BoolArray:
    """Frames at most ``frames`` away from a flagged one."""
    near = np.convolve(flags, np.ones(2 * frames + 1), mode="same") if len(flags) else flags
    return np.asarray(near[: len(flags)] > 0.5)


# --- Flights: where a body has left the ground, and how it would fall

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
