"""The best of a few blends: judged stage by stage, each only as long as it may be the best."""

from __future__ import annotations

import numpy as np

from motionloom._core import Record, kernel, record
from motionloom.tables.score.columns import COLUMNS, Ranking
from motionloom.tables.score.terms import Terms
from motionloom.tables.score.window_terms import IntArray32

__all__ = ["best_blend", "weighing_of"]

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
    judge: Record, scratch: Record, weighing: Record, recipes: IntArray32
) -> tuple[int, float]:
    """Number and cost of the cheapest recipe, the first of equals; -1 where all cost nan.

    The same one that judging all of them in full finds: parts of a cost that is a sum of parts
    that are not negative bound it from below. All recipes (n, 4) have the same source. What is
    measured of the best is left in ``weighing.best``.
    """
    number, cost = np.zeros(1, dtype=np.int64), np.zeros(1)
    _best(judge, scratch, weighing, len(recipes), recipes, number, cost)
    return int(number[0]), float(cost[0])
