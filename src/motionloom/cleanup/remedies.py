"""Remedies for failed checks: feet that pass too low are lifted, contacts are released.

:mod:`motionloom.cleanup.footskate` cleans a motion again with these, until it passes its check.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.body.body_map import BodyMap
from motionloom.cleanup.blend_off import highest_nearby, nearness, spread_smoothly
from motionloom.features.checks.source_limits import DRAG_SPEED
from motionloom.features.checks.verification import FailedCheck
from motionloom.motion.contacts import KINDS, Footplants, column_runs, runs_of
from motionloom.motion.motion import Motion

STEP_M, MOST_M = 0.015, 0.06
"""Each try lifts a foot by the first more, and by no more than the second in all, metres."""
ABOUT, CM = 0.9, 100.0
"""Ways over the floor longer than this part of the limit are lifted with those that are too long;
limits are in centimetres."""
RISE_S = 0.1
"""Time over which a foot is lifted and comes down again, seconds."""
HELD_S = 0.08
"""A foot is lifted in full at least this long before and after its contacts, seconds."""
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
Sweep = tuple[int, int, float]
"""First and last frame of a sweep of a point over the floor, and its length, metres."""
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
    lowered = before[..., 1] - after[..., 1]
    low = np.repeat(floors, len(LOW_M)) + np.tile(LOW_M, 4)
    swept = [_sweeps_below(track, low, fps) for track in (before, after)]
    for k, (captured, sweeps) in enumerate(zip(*swept, strict=True)):
        point = k // len(LOW_M)
        for first, last, way in sweeps:
            own = (w for a, b, w in captured if a <= last + near and b >= first - near)
            if way > FAR_M and way > FARTHER_M + max(own, default=0.0):
                rows = slice(first, last + 1)
                need[rows, point // 2] = np.maximum(need[rows, point // 2], lowered[rows, point])
    lifts = _smooth(np.clip(need, 0.0, MOST_M), held, fps)
    return lifts if lifts.max(initial=0.0) > LEAST_M else None


def _sweeps_below(points: FloatArray, low: FloatArray, fps: float) -> list[list[Sweep]]:
    """Sweeps of P points (F, P, 3) below each of H heights (P * H,)."""
    each = len(low) // points.shape[1]
    ways = [np.hypot(*np.diff(points[:, p, [0, 2]], axis=0).T) for p in range(points.shape[1])]
    heights = np.repeat(points[..., 1], each, axis=1)
    return _sweeps(heights < low, [ways[k // each] for k in range(len(low))], fps)


def _sweeps(low: BoolArray, ways: Sequence[FloatArray], fps: float) -> list[list[Sweep]]:
    """Sweeps of N points over the floor.

    ``low`` (F, N) is where they are near the floor, each of ``ways`` (F - 1,) what one goes from
    frame to frame.
    """
    fast = np.zeros(low.shape, dtype=bool)
    fast[1:] = low[1:] & low[:-1] & (np.stack(ways, axis=1) * fps > DRAG_SPEED)
    return [
        [(a, b, float(way[a - 1 : b].sum())) for a, b in runs]
        for way, runs in zip(ways, column_runs(fast), strict=True)
    ]


def _smooth(lifts: FloatArray, held: BoolArray, fps: float) -> FloatArray:
    """Lifts (F, 2) that begin and end smoothly, and are 0 where a foot is held (F, 4).

    A foot that is free for a moment is not lifted.
    """
    half = max(1, round(0.5 * RISE_S * fps))
    smooth = np.zeros_like(lifts)
    standing = held[:, 0::2] | held[:, 1::2]
    for side, free in enumerate(column_runs(~standing)):
        rise = spread_smoothly(highest_nearby(lifts[:, side], half), half)
        smooth[:, side] = rise * (1.0 - nearness(standing[:, side], max(1.0, HELD_S * fps)))
        for first, last in free:
            if last - first + 1 < BRIEF_S * fps:
                smooth[first : last + 1, side] = 0.0
    return smooth


def _drags(point: FloatArray, failed: FailedCheck, fps: float) -> Iterator[slice]:
    """Frames of all sweeps over the floor that are about as low and as long as the failed one.

    A check names the worst one only, and a gait has one in every step.
    """
    ways = np.hypot(*np.diff(point[:, [0, 2]], axis=0).T)
    first = failed.frame
    while first > 0 and ways[first - 1] * fps > DRAG_SPEED:
        first -= 1
    level = point[first : failed.frame + 1, 1].max()
    for first, last, way in _sweeps(point[:, 1:2] <= level, [ways], fps)[0]:
        if way > ABOUT * failed.limit / CM or first <= failed.frame <= last:
            yield slice(first, last + 1)


# --- Contacts that are released, because holding them breaks the motion

NEAR_S = 0.3
"""A contact at most this far from a failed check may have caused it, seconds."""
TRIM_S, SHORTEST_S = 0.034, 0.05
"""A contact loses the first at the end that is nearer to the failure, and twice as much each time
that this did not help. A contact that would be shorter than the second is released. Seconds."""
MOST_TIMES = 8
"""Contacts that lost 8 times the usual length without any help are not the cause."""
SAME_S = 0.1
"""A check that fails at most this far from where it failed before fails again, seconds."""
TRAVELS = ("stall", "launch", "direction", "travel speed", "heading", "head turn")
"""Checks of how the body travels, which contacts of feet do not cause."""
LEG = ("hip", "knee", "ankle", "toe")


class Release(NamedTuple):
    """A failed check for which contacts are released."""

    failed: FailedCheck
    times: int
    """How many times the usual length contacts give up for it."""


class Releases:
    """Which failed checks contacts are released for, try after try."""

    def __init__(self, fps: float) -> None:
        self._near = SAME_S * fps
        self._last: dict[tuple[str, str], Release] = {}

    def after(self, failed: Sequence[FailedCheck]) -> list[Release]:
        """Releases for the checks that a try fails: twice as much where the same check fails again.

        Left out are checks of travel, and those that stayed whatever was given up.
        """
        now = [self._again(each) for each in failed if each.check not in TRAVELS]
        self._last = {(each.failed.check, each.failed.joint): each for each in now}
        return [each for each in now if each.times <= MOST_TIMES]

    def _again(self, failed: FailedCheck) -> Release:
        last = self._last.get((failed.check, failed.joint))
        stays = last is not None and abs(last.failed.frame - failed.frame) <= self._near
        return Release(failed, 2 * last.times if last is not None and stays else 1)


def released(
    footplants: Footplants, failed: Sequence[Release], motion: Motion, body: BodyMap
) -> Footplants | None:
    """The contacts without the ends that are nearest to failed checks; None where none is near.

    A check that fails in one leg trims contacts of its own foot, any other those of both feet.

    Parameters
    ----------
    footplants
        What was held.
    failed
        Where the result fails.
    motion, body
        For its rate and the sides of its joints.
    """
    trim = max(1, round(TRIM_S * motion.fps))
    planted, plants = np.array(footplants.planted), column_runs(footplants.planted)
    for each, times in failed:
        nearest = [
            (_apart(run, each.frame), column, run)
            for side in _sides(each, motion, body)
            for column in (2 * side, 2 * side + 1)
            for run in plants[column]
        ]
        near = min(nearest, default=None)
        if near is None or near[0] > NEAR_S * motion.fps:
            continue
        for away, column, run in nearest:
            if away <= near[0] + 2:  # heel and ball of one stance
                shortest = SHORTEST_S * motion.fps
                _trim(planted[:, column], run, each.frame, times * trim, shortest)
    if np.array_equal(planted, footplants.planted):
        return None
    return Footplants(planted)


def _apart(run: tuple[int, int], frame: int) -> int:
    """Frames from the nearer end of a contact."""
    return min(abs(frame - run[0]), abs(frame - run[1]))


def _trim(planted: BoolArray, run: tuple[int, int], frame: int, trim: int, shortest: float) -> None:
    """Give up the end of a contact that is nearer to a frame, or all of one that gets short."""
    first, last = run
    if last - first + 1 - trim < shortest:
        planted[first : last + 1] = False
    elif abs(frame - first) <= abs(frame - last):
        planted[first : first + trim] = False
    else:
        planted[last + 1 - trim : last + 1] = False


def _sides(failed: FailedCheck, motion: Motion, body: BodyMap) -> tuple[int, ...]:
    """0 for the left foot, 1 for the right one, or both."""
    for number, side in enumerate(("left", "right")):
        joints = [getattr(body, f"{side}_{role}") for role in LEG]
        names = {motion.skeleton.names[joint] for joint in joints if joint is not None}
        if failed.joint in names or failed.joint.startswith(f"{side} "):
            return (number,)
    return (0, 1)
