"""The best of a few blends: judged stage by stage, each only as long as it may be the best."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from motionloom._arrays import FloatArray, IntArray
from motionloom.transitions.collecting.frames import FloatArray32
from motionloom.transitions.compiled import inner
from motionloom.transitions.scoring.blend_balance import judge_balance, judge_posture, judge_travel
from motionloom.transitions.scoring.blend_feet import judge_feet
from motionloom.transitions.scoring.columns import COLUMNS, POSTURE_BEGIN, Ranking
from motionloom.transitions.scoring.kernel import (
    Judge,
    Scratch,
    blend_posture,
    blend_posture_part,
    blend_rows,
)
from motionloom.transitions.scoring.stages import ALL, FEET, POSTURE, TRAVEL
from motionloom.transitions.scoring.terms import Terms
from motionloom.transitions.scoring.window_terms import IntArray32, TermArrays
from motionloom.transitions.searching.spread_bound import SLACK_M2, apart

__all__ = ["Weighing", "best_blend", "weighing_of"]

SLACK = 1e-4
"""Bounds are in single precision: a blend is left out only where it costs this much more."""
PEAK_COLUMN = 16
BLOCK = 8
"""Frames between two looks at whether a blend's accelerations have become too high."""


class Weighing(NamedTuple):
    """A ranking as compiled code reads it, and room to remember sums that blends share."""

    linear: FloatArray
    log: FloatArray
    prunes: bool
    """Whether no stage can make a blend cheaper."""
    bounded: bool
    """Whether the spread counts, and nothing can make up for it."""
    sees_posture: bool
    ends: FloatArray32
    """Squared spread that source and target make in three-way and in four-way blends; below 0 where
    not yet known, as in the next two. (2,)"""
    sides: FloatArray32
    """Squared spread of a window to both ends: between them alone, as first or as second of two.
    (3, W)"""
    middle: FloatArray32
    """Squared spread of the first and the second of two between. (W, W)"""
    fixed: int
    """The first so many windows stay what they are, from one question to the next."""
    peaks: FloatArray32
    """Largest squared acceleration of each segment so far. (S,)"""
    columns: FloatArray32
    best: FloatArray32
    """Columns of the best blend so far. (C,)"""


def weighing_of(ranking: Ranking, terms: Terms, *, fixed: int = 0) -> Weighing:
    """What :func:`best_blend` needs to know of a ranking.

    What pairs of the first ``fixed`` windows have in common is remembered from call to call: they
    must not be exchanged.
    """
    return Weighing(
        ranking.linear.astype(np.float64),
        ranking.log.astype(np.float64),
        ranking.prunes,
        ranking.bounded_by_spread,
        ranking.sees_posture,
        np.zeros(2, dtype=np.float32),
        np.zeros((3, terms.n_windows), dtype=np.float32),
        np.full((terms.n_windows, terms.n_windows), -1.0, dtype=np.float32),
        fixed,
        np.zeros(len(terms.masses), dtype=np.float32),
        np.zeros(len(COLUMNS), dtype=np.float32),
        np.full(len(COLUMNS), np.nan, dtype=np.float32),
    )


@njit(cache=True, error_model="numpy", boundscheck=False)
def best_blend(
    arrays: TermArrays, judge: Judge, scratch: Scratch, weighing: Weighing, recipes: IntArray32
) -> tuple[int, float]:
    """Number and cost of the cheapest recipe, the first of equals; -1 where all cost nan.

    The same one that judging all of them in full finds: parts of a cost that is a sum of parts
    that are not negative bound it from below. All recipes have the same source. What is measured of
    the best is left in ``weighing.best``.
    """
    best, least = -1, np.inf
    prunes, columns = weighing.prunes, weighing.columns
    for c in range(len(columns)):
        weighing.best[c] = np.float32(np.nan)
    target = -1
    for k in range(len(recipes)):
        ids = recipes[k]
        n = 0
        while n < len(ids) and ids[n] >= 0:
            n += 1
        bounded, spread = weighing.bounded and best >= 0 and n > 2, 0.0
        if bounded:
            if ids[n - 1] != target:
                target = ids[n - 1]
                _forget_ends(weighing)
            spread = _spread_cost(arrays.posture, judge, weighing, ids, n)
            if spread > least + SLACK:
                continue
        blend_rows(arrays.rows, ids, n, judge.weights, scratch.rows)
        judge_feet(arrays, judge, scratch, ids, n, columns)
        cost = _cost(weighing, FEET)
        if prunes and cost + spread > least + SLACK:
            continue
        judge_travel(arrays, judge, scratch, ids, n, columns)
        cost += _cost(weighing, TRAVEL)
        if prunes and cost + spread > least + SLACK:
            continue
        if bounded:
            left = least + SLACK - cost - spread
            if not _calm_enough(arrays.posture, judge, weighing, scratch, ids, n, left):
                continue
        else:
            blend_posture(arrays.posture, ids, n, judge.weights, scratch.posture)
        if weighing.sees_posture:
            judge_posture(judge, scratch, columns)
            cost += _cost(weighing, POSTURE)
            if prunes and cost > least + SLACK:
                continue
        judge_balance(arrays, judge, scratch, ids, n, columns)
        cost = _cost(weighing, ALL)
        if cost < least:
            best, least = k, cost
            if not weighing.sees_posture:
                judge_posture(judge, scratch, columns)
            for c in range(len(columns)):
                weighing.best[c] = columns[c]
    return best, least


