"""Seams: feet that stand at the first or the last frame of a transition.

They stand exactly where the clip before, or after, has them. A foot rolls from heel to ball, so
what is kept is not one place but no slide: from frame to frame, what stands does not move.
"""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom.transitions.compiled import inner, variable
from motionloom.transitions.making.rig import Rows

__all__ = [
    "far",
    "frames_for",
    "lowest_ball",
    "out_of_reach",
    "part_seams",
    "roll_on",
    "stand_at_seams",
]

RELEASE = 0.12
"""A foot is let go before the blend gets this far away from where it stands, metres."""
FOLLOWS = 3.0
"""Frames of the blend's way by which a foot that is let go falls behind while it takes up speed."""
GAP = 6
"""Frames kept at least between two stands of one foot."""
HURRY = 7.0
"""What going from stand to stand may add to a foot's acceleration, m/s²."""
PACE = 0.5
"""A foot goes from stand to stand at this part of the fastest that its clips' joints go."""
LABELLED = 0.45
"""A point that its clip moves faster than this does not stand, whatever its label says, m/s."""
SAME_PLACE = 0.02
"""Stands of both seams closer than this are one, and the foot creeps from one to the other."""
CREEP = 12
"""Frames that it needs for that."""
BELOW = 0.005
"""A foot that stands on its heel is let go where its ball would be this far in the ground,
metres."""
SINK = 0.05
STRETCH = 1.01
"""A place is in reach of a hip that is this much lower, as part of a leg, with a leg this long."""


@inner(error_model="numpy")
def far(foot: FloatArray, t: int, place: FloatArray) -> float:
    """Distance of a foot (L, 3) from a place in one frame, metres."""
    x, y, z = foot[t, 0] - place[0], foot[t, 1] - place[1], foot[t, 2] - place[2]
    return float(np.sqrt(x * x + y * y + z * z))


@inner(error_model="numpy")
def left_behind(foot: FloatArray, t: int, neighbour: int, place: FloatArray) -> float:
    """How far a foot gets from the blend's where it is let go, or taken, at a place, metres.

    The blend's foot goes on from there, or came, as fast as between ``t`` and its ``neighbour``.
    """
    return far(foot, t, place) + FOLLOWS * far(foot, t, foot[neighbour])


@inner(error_model="numpy")
def out_of_reach(
    foot: FloatArray, legs: FloatArray, reach: float, t: int, place: FloatArray
) -> bool:
    """Whether the leg is too short for its ball to be at a place; ``legs`` are ankles from hips."""
    x, z = legs[t, 0] + place[0] - foot[t, 0], legs[t, 2] + place[2] - foot[t, 2]
    y = min(legs[t, 1] + place[1] - foot[t, 1] + SINK * reach, 0.0)
    before = legs[t, 0] ** 2 + legs[t, 1] ** 2 + legs[t, 2] ** 2
    return bool(x * x + y * y + z * z > max(before, (STRETCH * reach) ** 2))


@inner(error_model="numpy")
def frames_for(
    foot: FloatArray,
    low: int,
    place_low: FloatArray,
    high: int,
    place_high: FloatArray,
    fps: float,
    speed: float,
) -> int:
    """Frames that a foot needs from one place to the next.

    So many that what it is hurried by beside the blend's own motion, and how fast it goes, stay in
    bounds; ``speed`` is the fastest joint of its clips, m/s.
    """
    change, way = 0.0, 0.0
    for c in range(3):
        step = place_high[c] - place_low[c]
        way += step * step
        step += foot[low, c] - foot[high, c]
        change += step * step
    hurry = np.sqrt(6.0 * fps * fps * np.sqrt(change) / HURRY)
    return max(GAP, int(np.ceil(max(hurry, fps * np.sqrt(way) / (PACE * speed)))))


@inner(error_model="numpy")
def _stands(rows: Rows, first: int, second: int, column: int, fps: float) -> bool:
    """Whether a foot point of a clip stands in two neighbouring rows."""
    if not (rows.planted[first, column] and rows.planted[second, column]):
        return False
    p, q = rows.points[first, column], rows.points[second, column]
    c, s = np.cos(rows.heading[first]), np.sin(rows.heading[first])
    d, r = np.cos(rows.heading[second]), np.sin(rows.heading[second])
    x = rows.ground[second, 0] - rows.ground[first, 0] + d * q[0] + r * q[2] - c * p[0] - s * p[2]
    z = rows.ground[second, 1] - rows.ground[first, 1] + d * q[2] - r * q[0] - c * p[2] + s * p[0]
    return bool(x * x + z * z < (LABELLED / fps) ** 2)


@inner(error_model="numpy")
def roll_on(
    rows: Rows,
    heel: FloatArray,
    ball: FloatArray,
    at: IntArray,
    way: int,
    side: int,
    fps: float,
    before: int,
    t: int,
    places: FloatArray,
) -> bool:
    """The ball's place at ``t`` from the one at ``before``: what stands in both does not move.

    False where neither heel nor ball stands in both.
    """
    first, second = at[before, way], at[t, way]
    on_ball = _stands(rows, first, second, 2 * side + 1, fps)
    on_heel = not on_ball and _stands(rows, first, second, 2 * side, fps)
    for c in range(3):
        shift = places[before, c] - ball[before, c]
        if on_ball:
            shift += ball[before, c] - ball[t, c]
        elif on_heel:
            shift += heel[before, c] - heel[t, c]
        places[t, c] = ball[t, c] + shift
    return on_ball or on_heel


