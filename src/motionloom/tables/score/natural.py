"""Naturalness: how much a blend is like captured motion, from 0 to 1.

The papers' sum finds what is feasible: of 200 seconds cut out of captured clips and remade, the
blends with the least sum were farther from what was captured than plain 2-way blends. Two scores
take its place. :data:`NATURAL` orders the blends between one source and one target; searches
minimise it. :func:`naturalness` says how good a blend is; it compares the blend with its own source
and target, so that its number means the same for a walk and a run, and it is fitted to several
subjects (``studies/tables/natural_fit.py``; evaluated on the subject that is left out).
"""

from __future__ import annotations

from collections.abc import Sized

import numpy as np
import numpy.typing as npt

from motionloom._arrays import BoolArray, FloatArray
from motionloom.tables.score.bends import bent_columns
from motionloom.tables.score.columns import Ranking
from motionloom.tables.score.reference import RELATIVE, Reference, relative_columns

__all__ = ["FAILED_MOST", "NATURAL", "THRESHOLD", "is_natural", "naturalness"]

THRESHOLD = 0.5
"""From this naturalness on a transition is called natural. The bias is chosen so that 95 % of the
good blends that the weights were fitted to pass it."""
FAILED_MOST = 0.25
"""Largest naturalness of a motion that fails a quality check."""

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
"""What searches minimise: a logistic regression on blends of CMU 143, ranked for each source and
target. No weight is negative."""

WEIGHTS = dict(zip(RELATIVE, (7.58, 15.44, 9.28, 1.99), strict=True))
"""How naturalness falls with each relative column. No weight is negative."""
BIAS = 6.67


def naturalness(
    columns: npt.ArrayLike,
    reference: Reference,
    bends: npt.ArrayLike | None = None,
    *,
    failed: Sized = (),
) -> FloatArray:
    """How natural each blend is (n,), by the measurements (n, C) of the kernel.

    Parameters
    ----------
    columns : (n, C)
        From :func:`motionloom.tables.score.blend_kernel.score_recipes`.
    reference
        How source and target of each blend move, from
        :func:`motionloom.tables.score.reference.reference_of`.
    bends : (n, 2)
        How far each is bent to begin and to end where it must, from
        :func:`motionloom.tables.score.bends.measure_bends`. A table's transitions begin
        and end with the captured seconds themselves and are not bent at all, which is the default.
    failed
        Quality checks that the finished motion fails. If there are any, naturalness is at most
        :data:`FAILED_MOST`: the measurements are of the blend before feet are held, and cannot
        know what a joint does afterwards.

    Examples
    --------
    >>> from motionloom.tables.score.columns import COLUMNS
    >>> walk = Reference(1.7, np.array([0.06]), np.array([1.3]), np.array([3.0]))
    >>> captured = np.zeros((1, len(COLUMNS)))
    >>> bool(naturalness(captured, walk)[0] > THRESHOLD)
    True
    >>> bool(naturalness(captured, walk, [[0.2, 0.0]])[0] > THRESHOLD)
    False
    >>> float(naturalness(captured, walk, failed=["knee bent backwards"])[0])
    0.25
    """
    shown = np.atleast_2d(np.asarray(columns, dtype=np.float32))
    if bends is not None:
        shown = bent_columns(shown, bends)
    weights = np.array([WEIGHTS[name] for name in RELATIVE])
    logit = BIAS - relative_columns(shown, reference) @ weights
    chance = np.asarray(0.5 * (1.0 + np.tanh(0.5 * logit)))
    return np.minimum(chance, FAILED_MOST) if len(failed) else chance


def is_natural(
    columns: npt.ArrayLike,
    reference: Reference,
    bends: npt.ArrayLike | None = None,
    *,
    failed: Sized = (),
) -> BoolArray:
    """Whether each blend passes the threshold, (n,)."""
    return np.asarray(naturalness(columns, reference, bends, failed=failed) >= THRESHOLD)
