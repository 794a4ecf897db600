"""Groups of points: the nearest of some centres, k-means, and lists below two levels of centres."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray, IntArray
from motionloom._core import kernel
from motionloom.errors import ArrayError
from motionloom.tables.collection.frames import FloatArray32

TRIAL = 10_000
"""Restarts are tried on at most this many points; the best is then settled on all."""
ROUNDS = 100
"""Rounds after which a run ends, settled or not."""
LAST_ROUNDS = 10
"""The same for all points, begun from centres that a trial has settled."""

_assign_kernel = kernel("ml_centre_assign")
_add = kernel("ml_centre_add")
_add_single = kernel("ml_centre_add_single")


class Means(NamedTuple):
    """Groups of points."""

    centres: FloatArray
    """Mean of each group. (K, D)"""
    labels: IntArray
    """Group of each point. (N,)"""
    spread: float
    """Mean squared distance of the points from their centres."""


def find_means(
    points: FloatArray, count: int, *, seed: int = 0, restarts: int = 10, trial: int = TRIAL
) -> Means:
    """The best of several runs of k-means, each begun by k-means++ (Arthur & Vassilvitskii 2007).

    Parameters
    ----------
    points
        (N, D).
    count
        Number of groups, K. Every one has at least one point: an empty group restarts
        at the point that is farthest from its centre.
    seed
        The same seed and points give the same groups.
    restarts
        Number of runs.
    trial
        Runs use at most this many of the points.
    """
    points = np.ascontiguousarray(points, dtype=np.float64)
    if not 1 <= count <= len(points):
        raise ArrayError(f"`count` must be from 1 to the number of points, {len(points)}.")
    rng = np.random.Generator(np.random.PCG64([seed, count]))
    some = points
    if len(points) > max(trial, count):
        chosen = rng.choice(len(points), max(trial, count), replace=False)
        some = np.ascontiguousarray(points[np.sort(chosen)])
    best: Means | None = None
    for _ in range(max(1, restarts)):
        run = refine_means(some, _scattered(some, count, rng))
        if best is None or run.spread < best.spread:
            best = run
    assert best is not None
    return best if some is points else refine_means(points, best.centres, rounds=LAST_ROUNDS)


def refine_means(points: FloatArray, centres: FloatArray, *, rounds: int = ROUNDS) -> Means:
    """Lloyd's rounds from given centres, until no point changes its group."""
    points = np.ascontiguousarray(points, dtype=np.float64)
    centres = np.array(centres, dtype=np.float64, order="C")
    labels, apart = _assign(points, centres, np.zeros(len(points), dtype=np.int64))
    for _ in range(rounds):
        _restart_empty(labels, apart, len(centres))
        centres = _centres(points, labels, len(centres))
        new, apart = _assign(points, centres, labels)
        if np.array_equal(new, labels):
            break
        labels = new
    if len(np.unique(labels)) < len(centres):
        _restart_empty(labels, apart, len(centres))
        centres = _centres(points, labels, len(centres))
    return Means(centres, labels, float(apart.mean()))


