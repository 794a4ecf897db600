"""All blends of one pair of windows, judged with shared sums."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from motionloom._arrays import IntArray
from motionloom.transitions.blend_balance import judge_balance, judge_posture, judge_travel
from motionloom.transitions.blend_feet import judge_feet
from motionloom.transitions.columns import (
    COLUMNS,
    COM_COLUMN,
    N_FEET_COLUMNS,
    POSTURE_BEGIN,
    POSTURE_END,
)
from motionloom.transitions.frames import FloatArray32
from motionloom.transitions.kernel import Judge, Scratch
from motionloom.transitions.spread_bound import middle_spreads, side_spreads, spread_cost
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
    middle: FloatArray32
    """Squared spread of two intermediaries, or nothing where spread bounds no cost. (K, K)"""
    sides: FloatArray32
    """Squared spread of an intermediary with both ends, in each of its places. (2, K)"""
    bounds: FloatArray32
    """Least costs of the four-way blends of a pair. (K, K)"""
    places: IntArray32
    """Where a window is among the intermediaries, -1 for nowhere. (W,)"""
    ids: IntArray32
    columns: FloatArray32


class Kept(NamedTuple):
    """The best blends so far, best first."""

    costs: FloatArray32
    """Infinite where there is none yet. (keep,)"""
    recipes: RecipeArray
    """(keep, 4)"""


def base_of(terms: Terms, judge: Judge, between: IntArray, *, bounded: bool) -> Base:
    """Room for shared sums; ``bounded`` says whether spread bounds the cost."""
    middle = np.zeros((0, 0), dtype=np.float32)
    if bounded:
        middle = middle_spreads(terms.arrays.posture, judge, between)
    places = np.full(terms.n_windows, -1, dtype=np.int32)
    places[between] = np.arange(len(between))
    rows, posture = terms.arrays.rows.shape[1:], terms.arrays.posture.shape[1:]
    return Base(
        np.zeros(rows, dtype=np.float32),
        np.zeros(posture, dtype=np.float32),
        np.zeros(rows, dtype=np.float32),
        np.zeros(posture, dtype=np.float32),
        middle,
        np.zeros((2, len(between)), dtype=np.float32),
        np.zeros_like(middle),
        places,
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
    nothing = np.float32(0.0)
    if two:
        ids[1] = target
        _pair_sum(arrays, source, target, judge.weights[1, 0], judge.weights[1, 1], base)
        scratch.rows[:] = base.pair_rows
        scratch.posture[:] = base.pair_posture
        _judge(arrays, judge, scratch, base, 2, base.pair_posture, -1, nothing, ranking, kept)
    if three:
        ids[2] = target
        weights = judge.weights[2]
        _pair_sum(arrays, source, target, weights[0], weights[2], base)
        _try_thirds(arrays, judge, scratch, base, pair, between, ranking, kept)
    if four:
        ids[3] = target
        weights = judge.weights[3]
        _pair_sum(arrays, source, target, weights[0], weights[3], base)
        if short:
            _try_shortlist(arrays, judge, scratch, base, pair, between, shortlist, ranking, kept)
        else:
            _try_all(arrays, judge, scratch, base, pair, between, ranking, kept)


@njit(cache=True, error_model="numpy", boundscheck=False)
def _try_thirds(
    arrays: TermArrays,
    judge: Judge,
    scratch: Scratch,
    base: Base,
    pair: tuple[int, int],
    between: IntArray,
    ranking: tuple[FloatArray32, FloatArray32, bool],
    kept: Kept,
) -> None:
    """Every three-way blend of a pair. Where spread bounds the cost, likely ones come first."""
    least = np.zeros(len(between), dtype=np.float32)
    order = np.arange(len(between))
    if len(base.middle) > 0:
        linear, log, _ = ranking
        ends = side_spreads(arrays.posture, judge, 3, *pair, between, base.sides)
        for i in range(len(between)):
            least[i] = spread_cost(ends + base.sides[0, i], linear, log)
        order = np.argsort(least, kind="mergesort")
    for place in range(len(order)):
        i = order[place]
        if len(base.middle) > 0 and least[i] >= kept.costs[len(kept.costs) - 1]:
            break
        base.ids[1] = between[i]
        _add_rows(base.pair_rows, arrays.rows[between[i]], judge.weights[2, 1], scratch.rows)
        _judge(arrays, judge, scratch, base, 3, base.pair_posture, 1, least[i], ranking, kept)


@njit(cache=True, error_model="numpy", boundscheck=False)
def _try_all(
    arrays: TermArrays,
    judge: Judge,
    scratch: Scratch,
    base: Base,
    pair: tuple[int, int],
    between: IntArray,
    ranking: tuple[FloatArray32, FloatArray32, bool],
    kept: Kept,
) -> None:
    """Every four-way blend of a pair. Where spread bounds the cost, likely ones come first."""
    bounded = len(base.middle) > 0
    order = np.arange(len(between))
    if bounded:
        linear, log, _ = ranking
        ends = side_spreads(arrays.posture, judge, 4, *pair, between, base.sides)
        least = np.zeros(len(between), dtype=np.float32)
        for i in range(len(between)):
            for j in range(len(between)):
                square = ends + base.sides[0, i] + base.sides[1, j] + base.middle[i, j]
                base.bounds[i, j] = spread_cost(square, linear, log)
            least[i] = base.bounds[i].min()
        order = np.argsort(least, kind="mergesort")
    for place in range(len(order)):
        i, begun = order[place], False
        for j in range(len(between)):
            spread = base.bounds[i, j] if bounded else np.float32(0.0)
            if bounded and spread >= kept.costs[len(kept.costs) - 1]:
                continue
            if not begun:
                _begin(arrays, judge, base, between[i])
                begun = True
            _try_fourth(arrays, judge, scratch, base, between[j], spread, ranking, kept)


@njit(cache=True, error_model="numpy", boundscheck=False)
def _try_shortlist(
    arrays: TermArrays,
    judge: Judge,
    scratch: Scratch,
    base: Base,
    pair: tuple[int, int],
    between: IntArray,
    shortlist: RecipeArray,
    ranking: tuple[FloatArray32, FloatArray32, bool],
    kept: Kept,
) -> None:
    """The four-way blends of a pair over some pairs of intermediaries, likely ones first."""
    bounded = len(base.middle) > 0
    least = np.zeros(len(shortlist), dtype=np.float32)
    order = np.arange(len(shortlist))
    if bounded:
        linear, log, _ = ranking
        ends = side_spreads(arrays.posture, judge, 4, *pair, between, base.sides)
        for k in range(len(shortlist)):
            if shortlist[k, 0] != NONE:
                i, j = base.places[shortlist[k, 0]], base.places[shortlist[k, 1]]
                if i >= 0 and j >= 0:
                    square = ends + base.sides[0, i] + base.sides[1, j] + base.middle[i, j]
                    least[k] = spread_cost(square, linear, log)
        order = np.argsort(least, kind="mergesort")
    last = -1
    for place in range(len(order)):
        k = order[place]
        if bounded and least[k] >= kept.costs[len(kept.costs) - 1]:
            break
        first, second = int(shortlist[k, 0]), int(shortlist[k, 1])
        if first == NONE:
            continue
        if first != last:
            _begin(arrays, judge, base, first)
            last = first
        _try_fourth(arrays, judge, scratch, base, second, least[k], ranking, kept)


@njit(cache=True, error_model="numpy", boundscheck=False)
def _begin(arrays: TermArrays, judge: Judge, base: Base, first: int) -> None:
    """Source, target and the first intermediary of four-way blends."""
    weights = judge.weights[3, 1]
    base.ids[1] = first
    _add_rows(base.pair_rows, arrays.rows[first], weights, base.third_rows)
    _add_posture(base.pair_posture, arrays.posture[first], weights, base.third_posture)


@njit(cache=True, error_model="numpy", boundscheck=False)
def _try_fourth(
    arrays: TermArrays,
    judge: Judge,
    scratch: Scratch,
    base: Base,
    second: int,
    spread: np.float32,
    ranking: tuple[FloatArray32, FloatArray32, bool],
    kept: Kept,
) -> None:
    base.ids[2] = second
    _add_rows(base.third_rows, arrays.rows[second], judge.weights[3, 2], scratch.rows)
    _judge(arrays, judge, scratch, base, 4, base.third_posture, 2, spread, ranking, kept)


@njit(cache=True, error_model="numpy", boundscheck=False)
def _judge(
    arrays: TermArrays,
    judge: Judge,
    scratch: Scratch,
    base: Base,
    n: int,
    posture: FloatArray32,
    added: int,
    spread: np.float32,
    ranking: tuple[FloatArray32, FloatArray32, bool],
    kept: Kept,
) -> None:
    """Judge the blend whose rows are in ``scratch``, stage by stage, as long as it may be kept.

    Its posture is ``posture`` plus the window ``ids[added]``, or as it is where that is -1.
    ``spread`` is no more than what its spread will cost.
    """
    ids, columns = base.ids, base.columns
    linear, log, prunes = ranking
    worst = kept.costs[len(kept.costs) - 1]
    judge_feet(arrays, judge, scratch, ids, n, columns)
    cost = _cost(columns, linear, log, 0, N_FEET_COLUMNS)
    if prunes and cost + spread >= worst:
        return
    judge_travel(arrays, judge, scratch, ids, n, columns)
    cost += _cost(columns, linear, log, COM_COLUMN, COM_COLUMN + 1)
    if prunes and cost + spread >= worst:
        return
    if added >= 0:
        _add_posture(
            posture, arrays.posture[ids[added]], judge.weights[n - 1, added], scratch.posture
        )
    if judge.posture:
        judge_posture(judge, scratch, columns)
        cost += _cost(columns, linear, log, POSTURE_BEGIN, POSTURE_END)
        if prunes and cost >= worst:
            return
    judge_balance(arrays, judge, scratch, ids, n, columns)
    cost += _cost(columns, linear, log, N_FEET_COLUMNS, POSTURE_BEGIN)
    cost += _cost(columns, linear, log, COM_COLUMN + 1, len(columns))
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
