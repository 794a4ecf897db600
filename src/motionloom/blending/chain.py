"""Places for many joints in a row, chosen together by dynamic programming.

Each joint has candidate places with a cost. A place is where a clip is left and the next one is
entered, so that two neighbouring joints share a clip: it must be left after it was entered, and
enough of it must be played in between. The cheapest chain that meets this is found in time linear
in the number of joints.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray

MOST_CLOSING = 64
"""Places tried for the joint that closes a loop: the chain is solved once for each of them."""


class JointPlaces(NamedTuple):
    """Candidate places of one joint."""

    leaves: IntArray
    """Last frame of the clip before that plays alone. (N,)"""
    enters: IntArray
    """First frame of the clip after that plays alone. (N,)"""
    cost: FloatArray
    """Infinite for places that are not to be used. (N,)"""


class NoChainError(Exception):
    """No chain of places plays enough of one clip."""

    def __init__(self, clip: int) -> None:
        super().__init__(clip)
        self.clip = clip
        """Index of the clip."""


def cheapest_chain(
    joints: Sequence[JointPlaces], n_frames: Sequence[int], least: Sequence[int], *, loop: bool
) -> list[int]:
    """The place to take at every joint.

    Parameters
    ----------
    joints
        Joint ``j`` leads from clip ``j`` to the next one; the last joint of a loop leads from the
        last clip to the first.
    n_frames
        Of every clip.
    least
        Frames of every clip that must play alone.
    loop
        Whether the last joint leads back to the first clip.

    Raises
    ------
    NoChainError
        There is no such chain.
    """
    if not loop:
        ends = np.full(len(joints[-1].cost), n_frames[-1] - 1)
        last = _allowed(joints[-1], ends - joints[-1].enters + 1 >= least[-1])
        path, _ = _cheapest([*joints[:-1], last], least, enters=0, of_last=len(n_frames) - 1)
        return path
    closing = joints[-1]
    best: tuple[float, list[int]] | None = None
    failed: NoChainError | None = None
    for number in np.argsort(closing.cost, kind="stable")[:MOST_CLOSING]:
        only = np.full_like(closing.cost, np.inf)
        only[number] = closing.cost[number]
        fixed = [*joints[:-1], closing._replace(cost=only)]
        try:
            path, cost = _cheapest(fixed, least, enters=int(closing.enters[number]), of_last=0)
        except NoChainError as error:
            failed = failed or error
            continue
        if best is None or cost < best[0]:
            best = cost, path
    if best is None:
        raise failed or NoChainError(0)
    return best[1]


def _allowed(joint: JointPlaces, mask: BoolArray) -> JointPlaces:
    return joint._replace(cost=np.where(mask, joint.cost, np.inf))


def _cheapest(
    joints: Sequence[JointPlaces], least: Sequence[int], *, enters: int, of_last: int
) -> tuple[list[int], float]:
    """The cheapest chain where the first clip is entered at a known frame, and its cost.

    ``of_last`` is the clip that an error names where the last joint has no place left.
    """
    first = joints[0]
    total = np.where(first.leaves - enters + 1 >= least[0], first.cost, np.inf)
    came_from: list[IntArray] = []
    if not np.isfinite(total).any():
        raise NoChainError(0 if np.isfinite(first.cost).any() else min(of_last, 1))
    for clip, (before, after) in enumerate(pairwise(joints), start=1):
        order = np.lexsort((total, before.enters))
        entered, sums = before.enters[order], total[order]
        cheapest = np.minimum.accumulate(sums)
        # The first place at which the running minimum is reached: ties go to the earliest entry.
        reached = np.maximum.accumulate(
            np.where(np.r_[True, cheapest[1:] < cheapest[:-1]], np.arange(len(sums)), 0)
        )
        latest = np.searchsorted(entered, after.leaves - least[clip] + 1, side="right") - 1
        possible = latest >= 0
        came_from.append(order[reached[np.maximum(latest, 0)]])
        total = np.where(possible, cheapest[np.maximum(latest, 0)], np.inf) + after.cost
        if not np.isfinite(total).any():
            raise NoChainError(clip if np.isfinite(after.cost).any() else of_last)
    path = [int(np.argmin(total))]
    for back in reversed(came_from):
        path.append(int(back[path[-1]]))
    return path[::-1], float(total.min())
