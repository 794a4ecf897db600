"""All blends of one pair of windows: bounds of their costs, the search, and refined recipes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom._arrays import IntArray
from motionloom._core import Record, integer, kernel, record
from motionloom.errors import ArrayError
from motionloom.tables.collection.frames import FloatArray32
from motionloom.tables.score.columns import COLUMNS, PAPER, Ranking, scratch_of, terms_record
from motionloom.tables.score.terms import IntArray32, Terms

RecipeArray = npt.NDArray[np.uint16]
NONE = integer("ML_NO_WINDOW")
"""Stands for no window in recipes."""
Middles = tuple[RecipeArray, RecipeArray, RecipeArray]
"""Intermediaries to try in blends of two, three and four windows, ``NONE`` where there are fewer;
pairs with the same first one follow each other. (M, 2) each"""

_between = kernel("ml_spread_between")
_search = kernel("ml_pair_search")
_best_recipe = kernel("ml_recipe_best")


class Spreads(NamedTuple):
    """Squared spreads, square metres, that two windows of a blend make in their places.

    Of S sources, T targets and K intermediaries; nothing where spread bounds no cost.
    """

    ends: FloatArray32
    """Source and target of three-way and of four-way blends. (2, S, T)"""
    sources: FloatArray32
    """Source and intermediary: of three ways, the first of four, the second of four. (3, S, K)"""
    targets: FloatArray32
    """Target and intermediary likewise. (3, T, K)"""
    middle: FloatArray32
    """First and second intermediary of four-way blends. (K, K)"""


def no_spreads() -> Spreads:
    """Where spread bounds no cost."""
    none = np.zeros((0, 0, 0), dtype=np.float32)
    return Spreads(none, none, none, none.reshape(0, 0))


def spreads_record(spreads: Spreads) -> Record:
    """Spreads as the core reads them."""
    n_sources, n_targets = spreads.ends.shape[1:]
    return record(
        "ml_spreads",
        n_sources=n_sources,
        n_targets=n_targets,
        n_between=len(spreads.middle),
        **spreads._asdict(),
    )


def spreads_of(terms: Record, sources: IntArray, targets: IntArray, between: IntArray) -> Spreads:
    """The spreads of all pairs of windows that blends are made of, each once for many blends."""
    w = terms.weights
    places = ((2, 1), (3, 1), (3, 2))
    return Spreads(
        np.stack([_spreads(terms, sources, targets, w[n, 0], w[n, n]) for n in (2, 3)]),
        np.stack([_spreads(terms, sources, between, w[n, 0], w[n, i]) for n, i in places]),
        np.stack([_spreads(terms, targets, between, w[n, n], w[n, i]) for n, i in places]),
        _spreads(terms, between, between, w[3, 1], w[3, 2]),
    )


def _spreads(
    terms: Record, some: IntArray, others: IntArray, u: FloatArray32, v: FloatArray32
) -> FloatArray32:
    out = np.zeros((len(some), len(others)), dtype=np.float32)
    _between(terms, len(some), some, len(others), others, u, v, out)
    return out


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


def _sums_of(terms: Terms, between: IntArray, most: int) -> Record:
    """Memory for the sums that up to ``most`` blends of a pair share."""
    places = np.full(terms.n_windows, -1, dtype=np.int32)
    places[between] = np.arange(len(between))
    rows, posture = terms.arrays.rows.shape[1:], terms.arrays.posture.shape[1:]
    return record(
        "ml_pair_sums",
        n_windows=terms.n_windows,
        n_padded=rows[1],
        most=most,
        pair_rows=np.zeros(rows, dtype=np.float32),
        pair_posture=np.zeros(posture, dtype=np.float32),
        third_rows=np.zeros(rows, dtype=np.float32),
        third_posture=np.zeros(posture, dtype=np.float32),
        bounds=np.zeros(most, dtype=np.float32),
        least=np.zeros(most, dtype=np.float32),
        groups=np.zeros(most + 1, dtype=np.int32),
        order=np.zeros(most, dtype=np.int32),
        places=places,
    )


class PairSearch:
    """Memory and terms that searches of pairs share; each thread needs its own.

    Parameters
    ----------
    terms
        Of all windows.
    between : (K,)
        Intermediaries, as places in the terms.
    ranking
        What is best.
    spreads
        Of the sources, targets and intermediaries, where they bound the cost.
    most
        Blends of two, of three or of four windows that are tried of one pair, at most.
    """

    def __init__(
        self, terms: Terms, between: IntArray, ranking: Ranking, spreads: Spreads, most: int
    ) -> None:
        self._record, self._scratch = terms_record(terms), scratch_of(terms)
        self._sums, self._spreads = _sums_of(terms, between, most), spreads_record(spreads)
        self._ranking = ranking.linear, ranking.log, ranking.prunes

    def search(
        self, pair: tuple[int, int], place: tuple[int, int], middles: Middles, best: Kept
    ) -> None:
        """Score every blend from ``pair[0]`` to ``pair[1]`` and keep the best in ``best``.

        Those are windows; ``place`` says where they are among the sources and targets of the
        spreads. Where spread bounds the cost, likely blends come first.
        """
        two, three, four = middles
        _search(
            self._record, self._scratch, self._sums, self._spreads, *self._ranking, *pair, *place,
            len(two), two, len(three), three, len(four), four, len(best.costs), *best,
        )  # fmt: skip


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
    _best_recipe(terms, scratch, weighing, len(recipes), recipes, number, cost)
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