def _scattered(points: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
    """Points to begin with, each drawn with a chance that grows with its distance from the rest."""
    chosen = [int(rng.integers(len(points)))]
    apart = np.square(points - points[chosen[0]]).sum(axis=1)
    for _ in range(1, count):
        reach = np.cumsum(apart)
        if reach[-1] <= 0.0:  # all points are taken up: any other will do
            left = np.setdiff1d(np.arange(len(points)), chosen)
            chosen.append(int(rng.choice(left)))
            continue
        at = int(np.searchsorted(reach, rng.random() * reach[-1], side="right"))
        chosen.append(min(at, len(points) - 1))
        np.minimum(apart, np.square(points - points[chosen[-1]]).sum(axis=1), out=apart)
    return points[chosen]


def _restart_empty(labels: IntArray, apart: FloatArray, count: int) -> None:
    """Give each empty group the point that is farthest from its own centre."""
    sizes = np.bincount(labels, minlength=count)
    for group in np.flatnonzero(sizes == 0):
        far = int(np.argmax(np.where(sizes[labels] > 1, apart, -1.0)))
        sizes[labels[far]] -= 1
        labels[far], apart[far], sizes[group] = group, 0.0, 1


def _centres(points: FloatArray, labels: IntArray, count: int) -> FloatArray:
    sums = np.zeros((count, points.shape[1]))
    add_up(points, labels, sums)
    return sums / np.bincount(labels, minlength=count)[:, None]


def _assign(
    points: FloatArray, centres: FloatArray, guess: IntArray
) -> tuple[IntArray, FloatArray]:
    """Nearest centre of every point, and the squared distance from it."""
    labels = guess.copy()
    apart = np.zeros(len(points))
    _assign_kernel(len(points), points.shape[1], len(centres), points, centres, labels, apart)
    return labels, apart


def add_up(points: FloatArray | FloatArray32, labels: IntArray, sums: FloatArray) -> None:
    """Add every point (N, D) to the sum (K, D) of its group."""
    sizes = len(points), points.shape[1], len(sums)
    if points.dtype == np.float32:
        _add_single(*sizes, np.ascontiguousarray(points, dtype=np.float32), labels, sums)
    else:
        _add(*sizes, np.ascontiguousarray(points, dtype=np.float64), labels, sums)


TILE = 1 << 20
"""Products held at a time."""
ROUNDING = 2.0 * float(np.finfo(np.float32).eps)
"""Largest error of a product of single precision, for each of its terms, with some to spare."""
FEW = 8
"""Roundings next to those of the sum: of differences, products and squares."""

_decide = kernel("ml_centre_decide")


def nearest(points: FloatArray32, centres: FloatArray32) -> tuple[IntArray, FloatArray]:
    """Number of the nearest centre of each point, and how far it is; equal ones: the first.

    A matrix product finds the centres that may be the nearest. How it rounds depends on the number
    of points, on the processor and on its threads, so that the product does not decide: centres
    that it cannot separate are compared in double precision, in a fixed order. A point therefore
    gets the same numbers alone and among others.

    Parameters
    ----------
    points : (N, D)
        Each is compared separately.
    centres : (K, D)
        At least one.

    Returns
    -------
    number : (N,)
    distance : (N,)
    """
    # About their mean, products of single precision do not lose what is small.
    points = np.ascontiguousarray(points, dtype=np.float32)
    centres = np.ascontiguousarray(centres, dtype=np.float32)
    middle = centres.mean(axis=0, dtype=np.float64).astype(np.float32)
    around = centres - middle
    across = np.ascontiguousarray(around.T)
    sizes = np.square(around, dtype=np.float64).sum(axis=1)
    half = (0.5 * sizes).astype(np.float32)
    slack = (points.shape[1] + FEW) * ROUNDING
    number = np.zeros(len(points), dtype=np.int64)
    squared = np.zeros(len(points))
    step = max(1, TILE // len(centres))
    for first in range(0, len(points), step):
        part = slice(first, first + step)
        near = points[part] - middle
        product = near @ across
        product -= half
        widest = float(np.sqrt(sizes.max()))
        _decide(
            len(near),
            near.shape[1],
            len(centres),
            points[part],
            near,
            centres,
            product,
            widest,
            slack,
            number[part],
            squared[part],
        )
    return number, np.sqrt(squared)


PER_LIST = 96
"""Points that a list has on average."""
PER_GROUP = 96
"""Lists that a group has at most, on average: a search looks at all of several groups."""
TRIAL_PER_CENTRE = 32
"""Centres are found on about this many points each, and then all are put where they belong."""
LIST_ROUNDS = 6
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
        list_centres, part = _grouped(points[inside], max(1, round(len(inside) / per_list)), seed)
        order = np.argsort(part, kind="stable")
        members.append(inside[order])
        sizes.append(np.bincount(part, minlength=len(list_centres)))
        centres.append(list_centres)
        group_first.append(group_first[-1] + len(list_centres))
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
    present = names >= 0
    own = np.repeat(np.arange(len(lists.centres)), np.diff(lists.list_first))[present]
    list_of, called = np.concatenate([own, new_lists]), np.concatenate([names[present], new_names])
    order = np.lexsort((called, list_of))
    sizes = np.bincount(list_of, minlength=len(lists.centres))
    return Partition(
        lists.groups,
        lists.group_first,
        lists.centres,
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        called[order].astype(np.uint32),
        np.concatenate([lists.heads[present], heads])[order],
    )


def _grouped(points: FloatArray32, count: int, seed: int) -> tuple[FloatArray32, IntArray]:
    """Centres of ``count`` groups, and every point's group; groups without points are left out."""
    rng = np.random.Generator(np.random.PCG64([seed, len(points), count]))
    drawn = rng.permutation(len(points))[: TRIAL_PER_CENTRE * count]
    some, centres = points[np.sort(drawn)], points[np.sort(drawn[:count])]
    for _ in range(LIST_ROUNDS):
        label, _ = nearest(some, centres)
        sizes = np.bincount(label, minlength=count)
        sums = np.zeros((count, points.shape[1]))
        add_up(some, label, sums)
        occupied = sizes > 0  # a centre that lost all its points stays where it is
        centres[occupied] = sums[occupied] / sizes[occupied, None]
    label, _ = nearest(points, centres)
    used = np.unique(label)
    return centres[used], np.searchsorted(used, label)
