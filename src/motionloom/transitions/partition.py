"""Partition: points in small lists of like ones, found through two levels of centres."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from motionloom._arrays import IntArray
from motionloom.transitions.frames import FloatArray32
from motionloom.transitions.kmeans import settle

__all__ = ["Partition", "find_partition"]

PER_LIST = 96
"""Points that a list has on average."""
TRIAL_PER_CENTRE = 32
"""Centres are found on about this many points each, and then all are put where they belong."""
ROUNDS = 6
"""Rounds of k-means: better centres than these find nothing more."""


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """Lists of points, in groups of lists. Few centres are looked at, however many points."""

    groups: FloatArray32
    """Centre of each group. (G, D)"""
    group_first: IntArray
    """First list of each group, and after the last the number of lists. (G + 1,)"""
    centres: FloatArray32
    """Centre of each list. (L, D)"""
    list_first: IntArray
    """First place of each list in ``members``, and after the last their number. (L + 1,)"""
    members: npt.NDArray[np.uint32]
    """Names of the points, list by list, ascending in each. (N,)"""
    heads: npt.NDArray[np.int8]
    """What is looked at first of each of them, in the same order: it lies together. (N, H)"""


def find_partition(
    points: FloatArray32,
    names: IntArray,
    heads: npt.NDArray[np.int8],
    *,
    seed: int = 0,
    per_list: int = PER_LIST,
) -> Partition:
    """Points (N, D) in about ``N / per_list`` lists, those in about the root of that many groups.

    The lists hold the points' names (N,), such as the rows that they stand for, and their heads
    (N, H).
    Time grows with ``N`` times its root; the root's share is small up to tens of millions.
    """
    lists = max(1, len(points) // per_list)
    groups, label = _grouped(points, max(1, round(lists**0.5)), seed)
    centres, members, group_first, sizes = [], [], [0], []
    for group in range(len(groups)):
        inside = np.flatnonzero(label == group)
        found, part = _grouped(points[inside], max(1, round(len(inside) / per_list)), seed)
        order = np.argsort(part, kind="stable")
        members.append(inside[order])
        sizes.append(np.bincount(part, minlength=len(found)))
        centres.append(found)
        group_first.append(group_first[-1] + len(found))
    list_first = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
    order = np.concatenate(members)
    return Partition(
        groups,
        np.array(group_first, dtype=np.int64),
        np.concatenate(centres),
        list_first.astype(np.int64),
        names[order].astype(np.uint32),
        np.ascontiguousarray(heads[order]),
    )


def _grouped(points: FloatArray32, count: int, seed: int) -> tuple[FloatArray32, IntArray]:
    """Centres of so many groups, and every point's group; groups without points are left out."""
    rng = np.random.Generator(np.random.PCG64([seed, len(points), count]))
    drawn = rng.permutation(len(points))[: TRIAL_PER_CENTRE * count]
    some = points[np.sort(drawn)].astype(np.float64)
    begin = points[np.sort(drawn[:count])].astype(np.float64)
    centres = settle(some, begin, rounds=ROUNDS).centres.astype(np.float32)
    label = np.zeros(len(points), dtype=np.int64)
    _nearest(points, centres, label)
    used = np.unique(label)
    return centres[used], np.searchsorted(used, label)


@njit(cache=True)
def _nearest(points, centres, label):  # type: ignore[no-untyped-def]
    at = 0
    for n in range(len(points)):
        # The point before it is mostly the frame before it: its centre is a good first guess.
        least = np.float32(0.0)
        for d in range(points.shape[1]):
            least += (points[n, d] - centres[at, d]) ** 2
        for k in range(len(centres)):
            squared = np.float32(0.0)
            for d in range(points.shape[1]):
                squared += (points[n, d] - centres[k, d]) ** 2
                if squared >= least:
                    break
            if squared < least:
                least, at = squared, k
        label[n] = at
