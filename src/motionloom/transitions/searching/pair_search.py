"""All blends of one pair of windows, judged with shared sums."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from motionloom._arrays import IntArray
from motionloom.transitions.collecting.frames import FloatArray32
from motionloom.transitions.compiled import inner
from motionloom.transitions.scoring.blend_balance import judge_balance, judge_posture, judge_travel
from motionloom.transitions.scoring.blend_feet import judge_plants, judge_steps
from motionloom.transitions.scoring.columns import COLUMNS
from motionloom.transitions.scoring.kernel import Judge, Scratch
from motionloom.transitions.scoring.stages import BALANCE, FALL, FEET, POSTURE, TRAVEL
from motionloom.transitions.scoring.terms import Terms
from motionloom.transitions.scoring.window_terms import IntArray32, TermArrays
from motionloom.transitions.searching.spread_bound import Spreads, spread_cost

__all__ = ["Base", "Kept", "Middles", "base_of", "middles_of", "search_into"]

RecipeArray = npt.NDArray[np.uint16]
Middles = tuple[RecipeArray, RecipeArray, RecipeArray]
"""Intermediaries to try in blends of two, three and four windows, ``NONE`` where there are fewer;
those with the same first one follow each other. (M, 2) each"""
NONE = 0xFFFF


class Base(NamedTuple):
    """Sums that many blends share: of source and target, and of these and one more."""

    pair_rows: FloatArray32
    pair_posture: FloatArray32
    third_rows: FloatArray32
    third_posture: FloatArray32
    bounds: FloatArray32
    """Least costs of the blends of a pair. (M,)"""
    groups: IntArray32
    """Where blends with another first intermediary begin, and at last their number. (M + 1,)"""
    least: FloatArray32
    """Least cost of each of these groups. (M,)"""
    order: IntArray32
    """Groups, likely ones first. (M,)"""
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


def middles_of(between: IntArray, ways: tuple[int, ...]) -> Middles:
    """All intermediaries, and all pairs of them, of the numbers of windows in ``ways``."""
    k = len(between)
    tried = [np.full((n, 2), NONE, dtype=np.uint16) for n in (1, k, k * k)]
    tried[1][:, 0] = between
    tried[2][:, 0], tried[2][:, 1] = np.repeat(between, k), np.tile(between, k)
    two, three, four = (each if n in ways else each[:0] for n, each in enumerate(tried, start=2))
    return two, three, four


def base_of(terms: Terms, between: IntArray, middles: Middles) -> Base:
    """Room for shared sums."""
    places = np.full(terms.n_windows, -1, dtype=np.int32)
    places[between] = np.arange(len(between))
    rows, posture = terms.arrays.rows.shape[1:], terms.arrays.posture.shape[1:]
    most = max(len(each) for each in middles)
    return Base(
        np.zeros(rows, dtype=np.float32),
        np.zeros(posture, dtype=np.float32),
        np.zeros(rows, dtype=np.float32),
        np.zeros(posture, dtype=np.float32),
        np.zeros(most, dtype=np.float32),
        np.zeros(most + 1, dtype=np.int32),
        np.zeros(most, dtype=np.float32),
        np.zeros(most, dtype=np.int32),
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
    spreads: Spreads,
    pair: tuple[int, int],
    place: tuple[int, int],
    middles: Middles,
    ranking: tuple[FloatArray32, FloatArray32, bool],
    kept: Kept,
) -> None:
    """Judge every blend from ``pair[0]`` to ``pair[1]`` and keep the best in ``kept``.

    Those are windows; ``place`` says where they are among the sources and targets of ``spreads``.
    Where spread bounds the cost, likely blends come first.
    """
    ids = base.ids
    ids[0] = pair[0]
    bounded = len(spreads.middle) > 0
    for n in range(2, 5):
        tried = middles[n - 2]
        if len(tried) == 0:
            continue
        ids[n - 1] = pair[1]
        weights = judge.weights[n - 1]
        _begin_pair(arrays, ids, n, weights, base)
        groups = _bound(spreads, place, tried, n, ranking, base)
        added = max(1, n - 2)  # the window that the shared sums are without
        for k in range(groups):
            group, begun = base.order[k], n < 4
            for m in range(base.groups[group], base.groups[group + 1]):
                if bounded and base.bounds[m] > kept.costs[len(kept.costs) - 1]:
                    continue
                if n > 2 and tried[m, 0] == NONE:
                    continue
                if n > 2:
                    ids[1] = tried[m, 0]
                if n > 3:
                    ids[2] = tried[m, 1]
                if not begun:
                    _begin_third(arrays, ids[1], weights[1], base)
                    begun = True
                rows = base.third_rows if n > 3 else base.pair_rows
                _add_rows(rows, arrays.rows[ids[added]], weights[added], scratch.rows)
                _judge(arrays, judge, scratch, base, n, added, base.bounds[m], ranking, kept)


@inner(error_model="numpy", boundscheck=False)
def _bound(
    spreads: Spreads,
    place: tuple[int, int],
    tried: RecipeArray,
    n: int,
    ranking: tuple[FloatArray32, FloatArray32, bool],
    base: Base,
) -> int:
    """Least costs of blends of ``n`` windows, and their groups in order; how many groups."""
    linear, log, _ = ranking
    groups = 0
    for m in range(len(tried)):
        cost = np.float32(0.0)
        if n > 2 and tried[m, 0] != NONE and len(spreads.middle) > 0:
            i = base.places[tried[m, 0]]
            j = base.places[tried[m, 1]] if n > 3 else i
            if i >= 0 and j >= 0:
                cost = spread_cost(_square(spreads, place, n, i, j), linear, log)
        base.bounds[m] = cost
        if m == 0 or tried[m, 0] != tried[m - 1, 0]:
            base.groups[groups] = m
            base.least[groups] = cost
            groups += 1
        base.least[groups - 1] = min(base.least[groups - 1], cost)
    base.groups[groups] = len(tried)
    for group in range(groups):
        at = group
        while at > 0 and base.least[base.order[at - 1]] > base.least[group]:
            base.order[at] = base.order[at - 1]
            at -= 1
        base.order[at] = group
    return groups


@inner(error_model="numpy", boundscheck=False)
def _judge(
    arrays: TermArrays,
    judge: Judge,
    scratch: Scratch,
    base: Base,
    n: int,
    added: int,
    spread: np.float32,
    ranking: tuple[FloatArray32, FloatArray32, bool],
    kept: Kept,
) -> None:
    """Judge the blend whose rows are in ``scratch``, stage by stage, as long as it may be kept.

    Its posture is that of the shared sum plus the window ``ids[added]``. ``spread`` is no more than
    what its spread will cost.
    """
    ids, columns = base.ids, base.columns
    linear, log, prunes = ranking
    worst = kept.costs[len(kept.costs) - 1]
    judge_steps(arrays, judge, scratch, ids, n, columns)
    judge_plants(arrays, judge, scratch, ids, n, columns)
    cost = _cost(columns, linear, log, FEET)
    if prunes and cost + spread > worst:
        return
    judge_travel(arrays, judge, scratch, ids, n, columns)
    cost += _cost(columns, linear, log, TRAVEL)
    if prunes and cost + spread > worst:
        return
    posture = base.third_posture if n > 3 else base.pair_posture
    weights = judge.weights[n - 1, added]
    _add_posture(posture, arrays.posture[ids[added]], weights, scratch.posture)
    if judge.posture:
        judge_posture(judge, scratch, columns)
        cost += _cost(columns, linear, log, POSTURE)
        if prunes and cost > worst:
            return
    judge_balance(arrays, judge, scratch, ids, n, columns)
    cost += _cost(columns, linear, log, BALANCE)
    cost += _cost(columns, linear, log, FALL)
    if cost <= worst:
        _insert(kept, cost, ids, n)


@inner(error_model="numpy", boundscheck=False)
def _cost(
    columns: FloatArray32, linear: FloatArray32, log: FloatArray32, stage: IntArray
) -> np.float32:
    """Part of the cost that the columns of a stage make."""
    cost = np.float32(0.0)
    for c in range(stage[0], stage[1]):
        if linear[c] != np.float32(0.0):
            cost += linear[c] * columns[c]
        if log[c] != np.float32(0.0):
            cost += log[c] * np.log1p(max(np.float32(0.0), columns[c]))
    return np.float32(cost)


@inner(error_model="numpy", boundscheck=False)
def _insert(kept: Kept, cost: np.float32, ids: IntArray32, n: int) -> None:
    """Put a blend among the best, if it is; in which order blends are tried changes nothing.

    Of equals those of fewer ways come first, then those whose windows do.
    """
    costs, recipes = kept.costs, kept.recipes
    at = len(costs)
    while at > 0 and (
        costs[at - 1] > cost or (costs[at - 1] == cost and _comes_first(ids, n, recipes[at - 1]))
    ):
        at -= 1
        if at + 1 < len(costs):
            costs[at + 1] = costs[at]
            for i in range(4):
                recipes[at + 1, i] = recipes[at, i]
    if at == len(costs):
        return
    costs[at] = cost
    for i in range(4):
        recipes[at, i] = ids[i] if i < n else NONE


@inner(error_model="numpy", boundscheck=False)
def _comes_first(ids: IntArray32, n: int, recipe: RecipeArray) -> bool:
    """Whether a blend of ``n`` windows comes before a recipe of the same cost."""
    ways = 4
    while ways > 0 and recipe[ways - 1] == NONE:
        ways -= 1
    if ways != n:
        return n < ways
    for i in range(n):
        if ids[i] != recipe[i]:
            return bool(ids[i] < recipe[i])
    return False


@inner(error_model="numpy", boundscheck=False)
def _square(spreads: Spreads, place: tuple[int, int], n: int, i: int, j: int) -> np.float32:
    """Squared spread of a blend of a pair over intermediaries ``i`` and, of four, ``j``."""
    a, b = place
    ends = spreads.ends[n - 3, a, b]
    first = spreads.sources[n - 3, a, i] + spreads.targets[n - 3, b, i]
    if n == 3:
        return np.float32(ends + first)
    second = spreads.sources[2, a, j] + spreads.targets[2, b, j]
    return np.float32(ends + first + second + spreads.middle[i, j])


@inner(error_model="numpy", boundscheck=False, fastmath={"contract"})
def _begin_pair(
    arrays: TermArrays, ids: IntArray32, n: int, weights: FloatArray32, base: Base
) -> None:
    """What all blends of a pair share: the source and, of more than two windows, the target."""
    rows, posture, u = base.pair_rows, base.pair_posture, weights[0]
    for q in range(rows.shape[0]):
        for t in range(rows.shape[1]):
            rows[q, t] = u[t] * arrays.rows[ids[0], q, t]
    for t in range(posture.shape[0]):
        for g in range(posture.shape[1]):
            posture[t, g] = u[t] * arrays.posture[ids[0], t, g]
    if n > 2:
        _add_rows(rows, arrays.rows[ids[n - 1]], weights[n - 1], rows)
        _add_posture(posture, arrays.posture[ids[n - 1]], weights[n - 1], posture)


@inner(error_model="numpy", boundscheck=False)
def _begin_third(arrays: TermArrays, first: int, weights: FloatArray32, base: Base) -> None:
    """Source, target and the first intermediary of four-way blends."""
    _add_rows(base.pair_rows, arrays.rows[first], weights, base.third_rows)
    _add_posture(base.pair_posture, arrays.posture[first], weights, base.third_posture)


@inner(error_model="numpy", boundscheck=False, fastmath={"contract"})
def _add_rows(
    base: FloatArray32, rows: FloatArray32, weights: FloatArray32, out: FloatArray32
) -> None:
    for q in range(out.shape[0]):
        for t in range(out.shape[1]):
            out[q, t] = base[q, t] + weights[t] * rows[q, t]


@inner(error_model="numpy", boundscheck=False, fastmath={"contract"})
def _add_posture(
    base: FloatArray32, posture: FloatArray32, weights: FloatArray32, out: FloatArray32
) -> None:
    for t in range(out.shape[0]):
        share = weights[t]
        for g in range(out.shape[1]):
            out[t, g] = base[t, g] + share * posture[t, g]
