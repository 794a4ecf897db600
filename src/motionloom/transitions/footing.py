"""Footing: where and when the feet of a transition stand.

What stands at the first frame stands where the source left it, what stands at the last one where
the target wants it; the plants of all windows between are taken in the order of how well the blend
agrees with them ([I7]_ section 4), each whole or not at all, with room for a step between two.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom.transitions.frames import FloatArray32

__all__ = ["NOT_HELD", "choose_plants"]

NOT_HELD = -1
MOST_PLANTS = 48
"""Candidates of one foot that are looked at; a second of dancing has fewer than ten a window."""

FARTHEST = 0.1524
"""A plant is left where the blend's foot would be farther from it in the mean, metres (6 in)."""
RELEASE = 0.12
"""A plant at a seam is let go where the blend's foot has gone this far from it, metres."""
GAP = 6
"""Frames kept between two plants of one foot."""
SHORTEST = 4
"""Frames that a plant must have left."""
SAME_PLACE = 0.02
"""Plants of both seams closer than this are one, and the foot creeps from one to the other."""
STEP_S = 0.15
STEP_SPEED = 1.6
"""A foot that must step between two plants takes this long, and longer by its way at this speed."""


@njit(cache=True, error_model="numpy")
def _fit(
    points: FloatArray32,
    at: IntArray,
    way: int,
    column: int,
    psi: FloatArray,
    root: FloatArray,
    foot: FloatArray,
    first: int,
    last: int,
    place: FloatArray,
) -> float:
    """Mean place (3,) of a window's planted point in the blend, and the blend's mean distance."""
    place[:] = 0.0
    for t in range(first, last + 1):
        p = points[at[t, way], column]
        cos, sin = np.cos(psi[t]), np.sin(psi[t])
        place[0] += root[t, 0] + cos * p[0] + sin * p[2]
        place[1] += p[1]
        place[2] += root[t, 2] + cos * p[2] - sin * p[0]
    n = last - first + 1
    for c in range(3):
        place[c] /= n
    off = 0.0
    for t in range(first, last + 1):
        off += np.hypot(foot[t, 0] - place[0], foot[t, 2] - place[2])
    return off / n


@njit(cache=True, error_model="numpy")
def _far(foot: FloatArray, t: int, place: FloatArray) -> float:
    x, y, z = foot[t, 0] - place[0], foot[t, 1] - place[1], foot[t, 2] - place[2]
    return float(np.sqrt(x * x + y * y + z * z))


@njit(cache=True, error_model="numpy")
def _seam_spans(planted: BoolArray, at: IntArray, column: int, foot: FloatArray) -> tuple[int, int]:
    """Last frame of the source's plant at frame 0, first one of the target's at the end.

    ``-1`` and ``L`` where there is none. A plant ends where the blend's foot is gone from it.
    """
    n_frames, n_ways = at.shape
    last, first = -1, n_frames
    while last + 1 < n_frames and planted[at[last + 1, 0], column]:
        if _far(foot, last + 1, foot[0]) > RELEASE:
            break
        last += 1
    while first > 0 and planted[at[first - 1, n_ways - 1], column]:
        if _far(foot, first - 1, foot[n_frames - 1]) > RELEASE:
            break
        first -= 1
    return last, first


@njit(cache=True, error_model="numpy")
def _part_seams(
    last: IntArray, first: IntArray, feet: FloatArray, creeps: BoolArray, fps: float
) -> None:
    """Make room for a step where a foot stands at both seams; both feet never step at once."""
    n_frames = feet.shape[1]
    both = np.zeros(2, np.bool_)
    ways = np.zeros(2)
    for side in range(2):
        ways[side] = _far(feet[side], 0, feet[side, n_frames - 1])
        wide = min(int(np.ceil(fps * (STEP_S + ways[side] / STEP_SPEED))), n_frames - 2 * SHORTEST)
        meets = last[side] >= 0 and first[side] < n_frames
        both[side] = meets and first[side] - last[side] <= wide
        creeps[side] = meets and ways[side] <= SAME_PLACE and first[side] - last[side] <= GAP
    for side in range(2):
        if not both[side] or creeps[side]:
            continue
        other = 1 - side
        wide = min(int(np.ceil(fps * (STEP_S + ways[side] / STEP_SPEED))), n_frames - 2 * SHORTEST)
        if both[other] and not creeps[other]:
            early = ways[side] > ways[other] or (ways[side] == ways[other] and side == 0)
            middle = 0.3 * n_frames if early else 0.7 * n_frames
        else:
            middle = 0.5 * n_frames
            for t in range(n_frames):
                if _far(feet[side], t, feet[side, 0]) > _far(
                    feet[side], t, feet[side, n_frames - 1]
                ):
                    middle = float(t)
                    break
        low = int(np.floor(middle - 0.5 * wide))
        low = min(max(low, SHORTEST), n_frames - 1 - wide - SHORTEST)
        if low < last[side]:
            last[side] = low
        if low + wide > first[side]:
            first[side] = low + wide