@inner(error_model="numpy", boundscheck=False)
def _cost(weighing: Weighing, stage: IntArray) -> float:
    """Part of the cost that the columns of a stage make; as ``Ranking.cost`` has it."""
    linear, log, columns = weighing.linear, weighing.log, weighing.columns
    cost = 0.0
    for c in range(stage[0], stage[1]):
        if linear[c] != 0.0:
            cost += linear[c] * columns[c]
        if log[c] != 0.0:
            cost += log[c] * np.log1p(max(0.0, float(columns[c])))
    return cost


@inner(error_model="numpy", boundscheck=False)
def _forget_ends(weighing: Weighing) -> None:
    """Source or target is another one."""
    for n in range(len(weighing.ends)):
        weighing.ends[n] = np.float32(-1.0)
    for place in range(len(weighing.sides)):
        for window in range(weighing.sides.shape[1]):
            weighing.sides[place, window] = np.float32(-1.0)


@inner(error_model="numpy", boundscheck=False)
def _spread_cost(
    posture: FloatArray32, judge: Judge, weighing: Weighing, ids: IntArray32, n: int
) -> float:
    """What the spread of a blend of three or four windows costs at least, from pairs of them."""
    w, pad, length = judge.weights[n - 1], judge.pad, judge.length
    source, target = posture[ids[0]], posture[ids[n - 1]]
    if weighing.ends[n - 3] < np.float32(0.0):
        weighing.ends[n - 3] = apart(source, target, w[0], w[n - 1], pad, length)
    square = weighing.ends[n - 3]
    for i in range(1, n - 1):
        place, k = i + n - 4, ids[i]
        if weighing.sides[place, k] < np.float32(0.0):
            between = posture[k]
            weighing.sides[place, k] = apart(source, between, w[0], w[i], pad, length) + apart(
                between, target, w[i], w[n - 1], pad, length
            )
        square += weighing.sides[place, k]
    if n == 4:
        a, b = ids[1], ids[2]
        middle = weighing.middle[a, b]
        if middle < np.float32(0.0):
            middle = apart(posture[a], posture[b], w[1], w[2], pad, length)
            if max(a, b) < weighing.fixed:
                weighing.middle[a, b] = middle
        square += middle
    spread = np.sqrt(max(0.0, float(square) - SLACK_M2))
    cost = weighing.linear[POSTURE_BEGIN] * spread
    return float(cost + weighing.log[POSTURE_BEGIN] * np.log1p(spread))


@inner(error_model="numpy", boundscheck=False, fastmath={"contract", "reassoc"})
def _calm_enough(
    posture: FloatArray32,
    judge: Judge,
    weighing: Weighing,
    scratch: Scratch,
    ids: IntArray32,
    n: int,
    left: float,
) -> bool:
    """Blend the posture block by block; whether its accelerations cost no more than ``left``.

    Where they do, it stops. Sums are those of :func:`blend_posture`, to the last bit.
    """
    out, peaks, masses = scratch.posture, weighing.peaks, judge.masses
    m = len(masses)
    for g in range(m):
        peaks[g] = np.float32(0.0)
    first, last = judge.pad, judge.pad + judge.length
    at = 0
    while at < len(out):
        end = min(at + BLOCK, len(out))
        blend_posture_part(posture, ids, n, judge.weights, at, end, out)
        for t in range(max(at, first + 2), min(end, last)):
            a, b, c = out[t - 2], out[t - 1], out[t]
            for g in range(m):
                x = a[g] - b[g] - b[g] + c[g]
                y = a[m + g] - b[m + g] - b[m + g] + c[m + g]
                z = a[2 * m + g] - b[2 * m + g] - b[2 * m + g] + c[2 * m + g]
                peaks[g] = max(peaks[g], x * x + y * y + z * z)
        most = np.float32(0.0)
        for g in range(m):
            most = max(most, peaks[g] / masses[g])
        peak = np.sqrt(most) * judge.fps * judge.fps
        cost = weighing.linear[PEAK_COLUMN] * peak + weighing.log[PEAK_COLUMN] * np.log1p(peak)
        if cost > left:
            return False
        at = end
    return True
