"""Partition: points in small lists of like ones, found through two levels of centres."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from motionloom._arrays import IntArray
from motionloom.tables.collection.frames import FloatArray32
from motionloom.tables.index.kmeans import add_up
from motionloom.tables.index.nearest import nearest

__all__ = ["Partition", "extend_partition", "find_partition"]

PER_LIST = 96
"""Points that a list has on average."""
PER_GROUP = 96
"""Lists that a group has at most, on average: a search looks at all of several groups."""
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
    groups, label = _grouped(points, max(1, round(max(math.sqrt(lists), lists / PER_GROUP))), seed)
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


def extend_partition(
    lists: Partition,
    names: IntArray,
    points: FloatArray32,
    new_names: IntArray,
    heads: npt.NDArray[np.int8],
) -> Partition:
    """The lists with more points (N, D) in them; centres stay where they are.

    ``names`` (of as many as ``lists`` has members) is what its members are called now, -1 for
    those that are gone; ``new_names`` and ``heads`` (N, H) are those of the points.
    """
    group_of, _ = nearest(points, lists.groups)
    new_lists = np.zeros(len(points), dtype=np.int64)
    for group in np.unique(group_of):
        inside = np.flatnonzero(group_of == group)
        first, last = lists.group_first[group : group + 2]
        new_lists[inside] = first + nearest(points[inside], lists.centres[first:last])[0]
    there = names >= 0
    own = np.repeat(np.arange(len(lists.centres)), np.diff(lists.list_first))[there]
    list_of, called = np.concatenate([own, new_lists]), np.concatenate([names[there], new_names])
    order = np.lexsort((called, list_of))
    sizes = np.bincount(list_of, minlength=len(lists.centres))
    return Partition(
        lists.groups,
        lists.group_first,
        lists.centres,
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        called[order].astype(np.uint32),
        np.concatenate([lists.heads[there], heads])[order],
    )


def _grouped(points: FloatArray32, count: int, seed: int) -> tuple[FloatArray32, IntArray]:
    """Centres of so many groups, and every point's group; groups without points are left out."""
    rng = np.random.Generator(np.random.PCG64([seed, len(points), count]))
    drawn = rng.permutation(len(points))[: TRIAL_PER_CENTRE * count]
    some, centres = points[np.sort(drawn)], points[np.sort(drawn[:count])]
    for _ in range(ROUNDS):
        label, _ = nearest(some, centres)
        sizes = np.bincount(label, minlength=count)
        sums = np.zeros((count, points.shape[1]))
        add_up(some, label, sums)
        there = sizes > 0  # a centre that lost all its points stays where it is
        centres[there] = sums[there] / sizes[there, None]
    label, _ = nearest(points, centres)
    used = np.unique(label)
    return centres[used], np.searchsorted(used, label)
