"""Naturalness: how likely a blend is near to how a person would move, from 0 to 1.

The papers' sum finds what is feasible: of 200 seconds cut out of captured clips and made again, the
blends with the least sum were farther from what was captured than plain 2-way blends. Ours is a
logistic regression on the same measurements, fitted to candidates whose truth is known
(``benchmarks/natural_fit.py``; takes that it was fitted on are not reported on).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from motionloom._arrays import BoolArray, FloatArray
from motionloom.transitions.scoring.bends import bent_columns
from motionloom.transitions.scoring.columns import Ranking

__all__ = ["NATURAL", "THRESHOLD", "is_natural", "naturalness"]

THRESHOLD = 0.5
"""From this naturalness on a transition is called natural."""

NATURAL = Ranking.of(
    {
        "foot_in": 0.03064,
        "disagreement": 0.001575,
        "disagreement_weighted": 0.01036,
        "root_spread": 0.6293,
        "zmp_mean_in": 0.07471,
        "spread_m": 38.32,
        "peak_acc": 0.006558,
    },
    log={
        "low_slide_m_s": 1.359,
        "spread_m": 34.73,
        "peak_acc": 0.2308,
        "com_acc": 1.809,
    },
)
"""What searches minimise: the cost that naturalness falls with. No weight is negative."""
BIAS = 6.682


def naturalness(columns: npt.ArrayLike, bends: npt.ArrayLike | None = None) -> FloatArray:
    """Chance (n,) that each blend is a natural one, by the measurements (n, C) of the kernel.

    ``NATURAL.cost`` ranks alike and is what searches minimise.

    Parameters
    ----------
    columns : (n, C)
        From :func:`motionloom.transitions.scoring.kernel.score_recipes`.
    bends : (n, 2)
        How far each is bent to begin and to end where it must, from
        :func:`motionloom.transitions.scoring.bends.measure_bends`. A table's transitions begin
        and end with the captured seconds themselves and are not bent at all, which is the default.

    Examples
    --------
    >>> from motionloom.transitions.scoring.columns import COLUMNS
    >>> bool(naturalness(np.zeros((1, len(COLUMNS))))[0] > THRESHOLD)
    True
    >>> bool(naturalness(np.zeros((1, len(COLUMNS))), [[0.2, 0.0]])[0] > THRESHOLD)
    False
    """
    shown = np.atleast_2d(np.asarray(columns, dtype=np.float32))
    if bends is not None:
        shown = bent_columns(shown, bends)
    logit = np.asarray(BIAS - NATURAL.cost(shown), dtype=np.float64)
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * logit)))


def is_natural(columns: npt.ArrayLike, bends: npt.ArrayLike | None = None) -> BoolArray:
    """Whether each blend passes the threshold, (n,)."""
    return np.asarray(naturalness(columns, bends) >= THRESHOLD)
