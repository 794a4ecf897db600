"""All blends of one pair of windows, judged with shared sums."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from motionloom._arrays import IntArray
from motionloom.transitions.blend_balance import judge_body
from motionloom.transitions.blend_feet import judge_feet
from motionloom.transitions.columns import COLUMNS, N_FEET_COLUMNS
from motionloom.transitions.frames import FloatArray32
from motionloom.transitions.kernel import Judge, Scratch
from motionloom.transitions.terms import Terms
from motionloom.transitions.window_terms import IntArray32, TermArrays

__all__ = ["Base", "Kept", "base_of", "search_into"]

RecipeArray = npt.NDArray[np.uint16]
NONE = 0xFFFF


class Base(NamedTuple):
    """Sums that many blends share: of source and target, and of these and one more."""

    pair_rows: FloatArray32
    pair_posture: FloatArray32
    third_rows: FloatArray32
    third_posture: FloatArray32
    ids: IntArray32
    columns: FloatArray32


class Kept(NamedTuple):
    """The best blends so far, best first."""

    costs: FloatArray32
    """Infinite where there is none yet. (keep,)"""
    recipes: RecipeArray
    """(keep, 4)"""


def base_of(terms: Terms) -> Base:
    """Room for shared sums."""
    rows, posture = terms.arrays.rows.shape[1:], terms.arrays.posture.shape[1:]
    return Base(
        np.zeros(rows, dtype=np.float32),
        np.zeros(posture, dtype=np.float32),
        np.zeros(rows, dtype=np.float32),
        np.zeros(posture, dtype=np.float32),
        np.full(4, -1, dtype=np.int32),
        np.zeros(len(COLUMNS), dtype=np.float32),
    )


@njit(cache=True, error_model="numpy", boundscheck=False, nogil=True)
def search_into(
    arrays: TermArrays,
    judge: Judge,
    scratch: Scratch,
    base: Base,
    pair: tuple[int, int],
    between: IntArray,
    shortlist: RecipeArray,
    which: tuple[bool, bool, bool, bool],
    ranking: tuple[FloatArray32, FloatArray32, bool],
    kept: Kept,
) -> None:
    """Judge every blend from ``pair[0]`` to ``pair[1]`` and keep the best in ``kept``.

    ``which`` says whether to try 2, 3 and 4 ways, and whether four ways only with ``shortlist``.
    """
    source, target = pair
    two, three, four, short = which
    ids = base.ids
    ids[0] = source
    if two:
        ids[1] = target
        _pair_sum(arrays, source, target, judge.weights[1, 0], judge.weights[1, 1], base)
        scratch.rows[:] = base.pair_rows
        scratch.posture[:] = base.pair_posture
        _judge(arrays, judge, scratch, base, 2, base.pair_posture, -1, ranking, kept)
    if three:
        ids[2] = target
        weights = judge.weights[2]
        _pair_sum(arrays, source, target, weights[0], weights[2], base)
        for i in range(len(between)):
            ids[1] = between[i]
            _add_rows(base.pair_rows, arrays.rows[ids[1]], weights[1], scratch.rows)
            _judge(arrays, judge, scratch, base, 3, base.pair_posture, 1, ranking, kept)
    if four:
        ids[3] = target
        weights = judge.weights[3]
        _pair_sum(arrays, source, target, weights[0], weights[3], base)
        last = -1
        count = len(shortlist) if short else len(between) * len(between)
        for k in range(count):
            if short:
                if shortlist[k, 0] == NONE:
                    continue
                ids[1], ids[2] = shortlist[k, 0], shortlist[k, 1]
            else:
                ids[1], ids[2] = between[k // len(between)], between[k % len(between)]
            if ids[1] != last:
                last = ids[1]
                _add_rows(base.pair_rows, arrays.rows[last], weights[1], base.third_rows)
                _add_posture(
                    base.pair_posture, arrays.posture[last], weights[1], base.third_posture
                )
            _add_rows(base.third_rows, arrays.rows[ids[2]], weights[2], scratch.rows)
            _judge(arrays, judge, scratch, base, 4, base.third_posture, 2, ranking, kept)


@njit(cache=True, error_model="numpy", boundscheck=False)
def _judge(
    arrays: TermArrays,
    judge: Judge,
    scratch: Scratch,
    base: Base,
    n: int,
    posture: FloatArray32,
    added: int,
    ranking: tuple[FloatArray32, FloatArray32, bool],
    kept: Kept,
) -> None:
    """Judge the blend whose rows are in ``scratch``; its posture is made only if feet are good.

    The posture is ``posture`` plus the window ``ids[added]``, or as it is where that is -1.
    """
    ids, columns = base.ids, base.columns
    linear, log, prunes = ranking
    worst = kept.costs[len(kept.costs) - 1]
    judge_feet(arrays, judge, scratch, ids, n, columns)
    cost = _cost(columns, linear, log, 0, N_FEET_COLUMNS)
    if prunes and cost >= worst:
        return
    if added >= 0:
        _add_posture(
            posture, arrays.posture[ids[added]], judge.weights[n - 1, added], scratch.posture
        )
    judge_body(arrays, judge, scratch, ids, n, columns)
    cost = np.float32(cost + _cost(columns, linear, log, N_FEET_COLUMNS, len(columns)))
    if cost < worst:
        _insert(kept, cost, ids, n)


@njit(cache=True, error_model="numpy", boundscheck=False)
def _cost(
    columns: FloatArray32, linear: FloatArray32, log: FloatArray32, begin: int, end: int
) -> np.float32:
    """Part of the cost that columns ``begin`` to ``end - 1`` make."""
    cost = np.float32(0.0)
    for c in range(begin, end):
        if linear[c] != np.float32(0.0):
            cost += linear[c] * columns[c]
        if log[c] != np.float32(0.0):
            cost += log[c] * np.log1p(max(np.float32(0.0), columns[c]))
    return np.float32(cost)


@njit(cache=True, error_model="numpy", boundscheck=False)
def _insert(kept: Kept, cost: np.float32, ids: IntArray32, n: int) -> None:
    """Put a blend among the best; of equals the one found first stays before."""
    costs, recipes = kept.costs, kept.recipes
    at = len(costs) - 1
    while at > 0 and costs[at - 1] > cost:
        costs[at] = costs[at - 1]
        recipes[at] = recipes[at - 1]
        at -= 1
    costs[at] = cost
    for i in range(4):
        recipes[at, i] = ids[i] if i < n else NONE


@njit(cache=True, error_model="numpy", boundscheck=False, fastmath={"contract"})
def _pair_sum(
    arrays: TermArrays, source: int, target: int, u: FloatArray32, v: FloatArray32, base: Base
) -> None:
    """Source and target with weights ``u`` and ``v``."""
    rows, posture = base.pair_rows, base.pair_posture
    for q in range(rows.shape[0]):
        for t in range(rows.shape[1]):
            rows[q, t] = u[t] * arrays.rows[source, q, t]
    for t in range(posture.shape[0]):
        for g in range(posture.shape[1]):
            posture[t, g] = u[t] * arrays.posture[source, t, g]
    _add_rows(rows, arrays.rows[target], v, rows)
    _add_posture(posture, arrays.posture[target], v, posture)


@njit(cache=True, error_model="numpy", boundscheck=False, fastmath={"contract"})
def _add_rows(
    base: FloatArray32, rows: FloatArray32, weights: FloatArray32, out: FloatArray32
) -> None:
    for q in range(out.shape[0]):
        for t in range(out.shape[1]):
            out[q, t] = base[q, t] + weights[t] * rows[q, t]


@njit(cache=True, error_model="numpy", boundscheck=False, fastmath={"contract"})
def _add_posture(
    base: FloatArray32, posture: FloatArray32, weights: FloatArray32, out: FloatArray32
) -> None:
    for t in range(out.shape[0]):
        share = weights[t]
        for g in range(out.shape[1]):
            out[t, g] = base[t, g] + share * posture[t, g]
