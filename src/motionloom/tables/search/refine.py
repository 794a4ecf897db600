"""Refining: the best of a few blends, and recipes whose intermediaries are exchanged in turn.

A search of all recipes of a pair tries thousands; cached recipes are a few tens. Between the two:
from the best cached recipe, each intermediary in turn is exchanged for every other window there is,
until nothing gets better. A few hundred recipes over 250 windows find better ones than the search
of all 2,551 over 50 (1,000 pairs of CMU 143: 36 against 56 left over).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom._arrays import IntArray
from motionloom._core import Record, kernel, record
from motionloom.errors import ArrayError
from motionloom.tables.score.columns import COLUMNS, PAPER, Ranking, scratch_of, terms_record
from motionloom.tables.score.terms import IntArray32, Terms

__all__ = ["Refined", "best_blend", "refine_recipe", "weighing_of"]

_best = kernel("ml_recipe_best")


def weighing_of(ranking: Ranking, terms: Terms) -> Record:
    """What :func:`best_blend` needs to know of a ranking, and memory for sums that blends share."""
    arrays = terms.arrays
    return record(
        "ml_weighing",
        n_padded=arrays.rows.shape[2],
        prunes=ranking.prunes,
        bounded=ranking.bounded_by_spread,
        linear=ranking.linear.astype(np.float64),
        log=ranking.log.astype(np.float64),
        rows=np.zeros((2, *arrays.rows.shape[1:]), dtype=np.float32),
        posture=np.zeros((2, *arrays.posture.shape[1:]), dtype=np.float32),
        best=np.full(len(COLUMNS), np.nan, dtype=np.float32),
    )


def best_blend(
    terms: Record, scratch: Record, weighing: Record, recipes: IntArray32
) -> tuple[int, float]:
    """Number and cost of the cheapest recipe, the first of equals; -1 where all cost nan.

    The same one that scoring all of them in full finds: parts of a cost that is a sum of parts
    that are not negative bound it from below. All recipes (n, 4) have the same source. What is
    measured of the best is left in ``weighing.best``.
    """
    number, cost = np.zeros(1, dtype=np.int64), np.zeros(1)
    _best(terms, scratch, weighing, len(recipes), recipes, number, cost)
    return int(number[0]), float(cost[0])


class Refined(NamedTuple):
    """The best recipe found."""

    ids: IntArray
    """Windows as places in the terms: source, two intermediaries, target. (4,)"""
    cost: float
    n_scored: int
    """How many recipes were scored."""


def refine_recipe(
    terms: Terms,
    recipe: npt.ArrayLike,
    between: npt.ArrayLike,
    *,
    ranking: Ranking = PAPER,
    good: float = -np.inf,
    rounds: int = 8,
) -> Refined:
    """The recipe with intermediaries exchanged as long as that makes it cheaper.

    Parameters
    ----------
    terms
        Of all windows.
    recipe : (N,)
        Places in the terms, source first, target last, then -1 where it has fewer than four ways.
    between : (K,)
        Windows that may be intermediaries, as places in the terms.
    ranking
        What is best.
    good
        A cost that is good enough to stop at.
    rounds
        Most rounds; two or three are usual.
    """
    start = np.asarray(recipe, dtype=np.int32)
    start = start[start >= 0]
    others = np.atleast_1d(np.asarray(between, dtype=np.int32))
    if not 2 <= len(start) <= 4 or not others.size:
        raise ArrayError(
            "A recipe to refine must have 2 to 4 windows and some to exchange them for, got "
            f"{len(start)} and {others.size}."
        )
    best = np.full(4, -1, dtype=np.int32)
    best[: len(start)] = start
    own, scratch = terms_record(terms), scratch_of(terms)
    weighing = weighing_of(ranking, terms)
    _, cost = best_blend(own, scratch, weighing, best[None])
    n_scored = 1
    middle = start[1:-1] if len(start) > 2 else others[:1]
    four = np.array([start[0], middle[0], middle[-1], start[-1]], dtype=np.int32)
    for _ in range(rounds):
        if cost <= good:
            break
        tried = np.tile(four, (2, len(others), 1))
        tried[0, :, 1] = tried[1, :, 2] = others
        flat = tried.reshape(-1, 4)
        number, least = best_blend(own, scratch, weighing, flat)
        n_scored += len(flat)
        if not least < cost:
            break
        best, four, cost = flat[number], flat[number], least
    return Refined(best.astype(np.int64), cost, n_scored)
