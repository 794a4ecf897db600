"""Clearance: feet that pass too low over the floor between two contacts are lifted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.cleanup.blend_off import highest_nearby, nearness, spread_smoothly
from motionloom.features.checks.failed_check import FailedCheck
from motionloom.features.checks.soles import DRAG_SPEED
from motionloom.motion.contacts import KINDS, runs_of

STEP_M, MOST_M = 0.015, 0.06
"""Each try lifts a foot by the first more, and by no more than the second in all, metres."""
ABOUT, CM = 0.9, 100.0
"""Ways over the floor longer than this part of the limit are lifted with those that are too long;
limits are in centimetres."""
RISE_S = 0.1
"""Time over which a foot is lifted and comes down again, seconds."""
HELD_S = 0.08
"""A foot is lifted in full from so many seconds before and after its contacts."""
LEAST_M = 1e-4
"""Less is no lift, metres."""
BRIEF_S = 0.15
"""A foot that is free for a shorter time is not lifted, seconds: its leg would kick."""
LIFTED = ("dragged foot", "foot slip")
"""Checks that a foot may pass where it is lifted."""
STEPS = {"left foot": 0, "right foot": 1}
STEP_OVER_M = 0.04
"""A free foot that slips steps so high over the floor, metres: 2.5 cm over it, it still carries."""
LOW_M = (0.01, 0.015, 0.02, 0.03)
"""Heights over the floor at which a foot that was held is compared with the one that came in."""
FARTHER_M, FAR_M = 0.03, 0.05
"""A foot that moves below one of these heights by the first more than it did, and by the second or
more in all, passes lower than it did, metres."""


def lifted(
    lifts: FloatArray,
    failed: Sequence[FailedCheck],
    points: FloatArray,
    held: BoolArray,
    fps: float,
) -> FloatArray | None:
    """Lifts of both feet, higher where a foot is dragged; None where there is nothing to lift.

    Blends of feet in different phases of a step can pass lower than those of either source. A free
    foot that slips while it carries the body, because it stands in one clip only, makes a step.

    Parameters
    ----------
    lifts : (F, 2)
        So far, metres.
    failed
        Where the result fails its check.
    points : (F, 4, 3)
        Heels and balls of the result.
    held : (F, 4)
        Contacts: there a foot is not lifted.
    fps
        Frames per second.
    """
    more, left = np.zeros_like(lifts), MOST_M - lifts
    for each in failed:
        kind = each.joint.replace(" ", "_")
        if each.check == "foot slip" and each.joint in STEPS:
            side = STEPS[each.joint]
            rows = _free(held, side, each.frame)
            need = _step(points, side, rows)
            more[rows, side] = np.clip(need, 0.0, left[rows, side])
        elif each.check == "dragged foot" and kind in KINDS:
            point = KINDS.index(kind)
            for rows in _drags(points[:, point], each, fps):
                more[rows, point // 2] = np.clip(left[rows, point // 2].min(), 0.0, STEP_M)
    more = _smooth(more, held, fps)
    return lifts + more if more.max(initial=0.0) > LEAST_M else None


def _free(held: BoolArray, side: int, frame: int) -> slice:
    """Frames around one in which neither point of a foot is held (F, 4); none if one is there."""
    free = np.asarray(~(held[:, 2 * side] | held[:, 2 * side + 1]))
    runs = (slice(first, last + 1) for first, last in runs_of(free) if first <= frame <= last)
    return next(runs, slice(frame, frame))


def _step(points: FloatArray, side: int, rows: slice) -> FloatArray:
    """How much higher a foot must be in some frames to step over the floor, metres."""
    around = points[max(rows.start - 1, 0) : rows.stop + 1, :, 1]
    floor = float(around.min(axis=1).max())
    lowest = points[rows, 2 * side : 2 * side + 2, 1].min(axis=1)
    return np.asarray(floor + STEP_OVER_M - lowest)


def raised(
    before: FloatArray, after: FloatArray, floors: FloatArray, held: BoolArray, fps: float
) -> FloatArray | None:
    """Lifts (F, 2) of feet that pass lower over the floor than they did; None where none does.

    A foot that is held lower than it was captured comes down to its place, and leaves it, over a
    fifth of a second: on the way it may sweep the floor.

    Parameters
    ----------
    before, after : (F, 4, 3)
        Heels and balls as they came, and with their contacts held.
    floors : (4,)
        Heights below which they are on the floor, metres.
    held : (F, 4)
        Contacts: there a foot is not lifted.
    fps
        Frames per second.
    """
    need, near = np.zeros((len(before), 2)), round(RISE_S * fps)
    for point in range(4):
        lowered = before[:, point, 1] - after[:, point, 1]
        ways = [np.hypot(*np.diff(track[:, point, [0, 2]], axis=0).T) for track in (before, after)]
        for low in LOW_M:
            height = floors[point] + low
            far = [
                each
                for each in _sweeps(after[:, point, 1] < height, ways[1], fps)
                if each[2] > FAR_M
            ]
            captured = _sweeps(before[:, point, 1] < height, ways[0], fps) if far else []
            for first, last, way in far:
                own = (w for a, b, w in captured if a <= last + near and b >= first - near)
                if way > FARTHER_M + max(own, default=0.0):
                    rows = slice(first, last + 1)
                    need[rows, point // 2] = np.maximum(need[rows, point // 2], lowered[rows])
    lifts = _smooth(np.clip(need, 0.0, MOST_M), held, fps)
    return lifts if lifts.max(initial=0.0) > LEAST_M else None


def _sweeps(low: BoolArray, ways: FloatArray, fps: float) -> list[tuple[int, int, float]]:
    """First and last frame of each way of a point over the floor, and its length, metres.

    ``low`` (F,) is where it is near the floor, ``ways`` (F - 1,) what it goes from frame to frame.
    """
    fast = np.zeros(len(low), dtype=bool)
    fast[1:] = low[1:] & low[:-1] & (ways * fps > DRAG_SPEED)
    return [(a, b, float(ways[a - 1 : b].sum())) for a, b in runs_of(fast)]


def _smooth(lifts: FloatArray, held: BoolArray, fps: float) -> FloatArray:
    """Lifts (F, 2) that begin and end smoothly, and are 0 where a foot is held (F, 4).

    A foot that is free for a moment is not lifted.
    """
    half = max(1, round(0.5 * RISE_S * fps))
    smooth = np.zeros_like(lifts)
    for side in range(2):
        rise = spread_smoothly(highest_nearby(lifts[:, side], half), half)
        standing = held[:, 2 * side] | held[:, 2 * side + 1]
        smooth[:, side] = rise * (1.0 - nearness(standing, max(1.0, HELD_S * fps)))
        for first, last in runs_of(~standing):
            if last - first + 1 < BRIEF_S * fps:
                smooth[first : last + 1, side] = 0.0
    return smooth


def _drags(point: FloatArray, failed: FailedCheck, fps: float) -> Iterator[slice]:
    """Frames of all ways over the floor that are about as low and as long as the failed one.

    A check names the worst one only, and a gait has one in every step.
    """
    ways = np.hypot(*np.diff(point[:, [0, 2]], axis=0).T)
    first = failed.frame
    while first > 0 and ways[first - 1] * fps > DRAG_SPEED:
        first -= 1
    level = point[first : failed.frame + 1, 1].max()
    for first, last, way in _sweeps(point[:, 1] <= level, ways, fps):
        if way > ABOUT * failed.limit / CM or first <= failed.frame <= last:
            yield slice(first, last + 1)
