"""Release: contacts that clean-up gives up, because holding them breaks the motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray
from motionloom.body.body_map import BodyMap
from motionloom.features.checks.failed_check import FailedCheck
from motionloom.motion.contacts import Footplants, runs_of
from motionloom.motion.motion import Motion

NEAR_S = 0.3
"""Contacts so close to a failed check may have caused it, seconds."""
TRIM_S, SHORTEST_S = 0.034, 0.05
"""A contact gives up so much at the end that is nearer to the failure, and twice as much each time
that this did not help; what is left shorter than the second is given up whole. Seconds."""
MOST_TIMES = 8
"""Contacts that gave up so many times the usual length without any help are not the cause."""
SAME_S = 0.1
"""A check that fails at most so far from where it failed before fails again, seconds."""
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
        """For what a try still fails: twice as much as before where the same check fails again.

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
    planted = np.array(footplants.planted)
    for each, times in failed:
        nearest = [
            (_apart(run, each.frame), column, run)
            for side in _sides(each, motion, body)
            for column in (2 * side, 2 * side + 1)
            for run in runs_of(footplants.planted[:, column])
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