@inner(error_model="numpy")
def lowest_ball(rows: Rows, at: IntArray, way: int, side: int) -> float:
    """How low a ball gets in its window, less what it may be below, metres."""
    low = rows.points[at[0, way], 2 * side + 1, 1]
    for t in range(1, len(at)):
        low = min(low, rows.points[at[t, way], 2 * side + 1, 1])
    return float(low - BELOW)


@inner(error_model="numpy")
def stand_at_seams(
    rows: Rows,
    at: IntArray,
    side: int,
    heel: FloatArray,
    ball: FloatArray,
    legs: FloatArray,
    reach: float,
    fps: float,
    speed: float,
    source: FloatArray,
    target: FloatArray,
) -> tuple[int, int]:
    """Last frame of the source's stand at frame 0, first one of the target's at the end.

    ``-1`` and ``L`` where there is none. A stand ends where the blend's foot is gone from it or
    the leg too short, and before it keeps the foot from being at the other seam in time.

    Parameters
    ----------
    rows
        Of the collection.
    at : (L, N)
        Rows of the windows.
    side
        0 left, 1 right.
    heel, ball, legs : (L, 3)
        The blend's foot, and its ankle seen from its hip.
    reach
        Length of the leg, metres.
    fps, speed
        Frames per second; fastest joint of the clips, m/s.
    source, target : (L, 3)
        Filled: places of the ball in the source's and in the target's stand.
    """
    n_frames, n_ways = at.shape
    end = n_frames - 1
    for c in range(3):
        source[0, c], target[end, c] = ball[0, c], ball[end, c]
    begin, last, first = variable(0), variable(-1), n_frames
    low_source = lowest_ball(rows, at, begin, side)
    low_target = lowest_ball(rows, at, n_ways - 1, side)
    for t in range(n_frames):
        row = at[t, 0]
        if not (rows.planted[row, 2 * side] or rows.planted[row, 2 * side + 1]):
            break
        if t > 0 and not roll_on(rows, heel, ball, at, begin, side, fps, t - 1, t, source):
            break
        if source[t, 1] < low_source:
            break
        behind = left_behind(ball, t, max(t - 1, 0), source[t])
        if behind > RELEASE or out_of_reach(ball, legs, reach, t, source[t]):
            break
        last = t
    for t in range(end, -1, -1):
        row = at[t, n_ways - 1]
        if not (rows.planted[row, 2 * side] or rows.planted[row, 2 * side + 1]):
            break
        if t < end and not roll_on(rows, heel, ball, at, n_ways - 1, side, fps, t + 1, t, target):
            break
        if target[t, 1] < low_target:
            break
        behind = left_behind(ball, t, min(t + 1, end), target[t])
        if behind > RELEASE or out_of_reach(ball, legs, reach, t, target[t]):
            break
        first = t
    while last > 0 and end - last < frames_for(
        ball, last, source[last], end, ball[end], fps, speed
    ):
        last -= 1
    while first < end and first < frames_for(
        ball, begin, ball[0], first, target[first], fps, speed
    ):
        first += 1
    return last, first


@inner(error_model="numpy")
def part_seams(
    last: IntArray,
    first: IntArray,
    soles: FloatArray,
    source: FloatArray,
    target: FloatArray,
    fps: float,
    speed: float,
) -> None:
    """Make room for a step where a foot stands at both seams; both feet do not step at once.

    Where the two stands are one place, ``source`` goes over to ``target`` instead: then ``first``
    is ``last + 1``. Shapes (2,), and (2, 2, L, 3) of ``soles``, (2, L, 3) of the others.
    """
    n_frames = soles.shape[2]
    steps, ways = np.zeros(2, np.bool_), np.zeros(2)
    for side in range(2):
        a, b = first[side], last[side]
        if b < 0 or a >= n_frames or a > b:
            steps[side] = b >= 0 and a < n_frames
            continue
        middle = (a + b) // 2
        ways[side] = far(source[side], middle, target[side, middle])
        if ways[side] <= SAME_PLACE and b - a >= CREEP:
            for t in range(a, b + 1):
                u = (t - a) / (b - a)
                u = u * u * (3.0 - 2.0 * u)
                for c in range(3):
                    source[side, t, c] += u * (target[side, t, c] - source[side, t, c])
            first[side] = b + 1
        else:
            steps[side] = True
    stood = first <= last  # before either foot is parted
    for side in range(2):
        if steps[side]:
            other = 1 - side
            early = ways[side] > ways[other] or (ways[side] == ways[other] and side == 0)
            staggered = steps[other] and stood[other]
            _part(side, last, first, soles, source, target, fps, speed, staggered, early)


@inner(error_model="numpy")
def _part(
    side: int,
    last: IntArray,
    first: IntArray,
    soles: FloatArray,
    source: FloatArray,
    target: FloatArray,
    fps: float,
    speed: float,
    staggered: bool,
    early: bool,
) -> None:
    """Let go of frames of one foot's two stands until there is time for its step."""
    n_frames = soles.shape[2]
    ball, low, high = soles[side, 1], last[side], first[side]
    if high <= low:
        middle = n_frames // 2
        if staggered:
            middle = int((0.3 if early else 0.7) * n_frames)
        else:
            for t in range(high, low + 1):
                if far(ball, t, source[side, t]) > far(ball, t, target[side, t]):
                    middle = t
                    break
        middle = min(max(middle, high), low)
        low, high = middle, middle + 1
    while high - low < frames_for(
        ball, low, source[side, low], high, target[side, high], fps, speed
    ):
        # The end that is farther from the blend gives way, as long as it has frames.
        nearer = far(ball, low, source[side, low]) < far(ball, high, target[side, high])
        if low > 0 and (high == n_frames - 1 or not nearer):
            low -= 1
        elif high < n_frames - 1:
            high += 1
        else:
            break
    last[side], first[side] = low, high
