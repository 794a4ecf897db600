"""Release: contacts that clean-up gives up, because holding them breaks the motion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from motionloom._arrays import BoolArray
from motionloom.body.body_map import BodyMap
from motionloom.features.checks.failed_check import FailedCheck
from motionloom.motion.contacts import Footplants, runs_of
from motionloom.motion.motion import Motion

NEAR_S = 0.3
"""Contacts so close to a failed check may have caused it, seconds."""
TRIM_S, SHORTEST_S = 0.034, 0.05
"""A contact gives up so much at the end that is nearer to the failure; what is left shorter than
the second is given up whole. Seconds."""
LEG = ("hip", "knee", "ankle", "toe")


def released(
    footplants: Footplants, failed: Sequence[FailedCheck], motion: Motion, body: BodyMap
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
    planted = np.array(footplants.planted)
    for each in failed:
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
                _trim(planted[:, column], run, each.frame, motion.fps)
    if np.array_equal(planted, footplants.planted):
        return None
    return Footplants(planted)


def _apart(run: tuple[int, int], frame: int) -> int:
    """Frames from the nearer end of a contact."""
    return min(abs(frame - run[0]), abs(frame - run[1]))


def _trim(planted: BoolArray, run: tuple[int, int], frame: int, fps: float) -> None:
    """Give up the end of a contact that is nearer to a frame, or all of a short one."""
    first, last = run
    trim = max(1, round(TRIM_S * fps))
    if last - first + 1 - trim < SHORTEST_S * fps:
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
