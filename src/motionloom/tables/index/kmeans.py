"""k-means: points put into k groups about their means."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom._core import kernel
from motionloom.errors import ArrayError
from motionloom.tables.collection.frames import FloatArray32

__all__ = ["Means", "add_up", "find_means", "settle"]

TRIAL = 10_000
"""Restarts are tried on at most this many points; the best is then settled on all."""
ROUNDS = 100
"""Rounds after which a run ends, settled or not."""
LAST_ROUNDS = 10
"""The same for all points, begun from centres that a trial has settled."""

_nearest = kernel("ml_centre_assign")
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
        Number of groups, K. Every one has at least one point: a group that runs empty is begun
        anew at the point that is farthest from its centre.
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
        found = settle(some, _scattered(some, count, rng))
        if best is None or found.spread < best.spread:
            best = found
    assert best is not None
    return best if some is points else settle(points, best.centres, rounds=LAST_ROUNDS)


def settle(points: FloatArray, centres: FloatArray, *, rounds: int = ROUNDS) -> Means:
    """Lloyd's rounds from given centres, until no point changes its group."""
    points = np.ascontiguousarray(points, dtype=np.float64)
    centres = np.array(centres, dtype=np.float64, order="C")
    labels, apart = _assign(points, centres, np.zeros(len(points), dtype=np.int64))
    for _ in range(rounds):
        _begin_empty_anew(labels, apart, len(centres))
        centres = _centres(points, labels, len(centres))
        new, apart = _assign(points, centres, labels)
        if np.array_equal(new, labels):
            break
        labels = new
    if len(np.unique(labels)) < len(centres):
        _begin_empty_anew(labels, apart, len(centres))
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


def _begin_empty_anew(labels: IntArray, apart: FloatArray, count: int) -> None:
    """Give each empty group the point that is farthest from the centre of its own."""
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
    _nearest(*points.shape, len(centres), points, centres, labels, apart)
    return labels, apart


def add_up(points: FloatArray | FloatArray32, labels: IntArray, sums: FloatArray) -> None:
    """Add every point (N, D) to the sum (K, D) of its group."""
    add = _add_single if points.dtype == np.float32 else _add
    add(*points.shape, len(sums), np.ascontiguousarray(points), labels, sums)
