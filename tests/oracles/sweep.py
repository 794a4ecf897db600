"""The cheapest paths through a grid."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray


def totals(
    cost: FloatArray,
    limit: int,
    *,
    level: float = 0.0,
    seed_state: int = 0,
    free_start: bool = False,
) -> FloatArray:
    """Cost of the cheapest path to every cell (n, m), inf where there is none: state by state.

    A run along A goes through states 1..L, one along B through L+1..2L; both begin in state 0,
    which a diagonal reaches from every state.
    """
    n, m = cost.shape
    best = np.full((n, m, 2 * limit + 1), np.inf)
    for i in range(n):
        for j in range(m):
            if i > 0 and j > 0:
                best[i, j, 0] = best[i - 1, j - 1].min()
            if (free_start and 0 in (i, j)) or (i == j == 0 and seed_state == 0):
                best[i, j, 0] = 0.0
            if i == j == 0 and seed_state > 0:
                best[i, j, seed_state] = 0.0
            for run in range(1, limit + 1):
                if i > 0:
                    before = best[i - 1, j, run - 1]
                    best[i, j, run] = min(best[i, j, run], before)
                if j > 0:
                    before = best[i, j - 1, limit + run - 1 if run > 1 else 0]
                    best[i, j, limit + run] = min(best[i, j, limit + run], before)
            best[i, j] += cost[i, j] - level
    return np.asarray(best.min(axis=-1))
