"""Release: contacts that clean-up gives up, because holding them breaks the motion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from motionloom.features.checks.failed import FailedCheck
from motionloom.motion.body import BodyMap
from motionloom.motion.contacts import Footplants, runs_of
from motionloom.motion.motion import Motion

__all__ = ["released"]

NEAR_S = 0.3
"""Contacts so close to a failed check may have caused it, seconds."""
LEG = ("hip", "knee", "ankle", "toe")


def released(
    footplants: Footplants, failed: Sequence[FailedCheck], motion: Motion, body: BodyMap
) -> Footplants | None:
    """The contacts without those near a failed check; None where there are none near.

    A check that fails in one leg releases contacts of its own foot, any other those of both feet.

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
    near = round(NEAR_S * motion.fps)
    for each in failed:
        for side in _sides(each, motion, body):
            for column in (2 * side, 2 * side + 1):
                for first, last in runs_of(footplants.planted[:, column]):
                    if first - near <= each.frame <= last + near:
                        planted[first : last + 1, column] = False
    if np.array_equal(planted, footplants.planted):
        return None
    return Footplants(planted)


def _sides(failed: FailedCheck, motion: Motion, body: BodyMap) -> tuple[int, ...]:
    """0 for the left foot, 1 for the right one, or both."""
    for number, side in enumerate(("left", "right")):
        joints = [getattr(body, f"{side}_{role}") for role in LEG]
        names = {motion.skeleton.names[joint] for joint in joints if joint is not None}
        if failed.joint in names or failed.joint.startswith(f"{side} "):
            return (number,)
    return (0, 1)
