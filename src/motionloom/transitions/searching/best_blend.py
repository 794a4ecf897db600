"""The best of a few blends: judged stage by stage, each only as long as it may be the best."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom.transitions.collecting.frames import FloatArray32
from motionloom.transitions.compiled import inner, variable
from motionloom.transitions.scoring.blend_balance import judge_balance, judge_posture, judge_travel
from motionloom.transitions.scoring.blend_feet import judge_plants, judge_steps
from motionloom.transitions.scoring.columns import COLUMNS, POSTURE_BEGIN, Ranking
from motionloom.transitions.scoring.kernel import (
    Judge,
    Scratch,
    blend_posture,
    blend_rows,
)
from motionloom.transitions.scoring.stages import ALL, PLANTS, POSTURE, STEPS, TRAVEL
from motionloom.transitions.scoring.terms import Terms
from motionloom.transitions.scoring.window_terms import POWER, IntArray32, TermArrays
from motionloom.transitions.searching.spread_bound import SLACK_M2

__all__ = ["Weighing", "best_blend", "weighing_of"]

SLACK = 1e-4
"""Bounds are in single precision: a blend is left out only where it costs this much more."""
PEAK_COLUMN = 16
BLOCK = 8
"""Frames between two looks at whether a blend has become too dear."""


class Weighing(NamedTuple):
    """A ranking as compiled code reads it, and room to remember sums that blends share."""

    linear: FloatArray
    log: FloatArray
    prunes: bool
    """Whether no stage can make a blend cheaper."""
    bounded: bool
    """Whether the spread counts, and nothing can make up for it."""
    sees_posture: bool
    rows: FloatArray32
    """What source and target add to three-way and to four-way blends. (2, 17, P)"""
    posture: FloatArray32
    """The same of postures. (2, P, 48)"""
    known: BoolArray
    """Whether these sums are of the source and target at hand. (2,)"""
    peaks: FloatArray32
    """Largest squared acceleration of each segment so far. (S,)"""
    columns: FloatArray32
    best: FloatArray32
    """Columns of the best blend so far. (C,)"""


def weighing_of(ranking: Ranking, terms: Terms) -> Weighing:
    """What :func:`best_blend` needs to know of a ranking."""
    arrays = terms.arrays
    return Weighing(
        ranking.linear.astype(np.float64),
        ranking.log.astype(np.float64),
        ranking.prunes,
        ranking.bounded_by_spread,
        ranking.sees_posture,
        np.zeros((2, *arrays.rows.shape[1:]), dtype=np.float32),
        np.zeros((2, *arrays.posture.shape[1:]), dtype=np.float32),
        np.zeros(2, dtype=np.bool_),
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
        if ids[n - 1] != target:
            target = ids[n - 1]
            weighing.known[0] = weighing.known[1] = False
        bounded = weighing.bounded and best >= 0 and n > 2
        if n > 2:
            if not weighing.known[n - 3]:
                _add_ends(arrays, judge, weighing, ids, n)
            _add_between(arrays.rows, judge, weighing.rows[n - 3], ids, n, scratch.rows)
        else:
            blend_rows(arrays.rows, ids, n, judge.weights, scratch.rows)
        judge_steps(arrays, judge, scratch, ids, n, columns)
        cost = _cost(weighing, STEPS)
        # Where the posture counts it rules out most blends, sooner than plants are chosen.
        if not bounded:
            judge_plants(arrays, judge, scratch, ids, n, columns)
            cost += _cost(weighing, PLANTS)
        if prunes and cost > least + SLACK:
            continue
        judge_travel(arrays, judge, scratch, ids, n, columns)
        cost += _cost(weighing, TRAVEL)
        if prunes and cost > least + SLACK:
            continue
        if bounded:
            left = least + SLACK - cost
            if not _like_enough(arrays.posture, judge, weighing, scratch, ids, n, left):
                continue
        else:
            blend_posture(arrays.posture, ids, n, judge.weights, scratch.posture)
        if weighing.sees_posture:
            judge_posture(judge, scratch, columns)
            cost += _cost(weighing, POSTURE)
            if prunes and cost > least + SLACK:
                continue
        if bounded:
            judge_plants(arrays, judge, scratch, ids, n, columns)
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


@inner(error_model="numpy", boundscheck=False, fastmath={"contract"})
def _add_ends(
    arrays: TermArrays, judge: Judge, weighing: Weighing, ids: IntArray32, n: int
) -> None:
    """What all blends of ``n`` windows from one source to one target share."""
    w, rows, posture = judge.weights[n - 1], weighing.rows[n - 3], weighing.posture[n - 3]
    weighing.known[n - 3] = True
    a, b = arrays.rows[ids[0]], arrays.rows[ids[n - 1]]
    for q in range(rows.shape[0]):
        for t in range(rows.shape[1]):
            rows[q, t] = w[0, t] * a[q, t]
        for t in range(rows.shape[1]):
            rows[q, t] += w[n - 1, t] * b[q, t]
    a, b = arrays.posture[ids[0]], arrays.posture[ids[n - 1]]
    for t in range(len(posture)):
        first, last = w[0, t], w[n - 1, t]
        for g in range(posture.shape[1]):
            posture[t, g] = first * a[t, g]
        for g in range(posture.shape[1]):
            posture[t, g] += last * b[t, g]


@inner(error_model="numpy", boundscheck=False, fastmath={"contract"})
def _add_between(
    rows: FloatArray32,
    judge: Judge,
    ends: FloatArray32,
    ids: IntArray32,
    n: int,
    out: FloatArray32,
) -> None:
    """Rows of a blend of three or four windows, as :func:`blend_rows` has them to the last bit."""
    w, first, second = judge.weights[n - 1], rows[ids[1]], rows[ids[n - 2]]
    for q in range(out.shape[0]):
        for t in range(out.shape[1]):
            out[q, t] = ends[q, t] + w[1, t] * first[q, t]
        if n > 3:
            for t in range(out.shape[1]):
                out[q, t] += w[2, t] * second[q, t]


@inner(error_model="numpy", boundscheck=False, fastmath={"contract", "reassoc"})
def _like_enough(
    posture: FloatArray32,
    judge: Judge,
    weighing: Weighing,
    scratch: Scratch,
    ids: IntArray32,
    n: int,
    left: float,
) -> bool:
    """Blend the posture block by block; whether it may cost no more than ``left``.

    Where its accelerations, and how much the windows differ in the frames so far, cost more, it
    stops. Sums are those of :func:`blend_posture`, to the last bit.
    """
    out, peaks, masses = scratch.posture, weighing.peaks, judge.masses
    ends, had = weighing.posture[n - 3], scratch.rows[POWER]
    m = len(masses)
    for g in range(m):
        peaks[g] = np.float32(0.0)
    first, last = judge.pad, judge.pad + judge.length
    at, apart = first, np.float32(0.0)
    while at < last:
        end = min(at + BLOCK, last)
        _add_posture(posture, judge, ends, ids, n, at, end, out)
        for t in range(at, end):
            kept = np.float32(0.0)
            for g in range(out.shape[1]):
                kept += out[t, g] * out[t, g]
            apart += had[t] - kept
        for t in range(max(at, first + 2), end):
            a, b, c = out[t - 2], out[t - 1], out[t]
            for g in range(m):
                x = a[g] - b[g] - b[g] + c[g]
                y = a[m + g] - b[m + g] - b[m + g] + c[m + g]
                z = a[2 * m + g] - b[2 * m + g] - b[2 * m + g] + c[2 * m + g]
                peaks[g] = max(peaks[g], x * x + y * y + z * z)
        if _posture_cost(judge, weighing, apart) > left:
            return False
        at = end
    # What is before and after is asked for by its balance alone.
    _add_posture(posture, judge, ends, ids, n, variable(0), first, out)
    _add_posture(posture, judge, ends, ids, n, last, len(out), out)
    return True


@inner(error_model="numpy", boundscheck=False)
def _posture_cost(judge: Judge, weighing: Weighing, apart: np.float32) -> float:
    """What a posture costs at least, by the peaks and the squared spread of some of its frames."""
    most = np.float32(0.0)
    for g in range(len(judge.masses)):
        most = max(most, weighing.peaks[g] / judge.masses[g])
    peak = np.sqrt(most) * judge.fps * judge.fps
    spread = np.sqrt(max(0.0, float(apart) / judge.length - SLACK_M2))
    linear, log = weighing.linear, weighing.log
    cost = linear[PEAK_COLUMN] * peak + log[PEAK_COLUMN] * np.log1p(peak)
    return float(cost + linear[POSTURE_BEGIN] * spread + log[POSTURE_BEGIN] * np.log1p(spread))


@inner(error_model="numpy", boundscheck=False, fastmath={"contract"})
def _add_posture(
    posture: FloatArray32,
    judge: Judge,
    ends: FloatArray32,
    ids: IntArray32,
    n: int,
    begin: int,
    end: int,
    out: FloatArray32,
) -> None:
    """Frames ``begin`` to ``end - 1`` of the posture, as ``blend_posture`` has them."""
    w, a, b = judge.weights[n - 1], posture[ids[1]], posture[ids[n - 2]]
    for t in range(begin, end):
        # Of three windows the last of these weights is nought.
        first, second = w[1, t], w[2, t] if n > 3 else np.float32(0.0)
        for g in range(out.shape[1]):
            out[t, g] = ends[t, g] + first * a[t, g] + second * b[t, g]
