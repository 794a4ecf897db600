"""ROC curves: how well a number separates good motions from bad ones, with bounds.

Bounds come from drawing whole groups (takes, queries) again with replacement: windows of one take
are similar, and drawing them one by one would promise more than was seen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from motionloom._arrays import BoolArray, FloatArray, IntArray, numbers
from motionloom._records import record
from motionloom.errors import ArrayError

ROUNDS = 1000
"""Draws for the bounds."""


@dataclass(frozen=True, slots=True, eq=False)
@record
class Roc:
    """Rates of true and false positives as the threshold goes down from above all scores.

    Attributes
    ----------
    false_positive : array
        From 0 to 1. (K,)
    true_positive : array
        From 0 to 1. (K,)
    thresholds : array
        Scores at or above are called good; the first is infinite. (K,)
    auc : float
        Area under the curve: the chance that a good one scores above a bad one, ties half.
    """

    false_positive: FloatArray
    true_positive: FloatArray
    thresholds: FloatArray
    auc: float


@dataclass(frozen=True, slots=True)
class Bounds:
    """A figure and its 95 % bootstrap bounds.

    Attributes
    ----------
    value : float
        The figure.
    low, high : float
        Its bounds.
    groups : int
        How many takes, queries or items were drawn from.
    """

    value: float
    low: float
    high: float
    groups: int

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def roc_curve(good: npt.ArrayLike, scores: npt.ArrayLike) -> Roc:
    """The curve of a score that is high for good ones; negate errors first.

    Parameters
    ----------
    good : (n,)
        True for good ones; both good and bad ones must occur.
    scores : (n,)
        High is good. Equal scores make one step.

    Examples
    --------
    >>> roc_curve([True, True, False], [0.9, 0.4, 0.4]).auc
    0.75
    """
    y, s = _checked(good, scores)
    order = np.argsort(-s, kind="stable")
    s, y = s[order], y[order]
    last = np.append(np.flatnonzero(np.diff(s) != 0.0), len(s) - 1)  # last of each tie
    tp = np.append(0.0, np.cumsum(y)[last] / y.sum())
    fp = np.append(0.0, np.cumsum(~y)[last] / (~y).sum())
    return Roc(fp, tp, np.append(np.inf, s[last]), _area(y, s)(np.ones(len(y))))


def measure_auc(
    good: npt.ArrayLike,
    scores: npt.ArrayLike,
    *,
    groups: npt.ArrayLike | None = None,
    rounds: int = ROUNDS,
    seed: int = 0,
) -> Bounds:
    """Area under the curve with bounds over groups.

    Parameters
    ----------
    good, scores : (n,)
        As for :func:`roc_curve`.
    groups : (n,)
        Take or query of each; drawn as a whole. Each item on its own by default.
    rounds
        Draws.
    seed
        Of the draws.
    """
    y, s = _checked(good, scores)
    return _bounds(y, groups, rounds, seed, _area(y, s))


def measure_auc_difference(
    good: npt.ArrayLike,
    scores: npt.ArrayLike,
    others: npt.ArrayLike,
    *,
    groups: npt.ArrayLike | None = None,
    rounds: int = ROUNDS,
    seed: int = 0,
) -> Bounds:
    """How much more area one score has than another on the same items, with bounds over groups.

    Both are measured on the same draws: where one score is better on every draw, the bounds say
    so, however wide those of the two alone are.

    Parameters
    ----------
    good, scores, others : (n,)
        Both scores high for good ones.
    groups, rounds, seed
        As for :func:`measure_auc`.
    """
    y, s = _checked(good, scores)
    _, o = _checked(good, others)
    one, other = _area(y, s), _area(y, o)
    return _bounds(y, groups, rounds, seed, lambda times: one(times) - other(times))


def measure_within(
    errors: npt.ArrayLike,
    scores: npt.ArrayLike,
    queries: npt.ArrayLike,
    *,
    groups: npt.ArrayLike | None = None,
    rounds: int = ROUNDS,
    seed: int = 0,
) -> Bounds:
    """Chance that of two candidates of one query the score prefers the one with less error.

    Free of how hard the queries are, which a pooled curve mixes in. Pairs of equal error say
    nothing and are left out; equal scores count half.

    Parameters
    ----------
    errors : (n,)
        Low is good.
    scores : (n,)
        High is good.
    queries : (n,)
        Which query each candidate answers.
    groups : (n,)
        Take of each; the query by default.
    rounds, seed
        As for :func:`measure_auc`.
    """
    e, s = numbers(errors, "errors"), numbers(scores, "scores")
    q = np.asarray(queries)
    if not e.shape == s.shape == q.shape or e.ndim != 1:
        raise ArrayError(
            f"`errors`, `scores` and `queries` must be equally long, got {e.shape}, {s.shape} "
            f"and {q.shape}."
        )
    g = q if groups is None else np.asarray(groups)
    _, query = np.unique(q, return_inverse=True)
    names, group = np.unique(g, return_inverse=True)
    right, total = np.zeros(len(names)), np.zeros(len(names))
    for k in range(int(query.max()) + 1):
        mine = np.flatnonzero(query == k)
        a, b = np.triu_indices(len(mine), 1)
        better = np.sign(e[mine[b]] - e[mine[a]])  # +1: a is the better one
        preferred = np.sign(s[mine[a]] - s[mine[b]])
        right[group[mine[0]]] += float(np.sum(0.5 * (1.0 + better * preferred)[better != 0]))
        total[group[mine[0]]] += float(np.sum(better != 0))
    if total.sum() == 0.0:
        raise ArrayError("`errors` must differ within at least one query; all are equal.")

    def share(weights: FloatArray) -> float:
        return float((weights * right).sum() / max((weights * total).sum(), 1e-300))

    return _drawn(len(names), rounds, seed, share)


def _checked(good: npt.ArrayLike, scores: npt.ArrayLike) -> tuple[BoolArray, FloatArray]:
    y, s = np.asarray(good).astype(bool), numbers(scores, "scores")
    if y.ndim != 1 or y.shape != s.shape:
        raise ArrayError(
            f"`good` and `scores` must be equally long lists, got {y.shape} and {s.shape}."
        )
    if np.isnan(s).any():
        raise ArrayError(f"`scores` must be numbers, got nan at {int(np.argmax(np.isnan(s)))}.")
    if not y.any() or y.all():
        raise ArrayError(
            f"`good` must hold good and bad items, got {int(y.sum())} good of {len(y)}. "
            "Add items of the other class."
        )
    return y, s


def _area(good: BoolArray, scores: FloatArray) -> Callable[[FloatArray], float]:
    """Area by ranks with every item counted by its weight, ties half; nan if a kind is gone."""
    values, at = np.unique(scores, return_inverse=True)
    bad = ~good

    def area(times: FloatArray) -> float:
        up = np.bincount(at, times * good, len(values))
        down = np.bincount(at, times * bad, len(values))
        pairs = float(up.sum() * down.sum())
        below = np.cumsum(down) - 0.5 * down
        return float((up * below).sum()) / pairs if pairs else float("nan")

    return area


def _bounds(
    good: BoolArray,
    groups: npt.ArrayLike | None,
    rounds: int,
    seed: int,
    statistic: Callable[[FloatArray], float],
) -> Bounds:
    g = np.arange(len(good)) if groups is None else np.asarray(groups)
    if g.shape != good.shape:
        raise ArrayError(f"`groups` must have one value per item {good.shape}, got {g.shape}.")
    names, group = np.unique(g, return_inverse=True)
    return _drawn(len(names), rounds, seed, lambda times: statistic(times[group]))


def _drawn(
    n_groups: int, rounds: int, seed: int, statistic: Callable[[FloatArray], float]
) -> Bounds:
    """The statistic of all groups once, and its 95 % range over draws with replacement."""
    rng = np.random.Generator(np.random.PCG64(seed))
    draws: list[float] = []
    for _ in range(rounds):
        drawn: IntArray = rng.integers(0, n_groups, n_groups)
        draws.append(statistic(np.bincount(drawn, minlength=n_groups).astype(np.float64)))
    low, high = np.nanquantile(draws, [0.025, 0.975])
    return Bounds(statistic(np.ones(n_groups)), float(low), float(high), n_groups)