@njit(cache=True, error_model="numpy")
def choose_plants(
    points: FloatArray32,
    planted: BoolArray,
    at: IntArray,
    psi: FloatArray,
    root: FloatArray,
    feet: FloatArray,
    fps: float,
    held: IntArray,
    places: FloatArray,
) -> float:
    """Which plant each ball is held by, and where; the mean distance of the blend from them.

    Parameters
    ----------
    points, planted
        Of the collection.
    at : (L, N)
        Rows of the windows.
    psi, root
        The blend's track.
    feet : (2, L, 3)
        Balls of the blend's feet, metres.
    fps
        Frames per second.
    held : (2, L)
        Filled: number of the plant, or ``NOT_HELD``.
    places : (2, L, 3)
        Filled: where the ball is to be in frames held.
    """
    n_frames, _n_ways = at.shape
    last, first = np.zeros(2, np.int64), np.zeros(2, np.int64)
    creeps = np.zeros(2, np.bool_)
    for side in range(2):
        held[side, :] = NOT_HELD
        last[side], first[side] = _seam_spans(planted, at, 2 * side + 1, feet[side])
    _part_seams(last, first, feet, creeps, fps)
    total, count = 0.0, 0
    for side in range(2):
        foot, column = feet[side], 2 * side + 1
        if creeps[side]:
            for t in range(n_frames):
                u = t / (n_frames - 1.0)
                u = u * u * (3.0 - 2.0 * u)
                held[side, t] = 0
                for c in range(3):
                    places[side, t, c] = (1.0 - u) * foot[0, c] + u * foot[n_frames - 1, c]
                total += _far(foot, t, places[side, t])
            count += n_frames
            continue
        for t in range(last[side] + 1):
            held[side, t] = 0
            places[side, t] = foot[0]
            total += _far(foot, t, foot[0])
        for t in range(first[side], n_frames):
            held[side, t] = 1
            places[side, t] = foot[n_frames - 1]
            total += _far(foot, t, foot[n_frames - 1])
        count += last[side] + 1 + n_frames - first[side]
        more, frames_held = _fill(
            points, planted, at, column, psi, root, foot, fps, held[side], places[side]
        )
        total += more
        count += frames_held
    return total / max(count, 1)


@njit(cache=True, error_model="numpy")
def _fill(
    points: FloatArray32,
    planted: BoolArray,
    at: IntArray,
    column: int,
    psi: FloatArray,
    root: FloatArray,
    foot: FloatArray,
    fps: float,
    held: IntArray,
    places: FloatArray,
) -> tuple[float, int]:
    """Plants between those of the seams, the best agreed first; their distances and frames."""
    n_frames, n_ways = at.shape
    spans, errors = np.zeros((MOST_PLANTS, 3), np.int64), np.zeros(MOST_PLANTS)
    place = np.zeros(3)
    n = 0
    for i in range(n_ways):
        t = 0
        while t < n_frames:
            if not planted[at[t, i], column]:
                t += 1
                continue
            a = t
            while t < n_frames and planted[at[t, i], column]:
                t += 1
            if t - a >= SHORTEST and n < MOST_PLANTS:
                spans[n, 0], spans[n, 1], spans[n, 2] = i, a, t - 1
                errors[n] = _fit(points, at, i, column, psi, root, foot, a, t - 1, place)
                n += 1
    total, count, off = 0.0, 0, 0.0
    for number in range(n):
        k = 0
        for m in range(1, n):
            if errors[m] < errors[k]:
                k = m
        if errors[k] >= 1e9:
            break
        i, a, b = spans[k]
        errors[k] = 1e9
        room = GAP
        for _ in range(2):  # what is free of it; then with room to come from elsewhere, and go
            while a <= b and _taken(held, a, room):
                a += 1
            while b >= a and _taken(held, b, room):
                b -= 1
            if b - a + 1 < SHORTEST:
                break
            off = _fit(points, at, i, column, psi, root, foot, a, b, place)
            room = GAP + int(fps * off / STEP_SPEED)
        if b - a + 1 < SHORTEST or off > FARTHEST or _crossed(held, a, b):
            continue
        total += off * (b - a + 1)
        count += b - a + 1
        for t in range(a, b + 1):
            held[t] = number + 2
            places[t] = place
    return total, count


@njit(cache=True, error_model="numpy")
def _taken(held: IntArray, t: int, room: int) -> bool:
    """Whether a frame is nearer than ``room`` to one that is held, or to a seam."""
    if t < room or t >= len(held) - room:
        return True
    return _crossed(held, t - room, t + room)


@njit(cache=True, error_model="numpy")
def _crossed(held: IntArray, first: int, last: int) -> bool:
    t = first
    while t <= last and held[t] == NOT_HELD:
        t += 1
    return t <= last
