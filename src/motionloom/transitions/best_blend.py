"""The best of a few blends: judged stage by stage, each only as long as it may be the best."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from motionloom._arrays import FloatArray
from motionloom.transitions.blend_balance import judge_balance, judge_posture, judge_travel
from motionloom.transitions.blend_feet import judge_feet
from motionloom.transitions.columns import (
    COLUMNS,
    COM_COLUMN,
    N_FEET_COLUMNS,
    POSTURE_BEGIN,
    POSTURE_END,
    Ranking,
)
from motionloom.transitions.frames import FloatArray32
from motionloom.transitions.kernel import (
    Judge,
    Scratch,
    blend_posture,
    blend_posture_part,
    blend_rows,
)
from motionloom.transitions.spread_bound import SLACK_M2, apart
from motionloom.transitions.terms import Terms
from motionloom.transitions.window_terms import IntArray32, TermArrays

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
    sides: FloatArray32
    """Squared spread of a window, as first or second of two between, to both ends. (2, W)"""
    peaks: FloatArray32
    """Largest squared acceleration of each segment so far. (S,)"""
    columns: FloatArray32


def weighing_of(ranking: Ranking, terms: Terms) -> Weighing:
    """What :func:`best_blend` needs to know of a ranking."""
    return Weighing(
        ranking.linear.astype(np.float64),
        ranking.log.astype(np.float64),
        ranking.prunes,
        ranking.bounded_by_spread,
        ranking.sees_posture,
        np.zeros((2, terms.n_windows), dtype=np.float32),
        np.zeros(len(terms.masses), dtype=np.float32),
        np.zeros(len(COLUMNS), dtype=np.float32),
    )


@njit(cache=True, error_model="numpy", boundscheck=False)
def best_blend(
    arrays: TermArrays, judge: Judge, scratch: Scratch, weighing: Weighing, recipes: IntArray32
) -> tuple[int, float]:
    """Number and cost of the cheapest recipe, the first of equals; -1 where all cost nan.

    The same one that judging all of them in full finds: parts of a cost that is a sum of parts
    that are not negative bound it from below. All recipes have the same source.
    """
    best, least = -1, np.inf
    prunes, columns = weighing.prunes, weighing.columns
    target, ends = -1, np.float32(0.0)
    for k in range(len(recipes)):
        ids = recipes[k]
        n = 0
        while n < len(ids) and ids[n] >= 0:
            n += 1
        blend_rows(arrays.rows, ids, n, judge.weights, scratch.rows)
        judge_feet(arrays, judge, scratch, ids, n, columns)
        cost = _cost(weighing, 0, N_FEET_COLUMNS)
        if prunes and cost > least + SLACK:
            continue
        judge_travel(arrays, judge, scratch, ids, n, columns)
        cost += _cost(weighing, COM_COLUMN, COM_COLUMN + 1)
        if prunes and cost > least + SLACK:
            continue
        if weighing.bounded and best >= 0 and n > 2:
            if n == 4 and ids[3] != target:
                target = ids[3]
                ends = _between_ends(arrays.posture, judge, ids)
                weighing.sides[:] = np.float32(-1.0)
            square = _squared_spread(arrays.posture, judge, weighing.sides, ids, n, ends)
            spread = np.sqrt(max(0.0, square - SLACK_M2))
            known = cost + weighing.linear[POSTURE_BEGIN] * spread
            known += weighing.log[POSTURE_BEGIN] * np.log1p(spread)
            if known > least + SLACK or not _calm_enough(
                arrays.posture, judge, weighing, scratch, ids, n, least + SLACK - known
            ):
                continue
        else:
            blend_posture(arrays.posture, ids, n, judge.weights, scratch.posture)
        if weighing.sees_posture:
            judge_posture(judge, scratch, columns)
            cost += _cost(weighing, POSTURE_BEGIN, POSTURE_END)
            if prunes and cost > least + SLACK:
                continue
        judge_balance(arrays, judge, scratch, ids, n, columns)
        cost = _cost(weighing, 0, len(columns))
        if cost < least:
            best, least = k, cost
    return best, least


@njit(cache=True, error_model="numpy", boundscheck=False)
def _cost(weighing: Weighing, begin: int, end: int) -> float:
    """Part of the cost that columns ``begin`` to ``end - 1`` make; as ``Ranking.cost`` has it."""
    linear, log, columns = weighing.linear, weighing.log, weighing.columns
    cost = 0.0
    for c in range(begin, end):
        if linear[c] != 0.0:
            cost += linear[c] * columns[c]
        if log[c] != 0.0:
            cost += log[c] * np.log1p(max(0.0, float(columns[c])))
    return cost


@njit(cache=True, error_model="numpy", boundscheck=False)
def _between_ends(posture: FloatArray32, judge: Judge, ids: IntArray32) -> np.float32:
    """Squared spread that source and target make in a four-way blend."""
    w = judge.weights[3]
    return apart(posture[ids[0]], posture[ids[3]], w[0], w[3], judge.pad, judge.length)


@njit(cache=True, error_model="numpy", boundscheck=False)
def _squared_spread(
    posture: FloatArray32,
    judge: Judge,
    sides: FloatArray32,
    ids: IntArray32,
    n: int,
    ends: np.float32,
) -> float:
    """Squared spread of a blend of three or four windows, from pairs of them."""
    w, pad, length = judge.weights[n - 1], judge.pad, judge.length
    s, t = posture[ids[0]], posture[ids[n - 1]]
    a = posture[ids[1]]
    if n == 3:
        return float(
            apart(s, t, w[0], w[2], pad, length)
            + apart(s, a, w[0], w[1], pad, length)
            + apart(a, t, w[1], w[2], pad, length)
        )
    b = posture[ids[2]]
    for place in range(2):
        k = ids[1 + place]
        if sides[place, k] < np.float32(0.0):
            m, v = posture[k], w[1 + place]
            sides[place, k] = apart(s, m, w[0], v, pad, length) + apart(m, t, v, w[3], pad, length)
    middle = apart(a, b, w[1], w[2], pad, length)
    return float(ends + sides[0, ids[1]] + sides[1, ids[2]] + middle)


@njit(cache=True, error_model="numpy", boundscheck=False, fastmath={"contract", "reassoc"})
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
